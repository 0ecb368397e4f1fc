//! Deciding a recorded event again, and comparing the result with the recorded decision.

use crate::engine::{Decided, decide};
use crate::facts::session::Session;
use crate::facts::verdict::{Truth, Verdict};
use crate::facts::{Answer, FactSource, Facts, Question};
use crate::host::event::{Event, EventError};
use crate::policy::mode::Catalogue;
use crate::replay::change::DecisionChange;
use crate::replay::recorded_facts::RecordedFacts;
use crate::replay::result::PastDecision;
use crate::state::journal::{JournalLine, masked};

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

/// Decides a line of a journal again and compares the results; `hash` is the one of the modes that decide now.
///
/// # Errors
///
/// When the line has no valid event.
pub fn decide_line(line: JournalLine, catalogue: &Catalogue, hash: &str) -> Result<Comparison, EventError> {
    let event = Event::from_value(line.event.clone())?;
    let source = RecordedFacts::new(&event, &line.asked, Some(&line.at));
    let (decided, asked) = decide_with(&event, catalogue, &line.before, &source);
    let gaps = source.gaps();
    let other_modes = line.modes != hash;
    let change = if !gaps.is_empty() {
        DecisionChange::Undecidable
    } else if difference(&line, &decided).is_none() {
        DecisionChange::Same
    } else if !other_modes {
        DecisionChange::Drift
    } else {
        let after = line.after.as_ref().unwrap_or(&line.before);
        DecisionChange::between((&line.decision, after), (&decided.decision, &decided.session))
    };
    let was = change.differs().then_some(PastDecision { decision: line.decision, findings: line.findings });
    Ok(Comparison { event, decided, asked, gaps, change, was, other_modes })
}

/// What a decision has that differs from the recorded one, in a clause.
pub(crate) fn difference(line: &JournalLine, now: &Decided) -> Option<&'static str> {
    let session = line.after.as_ref().unwrap_or(&line.before);
    if line.findings != now.findings {
        Some("its gates find something else")
    } else if line.lost {
        // Without stored state neither context nor modes can be compared.
        None
    } else if line.decision != now.decision {
        Some("its decision differs")
    } else if *session != now.session && *session != masked(now.session.clone()) {
        Some("its session differs afterwards")
    } else if line.who != now.who {
        Some("another agent stops")
    } else {
        None
    }
}
