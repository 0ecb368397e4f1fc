//! Distinguishes files that a repository may have supplied from the user's own.

#![expect(clippy::disallowed_methods, reason = "an I/O module")]

use super::listed_home;
use crate::disk::LinkResolver;
use std::path::{Path, PathBuf};

/// The folders around a project, as far as a repository can have brought them along. Each is looked at once.
pub(super) struct RepositoryBounds {
    /// The project's folder without links.
    pub(super) project: PathBuf,
    links: LinkResolver,
    /// The folders around the project that were looked at, and whether a clone can have created each.
    known: Vec<(PathBuf, bool)>,
}

impl RepositoryBounds {
    pub(super) fn of(project: &Path) -> Self {
        let mut links = LinkResolver::default();
        Self { project: links.real(project), links, known: Vec::new() }
    }

    /// Whether a repository around the project cannot have brought a file along: the file is outside of it, or the
    /// repository is the user's home itself.
    pub(super) fn is_outside(&mut self, file: &Path) -> bool {
        let file = self.links.real(file);
        let Self { project, known, .. } = self;
        let mut shared = project.ancestors().skip_while(|folder| !file.starts_with(folder));
        !shared.any(|folder| is_cloned(folder, project, known))
    }
}

/// Whether a clone can have created a folder around the project.
fn is_cloned(folder: &Path, project: &Path, known: &mut Vec<(PathBuf, bool)>) -> bool {
    if let Some((_, is_cloned)) = known.iter().find(|(known, _)| known.as_os_str() == folder.as_os_str()) {
        return *is_cloned;
    }
    let is_root = folder.as_os_str() == project.as_os_str() || folder.join(".git").exists();
    let is_cloned = is_root && listed_home().as_deref() != Some(folder);
    known.push((folder.to_owned(), is_cloned));
    is_cloned
}

/// Whether a repository around `project` cannot have brought a file along.
#[must_use]
pub fn is_outside(file: &Path, project: &Path) -> bool {
    RepositoryBounds::of(project).is_outside(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_repository_cannot_bring_the_folder_along() {
        let folder = tempfile::tempdir().unwrap();
        let repository = folder.path().join("clone");
        let project = repository.join("packages/app");
        fs::create_dir_all(&project).unwrap();
        fs::create_dir(repository.join(".git")).unwrap();
        assert!(is_outside(&folder.path().join("state"), &project));
        assert!(!is_outside(&project.join("state"), &project));
        assert!(!is_outside(&repository.join("state"), &project));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&repository, folder.path().join("link")).unwrap();
            assert!(!is_outside(&folder.path().join("link/state"), &project));
        }
    }
}
