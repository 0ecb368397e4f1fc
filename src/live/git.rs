//! Compares files with HEAD.
//!
//! Two layers: `quick` compares index, HEAD and worktree directly; where it is unsure, `program` asks the `git`
//! program. Before them, its `fast_path` recognizes what is committed without opening the repository with gix. None of them
//! writes to the repository, and all ignore `GIT_DIR` and similar variables: the repository is the one that
//! contains `tree`.
//!
//! `tests/git-compare` compares the answers with git's. They differ on purpose where a setting outside of the
//! commits would hide a change: files marked assume-unchanged or skip-worktree are compared (unless a sparse
//! checkout leaves them out), and how much of a submodule counts is read from `.gitmodules` only.

mod branch;
mod checkout;
#[cfg_attr(not(unix), allow(dead_code, reason = "the quick layer asks for more of it"))]
mod ignore_rules;
mod path_scope;
mod program;
#[cfg(unix)]
mod quick;
mod stash;
mod submodules;
pub(super) mod time_limit;
#[cfg(not(unix))]
mod without_quick;
#[cfg(not(unix))]
use without_quick as quick;

use std::collections::BTreeSet;
use std::path::Path;

use self::checkout::{Checkout, OpenCheckout};
use self::path_scope::PathScope;
use self::program::ProgramError;
use self::time_limit::limited;

use crate::facts::{CurrentBranch, Unknown};

pub use crate::facts::{ChangeKind, CommitState, GitChange};

/// Options that keep git from running programs that a repository's folder names, and from using the folder of a bare
/// repository, which a clone can contain.
pub const SAFE_OPTIONS: [&str; 6] =
    ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "safe.bareRepository=explicit"];

/// Why a layer has no answer.
#[derive(Debug)]
enum LayerError {
    /// This layer is unsure; the next one may have the answer.
    Unsure(String),
    /// No layer can read the file.
    Unreadable(String),
}

impl LayerError {
    /// The error for a path that cannot be read.
    #[cfg_attr(not(unix), allow(dead_code, reason = "only the quick layer asks, which is for Unix"))]
    fn unreadable(path: &Path, error: &std::io::Error) -> Self {
        Self::Unreadable(format!("`{}` cannot be read: {error}", path.display()))
    }

    /// An error of gix; the next layer may have the answer.
    fn unsure(error: impl std::fmt::Display) -> Self {
        Self::Unsure(error.to_string())
    }
}

/// Compares `path`, relative to `tree`, with HEAD.
///
/// `tree` may be a folder inside the repository or a linked worktree. The content decides: a file marked
/// assume-unchanged or skip-worktree is compared as well.
///
/// # Errors
///
/// When `tree` is not in a repository or in a bare one, when `path` is a folder or outside, and when
/// something cannot be read.
pub fn commitment(tree: &Path, path: &Path) -> Result<CommitState, Unknown> {
    if quick::is_committed(tree, path) {
        return Ok(CommitState::Committed);
    }
    let (tree, path) = (tree.to_owned(), path.to_owned());
    limited(time_limit::now(), move || layered_commitment(&tree, &path))
}

/// See [`commitment`].
fn layered_commitment(tree: &Path, path: &Path) -> Result<CommitState, Unknown> {
    let found = Checkout::from(tree)?;
    let Some(file) = found.file(path)? else {
        return Ok(CommitState::Missing);
    };
    let nested = checkout::nested(found.root(), &file);
    if let Some((folder, inner)) = nested
        && submodules::is_linked(&found, folder)?
    {
        return layered_commitment(&found.root().join(checkout::text(folder)), &checkout::text(inner));
    }
    let file = AskedFile { path: &file, repository: nested.map(|(folder, _)| folder) };
    layered(&found, |place| quick::commitment(place, &file), || program::commitment(&found, &file))
}

/// A file that exists, relative to the worktree's root.
struct AskedFile<'a> {
    path: &'a [u8],
    /// The repository, no submodule, that it is in; git never looks inside of it.
    repository: Option<&'a [u8]>,
}

