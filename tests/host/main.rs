//! A real Claude Code, driven by a scripted model, in real projects with modegate. `tests/host/run` fetches
//! the client; without `MODEGATE_CLIENT` every trial is ignored.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::indexing_slicing,
    reason = "a test may stop where it cannot go on"
)]

mod activation;
mod agents;
mod client;
mod gates;
mod install;
mod model;
mod other_hooks;
#[path = "../support/project.rs"]
mod project;
mod screen;
mod server;
mod sessions;
mod settings;
mod setup;
mod starts;
mod stops;
mod terminal;

use client::{Client, Version};
use libtest_mimic::{Arguments, Trial};
use std::sync::Arc;

/// A session with the client, and its checks.
struct Case {
    name: &'static str,
    play: fn(&Client),
    since: Option<(Version, &'static str)>,
    is_in_terminal: bool,
}

impl Case {
    /// A case for every client.
    fn new(name: &'static str, play: fn(&Client)) -> Self {
        Self { name, play, since: None, is_in_terminal: false }
    }

    /// A case that clients before a version cannot pass, and why.
    fn since(mut self, version: Version, reason: &'static str) -> Self {
        self.since = Some((version, reason));
        self
    }

    /// A case that uses [`client::Session::open`].
    fn in_terminal(mut self) -> Self {
        self.is_in_terminal = true;
        self
    }

    /// Why it cannot run here.
    fn skipped(&self, client: &Client) -> Option<String> {
        let since = self.since.filter(|(version, _)| client.version < *version);
        let missing = self.is_in_terminal && !terminal::has_tmux();
        let since = since.map(|(version, reason)| format!("only since {version}: {reason}"));
        since.or_else(|| missing.then(|| "tmux is not installed".to_owned()))
    }

    fn trial(self, topic: &str, client: Option<&Arc<Client>>) -> Trial {
        let name = format!("{topic}: {}", self.name);
        let Some(client) = client.cloned() else { return Trial::test(name, || Ok(())).with_ignored_flag(true) };
        if let Some(reason) = self.skipped(&client) {
            eprintln!("{name}: not on {}: {reason}", client.version);
            return Trial::test(name, || Ok(())).with_ignored_flag(true);
        }
        Trial::test(name, move || {
            (self.play)(&client);
            Ok(())
        })
    }
}

fn main() {
    let client = std::env::var_os("MODEGATE_CLIENT").map(|path| Arc::new(Client::at(path.into())));
    if client.is_none() {
        eprintln!("no client in MODEGATE_CLIENT: run these with tests/host/run");
    }
    let topics = [
        ("settings", settings::cases()),
        ("starts", starts::cases()),
        ("stops", stops::cases()),
        ("activation", activation::cases()),
        ("agents", agents::cases()),
        ("other hooks", other_hooks::cases()),
        ("install", install::cases()),
        ("gates", gates::cases()),
        ("sessions", sessions::cases()),
        ("screen", screen::cases()),
    ];
    let trials = topics.into_iter().flat_map(|(topic, cases)| cases.into_iter().map(move |case| (topic, case)));
    let trials = trials.map(|(topic, case)| case.trial(topic, client.as_ref())).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
