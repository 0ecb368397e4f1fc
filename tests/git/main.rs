//! The git module against repositories that the `git` program made.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot be set up has nothing to say"
)]

use modegate::live::git::{ChangeKind, CommitState, GitChange, changes, commitment, head};

mod changed;
mod committed;
mod odd;
mod repo;
