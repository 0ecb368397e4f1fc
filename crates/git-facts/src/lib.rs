//! What is committed in a git worktree, and what has changed.
//!
//! gix reads HEAD, branches and the stash, and recognizes files that are committed as they are. `git status`, started
//! with options that keep a repository's own programs from running, lists changes. Nothing writes to the repository, and
//! `GIT_DIR` and similar variables are ignored: the repository is the one that contains `tree`.
//!
//! `tests/git-compare` compares the answers with git's. They differ on purpose where a setting outside of the commits
//! would hide a change: files marked assume-unchanged or skip-worktree are compared (unless a sparse checkout leaves
//! them out), and only `.gitmodules` can exclude parts of a submodule.

mod branch;
mod checkout;
mod committed;
mod ignore_rules;
mod index_marks;
mod path_scope;
mod program;
mod stash;
mod status;
mod submodules;
mod time_limit;

pub use program::SAFE_OPTIONS;
pub use time_limit::GIT_TIMEOUT;

use checkout::Checkout;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use time_limit::limited;

/// Why a question about a repository has no answer, as a clause.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct GitError(String);

impl From<String> for GitError {
    fn from(reason: String) -> Self {
        Self(reason)
    }
}

impl From<&str> for GitError {
    fn from(reason: &str) -> Self {
        Self(reason.to_owned())
    }
}

impl From<GitError> for String {
    fn from(error: GitError) -> Self {
        error.0
    }
}

impl GitError {
    /// The error for a path that cannot be read.
    fn unreadable(path: &Path, error: &std::io::Error) -> Self {
        Self(format!("`{}` cannot be read: {error}", path.display()))
    }
}

/// A file compared with HEAD.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CommitState {
    /// HEAD and the index have the same content.
    Committed,
    /// Neither tracked nor ignored.
    Untracked,
    /// Same as in the index, but not in HEAD or with other content there.
    Staged,
    /// The worktree differs from the index, or the path is in conflict.
    Modified,
    /// There is no such file.
    Missing,
    /// Not tracked, and an ignore rule covers it.
    Ignored,
}

/// One uncommitted change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GitChange {
    /// The path in the asked folder, with forward slashes; an untracked folder ends in a slash.
    pub path: String,
    /// What happened to it.
    pub kind: ChangeKind,
}

/// How a path has changed; the index wins where both index and worktree differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// A file or folder that is neither tracked nor ignored.
    Untracked,
    /// Staged and not in HEAD; also after `git add -N`.
    Added,
    /// Other content or another executable bit.
    Modified,
    /// Missing in the index or in the worktree.
    Deleted,
    /// Staged under a new path; the old one is inside the asked paths too.
    Renamed,
    /// Changed between file, symbolic link and submodule.
    TypeChanged,
    /// A merge left it unresolved.
    Conflicted,
    /// A submodule with another commit checked out, or with its own changes.
    Submodule,
    /// In a stash.
    Stashed,
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Untracked => "untracked",
            Self::Added => "added",
            Self::Modified => "modified",
            Self::Deleted => "deleted",
            Self::Renamed => "renamed",
            Self::TypeChanged => "type changed",
            Self::Conflicted => "conflicted",
            Self::Submodule => "submodule changed",
            Self::Stashed => "stashed",
        })
    }
}

/// The checked-out branch of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurrentBranch {
    /// Its name, `None` if HEAD is detached.
    pub name: Option<String>,
    /// The repository's default branch, if it is known.
    pub default: Option<String>,
    /// Whether the branch has no commit yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unborn: bool,
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
pub fn commit_state(tree: &Path, path: &Path) -> Result<CommitState, GitError> {
    let (tree, path) = (tree.to_owned(), path.to_owned());
    limited(move || committed::commit_state(&tree, &path))
}

/// Which changes [`changes`] lists.
#[derive(Debug, Clone, Default)]
pub struct ChangeQuery {
    /// The paths to look at, relative to `tree`; `""`, `"."` and an empty list mean all of `tree`.
    pub paths: Vec<String>,
    /// Whether a rename is listed as a deletion and an addition.
    pub splits_renames: bool,
    /// Of the rules outside of commits, only these ignore files, see [`uncommitted_rules`]; `None` for all of them.
    pub known_rules: Option<BTreeSet<String>>,
}

/// The uncommitted changes in `tree` that `query` selects, sorted.
///
/// Untracked files count regardless of `status.showUntrackedFiles`. A path that does not exist has no changes, except
/// for tracked files that are gone.
///
/// # Errors
///
/// When `tree` is not in a repository or in a bare one, when a path leads out of `tree`, when something cannot be read,
/// and when there is no `git` program.
pub fn changes(tree: &Path, query: ChangeQuery) -> Result<Vec<GitChange>, GitError> {
    let tree = tree.to_owned();
    limited(move || {
        let mut changes = status::changes(&tree, &query)?;
        changes.sort_unstable();
        changes.dedup();
        Ok(changes)
    })
}

/// The rules outside of commits (`info/exclude`, `core.excludesFile`) that ignore files, as hashes.
///
/// # Errors
///
/// When `tree` is not in a repository, or the rules cannot be read.
pub fn uncommitted_rules(tree: &Path) -> Result<BTreeSet<String>, GitError> {
    let tree = tree.to_owned();
    limited(move || ignore_rules::hashes(Checkout::open(&tree)?.repository()?))
}

/// The commit that HEAD points at, `None` while it is unborn.
///
/// # Errors
///
/// When `tree` is not in a repository, or HEAD cannot be read.
pub fn head(tree: &Path) -> Result<Option<String>, GitError> {
    let tree = tree.to_owned();
    limited(move || Checkout::open(&tree)?.head())
}

/// Whether the files of HEAD differ from those of the commit `since`, which is empty for no commit.
///
/// A commit that no longer exists counts as another one.
///
/// # Errors
///
/// When `tree` is not in a repository, or HEAD cannot be read.
pub fn head_changed(tree: &Path, since: &str) -> Result<bool, GitError> {
    let (tree, since) = (tree.to_owned(), since.to_owned());
    limited(move || Checkout::open(&tree)?.head_changed(&since))
}

/// The branch of HEAD, and the default branch of the repository that contains `tree`.
///
/// # Errors
///
/// When `tree` is not in a repository, or its references cannot be read.
pub fn branch(tree: &Path) -> Result<CurrentBranch, GitError> {
    let tree = tree.to_owned();
    limited(move || branch::current_branch(&tree))
}

/// The commits in the stash that were made on the checked-out branch; worktrees share one stash.
///
/// # Errors
///
/// When `tree` is not in a repository, or HEAD cannot be read.
pub fn stashes(tree: &Path) -> Result<Vec<String>, GitError> {
    let tree = tree.to_owned();
    limited(move || stash::stashes(&tree))
}

/// The files under `paths` whose content in these stash commits is not in HEAD.
///
/// # Errors
///
/// When `tree` is not in a repository, or the `git` program cannot answer.
pub fn stashed(tree: &Path, paths: &[String], commits: &[String]) -> Result<Vec<GitChange>, GitError> {
    let (tree, paths, commits) = (tree.to_owned(), paths.to_vec(), commits.to_vec());
    limited(move || stash::stashed(&tree, &paths, &commits))
}
