//! A scenario: steps in a project, and what must come of each.
//!
//! `fixtures/scenarios/README.md` tells how one is written.

use crate::project::{Project, Said};
use libtest_mimic::Failed;
use modegate::engine::decide;
use modegate::event::Event;
use modegate::facts::live::now;
use modegate::facts::{Facts, Recorded};
use modegate::journal;
use modegate::library;
use modegate::paths::Places;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    pub about: String,
    #[serde(default)]
    session: Option<String>,
    #[serde(default)]
    git: bool,
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    steps: Vec<Step>,
}

/// One thing that happens, and what must come of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    // What happens: one of these.
    event: Option<Value>,
    prompt: Option<String>,
    expands: Option<String>,
    skill: Option<String>,
    starts: Option<String>,
    begins: Option<String>,
    stops: Option<String>,
    returns: Option<String>,
    notifies: Option<String>,
    runs: Option<String>,
    fails: Option<String>,
    edits: Option<String>,
    calls: Option<BTreeMap<String, Value>>,
    write: Option<BTreeMap<String, String>>,
    shell: Option<String>,
    commit: Option<String>,
    command: Option<Vec<String>>,
    // What is added to the event.
    #[serde(default)]
    with: BTreeMap<String, Value>,
    // What must come of it.
    expect: Option<String>,
    opening: Option<String>,
    #[serde(default)]
    because: Vec<String>,
    #[serde(default)]
    tells: Vec<String>,
    #[serde(default)]
    hides: Vec<String>,
    gives: Option<Value>,
    #[serde(default)]
    state: BTreeMap<String, Value>,
    #[serde(default)]
    gates: BTreeMap<String, String>,
}

/// A scenario that has been played.
pub struct Stage {
    project: Project,
    session: String,
    prompts: usize,
}

impl Scenario {
    pub fn read(path: &Path) -> Result<Self, Failed> {
        let text = std::fs::read_to_string(path)?;
        Self::parse(&text).map_err(|error| Failed::from(format!("{}: {error}", path.display())))
    }

    pub fn parse(text: &str) -> Result<Self, String> {
        serde_yaml::from_str(text).map_err(|error| error.to_string())
    }

    pub fn play(&self) -> Result<Stage, Failed> {
        let session = self.session.clone().unwrap_or_else(|| "abc-123".to_owned());
        let mut stage = Stage { project: Project::new(), session, prompts: 0 };
        if self.git {
            stage.project.git(&["init", "-q", "-b", "main"]);
        }
        for (path, text) in &self.files {
            stage.project.write(path, text);
        }
        if self.git {
            stage.project.shell("git add -A && git commit -q --allow-empty -m start");
        }
        for (index, step) in self.steps.iter().enumerate() {
            stage.step(step).map_err(|error| Failed::from(format!("step {}: {error}", index + 1)))?;
        }
        Ok(stage)
    }
}

impl Stage {
    fn step(&mut self, step: &Step) -> Result<(), String> {
        for (path, text) in step.write.iter().flatten() {
            self.project.write(path, text);
        }
        if let Some(line) = &step.shell {
            self.project.shell(&line.replace("{date}", &now().date).replace("{session}", &self.session));
        }
        if let Some(message) = &step.commit {
            self.project.shell(&format!("git add -A && git commit -q -m '{message}'"));
        }
        if let Some(words) = &step.command {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let said = self.project.run(&words);
            return step.judge(&said, &format!("exit {}", said.exit), self);
        }
        let Some(mut event) = self.event(step) else { return step.judge_state(self) };
        let fields = event.as_object_mut().expect("an object");
        fields.extend(step.with.clone());
        fields.values_mut().for_each(|value| self.fill(value));
        let kind = fields["hook_event_name"].as_str().unwrap_or_default().to_owned();
        let said = self.project.hook(&event);
        step.judge(&said, outcome(&kind, &said), self)
    }

