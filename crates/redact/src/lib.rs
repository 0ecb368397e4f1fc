//! Finds secrets in texts and command lines.
//!
//! Every event is searched for tokens, for values next to the name of a secret, and with a few patterns. What leaves the
//! machine is searched with more effort: for the tokens of many services, programs that take a password as an argument,
//! and sentences that mention one.

mod rules;
mod scanner;
mod values;
pub mod walk;

pub use values::{is_placeholder, is_secret_export_name};

use regex::{Captures, Regex, RegexSet, RegexSetBuilder};
use rules::{EVENT_PATTERNS, EXPORT_PATTERNS};
use scanner::named_secrets;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};
use values::{ValueFilter, is_auth_scheme};

/// Replaces a secret.
pub const MASK: &str = "[masked]";

/// How often a text is searched: a mask can change which quotes belong together, and so show another secret.
const MOST_SEARCHES: usize = 4;

/// A text with its secrets masked.
#[must_use]
pub fn masked_text(text: &str) -> String {
    let mut masked = masked_once(text);
    for _ in 1..MOST_SEARCHES {
        let Some(again) = masked.as_deref().and_then(masked_once) else { break };
        masked = Some(again);
    }
    masked.unwrap_or_else(|| text.to_owned())
}

/// A text with the secrets masked that one search finds; `None` if this changes nothing.
fn masked_once(text: &str) -> Option<String> {
    let secrets = joined(find_secrets(text));
    let mut masked = String::with_capacity(text.len());
    let mut done = 0;
    for secret in secrets {
        masked.push_str(text.get(done..secret.start)?);
        masked.push_str(MASK);
        done = secret.end;
    }
    masked.push_str(text.get(done..)?);
    (masked != text).then_some(masked)
}

/// Whether the values with this name are secret.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    values::is_secret_name(name.as_bytes())
}

/// The secrets of a text that every event is searched for.
fn find_secrets(text: &str) -> Vec<Range<usize>> {
    static COMPILED: [OnceLock<Option<Regex>>; EVENT_PATTERNS.len()] =
        [const { OnceLock::new() }; EVENT_PATTERNS.len()];
    let mut found = named_secrets(text);
    for ((filter, signs, pattern), compiled) in EVENT_PATTERNS.iter().zip(&COMPILED) {
        if signs.iter().any(|sign| text.contains(sign))
            && let Some(regex) = compiled.get_or_init(|| Regex::new(pattern).ok())
        {
            found.extend(pattern_secrets(text, regex, *filter, unquoted));
        }
    }
    found
}

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

/// The secrets of a text that leaves the machine, in order and without overlaps.
#[must_use]
pub fn find_export_secrets(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = find_secrets(text).into_iter().map(|range| trimmed(text, range)).collect();
    let matching: Vec<usize> = match &PATTERNS.which {
        Some(which) => which.matches(text).into_iter().collect(),
        None => (0..PATTERNS.regexes.len()).collect(),
    };
    for (regex, filter) in matching.into_iter().filter_map(|at| PATTERNS.regexes.get(at)) {
        found.extend(pattern_secrets(text, regex, *filter, trimmed));
    }
    joined(found)
}

/// The matches of a pattern that are secrets, each without what `cut` removes.
fn pattern_secrets(
    text: &str,
    regex: &Regex,
    filter: ValueFilter,
    cut: fn(&str, Range<usize>) -> Range<usize>,
) -> Vec<Range<usize>> {
    let secret = |captures: Captures<'_>| {
        let range = cut(text, captures.iter().flatten().last()?.range());
        filter.accepts(text.get(range.clone())?).then_some(range)
    };
    regex.captures_iter(text).filter_map(secret).collect()
}

/// The secret part of a field's value: without a leading `Bearer`.
#[must_use]
pub fn secret_part(value: &str) -> &str {
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

/// The range without the quotes around it.
fn unquoted(text: &str, range: Range<usize>) -> Range<usize> {
    let own = text.get(range.clone()).unwrap_or_default();
    let is_quoted = own.len() > 1 && ["\"", "'"].iter().any(|quote| own.starts_with(quote) && own.ends_with(quote));
    if is_quoted { range.start + 1..range.end - 1 } else { range }
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
mod tests;
