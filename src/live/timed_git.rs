//! Questions to git with a time limit: gix opens whatever is in a repository, and a pipe there would block it forever.

use super::git;
use crate::facts::{CommitState, CurrentBranch, GitChange, Unknown};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// How long the first question that hangs may take; later ones are not asked.
pub(crate) const GIT_TIMEOUT: Duration = Duration::from_secs(15);

/// The stack of a thread that walks through folders, as deep as a path can be. Only what is used takes memory.
pub(in crate::live) const STACK: usize = 64 << 20;

/// Whether a question has hung.
static HANGS: AtomicBool = AtomicBool::new(false);

/// Defines the functions of [`git`] with the time limit.
macro_rules! timed {
    ($($name:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*) => {$(
        #[doc = concat!("See [`git::", stringify!($name), "`].")]
        pub(super) fn $name(tree: &Path $(, $argument: &$type)*) -> Result<$answer, Unknown> {
            let tree = tree.to_owned();
            $(let $argument = $argument.to_owned();)*
            limited(move || git::$name(&tree $(, &$argument)*))
        }
    )*};
}

timed! {
    commitment(path: Path) -> CommitState;
    changes_with_rules(paths: [String], known: BTreeSet<String>) -> Vec<GitChange>;
    uncommitted_rules() -> BTreeSet<String>;
    stashes() -> Vec<String>;
    stashed(paths: [String], commits: [String]) -> Vec<GitChange>;
    head() -> Option<String>;
    head_changed(since: str) -> bool;
    branch() -> CurrentBranch;
}

/// See [`git::changes`].
pub(super) fn changes(tree: &Path, paths: &[String], limit: usize) -> Result<Vec<GitChange>, Unknown> {
    let (tree, paths) = (tree.to_owned(), paths.to_vec());
    limited(move || git::changes(&tree, &paths, limit))
}

/// Asks in a thread; one that hangs ends with the process.
///
/// A system that allows no more threads gets no time limit.
fn limited<T: Send + 'static>(ask: impl Fn() -> Result<T, Unknown> + Send + Sync + 'static) -> Result<T, Unknown> {
    let hangs = || Unknown::from(format!("git has not answered in {} seconds", GIT_TIMEOUT.as_secs()));
    if HANGS.load(Ordering::Relaxed) {
        return Err(hangs());
    }
    let (sender, receiver) = mpsc::channel();
    let ask = Arc::new(ask);
    let asking = Arc::clone(&ask);
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(move || {
        let _: Result<(), _> = sender.send(asking());
    });
    if thread.is_err() {
        return ask();
    }
    receiver.recv_timeout(GIT_TIMEOUT).unwrap_or_else(|error| {
        HANGS.store(true, Ordering::Relaxed);
        Err(match error {
            mpsc::RecvTimeoutError::Timeout => hangs(),
            mpsc::RecvTimeoutError::Disconnected => "a bug in modegate stopped it from asking git".into(),
        })
    })
}
