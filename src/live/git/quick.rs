//! The quick layer: compares index, HEAD and worktree directly, restricted to the given paths.
//!
//! It needs all fields of `lstat`, which only Unix has.

mod cached_tree;
mod content;
mod dir_listing;
mod entry;
mod fast_path;
mod folder_task;
mod folders;
mod index;
mod plain_objects;
mod raw_entry;
mod renames;
mod staged;
mod submodule;
mod walk;
mod window;

pub(super) use fast_path::{has_no_stash, head, head_changed, is_committed};
pub(super) use submodule::is_linked;

use super::checkout::{self, OpenCheckout, text};
use super::ignore_rules::IgnoreRules;
use super::path_scope::PathScope;
use super::{AskedFile, ChangeKind, CommitState, GitChange, LayerError};
use content::ContentComparer;
use index::GitIndex;
use std::path::Path;
use walk::{WalkResult, WorktreeWalk};

/// What the fast path has seen.
pub(super) type FirstLook = Option<fast_path::FirstLook>;

/// Looks at `paths`; `None` if nothing has changed.
pub(super) fn first_look(tree: &Path, paths: &[String]) -> Option<FirstLook> {
    let look = fast_path::FirstLook::at(tree, paths);
    if look.as_ref().is_some_and(|look| look.is_clean) { None } else { Some(look) }
}

/// The git settings that affect the comparison.
struct CompareSettings {
    /// Whether the executable bit counts.
    modes: bool,
    /// Whether names that differ may be the same file.
    folding: bool,
    /// Whether parts of the worktree may not be checked out.
    sparse: bool,
}

impl CompareSettings {
    fn of(place: &OpenCheckout<'_>) -> Result<Self, LayerError> {
        let system = place.repo.filesystem_options().map_err(LayerError::unsure)?;
        if !system.symlink {
            return Err(LayerError::Unsure("symbolic links are files here".to_owned()));
        }
        let sparse = place.repo.config_snapshot().boolean("core.sparseCheckout").unwrap_or(false);
        let folding = system.ignore_case || system.precompose_unicode;
        Ok(Self { modes: system.executable_bit, folding, sparse })
    }
}

/// See [`super::commitment`].
pub(super) fn commitment(place: &OpenCheckout<'_>, file: &AskedFile<'_>) -> Result<CommitState, LayerError> {
    let settings = CompareSettings::of(place)?;
    let path = file.path;
    let asked = PathScope::one(file.repository.unwrap_or(path));
    let index = GitIndex::read(&place.repo.index_path(), place.repo.object_hash(), &asked, true)?;
    let entry = match index.exactly(path) {
        [] => return unknown_file(place, &settings, &index, file),
        [entry] if !entry.is_conflicted() => entry,
        _ => return Ok(CommitState::Modified),
    };
    if entry.is_intended() {
        return Ok(CommitState::Staged);
    }
    let whole = place.root.join(text(path));
    let proven = rustix::fs::lstat(&whole).is_ok_and(|now| entry.is_proven(&now, settings.modes, index.written));
    if !proven && ContentComparer::new(place, settings.modes).difference(entry, path)?.is_some() {
        return Ok(CommitState::Modified);
    }
    let wanted = renames::GitBlob::new(entry.mode, entry.id);
    let blob = match checkout::head(place.repo)? {
        Some(commit) => staged::committed(&place.repo.objects, &commit, path)?,
        None => None,
    };
    Ok(if blob == Some(wanted) { CommitState::Committed } else { CommitState::Staged })
}

/// The state of a file that is not in the index: ignored or untracked.
fn unknown_file(
    place: &OpenCheckout<'_>,
    settings: &CompareSettings,
    index: &GitIndex,
    file: &AskedFile<'_>,
) -> Result<CommitState, LayerError> {
    match index.link(file.path) {
        Some(link) if index.path(link) == file.path => {
            return Err(LayerError::Unsure("a file is in the place of a submodule".to_owned()));
        }
        // git does not look into a submodule that is not checked out.
        Some(_) => return Ok(CommitState::Untracked),
        None if file.repository.is_some() && !index.entries.is_empty() => {
            return Err(LayerError::Unsure("a repository has tracked files of another one".to_owned()));
        }
        None if settings.folding => {
            return Err(LayerError::Unsure("the index may know the file by another name".to_owned()));
        }
        None => {}
    }
    let mut rules = IgnoreRules::new(place, settings.sparse)?;
    let ignored = match file.repository {
        Some(folder) => rules.ignores(folder, true)?,
        None => rules.ignores(file.path, false)?,
    };
    Ok(if ignored { CommitState::Ignored } else { CommitState::Untracked })
}

