//! A summary in Markdown: for the job of a CI system, and as a comment on a pull request.

use crate::replay::change::{DecisionChange, ReplayCounts};
use crate::replay::result::ReplayResult;
use base::printable;
use std::collections::BTreeMap;
use std::fmt::Write;

/// How many decisions are listed; a comment on GitHub has at most 65,536 characters.
const SHOWN: usize = 50;

const LONGEST: usize = 200;

const LONGEST_LIST: usize = 20_000;

/// The decisions that differ from the recorded ones, with their gates.
#[derive(Debug, Default)]
pub(crate) struct ChangedDecisions {
    count: usize,
    /// The first ones, as rows of a table.
    rows: Vec<String>,
    /// The reasons of the first ones, as items of a list.
    reasons: String,
    /// How many decisions of each gate are newly blocked, newly allowed and otherwise changed.
    gates: BTreeMap<String, [u64; 3]>,
}

impl ChangedDecisions {
    pub(crate) fn add(&mut self, result: &ReplayResult) {
        self.count += 1;
        for gate in &result.compared.gates {
            let [blocked, allowed, other] = self.gates.entry(gate.to_string()).or_default();
            *match result.compared.change {
                DecisionChange::NewlyBlocked => blocked,
                DecisionChange::NewlyAllowed => allowed,
                _ => other,
            } += 1;
        }
        if self.rows.len() < SHOWN {
            self.rows.push(row(result));
            let (event, place) = (cell(&result.event.words), cell(&result.place()));
            let details =
                result.details().into_iter().filter(|(label, _)| matches!(*label, "expected" | "before" | "now"));
            let details: Vec<String> = details.map(|(label, text)| format!("  - {label}: {}", cell(&text))).collect();
            let item = format!("- {event} ({place})\n{}\n", details.join("\n"));
            if self.reasons.len() + item.len() < LONGEST_LIST {
                self.reasons.push_str(&item);
            }
        }
    }

    pub(crate) fn render(&self, counts: &ReplayCounts) -> String {
        let mut text = format!("### modegate replay\n\n{}\n", counts.sentence());
        if self.count == 0 {
            return text;
        }
        if !self.gates.is_empty() {
            text.push_str("\n| gate | newly blocked | newly allowed | other changes |\n| --- | ---: | ---: | ---: |\n");
            for (gate, [blocked, allowed, other]) in &self.gates {
                let _ = writeln!(text, "| {} | {blocked} | {allowed} | {other} |", cell(gate));
            }
        }
        text.push_str("\n| change | event | before | now | gate | where |\n| --- | --- | --- | --- | --- | --- |\n");
        self.rows.iter().for_each(|row| text.push_str(row));
        if self.count > self.rows.len() {
            let _ = writeln!(text, "\n… and {} more", self.count - self.rows.len());
        }
        let _ = write!(text, "\n<details><summary>Reasons</summary>\n\n{}\n</details>\n", self.reasons);
        text
    }
}

fn row(result: &ReplayResult) -> String {
    let was = result.compared.was.as_ref().map_or("", |was| was.decision.verdict.word());
    let now = if result.compared.change == DecisionChange::Undecidable { "?" } else { result.now.verdict.word() };
    let accepted = if result.compared.met == Some(true) { " (accepted)" } else { "" };
    let change = format!("{}{accepted}", result.title());
    let cells = [&change, &result.event.words, was, now, &result.compared.gates.join(", "), &result.place()].map(cell);
    format!("| {} |\n", cells.join(" | "))
}

/// A text of others in a cell or an item: it must not end it, add markup, or notify people.
fn cell(text: &str) -> String {
    let mut short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    // A terminal that prints the report must not act on it.
    let short = printable::one_line(&short.replace(['\n', '\r'], " ")).into_owned();
    let escaped = short.replace('&', "&amp;").replace('<', "&lt;").replace('@', "&#64;").replace('|', "\\|");
    escaped.replace('`', "\\`").replace('[', "\\[")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::result::{ComparedDecision, NewDecision, ReplayedEvent};

    fn rendered(results: &[ReplayResult]) -> String {
        let mut changed = ChangedDecisions::default();
        for result in results {
            changed.add(result);
        }
        changed.render(&ReplayCounts::default())
    }

    #[test]
    fn the_table_survives_any_text() {
        let event = |words: &str| ReplayResult {
            event: ReplayedEvent { words: words.to_owned(), ..ReplayedEvent::default() },
            ..ReplayResult::default()
        };
        let text = rendered(&[event("Bash(a | b)\n<img> @team `x` [y](z)")]);
        assert!(text.contains("| Bash(a \\| b) &lt;img> &#64;team \\`x\\` \\[y](z) |"), "{text}");
        let text = rendered(&[event("\u{1b}[31m\u{7}\u{9b}\u{202e}")]);
        assert!(text.contains("| \\u001b\\[31m\\u0007\\u009b\\u202e |"), "{text}");
        let now = NewDecision { reason: "x".repeat(10_000), ..NewDecision::default() };
        let long = ReplayResult { now, ..event(&"<".repeat(10_000)) };
        let text = rendered(&vec![long; 200]);
        assert!(text.chars().count() < 65_536 && text.contains("… and 150 more"), "{}", text.len());
    }

    #[test]
    fn changes_are_counted_by_gate() {
        let gates = vec!["plan-is-written".into()];
        let changed = |change, met| {
            let compared = ComparedDecision { change, met, gates: gates.clone(), ..ComparedDecision::default() };
            ReplayResult { compared, ..ReplayResult::default() }
        };
        let text = rendered(&[
            changed(DecisionChange::NewlyBlocked, None),
            changed(DecisionChange::NewlyBlocked, None),
            changed(DecisionChange::NewlyAllowed, Some(true)),
        ]);
        assert!(text.contains("| plan-is-written | 2 | 1 | 0 |"), "{text}");
        assert!(text.contains("| newly allowed (accepted) |"), "{text}");
        assert_eq!(rendered(&[]), format!("### modegate replay\n\n{}\n", ReplayCounts::default().sentence()));
    }
}
