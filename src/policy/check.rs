//! Checks: what a gate evaluates.
//!
//! One file per kind: the struct is the YAML, its doc comment is the manual. A new kind needs its file, a `mod` line and
//! one row in the table below.

mod added;
mod agent;
mod branch;
mod calls;
mod clean;
mod command;
mod committed;
mod file;
mod frontmatter;
mod hook_entries;
mod http;
mod input;
mod mentions;
mod message;
mod observed;
mod path;
mod pattern;
mod prompt;
mod ran;
mod reviewed;
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
mod variable;

/// What every kind of check uses.
mod prelude {
    pub(super) use super::{CheckKind, Scope, TextPattern};
    pub(super) use crate::facts::verdict::Outcome;
    pub(super) use crate::policy::yaml::{Node, TreeReader};
    pub(super) use serde::{Deserialize, Serialize};
}

pub use observed::EDIT;
pub use pattern::TextPattern;
pub use scope::{Artifact, BUILTIN_VARIABLES, Definitions, ParallelAgent, Scope};
pub use state::ExpectedState;

use crate::facts::verdict::{Outcome, Truth, UNKNOWN_OPENING};
use crate::facts::{Question, Unknown};
use crate::host::event::{TOOLS, is_unknown_tool, name};
use crate::policy::yaml::{Node, NodeValue, TreeReader, did_you_mean, suggestion};
use base::printable;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What every kind of check can do.
trait CheckKind {
    /// Reads the value behind the kind's word.
    fn from_node(reader: &mut TreeReader, node: &Node) -> Self
    where
        Self: Sized;

    /// Evaluates the check; an early outcome may be returned as an error.
    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome>;

    /// Describes what the check will ask for, to an agent that is about to start.
    fn expectation(&self, _: &Scope<'_>) -> Option<String> {
        None
    }

    /// Returns the artifact or glob whose file the check needs.
    fn artifact(&self) -> Option<&str> {
        None
    }

    /// Returns the slow question of a check that asks a program or a server.
    fn question(&self, _: &Scope<'_>) -> Option<Question> {
        None
    }
}

/// Options of a check that asks a program or a server.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StepOptions {
    /// Whether it may change the tool's input, and so waits for the steps before it.
    pub rewrites: bool,
    /// Whether a step that cannot run fails the check; one that takes too long leaves it unknown.
    pub required: bool,
    pub seconds: u32,
    /// Environment variables that may be used in headers.
    pub env: Vec<String>,
}

impl StepOptions {
    /// The outcome of a step that gives no answer.
    fn without_answer(&self, why: Unknown) -> Outcome {
        if self.required && !why.is_timeout() {
            Outcome::fails(format!("no answer: {why}"))
        } else {
            Outcome::unknown(why)
        }
    }
}

macro_rules! checks {
    ($($word:literal => $module:ident::$Type:ident as $Variant:ident, $subject:ident, $doc:literal;)*) => {
        $(pub use $module::$Type;)*

        /// A check, simple or composed.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        pub enum Check {
            /// Every one of them passes.
            All(Vec<Check>),
            /// At least one of them passes.
            Any(Vec<Check>),
            /// It fails; an unknown result stays unknown.
            Not(Box<Check>),
            $(
                #[doc = $doc]
                $Variant($Type),
            )*
        }

        /// The words that name a check.
        pub const KINDS: &[&str] = &["all", "any", "not", $($word),*];

        impl Check {
            fn read_kind(reader: &mut TreeReader, kind: &str, node: &Node) -> Option<Self> {
                Some(match kind {
                    "all" => Self::All(Self::read_list(reader, node)),
                    "any" => Self::Any(Self::read_list(reader, node)),
                    "not" => Self::Not(Box::new(Self::read(reader, node))),
                    $($word => Self::$Variant($Type::from_node(reader, node)),)*
                    _ => return None,
                })
            }

            /// The checks that this one is made of, or the check itself if it is simple.
            fn parts(&self) -> Result<&[Self], &dyn CheckKind> {
                match self {
                    Self::All(checks) | Self::Any(checks) => Ok(checks),
                    Self::Not(check) => Ok(std::slice::from_ref(check)),
                    $(Self::$Variant(check) => Err(check),)*
                }
            }

            /// Whether it is a simple check of the event, if only by a program or a server.
            pub(crate) fn is_about_event(&self) -> bool {
                match self {
                    Self::All(_) | Self::Any(_) | Self::Not(_) => false,
                    $(Self::$Variant(_) => matches!(stringify!($subject), "Event"),)*
                }
            }
        }
    };
}

