//! Static analysis of a command line: the files it would change and the programs it would run.
//!
//! The walker follows the line as the shell would, with its variables, its current folder and programs that run other
//! programs. Anything it cannot know becomes an unknown word and is never dropped. It reads scripts on disk one
//! level deep, and does not know text that one program computes from another's.

mod args;
mod builtins;
mod call_output;
mod code_calls;
mod containers;
mod copy_move;
mod disk_view;
mod expansion;
mod fd;
mod file_effect;
mod file_programs;
mod find;
mod find_expression;
mod git;
mod git_code;
mod git_index;
mod inline_code;
mod known_programs;
mod patches;
mod recipes;
mod redefinition;
mod remote;
mod scripts;
mod sending;
mod shell_state;
mod status_source;
mod substitution;
mod target_path;
mod unnamed;
mod walker;
mod wrappers;
mod xargs;

use super::protected::ProtectedFiles;
use super::syntax::Unreadable;
use super::word::{ShellWord, WordPiece};
use base::crash;
pub use call_output::CallOutput;
pub use disk_view::{DiskView, NoDisk};
pub use git_index::{CommitMessage, StagedFiles};
pub(super) use inline_code::may_write;
pub use remote::RemoteEffects;
pub use scripts::ScriptEffects;
use serde::{Deserialize, Serialize};
pub use status_source::StatusSource;
use std::collections::BTreeSet;
pub use target_path::TargetPath;

/// Where a command line runs. All paths are absolute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExecContext {
    /// The current folder.
    pub cwd: String,
    /// The user's home folder.
    pub home: String,
    /// The project's folder.
    pub project: String,
    /// The beginnings of commands that run the words after them, such as `rtk`; `*` is any word.
    pub wrappers: Vec<String>,
    /// The files and the program that are protected.
    pub protected: &'static ProtectedFiles,
}

/// The effects of a command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineEffects {
    /// Changes to files, in order.
    pub changes: Vec<FileEffect>,
    /// Changes that code on the line may make: code of another language that starts programs has command lines that would, or code
    /// that removes files names the paths.
    pub in_code: Vec<FileEffect>,
    /// The programs that such command lines run.
    pub calls_in_code: Vec<ProgramCall>,
    /// The programs it runs, directly or through other programs.
    pub calls: Vec<ProgramCall>,
    /// The messages of its commits.
    pub commits: Vec<CommitMessage>,
    /// What it stages.
    pub staged: Vec<StagedFiles>,
    /// What it does on other machines.
    pub remote: RemoteEffects,
    /// What the scripts that it runs do.
    pub scripts: Vec<ScriptEffects>,
    /// Commands that run unknown code: `curl … | sh`, `eval "$x"`, `$x`.
    pub hidden: Vec<String>,
    /// Whether a function starts itself without end.
    pub bomb: bool,
    /// Why a part of the line could not be analysed; the other fields are then incomplete.
    pub unreadable: Option<Unreadable>,
    /// The units of work that the analysis took.
    pub work: usize,
}

/// A change to a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEffect {
    /// The kind of change.
    pub effect: Effect,
    /// The path.
    pub target: TargetPath,
    /// Whether it includes everything below the path.
    pub recursive: bool,
    /// Whether the path is certain: false if an earlier `cd` may have failed.
    pub sure: bool,
    /// What it does not affect.
    pub excludes: Exclusion,
    /// The simple command that makes the change.
    pub by: String,
}

/// What a change does not affect.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Exclusion {
    /// It changes everything.
    #[default]
    Nothing,
    /// Files that git ignores.
    Ignored,
    /// The folder with the protected files, which the command excludes.
    Protected,
    /// Files that exist.
    Existing,
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
    /// Sends its content to another machine, or stages it by its name for a later push.
    Send,
}

impl Effect {
    /// The effects that a mode file can ask about, by their words.
    pub const WORDS: [(&str, Self); 7] = [
        ("remove", Self::Remove),
        ("write", Self::Write),
        ("mode", Self::Mode),
        ("own", Self::Own),
        ("device", Self::Device),
        ("bomb", Self::Bomb),
        ("send", Self::Send),
    ];

    /// Its word in a mode file.
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, effect)| *effect == self).map_or("", |(word, _)| word)
    }

    /// The verb after "may".
    pub fn verb(self) -> &'static str {
        match self {
            Self::Remove => "remove",
            Self::Write => "write",
            Self::Mode => "change the permissions of",
            Self::Own => "change the owner of",
            Self::Device => "overwrite",
            Self::Bomb => "use up",
            Self::Send => "send",
        }
    }

    /// The verb after "it".
    pub fn third_person(self) -> String {
        let (verb, rest) = self.verb().split_at(self.verb().find(' ').unwrap_or(self.verb().len()));
        format!("{verb}s{rest}")
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

/// A program with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramCall {
    /// Its name and its arguments.
    pub words: Vec<ShellWord>,
    /// What the exit status of the line says about it.
    pub own: StatusSource,
    /// Where its output goes.
    pub output: CallOutput,
    /// The number of the simple command that it belongs to; a wrapper and what it runs share it.
    pub command: usize,
    /// Whether it reads from a pipe.
    pub piped: bool,
    /// Why an earlier part of the line may have changed what it means.
    pub redefined: Option<String>,
}

