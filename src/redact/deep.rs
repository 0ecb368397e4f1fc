//! Secrets in a text that leaves the machine: looked for with more patience than an event allows.
//!
//! The journal masks in passing, at every event. What is exported is read once more, with expressions for the tokens
//! of many services, for programs that take a password as an argument, and for sentences that tell one.

mod places;
mod shape;
mod tokens;

use super::secrets;
use regex::{Regex, RegexSet, RegexSetBuilder};
use shape::ValueFilter;
use std::ops::Range;
use std::sync::LazyLock;

/// An expression whose group `s`, or the whole of it, is a secret when the judge agrees.
struct SecretRule {
    pattern: Regex,
    judge: ValueFilter,
}

/// All rules, and one look that tells which of them have anything to say: most texts need none.
struct RuleSet {
    rules: Vec<SecretRule>,
    which: Option<RegexSet>,
}

/// How much memory all expressions together may take, in bytes.
const ROOM: usize = 1 << 28;

static RULES: LazyLock<RuleSet> = LazyLock::new(|| {
    let tokens = tokens::PATTERNS.iter().map(|pattern| (*pattern, ValueFilter::Any));
    let all = || tokens.clone().chain(places::PATTERNS.iter().copied());
    let rules =
        all().filter_map(|(pattern, judge)| Some(SecretRule { pattern: Regex::new(pattern).ok()?, judge })).collect();
    let which = RegexSetBuilder::new(all().map(|(pattern, _)| pattern)).size_limit(ROOM).dfa_size_limit(ROOM).build();
    RuleSet { rules, which: which.ok() }
});

impl RuleSet {
    fn found(&self, text: &str) -> Vec<Range<usize>> {
        match &self.which {
            Some(which) => {
                let rules = which.matches(text).into_iter().filter_map(|at| self.rules.get(at));
                rules.flat_map(|rule| rule.found(text)).collect()
            }
            None => self.rules.iter().flat_map(|rule| rule.found(text)).collect(),
        }
    }
}

/// Where the secrets of a text lie, in order and apart from one another.
#[must_use]
pub fn secrets_in(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = secrets::secrets(text).into_iter().map(|range| trimmed(text, range)).collect();
    found.extend(RULES.found(text));
    found.extend(shape::random_words(text));
    joined(found)
}

/// Whether a name says that its value is secret.
#[must_use]
pub fn named(name: &str) -> bool {
    const MORE: [&str; 16] = [
        "pass",
        "pwd",
        "passwort",
        "kennwort",
        "passphrase",
        "passcode",
        "passwords",
        "secrets",
        "apikeys",
        "privatekeyid",
        "secretkey",
        "cookies",
        "connectionstring",
        "otp",
        "authtoken",
        "signingkey",
    ];
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let more = |ending: &str| plain.ends_with(ending) && !["oldpwd", "bypass"].contains(&plain.as_str());
    super::shape::named(name.as_bytes()) || plain != "pwd" && MORE.iter().any(|ending| more(ending))
}

/// The part of a secret field's value that is secret: without the `Bearer` in front.
#[must_use]
pub fn secret_part(value: &str) -> &str {
    let (first, rest) = value.split_once(' ').unwrap_or((value, ""));
    let rest = rest.trim();
    if !rest.is_empty() && super::shape::scheme(first.as_bytes()) { rest } else { value.trim() }
}

/// Whether a text stands for a value without being one: a variable, a blank, a mask.
#[must_use]
pub fn stands_for(text: &str) -> bool {
    shape::stands_for(text)
}

impl SecretRule {
    fn found(&self, text: &str) -> Vec<Range<usize>> {
        let secret = |found: regex::Captures<'_>| {
            let group = found.name("s").or_else(|| found.name("t")).or_else(|| found.get(0))?;
            let range = trimmed(text, group.range());
            self.judge.agrees(text.get(range.clone())?).then_some(range)
        };
        self.pattern.captures_iter(text).filter_map(secret).collect()
    }
}

/// The range without what closes a sentence or a bracket: one and the same secret ends alike everywhere.
fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let whole = text.get(range.clone()).unwrap_or_default();
    let value = whole.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}', '>']);
    if value.is_empty() { range } else { range.start..range.start + value.len() }
}

/// Ranges in order; those that meet are one.
fn joined(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    let mut apart: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match apart.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => apart.push(range),
        }
    }
    apart
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_expression_is_one() {
        assert_eq!(RULES.rules.len(), tokens::PATTERNS.len() + places::PATTERNS.len());
        assert!(RULES.which.is_some());
    }

    #[test]
    fn names_tell() {
        for name in ["DB_PASS", "MYSQL_PWD", "passphrase", "client_secret", "Cookie", "private_key_id", "Kennwort"] {
            assert!(named(name), "{name}");
        }
        for name in ["PWD", "OLDPWD", "session_id", "max_tokens", "compass_point", "key", "bypass", "author"] {
            assert!(!named(name), "{name}");
        }
    }

    #[test]
    fn a_scheme_is_no_secret() {
        assert_eq!(secret_part("Bearer abc"), "abc");
        assert_eq!(secret_part("abc def"), "abc def");
    }
}
