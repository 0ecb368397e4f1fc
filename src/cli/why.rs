//! `modegate why`: one decision as a tree of gates, checks and evidence.

use super::cli_error::CliError;
use super::screen::{self, TextStyle, local_time, styled};
use super::session_lookup::{find_session, last_journal};
use super::{CliResult, places};
use crate::engine::outcome;
use crate::event::Event;
use crate::journal::JournalLine;
use crate::journal_files;
use crate::mode::BASE;
use crate::verdict::{Finding, Outcome, Truth, Verdict};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
#[command(after_help = "Examples:\n  modegate why\n  modegate why --blocked --session 5f1c")]
pub(super) struct Why {
    /// Session: id, a prefix of it, or `last` [default: last]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Show the last blocked event instead of the last event with a gate
    #[arg(long)]
    blocked: bool,
    /// Print the journal line as JSON
    #[arg(long)]
    pub(super) json: bool,
}

impl Why {
    pub(super) fn run(self, project: Option<PathBuf>) -> CliResult {
        let places = places(project);
        let path = match &self.session {
            Some(given) => Some(places.journal(&find_session(&places, given)?)),
            None => last_journal(&places),
        };
        let none = || {
            CliError::failure(format!("no session is recorded in {}", places.home.display()))
                .hint("start Claude Code in this project, or give the project with `--project DIR`")
        };
        let mut lines = journal_files::lines(&path.ok_or_else(none)?);
        // A base gate that passes is not worth explaining: the base mode checks every event.
        let matters = |finding: &Finding| finding.mode != BASE || finding.verdict > Verdict::Pass;
        let wanted = |line: &JournalLine| {
            if self.blocked { line.decision.verdict >= Verdict::Block } else { line.findings.iter().any(matters) }
        };
        let kind = if self.blocked { "no event was blocked" } else { "no gate has matched an event" };
        let missing =
            || CliError::failure(format!("{kind} in this session")).hint("run `modegate log` to list all events");
        let at = lines.iter().rposition(wanted).ok_or_else(missing)?;
        let line = lines.swap_remove(at);
        if self.json {
            screen::print_json(&line);
        } else {
            show(&line);
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn show(line: &JournalLine) {
    let event = Event::from_value(line.event.clone());
    let word = outcome(&line.decision, &line.findings);
    let what = event.map(|event| screen::one_line(&event.described())).unwrap_or_default();
    screen::print_line(format!("{what} was {}", styled(verdict_style(line.decision.verdict), word)));
    let details = format!("session {}, {}, decided in {} µs", line.before.id, local_time(&line.at), line.us);
    screen::print_line(styled(TextStyle::Dim, &details));
    for (question, answer) in line.asked.iter().filter(|(question, _)| !question.is_about_words()) {
        screen::print_line(format!("{} {question} {answer}", styled(TextStyle::Dim, "asked")));
    }
    for finding in &line.findings {
        show_finding(finding);
    }
    for text in &line.decision.moves {
        screen::print_line(format!("→ {text}"));
    }
}

fn show_finding(finding: &Finding) {
    let phase = finding.phase.as_ref().map(|phase| format!(", phase {phase}")).unwrap_or_default();
    let unmet = if finding.unmet { " (allowed unmet)" } else { "" };
    let word = styled(verdict_style(finding.verdict), finding.verdict.word());
    screen::print_line(format!(
        "└ {} [{} mode{phase}]: {word}{unmet}",
        styled(TextStyle::Bold, &finding.gate),
        finding.mode
    ));
    show_outcome(&finding.outcome, 1);
    if !finding.reason.is_empty() {
        screen::print_line(format!("    reason: {}", finding.reason));
    }
}

fn show_outcome(outcome: &Outcome, depth: usize) {
    let word = match outcome.truth {
        Truth::Passes => styled(TextStyle::Green, "passes"),
        Truth::Fails => styled(TextStyle::Red, "fails"),
        Truth::Unknown => styled(TextStyle::Yellow, "unknown"),
    };
    screen::print_line(format!("{}└ {word}: {}", "  ".repeat(depth), outcome.saw));
    outcome.parts.iter().for_each(|part| show_outcome(part, depth + 1));
}

/// The color of a verdict.
pub(super) fn verdict_style(verdict: Verdict) -> TextStyle {
    match verdict {
        Verdict::Pass | Verdict::Observe => TextStyle::Green,
        Verdict::Warn | Verdict::Ask => TextStyle::Yellow,
        Verdict::Block | Verdict::Stop => TextStyle::Red,
    }
}
