//! Submodules: which there are, and the changes inside of them.

use std::collections::BTreeMap;

use crate::checkout::{Checkout, nested, system_path};
use crate::path_scope::PathScope;
use crate::{ChangeQuery, GitChange, GitError, program, status};
use base::disk;

/// Whether the index knows the repository at `folder` as a submodule.
pub(crate) fn is_submodule(found: &Checkout, folder: &[u8]) -> Result<bool, GitError> {
    Ok(program::index_entries(found.root(), folder)?.starts_with(b"160000 "))
}

/// Lists the changes under the paths of `scope` that are inside of submodules, and removes these paths.
pub(crate) fn take_inner_changes(
    found: &Checkout,
    scope: &mut PathScope,
    query: &ChangeQuery,
) -> Result<Vec<GitChange>, GitError> {
    let (mut changes, mut done) = (Vec::new(), Vec::new());
    for path in scope.paths() {
        let Some((folder, rest)) = nested(found.root(), path) else { continue };
        if !is_submodule(found, folder)? {
            continue;
        }
        let paths = vec![String::from_utf8_lossy(rest).into_owned()];
        let inner = ChangeQuery { paths, splits_renames: query.splits_renames, known_rules: None };
        for change in status::changes(&found.root().join(system_path(folder)), &inner)? {
            let path = [folder, b"/", change.path.as_bytes()].concat();
            changes.push(scope.change(&path, change.kind));
        }
        done.push(path.clone());
    }
    scope.retain(|path| !done.contains(path));
    Ok(changes)
}

/// The settings with which `git status` looks at submodules: as `.gitmodules` says.
///
/// The settings of the repository may say something else, but they are not part of a commit.
pub(crate) fn settings(found: &Checkout) -> Vec<String> {
    let parts = ignored_parts(found);
    let parts = parts.iter().filter(|(name, _)| !name.contains('='));
    let parts = parts.map(|(name, ignore)| format!("submodule.{name}.ignore={ignore}"));
    std::iter::once("diff.ignoreSubmodules=none".to_owned()).chain(parts).collect()
}

/// The `ignore` of each submodule in `.gitmodules`, by name.
fn ignored_parts(found: &Checkout) -> BTreeMap<String, String> {
    use gix::config::{File, Source, file};
    let metadata = file::Metadata::from(Source::Worktree);
    let parse = |text: Vec<u8>| File::from_bytes_no_includes(&text, metadata, file::init::Options::default()).ok();
    let Some(file) = modules_file(found).and_then(parse) else { return BTreeMap::new() };
    let mut parts = BTreeMap::new();
    for section in file.sections_by_name("submodule").into_iter().flatten() {
        let Some(name) = section.header().subsection_name() else { continue };
        let ignore = parts.entry(name.to_string()).or_insert_with(|| "none".to_owned());
        if let Some(value) = section.value("ignore") {
            *ignore = value.to_string();
        }
    }
    parts
}

/// The text of `.gitmodules`; where it is missing, as in a sparse checkout, the staged one, as for git.
fn modules_file(found: &Checkout) -> Option<Vec<u8>> {
    const NAME: &str = ".gitmodules";
    if let Ok(text) = disk::read(&found.root().join(NAME), disk::LARGEST) {
        return Some(text);
    }
    let repo = found.repository().ok()?;
    let index = repo.index_or_empty().ok()?;
    let id = index.entry_by_path(NAME.into())?.id;
    Some(repo.find_object(id).ok()?.data.clone())
}
