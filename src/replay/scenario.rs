//! A scenario: a world, things that happen in it, and what must come of each.
//!
//! `fixtures/scenarios/README.md` tells how one is written.

mod step_check;

pub use step_check::StepOutput;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A scenario as its file says it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// What it shows.
    pub about: String,
    /// The session's id.
    #[serde(default = "session")]
    pub session: String,
    /// Whether the project is a repository.
    #[serde(default)]
    pub git: bool,
    /// What time it is at the start; now, when it is left out.
    #[serde(default)]
    pub clock: Option<String>,
    /// The project's files at the start.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// A file with events of the host, one a line, beside this one.
    #[serde(default)]
    pub stream: Option<String>,
    /// What happens; with a stream, what happens between its events.
    #[serde(default)]
    pub steps: Vec<ScenarioStep>,
}

fn session() -> String {
    "abc-123".to_owned()
}

/// One thing that happens, and what must come of it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScenarioStep {
    /// The line of the stream before whose event it happens.
    pub line: Option<u64>,
    /// Any event.
    pub event: Option<Value>,
    /// A prompt is typed.
    pub prompt: Option<String>,
    /// A command is expanded.
    pub expands: Option<String>,
    /// The model calls a skill.
    pub skill: Option<String>,
    /// The Agent tool is called.
    pub starts: Option<String>,
    /// An agent begins.
    pub begins: Option<String>,
    /// An agent stops, or `main`.
    pub stops: Option<String>,
    /// The Agent tool has answered.
    pub returns: Option<String>,
    /// A task notification comes.
    pub notifies: Option<String>,
    /// A shell command has passed.
    pub runs: Option<String>,
    /// A shell command has failed.
    pub fails: Option<String>,
    /// A file was edited.
    pub edits: Option<String>,
    /// A tool is about to be called.
    pub calls: Option<BTreeMap<String, Value>>,
    /// Files are written.
    pub write: Option<BTreeMap<String, String>>,
    /// A shell line runs in the project.
    pub shell: Option<String>,
    /// Everything is committed.
    pub commit: Option<String>,
    /// modegate itself is run.
    pub command: Option<Vec<String>>,
    /// Time goes by, such as `90m` or `2 days`.
    pub wait: Option<String>,
    /// What is added to the event.
    pub with: BTreeMap<String, Value>,
    /// What must come of it, in a word.
    pub expect: Option<String>,
    /// How the reason begins.
    pub opening: Option<String>,
    /// Texts in the reason.
    pub because: Vec<String>,
    /// Texts in the answer.
    pub includes: Vec<String>,
    /// Texts that are not in the answer.
    pub excludes: Vec<String>,
    /// What the tool is given instead.
    #[serde(deserialize_with = "given")]
    pub input: Option<Value>,
    /// Values of the session's state.
    pub state: BTreeMap<String, Value>,
    /// What single gates found.
    pub gates: BTreeMap<String, String>,
}

/// `null` is an answer too: the tool is given nothing else.
fn given<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// CaseLocation and when a scenario plays.
#[derive(Debug, Clone, Default)]
pub struct ScenarioContext {
    /// The project's folder.
    pub home: String,
    /// The session's id.
    pub session: String,
    /// Today as `MMDDYY`.
    pub date: String,
    /// How many prompts there were.
    pub prompts: usize,
}

impl ScenarioContext {
    /// A text with its placeholders filled in.
    #[must_use]
    pub fn filled(&self, text: &str) -> String {
        text.replace("{session}", &self.session).replace("{date}", &self.date).replace("{home}", &self.home)
    }

    /// Fills in every text of a value.
    pub fn fill(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.filled(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.fill(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.fill(field)),
            _ => {}
        }
    }
}

impl Scenario {
    /// Reads a scenario; the error is a clause with the place.
    pub fn parse(text: &str) -> Result<Self, String> {
        let scenario: Self = serde_yaml::from_str(text).map_err(|error| error.to_string())?;
        let streamed = scenario.stream.is_some();
        let mut setting = ScenarioContext::default();
        for (number, step) in (1..).zip(&scenario.steps) {
            let what = match step.line {
                Some(_) if !streamed => "`line` counts the events of a `stream`, and there is none",
                None if streamed => "it needs the `line` of the stream before whose event it happens",
                _ if streamed && (step.event(&mut setting).is_some() || step.demands()) => {
                    "with a `stream` a step changes the world; events and expectations are the stream's"
                }
                _ => continue,
            };
            return Err(format!("step {number}: {what}"));
        }
        Ok(scenario)
    }

