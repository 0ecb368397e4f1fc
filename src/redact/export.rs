//! Finds secrets in text that leaves the machine, with more effort than an event allows.
//!
//! In addition to the rules of the journal it knows the tokens of many services, programs that take a password as an
//! argument, and sentences that mention one.

pub(crate) use super::shape::{is_placeholder, is_secret_export_name};

use super::rules::EXPORT_PATTERNS;
use super::scanner::find_secrets;
use super::shape::{ValueFilter, is_auth_scheme, random_words};
use regex::{Captures, Regex, RegexSet, RegexSetBuilder};
use std::ops::Range;
use std::sync::LazyLock;

/// The export patterns, and a set that shows in one pass which of them match: most texts match none.
struct CompiledPatterns {
    regexes: Vec<(Regex, ValueFilter)>,
    which: Option<RegexSet>,
}

/// The memory limit of the compiled set, in bytes.
const SIZE_LIMIT: usize = 1 << 28;

static PATTERNS: LazyLock<CompiledPatterns> = LazyLock::new(|| {
    let rows = || EXPORT_PATTERNS.iter().flat_map(|(filter, patterns)| patterns.iter().map(|own| (*own, *filter)));
    let set = RegexSetBuilder::new(rows().map(|(pattern, _)| pattern));
    CompiledPatterns {
        regexes: rows().filter_map(|(pattern, filter)| Some((Regex::new(pattern).ok()?, filter))).collect(),
        which: { set }.size_limit(SIZE_LIMIT).dfa_size_limit(SIZE_LIMIT).build().ok(),
    }
});

/// The secrets of a text, in order and without overlaps.
pub(crate) fn find_export_secrets(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = find_secrets(text).into_iter().map(|range| trimmed(text, range)).collect();
    let matching: Vec<usize> = match &PATTERNS.which {
        Some(which) => which.matches(text).into_iter().collect(),
        None => (0..PATTERNS.regexes.len()).collect(),
    };
    for (regex, filter) in matching.into_iter().filter_map(|at| PATTERNS.regexes.get(at)) {
        let secret = |captures: Captures<'_>| {
            let range = trimmed(text, captures.name("s").or_else(|| captures.get(0))?.range());
            filter.accepts(text.get(range.clone())?).then_some(range)
        };
        found.extend(regex.captures_iter(text).filter_map(secret));
    }
    found.extend(random_words(text));
    joined(found)
}

/// The secret part of a field's value: without a leading `Bearer`.
pub(crate) fn secret_part(value: &str) -> &str {
    let (first, rest) = value.split_once(' ').unwrap_or((value, ""));
    let rest = rest.trim();
    if !rest.is_empty() && is_auth_scheme(first.as_bytes()) { rest } else { value.trim() }
}

/// The range without closing punctuation, so that a secret is the same text wherever it occurs.
fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let whole = text.get(range.clone()).unwrap_or_default();
    let value = whole.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}', '>']);
    if value.is_empty() { range } else { range.start..range.start + value.len() }
}

/// Ranges in order; overlapping ones are joined.
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
    fn every_pattern_compiles() {
        let count: usize = EXPORT_PATTERNS.iter().map(|(_, patterns)| patterns.len()).sum();
        assert_eq!(PATTERNS.regexes.len(), count);
        assert!(PATTERNS.which.is_some());
    }

    #[test]
    fn the_name_of_a_secret_is_recognized() {
        for name in ["DB_PASS", "MYSQL_PWD", "passphrase", "client_secret", "Cookie", "private_key_id", "Kennwort"] {
            assert!(is_secret_export_name(name), "{name}");
        }
        for name in ["PWD", "OLDPWD", "session_id", "max_tokens", "compass_point", "key", "bypass", "author"] {
            assert!(!is_secret_export_name(name), "{name}");
        }
    }

    #[test]
    fn the_scheme_is_not_part_of_the_secret() {
        assert_eq!(secret_part("Bearer abc"), "abc");
        assert_eq!(secret_part("abc def"), "abc def");
    }
}
