//! `modegate doctor`: everything that could keep the hook from working, each with its way out.

mod context;
mod entry_checks;
mod live_checks;
mod mode_checks;
mod program_checks;
mod state_checks;
mod workflow_checks;
mod workflow_files;

use super::install_target::{InstallScope, InstallTarget};
use super::screen::{self, TextStyle, styled};
use super::{CliResult, EXIT_FAILURE};
use clap::Args;
use context::DoctorContext;
use serde::Serialize;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub(super) struct Doctor {
    /// Send one event of each kind through the installed command line, as Claude Code would
    #[arg(long)]
    live: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// How grave a diagnostic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Severity {
    /// All is well.
    Fine,
    /// Worth knowing.
    Note,
    /// Something is wrong.
    Problem,
}

/// What was looked at, and how it is.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Diagnostic {
    weight: Severity,
    id: &'static str,
    what: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

impl Diagnostic {
    fn fine(id: &'static str, what: impl Into<String>) -> Self {
        Self { weight: Severity::Fine, id, what: what.into(), fix: None }
    }

    fn note(id: &'static str, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { weight: Severity::Note, id, what: what.into(), fix: Some(fix.into()) }
    }

    fn problem(id: &'static str, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { weight: Severity::Problem, id, what: what.into(), fix: Some(fix.into()) }
    }

    /// Prints it for people.
    pub(super) fn print(&self) {
        let (word, colour) = match self.weight {
            Severity::Fine => ("fine", TextStyle::Green),
            Severity::Note => ("note", TextStyle::Yellow),
            Severity::Problem => ("problem", TextStyle::Red),
        };
        screen::print_line(format!("  {} {}", styled(colour, &format!("{word:<8}")), self.what));
        if let Some(fix) = &self.fix {
            screen::print_line(format!("           {} {fix}", styled(TextStyle::Dim, "fix:")));
        }
    }
}

/// What is wrong with an installation, for the command that has just made it.
pub(super) fn problems(target: &InstallTarget) -> Vec<Diagnostic> {
    let context = DoctorContext::gather(target.clone());
    examine(&context).into_iter().filter(|diagnostic| diagnostic.weight == Severity::Problem).collect()
}

fn examine(context: &DoctorContext) -> Vec<Diagnostic> {
    let mut diagnostics = entry_checks::run(context);
    diagnostics.extend(program_checks::run(context));
    diagnostics.extend(workflow_checks::run(context));
    // A user's own folder is no project: there is neither code nor state in it.
    if !context.target.is_users {
        diagnostics.extend(mode_checks::run(context));
        diagnostics.extend(state_checks::run(context));
    }
    diagnostics
}

impl Doctor {
    pub(super) fn run(self, project: Option<PathBuf>) -> CliResult {
        let target = InstallScope::default().target(project)?;
        let context = DoctorContext::gather(target);
        let mut diagnostics = examine(&context);
        let tried = if self.live { live_checks::send_events(&context) } else { Vec::new() };
        if self.live {
            diagnostics.extend(live_checks::diagnostics(&tried));
        }
        let wrong = diagnostics.iter().filter(|diagnostic| diagnostic.weight == Severity::Problem).count();
        if self.json {
            screen::print_json(&json!({
                "version": env!("CARGO_PKG_VERSION"), "home": context.target.home.to_string_lossy(), "problems": wrong, "diagnostics": diagnostics,
                "live": self.live.then_some(&tried),
            }));
        } else {
            let home = context.target.home.to_string_lossy();
            screen::print_line(format!("modegate {} in {}", env!("CARGO_PKG_VERSION"), styled(TextStyle::Bold, &home)));
            tried.iter().for_each(live_checks::SentEvent::tell);
            diagnostics.iter().for_each(Diagnostic::print);
            screen::print_line(match wrong {
                0 => "no problem found".to_owned(),
                1 => "1 problem".to_owned(),
                many => format!("{many} problems"),
            });
        }
        Ok(if wrong > 0 { ExitCode::from(EXIT_FAILURE) } else { ExitCode::SUCCESS })
    }
}
