//! Compares submodules: their commit and their own changes.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use std::collections::BTreeMap;
use std::path::Path;

use super::checkout::{Checkout, nested, text};
use super::path_scope::PathScope;
use super::{GitChange, LayerError, Unknown, program};

#[cfg(unix)]
pub(super) use self::quick::difference;

/// Whether the repository at `folder` is a submodule, known to the index.
pub(super) fn is_linked(found: &Checkout, folder: &[u8]) -> Result<bool, Unknown> {
    super::layered(found, |place| is_quick_linked(place, folder), || program::is_linked(found, folder))
}

/// The changes under the paths of `asked` that are inside of submodules, and the other paths.
pub(super) fn inner(found: &Checkout, asked: PathScope) -> Result<(Vec<GitChange>, PathScope), Unknown> {
    let (mut changes, mut done) = (Vec::new(), Vec::new());
    for path in asked.paths() {
        let Some((folder, rest)) = nested(found.root(), path) else { continue };
        if !is_linked(found, folder)? {
            continue;
        }
        let rest = String::from_utf8_lossy(rest).into_owned();
        for change in super::changes(&found.root().join(text(folder)), &[rest], usize::MAX)? {
            let path = [folder, b"/", change.path.as_bytes()].concat();
            changes.push(asked.change(&path, change.kind));
        }
        done.push(path.clone());
    }
    Ok((changes, asked.without(&done)))
}

/// The text of `.gitmodules`; where it is missing, as in a sparse checkout, the staged one, as for git.
fn modules(root: &Path, repo: Option<&gix::Repository>) -> Option<Vec<u8>> {
    const NAME: &str = ".gitmodules";
    if let Ok(text) = crate::disk::read(&root.join(NAME), crate::disk::LARGEST) {
        return Some(text);
    }
    let repo = repo?;
    let index = repo.index_or_empty().ok()?;
    let id = index.entry_by_path(NAME.into())?.id;
    Some(repo.find_object(id).ok()?.data.clone())
}

/// The `ignore` of each submodule in `.gitmodules`, by name.
///
/// The settings of the repository may say something else, but they are not part of a commit.
pub(super) fn ignored_parts(found: &Checkout) -> BTreeMap<String, String> {
    let Some(bytes) = modules(found.root(), found.repository().ok()) else { return BTreeMap::new() };
    let Ok(file) = gix::config::File::from_bytes_no_includes(
        &bytes,
        gix::config::file::Metadata::from(gix::config::Source::Worktree),
        gix::config::file::init::Options::default(),
    ) else {
        return BTreeMap::new();
    };
    let sections = file.sections_by_name("submodule").into_iter().flatten();
    let mut parts = BTreeMap::new();
    for section in sections {
        let Some(name) = section.header().subsection_name() else { continue };
        let ignore = parts.entry(name.to_string()).or_insert_with(|| "none".to_owned());
        if let Some(value) = section.value("ignore") {
            *ignore = value.to_string();
        }
    }
    parts
}

/// See [`is_linked`].
#[cfg(unix)]
fn is_quick_linked(place: &super::OpenCheckout<'_>, folder: &[u8]) -> Result<bool, LayerError> {
    use super::index::GitIndex;
    let (kind, asked) = (place.repo.object_hash(), PathScope::one(folder));
    let index = GitIndex::read(&place.repo.index_path(), kind, &asked, false)?;
    Ok(index.link(folder).is_some_and(|link| index.path(link) == folder))
}

/// See [`is_linked`].
#[cfg(not(unix))]
fn is_quick_linked(_: &super::OpenCheckout<'_>, _: &[u8]) -> Result<bool, LayerError> {
    Err(LayerError::Unsure("not on this system".to_owned()))
}

#[cfg(unix)]
mod quick {
    //! The comparison of the quick layer.

    use super::super::checkout::is_repository;
    use super::modules;
    use crate::live::git::checkout::{OpenCheckout, absent, head, text};
    use crate::live::git::entry::IndexEntry;
    use crate::live::git::{ChangeKind, Checkout, LayerError, changes};

    /// How the submodule `link` at `path` differs from the index; a `sparse` checkout may leave it out.
    pub(in crate::live::git) fn difference(
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
            Err(error) if absent(&error) && sparse && link.is_skipped() => return Ok(None),
            Err(error) if absent(&error) => return Ok(Some(ChangeKind::Deleted)),
            Err(error) => return Err(LayerError::unreadable(&whole, &error)),
        }
        let found = Checkout::from(&whole).map_err(LayerError::unsure)?;
        let commit = found.repository().and_then(head)?;
        if commit != Some(link.id) || !changes(&whole, &[], 1).map_err(LayerError::unsure)?.is_empty() {
            return Ok(Some(ChangeKind::Submodule));
        }
        Ok(None)
    }
}
