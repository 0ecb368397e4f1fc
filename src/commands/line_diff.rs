//! The differences of two texts, line by line, in the unified format.

const CONTEXT: usize = 2;

/// Texts whose changed parts have more pairs of lines than this are shown as removed and added as a whole.
const MOST_PAIRS: usize = 4_000_000;

/// A line with its sign: `-` if only the old text has it, `+` if only the new one, else a space.
type DiffLine<'t> = (char, &'t str);

/// The unified diff, without a header; empty for equal texts.
pub(super) fn unified(before: &str, after: &str) -> String {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let lines = lines(&old, &new);
    let mut shown = String::new();
    for (from, to) in hunks(&lines) {
        let (earlier, hunk) = (lines.get(..from).unwrap_or_default(), lines.get(from..to).unwrap_or_default());
        // The lines of a text are those without the sign of the other.
        let range = |other: char| {
            let count = |lines: &[DiffLine<'_>]| lines.iter().filter(|(sign, _)| *sign != other).count();
            match (count(earlier), count(hunk)) {
                (start, 0) => format!("{start},0"),
                (start, 1) => (start + 1).to_string(),
                (start, count) => format!("{},{count}", start + 1),
            }
        };
        shown.extend(["@@ -", &range('+'), " +", &range('-'), " @@\n"]);
        for (sign, text) in hunk {
            shown.push(*sign);
            shown += text;
            if !text.ends_with('\n') {
                shown += "\n\\ No newline at end of file\n";
            }
        }
    }
    shown
}

fn lines<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<DiffLine<'t>> {
    let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let ((head, old), (_, new)) = (old.split_at(start), new.split_at(start));
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let ((old, tail), (new, _)) = (old.split_at(old.len() - end), new.split_at(new.len() - end));
    let kept = |line: &&'t str| (' ', *line);
    head.iter().map(kept).chain(changed(old, new)).chain(tail.iter().map(kept)).collect()
}

/// The lines of two texts without a common beginning or end: a longest common subsequence is kept.
fn changed<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<DiffLine<'t>> {
    if old.len().saturating_mul(new.len()) > MOST_PAIRS {
        return old.iter().map(|text| ('-', *text)).chain(new.iter().map(|text| ('+', *text))).collect();
    }
    // `lengths[at][other]`: the most lines that the texts from there on have in common.
    let mut lengths = vec![vec![0_u32; new.len() + 1]; old.len() + 1];
    let length = |lengths: &[Vec<u32>], at: usize, other: usize| {
        lengths.get(at).and_then(|row| row.get(other)).copied().unwrap_or_default()
    };
    for (at, text) in old.iter().enumerate().rev() {
        for (other, candidate) in new.iter().enumerate().rev() {
            let best = if text == candidate {
                length(&lengths, at + 1, other + 1) + 1
            } else {
                length(&lengths, at + 1, other).max(length(&lengths, at, other + 1))
            };
            if let Some(cell) = lengths.get_mut(at).and_then(|row| row.get_mut(other)) {
                *cell = best;
            }
        }
    }
    let (mut at, mut other, mut lines) = (0, 0, Vec::new());
    loop {
        match (old.get(at), new.get(other)) {
            (Some(text), Some(candidate)) if text == candidate => {
                lines.push((' ', *text));
                (at, other) = (at + 1, other + 1);
            }
            (Some(text), candidate)
                if candidate.is_none() || length(&lengths, at + 1, other) >= length(&lengths, at, other + 1) =>
            {
                lines.push(('-', *text));
                at += 1;
            }
            (_, Some(candidate)) => {
                lines.push(('+', *candidate));
                other += 1;
            }
            (_, None) => return lines,
        }
    }
}

/// The parts with changes, and the lines around them.
fn hunks(lines: &[DiffLine<'_>]) -> Vec<(usize, usize)> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for (at, _) in lines.iter().enumerate().filter(|(_, (sign, _))| *sign != ' ') {
        let (from, to) = (at.saturating_sub(CONTEXT), (at + CONTEXT + 1).min(lines.len()));
        match ranges.last_mut() {
            Some((_, end)) if from <= *end => *end = to,
            _ => ranges.push((from, to)),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::unified;

    #[test]
    fn changes_are_shown_with_their_surroundings() {
        let before = "a\nb\nc\nd\ne\nf\ng\nh\ni\n";
        let after = "a\nb\nc\nD\ne\nf\ng\nh\ni\nj\n";
        let shown = "@@ -2,5 +2,5 @@\n b\n c\n-d\n+D\n e\n f\n@@ -8,2 +8,3 @@\n h\n i\n+j\n";
        assert_eq!(unified(before, after), shown);
        assert_eq!(unified(before, before), "");
    }

    #[test]
    fn a_new_and_a_removed_file() {
        assert_eq!(unified("", "a\nb\n"), "@@ -0,0 +1,2 @@\n+a\n+b\n");
        assert_eq!(unified("a\n", ""), "@@ -1 +0,0 @@\n-a\n");
        assert_eq!(unified("a", "b\n"), "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n");
    }

    #[test]
    fn moved_lines_are_removed_and_added() {
        assert_eq!(unified("a\nb\nc\n", "b\nc\na\n"), "@@ -1,3 +1,3 @@\n-a\n b\n c\n+a\n");
    }

    /// Whatever the texts are, the diff turns one into the other.
    #[test]
    fn a_diff_has_all_lines_of_both_texts() {
        let words = ["a\n", "b\n", "c\n", "\n"];
        let text = |seed: usize| (0..seed % 9).map(|at| words[(seed / 7 + at * seed) % 4]).collect::<String>();
        for (one, two) in (0..60).flat_map(|one| (0..60).map(move |two| (one, two))) {
            let (before, after) = (text(one), text(two));
            let lines: Vec<_> = before.split_inclusive('\n').collect();
            let all = super::lines(&lines, &after.split_inclusive('\n').collect::<Vec<_>>());
            let side = |sign| all.iter().filter(|line| line.0 != sign).map(|line| line.1).collect::<String>();
            assert_eq!((side('+'), side('-')), (before, after));
        }
    }
}
