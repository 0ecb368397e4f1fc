//! What happens after a panic. Released programs do not unwind, so a crashed thread is left behind, or the program ends.

use std::cell::{Cell, RefCell};
use std::io;
use std::panic::PanicHookInfo;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Builder};
use std::time::Duration;

/// Tells the thread that waits for this one that no answer will come.
type GiveUp = Arc<dyn Fn() + Send + Sync>;

/// How many analyses have begun, and how many have ended, together.
static ANALYSES: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Set in threads that another one can do without.
    static GIVE_UP: RefCell<Option<GiveUp>> = const { RefCell::new(None) };
    static IS_ANALYZING: Cell<bool> = const { Cell::new(false) };
    static INPUT: RefCell<Option<PathBuf>> = const { RefCell::new(None) };
}

/// Starts `work` in a thread that may crash: the receiver then ends without a value.
///
/// The program must have called [`handle_panics`], or unwind.
pub fn start<T: Send + 'static>(
    builder: Builder,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Receiver<T>> {
    let (sender, receiver) = channel();
    let sender = Arc::new(Mutex::new(Some(sender)));
    let take = |sender: &Mutex<Option<_>>| sender.lock().unwrap_or_else(PoisonError::into_inner).take();
    builder.spawn(move || {
        let shared = Arc::clone(&sender);
        GIVE_UP.set(Some(Arc::new(move || drop(take(&shared)))));
        let value = work();
        if let Some(sender) = take(&sender) {
            let _: Result<(), _> = sender.send(value);
        }
    })?;
    Ok(receiver)
}

/// Returns `work` as work of the current thread: if a helper thread crashes in it, that counts as a crash of this one.
#[cfg(unix)]
pub fn as_helper<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let give_up = GIVE_UP.with_borrow(Clone::clone);
    move || {
        GIVE_UP.set(give_up);
        work()
    }
}

/// Has every panic either leave its thread behind, where another thread can do without it, or call `end`.
///
/// A thread that is left behind never leaves the panic hook, so the program can set it only once.
pub fn handle_panics(end: impl Fn(&PanicHookInfo<'_>) + Send + Sync + 'static) {
    std::panic::set_hook(Box::new(move |panic| {
        if let Ok(Some(give_up)) = GIVE_UP.try_with(RefCell::take) {
            give_up();
            loop {
                thread::park();
            }
        }
        end(panic);
    }));
}

/// Notes the input that this thread works on; see [`input`].
pub fn working_on(path: &Path) {
    INPUT.set(Some(path.to_owned()));
}

/// The input that this thread works on, for the report of a crash.
pub fn input() -> Option<PathBuf> {
    INPUT.take()
}

/// Analyzes a tool call; see [`is_analyzing`].
pub fn analyzing<T>(work: impl FnOnce() -> T) -> T {
    let before = IS_ANALYZING.replace(true);
    let count = || if before { 0 } else { ANALYSES.fetch_add(1, Ordering::Relaxed) };
    count();
    let value = work();
    count();
    IS_ANALYZING.set(before);
    value
}

/// Calls `end` once an analysis takes longer than `limit`.
pub fn watch_analyses(limit: Duration, end: impl FnOnce() + Send + 'static) {
    /// How often it is looked at.
    const STEP: Duration = Duration::from_millis(100);
    let watch = move || {
        let (mut last, mut steps) = (0, 0);
        // While the number is odd, an analysis runs.
        while last % 2 == 0 || STEP * steps < limit {
            thread::sleep(STEP);
            let now = ANALYSES.load(Ordering::Relaxed);
            steps = if now == last { steps + 1 } else { 0 };
            last = now;
        }
        end();
    };
    // Without a thread, nothing is watched.
    let _: io::Result<thread::JoinHandle<()>> = Builder::new().spawn(watch);
}

/// Whether this thread analyzes a tool call: a panic then leaves open what the command would do.
pub fn is_analyzing() -> bool {
    IS_ANALYZING.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_crashes_sends_nothing() {
        let crashed = start(Builder::new(), || -> u8 { panic!("on purpose") }).unwrap();
        assert!(crashed.recv().is_err());
        assert_eq!(start(Builder::new(), || 1).unwrap().recv(), Ok(1));
    }

    #[test]
    fn an_analysis_that_takes_long_is_noticed() {
        let (sender, noticed) = channel();
        watch_analyses(Duration::from_millis(1), move || sender.send(()).unwrap());
        // Short analyses, and time between them, are not.
        assert_eq!(analyzing(|| analyzing(|| 1)), 1);
        analyzing(|| noticed.recv().unwrap());
    }
}
