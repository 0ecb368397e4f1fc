//! The `JUnit` report: one suite per session, one case per decision that blocks, moves or differs.

use crate::replay::result::{ReplayProblem, ReplayResult};
use base::printable;
use std::fmt::Write;

#[derive(Debug, Default)]
pub(crate) struct JunitReport {
    suites: String,
    suite: TestSuite,
}

#[derive(Debug, Default)]
struct TestSuite {
    /// The name of each case, and why it failed or was skipped, as XML.
    cases: Vec<(String, Option<String>)>,
    failures: usize,
    skipped: usize,
    problems: Vec<String>,
}

impl TestSuite {
    fn failure(&mut self, name: String, kind: &str, text: &str) {
        let first = escaped(text.lines().next().unwrap_or_default());
        let failure = format!(r#"<failure type="{kind}" message="{first}">{}</failure>"#, escaped(text));
        self.cases.push((name, Some(failure)));
        self.failures += 1;
    }
}

impl JunitReport {
    pub(crate) fn add(&mut self, result: &ReplayResult) {
        let name = format!("line {}: {} is {}", result.event.line, result.event.words, result.now.outcome);
        if result.is_failing() {
            self.suite.failure(name, result.title(), &result.description());
        } else if result.is_undecided() {
            let missing = escaped(&result.compared.unrecorded.join(" "));
            self.suite.cases.push((name, Some(format!(r#"<skipped message="cannot be decided: {missing}"/>"#))));
            self.suite.skipped += 1;
        } else {
            self.suite.cases.push((name, None));
        }
    }

    /// Adds a problem; one that makes an expectation impossible is a failure.
    pub(crate) fn problem(&mut self, problem: &ReplayProblem) {
        if problem.unmet {
            self.suite.failure(problem.to_string(), "not as expected", &problem.what);
        } else {
            self.suite.problems.push(problem.to_string());
        }
    }

    /// Ends the suite of a session in which `quiet` decisions pass silently, as before.
    pub(crate) fn end_session(&mut self, session: &str, file: &str, quiet: u64) {
        let TestSuite { cases, failures, skipped, problems } = std::mem::take(&mut self.suite);
        if cases.is_empty() && quiet == 0 && problems.is_empty() {
            return;
        }
        let tests = cases.len() + usize::from(quiet > 0);
        let (session, file) = (escaped(session), escaped(file));
        self.line(&format!(
            r#"<testsuite name="{session}" tests="{tests}" failures="{failures}" skipped="{skipped}" errors="0" file="{file}">"#
        ));
        for (name, why) in cases {
            let case = format!(r#"  <testcase name="{}" classname="{file}""#, escaped(&name));
            let end = why.map_or_else(|| "/>".to_owned(), |why| format!(">\n    {why}\n  </testcase>"));
            self.line(&format!("{case}{end}"));
        }
        if quiet > 0 {
            self.line(&format!(r#"  <testcase name="{quiet} other decisions are unchanged" classname="{file}"/>"#));
        }
        if !problems.is_empty() {
            self.line(&format!("  <system-err>{}</system-err>", escaped(&problems.join("\n"))));
        }
        self.line("</testsuite>");
    }

    fn line(&mut self, line: &str) {
        let _: std::fmt::Result = writeln!(self.suites, "{line}");
    }

    /// Renders the report; problems after the last session have a suite of their own.
    pub(crate) fn render(mut self) -> String {
        self.end_session("recordings", "", 0);
        let head = r#"<?xml version="1.0" encoding="UTF-8"?>"#;
        format!("{head}\n<testsuites name=\"modegate replay\">\n{}</testsuites>\n", self.suites)
    }
}

/// Escapes a text, and replaces the characters that XML cannot have.
fn escaped(text: &str) -> String {
    let fits = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    let text: String = text.chars().map(|c| if fits(c) { c } else { '\u{fffd}' }).collect();
    // A terminal that prints the report must not act on it.
    let text = printable::lines(&text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&apos;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::verdict::Decision;
    use crate::replay::change::DecisionChange;
    use crate::replay::result::{ComparedDecision, NewDecision, PastDecision};

    #[test]
    fn a_difference_is_a_failure_with_its_reason() {
        let was = PastDecision { decision: Decision::default(), findings: Vec::new() };
        let result = ReplayResult {
            now: NewDecision { reason: "No \"plan\" & \u{1}.".into(), ..NewDecision::default() },
            compared: ComparedDecision {
                change: DecisionChange::NewlyBlocked,
                was: Some(was),
                ..ComparedDecision::default()
            },
            ..ReplayResult::default()
        };
        let mut report = JunitReport::default();
        report.add(&result);
        report.end_session("s<1>", "a.jsonl", 2);
        let text = report.render();
        assert!(
            text.contains(
                r#"<testsuite name="s&lt;1&gt;" tests="2" failures="1" skipped="0" errors="0" file="a.jsonl">"#
            ),
            "{text}"
        );
        assert!(text.contains(r#"<failure type="newly blocked" message="#), "{text}");
        assert!(text.contains("&amp; \u{fffd}."), "{text}");
        assert!(text.contains("2 other decisions are unchanged"), "{text}");
    }
}
