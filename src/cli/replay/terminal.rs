//! The summary that people read.

use super::super::screen::{TextStyle, print_line, styled};
use super::super::why::verdict_style;
use super::summary::ReplaySummary;
use crate::replay::change::DecisionChange;
use crate::replay::result::ReplayResult;
use crate::verdict::{Finding, Truth};

/// How many differences are told in full.
const SHOWN: usize = 20;

/// Tells what came of it all.
pub(super) fn show(report: &ReplaySummary) {
    let shown: Vec<&ReplayResult> = report.failing.iter().take(SHOWN).collect();
    for result in &shown {
        show_result(result);
    }
    let more = report.failing_count.saturating_sub(shown.len() as u64);
    if more > 0 {
        print_line(format!("… and {more} more; `--json` or `--html FILE` has them all\n"));
    }
    show_gates(report);
    show_new_blocks(report);
    show_tally(report);
}

fn show_result(result: &ReplayResult) {
    print_line(format!("{}  {}", styled(TextStyle::Bold, result.title()), result.event));
    print_line(styled(TextStyle::Dim, &format!("  session {}, {}:{}", result.session, result.file, result.line)));
    if let Some(expected) = result.expected.as_ref().filter(|_| result.met == Some(false)) {
        print_line(format!("  expected {expected}"));
    }
    if let Some(was) = &result.was {
        print_line(format!(
            "  before   {}{}",
            styled(verdict_style(was.decision.verdict), was.decision.verdict.word()),
            behind(&was.decision.reason)
        ));
        was.decision.moves.iter().for_each(|text| print_line(format!("           → {text}")));
    }
    if result.change == DecisionChange::Undecidable {
        result
            .unrecorded
            .iter()
            .for_each(|question| print_line(format!("  asks     {question} This was not recorded.")));
        print_line("");
        return;
    }
    print_line(format!(
        "  now      {}{}",
        styled(verdict_style(result.verdict), result.verdict.word()),
        behind(&result.reason)
    ));
    result.moves.iter().for_each(|text| print_line(format!("           → {text}")));
    if result.was.as_ref().is_some_and(|was| was.decision.context != result.context) {
        result.context.iter().for_each(|text| print_line(format!("  tells    {text}")));
        result
            .was
            .iter()
            .flat_map(|was| &was.decision.context)
            .for_each(|text| print_line(format!("  told     {text}")));
    }
    if result.was.as_ref().is_some_and(|was| was.decision.messages != result.messages) {
        result.messages.iter().for_each(|text| print_line(format!("  shows    {text}")));
        result
            .was
            .iter()
            .flat_map(|was| &was.decision.messages)
            .for_each(|text| print_line(format!("  showed   {text}")));
    }
    let mut deciding: Vec<&Finding> =
        result.findings.iter().filter(|finding| result.gates.contains(&finding.gate)).collect();
    deciding.sort_by_key(|finding| std::cmp::Reverse(finding.verdict));
    for finding in deciding.iter().take(3) {
        show_finding("gate", finding);
    }
    let gone = |finding: &&Finding| {
        result.gates.contains(&finding.gate) && !deciding.iter().any(|other| other.gate == finding.gate)
    };
    for finding in result.was.iter().flat_map(|was| &was.findings).filter(gone).take(3) {
        show_finding("no more", finding);
    }
    for (question, answer) in result.facts.iter().take(5) {
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
fn show_gates(report: &ReplaySummary) {
    if report.gates.is_empty() {
        return;
    }
    print_line(styled(TextStyle::Bold, "by gate"));
    for ((title, gate), count) in &report.gates {
        print_line(format!("  {count:>6}  {title:<18} {gate}"));
    }
    print_line("");
}

fn show_tally(report: &ReplaySummary) {
    let colour = if report.counts.is_fine() { TextStyle::Green } else { TextStyle::Red };
    print_line(styled(colour, &report.counts.sentence()));
    if report.other_modes > 0 {
        let text = "decisions were recorded with other modes, or by another modegate";
        print_line(styled(TextStyle::Dim, &format!("{} {text}", report.other_modes)));
    }
    if !report.mode_sources.is_empty() && (report.other_modes > 0 || !report.counts.is_fine()) {
        let mode_sources: Vec<&str> = report.mode_sources.iter().take(5).map(String::as_str).collect();
        print_line(styled(TextStyle::Dim, &format!("decided by {}", mode_sources.join(", "))));
    }
    for (why, (count, first)) in &report.skipped {
        print_line(styled(TextStyle::Dim, &format!("passed over {count} x {why}, first at {first}")));
    }
}

/// What would have been refused in sessions that nobody has watched.
fn show_new_blocks(report: &ReplaySummary) {
    let (open, refused): (Vec<&ReplayResult>, Vec<&ReplayResult>) =
        report.new_blocks.iter().partition(|result| result.is_open());
    for result in refused.iter().take(SHOWN) {
        print_line(format!("{}  {}", styled(verdict_style(result.verdict), &result.outcome), result.event));
        print_line(styled(TextStyle::Dim, &format!("  session {}, {}:{}", result.session, result.file, result.line)));
        print_line(format!("  {}: {}", result.gates.join(", "), result.reason.replace('\n', " ")));
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
    if !report.new_blocks.is_empty() {
        print_line("");
    }
}
