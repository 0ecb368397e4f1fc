//! Finds tokens, and values next to the name of a secret, without regular expressions: it runs for every event.

use crate::MASK;
use crate::values::{
    in_token, in_value, is_auth_scheme, is_secret_like, is_secret_name, is_word, known_token, may_begin_token,
};
use std::ops::Range;

/// The tokens and named values of a text, ordered by their start.
pub(crate) fn named_secrets(text: &str) -> Vec<Range<usize>> {
    let scan = SecretScanner(text.as_bytes());
    let mut secrets: Vec<Range<usize>> = Vec::new();
    let mut before = b' ';
    for (at, byte) in text.bytes().enumerate() {
        // A secret does not start inside another, but may start between a name and its value.
        let within = secrets.last().is_some_and(|last| last.contains(&at));
        secrets.extend(match byte {
            _ if within => None,
            b'=' | b':' => scan.value(at),
            b'-' if before != b'-' => scan.flagged(at),
            _ if before.is_ascii_alphanumeric() => None,
            _ => scan.token(at),
        });
        before = byte;
    }
    secrets
}

/// How far the scanner looks for a name or a host.
const REACH: usize = 256;

/// Looks for secrets around characters such as `=`, `:` and `-`.
///
/// Every range ends next to an ASCII byte or at the end of the text, so it never splits a character.
#[derive(Clone, Copy)]
struct SecretScanner<'a>(&'a [u8]);

impl<'a> SecretScanner<'a> {
    fn byte(self, at: usize) -> Option<u8> {
        self.0.get(at).copied()
    }

