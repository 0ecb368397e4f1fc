//! The paths that are compared.

use crate::{ChangeKind, GitChange, GitError};

/// Paths relative to the worktree's root, sorted, none inside another.
#[derive(Debug)]
pub(crate) struct PathScope {
    prefix: Vec<u8>,
    paths: Vec<Vec<u8>>,
}

impl PathScope {
    /// Resolves `paths` against `prefix`, the folder in the worktree they are relative to.
    pub(crate) fn new(prefix: &[u8], paths: &[String]) -> Result<Self, GitError> {
        let mut resolved = paths.iter().map(|path| joined(prefix, path)).collect::<Result<Vec<_>, _>>()?;
        if resolved.is_empty() {
            resolved.push(prefix.to_vec());
        }
        resolved.sort_unstable();
        let mut outer: Vec<Vec<u8>> = Vec::new();
        for path in resolved {
            if !outer.iter().any(|folder| is_within(folder, &path)) {
                outer.push(path);
            }
        }
        Ok(Self { prefix: prefix.to_vec(), paths: outer })
    }

    /// Keeps the paths for which `keep` holds.
    pub(crate) fn retain(&mut self, keep: impl Fn(&Vec<u8>) -> bool) {
        self.paths.retain(keep);
    }

    /// The paths, relative to the root; the root itself is the empty path.
    pub(crate) fn paths(&self) -> &[Vec<u8>] {
        &self.paths
    }

    /// Whether `path` is one of the paths or inside one.
    pub(crate) fn covers(&self, path: &[u8]) -> bool {
        self.paths.iter().any(|asked| is_within(asked, path))
    }

    /// A change with its path relative to the folder of the caller.
    pub(crate) fn change(&self, path: &[u8], kind: ChangeKind) -> GitChange {
        let inside = match path.strip_prefix(self.prefix.as_slice()) {
            Some(rest) if !self.prefix.is_empty() => rest.strip_prefix(b"/").unwrap_or(rest),
            _ => path,
        };
        GitChange { path: String::from_utf8_lossy(inside).into_owned(), kind }
    }
}

/// Whether `path` is `folder` or inside it; everything is inside the root, the empty path.
fn is_within(folder: &[u8], path: &[u8]) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.first().is_none_or(|byte| *byte == b'/'))
}

/// `path` below `prefix`, without `.` and `..`.
fn joined(prefix: &[u8], path: &str) -> Result<Vec<u8>, GitError> {
    let is_separator = |letter| letter == '/' || (cfg!(windows) && letter == '\\');
    if path.starts_with(is_separator) {
        return Err(format!("`{path}` is not relative to the project").into());
    }
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in path.split(is_separator) {
        match part {
            "" | "." => {}
            ".." if parts.pop().is_some() => {}
            ".." => return Err(format!("`{path}` leads out of the project").into()),
            part => parts.push(part.as_bytes()),
        }
    }
    if !prefix.is_empty() {
        parts.insert(0, prefix);
    }
    Ok(parts.join(&b'/'))
}
