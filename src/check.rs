//! Checks: what a gate asks. One file a kind; each struct is the YAML, its doc comment the manual.

mod agent;
mod calls;
mod clean;
mod command;
mod committed;
mod file;
mod frontmatter;
mod http;
mod observed;
mod path;
mod pattern;
mod prompt;
mod ran;
mod run;
mod scope;
mod session;
mod source;
mod state;
mod step_reply;
mod text;
mod tool;
mod touches;
mod transcript;
mod wiring;

pub use agent::AgentCheck;
pub use calls::CallsCheck;
pub use clean::CleanCheck;
pub use command::CommandCheck;
pub use committed::CommittedCheck;
pub use file::FileCheck;
pub use frontmatter::FrontmatterCheck;
pub use http::HttpCheck;
pub use observed::{EDIT, ObservedCheck};
pub use path::PathCheck;
pub use pattern::TextPattern;
pub use prompt::PromptCheck;
pub use ran::RanCheck;
pub use run::RunCheck;
pub use scope::{Artifact, Definitions, Scope};
pub use session::SessionCheck;
pub use source::SourceCheck;
pub use state::{ExpectedState, StateCheck};
pub use text::TextCheck;
pub use tool::ToolCheck;
pub use touches::TouchesCheck;
pub use transcript::TranscriptCheck;
pub use wiring::WiringCheck;

use crate::event::name;
use crate::facts::Question;
use crate::verdict::{Outcome, Truth};
use crate::yaml::{Node, NodeValue, TreeReader, nearest};
use serde::{Deserialize, Serialize};

/// A check, simple or composed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Check {
    /// Every one of them holds.
    All(Vec<Check>),
    /// At least one of them holds.
    Any(Vec<Check>),
    /// It does not hold; what is unknown stays unknown.
    Not(Box<Check>),
    /// A file exists.
    File(FileCheck),
    /// A file's frontmatter says something.
    Frontmatter(FrontmatterCheck),
    /// A text has something.
    Text(TextCheck),
    /// A file is committed as it stands.
    Committed(CommittedCheck),
    /// Nothing is uncommitted.
    Clean(CleanCheck),
    /// Another mode's state is something.
    State(StateCheck),
    /// An agent ran and was allowed to stop.
    Ran(RanCheck),
    /// A command was seen to pass or to fail.
    Observed(ObservedCheck),
    /// The tool's file is among some.
    Path(PathCheck),
    /// The prompt has something.
    Prompt(PromptCheck),
    /// The shell command is one of some.
    Command(CommandCheck),
    /// The tool is one of some.
    Tool(ToolCheck),
    /// The conversation has something.
    Transcript(TranscriptCheck),
    /// It is done by one of some agents.
    Agent(AgentCheck),
    /// It comes from one of some sources.
    Source(SourceCheck),
    /// The session has done something.
    Session(SessionCheck),
    /// The tool would change something.
    Touches(TouchesCheck),
    /// The command line runs something.
    Calls(CallsCheck),
    /// The hook entries stay.
    Wiring(WiringCheck),
    /// A program does not object.
    Run(RunCheck),
    /// A server does not object.
    Http(HttpCheck),
}

/// The words that name a check.
pub const KINDS: [&str; 24] = [
    "all",
    "any",
    "not",
    "file",
    "frontmatter",
    "text",
    "committed",
    "clean",
    "state",
    "ran",
    "observed",
    "path",
    "prompt",
    "command",
    "tool",
    "transcript",
    "agent",
    "source",
    "session",
    "touches",
    "calls",
    "wiring",
    "run",
    "http",
];

impl Check {
    /// Reads `{ kind: … }`; several kinds in one mapping must all hold.
    pub fn read(reader: &mut TreeReader, node: &Node) -> Self {
        let NodeValue::Map(entries) = &node.value else {
            reader.problem(node, format!("a check is a mapping like {{ file: plan }}, not {}", node.kind()));
            return Self::All(Vec::new());
        };
        if entries.is_empty() {
            reader.problem(node, "the check is empty");
        }
        let mut checks: Vec<Self> = Vec::new();
        for (key, value) in entries {
            let kind = key.text().unwrap_or_default();
            match reader.within(kind, |reader| Self::read_kind(reader, kind, value)) {
                Some(check) => checks.push(check),
                None => reader.problem(key, unknown_kind(kind)),
            }
        }
        if checks.len() == 1 { checks.remove(0) } else { Self::All(checks) }
    }

