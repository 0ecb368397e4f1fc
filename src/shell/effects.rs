//! What a command line would do to the file system, and which programs it would run, as far as that can be told
//! without running it.
//!
//! The line is walked as the shell would: variables that it sets, folders that it enters, programs that run other
//! programs. What cannot be known is said to be unknown, never left out. Not seen through: what a script on disk
//! does, links that exist already, text that a program makes out of other text.

mod args;
mod code;
mod feed;
mod files;
mod find;
mod git;
mod inline;
mod moves;
mod note;
mod programs;
mod state;
mod target;
mod walk;
mod world;
mod wrap;

use super::syntax::Unreadable;
use super::word::Word;
pub use target::{Hit, Target};

/// Where a command line runs: absolute paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ground {
    /// The folder that it starts in.
    pub cwd: String,
    /// The user's own folder.
    pub home: String,
    /// The project's folder.
    pub project: String,
}

/// What a command line would do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Effects {
    /// What it changes, in order; reading is no change.
    pub touches: Vec<Touch>,
    /// The programs it runs, those that other programs run included.
    pub runs: Vec<Run>,
    /// Commands that run code which cannot be seen: `curl … | sh`, `eval "$x"`, `$x`.
    pub hidden: Vec<String>,
    /// Whether a function starts itself more than once, and so without end.
    pub bomb: bool,
    /// Why some of it could not be read; then the rest of this is not all of it.
    pub unreadable: Option<Unreadable>,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touch {
    /// What is done.
    pub deed: Deed,
    /// To what.
    pub target: Target,
    /// Whether it is done to everything below as well.
    pub recursive: bool,
    /// Whether it is done where it says; not where a `cd` before it may have failed.
    pub sure: bool,
    /// The simple command that does it.
    pub by: String,
}

/// What is done to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
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
pub struct Run {
    /// Its name and its arguments.
    pub words: Vec<Word>,
}

impl Run {
    /// Its words as far as they are known, with `…` for what is not.
    #[must_use]
    pub fn argv(&self) -> Vec<String> {
        self.words.iter().map(|word| word.filled("…")).collect()
    }
}

/// Tells what `command` would do on this ground.
#[must_use]
pub fn effects(command: &str, ground: &Ground) -> Effects {
    let mut walk = walk::Walk::new(ground);
    walk.text(command, &Word::unknown());
    walk.effects
}

#[cfg(test)]
mod tests;
