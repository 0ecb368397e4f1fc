//! Compares files with HEAD.
//!
//! Three layers, each used only when the one before is unsure: `quick` compares index, HEAD and worktree
//! directly, `full` is gix's status, `program` is the `git` program. Before them, `fast_path` recognizes a
//! committed file without opening the repository. None of them writes to the repository, and all ignore
//! `GIT_DIR` and similar variables: the repository is the one that contains `tree`.

mod branch;
mod cached_tree;
mod checkout;
#[cfg(unix)]
mod content;
#[cfg(unix)]
mod dir_listing;
#[cfg(unix)]
mod entry;
#[cfg(unix)]
mod fast_path;
#[cfg(unix)]
mod folder_task;
mod full;
mod ignore_rules;
#[cfg(unix)]
mod index;
mod path_scope;
mod program;
#[cfg(unix)]
mod quick;
#[cfg(unix)]
mod raw_entry;
mod renames;
#[cfg(unix)]
mod staged;
#[cfg(unix)]
mod submodules;
#[cfg(unix)]
mod walk;
#[cfg(unix)]
mod window;

use std::path::Path;

use self::checkout::{Checkout, OpenCheckout};
use self::path_scope::PathScope;

use crate::facts::Unknown;

pub use self::branch::branch;
pub use crate::facts::{ChangeKind, CommitState, GitChange};

/// Why a layer has no answer.
#[derive(Debug)]
enum LayerError {
    /// This layer is unsure; the next one may have the answer.
    Unsure(String),
    /// gix does not support it; only the program may have the answer.
    Unsupported(String),
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
    #[cfg(unix)]
    if fast_path::is_committed(tree, path) {
        return Ok(CommitState::Committed);
    }
    let found = Checkout::from(tree)?;
    let Some(file) = found.file(path)? else {
        return Ok(CommitState::Missing);
    };
    layered(
        &found,
        |place| quick_commitment(place, &file),
        |place| full::commitment(place, &file),
        || program::commitment(&found, &file),
    )
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
    let found = Checkout::from(tree)?;
    let asked = PathScope::new(found.prefix(), paths)?;
    let mut changes = layered(
        &found,
        |place| quick_changes(place, &asked),
        |place| full::changes(place, &asked),
        || program::changes(&found, &asked),
    )?;
    changes.sort_unstable();
    changes.dedup();
    changes.truncate(limit);
    Ok(changes)
}

/// The commit that HEAD points at, `None` while it is unborn.
///
/// # Errors
///
/// When `tree` is not in a repository, or HEAD cannot be read.
pub fn head(tree: &Path) -> Result<Option<String>, Unknown> {
    let found = Checkout::from(tree)?;
    match found.repository().and_then(checkout::head) {
        Ok(id) => Ok(id.map(|id| id.to_string())),
        Err(LayerError::Unreadable(clause)) => Err(clause.into()),
        Err(LayerError::Unsure(clause) | LayerError::Unsupported(clause)) => {
            program::head(&found).unwrap_or(Err(clause.into()))
        }
    }
}

/// Asks the layers in turn until one is sure.
fn layered<T>(
    found: &Checkout,
    quick: impl FnOnce(&OpenCheckout<'_>) -> Result<T, LayerError>,
    full: impl FnOnce(&OpenCheckout<'_>) -> Result<T, LayerError>,
    program: impl FnOnce() -> Option<Result<T, Unknown>>,
) -> Result<T, Unknown> {
    let sure = found.place().and_then(|place| match quick(&place) {
        Err(LayerError::Unsure(_)) => full(&place),
        sure => sure,
    });
    match sure {
        Ok(answer) => Ok(answer),
        Err(LayerError::Unreadable(clause)) => Err(clause.into()),
        Err(LayerError::Unsure(clause) | LayerError::Unsupported(clause)) => program().unwrap_or(Err(clause.into())),
    }
}

#[cfg(unix)]
use self::quick::{changes as quick_changes, commitment as quick_commitment};

/// The quick layer needs all fields of `lstat`, which only Unix has.
#[cfg(not(unix))]
fn quick_changes(_: &OpenCheckout<'_>, _: &PathScope) -> Result<Vec<GitChange>, LayerError> {
    Err(LayerError::Unsure("not on this system".to_owned()))
}

/// See [`quick_changes`].
#[cfg(not(unix))]
fn quick_commitment(_: &OpenCheckout<'_>, _: &[u8]) -> Result<CommitState, LayerError> {
    Err(LayerError::Unsure("not on this system".to_owned()))
}
