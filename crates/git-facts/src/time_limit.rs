//! A time limit for questions to git: gix opens whatever is in a repository, and a pipe there would block it forever.

use crate::GitError;
use base::crash;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::thread::Builder;
use std::time::Duration;

/// How long the first question that hangs may take; later ones are not asked.
pub const GIT_TIMEOUT: Duration = Duration::from_secs(15);

/// Whether a question has hung.
static HANGS: AtomicBool = AtomicBool::new(false);

/// Asks in a thread; one that hangs ends with the process.
pub(crate) fn limited<T: Send + 'static>(
    ask: impl FnOnce() -> Result<T, GitError> + Send + 'static,
) -> Result<T, GitError> {
    let hangs = || GitError::from(format!("git has not answered in {} seconds", GIT_TIMEOUT.as_secs()));
    if HANGS.load(Ordering::Relaxed) {
        return Err(hangs());
    }
    let receiver = crash::start(Builder::new(), ask)
        .map_err(|_| GitError::from("git cannot be asked: the system allows no more threads"))?;
    receiver.recv_timeout(GIT_TIMEOUT).unwrap_or_else(|error| {
        HANGS.store(true, Ordering::Relaxed);
        Err(match error {
            RecvTimeoutError::Timeout => hangs(),
            RecvTimeoutError::Disconnected => "a bug stopped the program from asking git".into(),
        })
    })
}
