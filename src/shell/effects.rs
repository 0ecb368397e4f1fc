//! What a command line would do to the file system, and which programs it would run, as far as that can be told
//! without running it.
//!
//! The line is walked as the shell would: variables that it sets, folders that it enters, programs that run other
//! programs. What cannot be known is said to be unknown, never left out. Not seen through: what a script on disk
//! does, links that exist already, text that a program makes out of other text.

mod args;
mod builtins;
mod code;
mod copy_move;
mod file_effect;
mod file_programs;
mod find;
mod git;
mod inline;
mod shell_state;
mod substitution;
mod target_path;
mod walker;
mod wrappers;
mod xargs;

use super::syntax::Unreadable;
use super::word::ShellWord;
use serde::{Deserialize, Serialize};
pub use target_path::TargetPath;

/// Where a command line calls: absolute paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecContext {
    /// The folder that it starts in.
    pub cwd: String,
    /// The user's own folder.
    pub home: String,
    /// The project's folder.
    pub project: String,
}

/// What a command line would do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineEffects {
    /// What it changes, in order; reading is no change.
    pub changes: Vec<FileEffect>,
    /// The programs it calls, those that other programs run included.
    pub calls: Vec<ProgramCall>,
    /// Commands that run code which cannot be seen: `curl … | sh`, `eval "$x"`, `$x`.
    pub hidden: Vec<String>,
    /// Whether a function starts itself more than once, and so without end.
    pub bomb: bool,
    /// Why some of it could not be read; then the rest of this is not all of it.
    pub unreadable: Option<Unreadable>,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEffect {
    /// What is done.
    pub effect: Effect,
    /// To what.
    pub target: TargetPath,
    /// Whether it is done to everything below as well.
    pub recursive: bool,
    /// Whether it is done where it says; not where a `cd` before it may have failed.
    pub sure: bool,
    /// The simple command that does it.
    pub by: String,
}

/// A kind of change, from the walker through question and answer to the mode file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Deletes a path or moves it away.
    Remove,
    /// Creates, overwrites, appends to or edits a path, or moves or links something onto it.
    Write,
    /// Changes its permissions.
    Mode,
    /// Changes its owner.
    Own,
    /// Writes to a device, below all file systems.
    Device,
    /// Starts processes without end.
    Bomb,
    /// Names a path in code of another language; what the code does with it is unknown.
    Mention,
}

impl Effect {
    /// The effects that a mode file can ask about, by their words.
    pub const WORDS: [(&str, Self); 6] = [
        ("remove", Self::Remove),
        ("write", Self::Write),
        ("mode", Self::Mode),
        ("own", Self::Own),
        ("device", Self::Device),
        ("bomb", Self::Bomb),
    ];

    /// Its word in a mode file.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, effect)| *effect == self).map_or("mention", |(word, _)| word)
    }

    /// The verb after "may".
    #[must_use]
    pub fn verb(self) -> &'static str {
        match self {
            Self::Remove => "remove",
            Self::Write => "write",
            Self::Mode => "change the permissions of",
            Self::Own => "change the owner of",
            Self::Device => "overwrite",
            Self::Bomb => "use up",
            Self::Mention => "name",
        }
    }

    /// The verb after "it".
    #[must_use]
    pub fn third_person(self) -> &'static str {
        match self {
            Self::Remove => "removes",
            Self::Write => "writes",
            Self::Mode => "changes the permissions of",
            Self::Own => "changes the owner of",
            Self::Device => "overwrites",
            Self::Bomb => "uses up",
            Self::Mention => "names",
        }
    }
}

/// How certain an effect is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Certainty {
    /// It depends on something that the command line does not show.
    Possible,
    /// It happens if the command line runs.
    Certain,
}

/// A program with its arguments, those that run it left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramCall {
    /// Its name and its arguments.
    pub words: Vec<ShellWord>,
}

impl ProgramCall {
    /// Its words as far as they are known, with `…` for what is not.
    #[must_use]
    pub fn argv(&self) -> Vec<String> {
        self.words.iter().map(|word| word.filled("…")).collect()
    }
}

/// Tells what `command` would do on this context.
#[must_use]
pub fn effects(command: &str, context: &ExecContext) -> LineEffects {
    let mut walker = walker::Walker::new(context);
    walker.text(command, &ShellWord::unknown());
    walker.effects
}

#[cfg(test)]
mod tests;
