//! Compares the index with HEAD under the given paths.
//!
//! Folders whose cached tree is the same as HEAD's are not read.

use std::collections::BTreeMap;

use gix::objs::{Find, FindExt};
use gix::{ObjectId, hash};

use super::cached_tree::CachedTree;
use super::entry::IndexEntry;
use super::index::GitIndex;
use super::renames::{GitBlob, StagedChange};
use crate::live::git::LayerError;
use crate::live::git::path_scope::{PathScope, within};

/// The deltas from the commit of HEAD, if there is one, to the index under the asked paths, sorted by path.
pub(super) fn staged(
    objects: &dyn Find,
    commit: Option<ObjectId>,
    kind: hash::Kind,
    index: &GitIndex,
    asked: &PathScope,
) -> Result<Vec<StagedChange>, LayerError> {
    let cached = CachedTree::decode(&index.cached, kind);
    let mut head = HeadTree::new(objects);
    if let Some(commit) = commit {
        let tree = head.tree(&commit)?;
        for path in asked.paths() {
            head.descend(tree, path, cached)?;
        }
    }
    Ok(head.deltas(index, asked))
}

/// What `commit` has at exactly `path`.
pub(super) fn committed(objects: &dyn Find, commit: &ObjectId, path: &[u8]) -> Result<Option<GitBlob>, LayerError> {
    let mut head = HeadTree::new(objects);
    let tree = head.tree(commit)?;
    head.descend(tree, path, None)?;
    Ok(head.blobs.remove(path))
}

/// HEAD's side of the comparison.
struct HeadTree<'a> {
    objects: &'a dyn Find,
    /// Its blobs, outside of the folders that are the same.
    blobs: BTreeMap<Vec<u8>, GitBlob>,
    /// Folders that are the same in the index.
    same: Vec<Vec<u8>>,
}

impl<'a> HeadTree<'a> {
    fn new(objects: &'a dyn Find) -> Self {
        Self { objects, blobs: BTreeMap::new(), same: Vec::new() }
    }

    /// The root of `commit`.
    fn tree(&self, commit: &ObjectId) -> Result<ObjectId, LayerError> {
        let mut buffer = Vec::new();
        let mut commit = self.objects.find_commit_iter(commit, &mut buffer).map_err(LayerError::unsure)?;
        commit.tree_id().map_err(LayerError::unsure)
    }

    /// The names and blobs in `tree`; the empty tree need not be stored.
    fn list<'b>(
        &self,
        tree: ObjectId,
        buffer: &'b mut Vec<u8>,
    ) -> Result<impl Iterator<Item = Result<(&'b [u8], GitBlob), LayerError>> + use<'b>, LayerError> {
        let some = tree != ObjectId::empty_tree(tree.kind());
        let entries = some.then(|| self.objects.find_tree_iter(&tree, buffer));
        let entries = entries.transpose().map_err(LayerError::unsure)?;
        Ok(entries.into_iter().flatten().map(|entry| {
            let entry = entry.map_err(LayerError::unsure)?;
            let blob = GitBlob::new(u32::from(entry.mode.value()), entry.oid.to_owned());
            Ok((&**entry.filename, blob))
        }))
    }

    /// Collects what `tree`, HEAD's root, has at `path` and below.
    fn descend(&mut self, tree: ObjectId, path: &[u8], cached: Option<CachedTree<'_>>) -> Result<(), LayerError> {
        let (mut tree, mut cached, mut prefix) = (tree, cached, Vec::new());
        let mut parts = path.split(|byte| *byte == b'/').filter(|part| !part.is_empty());
        loop {
            if cached.is_some_and(|folder| folder.id == Some(tree)) {
                self.same.push(prefix);
                return Ok(());
            }
            let Some(part) = parts.next() else {
                return self.collect(tree, &prefix, cached);
            };
            let Some(blob) = self.entry(tree, part)? else {
                return Ok(());
            };
            push(&mut prefix, part);
            if !blob.is_tree() {
                // A file where a folder is expected: HEAD has nothing below.
                if prefix == path {
                    self.blobs.insert(prefix, blob);
                }
                return Ok(());
            }
            (tree, cached) = (blob.id, cached.and_then(|folder| folder.child(part)));
        }
    }

    /// Collects everything in `tree`.
    fn collect(&mut self, tree: ObjectId, prefix: &[u8], cached: Option<CachedTree<'_>>) -> Result<(), LayerError> {
        let children = cached.map(|folder| folder.by_name()).unwrap_or_default();
        let mut buffer = Vec::new();
        for entry in self.list(tree, &mut buffer)? {
            let (name, blob) = entry?;
            let mut path = prefix.to_vec();
            push(&mut path, name);
            if !blob.is_tree() {
                self.blobs.insert(path, blob);
                continue;
            }
            let cached = children.get(name).copied();
            if cached.is_some_and(|folder| folder.id == Some(blob.id)) {
                self.same.push(path);
            } else {
                self.collect(blob.id, &path, cached)?;
            }
        }
        Ok(())
    }

    /// The entry `name` of `tree`.
    fn entry(&self, tree: ObjectId, name: &[u8]) -> Result<Option<GitBlob>, LayerError> {
        let mut buffer = Vec::new();
        for entry in self.list(tree, &mut buffer)? {
            match entry? {
                (found, blob) if found == name => return Ok(Some(blob)),
                _ => {}
            }
        }
        Ok(None)
    }

    /// Compares with the index; conflicts are reported by the worktree's side.
    fn deltas(mut self, index: &GitIndex, asked: &PathScope) -> Vec<StagedChange> {
        let mut deltas = Vec::new();
        let mut from = 0;
        for (start, end) in self.ranges(index) {
            self.compare(index, index.entries.get(from..start), &mut deltas);
            from = from.max(end);
        }
        self.compare(index, index.entries.get(from..), &mut deltas);
        let same = std::mem::take(&mut self.same);
        let open = |link: &&IndexEntry| {
            let path = index.path(link);
            asked.covers(path) && !same.iter().any(|folder| within(folder, path))
        };
        self.compare(index, Some(index.links.iter().filter(open)), &mut deltas);
        for (path, old) in self.blobs {
            deltas.push(StagedChange { path, old: Some(old), new: None });
        }
        deltas.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        deltas
    }

    /// The ranges of index entries that are the same in HEAD.
    fn ranges(&self, index: &GitIndex) -> Vec<(usize, usize)> {
        let all = index.entries.len();
        let mut ranges: Vec<_> = self.same.iter().map(|folder| index.inside(folder, 0, all)).collect();
        ranges.sort_unstable();
        ranges
    }

    /// Compares `entries` with HEAD; `blobs` keeps what only HEAD has.
    fn compare<'e, I>(&mut self, index: &GitIndex, entries: I, deltas: &mut Vec<StagedChange>)
    where
        I: IntoIterator,
        I::Item: IntoIterator<Item = &'e IndexEntry>,
    {
        for entry in entries.into_iter().flatten().filter(|entry| !entry.is_intended()) {
            let path = index.path(entry);
            // The first side of a conflict takes what HEAD has; the worktree's side reports it.
            let old = self.blobs.remove(path);
            let new = GitBlob::new(entry.mode, entry.id);
            if !entry.is_conflicted() && old.as_ref() != Some(&new) {
                deltas.push(StagedChange { path: path.to_vec(), old, new: Some(new) });
            }
        }
    }
}

/// Appends `part` to a path.
fn push(path: &mut Vec<u8>, part: &[u8]) {
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(part);
}
