//! Records of the host's session transcripts.
//!
//! The format belongs to the host and changes between versions, so a field of an unexpected type counts as missing. Most
//! of a transcript is output that nobody asks for: texts are borrowed from the line, and results are parsed on demand.

mod conversation;
mod lenient;

pub use conversation::{conversation_text, latest_assistant_text};

use lenient::{Lenient, deserialize_leniently};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// One line of a transcript.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct TranscriptRecord<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: LenientText<'a>,
    pub subtype: LenientText<'a>,
    pub uuid: LenientText<'a>,
    pub parent_uuid: LenientText<'a>,
    pub session_id: LenientText<'a>,
    pub agent_id: LenientText<'a>,
    pub prompt_id: LenientText<'a>,
    pub timestamp: LenientText<'a>,
    pub cwd: LenientText<'a>,
    pub permission_mode: LenientText<'a>,
    pub is_sidechain: LenientFlag,
    pub is_meta: LenientFlag,
    pub is_compact_summary: LenientFlag,
    pub is_visible_in_transcript_only: LenientFlag,
    pub is_api_error_message: LenientFlag,
    pub error: LenientText<'a>,
    pub message: MessageBody<'a>,
    /// The text of a system record.
    content: MessageContent<'a>,
    summary: LenientText<'a>,
    attachment: Option<&'a RawValue>,
    compact_metadata: Option<&'a RawValue>,
    forked_from: Option<&'a RawValue>,
    origin: Option<&'a RawValue>,
    /// What a progress record reports.
    data: Option<&'a RawValue>,
    #[serde(rename = "parentToolUseID")]
    parent_tool_use_id: LenientText<'a>,
    tool_use_result: Option<&'a RawValue>,
    tool_denial_kind: LenientText<'a>,
    permission_decision: Option<&'a RawValue>,
}

/// The record of a subagent, and the id of the call that started the agent.
type ReportedRecord<'a> = (TranscriptRecord<'a>, Option<&'a str>);

impl<'a> TranscriptRecord<'a> {
    /// Parses a line; `None` if it is not an object.
    pub(crate) fn parse(line: &'a [u8]) -> Option<Self> {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
        // Serde would also parse a struct from an array.
        line.starts_with(b"{").then(|| serde_json::from_slice(line).ok())?
    }

    /// The text of the message, one line per block; an image has none, but is a message.
    pub(crate) fn text(&self) -> Option<Cow<'_, str>> {
        match self.kind.as_deref() {
            Some("system") => self.content.text(),
            Some("summary") => self.summary.as_deref().map(Cow::Borrowed),
            _ => self.message.content.text(),
        }
    }

    pub(crate) fn tool_uses(&self) -> impl Iterator<Item = &ContentBlock<'a>> {
        self.message.content.blocks().iter().filter(|block| block.is("tool_use"))
    }

    pub(crate) fn tool_results(&self) -> impl Iterator<Item = &ContentBlock<'a>> {
        let has_id = |block: &&ContentBlock| block.tool_use_id.as_deref().is_some();
        self.message.content.blocks().iter().filter(|block| block.is("tool_result")).filter(has_id)
    }

    /// The structured result of the tool; ambiguous where the record has several results.
    pub(crate) fn tool_response(&self) -> Option<Value> {
        let result = self.tool_use_result.filter(|_| self.tool_results().count() == 1)?;
        serde_json::from_str(result.get()).ok()
    }

    /// The text of a message that was queued while the model worked.
    pub(crate) fn queued_text(&self) -> Option<String> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Attachment<'a> {
            #[serde(rename = "type", borrow)]
            kind: LenientText<'a>,
            prompt: MessageContent<'a>,
        }
        let attachment: Attachment = serde_json::from_str(self.attachment?.get()).ok()?;
        attachment.kind.as_deref().filter(|kind| *kind == "queued_command")?;
        attachment.prompt.text().map(Cow::into_owned)
    }

    /// What caused a compaction.
    pub(crate) fn compact_trigger(&self) -> Option<Value> {
        member(self.compact_metadata, "trigger")
    }

    /// Whether the host says who wrote the message.
    pub(crate) fn has_origin(&self) -> bool {
        member(self.origin, "kind").is_some_and(|kind| !kind.is_null())
    }

    pub(crate) fn is_forked(&self) -> bool {
        self.forked_from.is_some()
    }

    /// The id of the session that the record was copied from.
    pub(crate) fn forked_from(&self) -> Option<String> {
        member(self.forked_from, "sessionId")?.as_str().map(str::to_owned)
    }

    /// The record of a subagent that a progress record has inside, with the id of the call that started the agent.
    pub(crate) fn reported(&self) -> Option<ReportedRecord<'_>> {
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        struct Progress<'a> {
            #[serde(rename = "type", borrow)]
            kind: LenientText<'a>,
            agent_id: LenientText<'a>,
            message: Option<&'a RawValue>,
        }
        let data = self.data.filter(|_| self.kind.as_deref() == Some("progress"))?;
        let Progress { kind, agent_id, message } = serde_json::from_str(data.get()).ok()?;
        kind.as_deref().filter(|kind| *kind == "agent_progress")?;
        agent_id.as_deref()?;
        let mut inner = TranscriptRecord::parse(message?.get().as_bytes())?;
        inner.agent_id = agent_id;
        for (own, outer) in [
            (&mut inner.timestamp, &self.timestamp),
            (&mut inner.cwd, &self.cwd),
            (&mut inner.session_id, &self.session_id),
        ] {
            if own.as_deref().is_none() {
                *own = LenientText(outer.as_deref().map(Cow::Borrowed));
            }
        }
        Some((inner, self.parent_tool_use_id.as_deref()))
    }

    /// Whether a hook or a permission blocked the call, so that no further hook ran for it.
    pub(crate) fn is_denied(&self, result: &ContentBlock<'_>) -> bool {
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
        let is_marked = || {
            self.tool_denial_kind.as_deref().is_some()
                || member(self.permission_decision, "decision").is_some_and(|decision| decision == "reject")
        };
        let has_start = |text: &str| STARTS.iter().any(|start| text.starts_with(start));
        result.is_error.0 && (is_marked() || has_start(&result.result_text()))
    }
}

