//! The text of a decided line, with the parts in which another line may differ and still be decided the same way.
//!
//! Free are the time, the duration, the texts and numbers of the event that nothing has read, and the ids and times of the
//! session if nothing has read one of them. Everything else is fixed: the names of all fields and their order, the facts,
//! the rest of the session, the recorded decision. A line that matches is valid JSON and has the same meaning in all that
//! its decision depends on.
//!
//! A line is compared with a sample, a line that matches. Most free parts are the same there, as those of one session
//! mostly are; only those that differ are looked at.

use crate::event::{EventFields, has_own_name};
use crate::replay::line::unescaped;
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

/// The texts in the state of a mode that are free if nothing has read one of them.
const STAMPS: [&str; 3] = ["activated_at", "prompt_id", "updated_at"];

/// The text of a line with free parts.
#[derive(Debug)]
pub(crate) struct LinePattern {
    /// A line that matches.
    sample: Vec<u8>,
    /// Its free parts, in order.
    free: Vec<(Range<usize>, FreePart)>,
    /// The id of the session, where that is fixed.
    session: Option<Vec<u8>>,
}

/// What may be in a free part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FreePart {
    /// The time of the line.
    Time,
    /// The id of the tool call.
    Call,
    /// The id of the session: in its event, and where it is free, in its state too.
    Session,
    /// The duration.
    Duration,
    Text,
    Number,
    /// Nothing: here begins the session before the event.
    BeforeStart,
    /// Nothing: here it ends.
    BeforeEnd,
}

/// What a line has in the free parts that belong to its place in the journal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct FreeValues<'l> {
    pub(crate) at: &'l [u8],
    pub(crate) us: u64,
    pub(crate) call: Option<&'l [u8]>,
    /// The session's id, if the event has one.
    pub(crate) session: Option<&'l [u8]>,
    /// The session before the event.
    pub(crate) before: &'l [u8],
    /// The length of the line.
    pub(crate) length: usize,
}

/// The parts of a line that have free parts.
#[derive(Deserialize)]
struct LineParts<'a> {
    #[serde(borrow)]
    at: &'a RawValue,
    #[serde(borrow)]
    event: &'a RawValue,
    #[serde(borrow)]
    before: &'a RawValue,
    #[serde(borrow)]
    us: &'a RawValue,
    /// The files that were written, which no decision reads.
    #[serde(borrow)]
    wrote: Option<&'a RawValue>,
}

impl LinePattern {
    /// The pattern of a line that was decided without its time, with the fields that were read of its event, and whether
    /// the ids and times of its session were.
    pub(crate) fn new(line: &str, fields: &EventFields, reads_stamps: bool) -> Option<Self> {
        let LineParts { at, event, before, us, wrote } = serde_json::from_str(line).ok()?;
        let state = within(line, before.get());
        let mut found = vec![
            (within(line, unescaped(at)?), FreePart::Time),
            (within(line, us.get()), FreePart::Duration),
            (state.start..state.start, FreePart::BeforeStart),
            (state.end..state.end, FreePart::BeforeEnd),
        ];
        if !is_number(us.get()) {
            return None;
        }
        if let Some(wrote) = wrote {
            free_parts(line, wrote, LEVELS, &mut found);
        }
        let fields_of_event = members(event)?;
        let id = fields_of_event.get("session_id").and_then(|id| unescaped(id));
        let own_id = members(before)?.get("id").and_then(|id| unescaped(id));
        let is_free = !reads_stamps && fields.is_unread("session_id") && id.is_some() && id == own_id;
        if is_free {
            stamps(line, before, &mut found);
        }
        let ids = id.into_iter().chain(own_id.filter(|_| is_free));
        found.extend(ids.map(|id| (within(line, id), FreePart::Session)));
        for (name, value) in fields_of_event {
            if !has_own_name(&name) {
                return None;
            }
            if name == "session_id" && id.is_none() {
                return None;
            }
            if FIXED.contains(&name.as_str()) {
                continue;
            }
            if name == "tool_use_id" && fields.is_unread(&name) {
                found.push((within(line, unescaped(value)?), FreePart::Call));
            } else if fields.is_unread(&name) {
                free_parts(line, value, LEVELS, &mut found);
            } else {
                let parts = members(value).into_iter().flatten();
                let unread = parts.filter(|(part, _)| fields.is_part_unread(&name, part));
                unread.for_each(|(_, value)| free_parts(line, value, LEVELS, &mut found));
            }
        }
        found.sort_by_key(|(range, _)| range.start);
        let session = id.filter(|_| !is_free).map(|id| id.as_bytes().to_owned());
        Some(Self { sample: line.as_bytes().to_owned(), free: found, session })
    }

