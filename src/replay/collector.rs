//! Collects the results of one input and passes them on in batches.

use crate::paths::hash;
use crate::replay::change::{DecisionChange, ReplayCounts};
use crate::replay::expectation::{Expectation, ExpectationFile};
use crate::replay::line_pattern::is_same;
use crate::replay::mode_source::ResolvedModes;
use crate::replay::redecision::Comparison;
use crate::replay::result::{CaseLocation, ReplayProblem, ReplayResult};
use crate::verdict::{Decision, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// How many messages are passed on at once.
pub(crate) const BATCH: usize = 256;

/// What the sinks need of the events.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct CollectorOptions {
    pub(crate) json: bool,
    /// Every event that blocks, moves or differs.
    pub(crate) notable: bool,
    pub(crate) bless: bool,
    pub(crate) shard: Option<Shard>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Shard {
    #[serde(rename = "shard")]
    pub(crate) number: u64,
    pub(crate) of: u64,
}

impl Shard {
    pub(crate) fn has(self, session: &str) -> bool {
        hash(session.as_bytes()) % self.of == self.number - 1
    }
}

impl std::str::FromStr for Shard {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match parsed {
            Some((number, of)) if number >= 1 && number <= of => Ok(Self { number, of }),
            _ => Err("a shard is K/N, with K from 1 to N, such as 2/4"),
        }
    }
}

pub(crate) enum ReplayMessage {
    /// An event, and its JSON where a sink needs that.
    Event(Option<String>, Box<ReplayResult>),
    /// A session ends, or its part in a file; `quiet` events of it were not reported.
    Session {
        session: String,
        file: String,
        quiet: u64,
    },
    Problem(ReplayProblem),
    /// Records that cannot be used: the first one, why, and how many.
    Skipped(ReplayProblem, u64),
    /// The output of a shard was read; a complete one ends with its number.
    Shard(String, Option<Shard>),
    End(Box<InputTotals>),
}

#[derive(Default)]
pub(crate) struct InputTotals {
    pub(crate) counts: ReplayCounts,
    pub(crate) sessions: BTreeSet<u64>,
    pub(crate) blessed: Option<ExpectationFile>,
    /// Lines that other modes decided.
    pub(crate) other_modes: u64,
    /// The modes that decided, for people.
    pub(crate) modes: BTreeSet<String>,
}

/// A decided event of a journal.
pub(crate) enum DecidedCase {
    Compared(Box<Comparison>),
    /// One that another process decided, and that is only counted.
    Counted(CountedCase),
    /// The result of another process, which does not know the file and the line.
    Result(Box<ReplayResult>),
}

/// An event that is counted and not reported.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct CountedCase {
    change: DecisionChange,
    is_blocked: bool,
    is_undecided: bool,
    other_modes: bool,
}

impl CountedCase {
    /// Whether an event without an expectation is only counted.
    pub(crate) fn of(compared: &Comparison, options: CollectorOptions) -> Option<Self> {
        let Decision { verdict, moves, .. } = &compared.decided.decision;
        let is_silent = *verdict == Verdict::Pass && moves.is_empty();
        let is_undecided = compared.is_undecided();
        Self::new(options, *verdict, is_silent, (compared.change, is_undecided, compared.other_modes))
    }

    /// The same for the result of an event.
    fn of_result(result: &ReplayResult, options: CollectorOptions) -> Option<Self> {
        let is_silent = result.verdict == Verdict::Pass && result.moves.is_empty();
        Self::new(options, result.verdict, is_silent, (result.change, result.is_undecided(), result.other_modes))
    }

    fn new(
        options: CollectorOptions,
        verdict: Verdict,
        is_silent: bool,
        (change, is_undecided, other_modes): (DecisionChange, bool, bool),
    ) -> Option<Self> {
        let is_plain = !change.differs() && !options.bless && !options.json;
        let is_new_block = change == DecisionChange::New && verdict >= Verdict::Ask;
        let is_counted = is_plain && !is_new_block && (is_silent || !options.notable);
        is_counted.then_some(Self { change, is_blocked: verdict >= Verdict::Block, is_undecided, other_modes })
    }
}

/// A decided event that may still be followed by its expectation.
struct PendingExpectation {
    case: PendingCase,
    expected: Option<Expectation>,
    /// Whether the checks of a scenario step are met, which an expectation cannot express.
    met: Option<bool>,
}

