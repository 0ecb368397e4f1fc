//! The reason why a question has no answer.

use serde::{Deserialize, Serialize};

/// Why a question has no answer, as a clause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{0}")]
#[serde(transparent)]
pub struct Unknown(String);

impl<T: Into<String>> From<T> for Unknown {
    fn from(why: T) -> Self {
        Self(why.into())
    }
}

impl Unknown {
    const UNREADABLE: &str = "the command cannot be parsed: ";

    const TOO_SLOW: &str = " within ";

    /// A program or server that does what `verb` says too late.
    pub(crate) fn timeout(name: &str, verb: &str, seconds: u64) -> Self {
        Self(format!("{name} did not {verb}{}{seconds} s", Self::TOO_SLOW))
    }

    /// Whether a program or server took too long.
    pub fn is_timeout(&self) -> bool {
        let number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit()) && text.ends_with(" s");
        self.0.rsplit_once(Self::TOO_SLOW).is_some_and(|(_, seconds)| number(seconds))
    }

    /// A command line that cannot be parsed, for this reason.
    pub(crate) fn unreadable_command(why: impl std::fmt::Display) -> Self {
        Self(format!("{}{why}", Self::UNREADABLE))
    }

    /// The part of what a check saw that says why a command line cannot be parsed.
    pub(crate) fn unreadable_in(saw: &str) -> Option<&str> {
        saw.find(Self::UNREADABLE).and_then(|at| saw.get(at..))
    }
}