    /// What the first line of a text has in the free parts; `None` if it does not match.
    pub(crate) fn values<'l>(&mut self, text: &'l [u8]) -> Option<FreeValues<'l>> {
        let (mut values, mut differing, mut is_other_session) = (FreeValues::default(), 0, false);
        // The sample up to `own` matches the text up to `end`, and goes on like it up to `same`.
        let (mut own, mut end, mut same) = (0, 0, common_length(&self.sample, text));
        for (range, part) in &self.free {
            // A part is the same only if it also ends there.
            let is_same_part = same > range.end;
            if is_same_part && matches!(part, FreePart::Text | FreePart::Number) {
                continue;
            }
            if same < range.start {
                return None;
            }
            let (start, mut length) = (end + range.start - own, range.len());
            if !is_same_part {
                length = part.length(text.get(start..)?)?;
                (own, end) = (range.end, start + length);
                same = own + common_length(self.sample.get(own..)?, text.get(end..)?);
                differing += 1;
            }
            let value = text.get(start..start + length)?;
            match part {
                FreePart::Time => values.at = value,
                FreePart::Call => values.call = Some(value),
                FreePart::Session => {
                    is_other_session |= !is_same_part;
                    let mut others = self.session.as_deref().into_iter().chain(values.session);
                    if is_other_session && others.any(|other| !is_same(other, value)) {
                        return None;
                    }
                    values.session = Some(value);
                }
                FreePart::Duration => values.us = number(value),
                FreePart::BeforeStart => values.before = text.get(start..)?,
                FreePart::BeforeEnd => values.before = values.before.get(..values.before.len() + start - text.len())?,
                FreePart::Text | FreePart::Number => {}
            }
        }
        values.length = end + self.sample.len() - own;
        if same < self.sample.len() || !matches!(text.get(values.length..), Some([] | [b'\n', ..])) {
            return None;
        }
        if differing > self.free.len() / 2 {
            let _: Option<()> = self.take_sample(text.get(..values.length)?);
        }
        Some(values)
    }

    /// Compares with this line from now on, which matches; not with one that has unusual escapes.
    fn take_sample(&mut self, line: &[u8]) -> Option<()> {
        let (mut own, mut end) = (0, 0);
        let parts = self.free.iter().map(|(range, part)| {
            let start = end + range.start - own;
            (own, end) = (range.end, start + part.length(line.get(start..)?)?);
            Some((start..end, *part))
        });
        self.free = parts.collect::<Option<_>>()?;
        line.clone_into(&mut self.sample);
        Some(())
    }
}

impl FreePart {
    /// The length of such a part at the beginning of a text; `None` if there is something else.
    fn length(self, text: &[u8]) -> Option<usize> {
        match self {
            Self::Text => text_length(text, true),
            Self::Time | Self::Call | Self::Session => text_length(text, false),
            Self::Number | Self::Duration => number_length(text),
            Self::BeforeStart | Self::BeforeEnd => Some(0),
        }
    }
}

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

/// Adds the times and prompts of a session's modes.
fn stamps(line: &str, before: &RawValue, found: &mut Vec<(Range<usize>, FreePart)>) {
    let modes = members(before).and_then(|mut session| members(session.remove("modes")?));
    for state in modes.unwrap_or_default().into_values().filter_map(members) {
        let stamps = STAMPS.iter().filter_map(|name| inner(state.get(*name)?));
        found.extend(stamps.map(|stamp| (within(line, stamp), FreePart::Text)));
    }
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

/// Compares two texts in wide blocks: the `memcmp` of the static binary goes byte by byte.
pub(crate) fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && common_length(one, other) == one.len()
}

/// The number of bytes in which two texts are the same at their beginning.
pub(super) fn common_length(one: &[u8], other: &[u8]) -> usize {
    let blocks = one.as_chunks::<32>().0.iter().zip(other.as_chunks().0);
    let same = 32 * blocks.take_while(|(block, other)| is_same_block(block, other)).count();
    let (one, other) = (one.get(same..).unwrap_or_default(), other.get(same..).unwrap_or_default());
    let words = one.len().min(other.len()) / 8;
    for (at, (word, other)) in one.as_chunks().0.iter().zip(other.as_chunks().0).enumerate() {
        let differing = u64::from_le_bytes(*word) ^ u64::from_le_bytes(*other);
        if differing != 0 {
            return same + 8 * at + differing.trailing_zeros() as usize / 8;
        }
    }
    let rest = one.iter().zip(other).skip(8 * words);
    same + 8 * words + rest.take_while(|(byte, other)| byte == other).count()
}

