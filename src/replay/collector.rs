//! Compares the decisions of one input with their expectations, counts them, and passes on what a report needs.

use crate::facts::verdict::{Decision, Verdict};
use crate::host::paths::hash;
use crate::replay::change::{DecisionChange, ReplayCounts};
use crate::replay::expectation::{Expectation, ExpectationFile};
use crate::replay::mode_source::ResolvedModes;
use crate::replay::redecision::Comparison;
use crate::replay::result::{CaseLocation, ReplayProblem, ReplayResult};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, Default)]
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

/// A decided event that may still be followed by its expectation.
struct PendingEvent {
    location: CaseLocation,
    compared: Comparison,
    modes: Arc<ResolvedModes>,
    expected: Option<Expectation>,
    /// Whether the checks of a scenario step are met, which an expectation cannot express.
    met: Option<bool>,
}

/// Collects the results of one input.
///
/// Readers report each event with [`wants`](Self::wants) and [`case`](Self::case), and each line about it with
/// [`expectation`](Self::expectation).
pub(crate) struct ResultCollector<'r> {
    options: CollectorOptions,
    receive: &'r mut dyn FnMut(ReplayMessage),
    totals: InputTotals,
    pending: Option<PendingEvent>,
    /// Whether the last event belongs to another shard, and its expectation too.
    is_other_shard: bool,
    /// The session and file of the last event.
    last: (String, Arc<str>),
    quiet: u64,
    /// The expectations of a file, by the number of the event.
    pub(crate) file: Option<ExpectationFile>,
    number: u64,
}

impl<'r> ResultCollector<'r> {
    pub(crate) fn new(options: CollectorOptions, receive: &'r mut dyn FnMut(ReplayMessage)) -> Self {
        let totals = InputTotals { blessed: options.bless.then(ExpectationFile::default), ..InputTotals::default() };
        let (is_other_shard, last, quiet, number) = Default::default();
        Self { options, receive, totals, pending: None, is_other_shard, last, quiet, file: None, number }
    }

    pub(crate) fn has(&self, session: &str) -> bool {
        self.options.shard.is_none_or(|shard| shard.has(session))
    }

    /// Begins the next event; returns whether its session belongs to the shard. Another one is only counted.
    pub(crate) fn wants(&mut self, session: &str) -> bool {
        self.settle();
        self.is_other_shard = !self.has(session);
        self.number += u64::from(self.is_other_shard);
        !self.is_other_shard
    }

    /// Reports a decided event, and whether the checks of its scenario step are met.
    pub(crate) fn case(
        &mut self,
        location: CaseLocation,
        compared: Comparison,
        modes: &Arc<ResolvedModes>,
        met: Option<bool>,
    ) {
        self.settle();
        self.totals.modes.insert(modes.name.clone());
        self.begin_session(compared.event.session(), &location.file);
        self.pending = Some(PendingEvent { location, compared, modes: Arc::clone(modes), expected: None, met });
    }

    pub(crate) fn expectation(&mut self, file: &str, line: u64, text: &str) {
        match (Expectation::parse(text), &mut self.pending) {
            (Ok(expected), Some(pending)) => pending.expected = Some(expected),
            (Ok(_), None) if self.is_other_shard => {}
            (Ok(_), None) => self.problem(file, line, "no event comes before this expectation"),
            (Err(why), _) => self.unmet(file, line, why),
        }
    }

    /// Reports the event that waited for its expectation.
    pub(crate) fn settle(&mut self) {
        let Some(PendingEvent { location, compared, modes, expected, met }) = self.pending.take() else { return };
        self.number += 1;
        let expected = expected.or_else(|| self.file.as_ref().map(|file| file.event(self.number)));
        if expected.is_none() && met.is_none() && self.is_only_counted(&compared) {
            let is_blocked = compared.decided.decision.verdict >= Verdict::Block;
            self.totals.other_modes += u64::from(compared.other_modes);
            self.quiet += 1;
            return self.totals.counts.count(compared.change, is_blocked, false, None);
        }
        let mut result = ReplayResult::new(location, compared, &modes.catalogue).with_expectation(expected);
        result.compared.met = result.compared.met.or(met);
        if let Some(blessed) = self.totals.blessed.as_mut() {
            blessed.bless(&result);
        }
        self.report(result);
    }

    /// Whether nobody needs to see an event without an expectation: that spares the work of describing it.
    fn is_only_counted(&self, compared: &Comparison) -> bool {
        let Decision { verdict, moves, .. } = &compared.decided.decision;
        let CollectorOptions { json, notable, bless, .. } = self.options;
        let is_silent = *verdict == Verdict::Pass && moves.is_empty();
        let is_new_block = compared.change == DecisionChange::New && *verdict >= Verdict::Ask;
        !compared.change.differs() && !json && !bless && !is_new_block && (is_silent || !notable)
    }

    /// Reports a result, which may be of another run.
    pub(crate) fn result(&mut self, result: ReplayResult) {
        self.begin_session(&result.event.session, &result.event.file.as_str().into());
        self.report(result);
    }

    fn report(&mut self, result: ReplayResult) {
        self.totals.other_modes += u64::from(result.compared.other_modes);
        self.totals.counts.count(
            result.compared.change,
            result.is_blocked(),
            result.is_undecided(),
            result.compared.met,
        );
        self.quiet += u64::from(result.is_quiet());
        let json = self.options.json.then(|| serde_json::to_string(&result).unwrap_or_default());
        let is_notable = result.is_failing() || result.is_new_block() || self.options.notable && !result.is_quiet();
        if json.is_some() || is_notable {
            self.push(ReplayMessage::Event(json, Box::new(result)));
        }
    }

    fn begin_session(&mut self, session: &str, file: &Arc<str>) {
        if self.last.1 != *file || self.last.0 != session {
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
        (self.receive)(message);
    }

    /// Ends the input. A recording that lost events is not the one that was blessed.
    pub(crate) fn close(mut self, file: &str) {
        self.settle();
        if let Some(events) = self.file.take().map(|file| file.events).filter(|events| *events != self.number) {
            self.unmet(file, 0, format!("expected {events} events, found {}", self.number));
        }
        self.end_session();
        (self.receive)(ReplayMessage::End(Box::new(self.totals)));
    }
}
