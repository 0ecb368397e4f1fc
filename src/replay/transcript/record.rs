//! One line of a transcript, read without demands.

use serde_json::Value;

/// The longest line that is read, in bytes.
const LONGEST: usize = 10_000_000;

/// A record of the host's.
#[derive(Debug, Clone)]
pub(super) struct TranscriptRecord(Value);

/// A tool's answer in a record.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ToolResult {
    pub id: String,
    pub error: bool,
    pub text: String,
}

/// Types of records that tell nothing that a hook would hear.
const SILENT: [&str; 22] = [
    "agent-name",
    "ai-title",
    "api-request",
    "api-request-blob",
    "api-request-shape",
    "atis-latch",
    "bridge-session",
    "cost-state",
    "custom-title",
    "file-history-delta",
    "file-history-snapshot",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "summary",
    "tag",
    "tools-used",
    "worktree-state",
    "agent-setting",
];

impl TranscriptRecord {
    /// Reads a line; `Err` says whether it is too long.
    pub(super) fn read(line: &[u8]) -> Result<Self, bool> {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
        if line.len() > LONGEST {
            return Err(true);
        }
        match serde_json::from_slice(line) {
            Ok(value @ Value::Object(_)) => Ok(Self(value)),
            _ => Err(false),
        }
    }

    /// A field that is text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    /// Whether a field is set.
    pub(super) fn is(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool) == Some(true)
    }

    /// A value by its path.
    pub(super) fn at(&self, path: &str) -> Option<&Value> {
        self.0.pointer(path).filter(|value| !value.is_null())
    }

    /// Its type.
    pub(super) fn kind(&self) -> Option<&str> {
        self.text("type")
    }

    /// Whether its type is known to tell nothing.
    pub(super) fn is_silent(&self) -> bool {
        self.kind().is_some_and(|kind| SILENT.contains(&kind))
    }

    /// What the message consists of; a plain text has no blocks.
    pub(super) fn blocks(&self) -> &[Value] {
        self.at("/message/content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether it has a message.
    pub(super) fn has_message(&self) -> bool {
        self.at("/message/content").is_some_and(|content| content.is_string() || content.is_array())
    }

    /// The texts of the message, on lines of their own; a picture alone has none.
    pub(super) fn said(&self) -> Option<String> {
        if let Some(Value::String(text)) = self.at("/message/content") {
            return Some(text.clone());
        }
        let blocks = self.blocks();
        let texts: Vec<&str> = blocks.iter().filter_map(text_of).collect();
        let pictured = blocks.iter().any(|block| is(block, "image") || is(block, "document"));
        (!texts.is_empty() || pictured).then(|| texts.join("\n"))
    }

    /// The tools' answers of the message.
    pub(super) fn answers(&self) -> Vec<ToolResult> {
        let answer = |block: &Value| {
            let id = block.get("tool_use_id")?.as_str()?.to_owned();
            let error = block.get("is_error").and_then(Value::as_bool) == Some(true);
            Some(ToolResult { id, error, text: plain(block.get("content")) })
        };
        self.blocks().iter().filter(|block| is(block, "tool_result")).filter_map(answer).collect()
    }

    /// What the tool answered, as a hook is told it; only where the record has one answer.
    pub(super) fn response(&self) -> Option<&Value> {
        self.at("/toolUseResult").filter(|_| self.blocks().iter().filter(|block| is(block, "tool_result")).count() == 1)
    }

    /// Whether a person broke off the call, and with it all that wait behind it.
    pub(super) fn is_broken_off(answer: &ToolResult) -> bool {
        answer.error && answer.text.starts_with("The user doesn't want to ")
    }

    /// Whether the call was not allowed: it never ran, and no hook heard of it again.
    pub(super) fn is_denied(&self, answer: &ToolResult) -> bool {
        const WORDS: [&str; 8] = [
            "The user doesn't want to proceed with this tool use.",
            "The user doesn't want to take this action right now.",
            "[Request interrupted by user for tool use]",
            "Permission to use ",
            "Claude requested permissions to ",
            "PreToolUse:",
            "Hook PreToolUse:",
            "Execution stopped by PreToolUse hook",
        ];
        let told = self.text("toolDenialKind").is_some()
            || self.at("/permissionDecision/decision").is_some_and(|decision| decision == "reject");
        answer.error && (told || WORDS.iter().any(|word| answer.text.starts_with(word)))
    }
}

/// Whether a block is of a type.
pub(super) fn is(block: &Value, kind: &str) -> bool {
    block.get("type").and_then(Value::as_str) == Some(kind)
}

/// The text of a text block.
pub(super) fn text_of(block: &Value) -> Option<&str> {
    block.get("text").and_then(Value::as_str).filter(|_| is(block, "text"))
}

/// Text, or the texts of blocks.
fn plain(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(blocks)) => blocks.iter().filter_map(text_of).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}
