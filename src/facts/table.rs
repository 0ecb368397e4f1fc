//! The table of questions and the types of their answers.

use super::{
    Answer, CommitState, CurrentBranch, EffectQuery, EventText, Facts, ForkParent, FoundEffect, FoundFile,
    FoundStaging, Frontmatter, GitChange, HttpStep, MessageAddressee, Milestone, Question, RunStep, SessionHistory,
    StagingQuery, TextFindings, TextQuery,
};
use crate::runners::OutputResult;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Why a question has no answer, as a clause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{0}")]
#[serde(transparent)]
pub struct Unknown(String);

impl<T: Into<String>> From<T> for Unknown {
    fn from(why: T) -> Self {
        Self(why.into())
    }
}

impl Unknown {
    const UNREADABLE: &str = "the command cannot be parsed: ";

    const TOO_SLOW: &str = " within ";

    /// A program or server that does what `verb` says too late.
    pub(crate) fn timeout(name: &str, verb: &str, seconds: u64) -> Self {
        Self(format!("{name} did not {verb}{}{seconds} s", Self::TOO_SLOW))
    }

    /// Whether a program or server took too long.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        let number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit()) && text.ends_with(" s");
        self.0.rsplit_once(Self::TOO_SLOW).is_some_and(|(_, seconds)| number(seconds))
    }

    /// A command line that cannot be parsed, for this reason.
    pub(crate) fn unreadable_command(why: impl std::fmt::Display) -> Self {
        Self(format!("{}{why}", Self::UNREADABLE))
    }

    /// The part of what a check saw that says why a command line cannot be parsed.
    pub(crate) fn unreadable_in(saw: &str) -> Option<&str> {
        saw.find(Self::UNREADABLE).and_then(|at| saw.get(at..))
    }
}

/// The table of questions that checks may ask: each row has the question and the type of its answer.
macro_rules! questions {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),*) -> $answer:ty =
        $question:expr, $($pattern:pat => $value:expr),+;)+) => {
        impl Facts<'_> {$(
            $(#[$doc])*
            pub fn $name(&self, $($arg: $type),*) -> Result<$answer, Unknown> {
                match self.ask($question) {
                    $($pattern => Ok($value),)+
                    Answer::Unknown(why) => Err(why),
                    _ => Err("the recorded answer does not fit the question".into()),
                }
            }
        )+}
    };
}

