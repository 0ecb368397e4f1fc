//! Background tasks, which the host lists in every stop event.

use super::merge::{is_agent_call, text_at};
use super::user_message::tagged;
use serde_json::{Map, Value, json};

/// The tasks running in the background, as shown by the events so far.
#[derive(Default)]
pub(super) struct BackgroundTasks {
    running: Vec<Value>,
    /// Subagents that may be called again.
    agents: Vec<Value>,
}

impl BackgroundTasks {
    /// Adds the running tasks to a stop event, and learns from any other event.
    pub(super) fn update(&mut self, event: &mut Map<String, Value>) {
        match text_at(event, "/hook_event_name") {
            Some("PostToolUse") => {
                self.agents.extend(agent_task(event));
                self.running.extend(launched_task(event));
            }
            Some("SubagentStart") => self.restart(text_at(event, "/agent_id").unwrap_or_default()),
            Some("UserPromptSubmit") => {
                let ended = text_at(event, "/prompt").filter(|prompt| prompt.trim_start().starts_with("<task-notif"));
                self.end(ended.and_then(|prompt| tagged(prompt, "task-id")).unwrap_or_default());
            }
            Some("Stop" | "SubagentStop") => {
                event.insert("background_tasks".to_owned(), Value::Array(self.running.clone()));
                self.end(text_at(event, "/agent_id").unwrap_or_default());
            }
            _ => {}
        }
    }

    /// An agent that is called again runs in the background.
    fn restart(&mut self, id: &str) {
        let running = self.running.iter().any(|task| has_id(task, id));
        self.running.extend(self.agents.iter().find(|task| !running && has_id(task, id)).cloned());
    }

    fn end(&mut self, id: &str) {
        self.running.retain(|task| !has_id(task, id));
    }
}

fn has_id(task: &Value, id: &str) -> bool {
    task.get("id").is_some_and(|own| own == id)
}

/// The task of the subagent that a call started.
fn agent_task(event: &Map<String, Value>) -> Option<Value> {
    let text = |path: &str| text_at(event, path);
    let id = text("/tool_response/agentId").filter(|_| is_agent_call(event))?;
    let (kind, description) = (text("/tool_input/subagent_type"), text("/tool_input/description"));
    let mut task = json!({"id": id, "type": "subagent", "status": "running", "description": description});
    if let (Some(kind), Some(fields)) = (kind, task.as_object_mut()) {
        fields.insert("agent_type".to_owned(), kind.into());
    }
    Some(task)
}

/// The task that a tool call left running.
fn launched_task(event: &Map<String, Value>) -> Option<Value> {
    let text = |path: &str| text_at(event, path);
    if is_agent_call(event) {
        return agent_task(event).filter(|_| text("/tool_response/status") == Some("async_launched"));
    }
    let id = text("/tool_response/backgroundTaskId")?;
    let command = text("/tool_input/command");
    let description = text("/tool_input/description").or(command);
    Some(json!({"id": id, "type": "shell", "status": "running", "description": description, "command": command}))
}
