//! The facts: narrow questions to the world, each asked once and remembered.
//!
//! What was asked and answered *is* the recording: a journal line holds it, and [`RecordedAnswers`]
//! answers from it.

mod effect_query;
pub mod frontmatter;
pub mod glob;
pub mod milestone;
mod recorded;
pub mod text;
mod words;

pub use effect_query::{EffectQuery, FoundEffect, ProtectedPaths};
pub use frontmatter::frontmatter_of;
pub use recorded::RecordedAnswers;
pub use text::{event_text, search_event_text, search_file};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::cell::RefCell;

/// How many files or changes an answer holds.
pub const MOST_RESULTS: usize = 20;

/// A question to the world.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Which files match any of these globs?
    Files(Vec<String>),
    /// What do these keys of a file's frontmatter say?
    Frontmatter {
        /// The file.
        path: String,
        /// The keys.
        keys: Vec<String>,
    },
    /// What does a text have?
    Text {
        /// The file.
        path: String,
        /// What is looked for.
        #[serde(flatten)]
        wanted: TextQuery,
    },
    /// Is this file committed as it stands?
    Committed(String),
    /// What is uncommitted under these paths?
    Changes(Vec<String>),
    /// Which commit is HEAD?
    Head,
    /// Which milestone is current?
    Milestone,
    /// What time is it?
    Clock,
    /// Who wrote this file's present content?
    Writer(String),
    /// Where in the project is this path?
    Relative(String),
    /// Which type is the agent of this id?
    Agent {
        /// The agent's id.
        id: String,
        /// Where the host says its transcript is.
        transcript: Option<String>,
    },
    /// Which agents have started and not yet stopped?
    InFlight,
    /// What does a text of the event itself have? Asked, because the journal has it only redacted.
    EventText {
        /// Which text.
        of: EventText,
        /// What is looked for.
        #[serde(flatten)]
        wanted: TextQuery,
    },
    /// What does a program say of this event?
    Run(RunStep),
    /// What does a server say of this event?
    Http(HttpStep),
    /// Would the tool touch any of these paths?
    Touches(EffectQuery),
    /// Would the command line run one of these programs?
    Calls(Vec<String>),
    /// Would the tool change modegate's hook entries?
    HookEntries,
    /// What does this file of `.claude/context` say?
    Context(String),
    /// What has the session done so far?
    History,
    /// What does the conversation have?
    Transcript {
        /// Where the host keeps it.
        path: String,
        /// Whether only the latest assistant message counts.
        last: bool,
        /// What is looked for.
        #[serde(flatten)]
        wanted: TextQuery,
    },
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
    /// What the tool is given, if a gate has changed it.
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
    /// Headers, with variables not filled in: what they stand for is nobody's business.
    pub headers: Vec<(String, String)>,
    /// The variables that may stand in headers.
    pub env: Vec<String>,
    /// How long it may take.
    pub seconds: u32,
    /// What the tool is given, if a gate has changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
}

/// What is looked for in a text.
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
    /// How it begins; one of them is enough.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub starts: Vec<String>,
}

/// A text of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EventText {
    /// The prompt of the user, or of an agent that is spawned.
    Prompt,
    /// The shell command.
    Command,
    /// The latest message of the assistant.
    Message,
}

/// What the world answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Files, newest first.
    Files(Vec<FoundFile>),
    /// A file has no frontmatter.
    NoFrontmatter,
    /// A file's frontmatter cannot be read, for this reason.
    BrokenFrontmatter(String),
    /// The asked keys that a file's frontmatter has.
    Frontmatter(Map<String, Value>),
    /// How long a text is and what it lacks.
    Text {
        /// Its length in characters.
        chars: usize,
        /// What it lacks, each as a phrase.
        missing: Vec<String>,
    },
    /// There is no such text.
    NoText,
    /// How a file stands against HEAD.
    Committed(CommitState),
    /// Uncommitted changes.
    Changes(Vec<GitChange>),
    /// The commit that HEAD is, `None` before the first one.
    Head(Option<String>),
    /// The current milestone, `None` where the project has no status file.
    Milestone(Option<Milestone>),
    /// The time.
    Clock(Clock),
    /// Who wrote a file's present content; `None` when nobody in this session did.
    Writer(Option<String>),
    /// A path in the project, or the whole path of what is outside.
    Relative(String),
    /// An agent's type.
    Agent(Option<String>),
    /// The types of the agents in flight.
    InFlight(Vec<String>),
    /// What a program said.
    Ran {
        /// Its exit code.
        code: i32,
        /// What it printed, as far as it is kept.
        stdout: String,
        /// What it complained.
        stderr: String,
    },
    /// What a server said.
    Fetched {
        /// The status.
        status: u16,
        /// The body, as far as it is kept.
        body: String,
    },
    /// What is touched, if anything is.
    Touches(Option<FoundEffect>),
    /// The call, if there is one.
    Calls(Option<String>),
    /// The settings file whose entries would change.
    HookEntries(Option<String>),
    /// A context file's text.
    Context {
        /// The text, or its beginning.
        text: String,
        /// Whether that is all of it.
        whole: bool,
    },
    /// What the session has done.
    History(SessionHistory),
    /// It could not be found out, for this reason.
    Unknown(String),
}

