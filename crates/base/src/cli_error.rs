//! The error of a command: what is wrong, what to do about it, and the exit code.

use std::fmt;

/// The command found problems or could not do its work.
pub const EXIT_FAILURE: u8 = 1;

/// Wrong usage; never 2, which is a hook's block.
pub const EXIT_USAGE: u8 = 64;

/// Why a command stopped; printed as `error: …`, then `hint: …`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CliError {
    message: String,
    hint: Option<String>,
    /// The exit code.
    pub exit: u8,
}

impl CliError {
    /// An error of the project, the disk or the state.
    pub fn failure(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, exit: EXIT_FAILURE }
    }

    /// An error in the command line.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::failure(message).exit(EXIT_USAGE)
    }

    /// The error with another exit code.
    pub fn exit(self, exit: u8) -> Self {
        Self { exit, ..self }
    }

    /// The error with advice for the user.
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "\n  hint: {hint}"))
    }
}
