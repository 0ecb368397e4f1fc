//! The `JUnit` report: one suite per session, one case per decision that blocks, moves or differs.

use super::problem::ReplayProblem;
use super::result::ReplayResult;
use quick_xml::Writer;
use quick_xml::events::{BytesEnd, BytesStart, BytesText, Event};
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
    failure: Option<(String, String)>,
    skipped: Option<String>,
}

impl TestSuite {
    /// Adds a decision.
    pub(crate) fn add(&mut self, result: &ReplayResult) {
        let name = format!("line {}: {} is {}", result.line, result.event, result.outcome);
        let failure = result.is_failing().then(|| (result.title().to_owned(), result.description()));
        let skipped = result.is_undecided().then(|| format!("cannot be decided: {}", result.unrecorded.join(" ")));
        self.cases.push(TestCase { name, failure, skipped });
    }

    /// Adds a problem; one that makes an expectation impossible is a failure.
    pub(crate) fn problem(&mut self, problem: &ReplayProblem) {
        let text = problem.to_string();
        if problem.unmet {
            let failure = Some(("not as expected".to_owned(), problem.what.clone()));
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
        let mut writer = Writer::new_with_indent(to, b' ', 2);
        let failures = self.cases.iter().filter(|case| case.failure.is_some()).count();
        let skipped = self.cases.iter().filter(|case| case.skipped.is_some()).count();
        let tests = self.cases.len() + usize::from(self.quiet > 0);
        let counts = [("tests", tests), ("failures", failures), ("skipped", skipped), ("errors", 0)];
        let counts = counts.map(|(name, count)| (name, count.to_string()));
        let mut start = BytesStart::new("testsuite").with_attributes([("name", clean(&self.session).as_str())]);
        start.extend_attributes(counts.iter().map(|(name, count)| (*name, count.as_str())));
        start.push_attribute(("file", clean(&self.file).as_str()));
        writer.write_event(Event::Start(start))?;
        for case in &self.cases {
            self.case(&mut writer, case)?;
        }
        if self.quiet > 0 {
            let name = format!("{} other decisions are unchanged", self.quiet);
            self.case(&mut writer, &TestCase { name, failure: None, skipped: None })?;
        }
        if !self.problems.is_empty() {
            let text = clean(&self.problems.join("\n"));
            writer.create_element("system-err").write_text_content(BytesText::new(&text))?;
        }
        writer.write_event(Event::End(BytesEnd::new("testsuite")))?;
        writer.into_inner().write_all(b"\n")
    }

    fn case(&self, writer: &mut Writer<&mut impl io::Write>, case: &TestCase) -> io::Result<()> {
        let (name, class) = (clean(&case.name), clean(&self.file));
        let element =
            writer.create_element("testcase").with_attributes([("name", name.as_str()), ("classname", class.as_str())]);
        match (&case.failure, &case.skipped) {
            (Some((kind, text)), _) => {
                let text = clean(text);
                let first = text.lines().next().unwrap_or_default();
                element.write_inner_content(|writer| {
                    let failure = writer.create_element("failure");
                    let failure = failure.with_attributes([("type", kind.as_str()), ("message", first)]);
                    failure.write_text_content(BytesText::new(&text)).map(drop)
                })?;
            }
            (None, Some(why)) => {
                let why = clean(why);
                element.write_inner_content(|writer| {
                    writer
                        .create_element("skipped")
                        .with_attributes([("message", why.as_str())])
                        .write_empty()
                        .map(drop)
                })?;
            }
            (None, None) => drop(element.write_empty()?),
        }
        Ok(())
    }
}

/// Replaces characters that XML cannot have.
fn clean(text: &str) -> String {
    let fits = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    text.chars().map(|c| if fits(c) { c } else { '\u{fffd}' }).collect()
}

#[cfg(test)]
mod tests {
    use super::super::change::DecisionChange;
    use super::super::result::PastDecision;
    use super::*;
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
