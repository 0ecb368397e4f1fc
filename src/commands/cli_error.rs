//! The error of a command: what is wrong, what to do about it, and the exit code.

use super::{EXIT_FAILURE, EXIT_USAGE};
use crate::policy::mode::{BrokenFile, Catalogue};
use crate::policy::yaml::did_you_mean;
use crate::state::store::StoreError;
use std::fmt;

/// Why a command stopped; printed as `error: …`, then `hint: …`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CliError {
    message: String,
    hint: Option<String>,
    pub(crate) exit: u8,
}

impl CliError {
    /// An error of the project, the disk or the state.
    pub(crate) fn failure(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, exit: EXIT_FAILURE }
    }

    /// An error in the command line.
    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self::failure(message).exit(EXIT_USAGE)
    }

    /// The error with another exit code.
    pub(crate) fn exit(self, exit: u8) -> Self {
        Self { exit, ..self }
    }

    /// The error with advice for the user.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// An unknown name of a `kind`, with the nearest known one if there is one.
    pub(super) fn unknown(kind: &str, name: &str, known: &[&str]) -> Self {
        Self::usage(format!("unknown {kind} `{name}`{}", did_you_mean(name, known)))
    }

    pub(super) fn unknown_mode(name: &str, catalogue: &Catalogue) -> Self {
        let names: Vec<&str> = catalogue.modes.iter().map(|mode| mode.name.as_str()).collect();
        Self::unknown("mode", name, &names).hint("run `modegate modes list` to see all modes")
    }

    /// Every problem of files that cannot be used.
    pub(crate) fn broken(files: &[BrokenFile]) -> Self {
        let problems: Vec<String> = files.iter().map(|file| file.to_string().trim_end().to_owned()).collect();
        let problems = problems.join("\n");
        Self::failure(problems.strip_prefix("error: ").unwrap_or(&problems))
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        Self::failure(error.to_string()).hint(error.hint())
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "\n  hint: {hint}"))
    }
}
