//! Reads regular files, and writes whole files atomically.

#![expect(clippy::disallowed_methods, reason = "an I/O module")]

mod regular;

pub use regular::{
    CONFIGURATION, LARGEST, LineFile, PROGRAM, SMALL, has_terminal, is_absent, open, open_and_read, open_append,
    open_lock, open_sized, read, read_at, read_tail, read_text, read_unlinked, reason,
};

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::NamedTempFile;

/// The end of the names of temporary files.
const TEMPORARY: &str = ".tmp";
/// The age after which a temporary file is no longer being written.
const STALE: Duration = Duration::from_mins(1);

/// How often a file that is open elsewhere is replaced again on Windows: for about two seconds.
const ATTEMPTS_ON_WINDOWS: u64 = 200;

/// What to do when the target of a write is a symbolic link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkPolicy {
    /// Replaces the link by a file: for a program's own files, since a link may lead anywhere.
    Replace,
    /// Writes the file that the link leads to and keeps its permissions: for files of the user.
    Follow,
}

/// Writes `bytes` to `path` by way of a temporary file in the same folder, which is created if it is missing.
///
/// A concurrent reader sees the old content or the new one, and a killed writer leaves the old one.
pub fn write(path: &Path, bytes: &[u8], links: LinkPolicy) -> io::Result<()> {
    if links == LinkPolicy::Replace {
        return replace(path, temporary_file(path, bytes, None)?);
    }
    let path = link_target(path);
    let permissions = fs::metadata(&path).ok().map(|meta| meta.permissions());
    replace(&path, temporary_file(&path, bytes, permissions)?)
}

/// Writes `bytes` to `path` without waiting for the disk: a power cut may lose the file.
pub fn write_unsynced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let file = unsynced_file(path, bytes, None)?;
    if exchange(path, file.path()) {
        // What is now in the temporary file is removed with it.
        return Ok(());
    }
    replace(path, file)
}

/// Exchanges two files, if `path` is one. A file that replaces another is written to the disk at once by ext4, which takes
/// five times as long.
#[cfg(target_os = "linux")]
fn exchange(path: &Path, other: &Path) -> bool {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let is_file = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file());
    is_file && renameat_with(CWD, other, CWD, path, RenameFlags::EXCHANGE).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn exchange(_: &Path, _: &Path) -> bool {
    false
}

/// Puts a temporary file in the place of `path`.
///
/// Windows does not replace a file that another process has open: readers are given time to close it.
fn replace(path: &Path, mut file: NamedTempFile) -> io::Result<()> {
    if cfg!(windows) {
        for attempt in 0..ATTEMPTS_ON_WINDOWS {
            match file.persist(path) {
                Err(failed) if failed.error.kind() == io::ErrorKind::PermissionDenied => file = failed.file,
                result => return result.map(drop).map_err(io::Error::from),
            }
            std::thread::sleep(Duration::from_millis(attempt.min(10)));
        }
    }
    file.persist(path).map(drop).map_err(io::Error::from)
}

/// Writes an executable to `path`; a running process keeps the old one.
pub fn write_program(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::Error::other("there is a folder with this name"));
    }
    #[cfg(unix)]
    let permissions = Some(std::os::unix::fs::PermissionsExt::from_mode(0o755));
    #[cfg(not(unix))]
    let permissions = None;
    let file = temporary_file(path, bytes, permissions)?;
    let Err(error) = file.persist(path) else { return Ok(()) };
    // Where a running program cannot be replaced it can still be renamed.
    fs::rename(path, path.with_extension("old.tmp"))?;
    error.file.persist(path).map(drop).map_err(io::Error::from)
}

/// A synced temporary file next to `path`.
fn temporary_file(path: &Path, bytes: &[u8], permissions: Option<Permissions>) -> io::Result<NamedTempFile> {
    let file = unsynced_file(path, bytes, permissions)?;
    file.as_file().sync_data()?;
    Ok(file)
}

