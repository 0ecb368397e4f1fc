//! Paths of changes, and whether they cover a given path.

use super::{Certainty, FileEffect};

/// What is known of a path. Paths are absolute and normalised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetPath {
    /// The whole path.
    Known {
        /// The path or glob.
        path: String,
        /// Whether it is a glob.
        glob: bool,
    },
    /// Only its beginning is known.
    Below {
        /// The beginning.
        prefix: String,
        /// The path if all unknown pieces are empty.
        bare: String,
    },
    /// At most its end is known: `"$x/"` is `/` if `$x` is empty.
    Unknown {
        /// The path if all unknown pieces are empty.
        bare: Option<String>,
    },
    /// Nothing is known, although everything below the path changes: `find "$x" -delete`.
    Anywhere,
}

impl FileEffect {
    /// Whether this changes `path`, directly or with a folder above it.
    pub fn hits(&self, path: &str) -> Option<Certainty> {
        let whole = |own: &str, glob: bool| {
            let at_or_above = ancestors(path).any(|above| matches(own, glob, above));
            if self.recursive { at_or_above } else { matches(own, glob, path) }
        };
        let sure = if self.sure { Certainty::Certain } else { Certainty::Possible };
        match &self.target {
            TargetPath::Known { path: own, glob } if whole(own, *glob) => Some(sure),
            TargetPath::Known { .. } => None,
            TargetPath::Below { prefix, bare } if !path.starts_with(prefix.as_str()) && !whole(bare, false) => None,
            _ => Some(Certainty::Possible),
        }
    }
}

/// The path and its ancestors.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| match path.rfind('/') {
        Some(0) if path.len() > 1 => Some("/"),
        Some(at) if at > 0 => path.get(..at),
        _ => None,
    })
}

fn matches(pattern: &str, glob: bool, path: &str) -> bool {
    if !glob {
        return pattern == path;
    }
    if pattern.contains("**") {
        return fast_glob::glob_match(pattern, path);
    }
    let (mut patterns, mut parts) = (pattern.split('/'), path.split('/'));
    loop {
        match (patterns.next(), parts.next()) {
            (None, None) => return true,
            // In the shell `*` does not match hidden files.
            (Some(pattern), Some(part)) => {
                let hidden = part.starts_with('.') && !pattern.starts_with('.');
                if hidden || !fast_glob::glob_match(pattern, part) {
                    return false;
                }
            }
            _ => return false,
        }
    }
}

/// Normalises a path; a relative one is resolved against `folder`.
pub(super) fn absolute(text: &str, folder: Option<&str>) -> Option<String> {
    let base = if text.starts_with('/') { "" } else { folder? };
    let mut parts: Vec<&str> = Vec::new();
    for part in base.split('/').chain(text.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    Some(format!("/{}", parts.join("/")))
}
