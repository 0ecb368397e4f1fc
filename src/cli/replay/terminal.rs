//! The summary on the terminal.

use super::super::screen::{TextStyle, print_line, styled};
use super::super::why::verdict_style;
use super::sinks::ReplaySink;
use super::summary::ReplaySummary;
use crate::mode::Catalogue;
use crate::printable::one_line;
use crate::replay::result::ReplayResult;
use crate::verdict::Truth;
use std::io;

/// How many results are shown in full.
const SHOWN: usize = 20;

/// How many sets of modes are named.
const MODES_SHOWN: usize = 5;

/// Prints the summary as text.
pub(super) struct Terminal;

impl ReplaySink for Terminal {
    fn close(self: Box<Self>, summary: &ReplaySummary, _: &Catalogue) -> io::Result<()> {
        for result in summary.failing.iter().take(SHOWN) {
            print_event(result, &styled(TextStyle::Bold, result.title()));
            for (label, text) in result.details() {
                print_line(format!("  {label:<8} {}", text.replace('\n', "\n           ")));
            }
            print_line("");
        }
        print_more(summary.failing_count.saturating_sub(SHOWN as u64), "\n");
        if !summary.gates.is_empty() {
            let rows = summary.gates.iter().map(|((title, gate), count)| (count, format!("{title:<18} {gate}")));
            print_table(rows);
            print_line("");
        }
        print_new_blocks(summary);
        print_totals(summary);
        Ok(())
    }
}

fn print_event(result: &ReplayResult, title: &str) {
    print_line(format!("{title}  {}", one_line(&result.event)));
    let place = format!("session {}, {}:{}", result.session, result.file, result.line);
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
        print_event(result, &styled(verdict_style(result.verdict), &result.outcome));
        let gates: Vec<&str> = result.gates.iter().map(AsRef::as_ref).collect();
        print_line(format!("  {}: {}", gates.join(", "), result.reason.replace('\n', " ")));
    }
    print_more(blocked.len().saturating_sub(SHOWN) as u64, "");
    if let Some(first) = undecided.first() {
        let more = if undecided.len() > 1 { format!(", and {} more", undecided.len() - 1) } else { String::new() };
        let unknown = first.findings.iter().find(|finding| finding.outcome.truth == Truth::Unknown);
        let saw = unknown.map(|finding| finding.outcome.saw.as_str()).unwrap_or_default();
        print_line(format!("{}  {}{more}: {saw}", styled(TextStyle::Yellow, "undecided"), first.event));
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
