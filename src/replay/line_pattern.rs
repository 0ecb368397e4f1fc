//! The text of a decided line, with the parts in which another line may differ and still be decided the same way.
//!
//! Free are the time, the duration, and the texts and numbers of the event that nothing has read. Everything else is
//! fixed: the names of all fields and their order, the facts, the session, the recorded decision. A line that matches is
//! valid JSON and has the same meaning in all that its decision depends on.

use crate::event::{EventFields, has_own_name};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::ops::Range;

/// How deep free texts are looked for in a field.
const LEVELS: usize = 4;

/// The most digits of a free number: every such number can be read.
const DIGITS: usize = 18;

/// Fields of the event that are fixed, read or not: others are told apart by them.
const FIXED: [&str; 3] = ["hook_event_name", "session_id", "agent_id"];

/// The text of a line with free parts.
#[derive(Debug)]
pub(crate) struct LinePattern {
    /// The text without its free parts.
    fixed: Vec<u8>,
    /// Each free part, after the fixed text up to there.
    free: Vec<(usize, FreePart)>,
}

/// What may be in a free part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FreePart {
    /// The time of the line.
    Time,
    /// The id of the tool call.
    Call,
    /// The duration.
    Duration,
    Text,
    Number,
}

/// What a line has in the free parts that belong to its place in the journal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct FreeValues<'l> {
    pub(crate) at: &'l str,
    pub(crate) us: u64,
    pub(crate) call: Option<&'l str>,
}

/// The parts of a line that have free parts.
#[derive(Deserialize)]
struct LineParts<'a> {
    #[serde(borrow)]
    at: &'a RawValue,
    #[serde(borrow)]
    event: &'a RawValue,
    #[serde(borrow)]
    us: &'a RawValue,
    /// The files that were written, which no decision reads.
    #[serde(borrow)]
    wrote: Option<&'a RawValue>,
}

impl LinePattern {
    /// The pattern of a line that was decided without its time, with the fields that were read of its event.
    pub(crate) fn new(line: &str, fields: &EventFields) -> Option<Self> {
        let LineParts { at, event, us, wrote } = serde_json::from_str(line).ok()?;
        let mut found = vec![(within(line, inner(at)?), FreePart::Time), (within(line, us.get()), FreePart::Duration)];
        if !is_number(us.get()) || inner(at)?.contains('\\') {
            return None;
        }
        if let Some(wrote) = wrote {
            free_parts(line, wrote, LEVELS, &mut found);
        }
        for (name, value) in members(event)? {
            if !has_own_name(&name) {
                return None;
            }
            if FIXED.contains(&name.as_str()) {
                continue;
            }
            if name == "tool_use_id" && fields.is_unread(&name) {
                found.push((within(line, inner(value).filter(|id| !id.contains('\\'))?), FreePart::Call));
            } else if fields.is_unread(&name) {
                free_parts(line, value, LEVELS, &mut found);
            } else {
                let parts = members(value).into_iter().flatten();
                let unread = parts.filter(|(part, _)| fields.is_part_unread(&name, part));
                unread.for_each(|(_, value)| free_parts(line, value, LEVELS, &mut found));
            }
        }
        found.sort_by_key(|(range, _)| range.start);
        let mut pattern = Self { fixed: Vec::with_capacity(line.len()), free: Vec::with_capacity(found.len()) };
        let mut end = 0;
        for (range, part) in found {
            pattern.fixed.extend_from_slice(line.get(end..range.start)?.as_bytes());
            pattern.free.push((pattern.fixed.len(), part));
            end = range.end;
        }
        pattern.fixed.extend_from_slice(line.get(end..)?.as_bytes());
        Some(pattern)
    }

