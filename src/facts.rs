//! Narrow questions about files, git, the session and the clock; each is asked once per event.
//!
//! A journal line records the questions and answers, and [`RecordedAnswers`] answers from such a record.

mod effect_query;
mod fork_parent;
pub mod frontmatter;
pub mod glob;
pub mod milestone;
mod output;
mod recorded;
mod rewritten;
mod staging;
mod table;
pub mod text;
mod words;

pub use effect_query::{EffectQuery, FoundEffect, PathList, ProtectedPaths, whole_query};
pub use fork_parent::{ForkParent, ParentSession};
pub use frontmatter::{Frontmatter, frontmatter_of};
pub use output::{line_effects, output_of, passed_by_exit_code};
pub use recorded::RecordedAnswers;
pub use rewritten::{RewrittenFacts, RewrittenQuestion};
pub use staging::{FoundStaging, StagingQuery};
pub use table::{ContextText, HttpResult, RunResult, Unknown};
pub use text::{TextFindings, event_text, search_event_text, search_file, search_text};

use crate::runners::OutputResult;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// How many files or changes an answer holds.
pub const MOST_RESULTS: usize = 20;

/// The start of keys in a baseline that are no files, but rules that ignore files and stashed work.
pub const BASELINE_NOTES: &str = ".git/";

/// A question about the state of the project, the session or the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Which files match any of these globs?
    Files(Vec<String>),
    /// Which files of the project's other worktrees match any of these globs? Only a hint for messages.
    Elsewhere(Vec<String>),
    /// Which absolute path has this file, if its path does not reach it from the working directory? Only for messages.
    Location(String),
    /// Which values do these keys have in a file's frontmatter?
    Frontmatter {
        /// The file.
        path: String,
        /// The keys.
        keys: Vec<String>,
    },
    /// What does the text of a file contain?
    Text {
        /// The file.
        path: String,
        /// The search.
        #[serde(flatten)]
        wanted: TextQuery,
    },
    /// Is the present content of this file committed?
    Committed(String),
    /// What is uncommitted under these paths?
    Changes(Vec<String>),
    /// What is uncommitted under these paths and was not so before?
    ChangesSince {
        /// The paths.
        paths: Vec<String>,
        /// The files that were uncommitted before, with fingerprints of their contents.
        baseline: BTreeMap<String, String>,
    },
    /// Which files are uncommitted under these paths, and what do they contain?
    Baseline(Vec<String>),
    /// Which commit is HEAD?
    Head,
    /// Do the files of HEAD differ from those of this commit, empty for none?
    HeadChanged(String),
    /// Which agents of this session wrote this file, with whatever content?
    Writers(String),
    /// Which branch is checked out, and which is the default branch?
    Branch,
    /// Which milestone is current?
    Milestone,
    /// What time is it?
    Clock,
    /// Who wrote this file's present content?
    Writer(String),
    /// Did the agent with this id write this file's present content?
    Wrote {
        /// The file.
        path: String,
        /// The agent's id.
        id: String,
    },
    /// Where in the project is this path?
    Relative(String),
    /// Which type is the agent of this id?
    Agent {
        /// The agent's id.
        id: String,
        /// The path of its transcript, according to the host.
        transcript: Option<String>,
    },
    /// Which agent does a message go to?
    Addressee {
        /// Its id or name.
        to: String,
        /// The path of the main agent's transcript.
        transcript: Option<String>,
    },
    /// Which agents have started and not yet stopped?
    InFlight,
    /// Which session was this one forked from?
    ForkParent {
        /// The path of the session's transcript, according to the host.
        transcript: Option<String>,
    },
    /// What does a text of the event contain? The journal has the text redacted, so the answer is recorded.
    EventText {
        /// Which text.
        of: EventText,
        /// The search.
        #[serde(flatten)]
        wanted: TextQuery,
    },
    /// How does a program end that is given this event?
    Run(RunStep),
    /// How does a server respond to this event?
    Http(HttpStep),
    /// Would the tool touch any of these paths?
    Touches(EffectQuery),
    /// Does the tool call name any of these paths, and do more than read?
    Mentions(EffectQuery),
    /// Would the command line run one of these programs?
    Calls(Vec<String>),
    /// Would the command line run modegate, under any name, with other words than these?
    OwnCalls(Vec<String>),
    /// Would the command line run one of these programs on another machine? An empty list means any program.
    RemoteCalls(Vec<String>),
    /// Which result does the output of these commands show? The journal has the output redacted, so the answer is
    /// recorded.
    Output {
        /// The commands, by their first words.
        commands: Vec<String>,
        /// The project's own programs that run others.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        wrappers: Vec<String>,
    },
    /// Would the command line stage such files?
    Added(StagingQuery),
    /// Would the tool change modegate's hook entries?
    HookEntries,
    /// What is in this file of `.claude/context`?
    Context(String),
    /// What has the session done so far?
    History,
    /// What does the conversation contain?
    Transcript {
        /// The path of the host's transcript.
        path: String,
        /// Whether only the latest assistant message counts.
        last: bool,
        /// The search.
        #[serde(flatten)]
        wanted: TextQuery,
    },
    /// What is the answer for the tool's input as gates have rewritten it?
    Rewritten(RewrittenQuestion),
}

