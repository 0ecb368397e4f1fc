//! The folders of an ordinary repository, found without gix.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use gix::ObjectId;

use crate::disk;

/// The folders of a repository.
pub(super) struct GitFolders {
    /// The worktree's root.
    pub(super) root: PathBuf,
    /// Where HEAD and the index are.
    pub(super) own: PathBuf,
    /// Where everything else is, the same unless the worktree is a linked one.
    pub(super) common: PathBuf,
}

impl GitFolders {
    /// Finds the repository that contains `tree`, an absolute path without links, unless something about it is unusual.
    pub(super) fn of(tree: &Path) -> Option<Self> {
        let root = tree.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok())?;
        let dot_git = root.join(".git");
        let own = if dot_git.is_dir() {
            dot_git
        } else {
            root.join(disk::read_text(&dot_git, disk::SMALL).ok()?.strip_prefix("gitdir: ")?.trim_end())
        };
        let common = match disk::read_text(&own.join("commondir"), disk::SMALL) {
            Ok(link) => own.join(link.trim_end()),
            Err(_) => own.clone(),
        };
        let folders = Self { root: root.to_path_buf(), own, common };
        let config = disk::read_text(&folders.common.join("config"), disk::SMALL).ok()?;
        let inside = tree.strip_prefix(root).ok()?.starts_with(".git");
        (is_usual(&config) && !inside && folders.has_references() && folders.is_on_device_of(tree)).then_some(folders)
    }

    /// Without the folder of references, git does not see a repository here; with replaced objects, others count.
    fn has_references(&self) -> bool {
        let references = self.common.join("refs");
        references.is_dir() && !references.join("replace").exists()
    }

    /// git does not look on other file systems for a repository.
    fn is_on_device_of(&self, tree: &Path) -> bool {
        let device = |path: &Path| path.metadata().ok().map(|meta| meta.dev());
        self.root == tree || device(&self.root) == device(tree)
    }

    /// The commit that HEAD points at, unless HEAD is unusual.
    pub(super) fn head(&self) -> Option<ObjectId> {
        let head = disk::read_text(&self.own.join("HEAD"), disk::SMALL).ok()?;
        let packed = disk::read_text(&self.common.join("packed-refs"), disk::LARGEST).unwrap_or_default();
        if packed.contains(" refs/replace/") {
            return None;
        }
        let Some(name) = head.trim_end().strip_prefix("ref: ") else {
            return ObjectId::from_hex(head.trim_end().as_bytes()).ok();
        };
        if !name.starts_with("refs/heads/") || name.contains("..") {
            return None;
        }
        if let Ok(id) = disk::read_text(&self.common.join(name), disk::SMALL) {
            return ObjectId::from_hex(id.trim_end().as_bytes()).ok();
        }
        let mut lines = packed.lines().filter_map(|line| line.split_once(' '));
        let (id, _) = lines.find(|(_, found)| *found == name)?;
        ObjectId::from_hex(id.as_bytes()).ok()
    }
}

/// Whether `config` has nothing that changes where things are, how they are stored or whether they are executable.
fn is_usual(config: &str) -> bool {
    config.lines().all(|line| {
        let line = line.split_whitespace().collect::<String>().to_ascii_lowercase();
        let odd = ["[extensions", "[include", "worktree", "[core]worktree"];
        let bare = line.contains("bare") && line != "bare=false";
        let modes = line.contains("filemode") && line != "filemode=true";
        !bare && !modes && !odd.iter().any(|start| line.starts_with(start))
    })
}