/// A temporary file next to `path`; without `permissions`, it gets those of any new file.
fn unsynced_file(path: &Path, bytes: &[u8], permissions: Option<Permissions>) -> io::Result<NamedTempFile> {
    let prefix = temporary_prefix(path);
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(TEMPORARY);
    #[cfg(unix)]
    if permissions.is_none() {
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = match builder.tempfile_in(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(folder)?;
            builder.tempfile_in(folder)?
        }
        file => file?,
    };
    file.write_all(bytes)?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    Ok(file)
}

/// The beginning of the names of temporary files for `path`.
fn temporary_prefix(path: &Path) -> String {
    format!("{}.", path.file_name().unwrap_or_default().to_string_lossy())
}

/// Removes the temporary files for `path` that killed writers left more than a minute ago.
pub fn remove_stale_temporaries(path: &Path) {
    let Some(Ok(entries)) = path.parent().map(fs::read_dir) else { return };
    let prefix = temporary_prefix(path);
    let is_stale = |file: &Path| {
        let age = fs::symlink_metadata(file).and_then(|meta| meta.modified()).map(|at| at.elapsed());
        matches!(age, Ok(Ok(age)) if age > STALE)
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_temporary = name.to_str().is_some_and(|name| name.starts_with(&prefix) && name.ends_with(TEMPORARY));
        if is_temporary && is_stale(&entry.path()) {
            let _: io::Result<()> = fs::remove_file(entry.path());
        }
    }
}

/// The file that a link leads to, also where that file is missing; `path` itself where it is not a link.
fn link_target(path: &Path) -> PathBuf {
    let target = || Some(path.parent()?.join(fs::read_link(path).ok()?));
    canonical(path).ok().or_else(target).unwrap_or_else(|| path.to_owned())
}

/// Fails if writing `path` would change a file outside of `folders`, through a link on the way to it or at its end.
pub fn require_inside(path: &Path, folders: &[&Path]) -> io::Result<()> {
    let target = if path.is_symlink() { link_target(path) } else { path.to_owned() };
    let parent = target.parent().map(real).unwrap_or_default();
    let is_inside = folders.iter().any(|folder| parent.starts_with(real(folder)));
    let outside = || io::Error::other(format!("a link leads out of the project, to `{}`", parent.display()));
    if is_inside { Ok(()) } else { Err(outside()) }
}

/// The longest path that a system call takes, in bytes.
const LONGEST_PATH: usize = 4_096;

/// The path with links resolved.
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize().map(without_verbatim_prefix)
}

/// A path as people and other programs write it: Windows puts `\\?\` before resolved paths.
fn without_verbatim_prefix(path: PathBuf) -> PathBuf {
    /// Longer paths need the prefix.
    const LONGEST: usize = 259;
    if !cfg!(windows) {
        return path;
    }
    let rest = path.to_str().and_then(|text| text.strip_prefix(r"\\?\"));
    let has_drive = |rest: &&str| rest.as_bytes().get(1) == Some(&b':') && rest.len() <= LONGEST;
    rest.filter(has_drive).map(PathBuf::from).unwrap_or(path)
}

/// The path with links resolved, as far as it exists.
pub fn real(path: &Path) -> PathBuf {
    // No system call takes a longer one.
    if path.as_os_str().len() > LONGEST_PATH {
        return path.to_owned();
    }
    let known = path.ancestors().find_map(|ancestor| Some((ancestor, canonical(ancestor).ok()?)));
    match known {
        Some((ancestor, real)) if ancestor == path => real,
        Some((ancestor, real)) => real.join(path.strip_prefix(ancestor).unwrap_or(Path::new(""))),
        None => path.to_owned(),
    }
}

/// The names in a folder, at most `most`, in no order.
pub fn names(folder: &Path, most: usize) -> io::Result<Vec<OsString>> {
    fs::read_dir(folder)?.take(most).map(|entry| Ok(entry?.file_name())).collect()
}

/// Fails when `path` is a symbolic link: it may lead anywhere.
pub fn refuse_link(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_symlink() => Err(io::Error::other("it is a link, and links are not followed here")),
        _ => Ok(()),
    }
}
