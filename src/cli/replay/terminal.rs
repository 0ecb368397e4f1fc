//! The summary that people read.

use super::super::screen::{Colour, paint, say};
use super::super::why::colour;
use super::report::Report;
use crate::replay::change::Change;
use crate::replay::retrial::Retrial;
use crate::verdict::{Finding, Truth};

/// How many differences are told in full.
const SHOWN: usize = 20;

/// Tells what came of it all.
pub(super) fn show(report: &Report) {
    let shown: Vec<&Retrial> = report.amiss.iter().take(SHOWN).collect();
    for retrial in &shown {
        show_retrial(retrial);
    }
    let more = report.count_amiss.saturating_sub(shown.len() as u64);
    if more > 0 {
        say(format!("… and {more} more; `--json` or `--html FILE` has them all\n"));
    }
    show_gates(report);
    show_news(report);
    show_tally(report);
}

fn show_retrial(retrial: &Retrial) {
    say(format!("{}  {}", paint(Colour::Bold, retrial.title()), retrial.event));
    say(paint(Colour::Dim, &format!("  session {}, {}:{}", retrial.session, retrial.file, retrial.line)));
    if let Some(expected) = retrial.expected.as_ref().filter(|_| retrial.met == Some(false)) {
        say(format!("  expected {expected}"));
    }
    if let Some(was) = &retrial.was {
        say(format!(
            "  before   {}{}",
            paint(colour(was.decision.verdict), was.decision.verdict.word()),
            behind(&was.decision.reason)
        ));
        was.decision.moves.iter().for_each(|text| say(format!("           → {text}")));
    }
    if retrial.change == Change::Undecidable {
        retrial.unrecorded.iter().for_each(|question| say(format!("  asks     {question} This was not recorded.")));
        say("");
        return;
    }
    say(format!("  now      {}{}", paint(colour(retrial.verdict), retrial.verdict.word()), behind(&retrial.reason)));
    retrial.moves.iter().for_each(|text| say(format!("           → {text}")));
    if retrial.was.as_ref().is_some_and(|was| was.decision.context != retrial.context) {
        retrial.context.iter().for_each(|text| say(format!("  tells    {text}")));
        retrial.was.iter().flat_map(|was| &was.decision.context).for_each(|text| say(format!("  told     {text}")));
    }
    if retrial.was.as_ref().is_some_and(|was| was.decision.messages != retrial.messages) {
        retrial.messages.iter().for_each(|text| say(format!("  shows    {text}")));
        retrial.was.iter().flat_map(|was| &was.decision.messages).for_each(|text| say(format!("  showed   {text}")));
    }
    let mut deciding: Vec<&Finding> =
        retrial.findings.iter().filter(|finding| retrial.gates.contains(&finding.gate)).collect();
    deciding.sort_by_key(|finding| std::cmp::Reverse(finding.verdict));
    for finding in deciding.iter().take(3) {
        show_finding("gate", finding);
    }
    let gone = |finding: &&Finding| {
        retrial.gates.contains(&finding.gate) && !deciding.iter().any(|other| other.gate == finding.gate)
    };
    for finding in retrial.was.iter().flat_map(|was| &was.findings).filter(gone).take(3) {
        show_finding("no more", finding);
    }
    for (question, answer) in retrial.facts.iter().take(5) {
        say(format!("  {} {question} {answer}", paint(Colour::Dim, "asked   ")));
    }
    say("");
}

fn show_finding(word: &str, finding: &Finding) {
    let phase = finding.phase.as_ref().map(|phase| format!(", phase {phase}")).unwrap_or_default();
    let truth = match finding.outcome.truth {
        Truth::Passes => "passes",
        Truth::Fails => "fails",
        Truth::Unknown => "is unknown",
    };
    let saw = if finding.outcome.saw.is_empty() { String::new() } else { format!(": {}", finding.outcome.saw) };
    say(format!("  {word:<8} {} [{} mode{phase}] {truth}{saw}", finding.gate, finding.mode));
}

fn behind(reason: &str) -> String {
    if reason.is_empty() { String::new() } else { format!(": {}", reason.replace('\n', " ")) }
}

/// Which gates make how many differences.
fn show_gates(report: &Report) {
    if report.gates.is_empty() {
        return;
    }
    say(paint(Colour::Bold, "by gate"));
    for ((title, gate), count) in &report.gates {
        say(format!("  {count:>6}  {title:<18} {gate}"));
    }
    say("");
}

fn show_tally(report: &Report) {
    let colour = if report.tally.is_fine() { Colour::Green } else { Colour::Red };
    say(paint(colour, &report.tally.sentence()));
    if report.foreign > 0 {
        let text = "decisions were recorded with other modes, or by another modegate";
        say(paint(Colour::Dim, &format!("{} {text}", report.foreign)));
    }
    if !report.laws.is_empty() && (report.foreign > 0 || !report.tally.is_fine()) {
        let laws: Vec<&str> = report.laws.iter().take(5).map(String::as_str).collect();
        say(paint(Colour::Dim, &format!("decided by {}", laws.join(", "))));
    }
    for (why, (count, first)) in &report.skipped {
        say(paint(Colour::Dim, &format!("passed over {count} x {why}, first at {first}")));
    }
}

/// What would have been refused in sessions that nobody has watched.
fn show_news(report: &Report) {
    let (open, refused): (Vec<&Retrial>, Vec<&Retrial>) = report.news.iter().partition(|retrial| retrial.is_open());
    for retrial in refused.iter().take(SHOWN) {
        say(format!("{}  {}", paint(colour(retrial.verdict), &retrial.outcome), retrial.event));
        say(paint(Colour::Dim, &format!("  session {}, {}:{}", retrial.session, retrial.file, retrial.line)));
        say(format!("  {}: {}", retrial.gates.join(", "), retrial.reason.replace('\n', " ")));
    }
    if refused.len() > SHOWN {
        say(format!("… and {} more; `--json` or `--html FILE` has them all", refused.len() - SHOWN));
    }
    if let Some(first) = open.first() {
        let more = if open.len() > 1 { format!(", and {} more", open.len() - 1) } else { String::new() };
        let unknown = first.findings.iter().find(|finding| finding.outcome.truth == Truth::Unknown);
        let saw = unknown.map(|finding| finding.outcome.saw.as_str()).unwrap_or_default();
        say(format!("{}  {}{more}: {saw}", paint(Colour::Yellow, "not to be told"), first.event));
    }
    if !report.new_gates.is_empty() {
        say(paint(Colour::Bold, "by gate"));
        report.new_gates.iter().for_each(|(gate, count)| say(format!("  {count:>6}  {gate}")));
    }
    if !report.news.is_empty() {
        say("");
    }
}
