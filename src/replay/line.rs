//! Lines of recorded files, and how each kind is recognized.

use crate::replay::transcript::is_bookkeeping;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The keys that tell one kind of line from another.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct LineKeys<'a> {
    pub(crate) v: Option<Value>,
    recording: Option<Value>,
    #[serde(borrow)]
    event: Option<&'a RawValue>,
    #[serde(borrow)]
    decision: Option<&'a RawValue>,
    #[serde(borrow, alias = "hookEventName", alias = "event_name", alias = "eventName")]
    hook_event_name: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) expect: Option<&'a RawValue>,
    r#type: Option<Value>,
    #[serde(rename = "sessionId")]
    session_id: Option<Value>,
    uuid: Option<Value>,
    summary: Option<Value>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineKind {
    Journal,
    /// The first line of a recording.
    Header,
    /// An event as the host sent it.
    Event,
    /// What the event on the line before is expected to decide.
    Expectation,
    /// A message in a transcript of the host.
    Transcript,
    /// A record that the host writes besides messages; other programs do so, too.
    TranscriptNote,
    /// A message of another program that keeps transcripts.
    ForeignMessage,
    Other,
}

impl<'a> LineKeys<'a> {
    pub(crate) fn parse(line: &'a [u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(line)
    }

    pub(crate) fn kind(&self) -> LineKind {
        let is_number = |value: &Option<Value>| value.as_ref().is_some_and(Value::is_number);
        if is_number(&self.recording) {
            LineKind::Header
        } else if is_number(&self.v) && (self.event.is_some() || self.decision.is_some()) {
            LineKind::Journal
        } else if self.hook_event_name.is_some() {
            LineKind::Event
        } else if self.expect.is_some() {
            LineKind::Expectation
        } else {
            self.transcript_kind()
        }
    }

    /// Every transcript record has a type and names its session or its own id; summaries and snapshots have neither.
    fn transcript_kind(&self) -> LineKind {
        let is_text = |value: &Option<Value>| value.as_ref().is_some_and(Value::is_string);
        let has_id = is_text(&self.session_id) || is_text(&self.uuid);
        match self.r#type.as_ref().and_then(Value::as_str) {
            Some("summary") if is_text(&self.summary) => LineKind::TranscriptNote,
            Some("file-history-snapshot") => LineKind::TranscriptNote,
            Some("user" | "assistant") if has_id && self.has_content() => LineKind::Transcript,
            Some("user" | "assistant") if has_id => LineKind::ForeignMessage,
            Some("system" | "attachment") if has_id => LineKind::TranscriptNote,
            Some(kind) if has_id && is_bookkeeping(kind) => LineKind::TranscriptNote,
            _ => LineKind::Other,
        }
    }

    /// Whether the message has a text or blocks, as in the API of the host's model.
    fn has_content(&self) -> bool {
        #[derive(Deserialize)]
        struct MessageKeys<'a> {
            #[serde(borrow)]
            content: &'a RawValue,
        }
        let keys = self.message.and_then(|message| serde_json::from_str::<MessageKeys<'_>>(message.get()).ok());
        keys.is_some_and(|keys| keys.content.get().starts_with(['"', '[']))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_recognized_by_its_keys() {
        for (line, expected) in [
            (r#"{"recording": 1, "session": "s1"}"#, LineKind::Header),
            (r#"{"v": 1, "at": "", "event": {"hook_event_name": "Stop"}}"#, LineKind::Journal),
            (r#"{"v":99,"event":{}}"#, LineKind::Journal),
            (r#"{"session_id": "s1", "hook_event_name": "Stop", "reason": "x"}"#, LineKind::Event),
            (r#"{"sessionId": "s1", "hookEventName": "Stop"}"#, LineKind::Event),
            (r#"{"expect":{"verdict":"block"}}"#, LineKind::Expectation),
            (r#"{"type": "queue-operation", "sessionId": "s1"}"#, LineKind::TranscriptNote),
            (r#"{"type": "user", "uuid": "u1", "message": {"content": "x"}}"#, LineKind::Transcript),
            (r#"{"type": "summary", "summary": "x", "leafUuid": "u1"}"#, LineKind::TranscriptNote),
            (r#"{"type": "mode", "sessionId": "s1"}"#, LineKind::TranscriptNote),
            (r#"{"type": "user", "uuid": "u1", "message": {"parts": [{"text": "x"}]}}"#, LineKind::ForeignMessage),
            (r#"{"type": "user", "sessionId": "s1", "content": "x"}"#, LineKind::ForeignMessage),
            (r#"{"type": "message", "sessionId": "s1", "message": {"content": "x"}}"#, LineKind::Other),
            (r#"{"type": "text"}"#, LineKind::Other),
        ] {
            assert_eq!(LineKeys::parse(line.as_bytes()).expect(line).kind(), expected, "{line}");
        }
        assert!(LineKeys::parse(br#"{"type": "us"#).is_err());
    }
}
