//! Writing whole files, and never through a link.

#![expect(clippy::disallowed_methods, reason = "this is a door to the outside")]

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Puts `bytes` at `path` by way of the file `beside` it: whoever reads sees the old file or the new one.
pub fn replace(beside: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    // What a killed process left there, or a link that somebody put there, must not be written through.
    match fs::remove_file(beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).open(beside)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_data()).and_then(|()| fs::rename(beside, path));
    if written.is_err() {
        let _: io::Result<()> = fs::remove_file(beside);
    }
    written
}

/// Refuses a path that is a link: it may lead anywhere.
pub fn refuse_link(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_symlink() => Err(io::Error::other("it is a link, and links are not followed here")),
        _ => Ok(()),
    }
}

/// What modegate keeps in `.claude/hooks`, as git shall ignore it.
const IGNORED: &str = "# Written by modegate: its state and journals are this machine's own.
/.gitignore
/cache.*
/gitignore.tmp
/modes.*
/sessions/
";

/// Keeps git away from what modegate writes: a project whose own files were never clean for ours would be no
/// use, and a journal is nobody else's business.
pub fn ignore_own(hooks: &Path) {
    let ignore = hooks.join(".gitignore");
    if !ignore.exists() {
        let _: io::Result<()> = replace(&hooks.join("gitignore.tmp"), &ignore, IGNORED.as_bytes());
    }
}