    fn event(&mut self, step: &Step) -> Option<Value> {
        let tool = |event: &str, tool: &str, input: Value| json!({"hook_event_name": event, "tool_name": tool, "tool_input": input, "tool_use_id": "toolu_1"});
        let mut event = if let Some(event) = &step.event {
            event.clone()
        } else if let Some(prompt) = &step.prompt {
            self.prompts += 1;
            json!({"hook_event_name": "UserPromptSubmit", "prompt": prompt})
        } else if let Some(command) = &step.expands {
            let (name, args) = command.split_once(' ').unwrap_or((command, ""));
            json!({"hook_event_name": "UserPromptExpansion", "command_name": name, "command_args": args, "prompt": format!("/{command}")})
        } else if let Some(skill) = &step.skill {
            tool("PreToolUse", "Skill", json!({"skill": skill, "args": ""}))
        } else if let Some(agent) = &step.starts {
            tool("PreToolUse", "Agent", json!({"subagent_type": agent, "prompt": "do it", "description": "d"}))
        } else if let Some(agent) = &step.begins {
            json!({"hook_event_name": "SubagentStart", "agent_id": id(agent), "agent_type": agent})
        } else if let Some(agent) = &step.stops {
            match agent.as_str() {
                "main" => json!({"hook_event_name": "Stop", "stop_hook_active": false, "background_tasks": []}),
                agent => {
                    json!({"hook_event_name": "SubagentStop", "agent_id": id(agent), "agent_type": agent, "stop_hook_active": false, "background_tasks": []})
                }
            }
        } else if let Some(agent) = &step.returns {
            let mut event =
                tool("PostToolUse", "Agent", json!({"subagent_type": agent, "prompt": "do it", "description": "d"}));
            event["tool_response"] = json!({"status": "completed", "agentId": id(agent)});
            event
        } else if let Some(agent) = &step.notifies {
            self.prompts += 1;
            json!({"hook_event_name": "UserPromptSubmit", "prompt": format!("<task-notification>\n<task-id>{}</task-id>\n</task-notification>", id(agent))})
        } else if let Some(line) = &step.runs {
            let mut event = tool("PostToolUse", "Bash", json!({"command": line}));
            event["tool_response"] = json!({"stdout": "", "stderr": "", "interrupted": false});
            event
        } else if let Some(line) = &step.fails {
            let mut event = tool("PostToolUseFailure", "Bash", json!({"command": line}));
            event["error"] = "Exit code 101".into();
            event
        } else if let Some((name, input)) = step.calls.as_ref().and_then(BTreeMap::first_key_value) {
            tool("PreToolUse", name, input.clone())
        } else if let Some(path) = &step.edits {
            let path = self.project.home().join(path.replace("{date}", &now().date));
            tool("PostToolUse", "Edit", json!({"file_path": path, "old_string": "a", "new_string": "b"}))
        } else {
            return None;
        };
        let fields = event.as_object_mut()?;
        fields.entry("session_id").or_insert_with(|| self.session.as_str().into());
        fields.entry("cwd").or_insert_with(|| self.project.home().to_string_lossy().into());
        fields.entry("prompt_id").or_insert_with(|| format!("prompt-{}", self.prompts).into());
        Some(event)
    }

    /// Decides every event of the journals again, from nothing but the journals.
    pub fn replay(&self) -> Result<(), Failed> {
        let places = Places { home: self.project.home() };
        let catalogue = library::read(&places);
        let folder = places.hooks().join("sessions");
        let files = std::fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
        for line in files.flat_map(|path| journal::lines(&path)) {
            if line.modes != catalogue.hash {
                continue;
            }
            let event = Event::from_value(line.event.clone())?;
            let recorded = Recorded::new(line.asked.clone());
            let again = decide(&event, &catalogue, &line.before, &Facts::new(&recorded));
            let after = line.after.clone().unwrap_or_else(|| line.before.clone());
            if again.findings != line.findings || again.session != after || again.decision != line.decision {
                return Err(format!(
                    "replayed otherwise: {}\nthen {:#?}\nnow {:#?}",
                    line.event, line.decision, again.decision
                )
                .into());
            }
        }
        Ok(())
    }

    /// Fills in every text of a value.
    fn fill(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.filled(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.fill(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.fill(field)),
            _ => {}
        }
    }

