//! What the journal knows of agents and files: who is who, who wrote what.

use serde_json::{Map, Value};
use std::path::Path;

/// The agents and edits of one session, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ActivityLog {
    agents: Vec<(String, String)>,
    flying: Vec<String>,
    writes: Vec<Write>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Write {
    path: String,
    sha256: String,
    agent: String,
}

/// Only lines with one of these words can tell anything.
const TELLING: [&str; 3] = ["\"SubagentStart\"", "\"SubagentStop\"", "\"PostToolUse\""];

impl ActivityLog {
    /// Reads the journal at `path`; the error is one clause.
    pub fn read(path: &Path) -> Result<Self, String> {
        let newer = std::fs::read(path).map_err(|_| "the journal of this session cannot be read".to_owned())?;
        let older = std::fs::read(super::aside(path)).unwrap_or_default();
        let mut ledger = Self::default();
        for line in older.split(|byte| *byte == b'\n').chain(newer.split(|byte| *byte == b'\n')) {
            if TELLING.iter().any(|word| memchr::memmem::find(line, word.as_bytes()).is_some())
                && let Ok(line) = serde_json::from_slice(line)
            {
                ledger.take(&line);
            }
        }
        Ok(ledger)
    }

    fn take(&mut self, line: &Value) {
        let text = |name: &str| line.pointer(name).and_then(Value::as_str).unwrap_or_default();
        let held = text("/decision/verdict") == "block";
        if let Some(event) = line.get("event").and_then(Value::as_object) {
            self.hear(event, (!held).then(|| text("/who")));
        }
        self.note_writes(line, text("/event/agent_type"));
    }

    /// Hears of an event; `lands` says as whom an agent that stops was taken, and nothing when it was held back.
    pub fn hear(&mut self, event: &Map<String, Value>, lands: Option<&str>) {
        let text = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default();
        let below = |name: &str, key: &str| event.get(name).and_then(|value| value.get(key)?.as_str());
        let (id, agent) = (text("agent_id"), text("agent_type"));
        match (text("hook_event_name"), lands) {
            ("SubagentStart", _) if !agent.is_empty() => {
                self.learn(id, agent);
                self.flying.push(id.to_owned());
            }
            ("SubagentStop", Some(who)) => self.land(id, who),
            ("PostToolUse", _) => {
                let spawned = below("tool_response", "agentId").zip(below("tool_input", "subagent_type"));
                if let Some((id, named)) = spawned.filter(|(_, named)| !named.is_empty()) {
                    self.learn(id, named);
                }
            }
            _ => {}
        }
    }

    /// An agent is out of flight: by its id, or else as whom it was taken for.
    fn land(&mut self, id: &str, who: &str) {
        let by_id = self.flying.iter().position(|flying| flying == id);
        let by_name = || self.flying.iter().position(|flying| self.agent(flying).is_some_and(|agent| agent == who));
        if let Some(at) = by_id.or_else(by_name) {
            self.flying.remove(at);
        }
    }

    fn learn(&mut self, id: &str, agent: &str) {
        if !id.is_empty() && self.agent(id).is_none() {
            self.agents.push((id.to_owned(), agent.to_owned()));
        }
    }

    fn note_writes(&mut self, line: &Value, agent: &str) {
        let agent = if agent.is_empty() { "main" } else { agent };
        for wrote in line.get("wrote").and_then(Value::as_array).into_iter().flatten() {
            let text = |name: &str| wrote.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            self.writes.push(Write { path: text("path"), sha256: text("sha256"), agent: agent.to_owned() });
        }
    }

    /// The type of an agent.
    #[must_use]
    pub fn agent(&self, id: &str) -> Option<String> {
        self.agents.iter().find(|(own, _)| own == id).map(|(_, agent)| agent.clone())
    }

    /// The types of the agents that have started and not stopped.
    #[must_use]
    pub fn in_flight(&self) -> Vec<String> {
        self.flying.iter().filter_map(|id| self.agent(id)).collect()
    }

    /// Who wrote the file so that its content has this hash; `None` when its last writer left it otherwise.
    #[must_use]
    pub fn writer(&self, path: &Path, sha256: &str) -> Option<String> {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let wanted = real(path);
        let is_it = |write: &&Write| Path::new(&write.path) == path || real(Path::new(&write.path)) == wanted;
        let last = self.writes.iter().rev().find(is_it)?;
        (last.sha256 == sha256).then(|| last.agent.clone())
    }
}