enum PendingCase {
    Compared(CaseLocation, Box<Comparison>, Arc<ResolvedModes>),
    Result(Box<ReplayResult>),
}

/// Collects the results of one input.
///
/// Readers report each event with [`wants`](Self::wants) and [`case`](Self::case), and each line about it with
/// [`expectation`](Self::expectation).
#[derive(Default)]
pub(crate) struct ResultCollector<'t> {
    options: CollectorOptions,
    /// Passes messages on; `None` keeps them all.
    send: Option<&'t mut (dyn FnMut(Vec<ReplayMessage>) + Send)>,
    pub(crate) messages: Vec<ReplayMessage>,
    totals: InputTotals,
    pending: Option<PendingExpectation>,
    /// The number of events that are decided like an earlier one.
    similar: u64,
    /// Whether the last event belongs to another shard, and its expectation too.
    passed: bool,
    /// The session and file of the last event.
    last: (String, Arc<str>),
    quiet: u64,
    /// The expectations of a file, by the number of the event.
    pub(crate) file: Option<ExpectationFile>,
    /// The number of the last event.
    number: u64,
}

impl<'t> ResultCollector<'t> {
    pub(crate) fn new(options: CollectorOptions, send: Option<&'t mut (dyn FnMut(Vec<ReplayMessage>) + Send)>) -> Self {
        let totals = InputTotals { blessed: options.bless.then(ExpectationFile::default), ..InputTotals::default() };
        Self { options, send, totals, ..Self::default() }
    }

    pub(crate) fn has(&self, session: &str) -> bool {
        self.options.shard.is_none_or(|shard| shard.has(session))
    }

    /// Begins the next event; returns whether its session belongs to the shard. Another one is only counted.
    pub(crate) fn wants(&mut self, session: &str) -> bool {
        self.settle();
        self.passed = !self.has(session);
        self.number += u64::from(self.passed);
        !self.passed
    }

    /// Reports a decided event, and whether the checks of its scenario step are met.
    pub(crate) fn case(
        &mut self,
        location: CaseLocation,
        compared: Comparison,
        modes: &Arc<ResolvedModes>,
        met: Option<bool>,
    ) {
        let session = compared.event.session().to_owned();
        self.decided(location, &session, DecidedCase::Compared(Box::new(compared)), modes);
        if let Some(pending) = &mut self.pending {
            pending.met = met;
        }
    }

    /// Reports a decided event of a journal.
    pub(crate) fn decided(
        &mut self,
        location: CaseLocation,
        session: &str,
        case: DecidedCase,
        modes: &Arc<ResolvedModes>,
    ) {
        self.settle();
        if !self.totals.modes.contains(&modes.name) {
            self.totals.modes.insert(modes.name.clone());
        }
        let case = match case {
            DecidedCase::Counted(counted) => {
                self.begin_session(session, &location.file);
                self.number += 1;
                return self.count_quiet(counted);
            }
            DecidedCase::Compared(compared) => {
                self.begin_session(compared.event.session(), &location.file);
                PendingCase::Compared(location, compared, Arc::clone(modes))
            }
            DecidedCase::Result(mut result) => {
                self.begin_session(&result.session, &location.file);
                (result.file, result.line) = (location.file.to_string(), location.line);
                PendingCase::Result(result)
            }
        };
        self.pending = Some(PendingExpectation { case, expected: None, met: None });
    }

    /// Counts an event that is decided like an earlier one, and passes as recorded.
    pub(crate) fn similar_case(&mut self, session: &str, other_modes: bool, file: &Arc<str>) {
        self.settle();
        self.begin_session(session, file);
        self.number += 1;
        self.totals.other_modes += u64::from(other_modes);
        self.quiet += 1;
        self.similar += 1;
    }

    /// Reads the expectation of the last event.
    pub(crate) fn expectation(&mut self, file: &str, line: u64, text: &str) {
        match (Expectation::read(text), &mut self.pending) {
            (Ok(expected), Some(pending)) => pending.expected = Some(expected),
            (Ok(_), None) if self.passed => {}
            (Ok(_), None) => self.problem(file, line, "no event comes before this expectation"),
            (Err(why), _) => self.unmet(file, line, why),
        }
    }

