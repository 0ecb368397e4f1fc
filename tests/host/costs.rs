//! What the hook costs in a long session.

use crate::Case;
use crate::client::{Client, Session};
use crate::model::{Model, Script, calls, shell, text};
use crate::setup::installed_project;
use serde_json::Value;
use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

const CALLS: usize = 200;

pub(super) fn cases() -> Vec<Case> {
    vec![Case::new("hooks do not slow down over 200 tool calls", many_calls)]
}

/// Measures the time between `hook_started` and `hook_response`, as the client reports them.
fn many_calls(client: &Client) {
    let project = installed_project();
    let turns = (0..CALLS).map(|_| calls(vec![shell("git status")])).chain([text("Done.")]);
    let model = Model::start(Script::main(turns.collect()), &project.home());
    let printing = ["-p", "Look.", "--output-format", "stream-json", "--verbose", "--include-hook-events"];
    let session = Session::new(&project).arguments(&printing);
    let mut command = session.command(&client.binary, &model);
    command.args(session.client_arguments()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let (mut started, mut times) = (HashMap::new(), Vec::new());
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let event: Value = serde_json::from_str(&line.unwrap()).unwrap_or_default();
        let id = event["hook_id"].as_str().unwrap_or_default().to_owned();
        match event["subtype"].as_str() {
            Some("hook_started") => drop(started.insert(id, Instant::now())),
            Some("hook_response") => times.extend(started.remove(&id).map(|begun: Instant| begun.elapsed())),
            _ => {}
        }
    }
    assert!(child.wait().unwrap().success(), "the client failed");
    assert!(times.len() >= 2 * CALLS, "only {} hooks were reported", times.len());
    let (first, last) = (median(&times[..CALLS / 2]), median(&times[times.len() - CALLS / 2..]));
    times.sort_unstable();
    let late = times[times.len() * 95 / 100];
    eprintln!(
        "{} hooks: median {:?}, 95 % within {late:?}; first {first:?}, last {last:?}",
        times.len(),
        median(&times)
    );
    assert!(last < 2 * first, "hooks became slower: {first:?}, then {last:?}");
}

fn median(times: &[Duration]) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    times[times.len() / 2]
}