questions! {
    /// Files matching any of `globs`, newest first.
    fn files(globs: Vec<String>) -> Vec<FoundFile> = Question::Files(globs), Answer::Files(files) => files;
    /// Files of the project's other worktrees that match any of `globs`, as messages name them.
    fn elsewhere(globs: Vec<String>) -> Vec<FoundFile> = Question::Elsewhere(globs), Answer::Files(files) => files;
    /// The absolute path of a file, `None` if its path in the project reaches it from the working directory.
    fn location(path: String) -> Option<String> = Question::Location(path), Answer::Location(path) => path;
    /// The values of `keys` in a file's frontmatter.
    fn frontmatter(path: String, keys: Vec<String>) -> Frontmatter<Map<String, Value>> =
        Question::Frontmatter { path, keys },
        Answer::Frontmatter(values) => Frontmatter::Keys(values),
        Answer::NoFrontmatter => Frontmatter::Absent,
        Answer::BrokenFrontmatter(why) => Frontmatter::Broken(why);
    /// Searches the text of a file.
    fn text(path: String, wanted: TextQuery) -> TextFindings =
        Question::Text { path, wanted }, Answer::Text(findings) => findings;
    /// Searches a text of the event; `None` if the event has no such text.
    fn event_text(of: EventText, wanted: TextQuery) -> Option<TextFindings> =
        Question::EventText { of, wanted }, Answer::Text(findings) => Some(findings), Answer::NoText => None;
    /// Searches the conversation, or only its latest assistant message.
    fn transcript(path: String, last: bool, wanted: TextQuery) -> TextFindings =
        Question::Transcript { path, last, wanted }, Answer::Text(findings) => findings;
    /// Compares a file with HEAD.
    fn committed(path: String) -> CommitState = Question::Committed(path), Answer::Committed(state) => state;
    /// Uncommitted changes under `paths`.
    fn changes(paths: Vec<String>) -> Vec<GitChange> = Question::Changes(paths), Answer::Changes(changes) => changes;
    /// Uncommitted changes under `paths` that are not in `baseline`, or have changed since.
    fn changes_since(paths: Vec<String>, baseline: BTreeMap<String, String>) -> Vec<GitChange> =
        Question::ChangesSince { paths, baseline }, Answer::Changes(changes) => changes;
    /// The uncommitted files under `paths`, with fingerprints of their contents.
    fn baseline(paths: Vec<String>) -> BTreeMap<String, String> =
        Question::Baseline(paths), Answer::Baseline(files) => files;
    /// The commit of HEAD, `None` before the first one.
    fn head() -> Option<String> = Question::Head, Answer::Head(head) => head;
    /// Whether the files of HEAD differ from those of a commit, which is empty before the first one.
    fn head_changed(since: String) -> bool = Question::HeadChanged(since), Answer::HeadChanged(changed) => changed;
    /// The checked-out branch and the default branch.
    fn branch() -> CurrentBranch = Question::Branch, Answer::Branch(branch) => branch;
    /// The current milestone, `None` without a status file.
    fn milestone() -> Option<Milestone> = Question::Milestone, Answer::Milestone(milestone) => milestone;
    /// The agent that wrote a file's present content, `None` if no agent of this session did.
    fn writer(path: String) -> Option<String> = Question::Writer(path), Answer::Writer(writer) => writer;
    /// The agents of this session that wrote a file, with whatever content; empty if none did.
    fn writers(path: String) -> Vec<String> = Question::Writers(path), Answer::Writers(writers) => writers;
    /// Whether the agent with this id wrote a file's present content.
    fn wrote(path: String, id: String) -> bool = Question::Wrote { path, id }, Answer::Wrote(wrote) => wrote;
    /// The type of an agent.
    fn agent(id: String, transcript: Option<String>) -> Option<String> =
        Question::Agent { id, transcript }, Answer::Agent(agent) => agent;
    /// The agent that a message goes to.
    fn addressee(to: String, transcript: Option<String>) -> Option<MessageAddressee> =
        Question::Addressee { to, transcript }, Answer::Addressee(addressee) => addressee;
    /// The types of the agents that have started and not stopped.
    fn in_flight() -> Vec<String> = Question::InFlight, Answer::InFlight(agents) => agents;
    /// The session that this one was forked from.
    fn fork_parent(transcript: Option<String>) -> ForkParent =
        Question::ForkParent { transcript }, Answer::ForkParent(parent) => parent;
    /// The first protected path that the tool would touch.
    fn touches(query: EffectQuery) -> Option<FoundEffect> =
        Question::Touches(query), Answer::Touches(touched) => touched;
    /// The first protected path that the tool call names without only reading.
    fn mentions(query: EffectQuery) -> Option<String> = Question::Mentions(query), Answer::Mentions(path) => path;
    /// The first call of one of these programs in the command line.
    fn calls(programs: Vec<String>) -> Option<String> = Question::Calls(programs), Answer::Calls(call) => call;
    /// The first call of modegate, under any name, with other words than these.
    fn own_calls(except: Vec<String>) -> Option<String> = Question::OwnCalls(except), Answer::Calls(call) => call;
    /// The first call of one of these programs, or of any, on another machine.
    fn remote_calls(programs: Vec<String>) -> Option<String> =
        Question::RemoteCalls(programs), Answer::Calls(call) => call;
    /// The result that the output of these commands shows.
    fn output(commands: Vec<String>, wrappers: Vec<String>) -> OutputResult =
        Question::Output { commands, wrappers }, Answer::Output(result) => result;
    /// The first command that stages such files.
    fn added(query: StagingQuery) -> Option<FoundStaging> = Question::Added(query), Answer::Added(found) => found;
    /// The settings file in which the tool would change modegate's hook entries.
    fn hook_entries() -> Option<String> = Question::HookEntries, Answer::HookEntries(file) => file;
    /// A file of `.claude/context`.
    fn context(file: String) -> ContextText = Question::Context(file), Answer::Context(context) => context;
    /// What the session has done so far.
    fn history() -> SessionHistory = Question::History, Answer::History(history) => history;
    /// Runs a program on the event.
    fn run(step: RunStep) -> RunResult = Question::Run(step), Answer::Ran(result) => result;
    /// Sends the event to a server.
    fn http(step: HttpStep) -> HttpResult = Question::Http(step), Answer::Fetched(result) => result;
}

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