    fn slice(self, range: Range<usize>) -> &'a [u8] {
        self.0.get(range).unwrap_or_default()
    }

    fn rest(self, at: usize) -> &'a [u8] {
        self.0.get(at..).unwrap_or_default()
    }

    /// The end of the run of bytes that `belong`.
    fn run(self, from: usize, belong: impl Fn(u8) -> bool) -> usize {
        self.near(from, usize::MAX, belong)
    }

    /// The same, but no further than `most` bytes.
    fn near(self, from: usize, most: usize, belong: impl Fn(u8) -> bool) -> usize {
        let near = self.rest(from).iter().take(most);
        from + near.take_while(|byte| belong(**byte)).count()
    }

    /// The start of the run of bytes that `belong` and end at `to`.
    fn back(self, to: usize, belong: impl Fn(u8) -> bool) -> usize {
        let near = self.slice(to.saturating_sub(REACH)..to);
        to - near.iter().rev().take_while(|byte| belong(**byte)).count()
    }

    /// A token with a known prefix.
    fn token(self, at: usize) -> Option<Range<usize>> {
        if !may_begin_token(self.byte(at)?, self.byte(at + 1)?) {
            return None;
        }
        let rest = self.rest(at);
        let near = rest.get(..REACH).unwrap_or(rest);
        let (prefix, alphabet) = known_token(near)?;
        Some(at..self.run(at + prefix, |byte| alphabet.has(byte) || in_token(byte)))
    }

    /// The value in `--password VALUE`.
    fn flagged(self, at: usize) -> Option<Range<usize>> {
        let name = at + self.rest(at).strip_prefix(b"--").map(|_| 2)?;
        let end = self.near(name, REACH, |byte| byte == b'-' || byte == b'_' || byte.is_ascii_alphanumeric());
        let start = self.near(end, REACH, |byte| byte == b' ');
        if start == end || !is_secret_name(self.slice(name..end)) {
            return None;
        }
        self.quoted(start).or_else(|| {
            let value = self.bare(start)?;
            let text = self.slice(value.clone());
            (!text.starts_with(b"-") && !is_word(text)).then(|| self.whole(&value))
        })
    }

    /// The value in `password=VALUE`, `"token": "VALUE"` and the like, with the sign at `at`.
    fn value(self, at: usize) -> Option<Range<usize>> {
        let name = self.name_before(at)?;
        let sign = self.sign(at)?;
        let start = self.run(at + sign, |byte| byte == b' ');
        if let Some(value) = self.quoted(start) {
            return self.after_scheme(value);
        }
        let value = self.bare(start).filter(|_| sign == 1)?;
        let text = self.slice(value.clone());
        if is_auth_scheme(text) {
            let start = self.run(value.end, |byte| byte == b' ');
            return self.bare(start).map(|value| self.whole(&value));
        }
        let spaced = start > at + 1 || name.end < at && self.byte(at - 1) == Some(b' ');
        let secret = !spaced || is_secret_like(text) || self.alone(at, &name, &value);
        let code = self.code(&value) || is_word(text) || text == self.slice(name);
        (secret && !code).then(|| self.whole(&value))
    }

    /// The length of an assignment sign; comparisons, paths and URLs have none.
    fn sign(self, at: usize) -> Option<usize> {
        let before = at.checked_sub(1).and_then(|at| self.byte(at))?;
        match (before, self.byte(at)?, self.byte(at + 1)?) {
            (b':' | b'=' | b'!' | b'<' | b'>' | b'?' | b'/', ..) | (_, _, b':' | b'=') | (_, b':', b'/') => None,
            (_, b'=', b'>') => Some(2),
            _ => Some(1),
        }
    }

    /// Whether a value is a call or an index, cut at a closing bracket or a quote.
    fn code(self, value: &Range<usize>) -> bool {
        let text = self.slice(value.clone());
        let next = self.byte(value.end);
        let cut = next.is_some_and(|byte| b")]}\"'`,".contains(&byte));
        let bracket = |byte: &u8| b"([{".contains(byte);
        text.last().is_some_and(bracket) || cut && text.iter().any(bracket)
    }

    /// The name of a secret before `at`, without quotes.
    fn name_before(self, at: usize) -> Option<Range<usize>> {
        let end = self.back(at, |byte| b" \"'`\\".contains(&byte));
        let start = self.back(end, |byte| byte == b'-' || byte == b'_' || byte.is_ascii_alphanumeric());
        (at - end <= 4 && is_secret_name(self.slice(start..end))).then_some(start..end)
    }

    /// A quoted value without a leading `Bearer` or the like.
    fn after_scheme(self, value: Range<usize>) -> Option<Range<usize>> {
        let first = self.run(value.start, |byte| byte.is_ascii_alphabetic());
        let start = self.run(first, |byte| byte == b' ');
        if start == first || start >= value.end || !is_auth_scheme(self.slice(value.start..first)) {
            return Some(value);
        }
        self.real(start).then_some(start..value.end)
    }

    /// The text in the quotes that open at `at`, up to the end of the line if they do not close.
    fn quoted(self, at: usize) -> Option<Range<usize>> {
        let escaped = self.byte(at) == Some(b'\\');
        let open = at + usize::from(escaped);
        let quote = self.byte(open).filter(|byte| b"\"'`".contains(byte))?;
        let start = open + 1;
        if !self.real(start) {
            return None;
        }
        let mut end = start;
        loop {
            end = self.run(end, |byte| byte != quote && byte != b'\n' && byte != b'\\');
            // In escaped quotes the backslash belongs to the closing quote.
            match self.byte(end) {
                Some(b'\\') if !escaped => end = (end + 2).min(self.0.len()),
                _ => break,
            }
        }
        (end > start).then_some(start..end)
    }

    /// A value without quotes, as much of it as is needed to classify it.
    fn bare(self, at: usize) -> Option<Range<usize>> {
        let end = self.near(at, REACH, in_value);
        (end > at && self.real(at)).then_some(at..end)
    }

    /// The whole value without quotes.
    fn whole(self, value: &Range<usize>) -> Range<usize> {
        value.start..self.run(value.end, in_value)
    }

    /// Whether the value at `at` is neither masked already nor a variable.
    fn real(self, at: usize) -> bool {
        let text = self.rest(at);
        let variable = text.strip_prefix(b"$").and_then(<[u8]>::first);
        let is_variable = variable.is_some_and(|byte| b"({_".contains(byte) || byte.is_ascii_uppercase());
        !is_variable && !text.starts_with(MASK.as_bytes())
    }

    /// Whether the line has only `name: value`, as in YAML.
    fn alone(self, at: usize, name: &Range<usize>, value: &Range<usize>) -> bool {
        let margin = self.back(name.start, |byte| b" -\"'".contains(&byte));
        let begins = margin == 0 || self.byte(margin - 1) == Some(b'\n');
        let ends = self.byte(value.end).is_none_or(|byte| matches!(byte, b'\n' | b'\r'));
        let small = self.byte(value.start).is_some_and(|byte| byte.is_ascii_lowercase());
        self.byte(at) == Some(b':') && begins && ends && small && value.len() > 2
    }
}
