//! What a file of lines is, told from one of its first lines.

use serde_json::{Map, Value};

/// What the lines of a file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFormat {
    /// modegate's own journal.
    Journal,
    /// A journal that begins with its modes.
    Recording,
    /// Events as the host sends them.
    Events,
    /// The host's transcript of a session.
    Transcript,
}

/// What the file is in which this line stands; `None` when the line does not tell, and the next one may.
#[must_use]
pub fn file_format(line: &[u8]) -> Option<FileFormat> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let Ok(Value::Object(fields)) = serde_json::from_slice(line) else { return None };
    let has = |name: &str| fields.contains_key(name);
    if fields.get("recording").is_some_and(Value::is_number) {
        return Some(FileFormat::Recording);
    }
    if fields.get("v").is_some_and(Value::is_number) && has("event") {
        return Some(FileFormat::Journal);
    }
    if ["hook_event_name", "hookEventName", "event_name", "eventName"].into_iter().any(has) {
        return Some(FileFormat::Events);
    }
    is_record(&fields).then_some(FileFormat::Transcript)
}

/// Whether a line is one of a transcript: each has a type, and tells the session or its own id.
fn is_record(fields: &Map<String, Value>) -> bool {
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    let summary = text("type") == Some("summary") && text("summary").is_some();
    let snapshot = text("type") == Some("file-history-snapshot");
    text("type").is_some() && (text("sessionId").is_some() || text("uuid").is_some() || summary || snapshot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_what_its_file_is() {
        for (line, expected) in [
            (r#"{"recording": 1, "session": "s1"}"#, Some(FileFormat::Recording)),
            (r#"{"v": 1, "at": "", "event": {"hook_event_name": "Stop"}}"#, Some(FileFormat::Journal)),
            (r#"{"session_id": "s1", "hook_event_name": "Stop"}"#, Some(FileFormat::Events)),
            (r#"{"sessionId": "s1", "hookEventName": "Stop"}"#, Some(FileFormat::Events)),
            (r#"{"type": "queue-operation", "sessionId": "s1"}"#, Some(FileFormat::Transcript)),
            (r#"{"type": "user", "uuid": "u1", "message": {"content": "x"}}"#, Some(FileFormat::Transcript)),
            (r#"{"type": "summary", "summary": "x", "leafUuid": "u1"}"#, Some(FileFormat::Transcript)),
            ("\u{feff}{\"type\": \"mode\", \"sessionId\": \"s1\"}", Some(FileFormat::Transcript)),
            (r#"{"type": "text"}"#, None),
            (r#"{"type": "us"#, None),
            ("[]", None),
            ("", None),
        ] {
            assert_eq!(file_format(line.as_bytes()), expected, "{line}");
        }
    }
}
