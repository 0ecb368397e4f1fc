//! Checks the modes: they are valid, and every gate can pass in this project.

use super::super::check::in_scope;
use super::super::trust::notice;
use super::context::DoctorContext;
use super::{Diagnostic, note, ok, problem};
use crate::commands::project_commands::{Purpose, project_commands};
use crate::facts::session::Session;
use crate::facts::verdict::Verdict;
use crate::host::event::{Blocking, TriggerEvent};
use crate::host::paths::ProjectPaths;
use crate::policy::check::{Check, ExpectedState};
use crate::policy::mode::{Action, Catalogue, Gate, Mode};
use crate::state::trust::TrustRecord;
use serde_json::json;
use std::path::Path;
use std::process::{Command, Stdio};

pub(super) fn run(context: &DoctorContext) -> Vec<Diagnostic> {
    const TRUST: &str = "run `modegate trust` in a terminal";
    let Catalogue { modes, broken, ignored, .. } = &context.catalogue;
    let places = context.target.state_places();
    let mut diagnostics = Vec::new();
    diagnostics.extend(notice(&places, &context.catalogue).map(|text| problem("project-untrusted", text, TRUST)));
    diagnostics.extend(TrustRecord::unsealed(&places).map(|path| {
        let message = format!("`{}` is damaged, or was changed by something else, so it is not used", path.display());
        problem("trust-record-damaged", message, TRUST)
    }));
    let see_errors = "run `modegate modes check` to see every error";
    diagnostics.extend(broken.iter().map(|broken| problem("mode-invalid", broken.summary(), see_errors)));
    let fix = "nothing to do, unless it should contain some; `modegate modes import FILE` explains the format";
    let no_gates = |file: &String| note("gates-file-ignored", "files that contain no gates", fix).about(file.as_str());
    diagnostics.extend(ignored.iter().map(no_gates));
    for (mode, gate) in modes.iter().flat_map(|mode| mode.all_gates().map(move |(_, gate)| (mode, gate))) {
        diagnostics.extend(unsatisfiable(context, &gate.check).map(|why| {
            let message = format!("gate {} of {} mode can never pass: {why}", gate.id, mode.name);
            problem("gate-unsatisfiable", message, "change the gate's check")
        }));
        diagnostics.extend(cannot_block(mode, gate));
    }
    diagnostics.extend(git(context));
    if diagnostics.is_empty() {
        diagnostics.push(ok("modes", format!("{} modes, and every gate can pass", modes.len())));
    }
    diagnostics.extend(variables(context));
    diagnostics
}

fn unsatisfiable(context: &DoctorContext, check: &Check) -> Option<String> {
    let each = |check: &Check| unsatisfiable(context, check);
    match check {
        Check::All(checks) => contradiction(checks).or_else(|| checks.iter().find_map(each)),
        Check::Any(checks) => {
            let whys: Option<Vec<String>> = checks.iter().map(each).collect();
            whys.filter(|whys| !whys.is_empty()).map(|whys| whys.join(", and "))
        }
        Check::State(state) => state.0.iter().find_map(|wanted| no_such_phase(context, wanted)),
        Check::Frontmatter(check) if check.by.is_some() && !context.catalogue.settings.journal => {
            Some("it asks who wrote a file, but the journal is off".to_owned())
        }
        _ => None,
    }
}

fn contradiction(checks: &[Check]) -> Option<String> {
    let is_denied = |check: &Check| matches!(check, Check::Not(inner) if checks.contains(inner));
    checks.iter().any(is_denied).then(|| "it requires a check and its opposite".to_owned())
}

fn no_such_phase(context: &DoctorContext, wanted: &ExpectedState) -> Option<String> {
    let mode = context.catalogue.modes.iter().find(|mode| mode.namespace == wanted.namespace)?;
    let phases: Vec<String> = mode.phases.iter().map(|phase| json!(phase.name).to_string()).collect();
    let asked = matches!(wanted.key.as_str(), "phase" | "current_phase");
    (asked && !wanted.values.iter().any(|value| phases.contains(value)))
        .then(|| format!("{} mode has no phase {}", mode.name, wanted.values.join(" or ")))
}

