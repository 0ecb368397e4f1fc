//! A command line as the shell would read it: [`commands`] for recognising what was run, [`effects()`] for what it
//! would do.

mod braces;
pub mod effects;
mod expansion;
mod line;
mod parse;
mod quoting;
mod syntax;
mod word;
mod word_parts;

pub use effects::{Certainty, Effect, ExecContext, FileEffect, LineEffects, ProgramCall, TargetPath, effects};
pub use line::{Simple, begins_with, changes_folder, commands};
pub use syntax::Unreadable;
pub use word::{ShellWord, WordPiece};
