//! The results of all inputs together, and how the terminal shows them.

use crate::facts::verdict::{Truth, Verdict};
use crate::replay::change::{DecisionChange, ReplayCounts};
use crate::replay::collector::InputTotals;
use crate::replay::result::{ReplayProblem, ReplayResult};
use base::printable::one_line;
use base::screen::{TextStyle, print_line, styled};
use std::collections::{BTreeMap, BTreeSet};

/// How many results and problems are kept, so that memory does not grow with the corpus.
const KEPT: usize = 2_000;

const SHOWN: usize = 20;

const MODES_SHOWN: usize = 5;

/// The results of all inputs together.
#[derive(Default)]
pub(crate) struct ReplaySummary {
    pub(crate) counts: ReplayCounts,
    pub(crate) failing: Vec<ReplayResult>,
    pub(crate) failing_count: u64,
    /// The number of failing results by title and gate.
    pub(crate) gates: BTreeMap<(&'static str, String), u64>,
    pub(crate) other_modes: u64,
    /// Skipped records by reason: how many, and the first place.
    pub(crate) skipped: BTreeMap<String, (u64, String)>,
    /// The first results that would be blocked or asked and were never decided before.
    pub(crate) new_blocks: Vec<ReplayResult>,
    pub(crate) new_block_gates: BTreeMap<String, u64>,
    pub(crate) problems: Vec<ReplayProblem>,
    pub(crate) modes: BTreeSet<String>,
    sessions: BTreeSet<u64>,
}

impl ReplaySummary {
    pub(crate) fn event(&mut self, result: ReplayResult) {
        let kept = if result.is_failing() {
            self.failing_count += 1;
            for gate in &result.compared.gates {
                *self.gates.entry((result.title(), gate.to_string())).or_default() += 1;
            }
            &mut self.failing
        } else if result.is_new_block() {
            for gate in result.compared.gates.iter().filter(|_| result.compared.change == DecisionChange::New) {
                *self.new_block_gates.entry(gate.to_string()).or_default() += 1;
            }
            &mut self.new_blocks
        } else {
            return;
        };
        if kept.len() < KEPT {
            kept.push(result);
        }
    }

    pub(crate) fn problem(&mut self, problem: ReplayProblem) {
        self.counts.problems += u64::from(!problem.unmet);
        self.counts.unmet += u64::from(problem.unmet);
        if self.problems.len() < KEPT {
            self.problems.push(problem);
        }
    }

    pub(crate) fn skipped(&mut self, first: &ReplayProblem, count: u64) {
        let place = || format!("{}:{}", first.file, first.line);
        self.skipped.entry(first.what.clone()).or_insert_with(|| (0, place())).0 += count;
    }

    pub(crate) fn end(&mut self, totals: &InputTotals) {
        self.counts.add(&totals.counts);
        self.other_modes += totals.other_modes;
        self.modes.extend(totals.modes.iter().cloned());
        // One session may be in several files.
        self.sessions.extend(&totals.sessions);
        self.counts.sessions = self.sessions.len() as u64;
    }

    pub(crate) fn print(&self) {
        for result in self.failing.iter().take(SHOWN) {
            print_event(result, &styled(TextStyle::Bold, result.title()));
            for (label, text) in result.details() {
                print_line(format!("  {label:<8} {}", text.replace('\n', "\n           ")));
            }
            print_line("");
        }
        print_more(self.failing_count.saturating_sub(SHOWN as u64), "\n");
        if !self.gates.is_empty() {
            print_table(self.gates.iter().map(|((title, gate), count)| (count, format!("{title:<18} {gate}"))));
            print_line("");
        }
        print_new_blocks(self);
        print_totals(self);
    }
}

pub(crate) fn verdict_style(verdict: Verdict) -> TextStyle {
    match verdict {
        Verdict::Pass | Verdict::Observe => TextStyle::Green,
        Verdict::Warn | Verdict::Ask => TextStyle::Yellow,
        Verdict::Block | Verdict::Stop => TextStyle::Red,
    }
}

fn print_event(result: &ReplayResult, title: &str) {
    print_line(format!("{title}  {}", one_line(&result.event.words)));
    let place = format!("session {}, {}:{}", result.event.session, result.event.file, result.event.line);
    print_line(styled(TextStyle::Dim, &format!("  {}", one_line(&place))));
}

fn print_more(count: u64, end: &str) {
    if count > 0 {
        print_line(format!("… and {count} more; see all with `--json` or `--html FILE`{end}"));
    }
}

fn print_table<'a>(rows: impl Iterator<Item = (&'a u64, String)>) {
    print_line(styled(TextStyle::Bold, "by gate"));
    rows.for_each(|(count, text)| print_line(format!("  {count:>6}  {text}")));
}

/// Prints what would be blocked in sessions without recorded decisions.
fn print_new_blocks(summary: &ReplaySummary) {
    if summary.new_blocks.is_empty() {
        return;
    }
    let (undecided, blocked): (Vec<&ReplayResult>, Vec<&ReplayResult>) =
        summary.new_blocks.iter().partition(|result| result.is_undecided());
    for result in blocked.iter().take(SHOWN) {
        print_event(result, &styled(verdict_style(result.now.verdict), &result.now.outcome));
        let gates: Vec<&str> = result.compared.gates.iter().map(AsRef::as_ref).collect();
        print_line(format!("  {}: {}", gates.join(", "), result.now.reason.replace('\n', " ")));
    }
    print_more(blocked.len().saturating_sub(SHOWN) as u64, "");
    if let Some(first) = undecided.first() {
        let more = if undecided.len() > 1 { format!(", and {} more", undecided.len() - 1) } else { String::new() };
        let unknown = first.findings.iter().find(|finding| finding.outcome.truth == Truth::Unknown);
        let saw = unknown.map(|finding| &*finding.outcome.saw).unwrap_or_default();
        print_line(format!("{}  {}{more}: {saw}", styled(TextStyle::Yellow, "undecided"), first.event.words));
    }
    if !summary.new_block_gates.is_empty() {
        print_table(summary.new_block_gates.iter().map(|(gate, count)| (count, gate.clone())));
    }
    print_line("");
}

fn print_totals(summary: &ReplaySummary) {
    let is_fine = summary.counts.is_fine();
    let style = if is_fine { TextStyle::Green } else { TextStyle::Red };
    print_line(styled(style, &summary.counts.sentence()));
    let dim = |text: String| print_line(styled(TextStyle::Dim, &text));
    if summary.other_modes > 0 {
        dim(format!("{} decisions were recorded with other modes or another modegate", summary.other_modes));
    }
    if !summary.modes.is_empty() && (summary.other_modes > 0 || !is_fine) {
        let modes: Vec<&str> = summary.modes.iter().take(MODES_SHOWN).map(String::as_str).collect();
        dim(format!("decided by {}", modes.join(", ")));
    }
    for (why, (count, first)) in &summary.skipped {
        dim(format!("skipped {count} x {why}, first at {first}"));
    }
}
