//! The results in tests/host/results.md: one row per test, one column per version of the client. docs/dev/hosts.md has a
//! summary with one row per topic.
//!
//! `tests/host/run --matrix` writes both. It adds the results of the runs since the last time and keeps the others, so
//! a run of one test or one version is enough after a change. A test that is new is "not run".

use crate::case::Case;
use crate::client::Version;
use crate::results::{self, Passed};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

const RESULTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/host/results.md");
const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/dev/hosts.md");
const BEGIN: &str = "<!-- results: written by `tests/host/run --matrix` -->\n\n";
const END: &str = "\n<!-- end of results -->";

/// Tables whose last column names the test of each row.
const WAYS: [&str; 2] = ["\n## Ways an agent can start\n", "\n## Ways a session can begin\n"];

/// The results by version, newest first.
#[derive(Default)]
struct Matrix(Vec<(Version, Passed)>);

/// Writes the results of the runs since the last time, and their summary.
pub fn update(cases: &[Case]) {
    let document = std::fs::read_to_string(RESULTS).unwrap();
    let mut matrix = Matrix::read(parts(&document).1);
    matrix.add(results::all());
    replace_table(RESULTS, &matrix.render(cases));
    replace_table(DOCUMENT, &matrix.summary(cases));
    results::clear();
}

fn replace_table(path: &str, table: &str) {
    let document = std::fs::read_to_string(path).unwrap();
    let (before, _, after) = parts(&document);
    std::fs::write(path, format!("{before}{table}{after}")).unwrap();
}

/// The results of a version: those in the document, and those of the runs since.
pub fn results_of(version: Version) -> Passed {
    let document = std::fs::read_to_string(RESULTS).unwrap();
    let mut matrix = Matrix::read(parts(&document).1);
    matrix.add(results::all());
    matrix.0.into_iter().find(|(known, _)| *known == version).map(|(_, passed)| passed).unwrap_or_default()
}

/// Fails unless the results have exactly the tests there are, and the document their summary.
pub fn must_be_current(cases: &[Case]) {
    let [results, document] = [RESULTS, DOCUMENT].map(|path| std::fs::read_to_string(path).unwrap());
    let (table, summary) = (parts(&results).1, parts(&document).1);
    let matrix = Matrix::read(table);
    for (written, rendered) in [(table, matrix.render(cases)), (summary, matrix.summary(cases))] {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
        let changed: Vec<_> = lines(written).symmetric_difference(&lines(&rendered)).cloned().collect();
        assert!(
            written == rendered,
            "the results do not list the tests as they are; run `tests/host/run --matrix`\n{}",
            changed.join("\n")
        );
    }
}

/// Fails unless every row of the tables of ways names a test.
pub fn ways_must_name_tests(cases: &[Case]) {
    let document = std::fs::read_to_string(DOCUMENT).unwrap();
    for heading in WAYS {
        let (_, rest) = document.split_once(heading).unwrap_or_else(|| panic!("docs/dev/hosts.md has no {heading:?}"));
        let section = rest.split_once("\n## ").map_or(rest, |(section, _)| section);
        let rows: Vec<_> = section.lines().filter(|line| line.starts_with('|')).skip(2).collect();
        assert!(!rows.is_empty(), "no table follows {heading:?}");
        for row in rows {
            let named = row.trim_end().trim_end_matches('|').rsplit('|').next().unwrap_or_default();
            for name in named.split(';').map(|name| name.trim().trim_matches('`')) {
                assert!(cases.iter().any(|case| case.name == name), "{name:?} is not a test; its row:\n{row}");
            }
        }
    }
}

/// The document before, within and after the results.
fn parts(document: &str) -> (&str, &str, &str) {
    let begin = document.find(BEGIN).expect("there is a mark before the results") + BEGIN.len();
    let end = begin + document[begin..].find(END).expect("there is a mark after the results");
    (&document[..begin], &document[begin..end], &document[end..])
}

fn cells(row: &str) -> impl Iterator<Item = &str> {
    row.trim().trim_matches('|').split('|').map(str::trim)
}

