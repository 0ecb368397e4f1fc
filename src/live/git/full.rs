//! The full layer: gix's status, where the quick layer is unsure.

use gix::bstr::{BStr, BString};
use gix::diff::index::Change as Staged;
use gix::dir::entry::{Kind as OnDisk, Status};
use gix::status::index_worktree::Item as Unstaged;
use gix::status::plumbing::index_as_worktree::{Change as Altered, EntryStatus};
use gix::status::{Item, Submodule, UntrackedFiles, tree_index::TrackRenames};

use super::checkout::OpenCheckout;
use super::ignore_rules::IgnoreRules;
use super::path_scope::PathScope;
use super::renames::{self, GitBlob, StagedChange};
use super::{ChangeKind, CommitState, GitChange, LayerError};

/// See [`super::commitment`]; `path` is relative to the root and exists.
pub(super) fn commitment(place: &OpenCheckout<'_>, path: &[u8]) -> Result<CommitState, LayerError> {
    let index = place.repo.index_or_empty().map_err(LayerError::unsure)?;
    if index.entry_by_path(BStr::new(path)).is_none() && index.entry_range(BStr::new(path)).is_none() {
        let ignored = IgnoreRules::new(place, true)?.ignores(path, false)?;
        return Ok(if ignored { CommitState::Ignored } else { CommitState::Untracked });
    }
    let mut answer = CommitState::Committed;
    for item in items(place, &PathScope::one(path))? {
        match item? {
            Item::TreeIndex(_) => answer = CommitState::Staged,
            Item::IndexWorktree(item) => match unstaged(&item) {
                Some((_, ChangeKind::Added)) => answer = CommitState::Staged,
                Some(_) => return Ok(CommitState::Modified),
                None => {}
            },
        }
    }
    Ok(answer)
}

/// See [`super::changes`].
pub(super) fn changes(place: &OpenCheckout<'_>, asked: &PathScope) -> Result<Vec<GitChange>, LayerError> {
    let index = place.repo.index_or_empty().map_err(LayerError::unsure)?;
    let (mut deltas, mut rest) = (Vec::new(), Vec::new());
    for item in items(place, asked)? {
        match item? {
            Item::TreeIndex(change) => deltas.extend(delta(change)),
            Item::IndexWorktree(item) => rest.extend(unstaged(&item)),
        }
    }
    collapse(&index, asked, &mut rest);
    // gix compares all of HEAD with all of the index.
    deltas.retain(|delta| asked.covers(&delta.path));
    deltas.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    let named = renames::named(place.repo, &deltas);
    rest.retain(|(path, kind)| {
        let bare = path.strip_suffix(b"/").unwrap_or(path);
        let known = match kind {
            // git reports a folder in the place of a tracked file only as a deletion.
            ChangeKind::Untracked => bare != path && index.entry_by_path(BStr::new(bare)).is_some(),
            _ => named.iter().any(|(known, _)| known == path),
        };
        asked.covers(bare) && !known
    });
    let all = named.into_iter().chain(rest);
    Ok(all.map(|(path, kind)| asked.change(&path, kind)).collect())
}

/// Runs gix's status over the asked paths.
fn items(
    place: &OpenCheckout<'_>,
    asked: &PathScope,
) -> Result<impl Iterator<Item = Result<Item, LayerError>>, LayerError> {
    let patterns = asked.paths().iter().map(|path| {
        let mut pattern = BString::from(":(top,literal)");
        pattern.extend_from_slice(path);
        pattern
    });
    let items = place
        .repo
        .status(gix::progress::Discard)
        .map_err(LayerError::unsure)?
        .untracked_files(UntrackedFiles::Collapsed)
        .index_worktree_submodules(Submodule::AsConfigured { check_dirty: true })
        .index_worktree_rewrites(None)
        .tree_index_track_renames(TrackRenames::Disabled)
        .into_iter(patterns)
        .map_err(LayerError::unsure)?;
    Ok(items.map(|item| item.map_err(LayerError::unsure)))
}

/// Replaces untracked paths by their outermost untracked folder, as git does; gix stops at repositories.
fn collapse(index: &gix::index::State, asked: &PathScope, found: &mut [(Vec<u8>, ChangeKind)]) {
    for (path, _) in found.iter_mut().filter(|(_, kind)| *kind == ChangeKind::Untracked) {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let outer = slashes.map(|(at, _)| at).find(|at| {
            let folder = path.get(..=*at).unwrap_or_default();
            let inside = folder.strip_suffix(b"/").unwrap_or(folder);
            asked.covers(inside) && index.prefixed_entries_range(BStr::new(folder)).is_none()
        });
        if let Some(at) = outer {
            path.truncate(at + 1);
        }
    }
}

/// A difference between HEAD and the index; without rename tracking, these are all there are.
fn delta(change: Staged) -> Option<StagedChange> {
    let delta = match change {
        Staged::Addition { location, entry_mode, id, .. } => {
            let new = GitBlob::new(entry_mode.bits(), id.into_owned());
            StagedChange { path: location.into_owned().into(), old: None, new: Some(new) }
        }
        Staged::Deletion { location, entry_mode, id, .. } => {
            let old = GitBlob::new(entry_mode.bits(), id.into_owned());
            StagedChange { path: location.into_owned().into(), old: Some(old), new: None }
        }
        Staged::Modification { location, previous_entry_mode, previous_id, entry_mode, id, .. } => {
            let old = GitBlob::new(previous_entry_mode.bits(), previous_id.into_owned());
            let new = GitBlob::new(entry_mode.bits(), id.into_owned());
            StagedChange { path: location.into_owned().into(), old: Some(old), new: Some(new) }
        }
        Staged::Rewrite { .. } => return None,
    };
    Some(delta)
}

/// A difference between the index and the worktree, or something untracked.
fn unstaged(item: &Unstaged) -> Option<(Vec<u8>, ChangeKind)> {
    match item {
        Unstaged::Modification { rela_path, status, .. } => {
            let kind = match status {
                EntryStatus::Conflict { .. } => ChangeKind::Conflicted,
                EntryStatus::IntentToAdd => ChangeKind::Added,
                EntryStatus::NeedsUpdate(_) => return None,
                EntryStatus::Change(Altered::Removed) => ChangeKind::Deleted,
                EntryStatus::Change(Altered::Type { .. }) => ChangeKind::TypeChanged,
                EntryStatus::Change(Altered::Modification { .. }) => ChangeKind::Modified,
                EntryStatus::Change(Altered::SubmoduleModification(_)) => ChangeKind::Submodule,
            };
            Some((rela_path.to_vec(), kind))
        }
        Unstaged::DirectoryContents { entry, .. } if entry.status == Status::Untracked => {
            let mut path = entry.rela_path.to_vec();
            if matches!(entry.disk_kind, Some(OnDisk::Directory | OnDisk::Repository)) {
                path.push(b'/');
            }
            Some((path, ChangeKind::Untracked))
        }
        Unstaged::DirectoryContents { .. } | Unstaged::Rewrite { .. } => None,
    }
}
