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

/// Puts `bytes` in the place of a file of the user's: through links, and with the rights that it had.
pub fn rewrite(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    let beside = beside(&path);
    let rights = fs::metadata(&path).ok().map(|meta| meta.permissions());
    put(&beside, bytes, rights)?;
    fs::rename(&beside, &path).inspect_err(|_| discard(&beside))
}

/// Puts a program at `path`; one that runs there at the moment runs on.
pub fn put_program(path: &Path, bytes: &[u8]) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    let beside = beside(path);
    put(&beside, bytes, None)?;
    allow_to_run(&beside).inspect_err(|_| discard(&beside))?;
    let placed = fs::rename(&beside, path).or_else(|_| {
        // Where a running program cannot be replaced it can still be moved away.
        fs::rename(path, path.with_extension("old.tmp"))?;
        fs::rename(&beside, path)
    });
    placed.inspect_err(|_| discard(&beside))
}

fn beside(path: &Path) -> std::path::PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{name}.{}.tmp", std::process::id()))
}

/// Writes a new file that nobody but the owner can read before it has the rights it shall have.
fn put(path: &Path, bytes: &[u8], rights: Option<fs::Permissions>) -> io::Result<()> {
    discard(path);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if rights.is_some() {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    let mut file = options.open(path)?;
    let written = file.write_all(bytes).and_then(|()| rights.map_or(Ok(()), |rights| file.set_permissions(rights)));
    written.and_then(|()| file.sync_data()).inspect_err(|_| discard(path))
}

fn discard(path: &Path) {
    let _: io::Result<()> = fs::remove_file(path);
}

#[cfg(unix)]
fn allow_to_run(path: &Path) -> io::Result<()> {
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755))
}

#[cfg(not(unix))]
fn allow_to_run(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Refuses a path that is a link: it may lead anywhere.
pub fn refuse_link(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_symlink() => Err(io::Error::other("it is a link, and links are not followed here")),
        _ => Ok(()),
    }
}

/// What modegate keeps in `.claude/hooks`, as git shall ignore it.
pub const IGNORED: &str = "# Written by modegate: its program, state and journals are this machine's own.
/.gitignore
/*.bak
/*.tmp
/cache.*
/modegate
/modegate.exe
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