impl Question {
    /// Whether the answer changes only the words of a message, never a verdict; a recording may lack it.
    #[must_use]
    pub const fn is_about_words(&self) -> bool {
        matches!(self, Self::Elsewhere(_) | Self::Location(_))
    }

    /// Whether it asks for the effects of a tool call; the findings repeat what matters of them.
    pub(crate) const fn is_about_command(&self) -> bool {
        matches!(self, Self::Touches(_) | Self::Mentions(_) | Self::Calls(_) | Self::OwnCalls(_) | Self::HookEntries)
    }
}

/// A program that is given the event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunStep {
    /// The command, for a shell.
    pub command: String,
    /// Whether it gets the event on standard input.
    pub event: bool,
    /// How long it may take.
    pub seconds: u32,
    /// The tool input, if a gate has changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
}

/// A server that is sent the event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HttpStep {
    /// Where.
    pub url: String,
    /// `POST` or `PUT`.
    pub method: String,
    /// Headers; variables are not expanded, so that no secret is recorded.
    pub headers: Vec<(String, String)>,
    /// The environment variables that headers may use.
    pub env: Vec<String>,
    /// How long it may take.
    pub seconds: u32,
    /// The tool input, if a gate has changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
}

/// A search in a text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TextQuery {
    /// Headings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<String>,
    /// Words, ignoring case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contains: Vec<String>,
    /// Regular expressions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<String>,
    /// Beginnings; one of them is enough.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub starts: Vec<String>,
}

/// A text of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EventText {
    /// The prompt of the user or of a spawned agent.
    Prompt,
    /// The shell command.
    Command,
    /// The latest message of the assistant.
    Message,
    /// The message of a commit that the command line makes.
    Commit,
    /// A field of the tool's input, by its path with dots.
    Input(String),
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Files, newest first.
    Files(Vec<FoundFile>),
    /// The absolute path of a file; `None` if its path in the project reaches it from the working directory.
    Location(Option<String>),
    /// A file has no frontmatter.
    NoFrontmatter,
    /// A file's frontmatter cannot be read, for this reason.
    BrokenFrontmatter(String),
    /// The asked keys that a file's frontmatter has.
    Frontmatter(Map<String, Value>),
    /// What was found in a text.
    Text(TextFindings),
    /// There is no such text.
    NoText,
    /// A file compared with HEAD.
    Committed(CommitState),
    /// Uncommitted changes.
    Changes(Vec<GitChange>),
    /// Uncommitted files, with fingerprints of their contents.
    Baseline(BTreeMap<String, String>),
    /// The commit that HEAD is, `None` before the first one.
    Head(Option<String>),
    /// Whether the files of HEAD differ from those of a commit.
    HeadChanged(bool),
    /// The types of agents that wrote a file, without duplicates.
    Writers(Vec<String>),
    /// The checked-out branch.
    Branch(CurrentBranch),
    /// The current milestone, `None` where the project has no status file.
    Milestone(Option<Milestone>),
    /// The time.
    Clock(Clock),
    /// The agent that wrote a file's present content; `None` if no agent of this session did.
    Writer(Option<String>),
    /// Whether an agent wrote a file's present content.
    Wrote(bool),
    /// A path relative to the project, or an absolute path outside of it.
    Relative(String),
    /// An agent's type.
    Agent(Option<String>),
    /// The agent that a message goes to.
    Addressee(Option<MessageAddressee>),
    /// The types of the agents in flight.
    InFlight(Vec<String>),
    /// The session that this one was forked from.
    ForkParent(ForkParent),
    /// The end of a program.
    Ran(RunResult),
    /// The response of a server.
    Fetched(HttpResult),
    /// The first protected path that would be touched.
    Touches(Option<FoundEffect>),
    /// The first protected path that is named.
    Mentions(Option<String>),
    /// The first matching call.
    Calls(Option<String>),
    /// The result that an output shows.
    Output(OutputResult),
    /// The first command that stages such files.
    Added(Option<FoundStaging>),
    /// The settings file whose entries would change.
    HookEntries(Option<String>),
    /// A context file's text.
    Context(ContextText),
    /// What the session has done.
    History(SessionHistory),
    /// There is no answer, for this reason.
    Unknown(Unknown),
}

/// What a session has done so far.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionHistory {
    /// The time of its first event.
    pub started_at: Option<String>,
    /// The command that was typed or called last, since the user last spoke.
    pub active_command: Option<String>,
    /// The skill that was called last, since the user last spoke.
    pub active_skill: Option<String>,
    /// The files that were changed, in order, as paths in the project where they lie in it.
    pub edited_files: Vec<String>,
    /// Their extensions.
    pub file_extensions: Vec<String>,
}

