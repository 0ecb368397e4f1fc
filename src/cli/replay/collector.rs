//! What one input comes to, told piece by piece to whoever puts all of them together.

use crate::mode::Catalogue;
use crate::paths::hash;
use crate::replay::change::DecisionChange;
use crate::replay::counts::ReplayCounts;
use crate::replay::expectation::{Expectation, ExpectationFile};
use crate::replay::problem::ReplayProblem;
use crate::replay::redecision::Comparison;
use crate::replay::result::{CaseLocation, ReplayResult};
use crate::verdict::{Decision, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// How many events are told at once.
const BATCH: usize = 64;

/// What is wanted of the events.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CollectorOptions {
    /// Every event as JSON.
    pub(super) json: bool,
    /// Every event that has anything to tell.
    pub(super) notable: bool,
    /// New expectations.
    pub(super) bless: bool,
    /// Only the sessions of one part of so many.
    pub(super) partition: Option<Partition>,
}

/// One part of so many; which one a session belongs to hangs on its id alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Partition {
    pub(super) part: u64,
    pub(super) of: u64,
}

impl Partition {
    pub(super) fn has(self, session: &str) -> bool {
        hash(session.as_bytes()) % self.of == self.part - 1
    }
}

impl std::str::FromStr for Partition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
        match parsed {
            Some((part, of)) if part >= 1 && part <= of => Ok(Self { part, of }),
            _ => Err("a part is K/N, with K from 1 to N, such as 2/4".to_owned()),
        }
    }
}

/// A piece of new_blocks about an input.
pub(super) enum ReplayMessage {
    Event(ReportedEvent),
    /// A session, or its part in a file, is at its end; so many events had nothing to tell.
    Session {
        session: String,
        file: String,
        quiet: u64,
    },
    ReplayProblem(ReplayProblem),
    /// Records that could not be used: where first, why, how many.
    Skipped(ReplayProblem, u64),
    /// The file of a part was read, with the mark at its end, if it has one.
    Part(String, Option<Partition>),
    InputTotals(Box<InputTotals>),
}

/// An event, in the forms that were wanted.
pub(super) struct ReportedEvent {
    pub(super) json: Option<String>,
    pub(super) session: String,
    pub(super) failing: bool,
    pub(super) blocked: bool,
    pub(super) notable: Option<Box<ReplayResult>>,
}

/// What an input comes to.
#[derive(Default)]
pub(super) struct InputTotals {
    pub(super) counts: ReplayCounts,
    pub(super) sessions: BTreeSet<u64>,
    pub(super) blessed: Option<ExpectationFile>,
    /// LineReader that other modes have decided.
    pub(super) other_modes: u64,
    /// Whose modes have decided.
    pub(super) mode_sources: BTreeSet<String>,
}

/// What one input has come to so far.
pub(super) struct ResultCollector<'t> {
    pub(super) wanted: CollectorOptions,
    tell: &'t mut dyn FnMut(Vec<ReplayMessage>),
    batch: Vec<ReplayMessage>,
    end: InputTotals,
    /// The session at hand, its file, and how many of its events had nothing to tell.
    last: (String, String),
    quiet: u64,
    /// What is expected by the file beside the input, by the number of the event.
    expected: Option<ExpectationFile>,
    number: u64,
}

impl<'t> ResultCollector<'t> {
    pub(super) fn new(wanted: CollectorOptions, tell: &'t mut dyn FnMut(Vec<ReplayMessage>)) -> Self {
        let end = InputTotals { blessed: wanted.bless.then(ExpectationFile::default), ..InputTotals::default() };
        Self { wanted, tell, batch: Vec::new(), end, last: Default::default(), quiet: 0, expected: None, number: 0 }
    }

    /// Expects what the file beside the input says.
    pub(super) fn expect(&mut self, expected: Option<ExpectationFile>) {
        self.expected = expected;
    }

    /// Tells which part a file is, if it says so.
    pub(super) fn part(&mut self, file: &str, part: Option<Partition>) {
        self.push(ReplayMessage::Part(file.to_owned(), part));
    }

    /// Notes whose modes decide.
    pub(super) fn by(&mut self, name: &str) {
        if !self.end.mode_sources.contains(name) {
            self.end.mode_sources.insert(name.to_owned());
        }
    }

    /// Whether a session belongs to the part that is asked for.
    pub(super) fn has(&self, session: &str) -> bool {
        self.wanted.partition.is_none_or(|partition| partition.has(session))
    }

    /// Whether the session of the next event is to be looked at; one that is not is counted all the same.
    pub(super) fn wants(&mut self, session: &str) -> bool {
        let wanted = self.has(session);
        self.number += u64::from(!wanted);
        wanted
    }

    /// Tells what was compared, and what was expected.
    pub(super) fn event(
        &mut self,
        place: CaseLocation<'_>,
        compared: Comparison,
        modes: &Catalogue,
        expected: Option<Expectation>,
    ) {
        self.compared(place, compared, modes, expected, None);
    }

