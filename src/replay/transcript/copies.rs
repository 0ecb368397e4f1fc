//! Recognizes a record that was written again under another id, as in the transcript of a resumed session.

use crate::transcript::TranscriptRecord;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The hash of what a copy of a record keeps.
pub(crate) type RecordKey = u64;

/// The shortest id that is random; some models number their calls, and use the numbers again.
const RANDOM_ID: usize = 20;

/// The key of a message: the ids of its calls or results, else its time and text.
///
/// `None` for a record that may be like another by chance.
pub(crate) fn record_key(record: &TranscriptRecord) -> Option<RecordKey> {
    let kind = record.kind.as_deref().filter(|kind| matches!(*kind, "user" | "assistant"))?;
    let calls = record.tool_uses().map(|call| call.id.as_str());
    let results = record.tool_results().map(|result| result.id.as_str());
    let ids: Vec<&str> = calls.chain(results).filter(|id| !id.is_empty()).collect();
    let text = record.text().unwrap_or_default();
    if ids.is_empty() && text.is_empty() {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    kind.hash(&mut hasher);
    ids.hash(&mut hasher);
    if !ids.iter().any(|id| id.len() >= RANDOM_ID) {
        (record.timestamp.as_deref()?, text).hash(&mut hasher);
    }
    Some(hasher.finish())
}