    fn read_kind(reader: &mut TreeReader, kind: &str, node: &Node) -> Option<Self> {
        Some(match kind {
            "all" => Self::All(Self::some(reader, node)),
            "any" => Self::Any(Self::some(reader, node)),
            "not" => Self::Not(Box::new(Self::read(reader, node))),
            "file" => Self::File(FileCheck::read(reader, node)),
            "frontmatter" => Self::Frontmatter(FrontmatterCheck::read(reader, node)),
            "text" => Self::Text(TextCheck::read(reader, node)),
            "committed" => Self::Committed(CommittedCheck::read(reader, node)),
            "clean" => Self::Clean(CleanCheck::read(reader, node)),
            "state" => Self::State(StateCheck::read(reader, node)),
            "ran" => Self::Ran(RanCheck::read(reader, node)),
            "observed" => Self::Observed(ObservedCheck::read(reader, node)),
            "path" => Self::Path(PathCheck::read(reader, node)),
            "prompt" => Self::Prompt(PromptCheck::read(reader, node)),
            "command" => Self::Command(CommandCheck::read(reader, node)),
            "tool" => Self::Tool(ToolCheck::read(reader, node)),
            "transcript" => Self::Transcript(TranscriptCheck::read(reader, node)),
            "agent" => Self::Agent(AgentCheck::read(reader, node)),
            "source" => Self::Source(SourceCheck::read(reader, node)),
            "session" => Self::Session(SessionCheck::read(reader, node)),
            "touches" => Self::Touches(TouchesCheck::read(reader, node)),
            "calls" => Self::Calls(CallsCheck::read(reader, node)),
            "wiring" => Self::Wiring(WiringCheck::read(reader, node)),
            "run" => Self::Run(RunCheck::read(reader, node)),
            "http" => Self::Http(HttpCheck::read(reader, node)),
            _ => return None,
        })
    }

    /// A list of checks, of which there must be one.
    fn some(reader: &mut TreeReader, node: &Node) -> Vec<Self> {
        let checks = reader.list(node, Self::read);
        if checks.is_empty() {
            reader.problem(node, "the list of checks is empty");
        }
        checks
    }

    /// Puts the check to the facts.
    #[must_use]
    pub fn evaluate(&self, scope: &Scope<'_>) -> Outcome {
        match self {
            Self::All(checks) => all(checks.iter().map(|check| check.evaluate(scope)).collect()),
            Self::Any(checks) => any(checks, scope),
            Self::Not(check) => not(check.evaluate(scope)),
            Self::File(check) => check.evaluate(scope),
            Self::Frontmatter(check) => check.evaluate(scope),
            Self::Text(check) => check.evaluate(scope),
            Self::Committed(check) => check.evaluate(scope),
            Self::Clean(check) => check.evaluate(scope),
            Self::State(check) => check.evaluate(scope),
            Self::Ran(check) => check.evaluate(scope),
            Self::Observed(check) => check.evaluate(scope),
            Self::Path(check) => check.evaluate(scope),
            Self::Prompt(check) => check.evaluate(scope),
            Self::Command(check) => check.evaluate(scope),
            Self::Tool(check) => check.evaluate(scope),
            Self::Transcript(check) => check.evaluate(scope),
            Self::Agent(check) => check.evaluate(scope),
            Self::Source(check) => check.evaluate(scope),
            Self::Session(check) => check.evaluate(scope),
            Self::Touches(check) => check.evaluate(scope),
            Self::Calls(check) => check.evaluate(scope),
            Self::Wiring(_) => WiringCheck::evaluate(scope),
            Self::Run(check) => check.evaluate(scope),
            Self::Http(check) => check.evaluate(scope),
        }
    }

    /// What the check will ask for, as a phrase for an agent that is about to begin.
    #[must_use]
    pub fn expectation(&self, scope: &Scope<'_>) -> Option<String> {
        let join = |checks: &[Self], word: &str| {
            let phrases: Vec<String> = checks.iter().filter_map(|check| check.expectation(scope)).collect();
            (!phrases.is_empty()).then(|| phrases.join(word))
        };
        match self {
            Self::All(checks) => join(checks, "; and "),
            Self::Any(checks) => join(checks, "; or "),
            Self::File(check) => Some(check.expectation(scope)),
            Self::Frontmatter(check) => Some(check.expectation(scope)),
            Self::Text(check) => Some(check.expectation(scope)),
            Self::Committed(check) => Some(check.expectation(scope)),
            Self::Clean(check) => Some(check.expectation(scope)),
            Self::Observed(check) => Some(check.expectation(scope)),
            Self::Ran(check) => Some(check.expectation()),
            _ => None,
        }
    }

