//! The agents and edits of a session: which id has which type, which agent wrote which content.

use super::WrittenFile;
use crate::facts::MessageAddressee;
use crate::host::ids::{UNKNOWN_TEAMMATE, teammate_name};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ActivityLog {
    agents: Vec<KnownAgent>,
    /// Names and types of teammates; some hosts do not tell their ids.
    teammates: Vec<(String, String)>,
    /// The ids of agents that have started and not stopped.
    running: Vec<String>,
    /// Files after the last edit of each agent, and the agent; in the order of the edits.
    writes: Vec<(WrittenFile, FileWriter)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct FileWriter {
    /// Its type, or `main`.
    agent: String,
    /// Its id; empty for the main agent.
    id: String,
    /// Whether it changed a part of a file that was there already.
    is_edit: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct KnownAgent {
    id: String,
    /// Its type; empty if it is not known.
    agent: String,
    name: Option<String>,
}

impl ActivityLog {
    /// Only journal lines with one of these words change the log.
    pub const WORDS: [&str; 5] =
        ["\"wrote\":", "\"SubagentStart\"", "\"SubagentStop\"", "\"agentId\"", "\"teammate_spawned\""];

    pub fn add_line(&mut self, line: &Value) {
        let text = |name: &str| line.pointer(name).and_then(Value::as_str).unwrap_or_default();
        let is_blocked = text("/decision/verdict") == "block";
        if let Some(event) = line.get("event").and_then(Value::as_object) {
            self.add_event(event, (!is_blocked).then(|| text("/who")));
        }
        let agent = Some(text("/event/agent_type")).filter(|agent| !agent.is_empty()).unwrap_or("main");
        let is_edit = matches!(text("/event/tool_name"), "Edit" | "MultiEdit" | "NotebookEdit");
        let writer = FileWriter { agent: agent.to_owned(), id: text("/event/agent_id").to_owned(), is_edit };
        for wrote in line.get("wrote").and_then(Value::as_array).into_iter().flatten() {
            let text = |name: &str| wrote.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            self.add_write(WrittenFile { path: text("path"), sha256: text("sha256") }, writer.clone());
        }
    }

    /// Adds an edit, replacing the same agent's last one of this file, so that a long session has a short log.
    fn add_write(&mut self, file: WrittenFile, writer: FileWriter) {
        self.writes.retain(|(known, by)| known.path != file.path || *by != writer);
        self.writes.push((file, writer));
    }

    /// Adds an event; `stopped` names the agent that an allowed stop was attributed to, `None` for a blocked stop.
    pub fn add_event(&mut self, event: &Map<String, Value>, stopped: Option<&str>) {
        let text = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default();
        let (id, agent) = (text("agent_id"), text("agent_type"));
        match (text("hook_event_name"), stopped) {
            ("SubagentStart", _) if !agent.is_empty() => {
                match teammate_name(id) {
                    Some(name) => self.add_agent(id, "", Some(name)),
                    None => self.add_agent(id, agent, None),
                }
                self.running.push(id.to_owned());
            }
            ("SubagentStop", Some(who)) => self.stop(id, who),
            ("PostToolUse", _) => self.add_launch(event),
            _ => {}
        }
    }

    /// Adds the agent that a call of `Agent` has launched.
    fn add_launch(&mut self, event: &Map<String, Value>) {
        let field = |name: &str, key: &str| event.get(name).and_then(|value| value.get(key)?.as_str());
        let agent = field("tool_input", "subagent_type").or_else(|| field("tool_response", "agent_type"));
        let Some(agent) = agent.filter(|agent| !agent.is_empty()) else { return };
        let name = field("tool_input", "name");
        if let Some(id) = field("tool_response", "agentId") {
            self.add_agent(id, agent, name);
        }
        if let Some(name) = name.filter(|_| field("tool_response", "status") == Some("teammate_spawned")) {
            self.teammates.push((name.to_owned(), agent.to_owned()));
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

    fn add_agent(&mut self, id: &str, agent: &str, name: Option<&str>) {
        let name = name.map(str::to_owned);
        match self.agents.iter_mut().find(|known| known.id == id) {
            Some(known) => {
                if known.agent.is_empty() {
                    agent.clone_into(&mut known.agent);
                }
                known.name = known.name.take().or(name);
            }
            None if id.is_empty() => {}
            None => self.agents.push(KnownAgent { id: id.to_owned(), agent: agent.to_owned(), name }),
        }
    }

    pub fn agent(&self, id: &str) -> Option<String> {
        let known = self.agents.iter().find(|known| known.id == id && !known.agent.is_empty());
        let named = || self.teammates.iter().rfind(|(name, _)| Some(name.as_str()) == teammate_name(id));
        known.map(|known| known.agent.clone()).or_else(|| named().map(|(_, agent)| agent.clone()))
    }

    /// The agent that a message goes to, by its id or the name that it was given last.
    pub fn addressee(&self, to: &str) -> Option<MessageAddressee> {
        let named = |known: &&KnownAgent| known.name.as_deref() == Some(to);
        let known = self.agents.iter().find(|known| known.id == to).or_else(|| self.agents.iter().rfind(named))?;
        let is_running = self.running.contains(&known.id);
        Some(MessageAddressee { id: known.id.clone(), agent: self.agent(&known.id)?, running: is_running })
    }

    pub fn in_flight(&self) -> Vec<String> {
        self.running.iter().filter_map(|id| self.agent(id)).collect()
    }

    /// The agent that wrote the present content of a file; `None` when the last recorded edit left another one.
    pub fn writer(&self, is_file: impl Fn(&str) -> bool, sha256: &str) -> Option<String> {
        self.last_writer(is_file, sha256).map(|writer| self.type_behind(&writer.id, &writer.agent))
    }

    /// The types of the agents that wrote a file; none if they only edited one that was there before.
    pub fn writers(&self, is_file: impl Fn(&str) -> bool) -> Vec<String> {
        let writes: Vec<_> = self.writes.iter().filter(|(file, _)| is_file(&file.path)).collect();
        if writes.iter().all(|(_, writer)| writer.is_edit) {
            return Vec::new();
        }
        writes.into_iter().map(|(_, writer)| self.type_behind(&writer.id, &writer.agent)).collect()
    }

    /// Whether the agent with this id wrote the present content of a file.
    pub fn wrote(&self, id: &str, is_file: impl Fn(&str) -> bool, sha256: &str) -> bool {
        self.last_writer(is_file, sha256).is_some_and(|writer| writer.id == id)
    }

    fn last_writer(&self, is_file: impl Fn(&str) -> bool, sha256: &str) -> Option<&FileWriter> {
        let last = self.writes.iter().rev().find(|(file, _)| is_file(&file.path));
        let last = last.filter(|(file, _)| file.sha256 == sha256);
        // Written elsewhere, then moved or copied.
        let copied = || self.writes.iter().rev().find(|(file, _)| file.sha256 == sha256 && !is_file(&file.path));
        last.or_else(copied).map(|(_, writer)| writer)
    }

    /// The type of the agent of an event, whose `agent_type` is a name if the agent is a teammate.
    pub fn type_behind(&self, id: &str, agent_type: &str) -> String {
        match teammate_name(id) {
            Some(_) => self.agent(id).unwrap_or_else(|| UNKNOWN_TEAMMATE.to_owned()),
            None => agent_type.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const EXPERT: &str = "aconsulting-expert-369dd8c2fd860279";

    fn log(lines: &[Value]) -> ActivityLog {
        let mut log = ActivityLog::default();
        for line in lines {
            log.add_line(line);
        }
        log
    }

    fn start(id: &str, agent: &str) -> Value {
        json!({"event": {"hook_event_name": "SubagentStart", "agent_id": id, "agent_type": agent}})
    }

    fn launch(agent: &str, name: &str, response: &Value) -> Value {
        json!({"event": {"hook_event_name": "PostToolUse", "tool_input": {"subagent_type": agent, "name": name},
            "tool_response": response}})
    }

    #[test]
    fn a_name_makes_nobody_an_expert() {
        let wrote = json!({"event": {"hook_event_name": "PostToolUse", "agent_id": EXPERT, "agent_type": "consulting-expert"},
            "wrote": [{"path": "a.md", "sha256": "x"}]});
        let unknown = log(&[start(EXPERT, "consulting-expert"), wrote.clone()]);
        assert_eq!(unknown.agent(EXPERT), None);
        assert_eq!(unknown.writer(|_| true, "x").as_deref(), Some(UNKNOWN_TEAMMATE));
        // Some hosts give another id in the response than in the events.
        for id in [EXPERT, "consulting-expert@session-1"] {
            let response = json!({"status": "teammate_spawned", "agentId": id, "agent_type": "helper"});
            let known = log(&[
                start(EXPERT, "consulting-expert"),
                wrote.clone(),
                launch("helper", "consulting-expert", &response),
            ]);
            assert_eq!(known.agent(EXPERT).as_deref(), Some("helper"), "{id}");
            assert_eq!(known.writer(|_| true, "x").as_deref(), Some("helper"), "{id}");
        }
    }

    #[test]
    fn a_long_session_has_a_short_log() {
        let wrote = |id: &str, path: &str, sha256: &str| {
            json!({"event": {"hook_event_name": "PostToolUse", "agent_id": id, "agent_type": id},
                "wrote": [{"path": path, "sha256": sha256}]})
        };
        let lines: Vec<Value> =
            (0..300).map(|index| wrote(["a", "b"][index % 2], "x.md", &format!("{index}"))).collect();
        let log = log(&lines);
        assert_eq!(log.writes.len(), 2);
        assert_eq!(log.writer(|_| true, "299").as_deref(), Some("b"));
        // The other agent's last content, perhaps copied from elsewhere.
        assert_eq!(log.writer(|_| true, "298"), None);
        assert_eq!(log.writer(|_| true, "297"), None);
        assert_eq!(log.writers(|_| true), ["a", "b"]);
    }

    #[test]
    fn a_message_goes_to_an_id_or_a_name() {
        let response = json!({"status": "completed", "agentId": "a1"});
        let lines = [start("a1", "planner"), launch("planner", "pat", &response)];
        let running = log(&lines);
        let expected = MessageAddressee { id: "a1".to_owned(), agent: "planner".to_owned(), running: true };
        assert_eq!(running.addressee("a1"), Some(expected.clone()));
        assert_eq!(running.addressee("pat"), Some(expected));
        assert_eq!(running.addressee("sam"), None);
        let stop = json!({"event": {"hook_event_name": "SubagentStop", "agent_id": "a1"}, "who": "planner"});
        let stopped = log(&[lines[0].clone(), lines[1].clone(), stop]);
        assert!(!stopped.addressee("pat").unwrap().running);
    }
}
