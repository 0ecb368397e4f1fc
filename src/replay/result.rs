//! An event that was decided again, as people and scripts read it.

use super::change::DecisionChange;
use super::expectation::Expectation;
use super::redecision::Comparison;
use crate::facts::{Answer, Question};
use crate::ids::GateId;
use crate::mode::Catalogue;
use crate::reply::reply;
use crate::verdict::{Decision, Finding, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One event, what is decided on it, and what was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReplayResult {
    /// Whose event it is.
    pub session: String,
    /// The file that it stands in.
    pub file: String,
    /// The line of that file.
    pub line: u64,
    /// When it came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The event in a few words.
    pub event: String,
    /// Its name.
    pub kind: String,
    /// The agent that acts; none for the main agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The agent's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What comes of it, in a word.
    pub outcome: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Why.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// What the model is told beside.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<String>,
    /// What the user is told beside.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<String>,
    /// What happens to the modes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<String>,
    /// The modes that are active after it, with their phase.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub modes: BTreeMap<String, String>,
    /// What has become of the past decision.
    pub change: DecisionChange,
    /// The past decision, where it does not simply stand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<PastDecision>,
    /// Whether other modes, or another modegate, have made the past decision.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub other_modes: bool,
    /// The gates that make the difference, or else those that object.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<GateId>,
    /// What was asked and not recorded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unrecorded: Vec<String>,
    /// What is expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expectation>,
    /// Whether that is met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub met: Option<bool>,
    /// What every gate found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// What was asked and answered, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<(String, String)>,
    /// What the host is answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<HookOutput>,
}

/// A past decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastDecision {
    /// What was decided.
    #[serde(flatten)]
    pub decision: Decision,
    /// What every gate found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// What the hook prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookOutput {
    /// One JSON object, or nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stdout: String,
    /// The reasons.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// The exit code.
    pub exit: u8,
}

/// CaseLocation an event stands.
#[derive(Debug, Clone, Copy)]
pub struct CaseLocation<'a> {
    /// The file.
    pub file: &'a str,
    /// Its line.
    pub line: u64,
    /// When it came.
    pub at: Option<&'a str>,
}

impl Default for ReplayResult {
    fn default() -> Self {
        Self {
            session: String::new(),
            file: String::new(),
            line: 0,
            at: None,
            event: String::new(),
            kind: String::new(),
            agent: None,
            agent_id: None,
            tool: None,
            outcome: String::new(),
            verdict: Verdict::Pass,
            reason: String::new(),
            context: Vec::new(),
            messages: Vec::new(),
            moves: Vec::new(),
            modes: BTreeMap::new(),
            change: DecisionChange::New,
            was: None,
            other_modes: false,
            gates: Vec::new(),
            unrecorded: Vec::new(),
            expected: None,
            met: None,
            findings: Vec::new(),
            facts: Vec::new(),
            reply: None,
        }
    }
}

impl ReplayResult {
    /// What was compared, in words.
    #[must_use]
    pub fn new(place: CaseLocation<'_>, compared: Comparison, catalogue: &Catalogue) -> Self {
        let Comparison { event, decided, asked, gaps, change, was, other_modes } = compared;
        let text = |name: &str| event.text(name).filter(|text| !text.is_empty()).map(str::to_owned);
        let said = reply(&event, &decided.decision, &decided.findings);
        let outcome = decided.outcome().to_owned();
        let Decision { verdict, reason, context, messages, moves, .. } = decided.decision;
        let active = catalogue.modes.iter().filter_map(|mode| {
            let state = decided.session.mode_state(&mode.namespace).filter(|state| state.is_active)?;
            Some((mode.name.clone(), state.phase.clone().unwrap_or_default()))
        });
        let gates = deciding(&decided.findings, was.as_ref().map(|(_, findings)| findings.as_slice()));
        Self {
            session: event.session().to_owned(),
            file: place.file.to_owned(),
            line: place.line,
            at: place.at.map(str::to_owned),
            event: event.described(),
            kind: event.name().to_owned(),
            agent: text("agent_type").or_else(|| decided.who.as_ref().map(ToString::to_string)),
            agent_id: text("agent_id"),
            tool: event.tool().map(str::to_owned),
            outcome,
            verdict,
            reason,
            context,
            messages,
            moves,
            modes: active.collect(),
            change,
            was: was.map(PastDecision::from),
            other_modes,
            gates,
            unrecorded: unrecorded(&gaps, &asked),
            expected: None,
            met: None,
            findings: decided.findings,
            facts: asked.iter().filter(|(_, answer)| !matches!(answer, Answer::Clock(_))).map(in_words).collect(),
            reply: Some(HookOutput { stdout: said.stdout, stderr: said.stderr, exit: said.exit }),
        }
    }

