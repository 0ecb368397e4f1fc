//! Redacts events for the journal.

use base::digest::sha256;
use redact::walk::{JsonRewriter, rewrite, rewrite_fields};
use redact::{MASK, is_secret_name, masked_text};
use serde_json::{Map, Value, json};

const DEEPEST: usize = 100;
/// The longest text that is kept, in bytes.
const LONGEST: usize = 16 * 1024;
/// The longest message that is kept, in bytes.
const LONGEST_MESSAGE: usize = 2 * 1024;
/// The most items of a list that are kept.
const MOST_ITEMS: usize = 500;
/// Names that nearly every event has; they are no secrets.
const COMMON_NAMES: [&str; 10] = [
    "session_id",
    "transcript_path",
    "cwd",
    "permission_mode",
    "hook_event_name",
    "tool_name",
    "tool_input",
    "tool_use_id",
    "file_path",
    "command",
];
/// How much of a text that is too long is kept, in characters.
const HEAD: usize = 256;

/// A copy of `event` for the journal.
///
/// File contents and tool output become their size and hash, long texts keep only their beginning, and secrets are
/// masked.
pub fn redacted(event: &Value) -> Value {
    rewrite(event, "", (EventSection::Event, 0), &mut EventRedactor)
}

/// A copy of the fields of an event for the journal.
pub fn redacted_fields(fields: &Map<String, Value>) -> Value {
    rewrite_fields(fields, "", (EventSection::Event, 0), &mut EventRedactor)
}

/// The beginning of a long prompt, with its size and hash; `None` if it is short.
pub fn shortened(text: &str) -> Option<String> {
    (text.len() > LONGEST_MESSAGE).then(|| beginning(text))
}

/// The part of an event that a value belongs to.
#[derive(Clone, Copy, PartialEq)]
enum EventSection {
    Event,
    Input,
    Output,
    /// Content, of which no text is kept.
    Content,
    /// Facts that modegate reads back from the journal: kept unchanged.
    Fact,
}

impl EventSection {
    fn below(self, key: &str) -> Self {
        match (self, key) {
            (Self::Event, "tool_input") => Self::Input,
            (Self::Event, "tool_response") => Self::Output,
            (Self::Input, "edits") => Self::Content,
            (
                Self::Output,
                "filePath" | "changedFiles" | "agentId" | "agentType" | "agent_type" | "status" | "interrupted"
                | "isAsync" | "created",
            ) => Self::Fact,
            _ => self,
        }
    }

    /// Whether the field `key` is file content, at any length.
    fn is_content(self, key: &str) -> bool {
        match self {
            Self::Input => {
                matches!(key, "content" | "new_string" | "old_string" | "new_source" | "file_text" | "insert_text")
            }
            Self::Output => matches!(
                key,
                "stdout"
                    | "stderr"
                    | "content"
                    | "originalFile"
                    | "oldString"
                    | "newString"
                    | "structuredPatch"
                    | "lines"
                    | "hunks"
            ),
            Self::Event | Self::Content | Self::Fact => false,
        }
    }
}

struct EventRedactor;

impl JsonRewriter for EventRedactor {
    type WalkState = (EventSection, usize);

    fn whole(&mut self, value: &Value, key: &str, (section, depth): Self::WalkState) -> Option<Value> {
        if depth > DEEPEST {
            return Some("[too deep]".into());
        }
        match value {
            Value::String(text) if section.is_content(key) => Some(size_and_hash(text.as_bytes())),
            Value::Array(_) | Value::Object(_) if section.is_content(key) => {
                Some(size_and_hash(value.to_string().as_bytes()))
            }
            Value::Array(items) if items.len() > MOST_ITEMS => {
                let kept = items.iter().take(MOST_ITEMS).map(|item| rewrite(item, key, (section, depth + 1), self));
                Some(kept.chain([format!("[{} more]", items.len() - MOST_ITEMS).into()]).collect())
            }
            _ => None,
        }
    }

    fn text(&mut self, text: &str, key: &str, (section, _): Self::WalkState) -> Value {
        let longest = match (section, key) {
            (EventSection::Event, "last_assistant_message" | "compact_summary" | "delta") => LONGEST_MESSAGE,
            _ => LONGEST,
        };
        if section == EventSection::Content {
            size_and_hash(text.as_bytes())
        } else if section != EventSection::Fact && is_secret_name(key) {
            MASK.into()
        } else if section == EventSection::Output {
            size_and_hash(text.as_bytes())
        } else if text.len() > longest {
            beginning(text).into()
        } else if section == EventSection::Fact {
            text.into()
        } else {
            masked_text(text).into()
        }
    }

    fn name(&mut self, name: &str, (section, _): Self::WalkState) -> String {
        let is_plain = section == EventSection::Fact || COMMON_NAMES.contains(&name);
        if is_plain { name.to_owned() } else { masked_text(name) }
    }

    fn field<'a>(&self, _: &'a str, name: &'a str, (section, depth): Self::WalkState) -> (&'a str, Self::WalkState) {
        (name, (section.below(name), depth + 1))
    }

    fn item(&self, (section, depth): Self::WalkState) -> Self::WalkState {
        (section, depth + 1)
    }
}

