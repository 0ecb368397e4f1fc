//! What a session did since its last event at which the installation was compared.

use super::stamp::FileStamp;
use crate::facts::verdict::Verdict;
use crate::host::event::EventKind;
use crate::state::journal_files;
use jiff::Timestamp;
use serde_json::Value;
use std::path::Path;

/// How far the times of files may be behind the clock, in nanoseconds: file systems take the time of the last tick. What was
/// changed before the last comparison was seen by it.
const CLOCK_STEP: u64 = 20_000_000;

/// The last event of a session at which the installation was compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct LastComparison {
    at: Timestamp,
    has_calls: bool,
}

impl LastComparison {
    /// Reads the journal of a session; `None` if the session has just begun.
    pub(super) fn of(journal: &Path) -> Option<Self> {
        let mut last = None;
        let mut has_calls = false;
        for line in journal_files::recent(journal).iter().rev() {
            let name = line.event.get("hook_event_name").and_then(Value::as_str).unwrap_or_default();
            let kind = EventKind::named(name);
            let at = line.at.parse().ok();
            if kind.is_some_and(super::compares) {
                return at.map(|at| Self { at, has_calls });
            }
            has_calls |= line.event.get("tool_name").is_some() && line.decision.verdict < Verdict::Block;
            last = at.or(last);
        }
        last.map(|at| Self { at, has_calls })
    }

    /// Whether a tool can have made a change: one has run, and the file has changed since.
    pub(super) fn blames_tools(self, stamp: FileStamp) -> bool {
        let changed = stamp.changed.saturating_add(CLOCK_STEP);
        self.has_calls && u64::try_from(self.at.as_nanosecond()).is_ok_and(|at| changed > at)
    }
}
