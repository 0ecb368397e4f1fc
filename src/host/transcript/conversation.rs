//! The texts of a conversation, for the `transcript` check.

use super::TranscriptRecord;
use memchr::{memchr_iter, memrchr_iter};
use std::borrow::Cow;

/// The texts of all messages, one below the other.
///
/// Lines that cannot be read are skipped, as is a last line that the host is still writing.
pub fn conversation_text(transcript: &[u8]) -> String {
    let mut texts = Vec::new();
    let mut start = 0;
    for end in memchr_iter(b'\n', transcript).chain([transcript.len()]) {
        let record = TranscriptRecord::parse(transcript.get(start..end).unwrap_or_default());
        let text = record.filter(is_message).and_then(|record| Some(record.text()?.into_owned()));
        texts.extend(text.filter(|text| !text.is_empty()));
        start = end + 1;
    }
    texts.join("\n")
}

/// The text of the newest assistant message that has any, read from the end of the transcript.
///
/// Messages of subagents count only where there are no others, as in a subagent's own transcript.
pub fn latest_assistant_text(transcript: &[u8]) -> Option<String> {
    let mut main = LatestMessage::default();
    let mut subagent = LatestMessage::default();
    let mut only_subagents = true;
    let mut end = transcript.len();
    for newline in memrchr_iter(b'\n', transcript).map(Some).chain([None]) {
        let start = newline.map_or(0, |newline| newline + 1);
        let record = TranscriptRecord::parse(transcript.get(start..end).unwrap_or_default());
        end = newline.unwrap_or(0);
        let Some(record) = record.filter(is_message) else { continue };
        only_subagents &= record.is_sidechain.0;
        if record.kind.as_deref() != Some("assistant") || record.is_meta.0 || record.is_api_error_message.0 {
            continue;
        }
        if record.is_sidechain.0 {
            subagent.add_earlier(&record);
        } else {
            main.add_earlier(&record);
        }
        if main.complete {
            break;
        }
    }
    main.text().or_else(|| subagent.text().filter(|_| only_subagents))
}

fn is_message(record: &TranscriptRecord<'_>) -> bool {
    matches!(record.kind.as_deref(), Some("user" | "assistant" | "system" | "summary"))
}

/// The newest message with text, from its records in reverse order.
#[derive(Default)]
struct LatestMessage {
    id: Option<String>,
    texts: Vec<String>,
    complete: bool,
}

impl LatestMessage {
    fn add_earlier(&mut self, record: &TranscriptRecord<'_>) {
        let id = record.message.id.as_deref();
        let other = id.is_none() || id != self.id.as_deref();
        self.complete |= other && !self.texts.is_empty();
        if self.complete {
            return;
        }
        self.texts.extend(record.text().filter(|text| !text.trim().is_empty()).map(Cow::into_owned));
        self.id = id.map(str::to_owned);
    }

    fn text(mut self) -> Option<String> {
        self.texts.reverse();
        (!self.texts.is_empty()).then(|| self.texts.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn transcript(records: &[Value]) -> Vec<u8> {
        records.iter().map(Value::to_string).collect::<Vec<_>>().join("\n").into_bytes()
    }

    fn assistant(id: &str, block: &Value) -> Value {
        json!({"type": "assistant", "message": {"id": id, "role": "assistant", "content": [block]}})
    }

    #[test]
    fn the_records_of_one_message_are_joined() {
        let bytes = transcript(&[
            json!({"type": "user", "message": {"role": "user", "content": "Go."}, "isMeta": null}),
            assistant("m0", &json!({"type": "text", "text": "Before"})),
            assistant("m1", &json!({"type": "thinking", "thinking": "hm"})),
            assistant("m1", &json!({"type": "text", "text": "First"})),
            assistant("m1", &json!({"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}})),
            json!({"type": "user", "message": {"content": [
                {"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": "no"}]}}),
            assistant("m1", &json!({"type": "text", "text": "second"})),
            assistant("m2", &json!({"type": "tool_use", "id": "t2", "name": "Read"})),
            json!({"type": "ai-title", "aiTitle": "x"}),
        ]);
        assert_eq!(latest_assistant_text(&bytes).as_deref(), Some("First\nsecond"));
        assert_eq!(conversation_text(&bytes), "Go.\nBefore\nFirst\nsecond");
    }

    #[test]
    fn unreadable_lines_are_skipped() {
        let mut bytes = b"\r\n[]\r\nnonsense\r\n{}\r\n{\"type\": \"user\xFF\"}\n".to_vec();
        bytes.extend_from_slice(br#"{"type": "system", "subtype": "informational", "content": "note"}"#);
        bytes.extend_from_slice(b"\n{\"type\": \"assistant\", \"message\": {\"content\": \"done\"}}\n");
        bytes.extend_from_slice("[".repeat(100_000).as_bytes());
        bytes.extend_from_slice(b"\n{\"type\": \"assistant\", \"message\": {\"content\": \"cut of");
        assert_eq!(conversation_text(&bytes), "note\ndone");
        assert_eq!(latest_assistant_text(&bytes).as_deref(), Some("done"));
    }

    #[test]
    fn the_hosts_own_messages_and_subagents_are_not_the_assistant() {
        let bytes = transcript(&[
            json!({"type": "summary", "summary": "before"}),
            json!({"type": "assistant", "message": {"content": "done"}}),
            json!({"type": "assistant", "isSidechain": true, "agentId": "a1", "message": {"content": "aside"}}),
            json!({"type": "assistant", "isApiErrorMessage": true, "message": {"content": "overloaded"}}),
            json!({"type": "assistant", "isMeta": true, "message": {"content": "caveat"}}),
        ]);
        assert_eq!(latest_assistant_text(&bytes).as_deref(), Some("done"));
        assert_eq!(conversation_text(&bytes), "before\ndone\naside\noverloaded\ncaveat");
    }

    #[test]
    fn the_latest_message_of_a_subagents_own_transcript_counts() {
        let aside = json!({"type": "assistant", "isSidechain": true, "agentId": "a1", "message": {"content": "aside"}});
        assert_eq!(latest_assistant_text(&transcript(std::slice::from_ref(&aside))).as_deref(), Some("aside"));
        let prompt = json!({"type": "user", "message": {"content": "Go."}});
        assert_eq!(latest_assistant_text(&transcript(&[prompt, aside])), None);
    }
}
