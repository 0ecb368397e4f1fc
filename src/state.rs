//! What modegate keeps: sessions, journals, trust, the user's key, compiled modes.

#![expect(clippy::disallowed_methods, reason = "an I/O room")]

pub mod journal;
pub mod journal_files;
pub mod mode_cache;
pub mod store;
pub mod trust;
pub mod user_folder;

use base::disk::{self, LinkPolicy};
use std::io;
use std::path::Path;

/// The `.gitignore` of `.claude/hooks`.
pub const IGNORED: &str = "# Written by modegate: its program, state and journals are this machine's own.
/*.tmp
/.gitignore
/cache.broken-*.json
/cache.json
/cache.lock
/installed.json
/modegate
/modegate.exe
/modes.bin
/sessions/
/settings*.json.bak
";

/// Makes git ignore what modegate writes to `hooks`, so that its own files never make the project dirty.
pub fn ignore_own(hooks: &Path) {
    let ignore = hooks.join(".gitignore");
    if !ignore.exists() {
        let _: io::Result<()> = disk::write(&ignore, IGNORED.as_bytes(), LinkPolicy::Replace);
    }
}
