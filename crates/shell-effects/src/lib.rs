//! Bash command lines: which programs they run, and what they change.

mod braces;
mod code_text;
pub mod effects;
mod nesting;
mod parse;
pub mod programs;
mod protected;
mod quoting;
mod readers;
mod reading;
mod sed_script;
mod syntax;
mod word;
mod word_parts;
mod work;

pub use code_text::naming as naming_in_code;
pub use effects::{
    CallOutput, Certainty, CommitMessage, DiskView, Effect, Exclusion, ExecContext, FileEffect, LineEffects,
    ProgramCall, RemoteEffects, ScriptEffects, StagedFiles, TargetPath, effects, effects_on,
};
pub use protected::{NOTHING_PROTECTED, ProtectedFiles};
pub use reading::non_reading_text;
pub use syntax::Unreadable;
pub use word::ShellWord;
pub use work::{MOST_WORK, WorkBudget};

/// Whether `names`, separated by spaces, contain `name`; `*` at the end of one matches any ending.
#[inline]
#[must_use]
pub fn has_name(names: &str, name: &str) -> bool {
    let (names, name) = (names.as_bytes(), name.as_bytes());
    let is = |own: &[u8]| own.strip_suffix(b"*").map_or(own == name, |begin| name.starts_with(begin));
    // Nearly all names differ in their first letter.
    let first = name.first();
    first.is_some() && names.split(|byte| *byte == b' ').any(|own| own.first() == first && is(own))
}
