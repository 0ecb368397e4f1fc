//! The outcome of a check, the finding of a gate, and the decision on an event.

use crate::host::ids::GateId;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

/// The verdict of a gate, in order of severity: the most severe one of all gates wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The event is allowed.
    #[default]
    Pass,
    /// The event is allowed; the finding is only journaled.
    Observe,
    /// The event is allowed with a warning.
    Warn,
    /// The user is asked.
    Ask,
    /// The event is blocked.
    Block,
    /// Everything is stopped.
    Stop,
}

impl Verdict {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Observe => "observe",
            Verdict::Warn => "warn",
            Verdict::Ask => "ask",
            Verdict::Block => "block",
            Verdict::Stop => "stop",
        }
    }
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Truth {
    /// It passes.
    Passes,
    /// It fails.
    Fails,
    /// The result is not known; by default this counts as a failure.
    Unknown,
}

/// The result of a check, with what it saw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// Whether it passes.
    pub truth: Truth,
    /// What was seen, as a clause.
    pub saw: Cow<'static, str>,
    /// What would make it pass, as an instruction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// The outcomes of the checks it is composed of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Outcome>,
    /// What a program or server added to its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extras: Option<Box<ReplyExtras>>,
}

/// What a program or server may add to its answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ReplyExtras {
    /// Context for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// A message for the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The new input of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// The verdict, instead of the gate's own action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Whether to skip the user's own permission prompt.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub allow: bool,
}

/// How an unknown outcome says what it saw.
pub(crate) const UNKNOWN_OPENING: &str = "cannot tell: ";

impl Outcome {
    /// An outcome that passes.
    pub fn passes(saw: impl Into<Cow<'static, str>>) -> Self {
        Self { truth: Truth::Passes, saw: saw.into(), remedy: None, parts: Vec::new(), extras: None }
    }

    /// An outcome that fails.
    pub fn fails(saw: impl Into<Cow<'static, str>>) -> Self {
        Self { truth: Truth::Fails, ..Self::passes(saw) }
    }

    /// An outcome that is unknown, with the reason.
    pub fn unknown(why: impl std::fmt::Display) -> Self {
        Self { truth: Truth::Unknown, ..Self::passes(format!("{UNKNOWN_OPENING}{why}")) }
    }

    /// An outcome that passes or fails by `truth`.
    pub fn when(truth: bool, saw: impl Into<Cow<'static, str>>) -> Self {
        if truth { Self::passes(saw) } else { Self::fails(saw) }
    }

    /// Adds what would make it pass.
    pub fn remedied(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }

    /// The extras of this check and of those it is composed of, in order.
    pub fn all_extras(&self) -> impl Iterator<Item = &ReplyExtras> {
        let mut found: Vec<&ReplyExtras> = self.extras.as_deref().into_iter().collect();
        let mut open: Vec<&Self> = self.parts.iter().rev().collect();
        while let Some(part) = open.pop() {
            found.extend(part.extras.as_deref());
            open.extend(part.parts.iter().rev());
        }
        found.into_iter()
    }

    /// One paragraph: `opening`, what was seen, what to do next.
    pub fn sentence(&self, opening: &str) -> String {
        let mut text = opening.trim().to_owned();
        if self.saw.is_empty() && self.remedy.is_none() {
            return text;
        }
        push_sentence(&mut text, self.saw.trim_end());
        match &self.remedy {
            Some(remedy) if text.is_empty() || text.ends_with(['.', '!', '?']) => push_sentence(&mut text, remedy),
            Some(remedy) => text.extend(["; ", remedy]),
            None => {}
        }
        if !text.ends_with(['.', '!', '?']) {
            text.push('.');
        }
        text
    }
}

/// Appends a clause, with a capital letter.
fn push_sentence(text: &mut String, clause: &str) {
    if !text.is_empty() && !clause.is_empty() {
        text.push(' ');
    }
    let mut letters = clause.chars();
    text.extend(letters.next().into_iter().flat_map(char::to_uppercase));
    text.push_str(letters.as_str());
}

/// What a gate decided, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The mode it belongs to.
    pub mode: String,
    /// The phase it belongs to, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The gate.
    pub gate: GateId,
    /// Its verdict.
    pub verdict: Verdict,
    /// The text for the model or the user.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The result of its check.
    pub outcome: Outcome,
    /// Whether the gate gave in because its patience was used up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unmet: bool,
}

impl Finding {
    /// The sentence of the mode file, without what the check saw.
    pub fn headline(&self) -> &str {
        let seen = self.outcome.sentence("");
        let seen = seen.get(..self.outcome.saw.len()).unwrap_or(&seen);
        let end = if seen.is_empty() { None } else { self.reason.find(seen).filter(|end| *end > 0) };
        end.and_then(|end| self.reason.get(..end)).unwrap_or(&self.reason).trim_end()
    }
}

/// The decision on an event.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Decision {
    /// The most severe verdict.
    pub verdict: Verdict,
    /// The reasons of all findings with this verdict, joined.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Context for the model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<String>,
    /// Messages for the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<String>,
    /// The new input of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// Whether a gate skips the user's permission prompt.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow: bool,
    /// How the session's modes changed, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<String>,
}

impl Decision {
    /// Folds `findings` into one decision: the most severe verdict, with the reasons of all that have it.
    pub fn of(findings: &[Finding]) -> Self {
        let verdict = findings.iter().map(|finding| finding.verdict).max().unwrap_or_default();
        let mut reasons: Vec<&str> = Vec::new();
        let deciding = findings.iter().filter(|finding| finding.verdict == verdict && verdict >= Verdict::Ask);
        for finding in deciding {
            if !reasons.contains(&finding.reason.as_str()) {
                reasons.push(&finding.reason);
            }
        }
        Self { verdict, reason: reasons.join("\n"), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(verdict: Verdict, reason: &str) -> Finding {
        let outcome = Outcome::fails("seen");
        Finding {
            mode: "m".into(),
            phase: None,
            gate: "g".into(),
            verdict,
            reason: reason.into(),
            outcome,
            unmet: false,
        }
    }

    #[test]
    fn any_block_wins_and_all_its_reasons_are_joined() {
        let findings = [
            finding(Verdict::Block, "one"),
            finding(Verdict::Warn, "two"),
            finding(Verdict::Block, "three"),
            finding(Verdict::Block, "one"),
        ];
        let decision = Decision::of(&findings);
        assert_eq!((decision.verdict, decision.reason.as_str()), (Verdict::Block, "one\nthree"));
    }

    #[test]
    fn parts_of_a_reason_are_joined_as_sentences() {
        let remedied = |saw: &'static str| Outcome::fails(saw).remedied("give it again");
        assert_eq!(remedied("").sentence("Not now."), "Not now. Give it again.");
        assert_eq!(remedied("`x` objects: Not now.").sentence(""), "`x` objects: Not now. Give it again.");
        assert_eq!(remedied("no file").sentence("Plan missing."), "Plan missing. No file; give it again.");
        assert_eq!(remedied("").sentence(""), "Give it again.");
    }

    #[test]
    fn stop_is_more_severe_than_block() {
        assert_eq!(Decision::of(&[finding(Verdict::Stop, "s"), finding(Verdict::Block, "b")]).reason, "s");
    }

    #[test]
    fn no_findings_pass() {
        assert_eq!(Decision::of(&[]), Decision::default());
    }
}
