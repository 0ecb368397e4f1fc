//! Compares submodules: their commit and their own changes.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use std::path::Path;

use super::checkout::{OpenCheckout, absent, head, text};
use super::entry::IndexEntry;
use super::index::GitIndex;
use super::path_scope::{PathScope, within};
use super::{ChangeKind, GitChange, LayerError};

/// How the submodule `link` at `path` differs from the index.
pub(super) fn difference(
    place: &OpenCheckout<'_>,
    link: &IndexEntry,
    path: &[u8],
) -> Result<Option<ChangeKind>, LayerError> {
    if link.is_conflicted() {
        return Ok(Some(ChangeKind::Conflicted));
    }
    let whole = place.root.join(text(path));
    match whole.symlink_metadata() {
        Ok(seen) if !seen.is_dir() => return Ok(Some(ChangeKind::TypeChanged)),
        Ok(_) if !is_populated(&whole) => return Ok(None),
        Ok(_) => {}
        Err(error) if absent(&error) => return Ok(Some(ChangeKind::Deleted)),
        Err(error) => return Err(LayerError::unreadable(&whole, &error)),
    }
    if is_configured(place, path)? {
        return Err(LayerError::Unsure("a submodule is configured to be ignored".to_owned()));
    }
    let found = super::Checkout::from(&whole).map_err(LayerError::unsure)?;
    let commit = found.repository().and_then(head)?;
    if commit != Some(link.id) || !super::changes(&whole, &[], 1).map_err(LayerError::unsure)?.is_empty() {
        return Ok(Some(ChangeKind::Submodule));
    }
    Ok(None)
}

/// The changes under the given paths inside submodules.
pub(super) fn inner(
    place: &OpenCheckout<'_>,
    index: &GitIndex,
    asked: &PathScope,
) -> Result<Vec<GitChange>, LayerError> {
    let mut changes = Vec::new();
    for path in asked.paths() {
        let Some(link) = index.link(path).map(|link| index.path(link)).filter(|link| link != path) else {
            continue;
        };
        let Some((whole, rest)) = inside(place, link, path) else {
            continue;
        };
        let rest = String::from_utf8_lossy(rest).into_owned();
        for change in super::changes(&whole, &[rest], usize::MAX).map_err(LayerError::unsure)? {
            let path = [link, b"/", change.path.as_bytes()].concat();
            changes.push(asked.change(&path, change.kind));
        }
    }
    Ok(changes)
}

/// The checked out submodule at `link`, and `path` relative to it.
pub(super) fn inside<'a>(
    place: &OpenCheckout<'_>,
    link: &[u8],
    path: &'a [u8],
) -> Option<(std::path::PathBuf, &'a [u8])> {
    let whole = place.root.join(text(link));
    let rest = path.strip_prefix(link)?.strip_prefix(b"/")?;
    (within(link, path) && is_populated(&whole)).then_some((whole, rest))
}

/// Whether a submodule is checked out at `whole`.
fn is_populated(whole: &Path) -> bool {
    gix::discover::is_git(&whole.join(".git")).is_ok()
}

/// Whether a setting says how much of this submodule's state to ignore.
fn is_configured(place: &OpenCheckout<'_>, path: &[u8]) -> Result<bool, LayerError> {
    if place.repo.config_snapshot().string("diff.ignoreSubmodules").is_some() {
        return Ok(true);
    }
    for module in place.repo.submodules().map_err(LayerError::unsure)?.into_iter().flatten() {
        if module.path().is_ok_and(|at| at == path) {
            return Ok(module.ignore().map_err(LayerError::unsure)?.is_some());
        }
    }
    Ok(false)
}
