//! What one input comes to, told piece by piece to whoever puts all of them together.

use crate::mode::Catalogue;
use crate::paths::hash;
use crate::replay::change::Change;
use crate::replay::expect::{Expectation, Sidecar};
use crate::replay::problem::Problem;
use crate::replay::retrial::{Retrial, Where};
use crate::replay::tally::Tally;
use crate::replay::trial::Judged;
use crate::verdict::{Decision, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// How many events are told at once.
const BATCH: usize = 64;

/// What is wanted of the events.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Wanted {
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

/// A piece of news about an input.
pub(super) enum Told {
    Event(Heard),
    /// A session, or its part in a file, is at its end; so many events had nothing to tell.
    Session {
        session: String,
        file: String,
        quiet: u64,
    },
    Problem(Problem),
    /// Records that could not be used: where first, why, how many.
    Skipped(Problem, u64),
    /// The file of a part was read, with the mark at its end, if it has one.
    Part(String, Option<Partition>),
    End(Box<End>),
}

/// An event, in the forms that were wanted.
pub(super) struct Heard {
    pub(super) json: Option<String>,
    pub(super) session: String,
    pub(super) amiss: bool,
    pub(super) blocked: bool,
    pub(super) notable: Option<Box<Retrial>>,
}

/// What an input comes to.
#[derive(Default)]
pub(super) struct End {
    pub(super) tally: Tally,
    pub(super) sessions: BTreeSet<u64>,
    pub(super) blessed: Option<Sidecar>,
    /// Lines that other modes have decided.
    pub(super) foreign: u64,
    /// Whose modes have decided.
    pub(super) laws: BTreeSet<String>,
}

/// What one input has come to so far.
pub(super) struct Docket<'t> {
    pub(super) wanted: Wanted,
    tell: &'t mut dyn FnMut(Vec<Told>),
    batch: Vec<Told>,
    end: End,
    /// The session at hand, its file, and how many of its events had nothing to tell.
    last: (String, String),
    quiet: u64,
    /// What is expected by the file beside the input, by the number of the event.
    expected: Option<Sidecar>,
    number: u64,
}

impl<'t> Docket<'t> {
    pub(super) fn new(wanted: Wanted, tell: &'t mut dyn FnMut(Vec<Told>)) -> Self {
        let end = End { blessed: wanted.bless.then(Sidecar::default), ..End::default() };
        Self { wanted, tell, batch: Vec::new(), end, last: Default::default(), quiet: 0, expected: None, number: 0 }
    }

    /// Expects what the file beside the input says.
    pub(super) fn expect(&mut self, expected: Option<Sidecar>) {
        self.expected = expected;
    }

    /// Tells which part a file is, if it says so.
    pub(super) fn part(&mut self, file: &str, part: Option<Partition>) {
        self.push(Told::Part(file.to_owned(), part));
    }

    /// Notes whose modes decide.
    pub(super) fn by(&mut self, name: &str) {
        if !self.end.laws.contains(name) {
            self.end.laws.insert(name.to_owned());
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

    /// Tells what was judged, and what was expected.
    pub(super) fn event(&mut self, place: Where<'_>, judged: Judged, law: &Catalogue, expected: Option<Expectation>) {
        self.judged(place, judged, law, expected, None);
    }

    /// The same, of which more was demanded than can be told of a decision; `met` tells whether that has come.
    pub(super) fn judged(
        &mut self,
        place: Where<'_>,
        judged: Judged,
        law: &Catalogue,
        expected: Option<Expectation>,
        met: Option<bool>,
    ) {
        self.number += 1;
        let expected = expected.or_else(|| self.expected.as_ref().map(|sidecar| sidecar.at(self.number)));
        self.turn_to(judged.event.session(), place.file);
        let Decision { verdict, moves, .. } = &judged.decided.decision;
        let (change, verdict, open) = (judged.change, *verdict, judged.is_open());
        self.end.foreign += u64::from(judged.foreign);
        let blocked = verdict >= Verdict::Block && change != Change::Undecidable;
        let plain = !change.differs() && expected.is_none() && met.is_none() && !self.wanted.bless;
        let silent = verdict == Verdict::Pass && moves.is_empty();
        // What would be refused for the first time is news; what was refused before is not.
        let news = change == Change::New && verdict >= Verdict::Ask;
        if plain && !self.wanted.json && !news && (silent || !self.wanted.notable) {
            self.quiet += 1;
            return self.end.tally.count(change, blocked, None);
        }
        let mut retrial = Retrial::new(place, judged, law).expecting(expected);
        retrial.met = retrial.met.or(met);
        if open {
            self.end.tally.count_open(retrial.met);
        } else {
            self.end.tally.count(change, blocked, retrial.met);
        }
        if let Some(blessed) = self.end.blessed.as_mut() {
            blessed.bless(&retrial);
        }
        self.tell_event(retrial);
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
            self.push(Told::Session { session, file, quiet });
        }
    }

    /// Tells what another run has judged.
    pub(super) fn retold(&mut self, retrial: Retrial) {
        self.turn_to(&retrial.session, &retrial.file);
        self.end.foreign += u64::from(retrial.foreign);
        if retrial.is_open() {
            self.end.tally.count_open(retrial.met);
        } else {
            let blocked = retrial.verdict >= Verdict::Block && retrial.change != Change::Undecidable;
            self.end.tally.count(retrial.change, blocked, retrial.met);
        }
        self.tell_event(retrial);
    }

    fn tell_event(&mut self, retrial: Retrial) {
        let amiss = retrial.is_amiss();
        let json = self.wanted.json.then(|| serde_json::to_string(&retrial).unwrap_or_default());
        let session = retrial.session.clone();
        let fresh = retrial.was.is_none() && retrial.change != Change::Same && retrial.expected.is_none();
        let news = fresh && retrial.verdict >= Verdict::Ask;
        let notable = amiss || news || self.wanted.notable && !retrial.is_quiet();
        let blocked = retrial.verdict >= Verdict::Block;
        let notable = notable.then(|| Box::new(retrial));
        self.quiet += u64::from(notable.is_none());
        if json.is_some() || notable.is_some() {
            self.push(Told::Event(Heard { json, session, amiss, blocked, notable }));
        }
    }

    /// Tells what is wrong with a line.
    pub(super) fn problem(&mut self, file: &str, line: u64, what: impl Into<String>) {
        self.push(Told::Problem(Problem::new(file, line, what)));
    }

    /// Tells what was passed over, where first and how often.
    pub(super) fn skipped(&mut self, file: &str, line: u64, what: String, count: u64) {
        self.push(Told::Skipped(Problem::new(file, line, what), count));
    }

    /// An expectation that no event can meet.
    pub(super) fn unmet(&mut self, file: &str, line: u64, what: impl Into<String>) {
        self.push(Told::Problem(Problem { unmet: true, ..Problem::new(file, line, what) }));
    }

    fn push(&mut self, told: Told) {
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
        self.end.tally.sessions = self.end.sessions.len() as u64;
        let end = std::mem::take(&mut self.end);
        self.batch.push(Told::End(Box::new(end)));
        self.flush();
    }
}
