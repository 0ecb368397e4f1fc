//! Something that could not be read, or is odd.

use serde::{Deserialize, Serialize};

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayProblem {
    /// The file.
    pub file: String,
    /// The line; 0 for the whole file.
    #[serde(default)]
    pub line: u64,
    /// What is wrong, as a clause.
    #[serde(rename = "problem")]
    pub what: String,
    /// Whether something is expected that it makes impossible.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unmet: bool,
}

impl ReplayProblem {
    /// Something odd, and where.
    pub fn new(file: impl Into<String>, line: u64, what: impl Into<String>) -> Self {
        Self { file: file.into(), line, what: what.into(), unmet: false }
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
