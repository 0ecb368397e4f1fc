//! Compares a submodule with the index.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use super::entry::IndexEntry;
use super::index::GitIndex;
use crate::disk::is_absent;
use crate::live::git::checkout::{Checkout, OpenCheckout, head, is_repository, text};
use crate::live::git::path_scope::PathScope;
use crate::live::git::submodules::modules;
use crate::live::git::{ChangeKind, LayerError, changes};

/// Whether the index knows the repository at `folder` as a submodule.
pub(in crate::live::git) fn is_linked(place: &OpenCheckout<'_>, folder: &[u8]) -> Result<bool, LayerError> {
    let (kind, asked) = (place.repo.object_hash(), PathScope::one(folder));
    let index = GitIndex::read(&place.repo.index_path(), kind, &asked, false)?;
    Ok(index.link(folder).is_some_and(|link| index.path(link) == folder))
}

/// How the submodule `link` at `path` differs from the index; a `sparse` checkout may leave it out.
pub(super) fn difference(
    place: &OpenCheckout<'_>,
    link: &IndexEntry,
    path: &[u8],
    sparse: bool,
) -> Result<Option<ChangeKind>, LayerError> {
    if link.is_conflicted() {
        return Ok(Some(ChangeKind::Conflicted));
    }
    // Also one that is missing: git does not report it if all of it is ignored.
    if modules(place.root, Some(place.repo)).is_some_and(|text| memchr::memmem::find(&text, b"ignore").is_some()) {
        return Err(LayerError::Unsure("a submodule may be ignored, or a part of it".to_owned()));
    }
    let whole = place.root.join(text(path));
    if whole.parent().is_some_and(|folder| folder.canonicalize().is_ok_and(|real| real != folder)) {
        // Behind a symbolic link is another folder.
        return Ok(Some(ChangeKind::Deleted));
    }
    match whole.symlink_metadata() {
        Ok(seen) if !seen.is_dir() => return Ok(Some(ChangeKind::TypeChanged)),
        Ok(_) if !is_repository(&whole) => return Ok(None),
        Ok(_) => {}
        Err(error) if is_absent(&error) && sparse && link.is_skipped() => return Ok(None),
        Err(error) if is_absent(&error) => return Ok(Some(ChangeKind::Deleted)),
        Err(error) => return Err(LayerError::unreadable(&whole, &error)),
    }
    let found = Checkout::from(&whole).map_err(LayerError::unsure)?;
    let commit = found.repository().and_then(head)?;
    if commit != Some(link.id) || !changes(&whole, &[], 1).map_err(LayerError::unsure)?.is_empty() {
        return Ok(Some(ChangeKind::Submodule));
    }
    Ok(None)
}
