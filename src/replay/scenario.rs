//! Scenarios: a project, steps in it, and the expected result of each.
//!
//! `fixtures/scenarios/README.md` describes the format.

pub(crate) mod runner;
mod step_check;

pub use step_check::StepOutput;

use crate::facts::frontmatter::nests_too_deep;
use crate::replay::expectation::renamed;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;

/// A scenario file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// What the scenario shows.
    pub about: String,
    /// The id of the session.
    #[serde(default = "default_session")]
    pub session: String,
    /// Whether the project is a git repository.
    #[serde(default)]
    pub git: bool,
    /// The time at the start; now if left out.
    #[serde(default)]
    pub clock: Option<String>,
    /// The files of the project at the start.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// The user's own settings file.
    #[serde(default)]
    pub user_settings: Option<String>,
    /// A file with events of the host next to this one.
    #[serde(default)]
    pub stream: Option<String>,
    /// The steps; with a stream, what happens between its events.
    #[serde(default)]
    pub steps: Vec<ScenarioStep>,
}

fn default_session() -> String {
    "abc-123".to_owned()
}

/// One step: changes of the project, then an event or a command, then the expected result.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct ScenarioStep {
    /// The line of the stream before which the step happens.
    pub line: Option<u64>,
    /// Any event.
    pub event: Option<Value>,
    /// The name of a tool and its input, before the call.
    pub calls: Option<BTreeMap<String, Value>>,
    /// Files to write.
    pub write: Option<BTreeMap<String, String>>,
    /// A shell line to run in the project.
    pub shell: Option<String>,
    /// The message of a commit of everything.
    pub commit: Option<String>,
    /// The arguments of a modegate command.
    pub command: Option<Vec<String>>,
    /// Time that passes, such as `90m` or `2 days`.
    pub wait: Option<String>,
    /// Fields to add to the event.
    pub with: BTreeMap<String, Value>,
    /// The expected result in a word.
    pub expect: Option<String>,
    /// The beginning of the reason.
    pub opening: Option<String>,
    /// Texts in the reason.
    pub because: Vec<String>,
    /// Texts in the answer.
    pub includes: Vec<String>,
    /// Texts that are not in the answer.
    pub excludes: Vec<String>,
    /// The input that the tool gets instead; `null` if unchanged.
    #[serde(deserialize_with = "some_value")]
    pub input: Option<Value>,
    /// Values of the session's state.
    pub state: BTreeMap<String, Value>,
    /// The findings of single gates.
    pub gates: BTreeMap<String, String>,
    /// The key of an event, such as `prompt`, and its text.
    #[serde(flatten)]
    shorthand: BTreeMap<String, Value>,
}

/// Reads `null` as a value of its own.
fn some_value<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// The values of a scenario's placeholders.
#[derive(Debug, Clone, Default)]
pub struct ScenarioContext {
    /// The folder of the project.
    pub home: String,
    /// The id of the session.
    pub session: String,
    /// Today as `MMDDYY`.
    pub date: String,
    /// The number of prompts so far.
    pub prompts: usize,
}

impl ScenarioContext {
    /// Fills in the placeholders of a text.
    pub fn filled(&self, text: &str) -> String {
        text.replace("{session}", &self.session).replace("{date}", &self.date).replace("{home}", &self.home)
    }

    fn fill(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.filled(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.fill(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.fill(field)),
            _ => {}
        }
    }
}