/// The uncommitted changes under `paths`, relative to `tree`, sorted, at most `limit`.
///
/// `""`, `"."` and an empty list mean all of `tree`. Untracked files count regardless of
/// `status.showUntrackedFiles`. A path that does not exist has no changes, except for tracked files
/// that are gone.
///
/// # Errors
///
/// When `tree` is not in a repository or in a bare one, when a path leads out of `tree`, and when something
/// cannot be read.
pub fn changes(tree: &Path, paths: &[String], limit: usize) -> Result<Vec<GitChange>, Unknown> {
    let begun = time_limit::now();
    time_limit::check(begun)?;
    let Some(look) = quick::first_look(tree, paths) else { return Ok(Vec::new()) };
    let (tree, paths) = (tree.to_owned(), paths.to_vec());
    let mut changes = limited(begun, move || layered_changes(&tree, &paths, look, false))?;
    changes.truncate(limit);
    Ok(changes)
}

/// Like [`changes`], without a limit; a rename is a deletion and an addition. With `known`, see [`changes_with_rules`].
///
/// # Errors
///
/// See [`changes_with_rules`].
pub fn changes_split(
    tree: &Path,
    paths: &[String],
    known: Option<&BTreeSet<String>>,
) -> Result<Vec<GitChange>, Unknown> {
    let begun = time_limit::now();
    time_limit::check(begun)?;
    let Some(look) = quick::first_look(tree, paths) else { return Ok(Vec::new()) };
    let (tree, paths, known) = (tree.to_owned(), paths.to_vec(), known.cloned());
    limited(begun, move || match known {
        Some(known) => layered_changes_with_rules(&tree, &paths, known, look, true),
        None => layered_changes(&tree, &paths, look, true),
    })
}

/// See [`changes`].
fn layered_changes(
    tree: &Path,
    paths: &[String],
    look: quick::FirstLook,
    splits_renames: bool,
) -> Result<Vec<GitChange>, Unknown> {
    let found = Checkout::from(tree)?;
    let asked = PathScope::new(found.prefix(), paths)?.splitting(splits_renames);
    let (mut changes, asked) = submodules::inner(&found, asked)?;
    if !asked.paths().is_empty() {
        let quick = |place: &OpenCheckout<'_>| quick::changes(place, &asked, look);
        changes.extend(layered(&found, quick, || program::changes(&found, &asked))?);
    }
    changes.sort_unstable();
    changes.dedup();
    Ok(changes)
}

/// The rules outside of commits (`info/exclude`, `core.excludesFile`) that ignore files, as hashes.
///
/// # Errors
///
/// When `tree` is not in a repository, or the rules cannot be read.
pub fn uncommitted_rules(tree: &Path) -> Result<BTreeSet<String>, Unknown> {
    let tree = tree.to_owned();
    limited(time_limit::now(), move || rules(&tree))
}

fn rules(tree: &Path) -> Result<BTreeSet<String>, Unknown> {
    let found = Checkout::from(tree)?;
    let rules = found.place().and_then(|place| ignore_rules::hashes(&place));
    settled(rules, || Err(ProgramError::Absent))
}

/// Like [`changes`], without a limit; of the rules outside of commits, only the `known` ones ignore files.
///
/// # Errors
///
/// See [`changes`]; also when there are other rules and only the `git` program could answer, which uses all of them.
pub fn changes_with_rules(tree: &Path, paths: &[String], known: &BTreeSet<String>) -> Result<Vec<GitChange>, Unknown> {
    let begun = time_limit::now();
    time_limit::check(begun)?;
    let Some(look) = quick::first_look(tree, paths) else { return Ok(Vec::new()) };
    let (tree, paths, known) = (tree.to_owned(), paths.to_vec(), known.clone());
    limited(begun, move || layered_changes_with_rules(&tree, &paths, known, look, false))
}