impl ProgramCall {
    /// Its words as far as they are known, with `…` for the rest.
    pub fn argv(&self) -> Vec<String> {
        self.words.iter().map(|word| word.filled("…")).collect()
    }

    /// Whether one of its arguments contains this text.
    pub fn names(&self, text: &str) -> bool {
        let contains = |piece: &WordPiece| matches!(piece, WordPiece::Text(own) if own.contains(text));
        self.words.iter().skip(1).any(|word| word.pieces().iter().any(contains))
    }

    /// Whether it runs the program of `wanted` with the words of `wanted`.
    ///
    /// The program's folder, options before a word, with or without a value, and a word's part after a colon
    /// (`test:unit`) do not count. Options at the end of `wanted` may be anywhere after its other words.
    pub fn matches(&self, wanted: &str) -> bool {
        let mut wanted = wanted.split_whitespace();
        let Some((program, own)) = wanted.next().zip(self.words.first()) else { return false };
        if !is_program(&own.filled("…"), program) {
            return false;
        }
        let (argv, wanted): (Vec<String>, Vec<&str>) = (self.argv(), wanted.collect());
        let options = wanted.iter().rev().take_while(|word| word.starts_with('-')).count();
        let (words, options) = wanted.split_at(wanted.len() - options);
        let mut starts = BTreeSet::from([1]);
        for word in words {
            let mut next = BTreeSet::new();
            while let Some(at) = starts.pop_first() {
                let Some(given) = argv.get(at) else { continue };
                if is_word(given, word) {
                    next.insert(at + 1);
                }
                if given.starts_with(['-', '+']) {
                    starts.extend([at + 1, at + 2]);
                }
            }
            starts = next;
        }
        let rest = starts.first().and_then(|at| argv.get(*at..));
        rest.is_some_and(|rest| options.iter().all(|option| has_option(rest, option)))
    }
}

/// Whether an option is among these arguments, alone, with a value after `=`, or as one of several letters.
fn has_option(arguments: &[String], option: &str) -> bool {
    let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
    let is_among = |given: &str, letter: &str| {
        let letters = given.strip_prefix('-').filter(|letters| letters.chars().all(|c| c.is_ascii_alphabetic()));
        letters.is_some_and(|letters| letters.contains(letter))
    };
    arguments.iter().take_while(|given| *given != "--").any(|given| {
        given == option
            || given.strip_prefix(option).is_some_and(|rest| option.starts_with("--") && rest.starts_with('='))
            || letter.is_some_and(|letter| is_among(given, letter))
    })
}

/// Whether a program is the wanted one, in any folder; `python3.11` is `python`.
fn is_program(own: &str, wanted: &str) -> bool {
    const VERSIONED: [&str; 6] = ["python", "pypy", "ruby", "php", "node", "perl"];
    let (own, wanted) = (last_part(own), last_part(wanted));
    // `npx jest@29`
    let own = own.find('@').and_then(|at| own.get(..at)).unwrap_or(own);
    let own = own.strip_suffix(".exe").unwrap_or(own);
    // A package may have another name than its program.
    let own = own.strip_suffix("-code").filter(|own| *own == "claude").unwrap_or(own);
    let version =
        |name: &str| own.strip_prefix(name).is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.'));
    own == wanted || VERSIONED.contains(&wanted) && version(wanted)
}

/// The part of a path after its last slash.
fn last_part(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or_default()
}

/// Whether a word is the wanted one: also `test:unit` for `test`, `:app:test` for `test`, and `test-e2e` for `test-*`.
fn is_word(given: &str, wanted: &str) -> bool {
    given == wanted
        || given.split_once(':').is_some_and(|(name, _)| name == wanted)
        || given.starts_with(':') && given.rsplit(':').next() == Some(wanted)
        || wanted.contains('*') && fast_glob::glob_match(wanted, given)
}

/// Computes what `command` would do, without a look at the disk.
pub fn effects(command: &str, context: &ExecContext) -> LineEffects {
    effects_on(command, context, &NoDisk)
}

/// Computes what `command` would do on this disk.
pub fn effects_on(command: &str, context: &ExecContext, disk: &dyn DiskView) -> LineEffects {
    let mut walker = walker::Walker::new(context, disk);
    crash::analyzing(|| walker.text(command, &ShellWord::unknown()));
    if walker.budget.is_used_up() {
        walker.give_up(Unreadable::TooMuchWork);
    }
    let mut effects = walker.effects;
    effects.work = walker.budget.used();
    if effects.unreadable.is_some() {
        effects.calls.iter_mut().for_each(|call| {
            (call.own, call.output) = Default::default();
        });
    }
    effects
}

#[cfg(test)]
mod tests;
