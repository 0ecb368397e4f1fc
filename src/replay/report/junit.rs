//! The `JUnit` report: one suite per session, one case per decision that blocks, moves or differs.

use crate::printable;
use crate::replay::result::{ReplayProblem, ReplayResult};
use std::io;

/// The cases of one session.
#[derive(Debug, Default)]
pub(crate) struct TestSuite {
    pub(crate) session: String,
    pub(crate) file: String,
    /// The number of decisions that pass silently, as before.
    pub(crate) quiet: u64,
    problems: Vec<String>,
    cases: Vec<TestCase>,
}

#[derive(Debug)]
struct TestCase {
    name: String,
    failure: Option<(&'static str, String)>,
    skipped: Option<String>,
}

impl TestSuite {
    pub(crate) fn add(&mut self, result: &ReplayResult) {
        let name = format!("line {}: {} is {}", result.line, result.event, result.outcome);
        let failure = result.is_failing().then(|| (result.title(), result.description()));
        let skipped = result.is_undecided().then(|| format!("cannot be decided: {}", result.unrecorded.join(" ")));
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

    pub(crate) fn is_empty(&self) -> bool {
        self.cases.is_empty() && self.quiet == 0 && self.problems.is_empty()
    }

    /// Writes the suite as an element of `testsuites`.
    pub(crate) fn write(&self, to: &mut impl io::Write) -> io::Result<()> {
        let failures = self.cases.iter().filter(|case| case.failure.is_some()).count();
        let skipped = self.cases.iter().filter(|case| case.skipped.is_some()).count();
        let tests = self.cases.len() + usize::from(self.quiet > 0);
        let (session, file) = (escaped(&self.session), escaped(&self.file));
        write!(to, r#"<testsuite name="{session}" tests="{tests}" failures="{failures}" skipped="{skipped}""#)?;
        writeln!(to, r#" errors="0" file="{file}">"#)?;
        for TestCase { name, failure, skipped } in &self.cases {
            write!(to, r#"  <testcase name="{}" classname="{file}""#, escaped(name))?;
            if let Some((kind, text)) = failure {
                let first = escaped(text.lines().next().unwrap_or_default());
                write!(to, ">\n    <failure type=\"{kind}\" message=\"{first}\">{}</failure>", escaped(text))?;
                writeln!(to, "\n  </testcase>")?;
            } else if let Some(why) = skipped {
                writeln!(to, ">\n    <skipped message=\"{}\"/>\n  </testcase>", escaped(why))?;
            } else {
                writeln!(to, "/>")?;
            }
        }
        if self.quiet > 0 {
            let name = format!("{} other decisions are unchanged", self.quiet);
            writeln!(to, r#"  <testcase name="{name}" classname="{file}"/>"#)?;
        }
        if !self.problems.is_empty() {
            writeln!(to, "  <system-err>{}</system-err>", escaped(&self.problems.join("\n")))?;
        }
        writeln!(to, "</testsuite>")
    }
}

/// Escapes a text, and replaces the characters that XML cannot have.
fn escaped(text: &str) -> String {
    let fits = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    let text: String = text.chars().map(|c| if fits(c) { c } else { '\u{fffd}' }).collect();
    // A terminal that prints the report must not act on it.
    quick_xml::escape::escape(printable::lines(&text)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::change::DecisionChange;
    use crate::replay::result::PastDecision;
    use crate::verdict::{Decision, Verdict};

    #[test]
    fn a_difference_is_a_failure_with_its_reason() {
        let was = PastDecision { decision: Decision::default(), findings: Vec::new() };
        let result = ReplayResult {
            session: "s<1>".into(),
            line: 3,
            event: "Stop".into(),
            outcome: "blocked".into(),
            verdict: Verdict::Block,
            reason: "No \"plan\" & \u{1}.".into(),
            change: DecisionChange::NewlyBlocked,
            was: Some(was),
            ..ReplayResult::default()
        };
        let mut suite = TestSuite { file: "a.jsonl".into(), quiet: 2, ..TestSuite::default() };
        suite.add(&result);
        suite.session = result.session.clone();
        let mut text = Vec::new();
        suite.write(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
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
