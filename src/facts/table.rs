//! The tables of questions and answers: a question is a row here, with its live answer in `live`.

use super::words::{first_of, or_none, yes_or_no};
use super::{
    CommitState, ContextText, CurrentBranch, EffectQuery, EventText, Facts, ForkParent, FoundEffect, FoundFile,
    FoundStaging, Frontmatter, GitChange, HttpResult, HttpStep, MessageAddressee, Milestone, RewrittenQuestion,
    RunResult, RunStep, SessionHistory, StagingQuery, TextFindings, TextQuery, Unknown, words,
};
use QuestionTopic::{Project, ToolCall, ToolInput, Wording};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::{Display, Formatter, Result as FmtResult};
use test_results::OutputResult;

/// What a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QuestionTopic {
    /// The project, the session, the machine, or parts of the event that no gate can rewrite.
    Project,
    /// The words of a message: the answer never changes a verdict, and a recording may lack it.
    Wording,
    /// What the tool call would do. It is asked at nearly every call; findings repeat what matters.
    ToolCall,
    /// Something else that depends on the tool's input.
    ToolInput,
}

/// Makes [`Question`] and the functions of [`Facts`] that ask. A row has the question with its arguments, its topic, its
/// words for `why`, and the function that asks it, with the answers that fit and the fact in each.
macro_rules! questions {
    ($(
        $(#[$doc:meta])*
        $question:ident $(($arg:ident: $Arg:ty))? $({ $($(#[$attr:meta])* $field:ident: $Field:ty),+ })? =>
            $topic:expr, $words:expr, fn $ask:ident -> $Fact:ty { $($answer:pat => $fact:expr),+ };
    )+) => {
        /// A question about the state of the project, the session or the machine.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[expect(missing_docs, reason = "the documentation of a question explains its fields")]
        pub enum Question {
            $($(#[$doc])* $question $(($Arg))? $({ $($(#[$attr])* $field: $Field),+ })?,)+
            /// What is the answer for the tool's input as gates have rewritten it?
            Rewritten(RewrittenQuestion),
        }

        #[expect(unused_variables, reason = "few rows need all of their arguments")]
        impl Question {
            /// What it is about.
            pub(crate) fn topic(&self) -> QuestionTopic {
                match self {
                    $(Self::$question $(($arg))? $({ $($field),+ })? => $topic,)+
                    Self::Rewritten(_) => Project,
                }
            }
        }

        #[expect(unused_variables, reason = "few rows need all of their arguments")]
        impl Display for Question {
            fn fmt(&self, f: &mut Formatter<'_>) -> FmtResult {
                match self {
                    $(Self::$question $(($arg))? $({ $($field),+ })? => write!(f, "{}", $words),)+
                    Self::Rewritten(asked) => write!(f, "with the rewritten input: {}", asked.question),
                }
            }
        }

        impl Facts<'_> {$(
            $(#[$doc])*
            pub fn $ask(&self, $($arg: $Arg)? $($($field: $Field),+)?) -> Result<$Fact, Unknown> {
                match self.ask(Question::$question $(($arg))? $({ $($field),+ })?) {
                    $($answer => Ok($fact),)+
                    Answer::Unknown(why) => Err(why),
                    _ => Err("the recorded answer does not fit the question".into()),
                }
            }
        )+}
    };
}

/// Makes [`Answer`]. A row has the answer with its value, and its words for `why`.
macro_rules! answers {
    ($($(#[$doc:meta])* $answer:ident $(($value:ident: $Value:ty))? => $words:expr;)+) => {
        /// The answer to a question.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Answer {
            $($(#[$doc])* $answer $(($Value))?,)+
        }

        impl Display for Answer {
            fn fmt(&self, f: &mut Formatter<'_>) -> FmtResult {
                match self {
                    $(Self::$answer $(($value))? => write!(f, "{}", $words),)+
                }
            }
        }
    };
}

questions! {
    /// Which files match any of these globs?
    Files(globs: Vec<String>) => Project, format!("which files match {}?", first_of(globs)),
        fn files -> Vec<FoundFile> { Answer::Files(files) => files };
    /// Which files of the project's other worktrees match any of these globs, as messages name them?
    Elsewhere(globs: Vec<String>) => Wording, format!("which files of other worktrees match {}?", first_of(globs)),
        fn in_other_worktrees -> Vec<FoundFile> { Answer::Files(files) => files };
    /// Which absolute path has this file, if its path does not reach it from the working directory?
    Location(path: String) => Wording, format!("where is {path}, seen from the working directory?"),
        fn location -> Option<String> { Answer::Location(path) => path };
    /// Which values do these keys have in a file's frontmatter?
    Frontmatter { path: String, keys: Vec<String> } => Project,
        format!("what does the frontmatter of {path} have for {}?", keys.join(", ")),
        fn frontmatter -> Frontmatter<Map<String, Value>> {
            Answer::Frontmatter(values) => Frontmatter::Keys(values),
            Answer::NoFrontmatter => Frontmatter::Absent,
            Answer::BrokenFrontmatter(why) => Frontmatter::Broken(why)
        };
    /// What does the text of a file contain?
    Text { path: String, #[serde(flatten)] wanted: TextQuery } => Project, format!("does {path} have {wanted}?"),
        fn text -> TextFindings { Answer::Text(findings) => findings };
    /// Is the present content of this file committed?
    Committed(path: String) => Project, format!("is the current content of {path} committed?"),
        fn committed -> CommitState { Answer::Committed(state) => state };
    /// What is uncommitted under these paths?
    Changes(paths: Vec<String>) => Project, format!("what is uncommitted under {}?", paths.join(", ")),
        fn changes -> Vec<GitChange> { Answer::Changes(changes) => changes };
    /// What is uncommitted under these paths, and not in the baseline or changed since?
    ChangesSince { paths: Vec<String>, baseline: BTreeMap<String, String> } => Project,
        format!("what has become uncommitted under {}?", paths.join(", ")),
        fn changes_since -> Vec<GitChange> { Answer::Changes(changes) => changes };
    /// Which files are uncommitted under these paths, and what are the fingerprints of their contents?
    Baseline(paths: Vec<String>) => Project, format!("which files are uncommitted under {}?", paths.join(", ")),
        fn baseline -> BTreeMap<String, String> { Answer::Baseline(files) => files };
    /// Which commit is HEAD? `None` before the first one.
    Head => Project, "which commit is HEAD?",
        fn head -> Option<String> { Answer::Head(head) => head };
    /// Do the files of HEAD differ from those of this commit, empty for none?
    HeadChanged(since: String) => Project, format!("do the files of HEAD differ from those of commit {since}?"),
        fn head_changed -> bool { Answer::HeadChanged(changed) => changed };
    /// Which branch is checked out, and which is the default branch?
    Branch => Project, "which branch is checked out?",
        fn branch -> CurrentBranch { Answer::Branch(branch) => branch };
    /// Which milestone is current? `None` without a status file.
    Milestone => Project, "which milestone is current?",
        fn milestone -> Option<Milestone> { Answer::Milestone(milestone) => milestone };
    /// What time is it?
    Clock => Project, "what time is it?",
        fn known_clock -> super::Clock { Answer::Clock(clock) => clock };
    /// Which agents of this session wrote this file, with whatever content?
    Writers(path: String) => Project, format!("which agents wrote {path}?"),
        fn writers -> Vec<String> { Answer::Writers(writers) => writers };
    /// Who wrote this file's present content? `None` if no agent of this session did.
    Writer(path: String) => Project, format!("who wrote the current content of {path}?"),
        fn writer -> Option<String> { Answer::Writer(writer) => writer };
    /// Did the agent with this id write this file's present content?
    Wrote { path: String, id: String } => Project, format!("did the agent {id} write the current content of {path}?"),
        fn wrote -> bool { Answer::Wrote(wrote) => wrote };
    /// Where in the project is this path?
    Relative(path: String) => Project, format!("where in the project is {path}?"),
        fn known_relative -> String { Answer::Relative(path) => path };
    /// Which type is the agent of this id? The path of its transcript is the one that the host gives.
    Agent { id: String, transcript: Option<String> } => Project, format!("which agent is {id}?"),
        fn agent -> Option<String> { Answer::Agent(agent) => agent };
    /// Which agent does a message to this id or name reach? The path is that of the main agent's transcript.
    Addressee { to: String, transcript: Option<String> } => Project,
        format!("which agent does a message to {to} reach?"),
        fn addressee -> Option<MessageAddressee> { Answer::Addressee(addressee) => addressee };
    /// Which agents have started and not yet stopped?
    InFlight => Project, "which agents are running?",
        fn in_flight -> Vec<String> { Answer::InFlight(agents) => agents };
    /// Which session was this one, with the transcript that the host names, forked from?
    ForkParent { transcript: Option<String> } => Project, "which session was this one forked from?",
        fn fork_parent -> ForkParent { Answer::ForkParent(parent) => parent };
    /// What does a text of the event contain? The journal has the text redacted, so the answer is recorded.
    EventText { of: EventText, #[serde(flatten)] wanted: TextQuery } =>
        if *of == EventText::Message { Project } else { ToolInput },
        format!("does the {of} have {wanted}?"),
        fn event_text -> Option<TextFindings> { Answer::Text(findings) => Some(findings), Answer::NoText => None };
    /// How does a program end that is given this event?
    Run(step: RunStep) => Project, format!("what does `{}` say?", step.command.lines().next().unwrap_or_default()),
        fn run -> RunResult { Answer::Ran(result) => result };
    /// How does a server respond to this event?
    Http(step: HttpStep) => Project, format!("what does {} say?", step.url),
        fn http -> HttpResult { Answer::Fetched(result) => result };
    /// Would the tool touch any of these paths?
    Touches(query: EffectQuery) => ToolCall, query.as_question(),
        fn touches -> Option<FoundEffect> { Answer::Touches(touched) => touched };
    /// Does the tool call name any of these paths, and do more than read?
    Mentions(query: EffectQuery) => ToolCall, format!("does it name {} and do more than read?", query.first_path()),
        fn mentions -> Option<String> { Answer::Mentions(path) => path };
    /// Would the command line run one of these programs?
    Calls(programs: Vec<String>) => ToolCall, format!("would it run {}?", programs.join(" or ")),
        fn calls -> Option<String> { Answer::Calls(call) => call };
    /// Would the command line run modegate, under any name, with other words than these?
    OwnCalls(except: Vec<String>) => ToolCall, format!("would it run modegate, other than {}?", except.join(" or ")),
        fn own_calls -> Option<String> { Answer::Calls(call) => call };
    /// Would the command line run one of these programs on another machine? An empty list means any program.
    RemoteCalls(programs: Vec<String>) => ToolInput,
        match programs.as_slice() {
            [] => "would it run a program on another machine?".to_owned(),
            programs => format!("would it run {} on another machine?", programs.join(" or ")),
        },
        fn remote_calls -> Option<String> { Answer::Calls(call) => call };
    /// Which result does the output of these commands, by their first words, show? The wrappers are the project's own
    /// programs that run others. The journal has the output redacted, so the answer is recorded.
    Output {
        commands: Vec<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")] wrappers: Vec<String>
    } => ToolInput, format!("what does the output of {} show?", commands.join(" or ")),
        fn output -> OutputResult { Answer::Output(result) => result };
    /// Would the command line stage such files?
    Added(query: StagingQuery) => ToolInput, query.as_question(),
        fn added -> Option<FoundStaging> { Answer::Added(found) => found };
    /// In which settings file would the tool change modegate's hook entries?
    HookEntries => ToolCall, "would it change modegate's hook entries?",
        fn hook_entries -> Option<String> { Answer::HookEntries(file) => file };
    /// What is in this file of `.claude/context`?
    Context(file: String) => Project, format!("what does .claude/context/{file} say?"),
        fn context -> ContextText { Answer::Context(context) => context };
    /// What has the session done so far?
    History => Project, "what has the session done so far?",
        fn history -> SessionHistory { Answer::History(history) => history };
    /// What does the host's transcript of the conversation contain, or only its latest assistant message?
    Transcript { path: String, last: bool, #[serde(flatten)] wanted: TextQuery } => Project,
        format!("does the {} have {wanted}?", if *last { "last message" } else { "conversation" }),
        fn transcript -> TextFindings { Answer::Text(findings) => findings };
}

answers! {
    /// Files, newest first.
    Files(files: Vec<FoundFile>) => words::of_files(files);
    /// The absolute path of a file; `None` if its path in the project reaches it from the working directory.
    Location(path: Option<String>) => path.as_deref().unwrap_or("there");
    /// A file has no frontmatter.
    NoFrontmatter => "it has none";
    /// A file's frontmatter cannot be read, for this reason.
    BrokenFrontmatter(why: String) => format!("it {why}");
    /// The asked keys that a file's frontmatter has.
    Frontmatter(values: Map<String, Value>) => words::of_frontmatter(values);
    /// What was found in a text.
    Text(findings: TextFindings) => words::of_text(findings);
    /// There is no such text.
    NoText => "there is none";
    /// A file compared with HEAD.
    Committed(state: CommitState) => words::of_commit_state(*state);
    /// Uncommitted changes.
    Changes(changes: Vec<GitChange>) => words::of_changes(changes);
    /// Uncommitted files, with fingerprints of their contents.
    Baseline(files: BTreeMap<String, String>) => format!("{} files", files.len());
    /// The commit that HEAD is, `None` before the first one.
    Head(commit: Option<String>) => or_none(commit.as_deref());
    /// Whether the files of HEAD differ from those of a commit.
    HeadChanged(changed: bool) => if *changed { "yes" } else { "no" };
    /// The types of agents that wrote a file, without duplicates.
    Writers(agents: Vec<String>) => words::of_agents(agents);
    /// The checked-out branch.
    Branch(branch: CurrentBranch) => words::of_branch(branch);
    /// The current milestone, `None` where the project has no status file.
    Milestone(milestone: Option<Milestone>) => words::of_milestone(milestone.as_ref());
    /// The time.
    Clock(clock: super::Clock) => clock.at;
    /// The agent that wrote a file's present content; `None` if no agent of this session did.
    Writer(agent: Option<String>) => or_none(agent.as_deref());
    /// Whether an agent wrote a file's present content.
    Wrote(wrote: bool) => if *wrote { "yes" } else { "no" };
    /// A path relative to the project, or an absolute path outside of it.
    Relative(path: String) => path;
    /// An agent's type.
    Agent(agent: Option<String>) => or_none(agent.as_deref());
    /// The agent that a message goes to.
    Addressee(addressee: Option<MessageAddressee>) => words::of_addressee(addressee.as_ref());
    /// The types of the agents in flight.
    InFlight(agents: Vec<String>) => words::of_agents(agents);
    /// The session that this one was forked from.
    ForkParent(parent: ForkParent) => words::of_parent(parent);
    /// The end of a program.
    Ran(result: RunResult) => format!("exit code {}", result.code);
    /// The response of a server.
    Fetched(result: HttpResult) => format!("status {}", result.status);
    /// The first protected path that would be touched.
    Touches(found: Option<FoundEffect>) => words::of_effect(found.as_ref());
    /// The first protected path that is named.
    Mentions(path: Option<String>) => yes_or_no(path.as_deref());
    /// The first matching call.
    Calls(call: Option<String>) => yes_or_no(call.as_deref());
    /// The result that an output shows.
    Output(result: OutputResult) => words::of_output(result);
    /// The first command that stages such files.
    Added(found: Option<FoundStaging>) => yes_or_no(found.as_ref().map(|found| found.by.as_str()));
    /// The settings file whose entries would change.
    HookEntries(file: Option<String>) => yes_or_no(file.as_deref());
    /// A context file's text.
    Context(context: ContextText) => format!("{} characters", context.text.chars().count());
    /// What the session has done.
    History(history: SessionHistory) => format!("{} files changed", history.edited_files.len());
    /// There is no answer, for this reason.
    Unknown(why: Unknown) => format!("cannot tell: {why}");
}
