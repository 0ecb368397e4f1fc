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
mod begins;
mod case;
mod client;
mod costs;
mod folders;
mod forks;
mod gates;
mod install;
mod matrix;
mod model;
mod other_hooks;
mod plugin;
#[path = "../support/project.rs"]
mod project;
mod projects;
mod results;
mod screen;
mod server;
mod sessions;
mod settings;
mod setup;
mod starts;
mod stops;
mod terminal;

use case::Case;
use client::Client;
use libtest_mimic::{Arguments, Trial};
use results::Results;
use std::sync::Arc;

fn main() {
    if std::env::args().any(|argument| argument == "--matrix") {
        return matrix::update(&cases());
    }
    let client = std::env::var_os("MODEGATE_CLIENT").map(|path| Arc::new(Client::at(path.into())));
    if client.is_none() {
        eprintln!("no client in MODEGATE_CLIENT: run these with tests/host/run");
    }
    let client = client.map(|client| (client.clone(), Arc::new(Results::of(client.version))));
    let passed = client.as_ref().filter(|_| std::env::var_os("MODEGATE_NEW_TESTS").is_some());
    let passed = passed.map(|(client, _)| matrix::results_of(client.version)).unwrap_or_default();
    let cases = cases().into_iter().filter(|case| passed.get(&case.name) != Some(&true));
    let mut trials: Vec<_> = cases.map(|case| case.trial(client.clone())).collect();
    trials.extend(checks_of_the_document());
    case::keep_panics();
    let mut arguments = Arguments::from_args();
    // Each test has its own home and project, and some wait more than they compute.
    let threads = std::thread::available_parallelism().map_or(2, |cores| cores.get() + 1);
    arguments.test_threads.get_or_insert(threads);
    libtest_mimic::run(&arguments, trials).exit();
}

/// All tests with the client, by topic.
fn cases() -> Vec<Case> {
    let topics = [
        ("settings", settings::cases()),
        ("starts", starts::cases()),
        ("stops", stops::cases()),
        ("activation", activation::cases()),
        ("agents", agents::cases()),
        ("other hooks", other_hooks::cases()),
        ("install", install::cases()),
        ("plugin", plugin::cases()),
        ("costs", costs::cases()),
        ("folders", folders::cases()),
        ("gates", gates::cases()),
        ("sessions", sessions::cases()),
        ("projects", projects::cases()),
        ("screen", screen::cases()),
        ("begins", begins::cases()),
        ("forks", forks::cases()),
    ];
    let named = |(topic, cases): (&'static str, Vec<Case>)| cases.into_iter().map(move |case| case.of_topic(topic));
    topics.into_iter().flat_map(named).collect()
}

/// Tests of the documents about the results, which need no client.
fn checks_of_the_document() -> Vec<Trial> {
    let check = |name: &str, check: fn(&[Case])| Trial::test(name, move || case::caught(|| check(&cases())));
    vec![
        check("tests/host/results.md lists every test", matrix::must_be_current),
        check("docs/dev/hosts.md names tests for all ways to start", matrix::ways_must_name_tests),
    ]
}
