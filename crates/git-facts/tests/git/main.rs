//! Compares `git_facts` with the `git` program.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may stop where it cannot go on"
)]

use git_facts::{ChangeKind, ChangeQuery, CommitState, GitChange, GitError, branch, commit_state, head};
use std::path::Path;

mod branch;
mod changed;
mod committed;
mod compare;
mod odd;
mod project;
mod random_repo;
mod repo;

/// The changes under `paths`.
fn changes(tree: &Path, paths: &[String]) -> Result<Vec<GitChange>, GitError> {
    git_facts::changes(tree, ChangeQuery { paths: paths.to_vec(), ..ChangeQuery::default() })
}
