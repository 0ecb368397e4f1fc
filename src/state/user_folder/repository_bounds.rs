//! Distinguishes files that a repository may have supplied from the user's own.

use super::listed_home;
use base::disk::real;
use std::cell::OnceCell;
use std::path::{Path, PathBuf};

/// The folders around a project, as far as a repository can have brought them along.
pub(super) struct RepositoryBounds {
    /// The project's folder without links.
    project: PathBuf,
    /// The user's listed home, once it was asked for.
    user: OnceCell<Option<PathBuf>>,
}

impl RepositoryBounds {
    /// `project` has no links.
    pub(super) fn of(project: PathBuf) -> Self {
        Self { project, user: OnceCell::new() }
    }

    /// Whether a repository around the project cannot have brought a file along: the file is outside of it, or the
    /// repository is the user's home itself.
    pub(super) fn is_outside(&self, file: &Path) -> bool {
        let file = real(file);
        // Whether a clone can have created a folder around the project.
        let is_cloned = |folder: &Path| {
            let is_root = folder == self.project || folder.join(".git").exists();
            is_root && self.user.get_or_init(listed_home).as_deref() != Some(folder)
        };
        let mut shared = self.project.ancestors().skip_while(|folder| !file.starts_with(folder));
        !shared.any(is_cloned)
    }
}

/// Whether a repository around `project` cannot have brought a file along.
pub fn is_outside(file: &Path, project: &Path) -> bool {
    RepositoryBounds::of(real(project)).is_outside(file)
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
