//! How often the parser may restart at a backtick, which determines how long it takes.

/// An upper bound for how often the parser reads a part of a text again.
///
/// It reads what follows a backtick as commands. If that fails, it takes the text up to the next backtick and goes on from
/// there. Where a quote or a bracket is open then, the next backtick begins commands again, which may fail in turn.
pub(super) fn restarts(text: &str) -> usize {
    if !text.contains('`') || !text.contains(['"', '(', '{']) {
        return 0;
    }
    // The work at a backtick is the sum of the work at the next two.
    (0..backticks(text)).fold((0_usize, 1_usize), |(one, next), _| (next, one.saturating_add(next))).0
}

/// The backticks of a text, without those in here-documents that the parser certainly skips: the delimiter is quoted, and
/// nothing before it could make it part of a comment, a quotation or a calculation.
fn backticks(text: &str) -> usize {
    let (mut count, mut is_plain, mut delimiter) = (0, true, None);
    for line in text.split('\n') {
        if let Some(end) = delimiter {
            delimiter = (line != end).then_some(end);
            continue;
        }
        count += line.matches('`').count();
        let Some((command, document)) = line.split_once("<<") else {
            is_plain &= has_only_plain_words(line);
            continue;
        };
        let quoted = document.trim_start_matches(' ').strip_prefix('\'').and_then(|rest| rest.split_once('\''));
        is_plain &= has_only_plain_words(command) && quoted.is_some_and(|(_, rest)| has_only_plain_words(rest));
        delimiter = quoted.map(|(word, _)| word).filter(|_| is_plain);
    }
    count
}

/// Whether a part of a command line has no quotes, brackets, comments or escapes.
fn has_only_plain_words(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" ./_-=>|&;,:@%+~*".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_grows_with_the_backticks() {
        for (text, expected) in
            [("echo \"a\"", 0), ("echo `a` `b` `c`", 0), ("echo \"`a`\"", 1), ("cat <<'E'\n`\"` `(` `{` `$(`\nE\n", 0)]
        {
            assert_eq!(restarts(text), expected, "{text}");
        }
        for start in ["cd x && cat > y.md <<'E'", "mkdir x\ncat >> y.md << 'E' | tee z"] {
            assert_eq!(restarts(&format!("{start}\n`(`\nE\necho \"`a`\"")), 1, "{start}");
        }
        // The parser reads the second line of these.
        for start in
            ["a # <<'E'", "a \\<<'E'", "echo $((1<<'2'))", "echo '\na <<'E'", "a <<'E' <<F", "a <<\"E\"", "a <<E"]
        {
            assert_eq!(restarts(&format!("{start}\n`(``")), 2, "{start}");
        }
        assert_eq!(restarts(&"$(`".repeat(12)), 144);
        assert_eq!(restarts(&"$(`".repeat(500)), usize::MAX);
    }
}