checks! {
    "file" => file::FileCheck as File, Project, "A file exists.";
    "frontmatter" => frontmatter::FrontmatterCheck as Frontmatter, Project, "A file's frontmatter has certain values.";
    "text" => text::TextCheck as Text, Project, "A file's text has certain parts.";
    "committed" => committed::CommittedCheck as Committed, Project, "A file is committed.";
    "clean" => clean::CleanCheck as Clean, Project, "Nothing is uncommitted.";
    "reviewed" => reviewed::ReviewedCheck as Reviewed, Project, "A review names the present state of the code.";
    "variable" => variable::VariableCheck as Variable, Project, "A variable has a certain value.";
    "branch" => branch::BranchCheck as Branch, Project, "A certain branch is checked out.";
    "state" => state::StateCheck as State, Project, "The state has certain values.";
    "ran" => ran::RanCheck as Ran, Project, "An agent ran to its end.";
    "observed" => observed::ObservedCheck as Observed, Project, "A command passed or failed.";
    "path" => path::PathCheck as Path, Event, "The tool's file matches a glob.";
    "prompt" => prompt::PromptCheck as Prompt, Event, "The prompt matches.";
    "command" => command::CommandCheck as Command, Event, "The shell command matches.";
    "tool" => tool::ToolCheck as Tool, Event, "The tool has a certain name.";
    "transcript" => transcript::TranscriptCheck as Transcript, Event, "The conversation matches.";
    "agent" => agent::AgentCheck as Agent, Event, "The agent has a certain name.";
    "source" => source::SourceCheck as Source, Event, "The event has a certain source.";
    "session" => session::SessionCheck as Session, Event, "The session did something.";
    "touches" => touches::TouchesCheck as Touches, Event, "The tool would change certain paths.";
    "mentions" => mentions::MentionsCheck as Mentions, Event, "The tool call names certain paths.";
    "calls" => calls::CallsCheck as Calls, Event, "The command line runs a program.";
    "message" => message::MessageCheck as Message, Event, "The commit message has certain parts.";
    "added" => added::AddedCheck as Added, Event, "The command line stages certain files.";
    "input" => input::InputCheck as Input, Event, "A field of the tool's input has certain parts.";
    "entries" => hook_entries::HookEntriesCheck as HookEntries, Event, "The hook entries are unchanged.";
    "run" => run::RunCheck as Run, Event, "A program does not object.";
    "http" => http::HttpCheck as Http, Event, "A server does not object.";
}

/// Passes.
impl Default for Check {
    fn default() -> Self {
        Self::All(Vec::new())
    }
}

impl Check {
    /// Reads `{ kind: … }`; several kinds in one mapping must all pass.
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
                None => reader.problem(key, suggestion("unknown check", kind, KINDS)),
            }
        }
        if checks.len() == 1 { checks.remove(0) } else { Self::All(checks) }
    }

    /// Reads a list of checks, at least one.
    fn read_list(reader: &mut TreeReader, node: &Node) -> Vec<Self> {
        let checks = reader.list(node, Self::read);
        if checks.is_empty() {
            reader.problem(node, "the list of checks is empty");
        }
        checks
    }

    pub fn evaluate(&self, scope: &Scope<'_>) -> Outcome {
        match (self, self.parts()) {
            // What a program printed may have lines; a name with lines in it would be read as instructions.
            (Self::Run(_) | Self::Http(_), Err(simple)) => printed(simple.evaluate(scope), printable::lines),
            (_, Err(simple)) => printed(simple.evaluate(scope), printable::one_line),
            (Self::Any(_), Ok(checks)) => any(checks, scope),
            (Self::Not(check), _) => not(check.evaluate(scope)),
            (_, Ok(checks)) => all(checks.iter().map(|check| check.evaluate(scope)).collect()),
        }
    }

    pub fn expectation(&self, scope: &Scope<'_>) -> Option<String> {
        let (checks, joint) = match (self, self.parts()) {
            (_, Err(simple)) => return simple.expectation(scope),
            (Self::Not(_), _) => return None,
            (Self::Any(_), Ok(checks)) => (checks, ", or "),
            (_, Ok(checks)) => (checks, "; and "),
        };
        let phrases: Vec<String> = checks.iter().filter_map(|check| check.expectation(scope)).collect();
        (!phrases.is_empty()).then(|| phrases.join(joint))
    }

    /// Returns the artifacts and globs whose files this check needs.
    pub fn artifacts(&self) -> Vec<&str> {
        match (self, self.parts()) {
            (Self::Not(_), _) => Vec::new(),
            (_, Err(simple)) => simple.artifact().into_iter().collect(),
            (_, Ok(checks)) => checks.iter().flat_map(Self::artifacts).collect(),
        }
    }

    /// Collects the slow questions that this check is sure to ask and that need not wait for one another.
    pub fn steps(&self, scope: &Scope<'_>, questions: &mut Vec<Question>) {
        match (self, self.parts()) {
            (_, Err(_)) if self.step().is_some_and(|step| step.rewrites) => {}
            (_, Err(simple)) => questions.extend(simple.question(scope)),
            // Only the first alternative is sure to be asked.
            (Self::Any(_), Ok(checks)) => checks.first().into_iter().for_each(|check| check.steps(scope, questions)),
            (_, Ok(checks)) => checks.iter().for_each(|check| check.steps(scope, questions)),
        }
    }

    /// Changes the options of every check in this one that asks a program or a server.
    pub(crate) fn change_steps(&mut self, change: &dyn Fn(&mut StepOptions)) {
        match self {
            Self::All(checks) | Self::Any(checks) => checks.iter_mut().for_each(|check| check.change_steps(change)),
            Self::Not(check) => check.change_steps(change),
            Self::Run(run) => change(&mut run.step),
            Self::Http(http) => change(&mut http.step),
            _ => {}
        }
    }

    /// The options of a check that asks a program or a server.
    fn step(&self) -> Option<&StepOptions> {
        match self {
            Self::Run(run) => Some(&run.step),
            Self::Http(http) => Some(&http.step),
            _ => None,
        }
    }

    /// Whether it asks a program or a server.
    pub fn has_steps(&self) -> bool {
        self.has_step(|_| true)
    }

    /// Whether a step in this check may change the tool's input.
    pub fn rewrites(&self) -> bool {
        self.has_step(|step| step.rewrites)
    }

    fn has_step(&self, wanted: impl Fn(&StepOptions) -> bool) -> bool {
        let mut has = false;
        self.walk(&mut |check| has |= check.step().is_some_and(&wanted));
        has
    }

    /// Visits every check in this one, itself included.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Self)) {
        visit(self);
        if let Ok(checks) = self.parts() {
            for check in checks {
                check.walk(visit);
            }
        }
    }
}

