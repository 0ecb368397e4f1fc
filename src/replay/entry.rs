//! A line of a recorded file. Of its parts the event and the facts are read at once, because every line needs them; the
//! rest stays the bytes that it is, to be compared.

use crate::facts::{Answer, Question};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The parts of a line. Which of them there are tells what it is.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Entry<'a> {
    /// The version of a journal's line.
    pub v: Option<u64>,
    /// The version of a recording, in its header.
    pub recording: Option<u64>,
    /// When the event came.
    #[serde(borrow)]
    pub at: Option<&'a RawValue>,
    /// The event.
    pub event: Option<Map<String, Value>>,
    /// The session before it.
    #[serde(borrow)]
    pub before: Option<&'a RawValue>,
    /// The session after it, if it moved.
    #[serde(borrow)]
    pub after: Option<&'a RawValue>,
    /// The hash of the modes.
    #[serde(borrow)]
    pub modes: Option<&'a RawValue>,
    /// Questions and answers.
    pub asked: Vec<(Question, Answer)>,
    /// What the gates found.
    #[serde(borrow)]
    pub findings: Option<&'a RawValue>,
    /// What was decided.
    #[serde(borrow)]
    pub decision: Option<&'a RawValue>,
    /// The agent that stops.
    #[serde(borrow)]
    pub who: Option<&'a RawValue>,
    /// Whether the state could not be kept.
    pub lost: bool,
    /// How long it took, in microseconds.
    pub us: Option<u64>,
    /// An event of a plain stream has its name at the top.
    #[serde(borrow, alias = "hookEventName", alias = "event_name", alias = "eventName")]
    pub hook_event_name: Option<&'a RawValue>,
    /// What is expected of the event before this line.
    #[serde(borrow)]
    pub expect: Option<&'a RawValue>,
}

/// A line of a stream: an event as the host sent it, or what is expected of the one before.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct StreamLine<'a> {
    /// An event has its name at the top.
    #[serde(borrow, alias = "hookEventName", alias = "event_name", alias = "eventName")]
    pub hook_event_name: Option<&'a RawValue>,
    /// What is expected.
    #[serde(borrow)]
    pub expect: Option<&'a RawValue>,
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// A line of a journal.
    Line,
    /// The header of a recording.
    Header,
    /// An event as the host sent it.
    Event,
    /// What is expected of the event before.
    Expectation,
    /// Something else.
    Other,
}

impl Entry<'_> {
    /// What the line is.
    #[must_use]
    pub fn kind(&self) -> LineKind {
        if self.recording.is_some() {
            LineKind::Header
        } else if self.v.is_some() && (self.event.is_some() || self.decision.is_some()) {
            LineKind::Line
        } else if self.hook_event_name.is_some() {
            LineKind::Event
        } else if self.expect.is_some() {
            LineKind::Expectation
        } else {
            LineKind::Other
        }
    }
}

/// The text of a JSON string that has no escapes, as ids and times have none.
#[must_use]
pub fn plain(raw: Option<&RawValue>) -> Option<&str> {
    let inner = raw?.get().strip_prefix('"')?.strip_suffix('"')?;
    (!inner.contains('\\')).then_some(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: LineKind) {
        assert_eq!(serde_json::from_str::<Entry<'_>>(line).expect(line).kind(), expected, "{line}");
    }

    #[test]
    fn a_line_is_told_by_its_parts() {
        check(r#"{"v":1,"at":"x","event":{"hook_event_name":"Stop"},"decision":{}}"#, LineKind::Line);
        check(r#"{"v":99,"event":{}}"#, LineKind::Line);
        check(r#"{"recording":1,"session":"s"}"#, LineKind::Header);
        check(r#"{"hook_event_name":"Stop","reason":"x"}"#, LineKind::Event);
        check(r#"{"hookEventName":"Stop"}"#, LineKind::Event);
        check(r#"{"expect":{"verdict":"block"}}"#, LineKind::Expectation);
        check(r#"{"type":"user","message":{}}"#, LineKind::Other);
    }

    #[test]
    fn only_a_text_without_escapes_is_plain() {
        let entry: Entry<'_> = serde_json::from_str(r#"{"at":"2026","modes":"a\n","v":1}"#).unwrap();
        assert_eq!((plain(entry.at), plain(entry.modes), plain(None)), (Some("2026"), None, None));
    }
}
