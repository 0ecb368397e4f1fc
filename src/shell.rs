//! Bash command lines: which programs they run, and what they change.

mod braces;
pub mod effects;
mod expansion;
mod parse;
mod quoting;
mod syntax;
mod word;
mod word_parts;

pub use effects::{
    CallOutput, Certainty, CommitMessage, Effect, ExecContext, FileEffect, LineEffects, ProgramCall, RemoteEffects,
    StagedFiles, TargetPath, effects,
};
pub use word::ShellWord;
