//! Bash command lines: which programs they run, and what they change.

mod braces;
pub mod effects;
mod expansion;
mod nesting;
mod parse;
mod quoting;
mod readers;
mod reading;
mod substitutions;
mod syntax;
mod word;
mod word_parts;
mod work;

pub use effects::{
    CallOutput, Certainty, CommitMessage, DiskView, Effect, ExecContext, FileEffect, LineEffects, ProgramCall,
    RemoteEffects, ScriptEffects, StagedFiles, TargetPath, effects, effects_on,
};
pub(crate) use reading::beyond_reading;
pub use word::ShellWord;
