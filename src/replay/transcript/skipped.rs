//! What of a transcript could not be used, and why.

use std::collections::BTreeMap;
use std::fmt::{Display, Formatter, Result};

/// Why something was passed over.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipReason {
    /// A line is no JSON object, or only half of one.
    NotJson,
    /// A line is longer than any that is read.
    TooLong,
    /// A record has no type.
    NoType,
    /// A record has a type that nobody here knows.
    UnknownType(String),
    /// A record lacks the message that its type promises.
    NoMessage,
    /// A record stands there a second time.
    Repeated,
    /// A record was copied from another session.
    Copied,
    /// A result has no call.
    NoCall,
    /// A call was refused by the host itself, before any hook.
    Refused,
    /// A call waited for another that never ended.
    NotBegun,
}

impl Display for SkipReason {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::NotJson => f.write_str("the line is not a whole JSON object"),
            Self::TooLong => f.write_str("the line is too long"),
            Self::NoType => f.write_str("the record has no type"),
            Self::UnknownType(name) => write!(f, "records of type `{name}` are not known"),
            Self::NoMessage => f.write_str("the record has no message"),
            Self::Repeated => f.write_str("the record was there before"),
            Self::Copied => f.write_str("the record is another session's"),
            Self::NoCall => f.write_str("the result is of a call that is not there"),
            Self::Refused => f.write_str("the host refused the call before any hook"),
            Self::NotBegun => f.write_str("the call waited for one that never ended"),
        }
    }
}

/// A place in a session's transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TranscriptPosition {
    /// Which part, from 0.
    pub part: usize,
    /// Which line of it, from 1.
    pub line: usize,
}

/// How often something was passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkipCount {
    /// How often.
    pub count: usize,
    /// Where first.
    pub first: TranscriptPosition,
}

/// Everything that was passed over, by reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkippedRecords(pub BTreeMap<SkipReason, SkipCount>);

impl SkippedRecords {
    /// Counts something that was passed over on a line of the part at hand.
    pub fn note(&mut self, reason: SkipReason, line: usize) {
        self.add(reason, SkipCount { count: 1, first: TranscriptPosition { part: 0, line } });
    }

    /// Adds what another part has passed over.
    pub fn join(&mut self, other: Self, part: usize) {
        for (reason, tally) in other.0 {
            self.add(reason, SkipCount { first: TranscriptPosition { part, ..tally.first }, ..tally });
        }
    }

    fn add(&mut self, reason: SkipReason, more: SkipCount) {
        let own = self.0.entry(reason).or_insert(SkipCount { count: 0, first: more.first });
        own.count += more.count;
        own.first = own.first.min(more.first);
    }

    /// How often all in all.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.values().map(|tally| tally.count).sum()
    }
}
