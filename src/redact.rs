//! What of an event may be written down.

pub mod deep;
mod scan;
mod secrets;
mod shape;

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// What stands in a secret's place.
pub const MASK: &str = "[masked]";
/// How deep a value may nest.
const DEEPEST: usize = 100;
/// The longest text that is kept, in bytes.
const LONGEST: usize = 16 * 1024;
/// The longest message that is kept, in bytes.
const LONGEST_MESSAGE: usize = 2 * 1024;
/// How many items of a list are kept.
const MOST: usize = 500;
/// How much of a text that is too long is kept, in characters.
const HEAD: usize = 256;

/// A copy of `event` fit to be written down.
///
/// What tools write and answer becomes its size and hash, long texts their beginning beside these, and
/// secrets are masked wherever they are recognised.
#[must_use]
pub fn redacted(event: &Value) -> Value {
    value(event, "", EventSection::Event, 0)
}

/// A text with its secrets masked.
#[must_use]
pub fn masked_text(text: &str) -> String {
    secrets::masked(text).into_owned()
}

/// A long prompt as its beginning, with its size and hash; `None` where it is short enough to be told whole.
#[must_use]
pub fn shortened(text: &str) -> Option<String> {
    (text.len() > LONGEST_MESSAGE).then(|| headed(text).as_str().unwrap_or_default().to_owned())
}

/// The lowercase hex SHA-256 of bytes.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

/// Where in an event a value stands.
#[derive(Clone, Copy, PartialEq)]
enum EventSection {
    /// The event itself.
    Event,
    /// What a tool is given.
    Input,
    /// What a tool answers.
    Answer,
    /// Content, of which no text is kept.
    Content,
    /// Facts that the journal is asked for later: kept to the letter.
    Fact,
}

impl EventSection {
    /// The place of the value at `key` in an object that stands here.
    fn below(self, key: &str) -> Self {
        match (self, key) {
            (Self::Event, "tool_input") => Self::Input,
            (Self::Event, "tool_response") => Self::Answer,
            (Self::Input, "edits") => Self::Content,
            (
                Self::Answer,
                "filePath" | "changedFiles" | "agentId" | "agentType" | "status" | "interrupted" | "isAsync"
                | "created",
            ) => Self::Fact,
            _ => self,
        }
    }

    /// Whether the value at `key` is content, whatever its length.
    fn hides(self, key: &str) -> bool {
        match self {
            Self::Input => {
                matches!(key, "content" | "new_string" | "old_string" | "new_source" | "file_text" | "insert_text")
            }
            Self::Answer => matches!(
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

fn value(from: &Value, key: &str, place: EventSection, depth: usize) -> Value {
    if depth > DEEPEST {
        return "[too deep]".into();
    }
    match from {
        Value::String(_) | Value::Array(_) | Value::Object(_) if place.hides(key) => hashed(from),
        Value::String(text) => string(text, key, place),
        // The items of a list go by the list's name.
        Value::Array(items) => {
            let mut kept: Vec<Value> = items.iter().take(MOST).map(|item| value(item, key, place, depth + 1)).collect();
            if items.len() > MOST {
                kept.push(format!("[{} more]", items.len() - MOST).into());
            }
            kept.into()
        }
        Value::Object(entries) => object(entries, place, depth).into(),
        Value::Null | Value::Bool(_) | Value::Number(_) => from.clone(),
    }
}

fn object(entries: &Map<String, Value>, place: EventSection, depth: usize) -> Map<String, Value> {
    let entry = |(key, from): (&String, &Value)| {
        let kept = if place == EventSection::Fact { key.clone() } else { secrets::masked(key).into_owned() };
        (kept, value(from, key, place.below(key), depth + 1))
    };
    entries.iter().map(entry).collect()
}

fn string(text: &str, key: &str, place: EventSection) -> Value {
    let longest = match (place, key) {
        (EventSection::Event, "last_assistant_message" | "compact_summary" | "delta") => LONGEST_MESSAGE,
        _ => LONGEST,
    };
    if place == EventSection::Content {
        size(text.as_bytes()).into()
    } else if place != EventSection::Fact && shape::named(key.as_bytes()) {
        MASK.into()
    } else if place == EventSection::Answer {
        size(text.as_bytes()).into()
    } else if text.len() > longest {
        headed(text)
    } else if place == EventSection::Fact {
        text.into()
    } else {
        secrets::masked(text).into()
    }
}

/// A value as its size and hash: of a text its bytes, of anything else its compact JSON.
fn hashed(from: &Value) -> Value {
    match from {
        Value::String(text) => size(text.as_bytes()).into(),
        other => size(other.to_string().as_bytes()).into(),
    }
}

fn size(bytes: &[u8]) -> Map<String, Value> {
    Map::from_iter([("size".to_owned(), json!(bytes.len())), ("sha256".to_owned(), sha256(bytes).into())])
}

/// A long text as its beginning, with size and hash; it stays a text, so that the event stays an event.
fn headed(text: &str) -> Value {
    // Masked before it is cut, with room to spare: half a secret would not be recognised.
    let ample = text.get(..text.floor_char_boundary(16 * HEAD)).unwrap_or_default();
    let head: String = secrets::masked(ample).chars().take(HEAD).collect();
    format!("{head}… [{} bytes, sha256 {}]", text.len(), sha256(text.as_bytes())).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(from: &Value, expected: &Value) {
        assert_eq!(&redacted(from), expected);
    }

    fn hash(text: &str) -> Value {
        json!({"size": text.len(), "sha256": sha256(text.as_bytes())})
    }

    #[test]
    fn a_hash_is_lowercase_hex() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn what_a_tool_writes_becomes_size_and_hash() {
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
    fn what_a_tool_answers_keeps_only_its_facts() {
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
    fn a_long_text_keeps_its_beginning() {
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
    fn a_key_can_tell_that_its_value_is_secret() {
        for key in ["password", "DB_PASSWORD", "X-Api-Key", "accessToken", "Set-Cookie", "credentials", "aws_secret"] {
            check(&json!({"env": {key: "abc"}}), &json!({"env": {key: "[masked]"}}));
            check(&json!({"env": {key: ["abc"]}}), &json!({"env": {key: ["[masked]"]}}));
            check(&json!({"env": {key: 5}}), &json!({"env": {key: 5}}));
        }
        let kept = json!({"session_id": "s", "tool_use_id": "t", "max_tokens": "5", "tokenizer": "x", "key": "k"});
        check(&kept, &kept);
    }

    #[test]
    fn nesting_ends_somewhere() {
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
