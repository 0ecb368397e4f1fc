//! `modegate why`: the last decision as a tree of gates and checks with what was seen.

use super::screen::{self, TextStyle, styled};
use super::{EXIT_FAILURE, places};
use crate::engine::outcome;
use crate::event::Event;
use crate::journal::JournalLine;
use crate::journal_files;
use crate::mode::BASE;
use crate::paths::ProjectPaths;
use crate::verdict::{Finding, Outcome, Truth, Verdict};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub(super) struct Why {
    /// The session [default: the one that was active last]
    #[arg(long)]
    session: Option<String>,
    /// The last event that was blocked, instead of the last that a gate heard
    #[arg(long)]
    blocked: bool,
    /// Print the journal's line as JSON
    #[arg(long)]
    json: bool,
}

impl Why {
    pub(super) fn run(self, project: Option<PathBuf>) -> ExitCode {
        let places = places(project);
        let Some(path) = self.session.as_deref().map(|id| places.journal(id)).or_else(|| latest(&places)) else {
            screen::print_error(format!("error: no session is recorded in {}", places.home.display()));
            return ExitCode::from(EXIT_FAILURE);
        };
        let mut lines = journal_files::lines(&path);
        let wanted = |line: &JournalLine| {
            // That the base has no objection to one of many commands is nothing to ask about.
            let told = |finding: &Finding| finding.mode != BASE || finding.verdict > Verdict::Pass;
            if self.blocked { line.decision.verdict >= Verdict::Block } else { line.findings.iter().any(told) }
        };
        let Some(at) = lines.iter().rposition(wanted) else {
            if self.json {
                screen::print_json(&serde_json::Value::Null);
            }
            screen::print_error("no gate has heard an event of this session yet");
            return ExitCode::from(EXIT_FAILURE);
        };
        let line = lines.swap_remove(at);
        if self.json {
            screen::print_json(&line);
        } else {
            show(&line);
        }
        ExitCode::SUCCESS
    }
}

/// The journal that was written last.
pub(super) fn latest(places: &ProjectPaths) -> Option<PathBuf> {
    let journals = journal_files::journals(&places.sessions()).into_iter();
    journals.max_by_key(|path| std::fs::metadata(path).and_then(|meta| meta.modified()).ok())
}

fn show(line: &JournalLine) {
    let event = Event::from_value(line.event.clone());
    let word = outcome(&line.decision, &line.findings);
    let what = event.map(|event| event.described()).unwrap_or_default();
    screen::print_line(format!("{what} was {}", styled(colour(line.decision.verdict), word)));
    screen::print_line(styled(
        TextStyle::Dim,
        &format!("session {}, at {}, decided in {} µs", line.before.id, line.at, line.us),
    ));
    for (question, answer) in &line.asked {
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
    let released = if finding.unmet { " (released unmet)" } else { "" };
    let word = styled(colour(finding.verdict), finding.verdict.word());
    screen::print_line(format!(
        "└ {} [{} mode{phase}]: {word}{released}",
        styled(TextStyle::Bold, &finding.gate),
        finding.mode
    ));
    show_outcome(&finding.outcome, 1);
    if !finding.reason.is_empty() {
        screen::print_line(format!("    says: {}", finding.reason));
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

pub(super) fn colour(verdict: Verdict) -> TextStyle {
    match verdict {
        Verdict::Pass | Verdict::Observe => TextStyle::Green,
        Verdict::Warn | Verdict::Ask => TextStyle::Yellow,
        Verdict::Block | Verdict::Stop => TextStyle::Red,
    }
}
