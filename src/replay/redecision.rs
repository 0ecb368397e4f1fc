//! Deciding a recorded event again, and comparing the result with the recorded decision.

use crate::engine::{Decided, decide};
use crate::facts::session::Session;
use crate::facts::verdict::{Decision, Finding, Truth, Verdict};
use crate::facts::{Answer, FactSource, Facts, Question};
use crate::host::event::{Event, EventError};
use crate::host::ids::AgentName;
use crate::policy::mode::Catalogue;
use crate::replay::change::DecisionChange;
use crate::replay::line::{RecordedLine, unescaped};
use crate::replay::recorded_facts::RecordedFacts;
use crate::replay::result::PastDecision;
use crate::state::journal::{JournalLine, masked};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A decided event, compared with its recorded decision if there is one.
#[derive(Debug)]
pub struct Comparison {
    pub(crate) event: Event,
    /// The decision of now.
    pub decided: Decided,
    pub(crate) asked: Vec<(Question, Answer)>,
    /// Questions that were asked but not recorded.
    pub(crate) gaps: Vec<Question>,
    /// How the decision differs from the recorded one.
    pub change: DecisionChange,
    pub(crate) was: Option<PastDecision>,
    /// Whether other modes, or another version of modegate, made the recorded decision.
    pub other_modes: bool,
}

impl Comparison {
    /// A decision without a recorded one.
    pub(crate) fn new(event: Event, decided: Decided, asked: Vec<(Question, Answer)>) -> Self {
        let change = DecisionChange::New;
        Self { event, decided, asked, gaps: Vec::new(), change, was: None, other_modes: false }
    }

    /// Marks a decision from inferred facts as undecidable where it blocks only because something is unknown.
    pub(crate) fn with_inferred_facts(mut self) -> Self {
        let verdict = self.decided.decision.verdict;
        let mut decisive = self.decided.findings.iter().filter(|finding| finding.verdict == verdict);
        if verdict >= Verdict::Ask && decisive.all(|finding| finding.outcome.truth == Truth::Unknown) {
            self.change = DecisionChange::Undecidable;
        }
        self
    }

    /// Whether there is neither a recorded decision nor a new one.
    pub(crate) fn is_undecided(&self) -> bool {
        self.change == DecisionChange::Undecidable && self.was.is_none()
    }
}

/// Decides an event with the answers of a source; also gives what was asked.
pub(crate) fn decide_with(
    event: &Event,
    catalogue: &Catalogue,
    before: &Session,
    source: &impl FactSource,
) -> (Decided, Vec<(Question, Answer)>) {
    let facts = Facts::new(source);
    let decided = decide(event, catalogue, before, &facts);
    (decided, facts.asked())
}

/// Why a journal line cannot be decided again.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// A part that every line needs is not there.
    #[error("it has no {0}")]
    Missing(&'static str),
    /// The event is not one.
    #[error("its event is invalid: {0}")]
    Event(EventError),
    /// A part has another shape.
    #[error("{0}")]
    Part(serde_json::Error),
}

/// The recorded half of a comparison.
#[derive(Deserialize)]
struct RecordedDecision {
    decision: Decision,
    #[serde(default)]
    findings: Vec<Finding>,
    after: Option<Session>,
    who: Option<AgentName>,
    /// Without stored state neither context nor modes can be compared, only findings.
    #[serde(default)]
    lost: bool,
}

impl RecordedDecision {
    /// What a decision has that differs, in a clause; `before` is the session before the event.
    fn difference(&self, now: &Decided, before: &Session) -> Option<&'static str> {
        if self.findings != now.findings {
            Some("its gates find something else")
        } else if self.lost {
            None
        } else if self.decision != now.decision {
            Some("its decision differs")
        } else if *self.after.as_ref().unwrap_or(before) != masked(now.session.clone()) {
            Some("its session differs afterwards")
        } else if self.who.as_deref() != now.who.as_deref() {
            Some("another agent stops")
        } else {
            None
        }
    }
}

/// Decides a parsed line again from its own facts.
pub(crate) fn redecide(line: &JournalLine, catalogue: &Catalogue) -> Result<Decided, &'static str> {
    let event = Event::from_value(line.event.clone()).map_err(|_| "its event is invalid")?;
    let compared = decide_recorded(event, catalogue, &line.before, &line.asked, Some(&line.at));
    if compared.gaps.is_empty() { Ok(compared.decided) } else { Err("it asks what was not recorded") }
}

