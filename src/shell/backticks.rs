//! How often the parser may begin again at a backtick, which decides how long it takes.

use super::substitutions::lines_with_substitutions;

/// An upper bound of how often the parser reads a part of a text again.
///
/// It reads what follows a backtick as commands. If that fails, it takes the text up to the next backtick and goes on from
/// there. Where a quote or a bracket is open then, the next backtick begins commands again, which may fail in turn.
pub(super) fn restarts(text: &str) -> usize {
    if !text.contains('`') || !text.contains(['"', '(', '{']) {
        return 0;
    }
    let backticks: usize = lines_with_substitutions(text).map(|line| line.matches('`').count()).sum();
    // The work at a backtick is that at the next two together.
    (0..backticks).fold((0_usize, 1_usize), |(one, next), _| (next, one.saturating_add(next))).0
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
        assert_eq!(restarts(&"$(`".repeat(12)), 144);
        assert_eq!(restarts(&"$(`".repeat(500)), usize::MAX);
    }
}
