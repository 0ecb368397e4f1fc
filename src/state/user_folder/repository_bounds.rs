//! Distinguishes files that a repository may have supplied from the user's own.

use super::listed_home;
use base::disk::{SeenFolders, is_within};
use std::cell::OnceCell;
use std::path::{Path, PathBuf};

/// The folders around a project, as far as a repository can have brought them along. Each is looked at once.
pub(super) struct RepositoryBounds<'s> {
    project: PathBuf,
    seen: &'s mut SeenFolders,
    /// The user's listed home, once it was asked for.
    user: OnceCell<Option<PathBuf>>,
}

impl<'s> RepositoryBounds<'s> {
    /// `project` has no links.
    pub(super) fn of(project: PathBuf, seen: &'s mut SeenFolders) -> Self {
        Self { project, seen, user: OnceCell::new() }
    }

    /// Whether a repository around the project cannot have brought a file along: the file is outside of it, or the
    /// repository is the user's home itself.
    pub(super) fn is_outside(&mut self, file: &Path) -> bool {
        let file = self.seen.real(file);
        let Self { project, seen, user } = self;
        // Whether a clone can have created a folder around the project.
        let is_cloned = |folder: &Path| {
            let is_root = folder.as_os_str() == project.as_os_str() || seen.git(folder).is_some();
            is_root && user.get_or_init(listed_home).as_deref() != Some(folder)
        };
        let mut shared = project.ancestors().skip_while(|folder| !is_within(&file, folder));
        !shared.any(is_cloned)
    }
}

/// Whether a repository around `project` cannot have brought a file along.
pub fn is_outside(file: &Path, project: &Path) -> bool {
    let mut seen = SeenFolders::default();
    RepositoryBounds::of(seen.real(project), &mut seen).is_outside(file)
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