/// Reads names of tools, agents or sources: `a|b`, a list, globs, `/regex/`, and `!` for all others.
fn names(reader: &mut TreeReader, node: &Node) -> Vec<String> {
    let names: Vec<String> = reader.texts(node).iter().flat_map(|names| name::split(names)).collect();
    names.iter().filter_map(|name| name::pattern_error(name)).for_each(|error| reader.problem(node, error));
    names
}

/// Warns of tools that are probably misspelled; a tool that resembles no other may be a new one.
pub(crate) fn warn_unknown_tools(reader: &mut TreeReader, node: &Node, names: &[String]) {
    for name in names.iter().map(|name| name.trim_start_matches('!')).filter(|name| is_unknown_tool(name)) {
        let near = did_you_mean(name, &TOOLS);
        if !near.is_empty() {
            reader.warning(node, format!("unknown tool `{name}`{near}"));
        }
    }
}

/// A question without an answer leaves a check unknown.
impl From<Unknown> for Outcome {
    fn from(why: Unknown) -> Self {
        Self::unknown(why)
    }
}

/// The outcome of a simple check, with texts from outside made safe.
fn printed(outcome: Result<Outcome, Outcome>, safe: fn(&str) -> Cow<'_, str>) -> Outcome {
    let mut outcome = outcome.unwrap_or_else(|early| early);
    // A borrowed text is one of ours.
    let saw = if let Cow::Owned(saw) = &mut outcome.saw { Some(saw) } else { None };
    for text in saw.into_iter().chain(&mut outcome.remedy) {
        if let Cow::Owned(escaped) = safe(text) {
            *text = escaped;
        }
    }
    outcome
}

/// Passes if all parts pass; a failure counts before an unknown.
fn all(parts: Vec<Outcome>) -> Outcome {
    let truth = [Truth::Fails, Truth::Unknown].into_iter().find(|truth| parts.iter().any(|part| part.truth == *truth));
    composed(truth.unwrap_or(Truth::Passes), parts)
}

/// Stops at the first part that passes: the rest would cost time and change nothing.
fn any(checks: &[Check], scope: &Scope<'_>) -> Outcome {
    let mut parts = Vec::new();
    for check in checks {
        parts.push(check.evaluate(scope));
        if parts.last().is_some_and(|part| part.truth == Truth::Passes) {
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
    let saw = part.saw.clone();
    Outcome { truth, parts: vec![part], ..Outcome::passes(saw) }
}

/// Joins what the deciding parts saw, and takes the first remedy among them.
fn composed(truth: Truth, parts: Vec<Outcome>) -> Outcome {
    let deciding = || parts.iter().filter(|part| part.truth == truth);
    let mut saw: Vec<&str> = Vec::new();
    for part in deciding() {
        // Several unknown parts begin with the same words, which are said once.
        let clause = part.saw.strip_prefix(UNKNOWN_OPENING).filter(|_| !saw.is_empty()).unwrap_or(&part.saw);
        if !saw.contains(&clause) && saw.first() != Some(&&*part.saw) {
            saw.push(clause);
        }
    }
    let saw = match (saw.as_slice(), deciding().next()) {
        ([_], Some(part)) => part.saw.clone(),
        _ => saw.join(", and ").into(),
    };
    let remedy = deciding().find_map(|part| part.remedy.clone());
    Outcome { truth, remedy, parts, ..Outcome::passes(saw) }
}