    /// The same, of which more was demanded than can be told of a decision; `met` tells whether that has come.
    pub(super) fn compared(
        &mut self,
        place: CaseLocation<'_>,
        compared: Comparison,
        modes: &Catalogue,
        expected: Option<Expectation>,
        met: Option<bool>,
    ) {
        self.number += 1;
        let expected = expected.or_else(|| self.expected.as_ref().map(|sidecar| sidecar.at(self.number)));
        self.turn_to(compared.event.session(), place.file);
        let Decision { verdict, moves, .. } = &compared.decided.decision;
        let (change, verdict, open) = (compared.change, *verdict, compared.is_open());
        self.end.other_modes += u64::from(compared.other_modes);
        let blocked = verdict >= Verdict::Block && change != DecisionChange::Undecidable;
        let plain = !change.differs() && expected.is_none() && met.is_none() && !self.wanted.bless;
        let silent = verdict == Verdict::Pass && moves.is_empty();
        // What would be refused for the first time is new_blocks; what was refused before is not.
        let new_blocks = change == DecisionChange::New && verdict >= Verdict::Ask;
        if plain && !self.wanted.json && !new_blocks && (silent || !self.wanted.notable) {
            self.quiet += 1;
            return self.end.counts.count(change, blocked, None);
        }
        let mut result = ReplayResult::new(place, compared, modes).expecting(expected);
        result.met = result.met.or(met);
        if open {
            self.end.counts.count_open(result.met);
        } else {
            self.end.counts.count(change, blocked, result.met);
        }
        if let Some(blessed) = self.end.blessed.as_mut() {
            blessed.bless(&result);
        }
        self.tell_event(result);
    }

    /// Turns to the session of the next event.
    fn turn_to(&mut self, session: &str, file: &str) {
        if self.last.0 == session && self.last.1 == file {
            return;
        }
        self.leave();
        self.end.sessions.insert(hash(session.as_bytes()));
        self.last = (session.to_owned(), file.to_owned());
    }

    /// Tells how many events of the session at hand had nothing to tell.
    fn leave(&mut self) {
        let (session, file) = std::mem::take(&mut self.last);
        let quiet = std::mem::take(&mut self.quiet);
        if self.wanted.notable && !(session.is_empty() && file.is_empty()) {
            self.push(ReplayMessage::Session { session, file, quiet });
        }
    }

    /// Tells what another run has compared.
    pub(super) fn retold(&mut self, result: ReplayResult) {
        self.turn_to(&result.session, &result.file);
        self.end.other_modes += u64::from(result.other_modes);
        if result.is_open() {
            self.end.counts.count_open(result.met);
        } else {
            let blocked = result.verdict >= Verdict::Block && result.change != DecisionChange::Undecidable;
            self.end.counts.count(result.change, blocked, result.met);
        }
        self.tell_event(result);
    }

    fn tell_event(&mut self, result: ReplayResult) {
        let failing = result.is_failing();
        let json = self.wanted.json.then(|| serde_json::to_string(&result).unwrap_or_default());
        let session = result.session.clone();
        let fresh = result.was.is_none() && result.change != DecisionChange::Same && result.expected.is_none();
        let new_blocks = fresh && result.verdict >= Verdict::Ask;
        let notable = failing || new_blocks || self.wanted.notable && !result.is_quiet();
        let blocked = result.verdict >= Verdict::Block;
        let notable = notable.then(|| Box::new(result));
        self.quiet += u64::from(notable.is_none());
        if json.is_some() || notable.is_some() {
            self.push(ReplayMessage::Event(ReportedEvent { json, session, failing, blocked, notable }));
        }
    }

    /// Tells what is wrong with a line.
    pub(super) fn problem(&mut self, file: &str, line: u64, what: impl Into<String>) {
        self.push(ReplayMessage::ReplayProblem(ReplayProblem::new(file, line, what)));
    }

    /// Tells what was passed over, where first and how often.
    pub(super) fn skipped(&mut self, file: &str, line: u64, what: String, count: u64) {
        self.push(ReplayMessage::Skipped(ReplayProblem::new(file, line, what), count));
    }

    /// An expectation that no event can meet.
    pub(super) fn unmet(&mut self, file: &str, line: u64, what: impl Into<String>) {
        self.push(ReplayMessage::ReplayProblem(ReplayProblem { unmet: true, ..ReplayProblem::new(file, line, what) }));
    }

    fn push(&mut self, told: ReplayMessage) {
        self.batch.push(told);
        if self.batch.len() >= BATCH {
            self.flush();
        }
    }

    fn flush(&mut self) {
        (self.tell)(std::mem::take(&mut self.batch));
    }

    /// Tells what the input has come to. A recording from which events have gone is not the one that was blessed.
    pub(super) fn close(mut self, file: &str) {
        if let Some(events) = self.expected.take().map(|sidecar| sidecar.events).filter(|events| *events != self.number)
        {
            self.unmet(file, 0, format!("{events} events are expected, there are {}", self.number));
        }
        self.leave();
        self.end.counts.sessions = self.end.sessions.len() as u64;
        let end = std::mem::take(&mut self.end);
        self.batch.push(ReplayMessage::InputTotals(Box::new(end)));
        self.flush();
    }
}
