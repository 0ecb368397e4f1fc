//! Problems with recorded files.

use serde::{Deserialize, Serialize};

/// Something that cannot be read or looks wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReplayProblem {
    pub(crate) file: String,
    /// The line; 0 for the whole file.
    #[serde(default)]
    pub(crate) line: u64,
    #[serde(rename = "problem")]
    pub(crate) what: String,
    /// Whether it makes an expectation impossible, and so fails the replay.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) unmet: bool,
}

impl ReplayProblem {
    #[expect(clippy::needless_pass_by_value, reason = "callers pass texts and errors alike")]
    pub(crate) fn new(file: impl Into<String>, line: u64, what: impl ToString) -> Self {
        Self { file: file.into(), line, what: what.to_string(), unmet: false }
    }

    pub(crate) fn unmet(file: impl Into<String>, line: u64, what: impl ToString) -> Self {
        Self { unmet: true, ..Self::new(file, line, what) }
    }
}

impl std::fmt::Display for ReplayProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.what),
            line => write!(f, "{}:{line}: {}", self.file, self.what),
        }
    }
}
