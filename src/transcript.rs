//! Reads the records of the host's session transcripts.
//!
//! The format belongs to the host and changes between versions, so reading is lenient: a field of an unexpected type
//! counts as missing.

mod conversation;

pub use conversation::{conversation_text, latest_assistant_text};

use serde::Deserialize;
use serde_json::Value;

/// The longest line that is read, in bytes.
const LONGEST_LINE: usize = 10_000_000;

/// One line of a transcript.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct TranscriptRecord {
    #[serde(rename = "type")]
    pub kind: LenientText,
    pub subtype: LenientText,
    pub uuid: LenientText,
    pub parent_uuid: LenientText,
    pub session_id: LenientText,
    pub agent_id: LenientText,
    pub prompt_id: LenientText,
    pub timestamp: LenientText,
    pub cwd: LenientText,
    pub permission_mode: LenientText,
    pub is_sidechain: LenientFlag,
    pub is_meta: LenientFlag,
    pub is_compact_summary: LenientFlag,
    pub is_visible_in_transcript_only: LenientFlag,
    pub is_api_error_message: LenientFlag,
    pub error: LenientText,
    pub message: MessageBody,
    /// The text of a system record.
    content: MessageContent,
    summary: LenientText,
    pub attachment: Value,
    pub compact_metadata: Value,
    pub forked_from: Value,
    pub origin: Value,
    /// What a progress record reports.
    data: Value,
    #[serde(rename = "parentToolUseID")]
    parent_tool_use_id: LenientText,
    tool_use_result: Value,
    tool_denial_kind: LenientText,
    permission_decision: Value,
}

/// Why a line is not a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnreadableLine {
    TooLong,
    NotJson,
}

impl TranscriptRecord {
    pub(crate) fn read(line: &[u8]) -> Result<Self, UnreadableLine> {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
        if line.len() > LONGEST_LINE {
            return Err(UnreadableLine::TooLong);
        }
        // Serde would also read a struct from an array.
        if !line.starts_with(b"{") {
            return Err(UnreadableLine::NotJson);
        }
        serde_json::from_slice(line).map_err(|_| UnreadableLine::NotJson)
    }

    /// The text of the message, one line per block; an image has none, but is a message.
    pub(crate) fn text(&self) -> Option<String> {
        match self.kind.as_deref() {
            Some("system") => self.content.text(),
            Some("summary") => self.summary.0.clone(),
            _ => self.message.content.text(),
        }
    }

    pub(crate) fn tool_uses(&self) -> impl Iterator<Item = &ToolUse> {
        self.message.content.blocks().iter().filter_map(|block| match block {
            ContentBlock::ToolUse(tool_use) => Some(tool_use),
            _ => None,
        })
    }

    pub(crate) fn tool_results(&self) -> impl Iterator<Item = &ToolResult> {
        self.message.content.blocks().iter().filter_map(|block| match block {
            ContentBlock::ToolResult(result) => Some(result),
            _ => None,
        })
    }

    /// The structured result of the tool; ambiguous where the record has several results.
    pub(crate) fn tool_response(&self) -> Option<&Value> {
        (!self.tool_use_result.is_null() && self.tool_results().count() == 1).then_some(&self.tool_use_result)
    }

    /// The record of a subagent that a progress record has inside, with the id of the call that started the agent.
    pub(crate) fn reported(&self) -> Option<(Self, Option<&str>)> {
        let data = self.data.as_object().filter(|_| self.kind.as_deref() == Some("progress"))?;
        data.get("type").filter(|kind| *kind == "agent_progress")?;
        let mut inner: Self =
            serde_json::from_value(data.get("message").filter(|inner| inner.is_object())?.clone()).ok()?;
        inner.agent_id = LenientText::from(data.get("agentId").cloned().unwrap_or_default());
        inner.agent_id.as_deref()?;
        for (own, outer) in [
            (&mut inner.timestamp, &self.timestamp),
            (&mut inner.cwd, &self.cwd),
            (&mut inner.session_id, &self.session_id),
        ] {
            *own = LenientText(own.0.take().or_else(|| outer.0.clone()));
        }
        Some((inner, self.parent_tool_use_id.as_deref()))
    }

    /// Whether a hook or a permission blocked the call, so that no further hook ran for it.
    pub(crate) fn is_denied(&self, result: &ToolResult) -> bool {
        const STARTS: [&str; 8] = [
            "The user doesn't want to proceed with this tool use.",
            "The user doesn't want to take this action right now.",
            "[Request interrupted by user for tool use]",
            "Permission to use ",
            "Claude requested permissions to ",
            "PreToolUse:",
            "Hook PreToolUse:",
            "Execution stopped by PreToolUse hook",
        ];
        let marked = self.tool_denial_kind.0.is_some()
            || self.permission_decision.get("decision").is_some_and(|decision| decision == "reject");
        result.error && (marked || STARTS.iter().any(|start| result.text.starts_with(start)))
    }
}

/// A non-empty string, or nothing for any other value.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(from = "Value")]
pub(crate) struct LenientText(pub Option<String>);