/// The agent that a message goes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageAddressee {
    /// Its id.
    pub id: String,
    /// Its type.
    pub agent: String,
    /// Whether it has started and not yet stopped.
    pub running: bool,
}

/// A file that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundFile {
    /// Its path in the project.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
    /// When it was last written, in milliseconds.
    pub modified: i64,
}

/// A file compared with HEAD.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CommitState {
    /// HEAD and the index have the same content.
    Committed,
    /// Neither tracked nor ignored.
    Untracked,
    /// Same as in the index, but not in HEAD or with other content there.
    Staged,
    /// The worktree differs from the index, or the path is in conflict.
    Modified,
    /// There is no such file.
    Missing,
    /// Not tracked, and an ignore rule covers it.
    Ignored,
}

/// One uncommitted change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GitChange {
    /// The path in the project, with forward slashes; an untracked folder ends in a slash.
    pub path: String,
    /// What happened to it.
    pub kind: ChangeKind,
}

/// How a path has changed; the index wins where both index and worktree differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// A file or folder that is neither tracked nor ignored.
    Untracked,
    /// Staged and not in HEAD; also after `git add -N`.
    Added,
    /// Other content or another executable bit.
    Modified,
    /// Missing in the index or in the worktree.
    Deleted,
    /// Staged under a new path; the old one is inside the asked paths too.
    Renamed,
    /// Changed between file, symbolic link and submodule.
    TypeChanged,
    /// A merge left it unresolved.
    Conflicted,
    /// A submodule with another commit checked out, or with its own changes.
    Submodule,
    /// In a stash that was made since a mode began.
    Stashed,
}

/// The checked-out branch of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurrentBranch {
    /// Its name, `None` if HEAD is detached.
    pub name: Option<String>,
    /// The repository's default branch, if it is known.
    pub default: Option<String>,
    /// Whether the branch has no commit yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unborn: bool,
}

/// The current milestone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Milestone {
    /// Its id, safe in a path.
    pub id: String,
    /// Its description, safe in a path; may be empty.
    pub description: String,
}

/// The time of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// The instant, in UTC.
    pub at: String,
    /// The local day as `MMDDYY`.
    pub date: String,
}

/// Answers questions.
pub trait FactSource {
    /// Answers `question`, if only with [`Answer::Unknown`].
    fn answer(&self, question: &Question) -> Answer;

    /// Answers independent questions, possibly in parallel.
    fn answer_all(&self, questions: &[Question]) -> Vec<Answer> {
        questions.iter().map(|question| self.answer(question)).collect()
    }
}

/// The questions of one event and their answers.
pub struct Facts<'a> {
    source: &'a dyn FactSource,
    asked: RefCell<Vec<(Question, Answer)>>,
}

impl<'a> Facts<'a> {
    /// Creates facts that ask `source`.
    pub fn new(source: &'a dyn FactSource) -> Self {
        Self { source, asked: RefCell::default() }
    }

    /// Asks, once: a repeated question gets the first answer.
    fn ask(&self, question: Question) -> Answer {
        if let Some((_, answer)) = self.asked.borrow().iter().find(|(asked, _)| *asked == question) {
            return answer.clone();
        }
        let answer = self.source.answer(&question);
        self.asked.borrow_mut().push((question, answer.clone()));
        answer
    }

    /// Asks several questions at once, so that a later question finds its answer.
    pub fn prepare(&self, mut questions: Vec<Question>) {
        let mut own: Vec<Question> = Vec::new();
        questions.retain(|question| {
            let is_new = !own.contains(question) && !self.asked.borrow().iter().any(|(asked, _)| asked == question);
            own.extend(is_new.then(|| question.clone()));
            is_new
        });
        let answers = self.source.answer_all(&questions);
        self.asked.borrow_mut().extend(questions.into_iter().zip(answers));
    }

    /// Everything that was asked, in order.
    pub fn asked(self) -> Vec<(Question, Answer)> {
        self.asked.into_inner()
    }

    /// The time of this event.
    pub fn clock(&self) -> Clock {
        match self.ask(Question::Clock) {
            Answer::Clock(clock) => clock,
            _ => Clock { at: String::new(), date: "000000".to_owned() },
        }
    }

    /// A path relative to the project, or unchanged.
    pub fn relative(&self, path: &str) -> String {
        match self.ask(Question::Relative(path.to_owned())) {
            Answer::Relative(path) => path,
            _ => path.to_owned(),
        }
    }
}

/// Files, newest first, at most [`MOST_RESULTS`].
pub fn newest(mut files: Vec<FoundFile>) -> Vec<FoundFile> {
    files.sort_unstable_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
    files.dedup_by(|a, b| a.path == b.path);
    files.truncate(MOST_RESULTS);
    files
}