    /// What a line has in the free parts; `None` for a line that does not match.
    pub(crate) fn values<'l>(&self, line: &'l [u8]) -> Option<FreeValues<'l>> {
        let (mut values, mut rest, mut fixed) = (FreeValues::default(), line, 0);
        for (end, part) in &self.free {
            rest = after(rest, self.fixed.get(fixed..*end)?)?;
            fixed = *end;
            let length = match part {
                FreePart::Text => text_length(rest)?,
                FreePart::Time | FreePart::Call => plain_length(rest)?,
                FreePart::Number | FreePart::Duration => number_length(rest)?,
            };
            let (value, next) = rest.split_at_checked(length)?;
            rest = next;
            match part {
                FreePart::Time => values.at = std::str::from_utf8(value).ok()?,
                FreePart::Call => values.call = Some(std::str::from_utf8(value).ok()?),
                FreePart::Duration => values.us = number(value),
                FreePart::Text | FreePart::Number => {}
            }
        }
        after(rest, self.fixed.get(fixed..)?)?.is_empty().then_some(values)
    }
}

/// Where a part of a text is.
fn within(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - text.as_ptr().addr();
    start..start + part.len()
}

/// A JSON string without its quotes.
fn inner(value: &RawValue) -> Option<&str> {
    value.get().strip_prefix('"')?.strip_suffix('"')
}

fn members(value: &RawValue) -> Option<BTreeMap<String, &RawValue>> {
    serde_json::from_str(value.get()).ok()
}

/// Adds the texts and numbers in a value.
fn free_parts(line: &str, value: &RawValue, levels: usize, found: &mut Vec<(Range<usize>, FreePart)>) {
    let text = value.get();
    match text.as_bytes() {
        [b'"', ..] => found.extend(inner(value).map(|text| (within(line, text), FreePart::Text))),
        [b'{', ..] if levels > 0 => {
            let members = members(value).unwrap_or_default();
            for value in members.values() {
                free_parts(line, value, levels - 1, found);
            }
        }
        [b'[', ..] if levels > 0 => {
            let items: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
            for value in items {
                free_parts(line, value, levels - 1, found);
            }
        }
        _ if is_number(text) => found.push((within(line, text), FreePart::Number)),
        _ => {}
    }
}

fn is_number(text: &str) -> bool {
    number_length(text.as_bytes()) == Some(text.len())
}

/// The rest of a text after the same beginning.
fn after<'t>(text: &'t [u8], beginning: &[u8]) -> Option<&'t [u8]> {
    let (head, rest) = text.split_at_checked(beginning.len())?;
    is_same(head, beginning).then_some(rest)
}

/// Compares two texts in wide blocks: the `memcmp` of the static binary goes byte by byte.
pub(super) fn is_same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let ((wide, rest), (other_wide, other_rest)) = (one.as_chunks::<32>(), other.as_chunks::<32>());
    let ((words, bytes), (other_words, other_bytes)) = (rest.as_chunks::<8>(), other_rest.as_chunks::<8>());
    wide.iter().zip(other_wide).all(|(one, other)| one == other)
        && words.iter().zip(other_words).all(|(one, other)| one == other)
        && bytes.iter().zip(other_bytes).all(|(one, other)| one == other)
}

