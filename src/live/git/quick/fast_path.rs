//! The most frequent answers, without gix and its configuration: a file is committed, nothing has changed.
//!
//! Only regular files are opened, so this needs no time limit. Every other answer and every unusual setup is left to the
//! layers.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use std::path::{Component, Path, PathBuf};

use gix::objs::FindExt;
use gix::{ObjectId, hash};

use super::folders::GitFolders;
use super::index::GitIndex;
use super::plain_objects::PlainObjects;
use super::renames::GitBlob;
use super::staged;
use super::walk::{WalkResult, WorktreeWalk};
use crate::live::git::checkout::{bytes, nested};
use crate::live::git::path_scope::PathScope;

/// Whether the file at `path`, relative to `tree`, is certainly committed.
pub(in crate::live::git) fn is_committed(tree: &Path, path: &Path) -> bool {
    is_certainly_committed(tree, path).unwrap_or(false)
}

/// `None` for anything unusual.
fn is_certainly_committed(tree: &Path, path: &Path) -> Option<bool> {
    if !path.components().all(|part| matches!(part, Component::Normal(_))) {
        return None;
    }
    let tree = tree.canonicalize().ok()?;
    let folders = GitFolders::of(&tree)?;
    // A symbolic link on the way would make it another file.
    let mut parents = path.ancestors().skip(1).filter(|part| !part.as_os_str().is_empty());
    if !parents.all(|part| tree.join(part).symlink_metadata().is_ok_and(|meta| meta.is_dir())) {
        return None;
    }
    let whole = tree.join(path);
    let inside = bytes(whole.strip_prefix(&folders.root).ok()?);
    let index = GitIndex::read(&folders.own.join("index"), hash::Kind::Sha1, &PathScope::one(&inside), true).ok()?;
    let [entry] = index.exactly(&inside) else {
        return None;
    };
    let now = rustix::fs::lstat(&whole).ok()?;
    if entry.is_conflicted() || entry.is_intended() || !entry.is_proven(&now, true, index.written) {
        return None;
    }
    let objects = PlainObjects::of(&folders.common);
    let blob = staged::committed(&objects, &folders.head()?, &inside).ok()?;
    Some(blob == Some(GitBlob::new(entry.mode, entry.id)))
}

/// What was seen of the changes under some paths, for the layers to go on with.
pub(in crate::live::git) struct FirstLook {
    /// The worktree's root.
    root: PathBuf,
    asked: PathScope,
    /// Whether nothing has changed.
    pub(super) is_clean: bool,
    pub(super) index: GitIndex,
    pub(super) seen: WalkResult,
}

impl FirstLook {
    /// Looks at `paths`, relative to `tree`; `None` for anything unusual.
    pub(super) fn at(tree: &Path, paths: &[String]) -> Option<Self> {
        let tree = tree.canonicalize().ok()?;
        let folders = GitFolders::of(&tree)?;
        let asked = PathScope::new(&bytes(tree.strip_prefix(&folders.root).ok()?), paths).ok()?;
        if asked.paths().iter().any(|path| nested(&folders.root, path).is_some()) {
            return None;
        }
        let kind = hash::Kind::Sha1;
        let index = GitIndex::read(&folders.own.join("index"), kind, &asked, false).ok()?;
        let seen = WorktreeWalk::new(&folders.root, &index, true).ok()?.run(&asked).ok()?;
        let objects = PlainObjects::of(&folders.common);
        let is_staged =
            |commit| staged::staged(&objects, Some(commit), kind, &index, &asked).ok().map(|all| !all.is_empty());
        let is_clean = seen.is_empty() && index.links.is_empty() && folders.head().and_then(is_staged) == Some(false);
        Some(Self { root: folders.root, asked, is_clean, index, seen })
    }

    /// Whether the look was at the paths of `asked` in the worktree at `root`.
    pub(super) fn is_of(&self, root: &Path, asked: &PathScope) -> bool {
        self.root == root && self.asked.paths() == asked.paths()
    }
}

/// The commit that HEAD points at.
pub(in crate::live::git) fn head(tree: &Path) -> Option<ObjectId> {
    let folders = GitFolders::of(&tree.canonicalize().ok()?)?;
    let commit = folders.head()?;
    tree_of(&PlainObjects::of(&folders.common), &commit)?;
    Some(commit)
}

/// Whether the files of HEAD differ from those of the commit `since`.
pub(in crate::live::git) fn head_changed(tree: &Path, since: &str) -> Option<bool> {
    let folders = GitFolders::of(&tree.canonicalize().ok()?)?;
    let objects = PlainObjects::of(&folders.common);
    let since = ObjectId::from_hex(since.as_bytes()).ok()?;
    Some(tree_of(&objects, &folders.head()?)? != tree_of(&objects, &since)?)
}

/// Whether nothing was ever stashed.
pub(in crate::live::git) fn has_no_stash(tree: &Path) -> bool {
    let folders = tree.canonicalize().ok().and_then(|tree| GitFolders::of(&tree));
    let log = folders.filter(|found| found.head().is_some()).map(|found| found.common.join("logs/refs/stash"));
    log.is_some_and(|log| log.symlink_metadata().is_err_and(|error| crate::disk::is_absent(&error)))
}

/// The tree of a commit.
fn tree_of(objects: &PlainObjects, commit: &ObjectId) -> Option<ObjectId> {
    let mut buffer = Vec::new();
    objects.find_commit_iter(commit, &mut buffer).ok()?.tree_id().ok()
}