/// A member of a small object.
fn member(object: Option<&RawValue>, name: &str) -> Option<Value> {
    serde_json::from_str::<Value>(object?.get()).ok()?.get_mut(name).map(Value::take)
}

deserialize_leniently!(LenientText<'a> LenientFlag MessageBody<'a> MessageContent<'a> ContentBlock<'a>);

/// A string, or nothing for any other value.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct LenientText<'a>(Option<Cow<'a, str>>);

impl LenientText<'_> {
    /// The text, unless it is empty.
    pub(crate) fn as_deref(&self) -> Option<&str> {
        self.0.as_deref().filter(|text| !text.is_empty())
    }

    pub(crate) fn or_empty(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    pub(crate) fn into_string(self) -> Option<String> {
        self.0.filter(|text| !text.is_empty()).map(Cow::into_owned)
    }
}

impl<'de> Lenient<'de> for LenientText<'de> {
    fn from_text(text: Cow<'de, str>) -> Self {
        Self(Some(text))
    }
}

/// A boolean; any other value is false.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LenientFlag(pub bool);

impl Lenient<'_> for LenientFlag {
    fn from_flag(flag: bool) -> Self {
        Self(flag)
    }
}

/// The message of a user or assistant record. The host writes one record per block of an assistant message.
#[derive(Debug, Default, Deserialize)]
#[serde(default, remote = "Self")]
pub(crate) struct MessageBody<'a> {
    #[serde(borrow)]
    pub id: LenientText<'a>,
    pub model: LenientText<'a>,
    pub stop_reason: LenientText<'a>,
    pub content: MessageContent<'a>,
}

impl<'de> Lenient<'de> for MessageBody<'de> {
    fn from_object<A: MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        Self::deserialize(MapAccessDeserializer::new(object))
    }
}

#[derive(Debug, Default)]
pub(crate) enum MessageContent<'a> {
    #[default]
    Missing,
    Text(Cow<'a, str>),
    Blocks(Vec<ContentBlock<'a>>),
}

impl<'de> Lenient<'de> for MessageContent<'de> {
    fn from_text(text: Cow<'de, str>) -> Self {
        Self::Text(text)
    }

    fn from_list<A: SeqAccess<'de>>(list: A) -> Result<Self, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(Self::Blocks)
    }
}

