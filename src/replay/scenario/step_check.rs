//! Checks the output of a step against its expectations.

use super::{ScenarioContext, ScenarioStep};
use crate::facts::verdict::Finding;
use serde_json::Value;

/// The output of a step.
pub struct StepOutput<'a> {
    /// The name of the event; empty for a command.
    pub kind: &'a str,
    /// Standard output.
    pub stdout: &'a str,
    /// Standard error.
    pub stderr: &'a str,
    /// The exit code.
    pub exit: i32,
    /// The findings of the gates.
    pub findings: &'a [Finding],
    /// A value of the session's state, by namespace and key.
    pub state: &'a dyn Fn(&str, &str) -> Value,
}

impl StepOutput<'_> {
    fn json(&self) -> Value {
        serde_json::from_str(self.stdout).unwrap_or_default()
    }

    /// The result in a word of `expect`.
    fn word(&self) -> String {
        let json = self.json();
        let asks = json.pointer("/hookSpecificOutput/permissionDecision").is_some_and(|word| word == "ask");
        let word = match self.exit {
            _ if self.kind.is_empty() => return format!("exit {}", self.exit),
            2 => "blocked",
            0 if self.stdout.is_empty() => "silent",
            0 if asks => "asked",
            0 if json.get("continue") == Some(&Value::Bool(false)) => "stopped",
            0 => "context",
            _ => "failed",
        };
        word.to_owned()
    }
}

impl ScenarioStep {
    /// Whether the step expects anything.
    pub fn has_expectations(&self) -> bool {
        let texts = [&self.because, &self.includes, &self.excludes];
        self.expect.is_some()
            || self.opening.is_some()
            || self.input.is_some()
            || texts.iter().any(|texts| !texts.is_empty())
            || !self.state.is_empty()
            || !self.gates.is_empty()
    }

    /// What is not as expected, in a clause.
    pub fn unmet(&self, output: &StepOutput<'_>, context: &ScenarioContext) -> Option<String> {
        let word = output.word();
        if let Some(expected) = self.expect.as_ref().filter(|expected| **expected != word) {
            return Some(format!("expected {expected}, was {word}"));
        }
        self.unmet_reason(output, context)
            .or_else(|| self.unmet_answer(output, context))
            .or_else(|| self.unmet_gate(output))
            .or_else(|| self.unmet_state(output))
    }

    fn unmet_reason(&self, output: &StepOutput<'_>, context: &ScenarioContext) -> Option<String> {
        let json = output.json();
        let reason = json.get("reason").or_else(|| json.pointer("/hookSpecificOutput/permissionDecisionReason"));
        let reason = reason.and_then(Value::as_str).unwrap_or_default();
        if output.exit == 2 && reason.trim() != output.stderr.trim() {
            return Some("stdout and stderr give different reasons".to_owned());
        }
        let opening = self.opening.as_ref().map(|text| context.filled(text));
        if let Some(opening) = opening.filter(|opening| !output.stderr.starts_with(opening.as_str())) {
            return Some(format!("the reason does not begin with {opening:?}"));
        }
        let mut because = self.because.iter().map(|text| context.filled(text));
        because.find(|text| !output.stderr.contains(text.as_str())).map(|text| format!("the reason lacks {text:?}"))
    }

    fn unmet_answer(&self, output: &StepOutput<'_>, context: &ScenarioContext) -> Option<String> {
        let all = format!("{}\n{}", output.stdout.replace("\\n", "\n"), output.stderr);
        let has = |text: &String| all.contains(&context.filled(text));
        if let Some(text) = self.includes.iter().find(|text| !has(text)) {
            return Some(format!("the answer lacks {:?}", context.filled(text)));
        }
        if let Some(text) = self.excludes.iter().find(|text| has(text)) {
            return Some(format!("the answer includes {:?}", context.filled(text)));
        }
        let given = output.json().pointer("/hookSpecificOutput/updatedInput").cloned().unwrap_or_default();
        let other = self.input.as_ref().filter(|expected| **expected != given);
        other.map(|expected| format!("the input of the tool is {given}, not {expected}"))
    }

    fn unmet_gate(&self, output: &StepOutput<'_>) -> Option<String> {
        self.gates.iter().find_map(|(gate, expected)| {
            let finding = output.findings.iter().find(|finding| finding.gate == *gate);
            let word = match finding {
                None => "unmatched",
                Some(finding) if finding.unmet => "unmet",
                Some(finding) => finding.verdict.word(),
            };
            let saw = finding.map_or("", |finding| &*finding.outcome.saw);
            (word != expected).then(|| format!("{gate}: expected {expected}, was {word}: {saw}"))
        })
    }

    fn unmet_state(&self, output: &StepOutput<'_>) -> Option<String> {
        self.state.iter().find_map(|(name, expected)| {
            let Some((namespace, key)) = name.split_once('.') else {
                return Some(format!("a state key is NAMESPACE.KEY, not {name}"));
            };
            let value = (output.state)(namespace, key);
            (value != *expected).then(|| format!("{name}: expected {expected}, was {value}"))
        })
    }
}
