//! Recognizes a committed file without opening the repository, since that is the most frequent answer.
//!
//! Every other answer and every unusual setup is left to the layers.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use std::path::{Component, Path, PathBuf};

use gix::{ObjectId, hash};

use super::checkout::bytes;
use super::index::GitIndex;
use super::path_scope::PathScope;
use super::renames::GitBlob;
use super::staged;
use crate::disk;

/// Whether the file at `path`, relative to `tree`, is certainly committed.
pub(super) fn is_committed(tree: &Path, path: &Path) -> bool {
    certain(tree, path).unwrap_or(false)
}

/// `None` for anything unusual.
fn certain(tree: &Path, path: &Path) -> Option<bool> {
    if !path.components().all(|part| matches!(part, Component::Normal(_))) {
        return None;
    }
    let tree = tree.canonicalize().ok()?;
    let folders = GitFolders::of(&tree)?;
    let whole = tree.join(path);
    // A symbolic link on the way would make it another file.
    let parent = whole.parent()?.canonicalize().ok()?;
    let inside = bytes(&parent.strip_prefix(&folders.root).ok()?.join(whole.file_name()?));
    let index = GitIndex::read(&folders.own.join("index"), hash::Kind::Sha1, &PathScope::one(&inside), true).ok()?;
    let [entry] = index.exactly(&inside) else {
        return None;
    };
    let now = rustix::fs::lstat(&whole).ok()?;
    if entry.is_conflicted() || entry.is_intended() || !entry.is_proven(&now, true, index.written) {
        return None;
    }
    let objects = gix::odb::at(folders.common.join("objects"), hash::Kind::Sha1).ok()?;
    let blob = staged::committed(&objects, &folders.head()?, &inside).ok()?;
    Some(blob == Some(GitBlob::new(entry.mode, entry.id)))
}

/// The folders of a repository.
struct GitFolders {
    /// The worktree's root.
    root: PathBuf,
    /// Where HEAD and the index are.
    own: PathBuf,
    /// Where everything else is, the same unless the worktree is a linked one.
    common: PathBuf,
}

impl GitFolders {
    /// Finds the repository that contains `tree`, unless something about it is unusual.
    fn of(tree: &Path) -> Option<Self> {
        let root = tree.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok())?;
        let own = match disk::read_text(&root.join(".git"), disk::SMALL) {
            Ok(link) => root.join(link.strip_prefix("gitdir: ")?.trim_end()),
            Err(_) => root.join(".git"),
        };
        let common = match disk::read_text(&own.join("commondir"), disk::SMALL) {
            Ok(link) => own.join(link.trim_end()),
            Err(_) => own.clone(),
        };
        let folders = Self { root: root.to_path_buf(), own, common };
        let config = disk::read_text(&folders.common.join("config"), disk::SMALL).ok()?;
        let replaced = folders.common.join("refs/replace").exists();
        let inside = tree.strip_prefix(root).ok()?.starts_with(".git");
        (is_usual(&config) && !replaced && !inside).then_some(folders)
    }

    /// The commit that HEAD points at.
    fn head(&self) -> Option<ObjectId> {
        let head = disk::read_text(&self.own.join("HEAD"), disk::SMALL).ok()?;
        let Some(name) = head.trim_end().strip_prefix("ref: ") else {
            return ObjectId::from_hex(head.trim_end().as_bytes()).ok();
        };
        let packed = disk::read_text(&self.common.join("packed-refs"), disk::LARGEST).unwrap_or_default();
        if !name.starts_with("refs/heads/") || packed.contains(" refs/replace/") {
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

/// Whether `config` has nothing that changes where things are or how they are stored.
fn is_usual(config: &str) -> bool {
    config.lines().all(|line| {
        let line = line.split_whitespace().collect::<String>().to_ascii_lowercase();
        let odd = ["[extensions", "[include", "worktree", "[core]worktree"];
        let bare = line.contains("bare") && line != "bare=false";
        !bare && !odd.iter().any(|start| line.starts_with(start))
    })
}
