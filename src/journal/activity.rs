//! The agents and edits of a session: which id has which type, which agent wrote which content.

use super::WrittenFile;
use serde_json::{Map, Value};

/// The agents and edits of one session, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ActivityLog {
    /// Ids and types.
    agents: Vec<(String, String)>,
    /// The ids of agents that have started and not stopped.
    running: Vec<String>,
    /// Files after each edit, and the agent that edited them.
    writes: Vec<(WrittenFile, FileWriter)>,
}

/// An agent that edited a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FileWriter {
    /// Its type, or `main`.
    agent: String,
    /// Its id; empty for the main agent.
    id: String,
}

impl ActivityLog {
    /// Only journal lines with one of these words change the log.
    pub const EVENTS: [&str; 3] = ["\"SubagentStart\"", "\"SubagentStop\"", "\"PostToolUse\""];

    /// Adds a journal line.
    pub fn add_line(&mut self, line: &Value) {
        let text = |name: &str| line.pointer(name).and_then(Value::as_str).unwrap_or_default();
        let is_blocked = text("/decision/verdict") == "block";
        if let Some(event) = line.get("event").and_then(Value::as_object) {
            self.add_event(event, (!is_blocked).then(|| text("/who")));
        }
        let agent = Some(text("/event/agent_type")).filter(|agent| !agent.is_empty()).unwrap_or("main");
        let writer = FileWriter { agent: agent.to_owned(), id: text("/event/agent_id").to_owned() };
        for wrote in line.get("wrote").and_then(Value::as_array).into_iter().flatten() {
            let text = |name: &str| wrote.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            self.writes.push((WrittenFile { path: text("path"), sha256: text("sha256") }, writer.clone()));
        }
    }

    /// Adds an event; `stopped` names the agent that an allowed stop was attributed to, `None` for a blocked stop.
    pub fn add_event(&mut self, event: &Map<String, Value>, stopped: Option<&str>) {
        let text = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default();
        let field = |name: &str, key: &str| event.get(name).and_then(|value| value.get(key)?.as_str());
        let (id, agent) = (text("agent_id"), text("agent_type"));
        match (text("hook_event_name"), stopped) {
            ("SubagentStart", _) if !agent.is_empty() => {
                self.add_agent(id, agent);
                self.running.push(id.to_owned());
            }
            ("SubagentStop", Some(who)) => self.stop(id, who),
            ("PostToolUse", _) => {
                let spawned = field("tool_response", "agentId").zip(field("tool_input", "subagent_type"));
                if let Some((id, agent)) = spawned.filter(|(_, agent)| !agent.is_empty()) {
                    self.add_agent(id, agent);
                }
            }
            _ => {}
        }
    }

    /// Ends the agent with this id, else the first one of type `who`.
    fn stop(&mut self, id: &str, who: &str) {
        let by_id = self.running.iter().position(|running| running == id);
        let by_type = || self.running.iter().position(|running| self.agent(running).is_some_and(|agent| agent == who));
        if let Some(at) = by_id.or_else(by_type) {
            self.running.remove(at);
        }
    }

    fn add_agent(&mut self, id: &str, agent: &str) {
        if !id.is_empty() && self.agent(id).is_none() {
            self.agents.push((id.to_owned(), agent.to_owned()));
        }
    }

    /// The type of an agent.
    #[must_use]
    pub fn agent(&self, id: &str) -> Option<String> {
        self.agents.iter().find(|(known, _)| known == id).map(|(_, agent)| agent.clone())
    }

    /// The types of the agents that have started and not stopped.
    #[must_use]
    pub fn in_flight(&self) -> Vec<String> {
        self.running.iter().filter_map(|id| self.agent(id)).collect()
    }

    /// The agent that wrote the present content of a file; `None` when the last recorded edit left another one.
    pub fn writer(&self, is_file: impl Fn(&str) -> bool, sha256: &str) -> Option<String> {
        self.last_writer(is_file, sha256).map(|writer| writer.agent.clone())
    }

    /// Whether the agent with this id wrote the present content of a file.
    pub fn wrote(&self, id: &str, is_file: impl Fn(&str) -> bool, sha256: &str) -> bool {
        self.last_writer(is_file, sha256).is_some_and(|writer| writer.id == id)
    }

    fn last_writer(&self, is_file: impl Fn(&str) -> bool, sha256: &str) -> Option<&FileWriter> {
        let (file, writer) = self.writes.iter().rev().find(|(file, _)| is_file(&file.path))?;
        (file.sha256 == sha256).then_some(writer)
    }
}
