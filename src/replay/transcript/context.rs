//! The fields that all events of an agent share.

use super::SubagentInfo;
use crate::transcript::{LenientText, ToolUse, TranscriptRecord};
use serde_json::{Map, Value};

/// What is known about an agent's session and surroundings.
#[derive(Debug, Clone, Default)]
pub(super) struct EventContext {
    pub agent: Option<SubagentInfo>,
    pub session: Option<String>,
    /// The path of the session's main transcript.
    pub transcript: Option<String>,
    pub agent_transcript: Option<String>,
    pub cwd: Option<String>,
    pub prompt_id: Option<String>,
    pub permission_mode: Option<String>,
}

/// Events that carry the permission mode.
const WITH_PERMISSION_MODE: [&str; 7] = [
    "UserPromptSubmit",
    "UserPromptExpansion",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
    "SubagentStop",
];

impl EventContext {
    pub(super) fn update(&mut self, record: &TranscriptRecord) {
        keep(&mut self.cwd, &record.cwd);
        keep(&mut self.permission_mode, &record.permission_mode);
        if self.session.is_none() {
            keep(&mut self.session, &record.session_id);
        }
    }

    pub(super) fn update_prompt(&mut self, record: &TranscriptRecord) {
        keep(&mut self.prompt_id, &record.prompt_id);
    }

    /// A tool event.
    pub(super) fn tool_event(&self, name: &str, call: &ToolUse) -> Map<String, Value> {
        let mut event = self.event(name);
        event.insert("tool_name".to_owned(), call.tool.clone().into());
        event.insert("tool_input".to_owned(), call.input.clone());
        event.insert("tool_use_id".to_owned(), call.id.clone().into());
        event
    }

    /// An event with the shared fields.
    pub(super) fn event(&self, name: &str) -> Map<String, Value> {
        let agent = self.agent.as_ref();
        let permission_mode = self.permission_mode.clone().filter(|_| WITH_PERMISSION_MODE.contains(&name));
        let fields = [
            ("session_id", self.session.clone()),
            ("transcript_path", self.transcript.clone()),
            ("cwd", self.cwd.clone()),
            ("prompt_id", self.prompt_id.clone()),
            ("permission_mode", permission_mode),
            ("agent_id", agent.map(|agent| agent.id.clone())),
            ("agent_type", agent.and_then(|agent| agent.kind.clone())),
            ("hook_event_name", Some(name.to_owned())),
        ];
        fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into()))).collect()
    }
}

fn keep(field: &mut Option<String>, value: &LenientText) {
    if value.0.is_some() {
        field.clone_from(&value.0);
    }
}
