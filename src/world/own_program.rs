//! Recognises modegate's own program under another name.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use super::place;
use crate::host::paths::ProjectPaths;
use base::disk;
use std::path::{Path, PathBuf};

/// The running program and its installed copies.
pub(super) struct OwnProgram {
    cwd: PathBuf,
    /// Where they are, with their sizes.
    copies: Vec<(PathBuf, u64)>,
}

impl OwnProgram {
    pub(super) fn new(cwd: &Path, places: &ProjectPaths) -> Self {
        let copies =
            [std::env::current_exe().ok(), Some(places.home.join(".claude/hooks/modegate")), places.user_program()];
        let known = |path: PathBuf| Some((path.clone(), path.metadata().ok()?.len()));
        Self { cwd: cwd.to_owned(), copies: copies.into_iter().flatten().filter_map(known).collect() }
    }

    /// Whether a command of a line is one of them, in the folder of the event or in one that the line enters.
    pub(super) fn is(&self, program: &str, folders: &[String]) -> bool {
        if program.contains('/') {
            let mut entered = folders.iter().map(|folder| self.cwd.join(folder).join(program));
            return self.is_copy(&self.cwd.join(program)) == Some(true)
                || entered.any(|path| self.is_copy(&path) == Some(true));
        }
        let Some(path) = std::env::var_os("PATH") else { return false };
        // The shell runs the first one.
        std::env::split_paths(&path).find_map(|folder| self.is_copy(&folder.join(program))).unwrap_or(false)
    }

    /// Whether a file has the content of one of them; `None` if it does not exist. Most files differ in size.
    fn is_copy(&self, path: &Path) -> Option<bool> {
        let size = path.metadata().ok().filter(std::fs::Metadata::is_file)?.len();
        let mut alike = self.copies.iter().filter(|(_, own)| *own == size);
        Some(alike.any(|(own, _)| place::real(path) == place::real(own) || same_content(own, path)))
    }
}

/// Whether two files are alike; what is too large is not modegate's.
fn same_content(own: &Path, other: &Path) -> bool {
    let content = |path: &Path| disk::read(path, disk::PROGRAM).ok();
    content(own).is_some_and(|own| Some(own) == content(other))
}