/// The length of the text up to the closing quote, if every JSON parser accepts it.
fn text_length(bytes: &[u8]) -> Option<usize> {
    let mut end = 0;
    loop {
        end += memchr::memchr2(b'"', b'\\', bytes.get(end..)?)?;
        match bytes.get(end..)? {
            [b'"', ..] => break,
            [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => end += 2,
            [b'\\', b'u', b'0', b'0', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => end += 6,
            _ => return None,
        }
    }
    is_text(bytes.get(..end)?).then_some(end)
}

/// The same for a text without escapes.
fn plain_length(bytes: &[u8]) -> Option<usize> {
    let end = memchr::memchr2(b'"', b'\\', bytes)?;
    (bytes.get(end) == Some(&b'"') && is_text(bytes.get(..end)?)).then_some(end)
}

/// Whether a text has no control characters and is UTF-8.
fn is_text(bytes: &[u8]) -> bool {
    let (least, all) = bytes.iter().fold((u8::MAX, 0), |(least, all), byte| (least.min(*byte), all | byte));
    least >= b' ' && (all.is_ascii() || std::str::from_utf8(bytes).is_ok())
}

/// The length of a number without sign, fraction and exponent.
fn number_length(bytes: &[u8]) -> Option<usize> {
    let length = bytes.iter().take(DIGITS + 1).take_while(|byte| byte.is_ascii_digit()).count();
    let leading_zero = length > 1 && bytes.first() == Some(&b'0');
    let goes_on = matches!(bytes.get(length), Some(b'.' | b'e' | b'E'));
    (length > 0 && length <= DIGITS && !leading_zero && !goes_on).then_some(length)
}

fn number(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;

    const LINE: &str = r#"{"v":1,"at":"2026-11-16T10:00:00Z","event":{"session_id":"s1","hook_event_name":"PostToolUse","tool_name":"Read","tool_use_id":"t1","tool_input":{"file_path":"/a.rs","limit":10},"tool_response":{"file":{"content":"a\nb","lines":[1,2]}}},"before":{"id":"s1"},"modes":"m","decision":{"verdict":"pass"},"us":120}"#;

    /// The pattern of the line after its event's tool and path were read.
    fn pattern() -> LinePattern {
        let value: serde_json::Value = serde_json::from_str(LINE).unwrap();
        let event = Event::from_value(value["event"].clone()).unwrap();
        let _ = (event.tool(), event.input("file_path"));
        LinePattern::new(LINE, &event.fields).unwrap()
    }

    #[track_caller]
    fn check(from: &str, to: &str, expected: bool) {
        assert!(LINE.contains(from), "{from}");
        assert_eq!(pattern().values(LINE.replacen(from, to, 1).as_bytes()).is_some(), expected, "{from} to {to}");
    }

    #[test]
    fn a_line_matches_itself_with_its_values() {
        let values = FreeValues { at: "2026-11-16T10:00:00Z", us: 120, call: Some("t1") };
        assert_eq!(pattern().values(LINE.as_bytes()), Some(values));
    }

    #[test]
    fn what_nothing_has_read_may_differ() {
        check("10:00:00", "11:22:33.123456", true);
        check("t1", "toolu_0123456789", true);
        check(r"a\nb", "", true);
        check(r"a\nb", r#"\"\\\t\u001b ü 語"#, true);
        check(":10}", ":0}", true);
        check("[1,2]", "[123456789012345678,20]", true);
        check(":120}", ":7}", true);
    }

    #[test]
    fn everything_else_is_fixed() {
        for (from, to) in [
            ("/a.rs", "/b.rs"),
            ("Read", "Edit"),
            ("s1", "s2"),
            ("PostToolUse", "PreToolUse"),
            ("\"m\"", "\"n\""),
            ("pass", "block"),
            ("limit", "limits"),
            ("[1,2]", "[1,2,3]"),
            ("\"v\":1", "\"v\":2"),
            ("\"us\"", " \"us\""),
            (":120}", ":120} "),
        ] {
            check(from, to, false);
        }
    }

    #[test]
    fn what_a_parser_might_reject_does_not_match() {
        for text in [r"\x", r"\ud800", "\\", "\u{1}", "\n", r"\u00g0", r#"" "#] {
            check(r"a\nb", text, false);
        }
        for number in ["012", "1.5", "1e9", "-1", "", "null", "1234567890123456789"] {
            check(":10}", &format!(":{number}}}"), false);
        }
        check("10:00:00", r"10:00\n00", false);
        let mut bytes = LINE.as_bytes().to_vec();
        let at = LINE.find("a\\nb").unwrap();
        bytes[at] = 0xff;
        assert_eq!(pattern().values(&bytes), None);
    }
}
