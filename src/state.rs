//! What modegate keeps: sessions, journals, trust, the user's key, compiled modes.

#![expect(clippy::disallowed_methods, reason = "an I/O room")]

pub mod journal;
pub mod journal_files;
pub mod mode_cache;
pub mod store;
pub mod trust;
pub mod user_folder;
