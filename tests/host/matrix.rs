//! The results in docs/hosts.md: one row per test, one column per version of the client.
//!
//! `tests/host/run --matrix` writes them. It adds the results of the runs since the last time and keeps the others, so
//! a run of one test or one version is enough after a change. A test that is new is "not run".

use crate::case::Case;
use crate::client::Version;
use crate::results::{self, Passed};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/hosts.md");
const BEGIN: &str = "<!-- results: written by `tests/host/run --matrix` -->\n\n";
const END: &str = "\n<!-- end of results -->";

/// Tables whose last column names the test of each row.
const WAYS: [&str; 2] = ["\n## Ways an agent can start\n", "\n## Ways a session can begin\n"];

/// The results by version, newest first.
#[derive(Default)]
struct Matrix(Vec<(Version, Passed)>);

/// Writes the results of the runs since the last time to the document.
pub fn update(cases: &[Case]) {
    let document = std::fs::read_to_string(PATH).unwrap();
    let (before, table, after) = parts(&document);
    let mut matrix = Matrix::read(table);
    matrix.add(results::all());
    std::fs::write(PATH, format!("{before}{}{after}", matrix.render(cases))).unwrap();
    results::clear();
}

/// The results of a version: those in the document, and those of the runs since.
pub fn results_of(version: Version) -> Passed {
    let document = std::fs::read_to_string(PATH).unwrap();
    let mut matrix = Matrix::read(parts(&document).1);
    matrix.add(results::all());
    matrix.0.into_iter().find(|(known, _)| *known == version).map(|(_, passed)| passed).unwrap_or_default()
}

/// Fails unless the document has exactly the tests there are.
pub fn must_be_current(cases: &[Case]) {
    let document = std::fs::read_to_string(PATH).unwrap();
    let (_, table, _) = parts(&document);
    let rendered = Matrix::read(table).render(cases);
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    let changed: Vec<_> = lines(table).symmetric_difference(&lines(&rendered)).cloned().collect();
    assert!(
        table == rendered,
        "docs/hosts.md does not list the tests as they are; run `tests/host/run --matrix`\n{}",
        changed.join("\n")
    );
}

/// Fails unless every row of the tables of ways names a test.
pub fn ways_must_name_tests(cases: &[Case]) {
    let document = std::fs::read_to_string(PATH).unwrap();
    for heading in WAYS {
        let (_, rest) = document.split_once(heading).unwrap_or_else(|| panic!("docs/hosts.md has no {heading:?}"));
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
    let begin = document.find(BEGIN).expect("docs/hosts.md has a mark before the results") + BEGIN.len();
    let end = begin + document[begin..].find(END).expect("docs/hosts.md has a mark after the results");
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
