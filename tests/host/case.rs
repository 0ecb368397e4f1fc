//! A test with the client: its name, where it can run, and its result.

use crate::client::{Client, Version};
use crate::results::Results;
use libtest_mimic::{Completion, Failed, Trial};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::Arc;

/// A session with the client, and its checks.
pub struct Case {
    /// Its topic and what it shows, as `stops: the planner is blocked until its plan exists`.
    pub name: String,
    play: fn(&Client),
    since: Option<(Version, &'static str)>,
    /// Programs without which it is skipped.
    programs: Vec<&'static str>,
    is_in_namespace: bool,
}

impl Case {
    /// A case for every client.
    pub fn new(name: &str, play: fn(&Client)) -> Self {
        Self { name: name.to_owned(), play, since: None, programs: Vec::new(), is_in_namespace: false }
    }

    /// A case that clients before a version cannot pass, and why, in the present tense.
    pub fn since(mut self, version: Version, reason: &'static str) -> Self {
        self.since = Some((version, reason));
        self
    }

    /// A case that uses [`crate::client::Session::open`].
    pub fn in_terminal(self) -> Self {
        self.needs("tmux")
    }

    /// A case that is skipped where a program is not on PATH.
    pub fn needs(mut self, program: &'static str) -> Self {
        self.programs.push(program);
        self
    }

    /// A case that mounts over a folder of the machine, which only root can, in a namespace of its own.
    pub fn in_namespace(mut self) -> Self {
        self.is_in_namespace = true;
        self
    }

    /// The case as one of a topic.
    pub fn of_topic(mut self, topic: &str) -> Self {
        self.name = format!("{topic}: {}", self.name);
        self
    }

    /// Why a version of the client cannot pass it.
    pub fn skip_reason(&self, version: Version) -> Option<String> {
        let (since, reason) = self.since.filter(|(since, _)| version < *since)?;
        Some(format!("before {since}, {reason}"))
    }

    /// The case as a test that records its result; ignored without a client.
    pub fn trial(self, client: Option<(Arc<Client>, Arc<Results>)>) -> Trial {
        let name = self.name.clone();
        let Some((client, results)) = client else { return Trial::test(name, || Ok(())).with_ignored_flag(true) };
        Trial::ignorable_test(name, move || {
            let missing = self.programs.iter().find(|program| !is_on_path(program));
            let missing = missing.map(|program| format!("{program} is not installed"));
            let unmountable = (self.is_in_namespace && !can_mount()).then(|| "mounting is not allowed".to_owned());
            if let Some(reason) = self.skip_reason(client.version).or(missing).or(unmountable) {
                return Ok(Completion::ignored_with(reason));
            }
            let played = caught(|| (self.play)(&client));
            results.add(&self.name, played.is_ok());
            played.map(|()| Completion::Completed)
        })
    }
}

fn can_mount() -> bool {
    std::process::Command::new("unshare").args(["-m", "true"]).status().is_ok_and(|status| status.success())
}

fn is_on_path(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(program).is_file())
}

thread_local! {
    /// The panic of the case that runs in this thread.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
    static IS_CASE: RefCell<bool> = const { RefCell::new(false) };
}

/// Keeps panics of cases for the list of failures: printed at once, those of parallel cases would be mixed.
pub fn keep_panics() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic: &PanicHookInfo<'_>| {
        if IS_CASE.with_borrow(|is_case| *is_case) {
            PANIC.set(Some(panic.to_string()));
        } else {
            print(panic);
        }
    }));
}

/// Runs a test; its panic is the reason why it failed.
pub fn caught(play: impl FnOnce()) -> Result<(), Failed> {
    IS_CASE.set(true);
    let played = catch_unwind(AssertUnwindSafe(play));
    IS_CASE.set(false);
    played.map_err(|_| PANIC.take().unwrap_or_default().into())
}