    fn filled(&self, text: &str) -> String {
        text.replace("{session}", &self.session)
            .replace("{date}", &now().date)
            .replace("{home}", &self.project.home().to_string_lossy())
    }
}

impl Step {
    fn judge(&self, said: &Said, outcome: &str, stage: &Stage) -> Result<(), String> {
        let report = |what: String| {
            Err(format!("{what}\n  exit {}\n  stdout {}\n  stderr {}", said.exit, said.stdout, said.stderr))
        };
        if let Some(expected) = &self.expect
            && expected != outcome
        {
            return report(format!("expected {expected}, was {outcome}"));
        }
        if said.exit == 2 {
            let json = said.json();
            let reason = [&json["reason"], &json["hookSpecificOutput"]["permissionDecisionReason"]]
                .into_iter()
                .find_map(Value::as_str);
            if reason.map(str::trim) != Some(said.stderr.trim()) {
                return report("stdout and stderr give different reasons".to_owned());
            }
        }
        if let Some(opening) = self.opening.as_deref().map(|text| stage.filled(text))
            && !said.stderr.starts_with(&opening)
        {
            return report(format!("the reason does not begin with {opening:?}"));
        }
        let all = format!("{}\n{}", said.stdout.replace("\\n", "\n"), said.stderr);
        for text in &self.because {
            let text = stage.filled(text);
            if !said.stderr.contains(&text) {
                return report(format!("the reason lacks {text:?}"));
            }
        }
        for text in &self.tells {
            let text = stage.filled(text);
            if !all.contains(&text) {
                return report(format!("the answer lacks {text:?}"));
            }
        }
        for text in &self.hides {
            let text = stage.filled(text);
            if all.contains(&text) {
                return report(format!("the answer has {text:?}"));
            }
        }
        if let Some(expected) = &self.gives {
            let given = &said.json()["hookSpecificOutput"]["updatedInput"];
            if given != expected {
                return report(format!("the tool is given {given}, not {expected}"));
            }
        }
        self.judge_gates(stage)?;
        self.judge_state(stage)
    }

    /// What single gates found, as the journal has it: `pass`, `block`, …, or `released`.
    fn judge_gates(&self, stage: &Stage) -> Result<(), String> {
        if self.gates.is_empty() {
            return Ok(());
        }
        let places = Places { home: stage.project.home() };
        let line = journal::lines(&places.journal(&stage.session)).pop().ok_or("no journal")?;
        for (gate, expected) in &self.gates {
            let finding = line.findings.iter().find(|finding| finding.gate == *gate);
            let word = match finding {
                None => "unheard",
                Some(finding) if finding.released => "released",
                Some(finding) => finding.verdict.word(),
            };
            if word != expected {
                let saw = finding.map_or("", |finding| finding.outcome.saw.as_str());
                return Err(format!("{gate}: expected {expected}, was {word}: {saw}"));
            }
        }
        Ok(())
    }

    /// Values of the session's state, as `plan_mode.phase`.
    fn judge_state(&self, stage: &Stage) -> Result<(), String> {
        let cache = stage.project.cache();
        for (name, expected) in &self.state {
            let (namespace, key) = name.split_once('.').ok_or("a state is namespace.key")?;
            let value = &cache[namespace]["sessions"][&stage.session][key];
            if value != expected {
                return Err(format!("{name}: expected {expected}, was {value}"));
            }
        }
        Ok(())
    }
}

fn id(agent: &str) -> String {
    format!("id-{}", agent.replace(':', "-"))
}

/// What came of an event: `silent`, `told`, `refused`, `held`.
fn outcome(kind: &str, said: &Said) -> &'static str {
    match said.exit {
        2 if matches!(kind, "Stop" | "SubagentStop") => "held",
        2 => "refused",
        0 if said.stdout.is_empty() => "silent",
        0 if said.json()["hookSpecificOutput"]["permissionDecision"] == "ask" => "asked",
        0 if said.json()["continue"] == false => "stopped",
        0 => "told",
        _ => "failed",
    }
}
