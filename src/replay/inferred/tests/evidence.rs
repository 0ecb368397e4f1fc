//! How many test runs of a generated corpus are read, and how many of them wrongly.

use super::InferredFacts;
use super::corpus::{Sample, Truth, samples};
use crate::engine::decide;
use crate::facts::Facts;
use crate::facts::session::{ModeState, Session};
use crate::host::event::Event;
use crate::policy::mode::Catalogue;
use std::collections::BTreeMap;

/// As many as in the sessions whose shapes the corpus has.
const COUNT: usize = 1816;

/// Each shape with the number of its runs, of those that exit codes and a short list of commands show, of those that are
/// read, and of those that are read wrongly.
const RATES: &str = "\
| alone | 613 | 243 | 613 | 0 |
| hidden exit code | 114 | 0 | 114 | 0 |
| piped to `awk` | 2 | 0 | 0 | 0 |
| piped to `grep` | 103 | 0 | 96 | 0 |
| piped to `head` | 77 | 0 | 74 | 0 |
| piped to `tail` | 795 | 0 | 795 | 0 |
| redirected | 42 | 18 | 42 | 0 |
| with a commit | 70 | 25 | 70 | 0 |
| total | 1816 | 286 | 1804 | 0 |
";

/// What the manual says about them.
const SENTENCE: &str = "Of 1,816 runs in the shapes of real sessions, 1,804 are read, and none wrongly";

/// What the code mode has seen of a run.
fn seen(event: &serde_json::Value, modes: &Catalogue) -> Option<Truth> {
    let event = Event::from_value(event.clone()).unwrap();
    let code = ModeState { is_active: true, phase: Some("failing_test".to_owned()), ..ModeState::default() };
    let session = Session {
        id: "s1".into(),
        modes: BTreeMap::from([("code_mode".to_owned(), std::sync::Arc::new(code))]),
        ..Session::default()
    };
    let facts = InferredFacts::default();
    let decided = decide(&event, modes, &session, &Facts::new(&facts.at(&event, None)));
    let state = decided.session.mode_state("code_mode").unwrap().clone();
    let has = |mark: &str| state.seen.contains_key(mark);
    match () {
        () if has("{test}:passed") => Some(Truth::Passed),
        () if has("{test}:failed") => Some(Truth::Failed),
        () => None,
    }
}

#[derive(Default)]
struct ShapeCounts {
    all: usize,
    before: usize,
    read: usize,
    wrong: usize,
}

#[test]
fn most_runs_are_read_and_none_wrongly() {
    let modes = Catalogue::compose(None, &[]);
    // The total comes last.
    let mut table: BTreeMap<(bool, &str), ShapeCounts> = BTreeMap::new();
    let mut wrong = Vec::new();
    for Sample { event, truth, shape, listed, own } in samples(COUNT) {
        let seen = seen(&event, &modes);
        let is_right = seen == Some(truth) || seen.is_none() && truth == Truth::Nothing;
        for row in [(false, shape), (true, "total")] {
            let counts = table.entry(row).or_default();
            counts.all += 1;
            counts.before += usize::from(listed && own && truth != Truth::Nothing);
            counts.read += usize::from(is_right);
            counts.wrong += usize::from(!is_right && seen.is_some());
        }
        if !is_right && seen.is_some() {
            wrong.push(format!("{truth:?} read as {seen:?}: {event}"));
        }
    }
    let rows: Vec<String> = table
        .iter()
        .map(|((_, shape), row)| format!("| {shape} | {} | {} | {} | {} |\n", row.all, row.before, row.read, row.wrong))
        .collect();
    let rows = rows.concat();
    assert_eq!(wrong, Vec::<String>::new(), "\n{rows}");
    let total = &table[&(true, "total")];
    assert!(total.read * 100 >= total.all * 95, "\n{rows}");
    assert_eq!(rows, RATES, "the counts have changed:\n{rows}");
    let page = include_str!("../../../../docs/checks.md");
    assert!(page.contains(SENTENCE), "docs/checks.md lacks: {SENTENCE}");
}