fn cannot_block(mode: &Mode, gate: &Gate) -> Option<Diagnostic> {
    let blocks = matches!(gate.fail, Action::Verdict(Verdict::Block));
    let never = |on: &TriggerEvent| matches!(on, TriggerEvent::Event(kind) if kind.row().blocking == Blocking::Never);
    let trigger = gate.on.iter().find(|trigger| never(&trigger.event))?;
    let message = format!("gate {} of {} mode is on {trigger}, which cannot be blocked", gate.id, mode.name);
    blocks.then(|| note("gate-cannot-block", message, "use `fail: warn`, or another event"))
}

/// Variables of the settings that fit nothing in the project.
fn variables(context: &DoctorContext) -> Vec<Diagnostic> {
    let home = &context.target.home;
    let variables = &context.catalogue.settings.variables;
    let mut diagnostics = Vec::new();
    let code = variables.get("code").map(Vec::as_slice).unwrap_or_default();
    let plain = |path: &&String| !path.starts_with('!') && !path.contains(['{', '*']);
    for path in code.iter().filter(plain).filter(|path| !home.join(path).exists()) {
        let fix = "change `variables.code` in `.claude/modegate.yaml`, or remove it to mean the whole project";
        let message = "`code` names a path that does not exist";
        diagnostics.push(problem("code-matches-no-file", message, fix).about(path.as_str()));
    }
    let asks = context.catalogue.modes.iter().any(|mode| mode.definitions.variables.contains_key("test"));
    let found = project_commands(home).into_iter().any(|command| command.purpose == Purpose::Test);
    if asks && !found && !variables.contains_key("test") && has_code(home) {
        let fix = "if modegate does not recognize your test runs, list the command as `variables.test` in `.claude/modegate.yaml`";
        diagnostics.push(note("no-test-command", "no test command was found in the project's files", fix));
    }
    diagnostics
}

/// Whether the project has files other than documents and settings.
fn has_code(home: &Path) -> bool {
    let names = std::fs::read_dir(home).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let is_document = |name: &str| matches!(name.rsplit('.').next(), Some("md")) || name.starts_with('.');
    let is_code = |name: &str| !is_document(name) && !matches!(name, "project" | "specs" | "docs");
    names.filter_map(|name| name.into_string().ok()).any(|name| is_code(&name))
}

fn git(context: &DoctorContext) -> Vec<Diagnostic> {
    let mut asking: Vec<&str> = Vec::new();
    let mut committed: Vec<(&Mode, &str)> = Vec::new();
    for mode in &context.catalogue.modes {
        mode.checks(&mut |check| match check {
            Check::Committed(check) => {
                asking.push(&mode.name);
                committed.push((mode, check.of.as_str()));
            }
            Check::Clean(_) => asking.push(&mode.name),
            _ => {}
        });
    }
    asking.dedup();
    if asking.is_empty() {
        return Vec::new();
    }
    if let Err(why) = git_facts::head(&context.target.home) {
        let modes = asking.join(", ");
        let message = format!("git does not work here ({why}), so gates of these modes stay closed: {modes}");
        return vec![problem("git-unavailable", message, "run `git init`, or repair the repository")];
    }
    committed.iter().filter_map(|(mode, name)| ignored(context, mode, name)).collect()
}

/// A file that must be committed but is ignored by git.
fn ignored(context: &DoctorContext, mode: &Mode, name: &str) -> Option<Diagnostic> {
    let home = &context.target.home;
    let places = ProjectPaths { home: home.clone(), ..context.target.state_places() };
    let session = Session { id: "s".into(), ..Session::default() };
    let path = in_scope(&places, &session, mode, home, |scope| scope.expected(name))?;
    let mut ask = Command::new("git");
    ask.args(git_facts::SAFE_OPTIONS)
        .args(["check-ignore", "-q", "--", &path])
        .current_dir(home)
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    let message = format!("{} mode needs {path} committed, but git ignores it", mode.name);
    let is_ignored = ask.status().is_ok_and(|status| status.success());
    is_ignored.then(|| problem("gate-unsatisfiable", message, "remove the folder from .gitignore"))
}
