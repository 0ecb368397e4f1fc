//! The conversation as the host writes it down, read without demands.

use std::collections::HashMap;

use memchr::memchr_iter;
use serde::Deserialize;
use serde_json::Value;

/// The longest line that is read, in bytes.
const LONGEST: usize = 10_000_000;

/// What was said and done, oldest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conversation {
    /// The messages; the host's own bookkeeping is left out.
    pub messages: Vec<Message>,
    /// How many lines could not be read.
    pub skipped: usize,
}

/// One message. The host writes a line for each part of an assistant's message; here they are one again.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, the parts on lines of their own.
    pub text: String,
    /// What is done, or what came of it.
    pub operations: Vec<Operation>,
    /// Whether the host put it there: not the user's word, nor, for an API error, the assistant's.
    pub meta: bool,
    /// Whether it stands for older messages.
    pub summary: bool,
    /// Whether it belongs to a subagent.
    pub sidechain: bool,
    /// The id of the agent.
    pub agent: Option<String>,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The user, and whatever the host sends in the user's place.
    User,
    /// The model.
    Assistant,
    /// The host.
    System,
}

/// A tool at work.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation {
    /// The id that a use and its result share.
    pub id: Option<String>,
    /// The name of the tool, empty for a result whose use was not seen.
    pub tool: String,
    /// What the tool was given; null for a result.
    pub input: Value,
    /// Which side of the work this is.
    pub kind: OperationKind,
}

/// Which side of a tool's work an operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationKind {
    /// The tool is called.
    Use,
    /// The tool answers.
    Result {
        /// Whether the answer is an error.
        error: bool,
    },
}

impl Conversation {
    /// Reads a transcript. A line that makes no sense is counted and passed over, as is a last line that the
    /// host is still writing.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Self {
        let mut reader = Reader::default();
        let mut start = 0;
        for end in memchr_iter(b'\n', bytes).chain([bytes.len()]) {
            reader.take(bytes.get(start..end).unwrap_or_default());
            start = end + 1;
        }
        reader.conversation
    }

    /// The text of the newest assistant message that has any.
    ///
    /// Subagents' messages count only where there are no others, as in a subagent's own transcript.
    #[must_use]
    pub fn latest_assistant(&self) -> Option<&str> {
        let apart = self.messages.iter().all(|message| message.sidechain);
        let spoken = |message: &&Message| {
            let own = message.role == Role::Assistant && !message.meta && (apart || !message.sidechain);
            own && !message.text.trim().is_empty()
        };
        self.messages.iter().rev().find(spoken).map(|message| message.text.as_str())
    }
}

/// The type of the agent that an `agent-<id>.meta.json` describes.
#[must_use]
pub fn agent_type(meta_json: &[u8]) -> Option<String> {
    let mut meta: Value = serde_json::from_slice(meta_json).ok()?;
    string(&mut meta, "agentType").filter(|name| !name.is_empty())
}

/// The fields of a line that matter here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    #[serde(rename = "type", default)]
    kind: Value,
    #[serde(default)]
    message: Option<Said>,
    #[serde(default)]
    content: Value,
    #[serde(default)]
    summary: Value,
    #[serde(default)]
    is_meta: Value,
    #[serde(default)]
    is_api_error_message: Value,
    #[serde(default)]
    is_compact_summary: Value,
    #[serde(default)]
    is_sidechain: Value,
    #[serde(default)]
    agent_id: Value,
}

#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    content: Value,
}

impl Line {
    /// The message without its content.
    fn envelope(&self, role: Role) -> Message {
        Message {
            role,
            text: String::new(),
            operations: Vec::new(),
            meta: self.is_meta == true || self.is_api_error_message == true,
            summary: self.is_compact_summary == true || self.kind == "summary",
            sidechain: self.is_sidechain == true,
            agent: self.agent_id.as_str().map(str::to_owned),
        }
    }
}

/// A transcript as it is read.
#[derive(Default)]
struct Reader {
    conversation: Conversation,
    /// The place of each assistant message by its id: tool results may stand between its lines.
    places: HashMap<String, usize>,
    /// The tool of each use by its id, for the results.
    tools: HashMap<String, String>,
}

