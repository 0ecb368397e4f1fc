//! Records of a transcript that are not used: counts by reason, and how copies are recognized.

use crate::host::transcript::TranscriptRecord;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Why a record was skipped.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum SkipReason {
    #[error("not a complete JSON object")]
    NotJson,
    #[error("record without a type")]
    NoType,
    #[error("unknown record type `{0}`")]
    UnknownType(String),
    #[error("record without a message")]
    NoMessage,
    #[error("repeated record")]
    Repeated,
    #[error("record of another session")]
    Copied,
    #[error("tool result without a call")]
    NoCall,
    #[error("call rejected by the host before any hook")]
    Rejected,
    #[error("call that never started")]
    NotStarted,
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
}

/// The hash of what a copy of a record keeps.
pub(crate) type RecordKey = u64;

/// The shortest id that is random; some models number their calls, and use the numbers again.
const RANDOM_ID: usize = 20;

/// The key of a message: the ids of its calls or results, else its time and text.
///
/// `None` for a record that may be like another by chance.
pub(crate) fn record_key(record: &TranscriptRecord<'_>) -> Option<RecordKey> {
    let kind = record.kind.as_deref().filter(|kind| matches!(*kind, "user" | "assistant"))?;
    let calls = record.tool_uses().map(|call| call.id.or_empty());
    let results = record.tool_results().map(|result| result.tool_use_id.or_empty());
    let ids: Vec<&str> = calls.chain(results).filter(|id| !id.is_empty()).collect();
    let mut hasher = DefaultHasher::new();
    kind.hash(&mut hasher);
    ids.hash(&mut hasher);
    if !ids.iter().any(|id| id.len() >= RANDOM_ID) {
        let text = record.text().unwrap_or_default();
        if ids.is_empty() && text.is_empty() {
            return None;
        }
        (record.timestamp.as_deref()?, text).hash(&mut hasher);
    }
    Some(hasher.finish())
}