    /// The slow questions that this check will surely ask, and that need not wait for one another.
    pub fn steps(&self, scope: &Scope<'_>, questions: &mut Vec<Question>) {
        match self {
            Self::All(checks) => checks.iter().for_each(|check| check.steps(scope, questions)),
            // Only the first alternative is surely asked.
            Self::Any(checks) => checks.first().into_iter().for_each(|check| check.steps(scope, questions)),
            Self::Not(check) => check.steps(scope, questions),
            Self::Run(run) if !run.rewrites => questions.push(run.question(scope)),
            Self::Http(http) if !http.rewrites => questions.push(http.question(scope)),
            _ => {}
        }
    }

    /// Lets the headers of web steps have these variables.
    pub fn allow_env(&mut self, names: &[String]) {
        match self {
            Self::All(checks) | Self::Any(checks) => checks.iter_mut().for_each(|check| check.allow_env(names)),
            Self::Not(check) => check.allow_env(names),
            Self::Http(http) => http.env.extend_from_slice(names),
            _ => {}
        }
    }

    /// Whether it asks a program or a server.
    #[must_use]
    pub fn has_steps(&self) -> bool {
        let mut has = false;
        self.walk(&mut |check| has |= matches!(check, Self::Run(_) | Self::Http(_)));
        has
    }

    /// Whether a step in this check may change the tool's input.
    #[must_use]
    pub fn rewrites(&self) -> bool {
        let mut rewrites = false;
        self.walk(&mut |check| {
            rewrites |= match check {
                Self::Run(run) => run.rewrites,
                Self::Http(http) => http.rewrites,
                _ => false,
            };
        });
        rewrites
    }

    /// Gives every step in this check so many seconds.
    pub fn set_timeout(&mut self, seconds: u32) {
        match self {
            Self::All(checks) | Self::Any(checks) => checks.iter_mut().for_each(|check| check.set_timeout(seconds)),
            Self::Not(check) => check.set_timeout(seconds),
            Self::Run(run) => run.seconds = seconds,
            Self::Http(http) => http.seconds = seconds,
            _ => {}
        }
    }

    /// Every check in this one, itself included.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Self)) {
        visit(self);
        match self {
            Self::All(checks) | Self::Any(checks) => checks.iter().for_each(|check| check.walk(visit)),
            Self::Not(check) => check.walk(visit),
            _ => {}
        }
    }
}

/// Names of tools, agents or sources: `a|b`, a list, globs, `/regex/`, and `!` for all others.
fn names(reader: &mut TreeReader, node: &Node) -> Vec<String> {
    let names: Vec<String> = reader.texts(node).iter().flat_map(|names| name::split(names)).collect();
    names.iter().filter_map(|name| name::pattern_error(name)).for_each(|fault| reader.problem(node, fault));
    names
}

fn unknown_kind(kind: &str) -> String {
    match nearest(kind, &KINDS) {
        Some(near) => format!("unknown check `{kind}`, did you mean `{near}`?"),
        None => format!("unknown check `{kind}`; expected one of: {}", KINDS.join(", ")),
    }
}

/// All hold, or else the gravest of them is told; a failure is surer than an unknown.
fn all(parts: Vec<Outcome>) -> Outcome {
    let truth = [Truth::Fails, Truth::Unknown].into_iter().find(|truth| parts.iter().any(|part| part.truth == *truth));
    let truth = truth.unwrap_or(Truth::Passes);
    composed(truth, parts)
}

/// Stops asking at the first that blocks: the rest costs time and tells nothing.
fn any(checks: &[Check], scope: &Scope<'_>) -> Outcome {
    let mut parts = Vec::new();
    for check in checks {
        let part = check.evaluate(scope);
        let truth = part.truth;
        parts.push(part);
        if truth == Truth::Passes {
            return composed(Truth::Passes, parts);
        }
    }
    let unknown = parts.iter().any(|part| part.truth == Truth::Unknown);
    composed(if unknown { Truth::Unknown } else { Truth::Fails }, parts)
}

fn not(part: Outcome) -> Outcome {
    let truth = match part.truth {
        Truth::Passes => Truth::Fails,
        Truth::Fails => Truth::Passes,
        Truth::Unknown => Truth::Unknown,
    };
    Outcome { truth, parts: vec![part.clone()], ..Outcome::passes(part.saw) }
}

fn composed(truth: Truth, parts: Vec<Outcome>) -> Outcome {
    let told =
        || parts.iter().filter(|part| part.truth == truth || truth == Truth::Unknown && part.truth != Truth::Passes);
    let mut saw: Vec<&str> = Vec::new();
    for part in told() {
        if !saw.contains(&part.saw.as_str()) {
            saw.push(&part.saw);
        }
    }
    let saw = saw.join(", and ");
    let remedy = told().find_map(|part| part.remedy.clone());
    Outcome { truth, remedy, parts, ..Outcome::passes(saw) }
}
