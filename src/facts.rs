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
pub mod session;
mod staging;
mod table;
pub mod text;
pub mod tool_effects;

mod unknown;
pub mod verdict;
mod words;

pub use effect_query::{EffectQuery, FoundEffect, PathList, ProtectedPaths};
pub use fork_parent::{ForkParent, ParentSession};
pub use frontmatter::{Frontmatter, frontmatter_of};
pub use git_facts::{ChangeKind, CommitState, CurrentBranch, GitChange};
pub use output::{line_effects, output_of, passed_by_exit_code};
pub use recorded::RecordedAnswers;
pub use rewritten::{RewrittenFacts, RewrittenQuestion};
pub use staging::{FoundStaging, StagingQuery};
pub(crate) use table::QuestionTopic;
pub use table::{Answer, Question};
pub use text::{TextFindings, event_text, search_event_text, search_file, search_text};
pub use unknown::Unknown;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::cell::RefCell;

/// How many files or changes an answer holds.
pub const MOST_RESULTS: usize = 20;

/// The start of keys in a baseline that are no files, but rules that ignore files and stashed work.
pub const BASELINE_NOTES: &str = ".git/";

impl Question {
    /// Whether the answer changes only the words of a message, never a verdict; a recording may lack it.
    pub fn is_about_words(&self) -> bool {
        self.topic() == QuestionTopic::Wording
    }

    /// Whether the answer depends on the tool's input.
    fn is_about_input(&self) -> bool {
        matches!(self.topic(), QuestionTopic::ToolCall | QuestionTopic::ToolInput)
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

/// A file of `.claude/context`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextText {
    /// The text, or its beginning.
    pub text: String,
    pub whole: bool,
}

/// The end of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunResult {
    pub code: i32,
    /// Its output, shortened.
    pub stdout: String,
    /// Its errors, shortened.
    pub stderr: String,
}

/// The response of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpResult {
    pub status: u16,
    /// The body, shortened.
    pub body: String,
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
        if let Some(answer) = self.known(&question) {
            return answer;
        }
        let answer = self.source.answer(&question);
        self.asked.borrow_mut().push((question, answer.clone()));
        answer
    }

    /// The answer to a question that was asked before.
    fn known(&self, question: &Question) -> Option<Answer> {
        let asked = self.asked.borrow();
        asked.iter().find(|(asked, _)| asked == question).map(|(_, answer)| answer.clone())
    }

    /// Asks several questions at once, so that a later question finds its answer.
    pub fn prepare(&self, mut questions: Vec<Question>) {
        let mut own: Vec<Question> = Vec::new();
        questions.retain(|question| {
            let is_new = !own.contains(question) && self.known(question).is_none();
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
        self.known_clock().unwrap_or_else(|_| Clock { at: String::new(), date: "000000".to_owned() })
    }

    /// A path relative to the project, or unchanged.
    pub fn relative(&self, path: &str) -> String {
        self.known_relative(path.to_owned()).unwrap_or_else(|_| path.to_owned())
    }
}

/// Files, newest first, at most [`MOST_RESULTS`].
pub fn newest(mut files: Vec<FoundFile>) -> Vec<FoundFile> {
    files.sort_unstable_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
    files.dedup_by(|a, b| a.path == b.path);
    files.truncate(MOST_RESULTS);
    files
}
