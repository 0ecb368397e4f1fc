//! In place of the quick layer, on systems without all fields of `lstat`: leaves every answer to the `git` program.

use super::checkout::OpenCheckout;
use super::path_scope::PathScope;
use super::{AskedFile, CommitState, GitChange, LayerError};
use std::path::Path;

pub(super) type FirstLook = ();

pub(super) fn first_look(_: &Path, _: &[String]) -> Option<FirstLook> {
    Some(())
}

pub(super) fn is_committed(_: &Path, _: &Path) -> bool {
    false
}

pub(super) fn head(_: &Path) -> Option<gix::ObjectId> {
    None
}

pub(super) fn head_changed(_: &Path, _: &str) -> Option<bool> {
    None
}

pub(super) fn has_no_stash(_: &Path) -> bool {
    false
}

pub(super) fn commitment(_: &OpenCheckout<'_>, _: &AskedFile<'_>) -> Result<CommitState, LayerError> {
    Err(unsure())
}

pub(super) fn changes(_: &OpenCheckout<'_>, _: &PathScope, (): FirstLook) -> Result<Vec<GitChange>, LayerError> {
    Err(unsure())
}

pub(super) fn is_linked(_: &OpenCheckout<'_>, _: &[u8]) -> Result<bool, LayerError> {
    Err(unsure())
}

fn unsure() -> LayerError {
    LayerError::Unsure("not on this system".to_owned())
}
