//! Whether a single file is committed.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use std::path::Path;

use crate::checkout::{Checkout, nested, system_path};
use crate::{CommitState, GitError, status, submodules};
use base::disk;
use gix::bstr::BStr;
use gix::index::entry::{Flags, Mode, Stage};
use gix::objs::Kind;
use gix::worktree::stack::state::attributes::Source;

/// How many files are looked at beside the index.
const MOST_IN_GIT_FOLDER: usize = 10_000;

/// See [`crate::commit_state`].
pub(crate) fn commit_state(tree: &Path, path: &Path) -> Result<CommitState, GitError> {
    let found = Checkout::open(tree)?;
    let Some(file) = found.file(path)? else {
        return Ok(CommitState::Missing);
    };
    match nested(found.root(), &file) {
        Some((folder, inner)) if submodules::is_submodule(&found, folder)? => {
            commit_state(&found.root().join(system_path(folder)), &system_path(inner))
        }
        Some((folder, _)) => status::commit_state(&found, &file, Some(folder)),
        // Where gix is unsure, git has the answer.
        None if found.references().and_then(|repo| is_as_committed(repo, found.root(), &file)) == Ok(true) => {
            Ok(CommitState::Committed)
        }
        None => status::commit_state(&found, &file, None),
    }
}

/// Whether HEAD, the index and the worktree have the same content at `path`, byte for byte.
fn is_as_committed(repo: &gix::Repository, root: &Path, path: &[u8]) -> Result<bool, GitError> {
    let unsure = |error: gix::Error| GitError::from(error.to_string());
    if is_index_split(repo) {
        return Ok(false);
    }
    let index = repo.index_or_empty().map_err(unsure)?;
    let Some(staged) = index.entry_by_path_and_stage(BStr::new(path), Stage::Unconflicted) else { return Ok(false) };
    if staged.flags.contains(Flags::INTENT_TO_ADD) {
        return Ok(false);
    }
    let head = repo.head_tree().map_err(unsure)?;
    let parts = path.split(|byte| *byte == b'/');
    let committed = head.lookup_entry(parts).map_err(unsure)?;
    let is_staged = |entry: gix::object::tree::Entry<'_>| {
        entry.object_id() == staged.id && u32::from(entry.mode().value()) == staged.mode.bits()
    };
    if !committed.is_some_and(is_staged) {
        return Ok(false);
    }
    let system = repo.filesystem_options().map_err(unsure)?;
    let whole = root.join(system_path(path));
    let seen = whole.symlink_metadata().map_err(|error| GitError::unreadable(&whole, &error))?;
    let content = if staged.mode == Mode::SYMLINK && seen.is_symlink() {
        whole.read_link().map(|target| target.into_os_string().into_encoded_bytes())
    } else if seen.is_file() && (staged.mode == Mode::FILE || staged.mode == Mode::FILE_EXECUTABLE) {
        let is_executable = staged.mode == Mode::FILE_EXECUTABLE;
        if system.executable_bit && gix::fs::is_executable(&seen) != is_executable {
            return Ok(false);
        }
        disk::read(&whole, disk::LARGEST)
    } else {
        return Ok(false);
    };
    let content = content.map_err(|error| GitError::unreadable(&whole, &error))?;
    if seen.is_file() && is_converted(repo, &index, path, content.contains(&b'\r'))? {
        return Ok(false);
    }
    let id = gix::objs::compute_hash(repo.object_hash(), Kind::Blob, &content);
    Ok(id.is_ok_and(|id| id == staged.id))
}

/// Whether the index is in two files: gix takes entries that were removed from the second one as staged.
fn is_index_split(repo: &gix::Repository) -> bool {
    let index = repo.index_path();
    let names = index.parent().and_then(|folder| disk::names(folder, MOST_IN_GIT_FOLDER).ok());
    names.is_none_or(|names| names.iter().any(|name| name.as_encoded_bytes().starts_with(b"sharedindex.")))
}

/// Whether git may change the content of a file before it stores it; line endings only matter if it
/// `has_carriage_returns`.
fn is_converted(
    repo: &gix::Repository,
    index: &gix::index::State,
    path: &[u8],
    has_carriage_returns: bool,
) -> Result<bool, GitError> {
    let autocrlf = || repo.config_snapshot().string("core.autocrlf");
    if has_carriage_returns && autocrlf().is_some_and(|value| value.as_slice() != b"false") {
        return Ok(true);
    }
    let names: &[&str] = if has_carriage_returns {
        &["filter", "working-tree-encoding", "ident", "text", "crlf", "eol"]
    } else {
        &["filter", "working-tree-encoding", "ident"]
    };
    // A sparse checkout can leave out `.gitattributes`; git then reads the staged one.
    let attributes = repo.attributes_only(index, Source::WorktreeThenIdMapping);
    let mut attributes = attributes.map_err(|error| error.to_string())?;
    let mut found = attributes.selected_attribute_matches(names.iter().copied());
    let there = attributes.at_path(&*system_path(path), None).map_err(|error| error.to_string())?;
    there.matching_attributes(&mut found);
    Ok(found.iter_selected().any(|found| {
        let state = found.assignment.state;
        !state.is_unspecified() && !state.is_unset()
    }))
}
