//! The lock of the state file.

use super::StoreError;
use fs4::{FileExt, TryLockError};
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

/// How long a process waits for the lock before it gives up.
///
/// A holder writes one small file, so even a long queue on a busy machine gets through; the
/// timeout of the hook entries leaves room for it.
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_secs(30);

/// Takes the lock; it is released when the file is dropped or the process ends.
pub(super) fn take(path: &Path) -> Result<File, StoreError> {
    let io = |error| StoreError::Io(path.to_owned(), error);
    crate::disk::refuse_link(path).map_err(io)?;
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path).map_err(io)?;
    match FileExt::try_lock(&file) {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => wait(file).ok_or(StoreError::Busy)?.map_err(io),
        Err(TryLockError::Error(error)) => Err(io(error)),
    }
}

/// Waits in the system's queue, which is fairer than polling; `None` after [`LOCK_TIMEOUT`].
///
/// A thread that is still waiting then ends with the process.
fn wait(file: File) -> Option<io::Result<File>> {
    let (sender, receiver) = mpsc::channel::<io::Result<File>>();
    std::thread::spawn(move || {
        let locked = FileExt::lock(&file).map(|()| file);
        let _: Result<(), _> = sender.send(locked);
    });
    receiver.recv_timeout(LOCK_TIMEOUT).ok()
}

/// The process that holds the lock, as far as the system reports it; `None` if the lock is free.
pub(super) fn holder(path: &Path) -> Option<String> {
    const PATIENCE: Duration = Duration::from_millis(500);
    let file = OpenOptions::new().write(true).open(path).ok()?;
    let from = std::time::Instant::now();
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
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    let words = locks.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let granted = words.filter(|words| words.get(1) != Some(&"->"));
    let own = granted.into_iter().find(|words| words.get(5).is_some_and(|id| id.rsplit(':').next() == Some(&inode)))?;
    let pid = own.get(4)?;
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    Some(format!("process {pid} ({})", name.trim()))
}

#[cfg(not(target_os = "linux"))]
fn locker(_: &File) -> Option<String> {
    None
}
