//! The quick layer: index, HEAD and worktree compared directly, no more than the asked paths need.

use super::asked::Asked;
use super::content::Contents;
use super::index::Index;
use super::place::{Place, head, text};
use super::untracked::Excludes;
use super::walk::{Seen, Walk};
use super::{ChangeKind, CommitState, Doubt, GitChange, renames, staged, submodules};

/// The settings that the comparison depends on.
struct Settings {
    /// Whether the executable bit counts.
    modes: bool,
    /// Whether names that differ may be the same file.
    folding: bool,
    /// Whether parts of the worktree may not be checked out.
    sparse: bool,
}

impl Settings {
    fn of(place: &Place<'_>) -> Result<Self, Doubt> {
        let system = place.repo.filesystem_options().map_err(Doubt::odd)?;
        if !system.symlink {
            return Err(Doubt::Odd("symbolic links are files here".to_owned()));
        }
        let sparse = place.repo.config_snapshot().boolean("core.sparseCheckout").unwrap_or(false);
        let folding = system.ignore_case || system.precompose_unicode;
        Ok(Self { modes: system.executable_bit, folding, sparse })
    }
}

/// See [`super::commitment`]; `path` is relative to the root and exists.
pub(super) fn commitment(place: &Place<'_>, path: &[u8]) -> Result<CommitState, Doubt> {
    let settings = Settings::of(place)?;
    let asked = Asked::one(path);
    let index = Index::read(&place.repo.index_path(), place.repo.object_hash(), &asked, true)?;
    let entry = match index.exactly(path) {
        [] => return stranger(place, &settings, &index, path),
        [entry] if !entry.is_conflicted() => entry,
        _ => return Ok(CommitState::Modified),
    };
    if entry.is_intended() {
        return Ok(CommitState::Staged);
    }
    let whole = place.root.join(text(path));
    let vouched = rustix::fs::lstat(&whole).is_ok_and(|now| entry.is_vouched(&now, settings.modes, index.written));
    if !vouched && Contents::new(place, settings.modes).difference(entry, path)?.is_some() {
        return Ok(CommitState::Modified);
    }
    let wanted = renames::Blob::new(entry.mode, entry.id);
    let blob = match head(place.repo)? {
        Some(commit) => staged::committed(&place.repo.objects, &commit, path)?,
        None => None,
    };
    Ok(if blob == Some(wanted) { CommitState::Committed } else { CommitState::Staged })
}

/// A file that the index does not have: in a submodule, ignored, or untracked.
fn stranger(place: &Place<'_>, settings: &Settings, index: &Index, path: &[u8]) -> Result<CommitState, Doubt> {
    if let Some(link) = index.link(path) {
        let (whole, rest) = submodules::inside(place, index.path(link), path)
            .ok_or_else(|| Doubt::Odd("a submodule is not checked out".to_owned()))?;
        return super::commitment(&whole, &text(rest)).map_err(Doubt::Unreadable);
    }
    if settings.folding {
        return Err(Doubt::Odd("the index may know the file by another name".to_owned()));
    }
    let ignored = Excludes::new(place, settings.sparse)?.ignores(path, false)?;
    Ok(if ignored { CommitState::Ignored } else { CommitState::Untracked })
}

/// See [`super::changes`].
pub(super) fn changes(place: &Place<'_>, asked: &Asked) -> Result<Vec<GitChange>, Doubt> {
    let settings = Settings::of(place)?;
    let index = Index::read(&place.repo.index_path(), place.repo.object_hash(), asked, false)?;
    let seen = Walk::new(place.root, &index, settings.sparse, settings.modes)?.run(asked)?;
    if settings.folding && !seen.missing.is_empty() && !(seen.files.is_empty() && seen.folders.is_empty()) {
        return Err(Doubt::Odd("a file may be there by another name".to_owned()));
    }
    let mut changes = submodules::inner(place, &index, asked)?;
    let mut known = std::collections::HashSet::new();
    for (path, kind) in renames::named(place.repo, &staged::staged(place.repo, &index, asked)?) {
        changes.push(asked.change(&path, kind));
        known.insert(path);
    }
    for (path, kind) in unstaged(place, &settings, &index, asked, &seen)? {
        // Where both sides changed, the index has the say.
        if !known.contains(path) || kind == ChangeKind::Conflicted {
            changes.push(asked.change(path, kind));
        }
    }
    for path in untracked(place, &settings, &index, seen)? {
        changes.push(asked.change(&path, ChangeKind::Untracked));
    }
    Ok(changes)
}

/// What differs between the index and the worktree.
fn unstaged<'a>(
    place: &Place<'_>,
    settings: &Settings,
    index: &'a Index,
    asked: &Asked,
    seen: &Seen,
) -> Result<Vec<(&'a [u8], ChangeKind)>, Doubt> {
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
    let mut contents = Contents::new(place, settings.modes);
    for (entry, path) in seen.doubtful.iter().filter_map(entry) {
        if let Some(kind) = contents.difference(entry, path)? {
            found.push((path, kind));
        }
    }
    for link in index.links.iter().filter(|link| asked.covers(index.path(link))) {
        let path = index.path(link);
        if let Some(kind) = submodules::difference(place, link, path)? {
            found.push((path, kind));
        }
    }
    Ok(found)
}

/// The untracked paths that count; a folder ends in a slash.
fn untracked(place: &Place<'_>, settings: &Settings, index: &Index, seen: Seen) -> Result<Vec<Vec<u8>>, Doubt> {
    let mut found = Vec::new();
    if seen.files.is_empty() && seen.folders.is_empty() {
        return Ok(found);
    }
    let mut excludes = Excludes::new(place, settings.sparse)?;
    for path in seen.files {
        if index.link(&path).is_none() && !excludes.ignores(&path, false)? {
            found.push(path);
        }
    }
    for mut path in seen.folders {
        // A folder in the place of a tracked file is that file's deletion and no more, git says.
        let known = index.link(&path).is_some() || !index.exactly(&path).is_empty();
        if !known && excludes.counts(&path)? {
            path.push(b'/');
            found.push(path);
        }
    }
    Ok(found)
}