impl MessageContent<'_> {
    /// The content in a tool's response.
    pub(crate) fn from_value(value: &Value) -> Option<MessageContent<'_>> {
        MessageContent::deserialize(value).ok()
    }

    pub(crate) fn text(&self) -> Option<Cow<'_, str>> {
        let Self::Blocks(blocks) = self else {
            return if let Self::Text(text) = self { Some(Cow::Borrowed(text)) } else { None };
        };
        let texts = blocks.iter().filter(|block| block.is("text")).filter_map(|block| block.text.0.as_deref());
        let texts: Vec<&str> = texts.collect();
        if let [text] = texts.as_slice() {
            return Some(Cow::Borrowed(text));
        }
        let has_media = blocks.iter().any(|block| block.is("image") || block.is("document"));
        (!texts.is_empty() || has_media).then(|| Cow::Owned(texts.join("\n")))
    }
}

impl<'a> MessageContent<'a> {
    fn blocks(&self) -> &[ContentBlock<'a>] {
        if let Self::Blocks(blocks) = self { blocks } else { &[] }
    }
}

/// A part of a message: text, a tool call, the result of one, an image.
#[derive(Debug, Default, Deserialize)]
#[serde(default, remote = "Self")]
pub(crate) struct ContentBlock<'a> {
    #[serde(rename = "type", borrow)]
    kind: LenientText<'a>,
    text: LenientText<'a>,
    pub id: LenientText<'a>,
    pub name: LenientText<'a>,
    input: Option<&'a RawValue>,
    /// The id of the call that a result belongs to.
    pub tool_use_id: LenientText<'a>,
    pub is_error: LenientFlag,
    /// The text of a result.
    content: Option<&'a RawValue>,
}

impl<'de> Lenient<'de> for ContentBlock<'de> {
    fn from_object<A: MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        Self::deserialize(MapAccessDeserializer::new(object))
    }
}

impl ContentBlock<'_> {
    fn is(&self, kind: &str) -> bool {
        self.kind.as_deref() == Some(kind)
    }

    /// The input of a tool call; `None` where it cannot be parsed, such as half a surrogate pair.
    pub(crate) fn input(&self) -> Option<Value> {
        serde_json::from_str(self.input.map_or("{}", RawValue::get)).ok()
    }

    /// The text of a result.
    pub(crate) fn result_text(&self) -> String {
        let content = self.content.and_then(|content| serde_json::from_str::<MessageContent>(content.get()).ok());
        content.and_then(|content| Some(content.text()?.into_owned())).unwrap_or_default()
    }

    /// Whether the user stopped the call, and with it all calls queued behind it.
    pub(crate) fn is_stopped_by_user(&self) -> bool {
        self.is_error.0 && self.result_text().starts_with("The user doesn't want to ")
    }
}

/// What `agent-<id>.meta.json` says about a subagent.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct AgentMetadata {
    /// Its type, or the name of a teammate.
    #[serde(deserialize_with = "owned_text")]
    pub agent_type: Option<String>,
    /// The type of a teammate.
    #[serde(deserialize_with = "owned_text")]
    pub spawned_agent_type: Option<String>,
    /// The type of a teammate in older hosts, unless it is built in.
    #[serde(deserialize_with = "owned_text")]
    pub custom_agent_type: Option<String>,
    /// The name that it was given.
    #[serde(deserialize_with = "owned_text")]
    pub name: Option<String>,
    /// The id of the tool call that started the agent.
    #[serde(deserialize_with = "owned_text")]
    pub tool_use_id: Option<String>,
}

fn owned_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    LenientText::deserialize(deserializer).map(LenientText::into_string)
}

impl AgentMetadata {
    /// Parses metadata; some hosts write the same fields on every line of the agent's transcript.
    pub(crate) fn parse(json: &[u8]) -> Self {
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
            assert_eq!(AgentMetadata::parse(text.as_bytes()).agent_type.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_field_of_an_unexpected_type_counts_as_missing() {
        let record = TranscriptRecord::parse(br#"{"type": 5, "isMeta": "yes", "message": 7, "uuid": ""}"#).unwrap();
        assert_eq!((record.kind.as_deref(), record.is_meta.0, record.uuid.as_deref()), (None, false, None));
        assert!(matches!(record.message.content, MessageContent::Missing));
    }

    #[test]
    fn a_line_that_is_not_an_object_is_not_a_record() {
        for line in ["[]", "7", "nonsense", r#"{"type": "user"#] {
            assert!(TranscriptRecord::parse(line.as_bytes()).is_none(), "{line}");
        }
    }
}
