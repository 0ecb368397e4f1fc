//! Brace expansion: `{a,b}` and `{1..3}`.

use super::word::UNKNOWN;
use super::word_parts;
use super::work::{ScanLimits, WorkBudget};

/// The most words that one word expands to.
const MANY: usize = 200;
/// The most braces in a word: the end of each is searched for.
const BRACES: usize = 40;

/// Expands the braces of a word.
pub(super) fn braces(raw: &str, budget: &WorkBudget) -> Vec<String> {
    let mut words = Vec::new();
    if raw.matches('{').count() <= BRACES && unfolded(raw, ScanLimits { depth: 8, budget }, &mut words) {
        return words;
    }
    // Too many to expand: the word is unknown, but its substitutions are still found.
    vec![format!("{UNKNOWN}{raw}")]
}

/// Expands a word; false if there are too many results.
fn unfolded(raw: &str, limits: ScanLimits<'_>, words: &mut Vec<String>) -> bool {
    let Some((before, choices, after)) = raw.contains('{').then(|| first(raw, limits)).flatten() else {
        words.push(raw.to_owned());
        return words.len() <= MANY;
    };
    let Some(limits) = limits.nested().filter(|limits| limits.budget.spend(raw.len() / 8)) else { return false };
    choices.iter().all(|choice| unfolded(&format!("{before}{choice}{after}"), limits, words))
}

/// Splits a word at its first brace expression: the text before, the choices, the text after.
fn first<'t>(raw: &'t str, limits: ScanLimits<'_>) -> Option<(&'t str, Vec<String>, &'t str)> {
    let mut at = 0;
    while let Some(rest) = raw.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with('{')
            && let Some((choices, length)) = expression(rest, limits)
        {
            return Some((raw.get(..at)?, choices, raw.get(at + length..)?));
        }
        at += length(rest, limits)?;
    }
    None
}

fn length(text: &str, limits: ScanLimits<'_>) -> Option<usize> {
    word_parts::part(text, false, ScanLimits { depth: 20, ..limits }).map(|(_, length)| length)
}

fn expression(text: &str, limits: ScanLimits<'_>) -> Option<(Vec<String>, usize)> {
    let (mut at, mut inside, mut begin) = (1, 0_usize, 1);
    let mut choices = Vec::new();
    loop {
        let rest = text.get(at..)?;
        match rest.chars().next()? {
            '{' => inside += 1,
            '}' if inside == 0 => break,
            '}' => inside -= 1,
            ',' if inside == 0 => {
                choices.push(text.get(begin..at)?.to_owned());
                begin = at + 1;
            }
            _ => {}
        }
        at += length(rest, limits)?;
    }
    let last = text.get(begin..at)?;
    if choices.is_empty() {
        choices = range(last)?;
    } else {
        choices.push(last.to_owned());
    }
    Some((choices, at + 1))
}

fn range(text: &str) -> Option<Vec<String>> {
    let mut ends = text.split("..");
    let (from, to, step) = (ends.next()?, ends.next()?, ends.next());
    let step = step.map_or(Some(1), |step| step.parse::<i64>().ok())?.unsigned_abs().max(1);
    let letter = |text: &str| text.chars().next().filter(|c| text.len() == 1 && c.is_ascii_alphabetic());
    let (low, high, show): (i64, i64, fn(i64) -> String) = match (letter(from), letter(to)) {
        (Some(from), Some(to)) => {
            let show = |n: i64| u8::try_from(n).map_or_else(|_| String::new(), |n| char::from(n).to_string());
            (i64::from(u32::from(from)), i64::from(u32::from(to)), show)
        }
        _ => (from.parse().ok()?, to.parse().ok()?, |n: i64| n.to_string()),
    };
    let count = usize::try_from(low.abs_diff(high) / step).ok().filter(|count| *count < MANY)?;
    let step = i64::try_from(step).ok()?;
    let step = if low <= high { step } else { -step };
    let at = |n: usize| low.saturating_add(i64::try_from(n).unwrap_or(0).saturating_mul(step));
    Some((0..=count).map(|n| show(at(n))).collect())
}
