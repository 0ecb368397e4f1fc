//! A line of a journal, decided again from what it holds.

use super::change::DecisionChange;
use super::entry::{Entry, plain};
use super::recorded_facts::RecordedFacts;
use crate::engine::{Decided, decide};
use crate::event::Event;
use crate::facts::{Answer, Facts, Question};
use crate::journal::masked;
use crate::mode::Catalogue;
use crate::session::Session;
use crate::verdict::{Decision, Finding, Truth, Verdict};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// Decides the lines of journals again, one after the other.
pub struct Redecision<'c> {
    catalogue: &'c Catalogue,
    /// The hash that lines have which these very modes have decided.
    hash: &'c str,
    last: CachedSession,
    scratch: Vec<u8>,
}

/// The session that was read last: most lines begin where the one before has ended.
#[derive(Default)]
struct CachedSession {
    text: String,
    session: Session,
}

/// An event that was decided, and how that compares with the past.
#[derive(Debug)]
pub struct Comparison {
    /// The event.
    pub event: Event,
    /// What is decided now.
    pub decided: Decided,
    /// What was asked and answered.
    pub asked: Vec<(Question, Answer)>,
    /// What was asked and not recorded.
    pub gaps: Vec<Question>,
    /// What has become of the past decision.
    pub change: DecisionChange,
    /// The past decision and its findings, where it does not simply stand.
    pub was: Option<(Decision, Vec<Finding>)>,
    /// Whether other modes, or another modegate, have made the past decision.
    pub other_modes: bool,
}

impl Comparison {
    /// An event without a past decision.
    #[must_use]
    pub fn new(event: Event, decided: Decided, asked: Vec<(Question, Answer)>) -> Self {
        Self { event, decided, asked, gaps: Vec::new(), change: DecisionChange::New, was: None, other_modes: false }
    }

    /// The same in a world that shows only a part: what is refused for want of knowledge is not decided.
    #[must_use]
    pub fn half_seen(mut self) -> Self {
        let verdict = self.decided.decision.verdict;
        let mut grave = self.decided.findings.iter().filter(|finding| finding.verdict == verdict);
        if verdict >= Verdict::Ask && grave.all(|finding| finding.outcome.truth == Truth::Unknown) {
            self.change = DecisionChange::Undecidable;
        }
        self
    }

    /// Whether there is neither a past decision nor a new one.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.change == DecisionChange::Undecidable && self.was.is_none()
    }
}

impl<'c> Redecision<'c> {
    /// A redecision by the modes of a catalogue; lines with `hash` were decided by the same.
    #[must_use]
    pub fn new(catalogue: &'c Catalogue, hash: &'c str) -> Self {
        Self { catalogue, hash, last: CachedSession::default(), scratch: Vec::new() }
    }

    /// Decides a line again, which takes its event and its facts out of it; the error is a clause about what is wrong with the line.
    pub fn line(&mut self, entry: &mut Entry<'_>) -> Result<Comparison, String> {
        let event = entry.event.take().ok_or("it has no event")?;
        let event = Event::from_value(event.into()).map_err(|why| format!("its event is none: {why}"))?;
        self.read_session(entry.before.ok_or("it has no session")?)?;
        let recorded = std::mem::take(&mut entry.asked);
        let recorded_facts = RecordedFacts::new(&event, &recorded, plain(entry.at));
        let facts = Facts::new(&recorded_facts);
        let decided = decide(&event, self.catalogue, &self.last.session, &facts);
        let asked = facts.asked();
        let gaps = recorded_facts.gaps();
        let other_modes = plain(entry.modes) != Some(self.hash);
        let mut compared =
            Comparison { event, decided, asked, gaps, change: DecisionChange::Same, was: None, other_modes };
        if compared.gaps.is_empty() && self.is_same_text(entry, &compared.decided) {
            return Ok(compared);
        }
        self.compare(entry, &mut compared)?;
        Ok(compared)
    }

    /// The session before the line that was decided last.
    #[must_use]
    pub fn before(&self) -> &Session {
        &self.last.session
    }

    fn read_session(&mut self, raw: &RawValue) -> Result<(), String> {
        if self.last.text != raw.get() {
            self.last.session = serde_json::from_str(raw.get()).map_err(|why| format!("`before`: {why}"))?;
            raw.get().clone_into(&mut self.last.text);
        }
        Ok(())
    }

    /// Whether the line would be written again byte for byte.
    fn is_same_text(&mut self, entry: &Entry<'_>, decided: &Decided) -> bool {
        if entry.lost {
            return false;
        }
        let moved = decided.session != self.last.session;
        let after = moved.then(|| masked(decided.session.clone()));
        let findings = Some(&decided.findings).filter(|findings| !findings.is_empty());
        self.writes(entry.decision, Some(&decided.decision))
            && self.writes(entry.findings, findings)
            && self.writes(entry.after, after.as_ref())
            && self.writes(entry.who, decided.who.as_ref())
    }

    fn writes(&mut self, raw: Option<&RawValue>, value: Option<&impl Serialize>) -> bool {
        let (raw, value) = match (raw, value) {
            (Some(raw), Some(value)) => (raw, value),
            (raw, value) => return raw.is_none() && value.is_none(),
        };
        self.scratch.clear();
        serde_json::to_writer(&mut self.scratch, value).is_ok() && self.scratch == raw.get().as_bytes()
    }

    /// Compares what the bytes mean: another writer may space them otherwise, other modes decide otherwise.
    fn compare(&self, entry: &Entry<'_>, compared: &mut Comparison) -> Result<(), String> {
        let decision: Decision = part(entry.decision, "decision")?.ok_or("it has no decision")?;
        let findings: Vec<Finding> = part(entry.findings, "findings")?.unwrap_or_default();
        let after: Option<Session> = part(entry.after, "after")?;
        let after = after.unwrap_or_else(|| self.last.session.clone());
        let who: Option<crate::ids::AgentName> = part(entry.who, "who")?;
        let now = &compared.decided;
        // Without a state nothing could be told or moved: only the verdict can be compared.
        let stands = if entry.lost {
            findings == now.findings
        } else {
            decision == now.decision
                && findings == now.findings
                && after == masked(now.session.clone())
                && who == now.who
        };
        compared.change = if !compared.gaps.is_empty() {
            DecisionChange::Undecidable
        } else if stands {
            DecisionChange::Same
        } else if !compared.other_modes {
            DecisionChange::Drift
        } else {
            DecisionChange::between((&decision, &after), (&now.decision, &now.session))
        };
        compared.was = compared.change.differs().then_some((decision, findings));
        Ok(())
    }
}

fn part<T: DeserializeOwned>(raw: Option<&RawValue>, name: &str) -> Result<Option<T>, String> {
    raw.map(|raw| serde_json::from_str(raw.get()).map_err(|why| format!("`{name}`: {why}"))).transpose()
}
