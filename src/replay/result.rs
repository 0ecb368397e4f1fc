//! Replayed events, and problems with recorded files, as people and scripts read them.

use crate::facts::verdict::{Decision, Finding, Truth, Verdict};
use crate::facts::{Answer, Question};
use crate::hook::{Reply, reply};
use crate::host::ids::GateId;
use crate::policy::mode::Catalogue;
use crate::replay::change::DecisionChange;
use crate::replay::expectation::Expectation;
use crate::replay::redecision::Comparison;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One event, its decision, and the recorded decision where that differs.
///
/// This is the line of `replay --json`; `docs/replay.md` describes its keys.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ReplayResult {
    #[serde(flatten)]
    pub(crate) event: ReplayedEvent,
    #[serde(flatten)]
    pub(crate) now: NewDecision,
    #[serde(flatten)]
    pub(crate) compared: ComparedDecision,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) findings: Vec<Finding>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) facts: Vec<(String, String)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reply: Option<Reply>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ReplayedEvent {
    pub(crate) session: String,
    pub(crate) file: String,
    pub(crate) line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<String>,
    /// The event in a few words.
    #[serde(rename = "event")]
    pub(crate) words: String,
    pub(crate) kind: String,
    /// The agent that acts; `None` for the main agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct NewDecision {
    /// The result in a word, such as `blocked`.
    pub(crate) outcome: String,
    pub(crate) verdict: Verdict,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) reason: String,
    /// Texts for the model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) context: Vec<String>,
    /// Texts for the user.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) messages: Vec<String>,
    /// Changes of modes and phases.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) moves: Vec<String>,
    /// The active modes after the event, each with its phase.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) modes: BTreeMap<String, String>,
}

/// How the decision compares with the recorded one, and with the expected one.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ComparedDecision {
    pub(crate) change: DecisionChange,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) was: Option<PastDecision>,
    /// Whether other modes, or another version of modegate, made the recorded decision.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) other_modes: bool,
    /// The gates that cause the difference; without one, those that warn, ask or block.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) gates: Vec<GateId>,
    /// Questions whose answers are not recorded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unrecorded: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expected: Option<Expectation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) met: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PastDecision {
    #[serde(flatten)]
    pub(crate) decision: Decision,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) findings: Vec<Finding>,
}

/// Where an event was read, and when it happened.
#[derive(Debug, Clone)]
pub(crate) struct CaseLocation {
    pub(crate) file: Arc<str>,
    pub(crate) line: u64,
    pub(crate) at: Option<String>,
}

const FACTS_SHOWN: usize = 5;

const GATES_SHOWN: usize = 3;

impl ReplayResult {
    pub(crate) fn new(location: CaseLocation, compared: Comparison, catalogue: &Catalogue) -> Self {
        let Comparison { event, decided, asked, gaps, change, was, other_modes } = compared;
        let text = |name: &str| event.text(name).filter(|text| !text.is_empty()).map(str::to_owned);
        let reply = reply(&event, &decided.decision, &decided.findings);
        let outcome = decided.outcome().to_owned();
        let Decision { verdict, reason, context, messages, moves, .. } = decided.decision;
        let active = catalogue.modes.iter().filter_map(|mode| {
            let state = decided.session.mode_state(&mode.namespace).filter(|state| state.is_active)?;
            Some((mode.name.clone(), state.phase.clone().unwrap_or_default()))
        });
        let facts = asked.iter().filter(|(question, _)| *question != Question::Clock && !question.is_about_words());
        Self {
            event: ReplayedEvent {
                session: event.session().to_owned(),
                file: location.file.to_string(),
                line: location.line,
                at: location.at,
                words: event.described(),
                kind: event.name().to_owned(),
                agent: text("agent_type").or_else(|| decided.who.as_ref().map(ToString::to_string)),
                agent_id: text("agent_id"),
                tool: event.tool().map(str::to_owned),
            },
            now: NewDecision { outcome, verdict, reason, context, messages, moves, modes: active.collect() },
            compared: ComparedDecision {
                change,
                other_modes,
                gates: decisive_gates(&decided.findings, was.as_ref().map(|was| was.findings.as_slice())),
                was,
                unrecorded: unrecorded(&gaps, &asked),
                ..ComparedDecision::default()
            },
            facts: facts.map(|(question, answer)| (question.to_string(), answer.to_string())).collect(),
            findings: decided.findings,
            reply: Some(reply),
        }
    }

    /// Adds an expectation. One that is met, but does not name the difference, is ignored.
    pub(crate) fn with_expectation(mut self, expected: Option<Expectation>) -> Self {
        let change = self.compared.change;
        let expected =
            expected.filter(|expected| !self.differs() || !expected.is_met(&self) || expected.accepts(change));
        self.compared.met = expected.as_ref().map(|expected| expected.is_met(&self));
        self.compared.expected = expected;
        self
    }

    /// Whether the decision is not the recorded one.
    pub(crate) fn differs(&self) -> bool {
        self.compared.change.differs() && !self.is_undecided()
    }

    fn is_undecidable(&self) -> bool {
        self.compared.change == DecisionChange::Undecidable
    }

    /// Whether there is no recorded decision, and the session shows too little to make a new one.
    pub(crate) fn is_undecided(&self) -> bool {
        self.is_undecidable() && self.compared.was.is_none()
    }

