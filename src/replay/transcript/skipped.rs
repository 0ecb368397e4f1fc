//! Counts the records of a transcript that could not be used.

use std::collections::BTreeMap;
use std::fmt::{Display, Formatter, Result};

/// Why a record was skipped.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipReason {
    /// The line is not a complete JSON object.
    NotJson,
    /// The line is too long.
    TooLong,
    /// The record has no type.
    NoType,
    /// The record has a type that modegate does not know.
    UnknownType(String),
    /// The record lacks the message that its type requires.
    NoMessage,
    /// The record appeared before.
    Repeated,
    /// The record was copied from another session.
    Copied,
    /// The result belongs to no call.
    NoCall,
    /// The host rejected the call before any hook ran.
    Rejected,
    /// The call was queued behind one that never ended.
    NotStarted,
}

impl Display for SkipReason {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Self::NotJson => "not a complete JSON object",
            Self::TooLong => "line too long",
            Self::NoType => "record without a type",
            Self::UnknownType(name) => return write!(f, "unknown record type `{name}`"),
            Self::NoMessage => "record without a message",
            Self::Repeated => "repeated record",
            Self::Copied => "record of another session",
            Self::NoCall => "tool result without a call",
            Self::Rejected => "call rejected by the host before any hook",
            Self::NotStarted => "call that never started",
        })
    }
}

/// A line of one of a session's transcript files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TranscriptPosition {
    /// The index of the file.
    pub file: usize,
    /// The line number, from 1.
    pub line: usize,
}

/// How many records were skipped for one reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkipCount {
    /// The number of records.
    pub count: usize,
    /// The first of them.
    pub first: TranscriptPosition,
}

/// All skipped records, by reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkippedRecords(pub BTreeMap<SkipReason, SkipCount>);

impl SkippedRecords {
    pub(super) fn note(&mut self, reason: SkipReason, line: usize) {
        self.add(reason, SkipCount { count: 1, first: TranscriptPosition { file: 0, line } });
    }

    /// Adds the skipped records of the file with the index `file`.
    pub(super) fn join(&mut self, other: Self, file: usize) {
        for (reason, skipped) in other.0 {
            self.add(reason, SkipCount { first: TranscriptPosition { file, ..skipped.first }, ..skipped });
        }
    }

    fn add(&mut self, reason: SkipReason, more: SkipCount) {
        let own = self.0.entry(reason).or_insert(SkipCount { count: 0, first: more.first });
        own.count += more.count;
        own.first = own.first.min(more.first);
    }

    /// The number of all skipped records.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.values().map(|skipped| skipped.count).sum()
    }
}