/// What differs between a parsed line and a decision, in a clause.
pub(crate) fn difference(line: &JournalLine, now: &Decided) -> Option<&'static str> {
    let JournalLine { decision, findings, after, who, lost, .. } = line.clone();
    RecordedDecision { decision, findings, after, who, lost }.difference(now, &line.before)
}

/// Decides a recorded event.
fn decide_recorded(
    event: Event,
    catalogue: &Catalogue,
    before: &Session,
    recorded: &[(Question, Answer)],
    at: Option<&str>,
) -> Comparison {
    let source = RecordedFacts::new(&event, recorded, at);
    let (decided, asked) = decide_with(&event, catalogue, before, &source);
    let gaps = source.gaps();
    Comparison { gaps, ..Comparison::new(event, decided, asked) }
}

/// Decides the lines of journals again, one after the other.
#[derive(Default)]
pub struct Redecision {
    /// The session that was read last, with its text: most lines begin where the one before has ended.
    text: String,
    session: Session,
}

impl Redecision {
    /// Decides a line again, taking its event and facts out of it; modes with this hash decided the same lines.
    ///
    /// # Errors
    ///
    /// Tells what is wrong with the line.
    pub fn decide_line(
        &mut self,
        text: &[u8],
        line: &mut RecordedLine<'_>,
        catalogue: &Catalogue,
        hash: &str,
    ) -> Result<Comparison, LineError> {
        let event = line.event.take().ok_or(LineError::Missing("event"))?;
        let event = Event::from_value(event.into()).map_err(LineError::Event)?;
        self.read_session(line.before.ok_or(LineError::Missing("session"))?)?;
        let at = line.at.and_then(unescaped);
        let mut compared = decide_recorded(event, catalogue, &self.session, &line.asked, at);
        compared.other_modes = line.modes.and_then(unescaped) != Some(hash);
        compared.change = DecisionChange::Same;
        if !compared.gaps.is_empty() || !self.is_same_text(line, &compared.decided) {
            self.compare(text, line, &mut compared)?;
        }
        Ok(compared)
    }

    fn read_session(&mut self, raw: &RawValue) -> Result<(), LineError> {
        if self.text != raw.get() {
            self.session = serde_json::from_str(raw.get()).map_err(LineError::Part)?;
            raw.get().clone_into(&mut self.text);
        }
        Ok(())
    }

    /// Whether the line would be written again byte for byte.
    fn is_same_text(&self, line: &RecordedLine<'_>, decided: &Decided) -> bool {
        let after = (decided.session != self.session).then(|| masked(decided.session.clone()));
        let findings = Some(&decided.findings).filter(|findings| !findings.is_empty());
        !line.lost
            && is_written_as(Some(&decided.decision), line.decision)
            && is_written_as(findings, line.findings)
            && is_written_as(after.as_ref(), line.after)
            && is_written_as(decided.who.as_ref(), line.who)
    }

    /// Compares values instead of bytes: another writer may format them differently, other modes decide differently.
    fn compare(&self, text: &[u8], line: &RecordedLine<'_>, compared: &mut Comparison) -> Result<(), LineError> {
        line.decision.ok_or(LineError::Missing("decision"))?;
        let recorded: RecordedDecision = serde_json::from_slice(text).map_err(LineError::Part)?;
        let now = &compared.decided;
        compared.change = if !compared.gaps.is_empty() {
            DecisionChange::Undecidable
        } else if recorded.difference(now, &self.session).is_none() {
            DecisionChange::Same
        } else if !compared.other_modes {
            DecisionChange::Drift
        } else {
            let after = recorded.after.as_ref().unwrap_or(&self.session);
            DecisionChange::between((&recorded.decision, after), (&now.decision, &now.session))
        };
        let RecordedDecision { decision, findings, .. } = recorded;
        compared.was = compared.change.differs().then_some(PastDecision { decision, findings });
        Ok(())
    }
}

fn is_written_as(value: Option<&impl Serialize>, raw: Option<&RawValue>) -> bool {
    match (value, raw) {
        (Some(value), Some(raw)) => serde_json::to_string(value).is_ok_and(|text| text == raw.get()),
        (value, raw) => value.is_none() && raw.is_none(),
    }
}
