//! A text that every match of a regular expression has, found without compiling the expression.

/// Longer patterns are compiled: they may be too large, which is reported.
const LONGEST: usize = 200;
/// The most classes such as `\w`, each of which is a large part of a compiled pattern.
const CLASSES: usize = 4;

/// A text that is in every match of `pattern`, which has compiled before; `None` if none is easily found.
pub(super) fn of(pattern: &str) -> Option<&str> {
    if pattern.len() > LONGEST || !pattern.is_ascii() || pattern.contains("(?") || pattern.contains('{') {
        return None;
    }
    let bytes = pattern.as_bytes();
    let is_class = |pair: &&[u8]| matches!(pair, [b'\\', letter] if letter.is_ascii_alphabetic());
    if bytes.windows(2).filter(is_class).count() > CLASSES {
        return None;
    }
    let (mut longest, mut start, mut at) = (0..0, 0, 0);
    while let Some(byte) = bytes.get(at) {
        let length = match byte {
            b'|' => return None,
            b'(' => group(bytes.get(at..)?)?,
            b'[' | b'\\' => atom(bytes.get(at..)?)?,
            b'.' | b'^' | b'$' | b'*' | b'+' | b'?' => 1,
            _ => {
                at += 1;
                continue;
            }
        };
        // The character before it may be missing.
        let end = if matches!(byte, b'*' | b'?') { at.saturating_sub(1) } else { at };
        if end.saturating_sub(start) > longest.len() {
            longest = start..end;
        }
        at += length;
        start = at;
    }
    if at.saturating_sub(start) > longest.len() {
        longest = start..at;
    }
    pattern.get(longest).filter(|text| !text.is_empty())
}

/// The length of the escape or class, or else of the character, at the beginning of `bytes`.
fn atom(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [b'\\', b'd' | b'D' | b's' | b'S' | b'w' | b'W' | b'b' | b'B' | b'n' | b'r' | b't', ..] => Some(2),
        // Others have more characters, such as `\x41` and `\pL`.
        [b'\\', other, ..] => (!other.is_ascii_alphanumeric()).then_some(2),
        [b'[', rest @ ..] => {
            let end = rest.iter().position(|byte| *byte == b']')?;
            // In `[]a]`, the first one is a member.
            let members = rest.get(..end).filter(|members| !members.is_empty() && *members != b"^")?;
            (!members.iter().any(|byte| matches!(byte, b'[' | b'\\'))).then_some(end + 2)
        }
        _ => Some(1),
    }
}

/// The length of the group at the beginning of `bytes`.
fn group(bytes: &[u8]) -> Option<usize> {
    let (mut at, mut depth) = (0, 0_usize);
    loop {
        match bytes.get(at)? {
            b'(' => depth += 1,
            b')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += atom(bytes.get(at..)?)?;
        if depth == 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex::RegexBuilder;

    #[test]
    fn a_needle_is_the_longest_text_that_cannot_be_missing() {
        for (pattern, needle) in [
            ("^deploy-[a-z]+$", Some("deploy-")),
            ("git push .*--force", Some("git push ")),
            (r"--force\b", Some("--force")),
            (r"rm\s+-rf?\s+/", Some("rm")),
            ("(npm|yarn) publish", Some(" publish")),
            (r"a(b(c|[)])\)d)efg*", Some("ef")),
            ("abc+d", Some("abc")),
            ("ab?c", Some("a")),
            ("x*?", None),
            ("a|b", None),
            ("(?i)deploy", None),
            ("de{2}p", None),
            (r"\x41bc", None),
            (r"\pLabc", None),
            ("[]abc]d", None),
            ("[[:alpha:]]d", None),
            (r"[\]x]d", None),
            ("größe", None),
            (r"\w\w\w\w\wabc", None),
            ("", None),
        ] {
            assert_eq!(of(pattern), needle, "{pattern}");
        }
    }

    #[test]
    fn every_match_has_the_needle() {
        let parts = ["a", "bc", "b", "(a|b)", "[ab]", "[^a]", ".", r"\w", r"\b", r"\.", "(a(b)c)", "^", "$"];
        let ends = ["", "*", "+", "?", "*?", "+?", "??"];
        let texts = ["", "a", "b", "bc", "abc", "cba", "a.b", "aabbcc", "bcbc\nabc", "..", "xaxbxc", "ba"];
        let atoms: Vec<String> =
            parts.iter().flat_map(|part| ends.iter().map(move |end| format!("{part}{end}"))).collect();
        for first in &atoms {
            for second in &atoms {
                let pattern = format!("{first}{second}c");
                let Some(needle) = of(&pattern) else { continue };
                let Ok(regex) = RegexBuilder::new(&pattern).multi_line(true).crlf(true).build() else { continue };
                for text in texts.iter().filter(|text| !text.contains(needle)) {
                    assert!(!regex.is_match(text), "{pattern} {needle} {text:?}");
                }
            }
        }
    }
}
