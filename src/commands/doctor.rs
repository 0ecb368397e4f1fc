//! `modegate doctor`: finds everything that keeps the hook from working, with a fix for each problem.

mod context;
mod entry_checks;
mod live_checks;
mod mode_checks;
mod program_checks;
mod state_checks;
mod workflow_checks;

use super::install_target::{InstallScope, InstallTarget, start_folder};
use super::screen::{self, TextStyle, styled};
use super::{CliResult, EXIT_FAILURE};
use base::printable;
use clap::Args;
pub(super) use context::DoctorContext;
pub(super) use entry_checks::ungated_folder;
pub(super) use program_checks::{missing_program, program_of_repository};
use serde::Serialize;
use serde_json::json;
pub(super) use state_checks::state_error;
use std::path::PathBuf;
use std::process::ExitCode;

const INSTALL: &str = "run `modegate install`";

#[derive(Args)]
#[command(after_help = "Updates the installed copy of the program if it is older than this one; changes nothing else.
Exits with 1 if there is a problem.

Examples:
  modegate doctor
  modegate doctor --live          also run the installed hook commands")]
pub(super) struct Doctor {
    /// Send one event of each kind through the installed hook entries, as Claude Code would
    #[arg(long)]
    live: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Severity {
    Ok,
    Note,
    Problem,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct Diagnostic {
    severity: Severity,
    check: &'static str,
    message: String,
    /// The events or files concerned; diagnostics that differ only in this are printed as one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    items: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

impl Diagnostic {
    /// The diagnostic about one item, such as an event or a file.
    fn about(self, item: impl Into<String>) -> Self {
        Self { items: vec![item.into()], ..self }
    }

    /// Whether it is about a command or an agent without a file.
    pub(super) fn is_missing_workflow(&self) -> bool {
        matches!(self.check, "command-missing" | "agent-missing")
    }

    pub(super) fn print(&self) {
        let (word, style) = match self.severity {
            Severity::Ok => ("ok", TextStyle::Green),
            Severity::Note => ("note", TextStyle::Yellow),
            Severity::Problem => ("problem", TextStyle::Red),
        };
        let items = if self.items.is_empty() { String::new() } else { format!(": {}", self.items.join(", ")) };
        let message = format!("{}{items}", self.message);
        screen::print_line(format!("  {} {}", styled(style, &format!("{word:<8}")), printable::one_line(&message)));
        if let Some(fix) = &self.fix {
            let fix = printable::one_line(fix);
            screen::print_line(format!("           {} {fix}", styled(TextStyle::Dim, "fix:")));
        }
    }
}

fn ok(check: &'static str, message: impl Into<String>) -> Diagnostic {
    Diagnostic { severity: Severity::Ok, check, message: message.into(), items: Vec::new(), fix: None }
}

fn note(check: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Diagnostic {
    Diagnostic { severity: Severity::Note, fix: Some(fix.into()), ..ok(check, message) }
}

fn problem(check: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Diagnostic {
    Diagnostic { severity: Severity::Problem, ..note(check, message, fix) }
}

/// Merges diagnostics with one cause into one with all their items.
fn grouped(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    fn cause(diagnostic: &Diagnostic) -> (&str, &str, Option<&str>) {
        (diagnostic.check, &diagnostic.message, diagnostic.fix.as_deref())
    }
    let mut groups: Vec<Diagnostic> = Vec::new();
    for mut diagnostic in diagnostics {
        let is_same = |group: &&mut Diagnostic| !group.items.is_empty() && cause(group) == cause(&diagnostic);
        match groups.iter_mut().find(is_same) {
            Some(group) => group.items.append(&mut diagnostic.items),
            None => groups.push(diagnostic),
        }
    }
    groups
}

pub(super) fn problems(target: &InstallTarget) -> Vec<Diagnostic> {
    let diagnostics = grouped(examine(&DoctorContext::read(target.clone())));
    diagnostics.into_iter().filter(|diagnostic| diagnostic.severity == Severity::Problem).collect()
}

/// The installation that sessions in a folder share their state with, if the folder has a `.claude` but no hook entries.
fn installed_above(target: &InstallTarget) -> Option<InstallTarget> {
    let above = target.state_places();
    if above.home == target.home || !target.home.starts_with(&above.home) {
        return None;
    }
    let context = DoctorContext::read(target.clone());
    let has_own_entries = context.calls().iter().any(|(file, _)| file.scope.is_of_project());
    (!has_own_entries).then(|| InstallTarget::of(&above))
}

const CHECKS: [fn(&DoctorContext) -> Vec<Diagnostic>; 3] =
    [entry_checks::run, program_checks::run, workflow_checks::run];

/// Those of a project's modes and state, which the user's own folder does not have.
const PROJECT_CHECKS: [fn(&DoctorContext) -> Vec<Diagnostic>; 2] = [mode_checks::run, state_checks::run];

fn examine(context: &DoctorContext) -> Vec<Diagnostic> {
    let of_project = PROJECT_CHECKS.iter().filter(|_| !context.target.is_users);
    CHECKS.iter().chain(of_project).flat_map(|check| check(context)).collect()
}

impl Doctor {
    pub(super) fn run(self, project: Option<PathBuf>) -> CliResult {
        let is_here = project.is_none();
        let mut target = InstallScope::default().target(project)?;
        if is_here {
            target = installed_above(&target).unwrap_or(target);
        }
        let targets = [Some(target.clone()), InstallScope::USER.target(None).ok()];
        let mut diagnostics: Vec<_> = targets.iter().flatten().filter_map(program_checks::refresh).collect();
        let context = DoctorContext::read(target);
        diagnostics.extend(examine(&context));
        if is_here {
            diagnostics.extend(ungated_folder(&context, &start_folder()));
        }
        let sent = if self.live { live_checks::send_events(&context) } else { Vec::new() };
        diagnostics.extend(live_checks::run(&sent));
        let diagnostics = grouped(diagnostics);
        let problems = diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Problem).count();
        let (version, home) = (env!("CARGO_PKG_VERSION"), context.target.home.to_string_lossy());
        if self.json {
            screen::print_json(&json!({
                "version": version, "home": home, "problems": problems, "diagnostics": diagnostics,
                "live": self.live.then_some(&sent),
            }));
        } else {
            screen::print_line(format!("modegate {version} in {}", styled(TextStyle::Bold, &home)));
            sent.iter().for_each(live_checks::SentEvent::print);
            diagnostics.iter().for_each(Diagnostic::print);
            screen::print_line(match problems {
                0 => "no problems found".to_owned(),
                count => screen::counted(count, "problem"),
            });
        }
        Ok(if problems > 0 { ExitCode::from(EXIT_FAILURE) } else { ExitCode::SUCCESS })
    }
}
