//! Compares submodules: their commit and their own changes.

use std::collections::BTreeMap;
use std::path::Path;

use super::checkout::{Checkout, nested, text};
use super::path_scope::PathScope;
use super::{GitChange, Unknown, program, quick};

/// Whether the repository at `folder` is a submodule, known to the index.
pub(super) fn is_linked(found: &Checkout, folder: &[u8]) -> Result<bool, Unknown> {
    super::layered(found, |place| quick::is_linked(place, folder), || program::is_linked(found, folder))
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
pub(super) fn modules(root: &Path, repo: Option<&gix::Repository>) -> Option<Vec<u8>> {
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
