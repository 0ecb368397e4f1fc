//! Modes that do not read, and gates that can never be satisfied here.

use super::Diagnostic;
use super::context::DoctorContext;
use crate::check::{Check, ExpectedState, Scope};
use crate::event::{Blocking, Event, TriggerEvent};
use crate::facts::Facts;
use crate::live::{LiveFacts, git};
use crate::mode::{Action, Gate, Mode};
use crate::session::Session;
use crate::verdict::Verdict;
use serde_json::json;
use std::process::{Command, Stdio};

pub(super) fn run(context: &DoctorContext) -> Vec<Diagnostic> {
    let mut diagnostics: Vec<Diagnostic> = context
        .catalogue
        .broken
        .iter()
        .map(|broken| {
            let fix = "run `modegate modes check` to see each mistake in its place";
            Diagnostic::problem("mode-broken", broken.summary(), fix)
        })
        .collect();
    diagnostics.extend(context.catalogue.ignored.iter().map(|file| {
        let what = format!("`{file}` is no file of gates, and is left alone");
        Diagnostic::note(
            "gates-strange",
            what,
            "none is needed; `modegate modes import` says what such a file looks like",
        )
    }));
    let modes = &context.catalogue.modes;
    for mode in modes {
        for (_, gate) in mode.all_gates() {
            let impossible = impossible(context, &gate.check).map(|why| never(mode, gate, &why));
            diagnostics.extend(impossible.into_iter().chain(toothless(mode, gate)));
        }
    }
    diagnostics.extend(git(context));
    if diagnostics.is_empty() {
        diagnostics
            .push(Diagnostic::fine("modes", format!("{} modes, each of whose gates can be satisfied", modes.len())));
    }
    diagnostics
}

fn never(mode: &Mode, gate: &Gate, why: &str) -> Diagnostic {
    let what = format!("{} of {} mode can never be satisfied: {why}", gate.id, mode.name);
    Diagnostic::problem("gate-impossible", what, "change the gate's check")
}

/// Why nothing can satisfy a check.
fn impossible(context: &DoctorContext, check: &Check) -> Option<String> {
    let each = |check: &Check| impossible(context, check);
    match check {
        Check::All(checks) => contradiction(checks).or_else(|| checks.iter().find_map(each)),
        Check::Any(checks) => {
            let whys: Option<Vec<String>> = checks.iter().map(each).collect();
            whys.filter(|whys| !whys.is_empty()).map(|whys| whys.join(", and "))
        }
        Check::State(state) => state.0.iter().find_map(|wanted| no_such_phase(context, wanted)),
        Check::Frontmatter(check) if check.by.is_some() && !context.catalogue.settings.journal => {
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
fn no_such_phase(context: &DoctorContext, wanted: &ExpectedState) -> Option<String> {
    let mode = context.catalogue.modes.iter().find(|mode| mode.namespace == wanted.namespace)?;
    let phases: Vec<String> = mode.phases.iter().map(|phase| json!(phase.name).to_string()).collect();
    let asked = matches!(wanted.key.as_str(), "phase" | "current_phase");
    (asked && !wanted.values.iter().any(|value| phases.contains(value)))
        .then(|| format!("{} mode has no phase {}", mode.name, wanted.values.join(" or ")))
}

/// A gate that blocks where nothing can be blocked.
fn toothless(mode: &Mode, gate: &Gate) -> Option<Diagnostic> {
    let blocks = matches!(gate.fail, Action::Verdict(Verdict::Block));
    let never = |on: &TriggerEvent| matches!(on, TriggerEvent::Event(kind) if kind.row().blocking == Blocking::Never);
    let trigger = gate.on.iter().find(|trigger| never(&trigger.on))?;
    let what = format!("{} of {} mode hears {trigger}, which cannot be blocked: it can only tell", gate.id, mode.name);
    blocks.then(|| Diagnostic::note("gate-toothless", what, "say `fail: warn`, or hear another event"))
}

/// Whether git answers, where gates ask it, and lets their files be committed at all.
fn git(context: &DoctorContext) -> Vec<Diagnostic> {
    let mut asks = None;
    let mut committed: Vec<(&Mode, &str)> = Vec::new();
    for mode in &context.catalogue.modes {
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
    if let Err(why) = git::head(&context.target.home) {
        let what = format!("git cannot be asked here ({why}), and {} mode needs it: its gates stay closed", asks.name);
        return vec![Diagnostic::problem("git-unusable", what, "make this a repository with `git init`, or mend it")];
    }
    committed.iter().filter_map(|(mode, name)| ignored(context, mode, name)).collect()
}

/// A file that must be committed, at a place that git ignores.
fn ignored(context: &DoctorContext, mode: &Mode, name: &str) -> Option<Diagnostic> {
    let home = &context.target.home;
    let event =
        Event::from_value(json!({"hook_event_name": "SessionStart", "session_id": "s", "cwd": home.to_string_lossy()}))
            .ok()?;
    let live = LiveFacts::new(&event, home.clone(), context.target.places().journal("s"));
    let (facts, session) = (Facts::new(&live), Session { id: "s".into(), ..Session::default() });
    let scope = Scope {
        event: &event,
        session: &session,
        namespace: &mode.namespace,
        definitions: &mode.definitions,
        facts: &facts,
        input: None,
    };
    let path = scope.expected(name)?;
    let mut ask = Command::new("git");
    ask.args(["check-ignore", "-q", "--", &path]).current_dir(home).stdin(Stdio::null()).stderr(Stdio::null());
    let what = format!("{} mode wants {path} committed, but git ignores it", mode.name);
    ask.status()
        .is_ok_and(|status| status.success())
        .then(|| Diagnostic::problem("gate-impossible", what, "take that folder out of .gitignore"))
}
