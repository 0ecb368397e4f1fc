//! Makes text from outside safe to print: control characters and invisible ones become escapes.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a character could move the cursor, reorder a line, or hide text.
pub fn is_unsafe(c: char) -> bool {
    let is_direction =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    // Tags are invisible, but a model reads them. Joiners are left alone: scripts and emoji need them.
    let is_hidden = matches!(c, '\u{2028}' | '\u{2029}' | '\u{e0000}'..='\u{e007f}' | '\u{fff9}'..='\u{fffb}');
    let is_empty = matches!(c, '\u{ad}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2064}')
        || matches!(c, '\u{3164}' | '\u{feff}' | '\u{ffa0}');
    c.is_control() || is_direction || is_hidden || is_empty
}

/// The text with unsafe characters as JSON writes them, also newlines and tabs; JSON stays JSON.
pub fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, is_unsafe)
}

/// The text with unsafe characters as JSON writes them; newlines and tabs are kept.
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_unsafe(c) && !matches!(c, '\n' | '\t'))
}

/// Whether a text from outside looks like a name, so that a sentence to the model may quote it.
pub fn is_name(text: &str) -> bool {
    const LONGEST: usize = 64;
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'@' | b'/');
    (1..=LONGEST).contains(&text.len()) && text.bytes().all(is_part)
}

/// The first `most` characters of a text, with an ellipsis where something is missing.
pub fn truncated(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn escaped(text: &str, is_odd: impl Fn(char) -> bool) -> Cow<'_, str> {
    // Nearly every text is plain.
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if is_plain || !text.contains(&is_odd) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' if is_odd(c) => safe.push_str("\\n"),
            '\t' if is_odd(c) => safe.push_str("\\t"),
            '\r' if is_odd(c) => safe.push_str("\\r"),
            c if is_odd(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(safe, "\\u{unit:04x}");
                }
            }
            c => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_characters_become_escapes() {
        for (text, line, kept) in [
            ("plain ä → 日本 🙂", "plain ä → 日本 🙂", "plain ä → 日本 🙂"),
            ("a\nb\tc", "a\\nb\\tc", "a\nb\tc"),
            ("\u{1b}[2J\u{7}\r", "\\u001b[2J\\u0007\\r", "\\u001b[2J\\u0007\\r"),
            ("x\u{202e}y\u{9b}z", "x\\u202ey\\u009bz", "x\\u202ey\\u009bz"),
            ("t\u{e0041}", "t\\udb40\\udc41", "t\\udb40\\udc41"),
            ("r\u{200b}m\u{ad}", "r\\u200bm\\u00ad", "r\\u200bm\\u00ad"),
        ] {
            assert_eq!(one_line(text), line);
            assert_eq!(lines(text), kept);
        }
    }

    #[test]
    fn a_name_has_no_words_of_its_own() {
        for name in ["PATH", "modegate@acme.example/x-1", "Stop"] {
            assert!(is_name(name), "{name}");
        }
        for text in ["", "a b", "a`b", "a\nb", "ä", "a:b", &"a".repeat(65)] {
            assert!(!is_name(text), "{text}");
        }
    }

    #[test]
    fn json_keeps_its_meaning() {
        let value = serde_json::json!({"a\u{9b}": "x\u{202e}\n\u{e0041}\u{7f}"});
        let text = serde_json::to_string_pretty(&value).unwrap();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&lines(&text)).unwrap(), value);
    }
}
