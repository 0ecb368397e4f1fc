//! The journal's format: one line per event, with everything that went into its decision.
//!
//! It is the audit trail, the recording for replay, and the record of agents and edits. Losing it changes
//! only the results of checks that ask who wrote a file. `journal_files` reads and writes it.

mod activity;
mod history;
mod redacted;

pub use activity::ActivityLog;
pub use history::HistoryBuilder;
pub use redacted::{redacted, redacted_fields, shortened};

use crate::facts::session::Session;
use crate::facts::verdict::{Decision, Finding};
use crate::facts::{Answer, Question};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub const VERSION: u32 = 1;

/// One event and its decision.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct JournalLine {
    /// The version of this format.
    pub v: u32,
    /// When the event came, in UTC.
    pub at: String,
    /// The event, redacted.
    pub event: Value,
    /// The session before it.
    pub before: Session,
    /// The session after it, if it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Session>,
    /// The seal of the modes in `after`, with which a state can be restored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<StateSeal>,
    /// The hash of the modes and settings that decided.
    pub modes: String,
    /// Questions and their answers, in the order asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<(Question, Answer)>,
    /// The findings of the gates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// The decision.
    pub decision: Decision,
    /// The agent that stops, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<crate::host::ids::AgentName>,
    /// The files that this event changed, hashed right after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrote: Vec<WrittenFile>,
    /// Whether the state could not be written, so that no notes were delivered and nothing changed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lost: bool,
    /// Sentences about changes that something other than modegate made to its files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub security: Vec<String>,
    /// How long it took, in microseconds.
    pub us: u64,
}

/// The seal of a change of a session's state, chained to the one before.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StateSeal {
    /// How often the state has been written.
    pub revision: u64,
    /// The seal before this one; empty for the first.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub previous: String,
    /// The seal, in hexadecimal digits.
    pub seal: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenFile {
    pub path: String,
    pub sha256: String,
}

/// Redacts the values that scripts have set in a session.
pub fn masked(mut session: Session) -> Session {
    for values in session.values.values_mut() {
        if let Value::Object(masked) = redacted(&Value::Object(std::mem::take(values))) {
            *values = masked;
        }
    }
    session
}
