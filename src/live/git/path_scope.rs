//! The paths that are compared.

use super::{ChangeKind, GitChange, Unknown};

/// Paths relative to the worktree's root, sorted, none inside another.
#[derive(Debug)]
pub(super) struct PathScope {
    prefix: Vec<u8>,
    paths: Vec<Vec<u8>>,
    /// Whether both sides of a rename are reported, as a deletion and an addition.
    splits_renames: bool,
}

impl PathScope {
    /// Resolves `paths` against `prefix`, the folder in the worktree they are relative to.
    pub(super) fn new(prefix: &[u8], paths: &[String]) -> Result<Self, Unknown> {
        let mut resolved = paths.iter().map(|path| joined(prefix, path)).collect::<Result<Vec<_>, _>>()?;
        if resolved.is_empty() {
            resolved.push(prefix.to_vec());
        }
        resolved.sort_unstable();
        let mut outer: Vec<Vec<u8>> = Vec::new();
        for path in resolved {
            if !outer.iter().any(|folder| within(folder, &path)) {
                outer.push(path);
            }
        }
        Ok(Self { prefix: prefix.to_vec(), paths: outer, splits_renames: false })
    }

    /// Exactly one path, already relative to the root.
    #[cfg(unix)]
    pub(super) fn one(path: &[u8]) -> Self {
        Self { prefix: Vec::new(), paths: vec![path.to_vec()], splits_renames: false }
    }

    /// The same paths; renames are split if `splits_renames` says so.
    pub(super) fn splitting(self, splits_renames: bool) -> Self {
        Self { splits_renames, ..self }
    }

    pub(super) fn splits_renames(&self) -> bool {
        self.splits_renames
    }

    /// The same without `inner`.
    pub(super) fn without(mut self, inner: &[Vec<u8>]) -> Self {
        self.paths.retain(|path| !inner.contains(path));
        self
    }

    /// The paths, relative to the root; the root itself is the empty path.
    pub(super) fn paths(&self) -> &[Vec<u8>] {
        &self.paths
    }

    /// Whether `path` is one of the paths or inside one.
    pub(super) fn covers(&self, path: &[u8]) -> bool {
        self.paths.iter().any(|asked| within(asked, path))
    }

    /// Whether one of the paths is inside of `folder`, or is it.
    #[cfg(unix)]
    pub(super) fn is_in(&self, folder: &[u8]) -> bool {
        self.paths.iter().any(|asked| within(folder, asked))
    }

    /// Whether every covered path sorts before `path`.
    #[cfg(unix)]
    pub(super) fn is_behind(&self, path: &[u8]) -> bool {
        self.paths.iter().all(|asked| !within(asked, path) && asked.as_slice() < path)
    }

    /// A change with its path relative to the folder of the caller.
    pub(super) fn change(&self, path: &[u8], kind: ChangeKind) -> GitChange {
        let inside = match path.strip_prefix(self.prefix.as_slice()) {
            Some(rest) if !self.prefix.is_empty() => rest.strip_prefix(b"/").unwrap_or(rest),
            _ => path,
        };
        GitChange { path: String::from_utf8_lossy(inside).into_owned(), kind }
    }
}

/// Whether `path` is `folder` or inside it; everything is inside the root, the empty path.
pub(super) fn within(folder: &[u8], path: &[u8]) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.first().is_none_or(|byte| *byte == b'/'))
}

/// `path` below `prefix`, without `.` and `..`.
fn joined(prefix: &[u8], path: &str) -> Result<Vec<u8>, Unknown> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(separator) {
        match part {
            "" | "." => {}
            ".." if parts.pop().is_some() => {}
            ".." => return Err(format!("`{path}` leads out of the project").into()),
            part => parts.push(part),
        }
    }
    if path.starts_with(separator) {
        return Err(format!("`{path}` is not relative to the project").into());
    }
    let mut whole = prefix.to_vec();
    for part in parts {
        if !whole.is_empty() {
            whole.push(b'/');
        }
        whole.extend_from_slice(part.as_bytes());
    }
    Ok(whole)
}

/// Whether `letter` separates folders on this system.
fn separator(letter: char) -> bool {
    letter == '/' || (cfg!(windows) && letter == '\\')
}