    /// The same with what is expected of it.
    #[must_use]
    pub fn expecting(mut self, expected: Option<Expectation>) -> Self {
        let differs = self.change.differs() && !self.is_open();
        let expected = expected.filter(|expected| !differs || !expected.is_met(&self) || expected.wants(self.change));
        self.met = expected.as_ref().map(|expected| expected.is_met(&self));
        self.expected = expected;
        self
    }

    /// Whether there was no decision before, and the session shows too little to make one.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.change == DecisionChange::Undecidable && self.was.is_none()
    }

    /// What is failing, in a word or two.
    #[must_use]
    pub fn title(&self) -> &'static str {
        if self.met == Some(false) { "not as expected" } else { self.change.words() }
    }

    /// Before and now, in a few lines.
    #[must_use]
    pub fn told(&self) -> String {
        let line = |word: &str, verdict: Verdict, reason: &str, moves: &[String]| {
            let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
            let moves = if moves.is_empty() { String::new() } else { format!(" ({})", moves.join(", ")) };
            format!("{word}: {}{reason}{moves}", verdict.word())
        };
        let mut lines = Vec::new();
        if let Some(expected) = self.expected.as_ref().filter(|_| self.met == Some(false)) {
            lines.push(format!("expected: {expected}"));
        }
        lines.extend(
            self.was
                .as_ref()
                .map(|was| line("before", was.decision.verdict, &was.decision.reason, &was.decision.moves)),
        );
        if self.change == DecisionChange::Undecidable {
            lines.push(format!("now: cannot be decided, for this was not recorded: {}", self.unrecorded.join(" ")));
        } else {
            lines.push(line("now", self.verdict, &self.reason, &self.moves));
        }
        let facts = self.facts.iter().take(5).map(|(question, answer)| format!("asked: {question} {answer}"));
        lines.extend(facts);
        lines.join("\n")
    }

    /// Whether it is not as it was, and nobody expects that, or not as it is expected.
    #[must_use]
    pub fn is_failing(&self) -> bool {
        self.met.map_or(self.change.differs() && !self.is_open(), |met| !met)
    }

    /// Whether there is nothing to tell of it: nothing objects, nothing moves, nothing has changed.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        let silent = self.verdict == Verdict::Pass && self.moves.is_empty() && self.context.is_empty();
        silent && !self.change.differs() && self.expected.is_none()
    }
}

impl From<(Decision, Vec<Finding>)> for PastDecision {
    fn from((decision, findings): (Decision, Vec<Finding>)) -> Self {
        Self { decision, findings }
    }
}

/// What was asked in vain.
fn unrecorded(gaps: &[Question], asked: &[(Question, Answer)]) -> Vec<String> {
    let vain = asked.iter().filter(|(_, answer)| matches!(answer, Answer::Unknown(_))).map(|(question, _)| question);
    let mut told: Vec<String> = gaps.iter().chain(vain).map(ToString::to_string).collect();
    told.dedup();
    told
}

fn in_words<Q: ToString, A: ToString>((question, answer): &(Q, A)) -> (String, String) {
    (question.to_string(), answer.to_string())
}

/// The gates that found something else than before; where there is no before, those that object.
fn deciding(now: &[Finding], was: Option<&[Finding]>) -> Vec<GateId> {
    let name = |finding: &Finding| finding.gate.clone();
    let Some(was) = was else {
        return now.iter().filter(|finding| finding.verdict > Verdict::Pass).map(name).collect();
    };
    let lacks = |findings: &[Finding], one: &Finding| {
        !findings.iter().any(|other| {
            (&one.gate, one.verdict, &one.reason, one.outcome.truth)
                == (&other.gate, other.verdict, &other.reason, other.outcome.truth)
        })
    };
    let mut gates: Vec<GateId> = now.iter().filter(|one| lacks(was, one)).map(name).collect();
    for gone in was.iter().filter(|one| lacks(now, one)).map(name) {
        if !gates.contains(&gone) {
            gates.push(gone);
        }
    }
    gates
}
