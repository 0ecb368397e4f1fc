//! Recognises modegate's own program under another name.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use super::place;
use crate::disk;
use std::path::{Path, PathBuf};

/// The running program and its installed copies.
pub(super) struct OwnProgram {
    cwd: PathBuf,
    copies: Vec<PathBuf>,
}

impl OwnProgram {
    pub(super) fn new(cwd: &Path, home: &Path) -> Self {
        let user = std::env::var_os("HOME").map(|user| Path::new(&user).join(".claude/modegate/modegate"));
        let copies = [std::env::current_exe().ok(), Some(home.join(".claude/hooks/modegate")), user];
        Self { cwd: cwd.to_owned(), copies: copies.into_iter().flatten().map(|path| place::real(&path)).collect() }
    }

    /// Whether a command of a line is one of them, in the folder of the event or in one that the line enters.
    pub(super) fn is(&self, program: &str, folders: &[String]) -> bool {
        let search = || std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect::<Vec<_>>());
        let candidates: Vec<PathBuf> = if program.contains('/') {
            let entered = folders.iter().map(|folder| self.cwd.join(folder).join(program));
            entered.chain([self.cwd.join(program)]).collect()
        } else {
            search().unwrap_or_default().into_iter().map(|folder| folder.join(program)).collect()
        };
        candidates.iter().any(|path| self.copies.iter().any(|own| same_program(own, path)))
    }
}

/// Whether two paths lead to the same file, or to files with the same content; most files differ in size.
fn same_program(own: &Path, other: &Path) -> bool {
    let (Ok(own_meta), Ok(meta)) = (own.metadata(), other.metadata()) else { return false };
    if !meta.is_file() || own_meta.len() != meta.len() {
        return false;
    }
    let content = |path: &Path| disk::read(path, disk::LARGEST).ok();
    place::real(other) == own || content(own).is_some_and(|bytes| content(other) == Some(bytes))
}