/// See [`changes_with_rules`].
fn layered_changes_with_rules(
    tree: &Path,
    paths: &[String],
    known: BTreeSet<String>,
    look: quick::FirstLook,
    splits_renames: bool,
) -> Result<Vec<GitChange>, Unknown> {
    if rules(tree).is_ok_and(|rules| rules.is_subset(&known)) {
        return layered_changes(tree, paths, look, splits_renames);
    }
    let found = Checkout::from(tree)?.with_rules(known);
    let (mut changes, asked) =
        submodules::inner(&found, PathScope::new(found.prefix(), paths)?.splitting(splits_renames))?;
    if !asked.paths().is_empty() {
        let clause = "rules that ignore files were added to `.git/info/exclude` or `core.excludesFile`";
        let quick = found.place().and_then(|place| quick::changes(&place, &asked, look));
        changes.extend(settled(quick, || Err(ProgramError::Failed(clause.into())))?);
    }
    changes.sort_unstable();
    Ok(changes)
}

/// The commit that HEAD points at, `None` while it is unborn.
///
/// # Errors
///
/// When `tree` is not in a repository, or HEAD cannot be read.
pub fn head(tree: &Path) -> Result<Option<String>, Unknown> {
    if let Some(commit) = quick::head(tree) {
        return Ok(Some(commit.to_string()));
    }
    let tree = tree.to_owned();
    limited(time_limit::now(), move || {
        let found = Checkout::from(&tree)?;
        let quick = found.repository().and_then(checkout::head).map(|id| id.map(|id| id.to_string()));
        settled(quick, || program::head(&found))
    })
}

/// Whether the files of HEAD differ from those of the commit `since`, which is empty for no commit.
///
/// A commit that no longer exists counts as another one.
///
/// # Errors
///
/// When `tree` is not in a repository, or HEAD cannot be read.
pub fn head_changed(tree: &Path, since: &str) -> Result<bool, Unknown> {
    if let Some(changed) = quick::head_changed(tree, since) {
        return Ok(changed);
    }
    let (tree, since) = (tree.to_owned(), since.to_owned());
    limited(time_limit::now(), move || {
        let found = Checkout::from(&tree)?;
        let quick = found.repository().and_then(|repo| checkout::head_changed(repo, &since));
        settled(quick, || program::head_changed(&found, &since))
    })
}

/// The branch of HEAD, and the default branch of the repository that contains `tree`.
///
/// # Errors
///
/// When `tree` is not in a repository, or its references cannot be read.
pub fn branch(tree: &Path) -> Result<CurrentBranch, Unknown> {
    let tree = tree.to_owned();
    limited(time_limit::now(), move || branch::branch(&tree))
}

/// The commits in the stash that were made on the checked-out branch; worktrees share one stash.
///
/// # Errors
///
/// When `tree` is not in a repository, or HEAD cannot be read.
pub fn stashes(tree: &Path) -> Result<Vec<String>, Unknown> {
    if quick::has_no_stash(tree) {
        return Ok(Vec::new());
    }
    let tree = tree.to_owned();
    limited(time_limit::now(), move || stash::stashes(&tree))
}

/// The files under `paths` whose content in these stash commits is not in HEAD.
///
/// # Errors
///
/// When `tree` is not in a repository, or the `git` program cannot answer.
pub fn stashed(tree: &Path, paths: &[String], commits: &[String]) -> Result<Vec<GitChange>, Unknown> {
    let (tree, paths, commits) = (tree.to_owned(), paths.to_vec(), commits.to_vec());
    limited(time_limit::now(), move || stash::stashed(&tree, &paths, &commits))
}

/// Asks the layers in turn until one is sure.
fn layered<T>(
    found: &Checkout,
    quick: impl FnOnce(&OpenCheckout<'_>) -> Result<T, LayerError>,
    program: impl FnOnce() -> Result<T, ProgramError>,
) -> Result<T, Unknown> {
    settled(found.place().and_then(|place| quick(&place)), program)
}

/// The answer of the quick layer, or of the program where that is unsure.
fn settled<T>(quick: Result<T, LayerError>, program: impl FnOnce() -> Result<T, ProgramError>) -> Result<T, Unknown> {
    match quick {
        Ok(answer) => Ok(answer),
        Err(LayerError::Unreadable(clause)) => Err(clause.into()),
        Err(LayerError::Unsure(clause)) => program().map_err(|error| match error {
            ProgramError::Absent => clause.into(),
            ProgramError::Failed(why) => why,
        }),
    }
}