    /// The kind of failure in a word or two.
    pub(crate) fn title(&self) -> &'static str {
        if self.compared.met == Some(false) { "not as expected" } else { self.compared.change.words() }
    }

    pub(crate) fn place(&self) -> String {
        format!("{}:{}", self.event.file, self.event.line)
    }

    /// What changed and why, as labeled lines.
    pub(crate) fn details(&self) -> Vec<(&'static str, String)> {
        let Self { now, compared, findings, facts, .. } = self;
        let decision = |verdict: Verdict, reason: &str, moves: &[String]| {
            let reason = if reason.is_empty() { String::new() } else { format!(": {}", reason.replace('\n', " ")) };
            let moves = if moves.is_empty() { String::new() } else { format!(" ({})", moves.join(", ")) };
            format!("{}{reason}{moves}", verdict.word())
        };
        let mut lines = Vec::new();
        if let Some(expected) =
            compared.expected.as_ref().filter(|_| compared.met == Some(false) && !self.is_undecidable())
        {
            lines.push(("expected", expected.to_string()));
        }
        if let Some(PastDecision { decision: was, .. }) = &compared.was {
            lines.push(("before", decision(was.verdict, &was.reason, &was.moves)));
        }
        if self.is_undecidable() {
            let missing = compared.unrecorded.join(" ");
            lines.push(("now", format!("cannot be decided; this was not recorded: {missing}")));
            return lines;
        }
        lines.push(("now", decision(now.verdict, &now.reason, &now.moves)));
        let is_decisive = |finding: &&Finding| compared.gates.contains(&finding.gate);
        if let Some(PastDecision { decision: was, findings: past }) = &compared.was {
            for (label, now, was) in
                [("context", &now.context, &was.context), ("message", &now.messages, &was.messages)]
            {
                if now != was {
                    lines.extend(now.iter().map(|text| (label, text.clone())));
                    lines.extend(was.iter().map(|text| ("was", text.clone())));
                }
            }
            let gone = |finding: &&Finding| !findings.iter().any(|other| other.gate == finding.gate);
            let gone = past.iter().filter(is_decisive).filter(gone).take(GATES_SHOWN);
            lines.extend(gone.map(|finding| ("removed", described(finding))));
        }
        let mut decisive: Vec<&Finding> = findings.iter().filter(is_decisive).collect();
        decisive.sort_by_key(|finding| std::cmp::Reverse(finding.verdict));
        lines.extend(decisive.iter().take(GATES_SHOWN).map(|finding| ("gate", described(finding))));
        lines
            .extend(facts.iter().take(FACTS_SHOWN).map(|(question, answer)| ("asked", format!("{question} {answer}"))));
        lines
    }

    pub(crate) fn description(&self) -> String {
        let lines: Vec<String> = self.details().into_iter().map(|(label, text)| format!("{label}: {text}")).collect();
        lines.join("\n")
    }

    /// Whether the event fails the replay: an unmet expectation, or a difference that nobody expects.
    pub(crate) fn is_failing(&self) -> bool {
        self.compared.met.map_or(self.differs(), |met| !met)
    }

    /// Whether it would be blocked or asked, and has never been decided before.
    pub(crate) fn is_new_block(&self) -> bool {
        let is_new = self.compared.change == DecisionChange::New || self.is_undecided();
        is_new && self.compared.expected.is_none() && self.now.verdict >= Verdict::Ask
    }

    pub(crate) fn is_blocked(&self) -> bool {
        self.now.verdict >= Verdict::Block && !self.is_undecidable()
    }

    /// Whether nothing objects, nothing moves and nothing has changed.
    pub(crate) fn is_quiet(&self) -> bool {
        let silent = self.now.verdict == Verdict::Pass && self.now.moves.is_empty() && self.now.context.is_empty();
        silent && !self.compared.change.differs() && self.compared.expected.is_none()
    }
}

fn described(finding: &Finding) -> String {
    let phase = finding.phase.as_ref().map(|phase| format!(", phase {phase}")).unwrap_or_default();
    let truth = match finding.outcome.truth {
        Truth::Passes => "passes",
        Truth::Fails => "fails",
        Truth::Unknown => "is unknown",
    };
    let saw = if finding.outcome.saw.is_empty() { String::new() } else { format!(": {}", finding.outcome.saw) };
    format!("{} [{} mode{phase}] {truth}{saw}", finding.gate, finding.mode)
}

fn unrecorded(gaps: &[Question], asked: &[(Question, Answer)]) -> Vec<String> {
    let unknown = asked.iter().filter(|(_, answer)| matches!(answer, Answer::Unknown(_)));
    let mut questions: Vec<String> =
        gaps.iter().chain(unknown.map(|(question, _)| question)).map(ToString::to_string).collect();
    questions.dedup();
    questions
}

/// The gates whose findings differ from the recorded ones; without recorded ones, those that warn, ask or block.
fn decisive_gates(now: &[Finding], was: Option<&[Finding]>) -> Vec<GateId> {
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

/// Something that cannot be read or looks wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReplayProblem {
    pub(crate) file: String,
    /// The line; 0 for the whole file.
    #[serde(default)]
    pub(crate) line: u64,
    #[serde(rename = "problem")]
    pub(crate) what: String,
    /// Whether it makes an expectation impossible, and so fails the replay.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) unmet: bool,
}

impl ReplayProblem {
    #[expect(clippy::needless_pass_by_value, reason = "callers pass texts and errors alike")]
    pub(crate) fn new(file: impl Into<String>, line: u64, what: impl ToString) -> Self {
        Self { file: file.into(), line, what: what.to_string(), unmet: false }
    }

    pub(crate) fn unmet(file: impl Into<String>, line: u64, what: impl ToString) -> Self {
        Self { unmet: true, ..Self::new(file, line, what) }
    }
}

impl std::fmt::Display for ReplayProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.what),
            line => write!(f, "{}:{line}: {}", self.file, self.what),
        }
    }
}