/// See [`super::changes`].
pub(super) fn changes(
    place: &OpenCheckout<'_>,
    asked: &PathScope,
    look: FirstLook,
) -> Result<Vec<GitChange>, LayerError> {
    let settings = CompareSettings::of(place)?;
    let (index, mut seen) = if let Some(look) = look.filter(|look| look.is_of(place.root, asked)) {
        (look.index, look.seen)
    } else {
        let index = GitIndex::read(&place.repo.index_path(), place.repo.object_hash(), asked, false)?;
        let seen = WorktreeWalk::new(place.root, &index, settings.modes)?.run(asked)?;
        (index, seen)
    };
    if settings.sparse {
        seen.missing.retain(|at| !is_left_out(place, &index, *at));
    }
    // A sparse checkout leaves files out, which are then not missing.
    let may_lack_files = settings.sparse || !seen.missing.is_empty();
    if settings.folding && may_lack_files && !(seen.files.is_empty() && seen.folders.is_empty()) {
        return Err(LayerError::Unsure("a file may be there by another name".to_owned()));
    }
    if !seen.missing.is_empty() && !seen.intended.is_empty() {
        return Err(LayerError::Unsure("files may be renamed".to_owned()));
    }
    let mut changes = Vec::new();
    let mut known = std::collections::HashSet::new();
    let head = checkout::head(place.repo)?;
    let staged = staged::staged(&place.repo.objects, head, place.repo.object_hash(), &index, asked)?;
    let staged = if asked.splits_renames() { renames::split(&staged) } else { renames::named(&staged)? };
    for (path, kind) in staged {
        changes.push(asked.change(&path, kind));
        known.insert(path);
    }
    for (path, kind) in unstaged(place, &settings, &index, asked, &seen)? {
        // The index wins where both sides changed.
        if !known.contains(path) || kind == ChangeKind::Conflicted {
            changes.push(asked.change(path, kind));
        }
    }
    for path in untracked(place, &settings, &index, seen)? {
        changes.push(asked.change(&path, ChangeKind::Untracked));
    }
    Ok(changes)
}

/// Whether a sparse checkout leaves out the missing entry `at`: nothing is at its path, even through links.
fn is_left_out(place: &OpenCheckout<'_>, index: &GitIndex, at: usize) -> bool {
    let skipped = index.entries.get(at).filter(|entry| entry.is_skipped());
    skipped.is_some_and(|entry| rustix::fs::lstat(place.root.join(text(index.path(entry)))).is_err())
}

/// The differences between the index and the worktree.
fn unstaged<'a>(
    place: &OpenCheckout<'_>,
    settings: &CompareSettings,
    index: &'a GitIndex,
    asked: &PathScope,
    seen: &WalkResult,
) -> Result<Vec<(&'a [u8], ChangeKind)>, LayerError> {
    let entry = |at: &usize| index.entries.get(*at).map(|entry| (entry, index.path(entry)));
    let mut found = Vec::new();
    let plain = [
        (&seen.missing, ChangeKind::Deleted),
        (&seen.conflicts, ChangeKind::Conflicted),
        (&seen.intended, ChangeKind::Added),
    ];
    for (positions, kind) in plain {
        found.extend(positions.iter().filter_map(entry).map(|(_, path)| (path, kind)));
    }
    let mut contents = ContentComparer::new(place, settings.modes);
    for (entry, path) in seen.doubtful.iter().filter_map(entry) {
        if let Some(kind) = contents.difference(entry, path)? {
            found.push((path, kind));
        }
    }
    for link in index.links.iter().filter(|link| asked.covers(index.path(link))) {
        let path = index.path(link);
        if let Some(kind) = submodule::difference(place, link, path, settings.sparse)? {
            found.push((path, kind));
        }
    }
    Ok(found)
}

/// The untracked paths that are not ignored; a folder ends in a slash.
fn untracked(
    place: &OpenCheckout<'_>,
    settings: &CompareSettings,
    index: &GitIndex,
    seen: WalkResult,
) -> Result<Vec<Vec<u8>>, LayerError> {
    let mut found = Vec::new();
    if seen.files.is_empty() && seen.folders.is_empty() {
        return Ok(found);
    }
    let mut excludes = IgnoreRules::new(place, settings.sparse)?;
    for path in seen.files {
        if index.link(&path).is_none() && !excludes.ignores(&path, false)? {
            found.push(path);
        }
    }
    for mut path in seen.folders {
        // git reports a folder in the place of a tracked file only as a deletion.
        let known = index.link(&path).is_some() || !index.exactly(&path).is_empty();
        if !known && excludes.counts(&path)? {
            path.push(b'/');
            found.push(path);
        }
    }
    Ok(found)
}
