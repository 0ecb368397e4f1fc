//! `modegate why`: one decision as a tree of gates, checks and evidence.

use super::cli_error::CliError;
use super::screen::{self, TextStyle, styled};
use super::session_lookup::{find_session, last_journal, no_session};
use super::{CliResult, local_time, places};
use crate::engine::outcome;
use crate::facts::verdict::{Finding, Outcome, Truth, Verdict};
use crate::facts::{Question, QuestionTopic};
use crate::host::event::Event;
use crate::policy::mode::BASE;
use crate::replay::report::summary::verdict_style;
use crate::state::journal::JournalLine;
use crate::state::journal_files;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
#[command(
    after_help = "Explains the last event that a gate of a mode checked, or that the base mode objected to.\n\nExamples:\n  modegate why\n  modegate why --blocked --session 5f1c\n  modegate why --all"
)]
pub(super) struct Why {
    /// Session id or a prefix of it, or `last` [default: last]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Explain the last blocked event instead
    #[arg(long)]
    blocked: bool,
    /// Also show the base gates that passed, and every question about the command line
    #[arg(long)]
    all: bool,
    /// Print the journal line as JSON
    #[arg(long)]
    json: bool,
}

impl Why {
    pub(super) fn run(self, project: Option<PathBuf>) -> CliResult {
        let places = places(project);
        let path = match &self.session {
            Some(given) => Some(places.journal(&find_session(&places, given)?)),
            None => last_journal(&places),
        };
        let mut lines = journal_files::lines(&path.ok_or_else(|| no_session(&places))?);
        let wanted = |line: &JournalLine| {
            if self.blocked { line.decision.verdict >= Verdict::Block } else { line.findings.iter().any(is_notable) }
        };
        let kind = if self.blocked { "no event was blocked" } else { "no gate has matched an event" };
        let missing =
            || CliError::failure(format!("{kind} in this session")).hint("run `modegate log` to list all events");
        let at = lines.iter().rposition(wanted).ok_or_else(missing)?;
        let line = lines.swap_remove(at);
        if self.json {
            screen::print_json(&line);
        } else {
            show(&line, self.all);
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Whether a finding is worth explaining: the base mode checks every event, and most of its gates pass.
fn is_notable(finding: &Finding) -> bool {
    finding.mode != BASE || finding.verdict > Verdict::Pass
}

fn show(line: &JournalLine, show_all: bool) {
    let event = Event::from_value(line.event.clone());
    let word = outcome(&line.decision, &line.findings);
    let what = event.map(|event| screen::one_line(&event.summary())).unwrap_or_default();
    let word = if line.decision.verdict == Verdict::Ask { "needed approval".to_owned() } else { format!("was {word}") };
    screen::print_line(format!("{what} {}", styled(verdict_style(line.decision.verdict), &word)));
    let details = format!("session {}, {}, decided in {}", line.before.id, local_time(&line.at), duration(line.us));
    screen::print_line(styled(TextStyle::Dim, &details));
    let is_shown =
        |question: &Question| !question.is_about_words() && (show_all || question.topic() != QuestionTopic::ToolCall);
    for (question, answer) in line.asked.iter().filter(|(question, _)| is_shown(question)) {
        screen::print_line(format!("{} {question} {answer}", styled(TextStyle::Dim, "asked")));
    }
    let (shown, passed): (Vec<&Finding>, Vec<&Finding>) =
        line.findings.iter().partition(|finding| show_all || is_notable(finding));
    shown.into_iter().for_each(show_finding);
    if !passed.is_empty() {
        let count = screen::counted(passed.len(), "base gate");
        screen::print_line(styled(TextStyle::Dim, &format!("{count} passed, use --all")));
    }
    for text in &line.decision.moves {
        screen::print_line(format!("→ {text}"));
    }
}

fn show_finding(finding: &Finding) {
    let phase = finding.phase.as_ref().map(|phase| format!(", phase {phase}")).unwrap_or_default();
    let unmet = if finding.unmet { " (not met, allowed after repeated blocks)" } else { "" };
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
    show_parts(outcome, outcome, depth + 1);
}

/// Shows the parts of an outcome; one that says the same as the line above it is left out, but not its own parts.
fn show_parts(outcome: &Outcome, above: &Outcome, depth: usize) {
    let is_repeated = |part: &&Outcome| part.truth == above.truth && part.saw == above.saw;
    if let Some(label) = composition(outcome).filter(|_| !outcome.parts.iter().all(|part| is_repeated(&part))) {
        screen::print_line(format!("{}{label}", "  ".repeat(depth)));
    }
    for (index, part) in outcome.parts.iter().enumerate() {
        if is_repeated(&part) {
            show_parts(part, above, depth);
        } else if !outcome.parts.iter().take(index).any(|earlier| earlier == part) {
            show_outcome(part, depth);
        }
    }
}

/// How an outcome is composed of its parts, where their results show it.
fn composition(outcome: &Outcome) -> Option<&'static str> {
    let has = |truth| outcome.parts.iter().any(|part| part.truth == truth);
    if let [part] = outcome.parts.as_slice() {
        return (part.truth != outcome.truth).then_some("not:");
    }
    let (passes, fails, unknown) = (has(Truth::Passes), has(Truth::Fails), has(Truth::Unknown));
    let is_any = match outcome.truth {
        Truth::Passes => fails || unknown,
        Truth::Unknown => fails && !passes,
        Truth::Fails => false,
    };
    let is_all = passes || outcome.truth == Truth::Fails && unknown;
    if is_any { Some("any of:") } else { is_all.then_some("all of:") }
}

fn duration(us: u64) -> String {
    if us < 1000 { format!("{us} µs") } else { format!("{}.{} ms", us / 1000, us % 1000 / 100) }
}