impl Matrix {
    fn read(table: &str) -> Self {
        let mut rows = table.lines().filter(|line| line.starts_with('|'));
        let versions: Vec<_> = rows.next().into_iter().flat_map(cells).filter_map(Version::parse).collect();
        let mut matrix = Self(versions.into_iter().map(|version| (version, Passed::new())).collect());
        for row in rows {
            let mut cells = cells(row);
            let name = cells.next().unwrap_or_default();
            for ((_, passed), cell) in matrix.0.iter_mut().zip(cells) {
                if cell == "passed" || cell == "**failed**" {
                    passed.insert(name.to_owned(), cell == "passed");
                }
            }
        }
        matrix
    }

    fn add(&mut self, results: Vec<(Version, Passed)>) {
        for (version, new) in results {
            match self.0.iter_mut().find(|(known, _)| *known == version) {
                Some((_, passed)) => passed.extend(new),
                None => self.0.push((version, new)),
            }
        }
        self.0.sort_by(|(one, _), (other, _)| other.cmp(one));
    }

    fn render(&self, cases: &[Case]) -> String {
        let mut reasons = Reasons::default();
        let columns = || self.0.iter();
        let mut text = row("test", columns().map(|(version, _)| version.to_string()));
        text += &row("---", columns().map(|_| "---".to_owned()));
        for case in cases {
            text += &row(&case.name, columns().map(|column| cell(case, column, &mut reasons)));
        }
        text += &row("**passed / failed / skipped / not run**", columns().map(|column| totals(cases, column)));
        let mut reasons: Vec<_> = reasons.0.into_iter().collect();
        reasons.sort_by_key(|(_, number)| *number);
        if !reasons.is_empty() {
            text.push_str("\nSkipped (\"–\"), because the client cannot do it yet:\n\n");
        }
        for (reason, number) in reasons {
            writeln!(text, "{number}. {reason}").unwrap();
        }
        text
    }

    /// Counts the tests that passed, by topic: the word before the colon of a test's name.
    fn summary(&self, cases: &[Case]) -> String {
        let topic = |case: &Case| case.name.split(':').next().unwrap_or_default().to_owned();
        let mut text = row("topic", self.0.iter().map(|(version, _)| version.to_string()));
        text += &row("---", self.0.iter().map(|_| "---".to_owned()));
        let mut topics: Vec<String> = cases.iter().map(topic).collect();
        topics.dedup();
        for name in topics {
            let columns = self.0.iter().map(|(version, passed)| {
                let runs = |case: &&Case| topic(case) == name && case.skip_reason(*version).is_none();
                let ran: Vec<_> = cases.iter().filter(runs).collect();
                format!("{}/{}", ran.iter().filter(|case| passed.get(&case.name) == Some(&true)).count(), ran.len())
            });
            text += &row(&name, columns);
        }
        text
    }
}

/// Reasons to skip a test, numbered as they occur.
#[derive(Default)]
struct Reasons(BTreeMap<String, usize>);

impl Reasons {
    fn number(&mut self, reason: String) -> usize {
        let next = self.0.len() + 1;
        *self.0.entry(reason).or_insert(next)
    }
}

fn row(first: &str, rest: impl Iterator<Item = String>) -> String {
    let cells: Vec<_> = std::iter::once(first.to_owned()).chain(rest).collect();
    format!("| {} |\n", cells.join(" | "))
}

fn cell(case: &Case, (version, passed): &(Version, Passed), reasons: &mut Reasons) -> String {
    if let Some(reason) = case.skip_reason(*version) {
        return format!("– ({})", reasons.number(reason));
    }
    match passed.get(&case.name) {
        Some(true) => "passed",
        Some(false) => "**failed**",
        None => "not run",
    }
    .to_owned()
}

fn totals(cases: &[Case], (version, passed): &(Version, Passed)) -> String {
    let (skipped, ran): (Vec<_>, Vec<_>) = cases.iter().partition(|case| case.skip_reason(*version).is_some());
    let count = |result: Option<bool>| ran.iter().filter(|case| passed.get(&case.name).copied() == result).count();
    format!("{} / {} / {} / {}", count(Some(true)), count(Some(false)), skipped.len(), count(None))
}
