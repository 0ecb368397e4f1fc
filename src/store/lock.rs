//! The lock beside the state.

use super::Error;
use fs4::{FileExt, TryLockError};
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

/// A holder writes one small file; whoever takes longer is stuck. Below the timeout of the host's entry.
const LONGEST: Duration = Duration::from_secs(8);

/// Takes the lock; it is given back when the file is dropped, or the process dies.
pub(super) fn take(path: &Path) -> Result<File, Error> {
    let io = |error| Error::Io(path.to_owned(), error);
    crate::disk::refuse_link(path).map_err(io)?;
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path).map_err(io)?;
    match FileExt::try_lock(&file) {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => wait(file).ok_or(Error::Busy)?.map_err(io),
        Err(TryLockError::Error(error)) => Err(io(error)),
    }
}

/// Waits in the system's own queue, which is fair where asking again and again is not; `None` when it takes
/// too long. The thread that still waits then ends with the process.
fn wait(file: File) -> Option<io::Result<File>> {
    let (sender, receiver) = mpsc::channel::<io::Result<File>>();
    std::thread::spawn(move || {
        let locked = FileExt::lock(&file).map(|()| file);
        let _: Result<(), _> = sender.send(locked);
    });
    receiver.recv_timeout(LONGEST).ok()
}
