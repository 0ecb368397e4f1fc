//! Modes that do not read, and gates that can never be satisfied here.

use super::Report;
use super::ground::Ground;
use crate::check::{Check, ExpectedState, Scope};
use crate::event::{Blocking, Event, TriggerEvent};
use crate::facts::Facts;
use crate::facts::live::{Live, git};
use crate::mode::{Action, Gate, Mode};
use crate::session::Session;
use crate::verdict::Verdict;
use serde_json::json;
use std::process::{Command, Stdio};

pub(super) fn reports(ground: &Ground) -> Vec<Report> {
    let mut reports: Vec<Report> = ground
        .catalogue
        .broken
        .iter()
        .map(|broken| {
            let fix = "run `modegate modes check` to see each mistake in its place";
            Report::problem("mode-broken", broken.summary(), fix)
        })
        .collect();
    reports.extend(ground.catalogue.strange.iter().map(|file| {
        let what = format!("`{file}` is no file of gates, and is left alone");
        Report::note("gates-strange", what, "none is needed; `modegate modes import` says what such a file looks like")
    }));
    let modes = &ground.catalogue.modes;
    for mode in modes {
        for (_, gate) in mode.all_gates() {
            let impossible = impossible(ground, &gate.check).map(|why| never(mode, gate, &why));
            reports.extend(impossible.into_iter().chain(toothless(mode, gate)));
        }
    }
    reports.extend(git(ground));
    if reports.is_empty() {
        reports.push(Report::fine("modes", format!("{} modes, each of whose gates can be satisfied", modes.len())));
    }
    reports
}

fn never(mode: &Mode, gate: &Gate, why: &str) -> Report {
    let what = format!("{} of {} mode can never be satisfied: {why}", gate.id, mode.name);
    Report::problem("gate-impossible", what, "change the gate's check")
}

/// Why nothing can satisfy a check.
fn impossible(ground: &Ground, check: &Check) -> Option<String> {
    let each = |check: &Check| impossible(ground, check);
    match check {
        Check::All(checks) => contradiction(checks).or_else(|| checks.iter().find_map(each)),
        Check::Any(checks) => {
            let whys: Option<Vec<String>> = checks.iter().map(each).collect();
            whys.filter(|whys| !whys.is_empty()).map(|whys| whys.join(", and "))
        }
        Check::State(state) => state.0.iter().find_map(|wanted| no_such_phase(ground, wanted)),
        Check::Frontmatter(check) if check.by.is_some() && !ground.catalogue.settings.journal => {
            Some("it asks who wrote a file, and the journal that would tell is off".to_owned())
        }
        _ => None,
    }
}

fn contradiction(checks: &[Check]) -> Option<String> {
    let denied =
        checks.iter().filter_map(|check| if let Check::Not(inner) = check { Some(inner.as_ref()) } else { None });
    denied.into_iter().any(|inner| checks.contains(inner)).then(|| "it asks for a thing and its opposite".to_owned())
}

/// A phase that is asked for by a name that no phase of the mode has.
fn no_such_phase(ground: &Ground, wanted: &ExpectedState) -> Option<String> {
    let mode = ground.catalogue.modes.iter().find(|mode| mode.namespace == wanted.namespace)?;
    let phases: Vec<String> = mode.phases.iter().map(|phase| json!(phase.name).to_string()).collect();
    let asked = matches!(wanted.key.as_str(), "phase" | "current_phase");
    (asked && !wanted.values.iter().any(|value| phases.contains(value)))
        .then(|| format!("{} mode has no phase {}", mode.name, wanted.values.join(" or ")))
}

/// A gate that blocks where nothing can be blocked.
fn toothless(mode: &Mode, gate: &Gate) -> Option<Report> {
    let blocks = matches!(gate.fail, Action::Verdict(Verdict::Block));
    let never = |on: &TriggerEvent| matches!(on, TriggerEvent::Event(kind) if kind.row().blocking == Blocking::Never);
    let trigger = gate.on.iter().find(|trigger| never(&trigger.on))?;
    let what = format!("{} of {} mode hears {trigger}, which cannot be blocked: it can only tell", gate.id, mode.name);
    blocks.then(|| Report::note("gate-toothless", what, "say `fail: warn`, or hear another event"))
}

/// Whether git answers, where gates ask it, and lets their files be committed at all.
fn git(ground: &Ground) -> Vec<Report> {
    let mut asks = None;
    let mut committed: Vec<(&Mode, &str)> = Vec::new();
    for mode in &ground.catalogue.modes {
        mode.checks(&mut |check| match check {
            Check::Committed(check) => {
                asks = Some(mode);
                committed.push((mode, check.of.as_str()));
            }
            Check::Clean(_) => asks = Some(mode),
            _ => {}
        });
    }
    let Some(asks) = asks else { return Vec::new() };
    if let Err(why) = git::head(&ground.site.home) {
        let what = format!("git cannot be asked here ({why}), and {} mode needs it: its gates stay closed", asks.name);
        return vec![Report::problem("git-unusable", what, "make this a repository with `git init`, or mend it")];
    }
    committed.iter().filter_map(|(mode, name)| ignored(ground, mode, name)).collect()
}

/// A file that must be committed, at a place that git ignores.
fn ignored(ground: &Ground, mode: &Mode, name: &str) -> Option<Report> {
    let home = &ground.site.home;
    let event =
        Event::from_value(json!({"hook_event_name": "SessionStart", "session_id": "s", "cwd": home.to_string_lossy()}))
            .ok()?;
    let live = Live::new(&event, home.clone(), ground.site.places().journal("s"));
    let (facts, session) = (Facts::new(&live), Session { id: "s".into(), ..Session::default() });
    let scope = Scope {
        event: &event,
        session: &session,
        namespace: &mode.namespace,
        words: &mode.words,
        facts: &facts,
        input: None,
    };
    let path = scope.expected(name)?;
    let mut ask = Command::new("git");
    ask.args(["check-ignore", "-q", "--", &path]).current_dir(home).stdin(Stdio::null()).stderr(Stdio::null());
    let what = format!("{} mode wants {path} committed, but git ignores it", mode.name);
    ask.status()
        .is_ok_and(|status| status.success())
        .then(|| Report::problem("gate-impossible", what, "take that folder out of .gitignore"))
}
