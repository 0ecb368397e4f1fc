//! A time limit for questions to git: gix opens whatever is in a repository, and a pipe there would block it forever.

#![expect(clippy::disallowed_methods, reason = "reads the clock")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use super::Unknown;
use crate::crash;

/// How long the first question that hangs may take; later ones are not asked.
pub(crate) const GIT_TIMEOUT: Duration = Duration::from_secs(15);

/// The stack of a thread that walks through folders, as deep as a path can be. Only what is used takes memory.
pub(super) const STACK: usize = 64 << 20;

/// Whether a question has hung.
static HANGS: AtomicBool = AtomicBool::new(false);

/// When a question begins.
pub(super) fn now() -> Instant {
    Instant::now()
}

/// The error of a question that hangs, if one has hung, or if this one began too long ago.
pub(super) fn check(begun: Instant) -> Result<(), Unknown> {
    if begun.elapsed() >= GIT_TIMEOUT {
        HANGS.store(true, Ordering::Relaxed);
    }
    if HANGS.load(Ordering::Relaxed) { Err(hangs()) } else { Ok(()) }
}

fn hangs() -> Unknown {
    format!("git has not answered in {} seconds", GIT_TIMEOUT.as_secs()).into()
}

/// Asks in a thread; one that hangs ends with the process. The time limit counts from `begun`.
///
/// A system that allows no more threads gets no time limit.
pub(super) fn limited<T: Send + 'static>(
    begun: Instant,
    ask: impl FnOnce() -> Result<T, Unknown> + Send + 'static,
) -> Result<T, Unknown> {
    check(begun)?;
    let broken = || Unknown::from("a bug in modegate stopped it from asking git");
    let ask = Arc::new(Mutex::new(Some(ask)));
    let asking = Arc::clone(&ask);
    let answer = move || {
        let ask = asking.lock().unwrap_or_else(PoisonError::into_inner).take();
        ask.map(|ask| ask())
    };
    let Ok(receiver) = crash::start(Builder::new().stack_size(STACK), answer) else {
        let ask = ask.lock().unwrap_or_else(PoisonError::into_inner).take();
        return ask.map_or_else(|| Err(broken()), |ask| ask());
    };
    match receiver.recv_timeout(GIT_TIMEOUT.saturating_sub(begun.elapsed())) {
        Ok(answer) => answer.unwrap_or_else(|| Err(broken())),
        Err(error) => {
            HANGS.store(true, Ordering::Relaxed);
            Err(match error {
                RecvTimeoutError::Timeout => hangs(),
                RecvTimeoutError::Disconnected => broken(),
            })
        }
    }
}
