//! The `JUnit` report: one suite per session, one case per decision that blocks, moves or differs.

use crate::replay::result::{ReplayProblem, ReplayResult};
use base::printable;
use std::fmt::Write;

/// The suites so far, and the cases and problems of the next one.
#[derive(Debug, Default)]
pub(crate) struct JunitReport {
    suites: String,
    problems: Vec<String>,
    cases: Vec<TestCase>,
}

#[derive(Debug)]
struct TestCase {
    name: String,
    failure: Option<(&'static str, String)>,
    skipped: Option<String>,
}

impl JunitReport {
    pub(crate) fn add(&mut self, result: &ReplayResult) {
        let name = format!("line {}: {} is {}", result.event.line, result.event.words, result.now.outcome);
        let failure = result.is_failing().then(|| (result.title(), result.description()));
        let skipped =
            result.is_undecided().then(|| format!("cannot be decided: {}", result.compared.unrecorded.join(" ")));
        self.cases.push(TestCase { name, failure, skipped });
    }

    /// Adds a problem; one that makes an expectation impossible is a failure.
    pub(crate) fn problem(&mut self, problem: &ReplayProblem) {
        let text = problem.to_string();
        if problem.unmet {
            let failure = Some(("not as expected", problem.what.clone()));
            self.cases.push(TestCase { name: text, failure, skipped: None });
        } else {
            self.problems.push(text);
        }
    }

    /// Ends the suite of a session in which `quiet` decisions pass silently, as before.
    pub(crate) fn end_session(&mut self, session: &str, file: &str, quiet: u64) {
        let (cases, problems) = (std::mem::take(&mut self.cases), std::mem::take(&mut self.problems));
        if cases.is_empty() && quiet == 0 && problems.is_empty() {
            return;
        }
        let failures = cases.iter().filter(|case| case.failure.is_some()).count();
        let skipped = cases.iter().filter(|case| case.skipped.is_some()).count();
        let tests = cases.len() + usize::from(quiet > 0);
        let (session, file) = (escaped(session), escaped(file));
        self.line(&format!(
            r#"<testsuite name="{session}" tests="{tests}" failures="{failures}" skipped="{skipped}" errors="0" file="{file}">"#
        ));
        for TestCase { name, failure, skipped } in cases {
            let case = format!(r#"  <testcase name="{}" classname="{file}""#, escaped(&name));
            if let Some((kind, text)) = failure {
                let first = escaped(text.lines().next().unwrap_or_default());
                let failure = format!(r#"<failure type="{kind}" message="{first}">{}</failure>"#, escaped(&text));
                self.line(&format!("{case}>\n    {failure}\n  </testcase>"));
            } else if let Some(why) = skipped {
                self.line(&format!("{case}>\n    <skipped message=\"{}\"/>\n  </testcase>", escaped(&why)));
            } else {
                self.line(&format!("{case}/>"));
            }
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