    /// Whether it runs programs of its own.
    #[must_use]
    pub fn runs_programs(&self) -> bool {
        self.steps.iter().any(|step| step.shell.is_some() || step.command.is_some())
    }
}

impl ScenarioStep {
    /// The event that comes, if one does.
    #[must_use]
    pub fn event(&self, setting: &mut ScenarioContext) -> Option<Value> {
        if self.prompt.is_some() || self.notifies.is_some() {
            setting.prompts += 1;
        }
        let Value::Object(mut fields) = self.spelled(setting)? else { return None };
        let or = |fields: &mut Map<String, Value>, name: &str, value: String| {
            fields.entry(name).or_insert_with(|| value.into());
        };
        or(&mut fields, "session_id", setting.session.clone());
        or(&mut fields, "cwd", setting.home.clone());
        or(&mut fields, "prompt_id", format!("prompt-{}", setting.prompts));
        fields.extend(self.with.clone());
        fields.values_mut().for_each(|value| setting.fill(value));
        Some(Value::Object(fields))
    }

    fn spelled(&self, setting: &ScenarioContext) -> Option<Value> {
        let prompt = |prompt: &str| json!({"hook_event_name": "UserPromptSubmit", "prompt": prompt});
        let agent = |agent: &str| json!({"subagent_type": agent, "prompt": "do it", "description": "d"});
        let event = if let Some(event) = &self.event {
            event.clone()
        } else if let Some(text) = &self.prompt {
            prompt(text)
        } else if let Some(command) = &self.expands {
            let (name, args) = command.split_once(' ').unwrap_or((command, ""));
            json!({"hook_event_name": "UserPromptExpansion", "command_name": name, "command_args": args, "prompt": format!("/{command}")})
        } else if let Some(skill) = &self.skill {
            tool("PreToolUse", "Skill", json!({"skill": skill, "args": ""}), [])
        } else if let Some(name) = &self.starts {
            tool("PreToolUse", "Agent", agent(name), [])
        } else if let Some(name) = &self.begins {
            json!({"hook_event_name": "SubagentStart", "agent_id": id(name), "agent_type": name})
        } else if let Some(name) = &self.stops {
            stop(name)
        } else if let Some(name) = &self.returns {
            let response = json!({"status": "completed", "agentId": id(name)});
            tool("PostToolUse", "Agent", agent(name), [("tool_response", response)])
        } else if let Some(name) = &self.notifies {
            prompt(&format!("<task-notification>\n<task-id>{}</task-id>\n</task-notification>", id(name)))
        } else if let Some(line) = &self.runs {
            let response = json!({"stdout": "", "stderr": "", "interrupted": false});
            tool("PostToolUse", "Bash", json!({"command": line}), [("tool_response", response)])
        } else if let Some(line) = &self.fails {
            tool("PostToolUseFailure", "Bash", json!({"command": line}), [("error", "Exit code 101".into())])
        } else if let Some((name, input)) = self.calls.as_ref().and_then(BTreeMap::first_key_value) {
            tool("PreToolUse", name, input.clone(), [])
        } else if let Some(path) = &self.edits {
            let path = format!("{}/{}", setting.home, setting.filled(path));
            tool("PostToolUse", "Edit", json!({"file_path": path, "old_string": "a", "new_string": "b"}), [])
        } else {
            return None;
        };
        Some(event)
    }
}

/// An event about a tool.
fn tool<const N: usize>(event: &str, name: &str, input: Value, more: [(&str, Value); N]) -> Value {
    let named = [("hook_event_name", event.into()), ("tool_name", name.into()), ("tool_input", input)];
    let fields = named.into_iter().chain([("tool_use_id", "toolu_1".into())]).chain(more);
    fields.map(|(name, value)| (name.to_owned(), value)).collect()
}

fn stop(agent: &str) -> Value {
    match agent {
        "main" => json!({"hook_event_name": "Stop", "stop_hook_active": false, "background_tasks": []}),
        agent => {
            json!({"hook_event_name": "SubagentStop", "agent_id": id(agent), "agent_type": agent, "stop_hook_active": false, "background_tasks": []})
        }
    }
}

fn id(agent: &str) -> String {
    format!("id-{}", agent.replace(':', "-"))
}
