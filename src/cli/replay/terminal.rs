//! The summary that people read.

use super::super::screen::{TextStyle, print_line, styled};
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
        print_line(format!("… and {more} more; `--json` or `--html FILE` has them all\n"));
    }
    show_gates(report);
    show_news(report);
    show_tally(report);
}

fn show_retrial(retrial: &Retrial) {
    print_line(format!("{}  {}", styled(TextStyle::Bold, retrial.title()), retrial.event));
    print_line(styled(TextStyle::Dim, &format!("  session {}, {}:{}", retrial.session, retrial.file, retrial.line)));
    if let Some(expected) = retrial.expected.as_ref().filter(|_| retrial.met == Some(false)) {
        print_line(format!("  expected {expected}"));
    }
    if let Some(was) = &retrial.was {
        print_line(format!(
            "  before   {}{}",
            styled(colour(was.decision.verdict), was.decision.verdict.word()),
            behind(&was.decision.reason)
        ));
        was.decision.moves.iter().for_each(|text| print_line(format!("           → {text}")));
    }
    if retrial.change == Change::Undecidable {
        retrial
            .unrecorded
            .iter()
            .for_each(|question| print_line(format!("  asks     {question} This was not recorded.")));
        print_line("");
        return;
    }
    print_line(format!(
        "  now      {}{}",
        styled(colour(retrial.verdict), retrial.verdict.word()),
        behind(&retrial.reason)
    ));
    retrial.moves.iter().for_each(|text| print_line(format!("           → {text}")));
    if retrial.was.as_ref().is_some_and(|was| was.decision.context != retrial.context) {
        retrial.context.iter().for_each(|text| print_line(format!("  tells    {text}")));
        retrial
            .was
            .iter()
            .flat_map(|was| &was.decision.context)
            .for_each(|text| print_line(format!("  told     {text}")));
    }
    if retrial.was.as_ref().is_some_and(|was| was.decision.messages != retrial.messages) {
        retrial.messages.iter().for_each(|text| print_line(format!("  shows    {text}")));
        retrial
            .was
            .iter()
            .flat_map(|was| &was.decision.messages)
            .for_each(|text| print_line(format!("  showed   {text}")));
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
        print_line(format!("  {} {question} {answer}", styled(TextStyle::Dim, "asked   ")));
    }
    print_line("");
}

fn show_finding(word: &str, finding: &Finding) {
    let phase = finding.phase.as_ref().map(|phase| format!(", phase {phase}")).unwrap_or_default();
    let truth = match finding.outcome.truth {
        Truth::Passes => "passes",
        Truth::Fails => "fails",
        Truth::Unknown => "is unknown",
    };
    let saw = if finding.outcome.saw.is_empty() { String::new() } else { format!(": {}", finding.outcome.saw) };
    print_line(format!("  {word:<8} {} [{} mode{phase}] {truth}{saw}", finding.gate, finding.mode));
}

fn behind(reason: &str) -> String {
    if reason.is_empty() { String::new() } else { format!(": {}", reason.replace('\n', " ")) }
}

/// Which gates make how many differences.
fn show_gates(report: &Report) {
    if report.gates.is_empty() {
        return;
    }
    print_line(styled(TextStyle::Bold, "by gate"));
    for ((title, gate), count) in &report.gates {
        print_line(format!("  {count:>6}  {title:<18} {gate}"));
    }
    print_line("");
}

fn show_tally(report: &Report) {
    let colour = if report.tally.is_fine() { TextStyle::Green } else { TextStyle::Red };
    print_line(styled(colour, &report.tally.sentence()));
    if report.foreign > 0 {
        let text = "decisions were recorded with other modes, or by another modegate";
        print_line(styled(TextStyle::Dim, &format!("{} {text}", report.foreign)));
    }
    if !report.laws.is_empty() && (report.foreign > 0 || !report.tally.is_fine()) {
        let laws: Vec<&str> = report.laws.iter().take(5).map(String::as_str).collect();
        print_line(styled(TextStyle::Dim, &format!("decided by {}", laws.join(", "))));
    }
    for (why, (count, first)) in &report.skipped {
        print_line(styled(TextStyle::Dim, &format!("passed over {count} x {why}, first at {first}")));
    }
}

/// What would have been refused in sessions that nobody has watched.
fn show_news(report: &Report) {
    let (open, refused): (Vec<&Retrial>, Vec<&Retrial>) = report.news.iter().partition(|retrial| retrial.is_open());
    for retrial in refused.iter().take(SHOWN) {
        print_line(format!("{}  {}", styled(colour(retrial.verdict), &retrial.outcome), retrial.event));
        print_line(styled(
            TextStyle::Dim,
            &format!("  session {}, {}:{}", retrial.session, retrial.file, retrial.line),
        ));
        print_line(format!("  {}: {}", retrial.gates.join(", "), retrial.reason.replace('\n', " ")));
    }
    if refused.len() > SHOWN {
        print_line(format!("… and {} more; `--json` or `--html FILE` has them all", refused.len() - SHOWN));
    }
    if let Some(first) = open.first() {
        let more = if open.len() > 1 { format!(", and {} more", open.len() - 1) } else { String::new() };
        let unknown = first.findings.iter().find(|finding| finding.outcome.truth == Truth::Unknown);
        let saw = unknown.map(|finding| finding.outcome.saw.as_str()).unwrap_or_default();
        print_line(format!("{}  {}{more}: {saw}", styled(TextStyle::Yellow, "not to be told"), first.event));
    }
    if !report.new_gates.is_empty() {
        print_line(styled(TextStyle::Bold, "by gate"));
        report.new_gates.iter().for_each(|(gate, count)| print_line(format!("  {count:>6}  {gate}")));
    }
    if !report.news.is_empty() {
        print_line("");
    }
}