impl Reader {
    fn take(&mut self, line: &[u8]) {
        let line = line.trim_ascii();
        if line.is_empty() {
            return;
        }
        let read = if line.len() > LONGEST || !line.starts_with(b"{") {
            None
        } else {
            serde_json::from_slice::<Line>(line).ok()
        };
        if read.and_then(|line| self.read(line)).is_none() {
            self.conversation.skipped += 1;
        }
    }

    /// Adds a line to the conversation; nothing when the line lacks what its type promises.
    fn read(&mut self, mut line: Line) -> Option<()> {
        let (role, content) = match line.kind.as_str() {
            Some("user") => (Role::User, line.message.take()?.content),
            Some("assistant") => return self.read_assistant(line),
            Some("system") => (Role::System, line.content.take()),
            Some("summary") => (Role::System, line.summary.take()),
            _ => return Some(()),
        };
        let mut message = line.envelope(role);
        self.fill(&mut message, content);
        self.conversation.messages.push(message);
        Some(())
    }

    fn read_assistant(&mut self, mut line: Line) -> Option<()> {
        let said = line.message.take()?;
        let mut message = line.envelope(Role::Assistant);
        self.fill(&mut message, said.content);
        let Value::String(id) = said.id else {
            self.conversation.messages.push(message);
            return Some(());
        };
        let place = *self.places.entry(id).or_insert(self.conversation.messages.len());
        match self.conversation.messages.get_mut(place) {
            Some(begun) => {
                join(&mut begun.text, &message.text);
                begun.operations.append(&mut message.operations);
            }
            None => self.conversation.messages.push(message),
        }
        Some(())
    }

    fn fill(&mut self, message: &mut Message, content: Value) {
        match content {
            Value::String(text) => message.text = text,
            Value::Array(blocks) => blocks.into_iter().for_each(|block| self.fill_block(message, block)),
            _ => {}
        }
    }

    fn fill_block(&mut self, message: &mut Message, mut block: Value) {
        match block.get("type").and_then(Value::as_str) {
            Some("text") => join(&mut message.text, &string(&mut block, "text").unwrap_or_default()),
            Some("tool_use") => message.operations.push(self.used(block)),
            Some("tool_result") => message.operations.push(self.resulted(block)),
            _ => {}
        }
    }

    fn used(&mut self, mut block: Value) -> Operation {
        let id = string(&mut block, "id");
        let tool = string(&mut block, "name").unwrap_or_default();
        if let Some(id) = &id {
            self.tools.insert(id.clone(), tool.clone());
        }
        let input = block.get_mut("input").map(Value::take).unwrap_or_default();
        Operation { id, tool, input, kind: OperationKind::Use }
    }

    fn resulted(&self, mut block: Value) -> Operation {
        let id = string(&mut block, "tool_use_id");
        let tool = id.as_ref().and_then(|id| self.tools.get(id)).cloned().unwrap_or_default();
        let error = block.get("is_error").and_then(Value::as_bool).unwrap_or(false);
        Operation { id, tool, input: Value::Null, kind: OperationKind::Result { error } }
    }
}