    /// Reports the event that waited for its expectation.
    pub(crate) fn settle(&mut self) {
        let Some(PendingExpectation { case, expected, met }) = self.pending.take() else { return };
        self.number += 1;
        let expected = expected.or_else(|| self.file.as_ref().map(|file| file.at(self.number)));
        if expected.is_none() && met.is_none() {
            let counted = match &case {
                PendingCase::Compared(_, compared, _) => CountedCase::of(compared, self.options),
                PendingCase::Result(result) => CountedCase::of_result(result, self.options),
            };
            if let Some(counted) = counted {
                return self.count_quiet(counted);
            }
        }
        let result = match case {
            PendingCase::Compared(location, compared, modes) => {
                ReplayResult::new(location, *compared, &modes.catalogue)
            }
            PendingCase::Result(result) => *result,
        };
        self.totals.other_modes += u64::from(result.other_modes);
        let mut result = result.expecting(expected);
        result.met = result.met.or(met);
        if let Some(blessed) = self.totals.blessed.as_mut() {
            blessed.bless(&result);
        }
        self.count(result);
    }

    fn count_quiet(&mut self, counted: CountedCase) {
        let CountedCase { change, is_blocked, is_undecided, other_modes } = counted;
        self.totals.other_modes += u64::from(other_modes);
        self.quiet += 1;
        self.totals.counts.count(change, is_blocked, is_undecided, None);
    }

    /// Reports a result that another run printed.
    pub(crate) fn result(&mut self, result: ReplayResult) {
        self.begin_session(&result.session, &result.file.as_str().into());
        self.totals.other_modes += u64::from(result.other_modes);
        self.count(result);
    }

    fn count(&mut self, result: ReplayResult) {
        self.totals.counts.count(result.change, result.is_blocked(), result.is_undecided(), result.met);
        self.quiet += u64::from(result.is_quiet());
        let json = self.options.json.then(|| serde_json::to_string(&result).unwrap_or_default());
        let is_notable = result.is_failing() || result.is_new_block() || self.options.notable && !result.is_quiet();
        if json.is_some() || is_notable {
            self.push(ReplayMessage::Event(json, Box::new(result)));
        }
    }

    fn begin_session(&mut self, session: &str, file: &Arc<str>) {
        let (last, last_file) = &self.last;
        let is_same_file = Arc::ptr_eq(last_file, file) || last_file == file;
        if !is_same_file || !is_same(last.as_bytes(), session.as_bytes()) {
            self.end_session();
            self.totals.sessions.insert(hash(session.as_bytes()));
            self.last = (session.to_owned(), Arc::clone(file));
        }
    }

    fn end_session(&mut self) {
        let (session, file) = std::mem::take(&mut self.last);
        let quiet = std::mem::take(&mut self.quiet);
        if self.options.notable && !(session.is_empty() && file.is_empty()) {
            self.push(ReplayMessage::Session { session, file: file.to_string(), quiet });
        }
    }

    pub(crate) fn problem(&mut self, file: &str, line: u64, what: impl ToString) {
        self.push(ReplayMessage::Problem(ReplayProblem::new(file, line, what)));
    }

    /// Reports a problem that makes an expectation impossible.
    pub(crate) fn unmet(&mut self, file: &str, line: u64, what: impl ToString) {
        self.push(ReplayMessage::Problem(ReplayProblem::unmet(file, line, what)));
    }

    pub(crate) fn push(&mut self, message: ReplayMessage) {
        self.messages.push(message);
        if let Some(send) = self.send.as_mut().filter(|_| self.messages.len() >= BATCH) {
            send(std::mem::take(&mut self.messages));
        }
    }

    /// Ends the input; returns its last messages. A recording that lost events is not the one that was blessed.
    pub(crate) fn close(mut self, file: &str) -> Vec<ReplayMessage> {
        self.settle();
        if let Some(events) = self.file.take().map(|file| file.events).filter(|events| *events != self.number) {
            self.unmet(file, 0, format!("expected {events} events, found {}", self.number));
        }
        self.end_session();
        self.totals.counts.count_same(self.similar);
        self.totals.counts.sessions = self.totals.sessions.len() as u64;
        self.messages.push(ReplayMessage::End(Box::new(self.totals)));
        self.messages
    }
}
