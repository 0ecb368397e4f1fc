//! The maximum nesting of substitutions in a text, which determines how long the parser takes.

/// An open parenthesis, whose text is read as bash would.
struct OpenParenthesis {
    /// Whether it begins a substitution: `$(`, `<(`, `>(`.
    substitutes: bool,
    /// Whether its text is in double quotes at present.
    quoted: bool,
    /// Whether its end cannot be determined: a here-document, a comment, a `case`, a parenthesis in quotes.
    endless: bool,
}

/// An upper bound for the nesting of substitutions. Quotes outside of them are ignored, so that none is missed.
pub(super) fn nesting(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut open: Vec<OpenParenthesis> = Vec::new();
    let (mut depth, mut deepest, mut at) = (0_usize, 0, 0);
    while let Some(byte) = bytes.get(at) {
        let next = bytes.get(at + 1).copied().unwrap_or_default();
        let before = at.checked_sub(1).and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
        let rest = text.get(at..).unwrap_or_default();
        at += 1;
        match (byte, open.last_mut()) {
            (b'(', top) => {
                let substitutes = b"$<>".contains(&before);
                if substitutes || top.is_some_and(|top| !top.quoted) {
                    open.push(OpenParenthesis { substitutes, quoted: false, endless: false });
                    depth += usize::from(substitutes);
                    deepest = deepest.max(depth);
                }
            }
            (b')', Some(top)) if !top.quoted && !top.endless => {
                depth -= usize::from(top.substitutes);
                open.pop();
            }
            (b'"', Some(top)) => top.quoted = !top.quoted,
            (b'\\', Some(_)) if next != b'$' => at += 1,
            (b'\'', Some(top)) if !top.quoted => match rest.get(1..).and_then(|rest| rest.split_once('\'')) {
                Some((inside, _)) if before != b'$' && !inside.contains(['(', ')']) => at += inside.len() + 1,
                _ => top.endless = true,
            },
            (b'#' | b'`', Some(top)) => top.endless |= *byte == b'`' || before.is_ascii_whitespace(),
            (b'<', Some(top)) if next == b'<' => top.endless = true,
            (b'c', Some(top)) if rest.starts_with("case") => top.endless = true,
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn substitutions_that_end_are_not_nested() {
        for (text, deepest) in [
            ("echo a (b)", 0),
            ("echo $(a) $(b 'c d') \"$(e \"f\")\" <(g)", 1),
            ("echo $(a $(b) $(c)) $(d)", 2),
            ("echo '$(' \"it's $(a)\"", 2),
            ("git commit -m \"$(cat <<'E'\nit's $(a)\nE\n)\"; echo $(b)", 2),
            ("$(echo ')' $(echo ')' $(a)))", 3),
            ("$(case x in a) $(case x in a) $(a);; esac);; esac)", 3),
            ("it's <<E\n'\nE\n $( $( $(a)))", 3),
            ("echo '$(' $( $(a) ) '", 3),
        ] {
            assert_eq!(nesting(text), deepest, "{text}");
        }
    }
}
