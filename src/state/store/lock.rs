//! Locks: one per session, and one for `cache.json`.

use super::StoreError;
use base::disk;
use fs4::{FileExt, TryLockError};
use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// How long a process waits for the lock of a session before it gives up.
///
/// A holder writes one small file, so even a long queue on a busy machine gets through; the
/// timeout of the hook entries leaves room for it.
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_secs(30);

/// How often a lock is tried where no thread can wait for it.
const POLL: Duration = Duration::from_millis(10);

/// Takes the lock; it is released when the file is dropped or the process ends.
pub(super) fn take(path: &Path, timeout: Duration) -> Result<File, StoreError> {
    let io = |error| StoreError::Io(path.to_owned(), error);
    let begun = Instant::now();
    loop {
        let (file, opened) = disk::open_lock(path).map_err(io)?;
        let file = match FileExt::try_lock(&file) {
            Ok(()) => file,
            Err(TryLockError::WouldBlock) => {
                let left = timeout.saturating_sub(begun.elapsed());
                wait(file, left).map_err(io)?.ok_or(StoreError::Busy)?
            }
            Err(TryLockError::Error(error)) => return Err(io(error)),
        };
        // The file of a removed session may have been deleted while this process waited for it.
        if is_at(&opened, path) {
            return Ok(file);
        }
    }
}

pub(super) fn try_take(path: &Path) -> Option<File> {
    let (file, opened) = disk::open_lock(path).ok()?;
    (FileExt::try_lock(&file).is_ok() && is_at(&opened, path)).then_some(file)
}

/// Waits in the system's queue, which is fairer than polling; `None` after the timeout.
///
/// A thread that is still waiting then ends with the process.
fn wait(file: File, timeout: Duration) -> io::Result<Option<File>> {
    let file = Arc::new(file);
    let (sender, receiver) = mpsc::channel::<io::Result<()>>();
    let waiting = Arc::clone(&file);
    let waiter = std::thread::Builder::new().spawn(move || {
        let locked = FileExt::lock(&*waiting);
        drop(waiting);
        let _: Result<(), _> = sender.send(locked);
    });
    if waiter.is_err() {
        // The user may have no processes left.
        return Ok(poll(&file, timeout).then(|| Arc::into_inner(file)).flatten());
    }
    match receiver.recv_timeout(timeout) {
        Ok(locked) => locked.map(|()| Arc::into_inner(file)),
        Err(_) => Ok(None),
    }
}

fn poll(file: &File, timeout: Duration) -> bool {
    let begun = Instant::now();
    loop {
        if FileExt::try_lock(file).is_ok() {
            return true;
        }
        if begun.elapsed() > timeout {
            return false;
        }
        std::thread::sleep(POLL);
    }
}

/// Whether the file that was opened is still the one at `path`.
#[cfg(unix)]
fn is_at(opened: &Metadata, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    path.symlink_metadata().is_ok_and(|there| (there.dev(), there.ino()) == (opened.dev(), opened.ino()))
}

#[cfg(not(unix))]
fn is_at(_: &Metadata, _: &Path) -> bool {
    true
}

/// The process that holds the lock, as far as the system reports it; `None` if the lock is free.
pub(super) fn holder(path: &Path) -> Option<String> {
    const PATIENCE: Duration = Duration::from_millis(500);
    let file = Some(path).filter(|path| path.is_file()).and_then(|path| disk::open_lock(path).ok())?.0;
    let from = Instant::now();
    while matches!(FileExt::try_lock(&file), Err(TryLockError::WouldBlock)) {
        if from.elapsed() > PATIENCE {
            return Some(locker(&file).unwrap_or_else(|| "a process".to_owned()));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    None
}
/// The process that has locked `file`, from the list of all locks by inode.
#[cfg(target_os = "linux")]
fn locker(file: &File) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let inode = file.metadata().ok()?.ino().to_string();
    let locks = disk::read_text(Path::new("/proc/locks"), disk::LARGEST).ok()?;
    let words = locks.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let granted = words.filter(|words| words.get(1) != Some(&"->"));
    let own = granted.into_iter().find(|words| words.get(5).is_some_and(|id| id.rsplit(':').next() == Some(&inode)))?;
    let pid = own.get(4)?;
    let name = disk::read_text(Path::new(&format!("/proc/{pid}/comm")), disk::SMALL).unwrap_or_default();
    Some(format!("process {pid} ({})", name.trim()))
}

#[cfg(not(target_os = "linux"))]
fn locker(_: &File) -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A user without processes left cannot start a thread.
    #[test]
    fn a_lock_is_waited_for_without_a_thread() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = take(&path, Duration::ZERO).unwrap();
        let other = disk::open_lock(&path).unwrap().0;
        assert!(!poll(&other, Duration::from_millis(30)));
        assert!(matches!(take(&path, Duration::from_millis(30)), Err(StoreError::Busy)));
        drop(held);
        assert!(poll(&other, Duration::from_millis(30)));
    }

    #[cfg(unix)]
    #[test]
    fn the_lock_of_a_removed_session_is_not_enough() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let opened = |file: File| file.metadata().unwrap();
        let old = opened(take(&path, Duration::ZERO).unwrap());
        std::fs::remove_file(&path).unwrap();
        assert!(!is_at(&old, &path));
        assert!(is_at(&opened(take(&path, Duration::ZERO).unwrap()), &path));
    }
}