/// Takes the text at `key`.
fn string(value: &mut Value, key: &str) -> Option<String> {
    match value.get_mut(key)?.take() {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Adds a part to a text, on a line of its own.
fn join(text: &mut String, part: &str) {
    if !text.is_empty() && !part.is_empty() {
        text.push('\n');
    }
    text.push_str(part);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(lines: &[Value]) -> Conversation {
        let text: Vec<String> = lines.iter().map(Value::to_string).collect();
        Conversation::parse(text.join("\n").as_bytes())
    }

    fn said(id: &str, block: &Value) -> Value {
        json!({"type": "assistant", "message": {"id": id, "role": "assistant", "content": [block]}})
    }

    #[test]
    fn the_lines_of_one_message_are_joined() {
        let conversation = parse(&[
            json!({"type": "user", "message": {"role": "user", "content": "Go."}, "isMeta": null}),
            said("m1", &json!({"type": "thinking", "thinking": "hm"})),
            said("m1", &json!({"type": "text", "text": "First"})),
            said("m1", &json!({"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}})),
            json!({"type": "user", "message": {"content": [
                {"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": "no"}]}}),
            said("m1", &json!({"type": "text", "text": "second"})),
            said("m2", &json!({"type": "tool_use", "id": "t2", "name": "Read"})),
            json!({"type": "ai-title", "aiTitle": "x"}),
        ]);
        assert_eq!(conversation.skipped, 0);
        assert_eq!(conversation.latest_assistant(), Some("First\nsecond"));
        let operations: Vec<_> = conversation.messages.iter().flat_map(|message| &message.operations).collect();
        let input = json!({"command": "ls"});
        let id = |id: &str| Some(id.to_owned());
        let error = OperationKind::Result { error: true };
        let expected = [
            Operation { id: id("t1"), tool: "Bash".into(), input, kind: OperationKind::Use },
            Operation { id: id("t1"), tool: "Bash".into(), input: Value::Null, kind: error },
            Operation { id: id("t2"), tool: "Read".into(), input: Value::Null, kind: OperationKind::Use },
        ];
        assert_eq!(operations, expected.iter().collect::<Vec<_>>());
    }

    #[test]
    fn odd_lines_are_counted_and_passed_over() {
        let mut bytes = Vec::new();
        for line in [
            "",
            "  ",
            "[]",
            "7",
            "nonsense",
            "{}",
            r#"{"type": 5}"#,
            r#"{"type": "user"}"#,
            r#"{"type": "assistant", "message": "text"}"#,
            r#"{"type": "user", "message": {"content": 5}}"#,
            r#"{"type": "user", "message": {"content": [5, {"type": "text"}, {"type": "tool_use"}]}}"#,
            r#"{"type": "system", "subtype": "informational", "content": "note"}"#,
        ] {
            bytes.extend_from_slice(line.as_bytes());
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"{\"type\": \"user\xFF\"}\n");
        bytes.extend_from_slice("[".repeat(100_000).as_bytes());
        bytes.push(b'\n');
        bytes.extend_from_slice(format!("{{\"x\": \"{}\"}}\n", "x".repeat(LONGEST)).as_bytes());
        bytes.extend_from_slice(br#"{"type": "assistant", "message": {"content": "cut of"#);
        let conversation = Conversation::parse(&bytes);
        assert_eq!(conversation.skipped, 9);
        assert_eq!(conversation.messages.len(), 3);
        assert_eq!(conversation.latest_assistant(), None);
    }

    #[test]
    fn a_message_says_where_it_comes_from() {
        let conversation = parse(&[
            json!({"type": "summary", "summary": "before"}),
            json!({"type": "user", "isCompactSummary": true, "message": {"content": "older"}}),
            json!({"type": "user", "isMeta": true, "message": {"content": "caveat"}}),
            json!({"type": "assistant", "message": {"content": "done"}}),
            json!({"type": "assistant", "isSidechain": true, "agentId": "a1", "message": {"content": "aside"}}),
            json!({"type": "assistant", "isApiErrorMessage": true, "message": {"content": "overloaded"}}),
        ]);
        let marks: Vec<_> = conversation.messages.iter().map(|m| (m.summary, m.meta, m.sidechain)).collect();
        let (f, t) = (false, true);
        assert_eq!(marks, [(t, f, f), (t, f, f), (f, t, f), (f, f, f), (f, f, t), (f, t, f)]);
        assert_eq!(conversation.latest_assistant(), Some("done"));
    }

    #[test]
    fn a_subagents_own_transcript_has_its_last_word() {
        let conversation = parse(&[
            json!({"type": "assistant", "isSidechain": true, "agentId": "a1", "message": {"content": "aside"}}),
        ]);
        assert_eq!(conversation.latest_assistant(), Some("aside"));
        assert_eq!(conversation.messages.first().and_then(|m| m.agent.as_deref()), Some("a1"));
    }

    #[test]
    fn an_agents_type_is_read_from_its_card() {
        for (text, expected) in [
            (r#"{"agentType": "planner", "spawnDepth": 1}"#, Some("planner")),
            (r#"{"agentType": ""}"#, None),
            (r#"{"agentType": 5}"#, None),
            ("[]", None),
            ("", None),
        ] {
            assert_eq!(agent_type(text.as_bytes()).as_deref(), expected, "{text}");
        }
    }
}
