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
pub use target_path::{Hit, TargetPath};

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

/// What is done to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It is deleted or moved away.
    Remove,
    /// It is created, overwritten, appended to, edited, moved or linked onto.
    Write,
    /// Its permissions change.
    Mode,
    /// Its owner changes.
    Own,
    /// A device is written to, below all file systems.
    Device,
    /// Code names it; what the code does with it is not known.
    Maybe,
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
