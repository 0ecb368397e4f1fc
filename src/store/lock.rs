//! The lock beside the state.

use super::Error;
use fs4::TryLockError;
use std::fs::{File, OpenOptions};
use std::path::Path;
use std::time::{Duration, Instant};

/// A holder writes one small file; whoever takes longer is stuck.
const LONGEST: Duration = Duration::from_secs(5);

/// Takes the lock; it is given back when the file is dropped, or the process dies.
pub(super) fn take(path: &Path) -> Result<File, Error> {
    let io = |error| Error::Io(path.to_owned(), error);
    crate::disk::refuse_link(path).map_err(io)?;
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path).map_err(io)?;
    let begun = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        match fs4::FileExt::try_lock(&file) {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if begun.elapsed() > LONGEST => return Err(Error::Busy),
            Err(TryLockError::WouldBlock) => std::thread::sleep(pause),
            Err(TryLockError::Error(error)) => return Err(io(error)),
        }
        pause = (pause * 2).min(Duration::from_millis(5));
    }
}
