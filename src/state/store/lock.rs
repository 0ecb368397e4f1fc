//! Locks: one per session, and one for `cache.json`.

use super::StoreError;
use base::disk;
use fs4::{FileExt, TryLockError};
use std::fs::{File, Metadata};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a process waits for the lock of a session before it gives up.
///
/// A holder writes one small file, so even a long queue on a busy machine gets through; the
/// timeout of the hook entries leaves room for it.
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_secs(30);

/// How often a lock that another process holds is tried again.
const POLL: Duration = Duration::from_millis(2);

/// Takes the lock; it is released when the file is dropped or the process ends.
pub(super) fn take(path: &Path, timeout: Duration) -> Result<File, StoreError> {
    let io = |error| StoreError::Io(path.to_owned(), error);
    let begun = Instant::now();
    loop {
        let (file, opened) = disk::open_lock(path).map_err(io)?;
        while let Err(error) = FileExt::try_lock(&file) {
            match error {
                TryLockError::Error(error) => return Err(io(error)),
                TryLockError::WouldBlock if begun.elapsed() > timeout => return Err(StoreError::Busy),
                TryLockError::WouldBlock => std::thread::sleep(POLL),
            }
        }
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

    #[test]
    fn a_lock_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = take(&path, Duration::ZERO).unwrap();
        assert!(matches!(take(&path, Duration::from_millis(30)), Err(StoreError::Busy)));
        let waiting = std::thread::spawn({
            let path = path.clone();
            move || take(&path, LOCK_TIMEOUT).is_ok()
        });
        std::thread::sleep(Duration::from_millis(30));
        drop(held);
        assert!(waiting.join().unwrap());
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