/// Why a scenario cannot be read, fails or cannot run.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    #[error(transparent)]
    Yaml(#[from] serde_yaml::Error),
    #[error("too many brackets are open")]
    TooDeep,
    #[error("step {0}: {1}")]
    Step(u64, Box<ScenarioError>),
    #[error("unknown key `{0}`{renamed}", renamed = renamed(.0))]
    Key(String),
    #[error("`{0}` must be a text")]
    Value(String),
    #[error("unknown result `{0}`{renamed}; the results are {words}", renamed = renamed(.0), words = EXPECTED.join(", "))]
    Result(String),
    #[error("`line` counts the events of a `stream`, and there is none")]
    NoStream,
    #[error("the `line` of the stream before which the step happens is missing")]
    NoLine,
    #[error("with a `stream`, steps only change the project; events and expectations belong to the stream")]
    Event,
    #[error("the scenario runs programs; allow it with `--shell` if you trust it")]
    NeedsShell,
    #[error("`{0}` belongs to git, which runs what is there; allow it with `--shell` if you trust it")]
    GitFile(String),
    #[error("`{0}` is outside the scenario's project")]
    Outside(String),
    #[error("`wait: {0}` is not a duration such as `90m` or `2 days`")]
    Wait(String),
    #[error("`clock: {0}` is not a time such as 2026-03-01T12:00:00Z")]
    Clock(String),
    #[error("`{0}` fails: {1}")]
    Program(String, String),
    #[error("cannot write `{0}`: {1}")]
    Write(String, io::Error),
    #[error("`{0}` is not a file of events")]
    NotEvents(String),
    #[error("the stream has no line {0}")]
    PastEnd(u64),
    #[error("{0}")]
    Unmet(String),
    #[error(transparent)]
    Io(#[from] io::Error),
}

const EXPECTED: [&str; 6] = ["silent", "context", "blocked", "asked", "stopped", "failed"];

impl Scenario {
    /// Reads a scenario.
    ///
    /// # Errors
    ///
    /// Names the line or the step that is wrong.
    pub fn parse(text: &str) -> Result<Self, ScenarioError> {
        if nests_too_deep(text) {
            return Err(ScenarioError::TooDeep);
        }
        let scenario: Self = serde_yaml::from_str(text)?;
        for (number, step) in (1..).zip(&scenario.steps) {
            step.check(scenario.stream.is_some()).map_err(|why| ScenarioError::Step(number, Box::new(why)))?;
        }
        Ok(scenario)
    }

    /// Whether it runs programs of its own.
    pub fn runs_programs(&self) -> bool {
        self.steps.iter().any(|step| step.shell.is_some() || step.command.is_some())
    }
}

type EventBuilder = fn(&str, &ScenarioContext) -> Value;

const SHORTHANDS: [(&str, EventBuilder); 11] = [
    ("prompt", |text, _| prompt_event(text)),
    ("expands", |command, _| {
        let (name, args) = command.split_once(' ').unwrap_or((command, ""));
        json!({"hook_event_name": "UserPromptExpansion", "command_name": name, "command_args": args, "prompt": format!("/{command}")})
    }),
    ("skill", |skill, _| tool_event("PreToolUse", "Skill", json!({"skill": skill, "args": ""}), None)),
    ("starts", |agent, _| tool_event("PreToolUse", "Agent", agent_input(agent), None)),
    (
        "begins",
        |agent, _| json!({"hook_event_name": "SubagentStart", "agent_id": agent_id(agent), "agent_type": agent}),
    ),
    ("stops", |agent, _| stop_event(agent)),
    ("returns", |agent, _| {
        let response = json!({"status": "completed", "agentId": agent_id(agent)});
        tool_event("PostToolUse", "Agent", agent_input(agent), Some(("tool_response", response)))
    }),
    ("notifies", |agent, _| {
        let id = agent_id(agent);
        prompt_event(&format!("<task-notification>\n<task-id>{id}</task-id>\n</task-notification>"))
    }),
    ("runs", |line, _| {
        let response = json!({"stdout": "", "stderr": "", "interrupted": false});
        tool_event("PostToolUse", "Bash", json!({"command": line}), Some(("tool_response", response)))
    }),
    ("fails", |line, _| {
        let error = ("error", "Exit code 101".into());
        tool_event("PostToolUseFailure", "Bash", json!({"command": line}), Some(error))
    }),
    ("edits", |path, context| {
        let path = format!("{}/{}", context.home, context.filled(path));
        tool_event("PostToolUse", "Edit", json!({"file_path": path, "old_string": "a", "new_string": "b"}), None)
    }),
];

impl ScenarioStep {
    fn check(&self, streamed: bool) -> Result<(), ScenarioError> {
        for (key, value) in &self.shorthand {
            if !SHORTHANDS.iter().any(|(name, _)| name == key) {
                return Err(ScenarioError::Key(key.clone()));
            }
            if !value.is_string() {
                return Err(ScenarioError::Value(key.clone()));
            }
        }
        let is_known = |word: &str| EXPECTED.contains(&word) || self.command.is_some() && word.starts_with("exit ");
        if let Some(word) = self.expect.as_ref().filter(|word| !is_known(word)) {
            return Err(ScenarioError::Result(word.clone()));
        }
        match self.line {
            Some(_) if !streamed => Err(ScenarioError::NoStream),
            None if streamed => Err(ScenarioError::NoLine),
            _ if streamed && (self.has_event() || self.has_expectations()) => Err(ScenarioError::Event),
            _ => Ok(()),
        }
    }

    fn has_event(&self) -> bool {
        self.event.is_some() || self.calls.is_some() || !self.shorthand.is_empty()
    }

    /// The event of the step, if it has one.
    pub fn event(&self, context: &mut ScenarioContext) -> Option<Value> {
        if ["prompt", "notifies"].iter().any(|key| self.shorthand.contains_key(*key)) {
            context.prompts += 1;
        }
        let Value::Object(mut fields) = self.bare_event(context)? else { return None };
        let prompt = format!("prompt-{}", context.prompts);
        for (name, text) in [("session_id", &context.session), ("cwd", &context.home), ("prompt_id", &prompt)] {
            fields.entry(name).or_insert_with(|| text.as_str().into());
        }
        fields.extend(self.with.clone());
        fields.values_mut().for_each(|value| context.fill(value));
        Some(Value::Object(fields))
    }

    fn bare_event(&self, context: &ScenarioContext) -> Option<Value> {
        if self.event.is_some() {
            return self.event.clone();
        }
        if let Some((tool, input)) = self.calls.as_ref().and_then(BTreeMap::first_key_value) {
            return Some(tool_event("PreToolUse", tool, input.clone(), None));
        }
        let (key, build) = SHORTHANDS.iter().find(|(key, _)| self.shorthand.contains_key(*key))?;
        Some(build(self.shorthand.get(*key)?.as_str()?, context))
    }
}

fn prompt_event(prompt: &str) -> Value {
    json!({"hook_event_name": "UserPromptSubmit", "prompt": prompt})
}

fn tool_event(event: &str, tool: &str, input: Value, more: Option<(&str, Value)>) -> Value {
    let fields = [
        ("hook_event_name", event.into()),
        ("tool_name", tool.into()),
        ("tool_input", input),
        ("tool_use_id", "toolu_1".into()),
    ];
    fields.into_iter().chain(more).map(|(name, value)| (name.to_owned(), value)).collect()
}

fn stop_event(agent: &str) -> Value {
    if agent == "main" {
        return json!({"hook_event_name": "Stop", "stop_hook_active": false, "background_tasks": []});
    }
    json!({"hook_event_name": "SubagentStop", "agent_id": agent_id(agent), "agent_type": agent, "stop_hook_active": false, "background_tasks": []})
}

fn agent_input(agent: &str) -> Value {
    json!({"subagent_type": agent, "prompt": "do it", "description": "d"})
}

fn agent_id(agent: &str) -> String {
    format!("id-{}", agent.replace(':', "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_an_earlier_version_names_the_new_one() {
        for (step, expected) in [
            ("prompt: x\n    expect: refused", "unknown result `refused`, which is now `blocked`"),
            ("prompt: x\n    expect: held", "unknown result `held`, which is now `blocked`"),
            ("prompt: x\n    expect: told", "unknown result `told`, which is now `context`"),
            ("prompt: x\n    tells: [y]", "unknown key `tells`, which is now `includes`"),
            ("promt: x", "unknown key `promt`"),
        ] {
            let error = Scenario::parse(&format!("about: x\nsteps:\n  - {step}\n")).unwrap_err().to_string();
            assert!(error.starts_with(&format!("step 1: {expected}")), "{error}");
        }
    }
}
