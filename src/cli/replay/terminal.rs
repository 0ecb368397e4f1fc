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
    show_tally(report);
}

fn show_retrial(retrial: &Retrial) {
    let word = if retrial.met == Some(false) { "not as expected" } else { retrial.change.words() };
    say(format!("{}  {}", paint(Colour::Bold, word), retrial.event));
    say(paint(Colour::Dim, &format!("  session {}, {}:{}", retrial.session, retrial.file, retrial.line)));
    if let Some(expected) = retrial.expected.as_ref().filter(|_| retrial.met == Some(false)) {
        let words = expected.outcome.clone().or_else(|| expected.verdict.map(|verdict| verdict.word().to_owned()));
        let mut text = words.unwrap_or_default();
        expected.reason.iter().for_each(|reason| text = format!("{text}: {reason}"));
        expected.because.iter().for_each(|part| text = format!("{text}, because of {part:?}"));
        expected
            .moves
            .iter()
            .filter(|moves| !moves.is_empty())
            .for_each(|moves| text = format!("{text}; {}", moves.join(", ")));
        say(format!("  expected {text}"));
    }
    if let Some(was) = &retrial.was {
        say(format!("  before   {}{}", paint(colour(was.verdict), was.verdict.word()), behind(&was.reason)));
        was.moves.iter().for_each(|text| say(format!("           → {text}")));
    }
    if retrial.change == Change::Undecidable {
        retrial.unrecorded.iter().for_each(|question| say(format!("  asks     {question} This was not recorded.")));
        say("");
        return;
    }
    say(format!("  now      {}{}", paint(colour(retrial.verdict), retrial.verdict.word()), behind(&retrial.reason)));
    retrial.moves.iter().for_each(|text| say(format!("           → {text}")));
    if retrial.was.as_ref().is_some_and(|was| was.context != retrial.context) {
        retrial.context.iter().for_each(|text| say(format!("  tells    {text}")));
        retrial.was.iter().flat_map(|was| &was.context).for_each(|text| say(format!("  told     {text}")));
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
        Truth::Holds => "holds",
        Truth::Fails => "fails",
        Truth::Unknown => "is unknown",
    };
    let saw = &finding.outcome.saw;
    say(format!("  {word:<8} {} [{} mode{phase}] {truth}: {saw}", finding.gate, finding.mode));
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
    for ((change, gate), count) in &report.gates {
        say(format!("  {count:>6}  {:<18} {gate}", change.words()));
    }
    say("");
}

fn show_tally(report: &Report) {
    let tally = &report.tally;
    let events = plural(tally.events, "event");
    say(format!("{events} in {}, {} blocked", plural(tally.sessions, "session"), tally.blocked));
    let compared = tally.events - tally.new;
    if compared > 0 {
        let differing = tally.differing();
        let kinds = Change::ALL.iter().filter(|change| tally.of(**change) > 0);
        let kinds: Vec<String> = kinds.map(|change| format!("{} {}", tally.of(*change), change.words())).collect();
        let told = if kinds.is_empty() { String::new() } else { format!(": {}", kinds.join(", ")) };
        let word = if differing == 0 {
            paint(Colour::Green, "all are decided as before")
        } else {
            paint(Colour::Red, &format!("{differing} of {compared} are not decided as before"))
        };
        say(format!("{word}{told}"));
    }
    if tally.accepted > 0 {
        say(format!("{} of these are expected", tally.accepted));
    }
    if tally.met + tally.unmet > 0 {
        let word = if tally.unmet > 0 { paint(Colour::Red, "not met") } else { "not met".to_owned() };
        say(format!("{} met, {} {word}", plural(tally.met, "expectation"), tally.unmet));
    }
    if report.foreign > 0 && !report.has_drift() {
        say(paint(
            Colour::Dim,
            &format!("{} were recorded with other modes, or by another modegate", plural(report.foreign, "decision")),
        ));
    }
    for (why, (count, first)) in &report.skipped {
        say(paint(Colour::Dim, &format!("passed over {count} x {why}, first at {first}")));
    }
    if tally.problems > 0 {
        say(paint(Colour::Yellow, &format!("{}, told above", plural(tally.problems, "problem"))));
    }
}

/// A number of things.
pub(super) fn plural(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
