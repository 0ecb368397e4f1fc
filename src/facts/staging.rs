//! Asks what a command line would stage.

use serde::{Deserialize, Serialize};

/// What a `git add` or `git commit` must stage to count; all given parts must match.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StagingQuery {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
    /// Also ignored files.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub forced: bool,
    /// A file that matches one of these globs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
}

/// A command that stages what was asked about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundStaging {
    /// The command, secrets masked.
    pub by: String,
    /// The file that matches, if a glob was asked about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}
