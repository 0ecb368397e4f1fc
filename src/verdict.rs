//! What a check found, what a gate made of it, and what all gates together decided.

use crate::ids::GateId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How grave a finding is; the gravest of all wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Nothing objects.
    #[default]
    Pass,
    /// An objection that is only written down.
    Observe,
    /// An objection that is told, and lets the event through.
    Warn,
    /// The user is asked.
    Ask,
    /// The event is refused.
    Block,
    /// Everything is stopped.
    Stop,
}

impl Verdict {
    /// The word for it.
    #[must_use]
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
    /// It does not.
    Fails,
    /// It could not be found out, which is never a yes.
    Unknown,
}

/// What a check saw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// Whether it passes.
    pub truth: Truth,
    /// What was seen, as a clause.
    pub saw: String,
    /// What would make it hold, as an instruction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// The outcomes of the checks it is made of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Outcome>,
    /// What a step said beside yes and no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extras: Option<Box<ReplyExtras>>,
}

/// What a step may say beside yes and no.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ReplyExtras {
    /// For the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// For the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What the tool shall be given instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// What shall follow, in the place of the gate's own action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Whether the user's own permission prompt shall be skipped.
    #[serde(skip_serializing_if = "is_false")]
    pub allow: bool,
}

impl Outcome {
    /// It holds, and this was seen.
    pub fn passes(saw: impl Into<String>) -> Self {
        Self { truth: Truth::Passes, saw: saw.into(), remedy: None, parts: Vec::new(), extras: None }
    }

    /// It fails, and this was seen.
    pub fn fails(saw: impl Into<String>) -> Self {
        Self { truth: Truth::Fails, ..Self::passes(saw) }
    }

    /// It could not be found out, for this reason.
    pub fn unknown(why: impl std::fmt::Display) -> Self {
        Self { truth: Truth::Unknown, ..Self::passes(format!("cannot tell: {why}")) }
    }

    /// It holds or fails by `truth`.
    pub fn when(truth: bool, saw: impl Into<String>) -> Self {
        if truth { Self::passes(saw) } else { Self::fails(saw) }
    }

    /// The same with what would make it hold.
    #[must_use]
    pub fn remedied(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }

    /// Everything that the checks in this one have added, in order.
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
    #[must_use]
    pub fn sentence(&self, opening: &str) -> String {
        let mut text = opening.trim().to_owned();
        if self.saw.is_empty() && self.remedy.is_none() {
            return text;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        let mut letters = self.saw.chars();
        text.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        text.push_str(letters.as_str().trim_end());
        if let Some(remedy) = &self.remedy {
            text.push_str("; ");
            text.push_str(remedy);
        }
        if !text.ends_with(['.', '!', '?']) {
            text.push('.');
        }
        text
    }
}

/// What a gate made of its check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The mode it belongs to.
    pub mode: String,
    /// The phase it belongs to, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The gate, by id.
    pub gate: GateId,
    /// What follows.
    pub verdict: Verdict,
    /// What the gate says to the model or the user.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// What its check saw.
    pub outcome: Outcome,
    /// Whether patience ran out and the gate let go with its demand unmet.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unmet: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// What all gates together decided.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Decision {
    /// The gravest verdict.
    pub verdict: Verdict,
    /// The joined reasons of everything that has this verdict.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// What the model is told beside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<String>,
    /// What the user is told beside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<String>,
    /// What the tool shall be given instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// Whether a gate said that the user need not be asked.
    #[serde(default, skip_serializing_if = "is_false")]
    pub allow: bool,
    /// What happened to the session's modes, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<String>,
}

impl Decision {
    /// Folds `findings` into one decision: the gravest verdict, the reasons of all that have it.
    #[must_use]
    pub fn of(findings: &[Finding]) -> Self {
        let verdict = findings.iter().map(|finding| finding.verdict).max().unwrap_or_default();
        let mut reasons: Vec<&str> = Vec::new();
        let grave = findings.iter().filter(|finding| finding.verdict == verdict && verdict >= Verdict::Ask);
        for finding in grave {
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
    fn stop_is_graver_than_block() {
        assert_eq!(Decision::of(&[finding(Verdict::Stop, "s"), finding(Verdict::Block, "b")]).reason, "s");
    }

    #[test]
    fn nothing_found_is_a_pass() {
        assert_eq!(Decision::of(&[]), Decision::default());
    }
}
