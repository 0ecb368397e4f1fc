//! What works in the background while an agent stops: the host tells it with each stop.

use super::merge::{is_spawn, pointer};
use super::said::tagged;
use serde_json::{Map, Value, json};

/// The tasks in the background, as the events so far show them.
#[derive(Default)]
pub(super) struct BackgroundTasks {
    running: Vec<Value>,
    /// Every subagent whose call has an answer: it may be called again.
    agents: Vec<Value>,
}

impl BackgroundTasks {
    /// Adds to a stop what works in the background, and learns from any other event.
    pub(super) fn pass(&mut self, event: &mut Map<String, Value>) {
        match pointer(event, "/hook_event_name") {
            Some("PostToolUse") => {
                self.agents.extend(agent(event));
                self.running.extend(launched(event));
            }
            Some("SubagentStart") => self.call_again(pointer(event, "/agent_id").unwrap_or_default()),
            Some("UserPromptSubmit") => {
                let ended = pointer(event, "/prompt").filter(|prompt| prompt.trim_start().starts_with("<task-notif"));
                self.end(ended.and_then(|prompt| tagged(prompt, "task-id")).unwrap_or_default());
            }
            Some("Stop" | "SubagentStop") => {
                event.insert("background_tasks".to_owned(), Value::Array(self.running.clone()));
                let id = pointer(event, "/agent_id").unwrap_or_default().to_owned();
                self.end(&id);
            }
            _ => {}
        }
    }

    /// An agent that was called again works in the background.
    fn call_again(&mut self, id: &str) {
        let running = self.running.iter().any(|task| is_of(task, id));
        self.running.extend(self.agents.iter().find(|task| !running && is_of(task, id)).cloned());
    }

    fn end(&mut self, id: &str) {
        self.running.retain(|task| !is_of(task, id));
    }
}

fn is_of(task: &Value, id: &str) -> bool {
    task.get("id").and_then(Value::as_str) == Some(id)
}

/// The subagent of a call, as a task.
fn agent(event: &Map<String, Value>) -> Option<Value> {
    let text = |path: &str| pointer(event, path);
    let id = text("/tool_response/agentId").filter(|_| is_spawn(event))?;
    let (kind, about) = (text("/tool_input/subagent_type"), text("/tool_input/description"));
    let mut task = json!({"id": id, "type": "subagent", "status": "running", "description": about});
    if let (Some(kind), Some(fields)) = (kind, task.as_object_mut()) {
        fields.insert("agent_type".to_owned(), kind.into());
    }
    Some(task)
}

/// The task that a tool has left in the background.
fn launched(event: &Map<String, Value>) -> Option<Value> {
    let text = |path: &str| pointer(event, path);
    if is_spawn(event) {
        return agent(event).filter(|_| text("/tool_response/status") == Some("async_launched"));
    }
    let id = text("/tool_response/backgroundTaskId")?;
    let command = text("/tool_input/command");
    let about = text("/tool_input/description").or(command);
    Some(json!({"id": id, "type": "shell", "status": "running", "description": about, "command": command}))
}
