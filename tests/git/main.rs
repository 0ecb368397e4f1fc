//! Compares the git module with the `git` program.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may stop where it cannot go on"
)]

use modegate::internals::{ChangeKind, CommitState, GitChange, branch, changes, commitment, head};

mod branch;
mod changed;
mod committed;
mod compare;
mod odd;
#[path = "../support/project.rs"]
mod project;
mod random_repo;
mod repo;