/// Compares two blocks as numbers: `==` calls `memcmp` where code is optimized for size.
#[inline(always)]
#[expect(clippy::inline_always, reason = "it is never inlined where code is optimized for size")]
fn is_same_block(one: &[u8; 32], other: &[u8; 32]) -> bool {
    let ([one, two], [other, other_two]) = (one.as_chunks::<16>().0, other.as_chunks::<16>().0) else { return false };
    let differing = |one: &[u8; 16], other: &[u8; 16]| u128::from_le_bytes(*one) ^ u128::from_le_bytes(*other);
    differing(one, other) | differing(two, other_two) == 0
}

/// The length of the text up to the closing quote, if every JSON parser accepts it, eight bytes at a time.
fn text_length(bytes: &[u8], may_have_escapes: bool) -> Option<usize> {
    /// The highest bit of each byte.
    const HIGH: u64 = 0x8080_8080_8080_8080;
    const EACH: u64 = 0x0101_0101_0101_0101;
    // The lowest byte that these find is right, others may be wrong.
    let below = |word: u64, limit: u8| word.wrapping_sub(EACH * u64::from(limit)) & !word;
    let is = |word: u64, byte: u8| below(word ^ (EACH * u64::from(byte)), 1);
    let (mut end, mut seen) = (0, 0);
    loop {
        let rest = bytes.get(end..)?;
        let word = u64::from_le_bytes(rest.first_chunk().copied().unwrap_or_else(|| padded(rest)));
        seen |= word;
        // Quotes, backslashes and control characters.
        let ends = (below(word, b' ') | is(word, b'"') | is(word, b'\\')) & HIGH;
        if ends == 0 {
            end += 8;
            continue;
        }
        let plain = ends.trailing_zeros() as usize / 8;
        end += plain;
        match rest.get(plain..)? {
            [b'"', ..] => break,
            [b'\\', ..] if !may_have_escapes => return None,
            [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => end += 2,
            [b'\\', b'u', b'0', b'0', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => end += 6,
            _ => return None,
        }
    }
    (seen & HIGH == 0 || std::str::from_utf8(bytes.get(..end)?).is_ok()).then_some(end)
}

/// The last bytes of a text, and zeros.
fn padded(rest: &[u8]) -> [u8; 8] {
    let mut word = [0; 8];
    word.iter_mut().zip(rest).for_each(|(byte, last)| *byte = *last);
    word
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

    const LINE: &str = r#"{"v":1,"at":"2026-11-16T10:00:00Z","event":{"session_id":"s1","hook_event_name":"PostToolUse","tool_name":"Read","tool_use_id":"t1","tool_input":{"file_path":"/a.rs","limit":10},"tool_response":{"file":{"content":"a\nb","lines":[1,2]}}},"before":{"id":"s1","modes":{"plan_mode":{"phase":"draft","activated_at":"t0","prompt_id":"p1","note":"n"}}},"modes":"m","decision":{"verdict":"pass"},"us":120}"#;

    /// The pattern of the line after its event's tool and path were read.
    fn pattern_with(reads_stamps: bool) -> LinePattern {
        let value: serde_json::Value = serde_json::from_str(LINE).unwrap();
        let event = Event::from_value(value["event"].clone()).unwrap();
        let _ = (event.tool(), event.input("file_path"));
        LinePattern::new(LINE, &event.fields, reads_stamps).unwrap()
    }

    fn pattern() -> LinePattern {
        pattern_with(true)
    }

    #[track_caller]
    fn check(from: &str, to: &str, expected: bool) {
        assert!(LINE.contains(from), "{from}");
        assert_eq!(pattern().values(LINE.replacen(from, to, 1).as_bytes()).is_some(), expected, "{from} to {to}");
    }

    #[test]
    fn a_line_matches_itself_with_its_values() {
        let before = LINE.split_once("\"before\":").unwrap().1.split_once(",\"modes\":\"m\"").unwrap().0;
        for text in [LINE.to_owned(), format!("{LINE}\n"), format!("{LINE}\n{{")] {
            for mut pattern in [pattern_with(true), pattern_with(false)] {
                let values = FreeValues {
                    at: b"2026-11-16T10:00:00Z",
                    us: 120,
                    call: Some(b"t1"),
                    session: Some(b"s1"),
                    before: before.as_bytes(),
                    length: LINE.len(),
                };
                assert_eq!(pattern.values(text.as_bytes()), Some(values));
            }
        }
    }

    #[test]
    fn the_ids_and_times_of_a_session_may_differ_if_nothing_has_read_them() {
        let other = LINE.replace("s1", "5e55-ü").replace("t0", "2026").replace("p1", "");
        let values = pattern_with(false).values(other.as_bytes()).unwrap();
        assert_eq!(values.session, Some("5e55-ü".as_bytes()));
        assert!(String::from_utf8_lossy(values.before).starts_with(r#"{"id":"5e55-ü","#));
        assert_eq!(pattern_with(true).values(other.as_bytes()), None);
        for (from, to) in [("\"s1\"", "\"s2\""), ("draft", "done"), ("\"n\"", "\"m\""), ("p1\"", "p1\",\"x\":\"y\"")] {
            assert_eq!(pattern_with(false).values(LINE.replacen(from, to, 1).as_bytes()), None, "{from} to {to}");
        }
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
    fn a_line_that_differs_in_most_parts_is_the_next_sample() {
        let mut pattern = pattern_with(false);
        let other = |time: &str, id: &str| {
            let line = LINE.replace("s1", id).replace("10:00:00", time).replace("t0", "2026").replace("p1", "");
            line.replace("t1", "t27").replace(r"a\nb", "").replace("[1,2]", "[10,0]").replace("120}", "7}")
        };
        for line in [other("1", "s2"), other("2", "s2"), LINE.to_owned(), other("3", "s3"), other("4", "s1")] {
            let value: serde_json::Value = serde_json::from_str(&line).unwrap();
            let values = pattern.values(line.as_bytes()).unwrap();
            let text = |bytes: &[u8]| serde_json::Value::from(String::from_utf8_lossy(bytes));
            assert_eq!(text(values.at), value["at"]);
            assert_eq!(text(values.session.unwrap()), value["event"]["session_id"]);
            assert_eq!(text(values.call.unwrap()), value["event"]["tool_use_id"]);
            assert_eq!((values.us, values.length), (value["us"].as_u64().unwrap(), line.len()));
            assert_eq!(serde_json::from_slice::<serde_json::Value>(values.before).unwrap(), value["before"]);
            for (from, to) in
                [("draft", "done"), ("Read", "Edit"), ("},\"before", "} ,\"before"), ("\"v\":1", "\"v\":2")]
            {
                assert_eq!(pattern.values(line.replacen(from, to, 1).as_bytes()), None, "{from} to {to}");
            }
        }
    }

    #[test]
    fn a_text_ends_at_its_quote_wherever_that_is() {
        for length in 0..40 {
            let text = "é".repeat(length / 2) + &"x".repeat(length % 2);
            for (end, is_text) in [("\"", true), ("\\", false), ("\u{1f}", false), ("\u{0}", false), ("", false)] {
                for after in ["", "\"", &"y".repeat(20)] {
                    let found = text_length(format!("{text}{end}{after}").as_bytes(), false);
                    let is_text = is_text || end.is_empty() && after == "\"";
                    assert_eq!(found, is_text.then_some(text.len()), "{text}{end}{after}");
                }
            }
            assert_eq!(text_length(format!("{text}\\\"{text}\\\\\"").as_bytes(), true), Some(2 * text.len() + 4));
            assert_eq!(text_length(&[text.as_bytes(), b"\xff\""].concat(), true), None);
        }
        assert_eq!(text_length(b" ~!#[]\x7f\"", false), Some(7));
    }

    #[test]
    fn texts_of_any_length_are_compared_to_the_last_byte() {
        for length in 0..100 {
            let text = vec![b'x'; length];
            assert!(is_same(&text, &text.clone()) && !is_same(&text, &vec![b'x'; length + 1]));
            for at in 0..length {
                let mut other = text.clone();
                other[at] = b'y';
                assert!(!is_same(&text, &other), "{at} of {length}");
                assert_eq!(common_length(&text, &other), at);
                assert_eq!(common_length(&text, &other[..at]), at);
            }
        }
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
            ("\"t0\"", "\"t1\""),
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
