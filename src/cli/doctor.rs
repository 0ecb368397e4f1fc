//! `modegate doctor`: everything that could keep the hook from working, each with its way out.

mod files;
mod ground;
mod health;
mod hooks;
mod live;
mod meaning;
mod program;
mod workflow;

use super::FOUND;
use super::screen::{self, Colour, paint};
use super::site::{Scope, Site};
use clap::Args;
use ground::Ground;
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
    json: bool,
}

/// How grave a report is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Weight {
    /// All is well.
    Fine,
    /// Worth knowing.
    Note,
    /// Something is wrong.
    Problem,
}

/// What was looked at, and how it is.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Report {
    weight: Weight,
    id: &'static str,
    what: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

impl Report {
    fn fine(id: &'static str, what: impl Into<String>) -> Self {
        Self { weight: Weight::Fine, id, what: what.into(), fix: None }
    }

    fn note(id: &'static str, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { weight: Weight::Note, id, what: what.into(), fix: Some(fix.into()) }
    }

    fn problem(id: &'static str, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { weight: Weight::Problem, id, what: what.into(), fix: Some(fix.into()) }
    }

    /// Tells it to a person.
    pub(super) fn tell(&self) {
        let (word, colour) = match self.weight {
            Weight::Fine => ("fine", Colour::Green),
            Weight::Note => ("note", Colour::Yellow),
            Weight::Problem => ("problem", Colour::Red),
        };
        screen::say(format!("  {} {}", paint(colour, &format!("{word:<8}")), self.what));
        if let Some(fix) = &self.fix {
            screen::say(format!("           {} {fix}", paint(Colour::Dim, "fix:")));
        }
    }
}

/// What is wrong with an installation, for the command that has just made it.
pub(super) fn problems(site: &Site) -> Vec<Report> {
    let ground = Ground::gather(site.clone());
    examine(&ground).into_iter().filter(|report| report.weight == Weight::Problem).collect()
}

fn examine(ground: &Ground) -> Vec<Report> {
    let mut reports = hooks::reports(ground);
    reports.extend(program::reports(ground));
    reports.extend(workflow::reports(ground));
    reports.extend(meaning::reports(ground));
    reports.extend(health::reports(ground));
    reports
}

impl Doctor {
    pub(super) fn run(self, project: Option<PathBuf>) -> ExitCode {
        let site = match Scope::default().site(project) {
            Ok(site) => site,
            Err(error) => {
                screen::complain(format!("error: {error}"));
                return ExitCode::from(FOUND);
            }
        };
        let ground = Ground::gather(site);
        let mut reports = examine(&ground);
        let tried = if self.live { live::tries(&ground) } else { Vec::new() };
        if self.live {
            reports.extend(live::reports(&tried));
        }
        let wrong = reports.iter().filter(|report| report.weight == Weight::Problem).count();
        if self.json {
            screen::json(&json!({
                "version": env!("CARGO_PKG_VERSION"), "home": ground.site.home, "problems": wrong, "reports": reports,
                "live": self.live.then_some(&tried),
            }));
        } else {
            let home = ground.site.home.to_string_lossy();
            screen::say(format!("modegate {} in {}", env!("CARGO_PKG_VERSION"), paint(Colour::Bold, &home)));
            tried.iter().for_each(live::Try::tell);
            reports.iter().for_each(Report::tell);
            screen::say(match wrong {
                0 => "no problem found".to_owned(),
                1 => "1 problem".to_owned(),
                many => format!("{many} problems"),
            });
        }
        if wrong > 0 { ExitCode::from(FOUND) } else { ExitCode::SUCCESS }
    }
}
