//! Where a secret lies, seen from the character that gave it away.

use std::ops::Range;

use super::MASK;
use super::shape::{in_token, in_value, known, mixed, named, position, scheme, word};

/// How far a scan looks from a trigger; beyond it nothing is taken for a name or a host.
const REACH: usize = 256;

/// A text under scan. Every range ends beside an ASCII byte or at an end, so it never splits a character.
#[derive(Clone, Copy)]
pub(super) struct SecretScanner<'a>(&'a [u8]);

impl<'a> SecretScanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self(text.as_bytes())
    }

    fn byte(self, at: usize) -> Option<u8> {
        self.0.get(at).copied()
    }

    fn slice(self, range: Range<usize>) -> &'a [u8] {
        self.0.get(range).unwrap_or_default()
    }

    fn rest(self, at: usize) -> &'a [u8] {
        self.0.get(at..).unwrap_or_default()
    }

    /// Where the run of bytes that `belong` ends.
    fn run(self, from: usize, belong: impl Fn(u8) -> bool) -> usize {
        from + self.rest(from).iter().take_while(|byte| belong(**byte)).count()
    }

    /// The same, for a run that is only looked at: no further than `most`.
    fn near(self, from: usize, most: usize, belong: impl Fn(u8) -> bool) -> usize {
        let near = self.rest(from).iter().take(most);
        from + near.take_while(|byte| belong(**byte)).count()
    }

    /// Where the run of bytes that `belong` begins, looking back from `to`.
    fn back(self, to: usize, belong: impl Fn(u8) -> bool) -> usize {
        let near = self.slice(to.saturating_sub(REACH)..to);
        to - near.iter().rev().take_while(|byte| belong(**byte)).count()
    }

    /// A token that can be told by its beginning.
    pub(super) fn token(self, at: usize) -> Option<Range<usize>> {
        // Two letters rule out nearly every word.
        if !matches!(
            (self.byte(at)?, self.byte(at + 1)?),
            (b's' | b'w', b'h')
                | (b's', b'k')
                | (b'g', b'h' | b'i' | b'l')
                | (b'x', b'o' | b'a')
                | (b'h', b'f')
                | (b'e' | b'p', b'y')
                | (b'd', b'c')
                | (b'A', b'I' | b'K' | b'S')
                | (b'n', b'p')
        ) {
            return None;
        }
        let rest = self.rest(at);
        let near = rest.get(..REACH).unwrap_or(rest);
        if known(near) {
            return Some(at..self.run(at, in_token));
        }
        near.starts_with(b"eyJ").then(|| self.web_token(at)).flatten()
    }

    /// Three parts with dots between, as a JSON web token has them.
    fn web_token(self, at: usize) -> Option<Range<usize>> {
        let header = self.near(at, 4 * REACH, in_token);
        if self.byte(header) != Some(b'.') {
            return None;
        }
        let payload = self.run(header + 1, in_token);
        let end = self.run(payload + 1, in_token);
        let dotted = self.byte(payload) == Some(b'.');
        let long = header - at > 9 && payload - header > 9 && end > payload + 8;
        (dotted && long).then_some(at..end)
    }

    /// A private key from its first line to its last, or to the end when it was cut.
    fn private_key(self, at: usize) -> Option<Range<usize>> {
        let rest = self.rest(at);
        let title = rest.strip_prefix(b"-----BEGIN ")?;
        let title = title.get(..title.iter().take(64).position(|byte| *byte == b'-')?)?;
        position(title, b"PRIVATE KEY")?;
        let close = position(rest, b"-----END ").map(|end| at + end + b"-----END ".len());
        let dashes = close.map(|close| self.run(close, |byte| byte != b'-'));
        Some(at..dashes.map_or(self.0.len(), |dashes| self.run(dashes, |byte| byte == b'-')))
    }

    /// The value in `--password VALUE`.
    fn flagged(self, at: usize) -> Option<Range<usize>> {
        let name = at + self.rest(at).strip_prefix(b"--").map(|_| 2)?;
        let end = self.run(name, |byte| byte == b'-' || byte == b'_' || byte.is_ascii_alphanumeric());
        let start = self.run(end, |byte| byte == b' ');
        if start == end || !named(self.slice(name..end)) {
            return None;
        }
        self.quoted(start).or_else(|| {
            let value = self.bare(start)?;
            let text = self.slice(value.clone());
            (!text.starts_with(b"-") && !word(text)).then(|| self.whole(&value))
        })
    }

    /// The password in `scheme://user:password@host`, or a user long enough to be a token.
    fn in_url(self, at: usize) -> Option<Range<usize>> {
        let start = at + self.rest(at).strip_prefix(b"://").map(|_| 3)?;
        let host = |byte: u8| byte > b' ' && !b"/?#\"'`<>\\".contains(&byte);
        let authority = self.slice(start..self.near(start, REACH, host));
        let end = start + authority.iter().rposition(|byte| *byte == b'@')?;
        let colon = authority.iter().position(|byte| *byte == b':').map(|colon| start + colon + 1);
        let secret = match colon.filter(|colon| *colon <= end) {
            Some(colon) => colon..end,
            None if end - start >= 20 => start..end,
            None => return None,
        };
        (!secret.is_empty() && self.real(secret.start)).then_some(secret)
    }

    /// What follows a `=` or `:`, when a secret does.
    pub(super) fn assigned(self, at: usize) -> Option<Range<usize>> {
        self.value(at).or_else(|| self.in_url(at))
    }

    /// What follows dashes, when a secret does.
    pub(super) fn dashed(self, at: usize) -> Option<Range<usize>> {
        self.private_key(at).or_else(|| self.flagged(at))
    }

    /// The value in `password=VALUE`, `"token": "VALUE"` and their kin, with the sign at `at`.
    fn value(self, at: usize) -> Option<Range<usize>> {
        let name = self.name_before(at)?;
        let sign = self.sign(at)?;
        let start = self.run(at + sign, |byte| byte == b' ');
        if let Some(value) = self.quoted(start) {
            return self.after_scheme(value);
        }
        let value = self.bare(start).filter(|_| sign == 1)?;
        let text = self.slice(value.clone());
        if scheme(text) {
            let start = self.run(value.end, |byte| byte == b' ');
            return self.bare(start).map(|value| self.whole(&value));
        }
        let spaced = start > at + 1 || name.end < at && self.byte(at - 1) == Some(b' ');
        let secret = !spaced || mixed(text) || self.alone(at, &name, &value);
        let code = self.code(&value) || word(text) || text == self.slice(name);
        (secret && !code).then(|| self.whole(&value))
    }

    /// The length of a sign that assigns: comparisons, paths and addresses do not.
    fn sign(self, at: usize) -> Option<usize> {
        let before = at.checked_sub(1).and_then(|at| self.byte(at))?;
        match (before, self.byte(at)?, self.byte(at + 1)?) {
            (b':' | b'=' | b'!' | b'<' | b'>' | b'?' | b'/', ..) | (_, _, b':' | b'=') | (_, b':', b'/') => None,
            (_, b'=', b'>') => Some(2),
            _ => Some(1),
        }
    }

    /// Whether a value is a call or an index, cut short by what closes or quotes.
    fn code(self, value: &Range<usize>) -> bool {
        let text = self.slice(value.clone());
        let next = self.byte(value.end);
        let cut = next.is_some_and(|byte| b")]}\"'`,".contains(&byte));
        let bracket = |byte: &u8| b"([{".contains(byte);
        text.last().is_some_and(bracket) || cut && text.iter().any(bracket)
    }

    /// The secret name that ends in front of `at`, quotes aside.
    fn name_before(self, at: usize) -> Option<Range<usize>> {
        let end = self.back(at, |byte| b" \"'`\\".contains(&byte));
        let start = self.back(end, |byte| byte == b'-' || byte == b'_' || byte.is_ascii_alphanumeric());
        (at - end <= 4 && named(self.slice(start..end))).then_some(start..end)
    }

    /// A quoted value without the `Bearer` or the like in front.
    fn after_scheme(self, value: Range<usize>) -> Option<Range<usize>> {
        let first = self.run(value.start, |byte| byte.is_ascii_alphabetic());
        let start = self.run(first, |byte| byte == b' ');
        if start == first || start >= value.end || !scheme(self.slice(value.start..first)) {
            return Some(value);
        }
        self.real(start).then_some(start..value.end)
    }

    /// The inside of the quotes that open at `at`, to the end of the line when they do not close.
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
            // In quotes that are themselves escaped, the backslash belongs to the closing one.
            match self.byte(end) {
                Some(b'\\') if !escaped => end = (end + 2).min(self.0.len()),
                _ => break,
            }
        }
        (end > start).then_some(start..end)
    }

    /// A value without quotes, as much of it as is needed to judge it.
    fn bare(self, at: usize) -> Option<Range<usize>> {
        let end = self.near(at, REACH, in_value);
        (end > at && self.real(at)).then_some(at..end)
    }

    /// A value without quotes to its end.
    fn whole(self, value: &Range<usize>) -> Range<usize> {
        value.start..self.run(value.end, in_value)
    }

    /// Whether a value begins at `at` that is neither masked already nor the name of a variable.
    fn real(self, at: usize) -> bool {
        let text = self.rest(at);
        let variable = text.strip_prefix(b"$").and_then(<[u8]>::first);
        let named = variable.is_some_and(|byte| b"({_".contains(byte) || byte.is_ascii_uppercase());
        !named && !text.starts_with(MASK.as_bytes())
    }

    /// Whether `name: value` is all that its line holds, as in YAML.
    fn alone(self, at: usize, name: &Range<usize>, value: &Range<usize>) -> bool {
        let margin = self.back(name.start, |byte| b" -\"'".contains(&byte));
        let begins = margin == 0 || self.byte(margin - 1) == Some(b'\n');
        let ends = self.byte(value.end).is_none_or(|byte| matches!(byte, b'\n' | b'\r'));
        let small = self.byte(value.start).is_some_and(|byte| byte.is_ascii_lowercase());
        self.byte(at) == Some(b':') && begins && ends && small && value.len() > 2
    }
}