fn size_and_hash(bytes: &[u8]) -> Value {
    Map::from_iter([("size".to_owned(), json!(bytes.len())), ("sha256".to_owned(), sha256(bytes).into())]).into()
}

/// The beginning of a text with its size and hash. It stays a string, so the event stays readable.
fn beginning(text: &str) -> String {
    // Mask more than is kept before cutting: half a secret would not be recognized.
    let ample = text.get(..text.floor_char_boundary(16 * HEAD)).unwrap_or_default();
    let head: String = masked_text(ample).chars().take(HEAD).collect();
    format!("{head}… [{} bytes, sha256 {}]", text.len(), sha256(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_names_are_no_secrets() {
        assert_eq!(COMMON_NAMES.map(masked_text), COMMON_NAMES);
    }

    #[track_caller]
    fn check(from: &Value, expected: &Value) {
        assert_eq!(&redacted(from), expected);
    }

    fn hash(text: &str) -> Value {
        json!({"size": text.len(), "sha256": sha256(text.as_bytes())})
    }

    #[test]
    fn file_content_becomes_size_and_hash() {
        check(
            &json!({"tool_name": "Write", "tool_input": {"file_path": "/p/a.md", "content": "abc"}}),
            &json!({"tool_name": "Write", "tool_input": {"file_path": "/p/a.md", "content": hash("abc")}}),
        );
        check(
            &json!({"tool_input": {"edits": [{"old_string": "a", "new_string": "b", "all": true, "x": "c"}]}}),
            &json!({"tool_input": {"edits": [
                {"old_string": hash("a"), "new_string": hash("b"), "all": true, "x": hash("c")}]}}),
        );
        check(
            &json!({"content": "abc", "tool_input": {"deep": {"content": ["a", 1]}, "new_source": null}}),
            &json!({"content": "abc", "tool_input": {"deep": {"content": hash("[\"a\",1]")}, "new_source": null}}),
        );
    }

    #[test]
    fn tool_output_keeps_only_facts() {
        let long = "x ".repeat(101);
        check(
            &json!({"tool_response": {"stdout": "", "interrupted": false, "note": long, "short": "kept",
                "filePath": "/p/token=abc", "bashEditDiff": {"files": [{"filePath": "a", "hunks": [1]}]}}}),
            &json!({"tool_response": {"stdout": hash(""), "interrupted": false, "note": hash(&long),
                "short": hash("kept"), "filePath": "/p/token=abc",
                "bashEditDiff": {"files": [{"filePath": "a", "hunks": hash("[1]")}]}}}),
        );
        check(
            &json!({"tool_calls": [{"tool_input": {"command": "ls"}, "tool_response": long}]}),
            &json!({"tool_calls": [{"tool_input": {"command": "ls"}, "tool_response": hash(&long)}]}),
        );
        let files = json!({"tool_response": {"changedFiles": [long], "status": "completed", "agentId": "a1"}});
        check(&files, &files);
    }

    #[test]
    fn a_long_text_keeps_only_its_beginning() {
        let long = format!("password=hunter2 {}", "ä".repeat(10_000));
        let head: String = format!("password=[masked] {}", "ä".repeat(300)).chars().take(256).collect();
        let expected = format!("{head}… [{} bytes, sha256 {}]", long.len(), sha256(long.as_bytes()));
        check(&json!({"prompt": long}), &json!({"prompt": expected}));
        let message = "word ".repeat(500);
        let answer = redacted(&json!({"delta": message, "prompt": message}));
        assert!(answer["delta"].as_str().unwrap().contains("… [2500 bytes, sha256 "));
        assert_eq!(answer.pointer("/prompt"), Some(&json!(message)));
    }

    #[test]
    fn a_value_is_masked_because_of_its_name() {
        for key in ["password", "DB_PASSWORD", "X-Api-Key", "accessToken", "Set-Cookie", "credentials", "aws_secret"] {
            check(&json!({"env": {key: "abc"}}), &json!({"env": {key: "[masked]"}}));
            check(&json!({"env": {key: ["abc"]}}), &json!({"env": {key: ["[masked]"]}}));
            check(&json!({"env": {key: 5}}), &json!({"env": {key: 5}}));
        }
        let kept = json!({"session_id": "s", "tool_use_id": "t", "max_tokens": "5", "tokenizer": "x", "key": "k"});
        check(&kept, &kept);
    }

    #[test]
    fn deep_nesting_is_cut() {
        let deep = (0..120).fold(json!("end"), |inner, _| json!([inner]));
        let text = redacted(&deep).to_string();
        assert_eq!(text, format!("{}\"[too deep]\"{}", "[".repeat(101), "]".repeat(101)));
    }

    #[test]
    fn an_event_without_secrets_stays_as_it_is() {
        let event = json!({
            "session_id": "8bbcceab-0b3e-4e24-98c9-ec146b1ca8c6", "transcript_path": "/home/u/.claude/p/8b.jsonl",
            "cwd": "/home/u/proj", "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": "echo hello", "description": "Echo hello", "timeout": 5},
            "tool_use_id": "toolu_015R8tPjv7FUHuW6MDJj8HpT", "context_tokens": 25_613,
        });
        check(&event, &event);
    }
}
