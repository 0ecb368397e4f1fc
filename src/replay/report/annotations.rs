//! Differences at the gates that cause them: as SARIF for code scanners, and as annotations for GitHub Actions.

use crate::policy::mode::{Catalogue, ModeOrigin};
use crate::replay::change::DecisionChange;
use crate::replay::result::{ReplayProblem, ReplayResult};
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub(crate) fn sarif(failing: &[ReplayResult], problems: &[ReplayProblem], catalogue: &Catalogue) -> Value {
    let names: BTreeSet<&str> = failing.iter().map(rule).chain((!problems.is_empty()).then_some(UNREAD)).collect();
    let rules: Vec<Value> = names.iter().map(|name| described(name, catalogue)).collect();
    let results = failing.iter().map(|result| finding(result, catalogue)).chain(problems.iter().map(unread));
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "modegate", "version": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "results": results.collect::<Vec<Value>>(),
        }],
    })
}

const UNREAD: &str = "recording-is-readable";

/// The gate that causes the difference; without one, the change itself.
fn rule(result: &ReplayResult) -> &str {
    result.compared.gates.first().map_or_else(|| result.compared.change.words(), |gate| gate.as_str())
}

fn described(name: &str, catalogue: &Catalogue) -> Value {
    let text = catalogue.modes.iter().find_map(|mode| {
        let (_, gate) = mode.all_gates().find(|(_, gate)| gate.id == name)?;
        (!gate.message.is_empty()).then(|| format!("{} ({} mode)", gate.message, mode.name))
    });
    let text = text.unwrap_or_else(|| name.to_owned());
    json!({"id": name, "shortDescription": {"text": text}})
}

fn finding(result: &ReplayResult, catalogue: &Catalogue) -> Value {
    let own = location(&result.event.file, result.event.line);
    // In a pull request people look at the changed mode.
    let (first, related) = match place(catalogue, result) {
        Some((file, line)) => (location(&file, line), vec![own]),
        None => (own, Vec::new()),
    };
    json!({
        "ruleId": rule(result),
        "level": if result.compared.change == DecisionChange::Undecidable { "warning" } else { "error" },
        "message": {"text": format!("{}: {}, session {}\n{}", result.title(), result.event.words, result.event.session, result.description())},
        "locations": [first],
        "relatedLocations": related,
        "partialFingerprints": {"result/v1": format!("{}:{}:{}", result.event.session, result.event.line, rule(result))},
    })
}

fn unread(problem: &ReplayProblem) -> Value {
    json!({
        "ruleId": UNREAD,
        "level": if problem.unmet { "error" } else { "note" },
        "message": {"text": problem.what},
        "locations": [location(&problem.file, problem.line)],
    })
}

fn location(file: &str, line: u64) -> Value {
    let uri = file.replace('\\', "/").replace(' ', "%20");
    json!({"physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": line.max(1)}}})
}

/// The file and line of the gate that causes the difference.
fn place(catalogue: &Catalogue, result: &ReplayResult) -> Option<(String, u64)> {
    let found = result.findings.iter().chain(result.compared.was.iter().flat_map(|was| &was.findings));
    let mut found = found.filter(|finding| result.compared.gates.contains(&finding.gate));
    found.find_map(|finding| {
        let (mode, origin) = catalogue.entries().find(|(mode, _)| mode.name == finding.mode)?;
        let ModeOrigin::File(file) = origin else { return None };
        // A removed gate was in this file.
        let gate = mode.all_gates().find(|(_, gate)| gate.id == finding.gate);
        Some((file.clone(), gate.map_or(1, |(_, gate)| gate.location.line as u64)))
    })
}

/// GitHub shows no more annotations of one level.
const SHOWN: usize = 10;

/// Renders workflow commands that annotate the run.
pub(crate) fn github(failing: &[ReplayResult], problems: &[ReplayProblem], catalogue: &Catalogue) -> Vec<String> {
    let errors = failing.iter().take(SHOWN).map(|result| {
        let own = || (result.event.file.clone(), result.event.line);
        let (file, line) = place(catalogue, result).unwrap_or_else(own);
        let title = format!("{}: {}", result.title(), result.event.words);
        let text = format!("{}\n{} (session {})", result.description(), result.place(), result.event.session);
        command("error", &file, line, &title, &text)
    });
    let problems = |level: &'static str, unmet: bool| {
        let shown = problems.iter().filter(move |problem| problem.unmet == unmet).take(SHOWN);
        shown.map(move |problem| command(level, &problem.file, problem.line, "modegate replay", &problem.what))
    };
    errors.chain(problems("error", true)).chain(problems("warning", false)).collect()
}

fn command(level: &str, file: &str, line: u64, title: &str, text: &str) -> String {
    let plain = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let value = |text: &str| plain(text).replace(':', "%3A").replace(',', "%2C");
    format!("::{level} file={},line={},title={}::{}", value(file), line.max(1), value(title), plain(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_break_out_of_its_line() {
        let text = command("error", "a,b:c.jsonl", 0, "t::x", "100%\n::error::y");
        assert_eq!(text, "::error file=a%2Cb%3Ac.jsonl,line=1,title=t%3A%3Ax::100%25%0A::error::y");
    }
}
