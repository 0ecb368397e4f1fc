//! The shell's grammar, as little of it as the readers need.

use std::fmt;

/// A command line or a part of one. Words are as written; [`super::expand`] tells what they come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CommandTree {
    Command(SimpleCommand),
    /// Commands joined by pipes, each reading what the one before it prints.
    Pipeline(Vec<CommandTree>),
    /// Commands one after the other, each with what joins it to the next.
    List(Vec<(CommandTree, Connector)>),
    Compound(CompoundCommand),
    Function {
        name: String,
        body: Box<CommandTree>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Connector {
    And,
    Or,
    Then,
    Background,
}

/// Assignments, words and redirections; any of them may be missing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SimpleCommand {
    pub assignments: Vec<String>,
    pub words: Vec<String>,
    pub redirects: Vec<Redirection>,
}

/// What stands around other commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CompoundCommand {
    pub kind: CompoundKind,
    /// The variable of a `for`, which takes each of `words` in turn.
    pub variable: Option<String>,
    /// Words outside its commands: those may hold substitutions too.
    pub words: Vec<String>,
    pub parts: Vec<CommandTree>,
    pub redirects: Vec<Redirection>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CompoundKind {
    /// `(…)`, `coproc`: what happens to variables and the folder stays inside.
    Subshell,
    /// `{ …; }`.
    Block,
    /// `! …`.
    Not,
    /// `if`, `case`, `[[ … ]]`: some of the parts run.
    Branch,
    /// `for`, `while`, `until`, `select`: parts run any number of times.
    Loop,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Redirection {
    pub kind: RedirectKind,
    /// A file's name, or the text that is read.
    pub target: String,
    /// Whether it is what the command reads, or prints: not so for `2>`.
    pub main: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RedirectKind {
    Read,
    Write,
    /// `>&`: a file only where the target is no descriptor.
    Duplicate,
    /// A here-document; a quoted one is taken as it stands.
    Document {
        quoted: bool,
    },
    /// `<<<`.
    Here,
}

/// Why a command line could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// What stands in the way.
    pub why: String,
    /// The line of the text, from 1.
    pub line: usize,
}

impl Unreadable {
    pub(super) fn new(why: impl Into<String>, line: usize) -> Self {
        Self { why: why.into(), line }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}
