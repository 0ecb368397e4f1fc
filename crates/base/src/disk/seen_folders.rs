//! What was seen of the folders around a project: an event looks at each of them once.

#![expect(clippy::disallowed_methods, reason = "an I/O module")]

use super::LinkResolver;
use std::fs::FileType;
use std::path::{Path, PathBuf};

/// The folders that one event has looked at.
#[derive(Debug, Default)]
pub struct SeenFolders {
    here: Option<PathBuf>,
    links: LinkResolver,
    /// What `.git` is in a folder; `None` where it is missing.
    repositories: Vec<(PathBuf, Option<FileType>)>,
}

impl SeenFolders {
    /// Begins with the current folder, whose path the system reports without links.
    #[must_use]
    pub fn around_here() -> Self {
        let here = std::env::current_dir().ok();
        let links = here.as_deref().map(LinkResolver::with_folder).unwrap_or_default();
        Self { here, links, ..Self::default() }
    }

    /// The current folder.
    #[must_use]
    pub fn here(&self) -> Option<&Path> {
        self.here.as_deref()
    }

    /// The folders without links.
    #[must_use]
    pub fn into_links(self) -> LinkResolver {
        self.links
    }

    /// Whether a path is the current folder, exactly as the system spells it.
    #[must_use]
    pub fn is_here(&self, path: &Path) -> bool {
        self.here().is_some_and(|here| here.as_os_str() == path.as_os_str())
    }

    /// The path with links resolved, as far as it exists.
    pub fn real(&mut self, path: &Path) -> PathBuf {
        self.links.real(path)
    }

    /// What `.git` is in a folder, with links followed.
    pub fn git(&mut self, folder: &Path) -> Option<FileType> {
        let mut known = self.repositories.iter();
        if let Some((_, git)) = known.find(|(known, _)| known.as_os_str() == folder.as_os_str()) {
            return *git;
        }
        let git = folder.join(".git").metadata().ok().map(|meta| meta.file_type());
        self.repositories.push((folder.to_owned(), git));
        git
    }
}
