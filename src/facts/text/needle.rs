//! A text that every match of a regular expression has, found without compiling the expression.

use regex_syntax::hir::{Hir, HirKind};

/// Longer patterns are compiled: they may be too large, which is reported.
const LONGEST: usize = 200;

/// The most escapes: classes such as `\w` are a large part of a compiled pattern.
const ESCAPES: usize = 4;

/// A text that is in every match of `pattern`, which has compiled before; `None` if none is easily found.
pub(super) fn required_text(pattern: &str) -> Option<String> {
    if pattern.len() > LONGEST || pattern.contains('{') || pattern.matches('\\').count() > ESCAPES {
        return None;
    }
    let parsed = regex_syntax::parse(pattern).ok()?;
    String::from_utf8(longest_literal(&parsed)?.to_vec()).ok()
}

fn longest_literal(expression: &Hir) -> Option<&[u8]> {
    match expression.kind() {
        HirKind::Literal(literal) => Some(&literal.0),
        HirKind::Capture(group) => longest_literal(&group.sub),
        HirKind::Repetition(repeated) if repeated.min > 0 => longest_literal(&repeated.sub),
        HirKind::Concat(parts) => parts.iter().filter_map(longest_literal).max_by_key(|text| text.len()),
        _ => None,
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
            (r"rm\s+-rf?\s+/", Some("-r")),
            ("(npm|yarn) publish", Some(" publish")),
            (r"a(b(c|[)])\)d)efg*", Some("ef")),
            ("ab?c", Some("c")),
            ("x*?", None),
            ("a|b", None),
            ("(?i)deploy", None),
            ("de{2}p", None),
            (r"\x41bc", Some("Abc")),
            ("größe", Some("größe")),
            (r"\w\w\w\w\wabc", None),
            ("", None),
        ] {
            assert_eq!(required_text(pattern).as_deref(), needle, "{pattern}");
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
                let Some(needle) = required_text(&pattern) else { continue };
                let Ok(regex) = RegexBuilder::new(&pattern).multi_line(true).crlf(true).build() else { continue };
                for text in texts.iter().filter(|text| !text.contains(&needle)) {
                    assert!(!regex.is_match(text), "{pattern} {needle} {text:?}");
                }
            }
        }
    }
}