/// What a session has done so far.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionHistory {
    /// When its first event came.
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

/// How a file stands against HEAD.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CommitState {
    /// HEAD has this very content, and the index agrees.
    Committed,
    /// Neither tracked nor ignored.
    Untracked,
    /// As in the index, but HEAD lacks it or has another content.
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
    /// The path in the project, with forward slashes; a wholly untracked folder ends in one.
    pub path: String,
    /// What happened to it.
    pub kind: ChangeKind,
}

/// What happened to a path; where index and worktree both changed, what the index says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// A file or folder that git does not know and does not ignore.
    Untracked,
    /// Staged, and HEAD lacks it; also a file that is only intended to be added.
    Added,
    /// Another content or another executable bit.
    Modified,
    /// Gone from the index or from the worktree.
    Deleted,
    /// Staged under a new path; the old one is inside the asked paths, too.
    Renamed,
    /// Now a file, a symbolic link or a submodule where it was another of these.
    TypeChanged,
    /// A merge left it unresolved.
    Conflicted,
    /// A submodule with another commit checked out, or with changes of its own.
    Submodule,
}

/// The current milestone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Milestone {
    /// Its id, fit for a path.
    pub id: String,
    /// Its description, fit for a path; may be empty.
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

/// Where answers come from.
pub trait FactSource {
    /// Answers `question`; "could not find out" is an answer too.
    fn answer(&self, question: &Question) -> Answer;

    /// Answers questions that need not wait for one another.
    fn answer_all(&self, questions: &[Question]) -> Vec<Answer> {
        questions.iter().map(|question| self.answer(question)).collect()
    }
}

/// What has been asked and answered for one event.
pub struct Facts<'a> {
    source: &'a dyn FactSource,
    asked: RefCell<Vec<(Question, Answer)>>,
}

impl<'a> Facts<'a> {
    /// Facts from `source`, nothing asked yet.
    #[must_use]
    pub fn new(source: &'a dyn FactSource) -> Self {
        Self { source, asked: RefCell::default() }
    }

    /// Asks, once: a repeated question gets the first answer.
    pub fn ask(&self, question: Question) -> Answer {
        if let Some((_, answer)) = self.asked.borrow().iter().find(|(asked, _)| *asked == question) {
            return answer.clone();
        }
        let answer = self.source.answer(&question);
        self.asked.borrow_mut().push((question, answer.clone()));
        answer
    }

    /// Asks several questions at the same time, so that each has its answer when it is asked again.
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
    #[must_use]
    pub fn asked(self) -> Vec<(Question, Answer)> {
        self.asked.into_inner()
    }

    /// Files matching any of `globs`, newest first.
    pub fn files(&self, globs: Vec<String>) -> Result<Vec<FoundFile>, String> {
        match self.ask(Question::Files(globs)) {
            Answer::Files(files) => Ok(files),
            other => Err(unknown(other)),
        }
    }

    /// The time of this event.
    #[must_use]
    pub fn clock(&self) -> Clock {
        match self.ask(Question::Clock) {
            Answer::Clock(clock) => clock,
            _ => Clock { at: String::new(), date: "000000".to_owned() },
        }
    }

    /// The current milestone.
    pub fn milestone(&self) -> Result<Option<Milestone>, String> {
        match self.ask(Question::Milestone) {
            Answer::Milestone(milestone) => Ok(milestone),
            other => Err(unknown(other)),
        }
    }

    /// A path as it stands in the project, or as it is.
    #[must_use]
    pub fn relative(&self, path: &str) -> String {
        match self.ask(Question::Relative(path.to_owned())) {
            Answer::Relative(path) => path,
            _ => path.to_owned(),
        }
    }

    /// The commit that HEAD is.
    pub fn head(&self) -> Result<Option<String>, String> {
        match self.ask(Question::Head) {
            Answer::Head(head) => Ok(head),
            other => Err(unknown(other)),
        }
    }
}

/// Files, newest first, at most [`MOST_RESULTS`].
#[must_use]
pub fn newest(mut files: Vec<FoundFile>) -> Vec<FoundFile> {
    files.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
    files.dedup_by(|a, b| a.path == b.path);
    files.truncate(MOST_RESULTS);
    files
}

/// The reason in an answer that is no answer to the question.
#[must_use]
pub fn unknown(answer: Answer) -> String {
    match answer {
        Answer::Unknown(why) => why,
        _ => "the answer is of another kind".to_owned(),
    }
}