impl LenientText {
    pub(crate) fn as_deref(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl From<Value> for LenientText {
    fn from(value: Value) -> Self {
        match value {
            Value::String(text) if !text.is_empty() => Self(Some(text)),
            _ => Self(None),
        }
    }
}

/// A boolean; any other value is false.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(from = "Value")]
pub(crate) struct LenientFlag(pub bool);

impl From<Value> for LenientFlag {
    fn from(value: Value) -> Self {
        Self(value == true)
    }
}

/// The message of a user or assistant record. The host writes one record per block of an assistant message.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "Value")]
pub(crate) struct MessageBody {
    pub id: Option<String>,
    pub model: Option<String>,
    pub stop_reason: Option<String>,
    pub content: MessageContent,
}

impl From<Value> for MessageBody {
    fn from(mut value: Value) -> Self {
        Self {
            id: take_text(&mut value, "id"),
            model: take_text(&mut value, "model"),
            stop_reason: take_text(&mut value, "stop_reason"),
            content: take(&mut value, "content").into(),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(from = "Value")]
pub(crate) enum MessageContent {
    #[default]
    Missing,
    Text(String),
    Blocks(Vec<ContentBlock>),
}

impl From<Value> for MessageContent {
    fn from(value: Value) -> Self {
        match value {
            Value::String(text) => Self::Text(text),
            Value::Array(blocks) => Self::Blocks(blocks.into_iter().map(ContentBlock::from).collect()),
            _ => Self::Missing,
        }
    }
}

impl MessageContent {
    pub(crate) fn text(&self) -> Option<String> {
        let Self::Blocks(blocks) = self else {
            return if let Self::Text(text) = self { Some(text.clone()) } else { None };
        };
        let texts: Vec<&str> = blocks.iter().filter_map(ContentBlock::text).collect();
        let has_media = blocks.iter().any(|block| matches!(block, ContentBlock::Media));
        (!texts.is_empty() || has_media).then(|| texts.join("\n"))
    }

    fn blocks(&self) -> &[ContentBlock] {
        if let Self::Blocks(blocks) = self { blocks } else { &[] }
    }
}

#[derive(Debug)]
pub(crate) enum ContentBlock {
    Text(String),
    ToolUse(ToolUse),
    ToolResult(ToolResult),
    /// An image or a document.
    Media,
    Other,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolUse {
    pub id: String,
    pub tool: String,
    pub input: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolResult {
    pub id: String,
    pub error: bool,
    pub text: String,
}

impl ToolResult {
    /// Whether the user stopped the call, and with it all calls queued behind it.
    pub(crate) fn is_stopped_by_user(&self) -> bool {
        self.error && self.text.starts_with("The user doesn't want to ")
    }
}

impl ContentBlock {
    fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}

impl From<Value> for ContentBlock {
    fn from(mut block: Value) -> Self {
        match block.get("type").and_then(Value::as_str) {
            Some("text") => take_text(&mut block, "text").map_or(Self::Other, Self::Text),
            Some("tool_use") => {
                let input = block.get("input").map_or_else(|| Value::Object(serde_json::Map::new()), Value::clone);
                let mut text = |name| take_text(&mut block, name).unwrap_or_default();
                Self::ToolUse(ToolUse { id: text("id"), tool: text("name"), input })
            }
            Some("tool_result") => {
                let error = block.get("is_error").is_some_and(|error| error == true);
                let text = MessageContent::from(take(&mut block, "content")).text().unwrap_or_default();
                take_text(&mut block, "tool_use_id")
                    .map_or(Self::Other, |id| Self::ToolResult(ToolResult { id, error, text }))
            }
            Some("image" | "document") => Self::Media,
            _ => Self::Other,
        }
    }
}

fn take(value: &mut Value, key: &str) -> Value {
    value.get_mut(key).map(Value::take).unwrap_or_default()
}

fn take_text(value: &mut Value, key: &str) -> Option<String> {
    if let Value::String(text) = take(value, key) { Some(text) } else { None }
}

/// What `agent-<id>.meta.json` says about a subagent.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct AgentMetadata {
    /// Its type, or the name of a teammate.
    pub agent_type: LenientText,
    /// The type of a teammate.
    pub spawned_agent_type: LenientText,
    /// The type of a teammate in older hosts, unless it is built in.
    pub custom_agent_type: LenientText,
    /// The name that it was given.
    pub name: LenientText,
    /// The id of the tool call that started the agent.
    pub tool_use_id: LenientText,
}

impl AgentMetadata {
    /// Reads metadata; some hosts write the same fields on every line of the agent's transcript.
    pub(crate) fn read(json: &[u8]) -> Self {
        let object = json.trim_ascii().starts_with(b"{");
        object.then(|| serde_json::from_slice(json).ok()).flatten().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_type_is_read_from_the_metadata() {
        for (text, expected) in [
            (r#"{"agentType": "planner", "spawnDepth": 1}"#, Some("planner")),
            (r#"{"agentType": ""}"#, None),
            (r#"{"agentType": 5}"#, None),
            (r#"["planner"]"#, None),
            ("", None),
        ] {
            assert_eq!(AgentMetadata::read(text.as_bytes()).agent_type.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_field_of_an_unexpected_type_counts_as_missing() {
        let record = TranscriptRecord::read(br#"{"type": 5, "isMeta": "yes", "message": 7, "uuid": ""}"#).unwrap();
        assert_eq!((record.kind.as_deref(), record.is_meta.0, record.uuid.as_deref()), (None, false, None));
        assert!(matches!(record.message.content, MessageContent::Missing));
    }

    #[test]
    fn a_line_that_is_not_an_object_is_not_a_record() {
        for line in ["[]", "7", "nonsense", r#"{"type": "user"#] {
            assert_eq!(TranscriptRecord::read(line.as_bytes()).unwrap_err(), UnreadableLine::NotJson, "{line}");
        }
        let long = format!("{{\"x\": \"{}\"}}", "x".repeat(LONGEST_LINE));
        assert_eq!(TranscriptRecord::read(long.as_bytes()).unwrap_err(), UnreadableLine::TooLong);
    }
}
