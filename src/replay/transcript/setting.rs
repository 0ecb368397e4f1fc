//! Where an agent's events happen: what all of them have.

use super::SubagentInfo;
use super::calls::PendingCall;
use super::record::TranscriptRecord;
use serde_json::{Map, Value};

/// What is known of an agent's surroundings.
#[derive(Debug, Clone, Default)]
pub(super) struct EventContext {
    pub agent: Option<SubagentInfo>,
    pub session: Option<String>,
    /// The session's transcript.
    pub transcript: Option<String>,
    /// The agent's own transcript.
    pub own: Option<String>,
    pub cwd: Option<String>,
    pub prompt: Option<String>,
    pub mode: Option<String>,
}

/// Events that are told in which permission mode the session is.
const MODAL: [&str; 7] = [
    "UserPromptSubmit",
    "UserPromptExpansion",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
    "SubagentStop",
];

impl EventContext {
    /// Learns from a record.
    pub(super) fn look_around(&mut self, record: &TranscriptRecord) {
        let keep = |own: &mut Option<String>, name: &str| {
            if let Some(text) = record.text(name) {
                *own = Some(text.to_owned());
            }
        };
        keep(&mut self.cwd, "cwd");
        keep(&mut self.mode, "permissionMode");
        if self.session.is_none() {
            keep(&mut self.session, "sessionId");
        }
    }

    /// Learns which prompt is worked on.
    pub(super) fn prompt_id(&mut self, record: &TranscriptRecord) {
        if let Some(id) = record.text("promptId") {
            self.prompt = Some(id.to_owned());
        }
    }

    /// An event about a call.
    pub(super) fn of_call(&self, name: &str, call: &PendingCall) -> Map<String, Value> {
        let mut event = self.event(name);
        event.insert("tool_name".to_owned(), call.tool.clone().into());
        event.insert("tool_input".to_owned(), call.input.clone());
        event.insert("tool_use_id".to_owned(), call.id.clone().into());
        event
    }

    /// An event with what all events have.
    pub(super) fn event(&self, name: &str) -> Map<String, Value> {
        let agent = self.agent.as_ref();
        let fields = [
            ("session_id", self.session.clone()),
            ("transcript_path", self.transcript.clone()),
            ("cwd", self.cwd.clone()),
            ("prompt_id", self.prompt.clone()),
            ("permission_mode", self.mode.clone().filter(|_| MODAL.contains(&name))),
            ("agent_id", agent.map(|agent| agent.id.clone())),
            ("agent_type", agent.and_then(|agent| agent.kind.clone())),
            ("hook_event_name", Some(name.to_owned())),
        ];
        fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into()))).collect()
    }
}
