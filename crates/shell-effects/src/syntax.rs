//! The syntax tree of a command line, reduced to what the walker needs.

/// A command line or a part of one, with unexpanded words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CommandTree {
    Command(SimpleCommand),
    /// Commands connected by pipes.
    Pipeline(Vec<CommandTree>),
    /// A sequence of commands, each with the connector to the next.
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

/// Assignments, words and redirections; each may be empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SimpleCommand {
    pub assignments: Vec<String>,
    pub words: Vec<String>,
    pub redirects: Vec<Redirection>,
}

/// A command made of other commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CompoundCommand {
    pub kind: CompoundKind,
    /// The variable of a `for`, which is set to each of `words` in turn.
    pub variable: Option<String>,
    /// Words outside its commands, which may contain substitutions.
    pub words: Vec<String>,
    pub parts: Vec<CommandTree>,
    pub redirects: Vec<Redirection>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CompoundKind {
    /// `(…)`, `coproc`: changes of variables and the folder are local.
    Subshell,
    /// `{ …; }`.
    Block,
    /// `! …`.
    Not,
    /// `if`, `case`, `[[ … ]]`: some parts run.
    Branch,
    /// `for`, `while`, `until`, `select`: parts run any number of times.
    Loop,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Redirection {
    pub kind: RedirectKind,
    /// A file name, or the text of a here-document.
    pub target: String,
    /// Whether it redirects standard input or output, unlike `2>`.
    pub main: bool,
    /// Whether it adds to the end of the file.
    pub appends: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RedirectKind {
    Read,
    Write,
    /// `>&`: writes a file unless the target is a descriptor.
    Duplicate,
    /// A here-document; a quoted one is not expanded.
    Document {
        quoted: bool,
    },
    /// `<<<`.
    Here,
}

/// Why a command line could not be analysed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// The text is too long.
    #[error("it is longer than {0} bytes")]
    TooLong(usize),
    /// The text contains a null character, or one that no command has.
    #[error("it has a null or private-use character")]
    NullCharacter,
    /// The line runs too many commands.
    #[error("it runs more than {0} commands")]
    TooManyCommands(usize),
    /// The analysis takes too long.
    #[error("it takes too long to analyze")]
    TooMuchWork,
    /// The line uses a part of the shell that is not followed.
    #[error("`{0}` is not followed")]
    NotFollowed(&'static str),
    /// Commands are nested too deeply.
    #[error("it is nested too deeply")]
    TooDeep,
    /// No thread with a large stack could be started.
    #[error("there is not enough memory to parse it")]
    NoMemory,
    /// A quote or substitution is not closed.
    #[error("`{0}` is not closed")]
    Unclosed(String),
    /// The parser reports an error.
    #[error("line {line}: {message}")]
    Syntax {
        /// The parser's message.
        message: String,
        /// The line of the text, from 1.
        line: usize,
    },
}
