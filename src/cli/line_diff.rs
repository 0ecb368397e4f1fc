//! The differences of two texts, line by line, in the unified format.

/// How many unchanged lines are shown around a change.
const CONTEXT: usize = 2;

/// Texts whose changed parts have more pairs of lines than this are shown as removed and added as a whole.
const MOST_PAIRS: usize = 4_000_000;

/// A line of either text, and where it is in both.
struct DiffLine<'t> {
    sign: char,
    text: &'t str,
    old: usize,
    new: usize,
}

/// The unified diff, without a header; empty for equal texts.
pub(super) fn unified(before: &str, after: &str) -> String {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let lines = lines(&old, &new);
    let mut shown = String::new();
    for hunk in hunks(&lines) {
        let range = |start: usize, sign: char| {
            let count = hunk.iter().filter(|line| line.sign != sign).count();
            let first = if count == 0 { start } else { start + 1 };
            if count == 1 { first.to_string() } else { format!("{first},{count}") }
        };
        let Some(first) = hunk.first() else { continue };
        shown.extend(["@@ -", &range(first.old, '+'), " +", &range(first.new, '-'), " @@\n"]);
        for line in hunk {
            shown.push(line.sign);
            shown += line.text;
            if !line.text.ends_with('\n') {
                shown += "\n\\ No newline at end of file\n";
            }
        }
    }
    shown
}

/// All lines of both texts in order: kept, removed or added.
fn lines<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<DiffLine<'t>> {
    let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let rest = |lines: &[&'t str]| lines.get(start..).unwrap_or_default().to_vec();
    let (mut old_middle, mut new_middle) = (rest(old), rest(new));
    while let (Some(last), Some(other)) = (old_middle.last(), new_middle.last())
        && last == other
    {
        old_middle.pop();
        new_middle.pop();
    }
    let kept = common(&old_middle, &new_middle);
    let ends = kept.into_iter().map(|(old, new)| (start + old, start + new));
    let ends: Vec<(usize, usize)> = (0..start)
        .map(|at| (at, at))
        .chain(ends)
        .chain((start + old_middle.len()..old.len()).zip(start + new_middle.len()..new.len()))
        .chain([(old.len(), new.len())])
        .collect();
    let mut all = Vec::new();
    let (mut at, mut other) = (0, 0);
    for (kept_old, kept_new) in ends {
        let line = |text: &&'t str, sign, old, new| DiffLine { sign, text, old, new };
        let removed = old.iter().enumerate().take(kept_old).skip(at);
        all.extend(removed.map(|(at, text)| line(text, '-', at, other)));
        let added = new.iter().enumerate().take(kept_new).skip(other);
        all.extend(added.map(|(other, text)| line(text, '+', kept_old, other)));
        all.extend(old.get(kept_old).map(|text| line(text, ' ', kept_old, kept_new)));
        (at, other) = (kept_old + 1, kept_new + 1);
    }
    all
}

/// The positions of a longest common subsequence.
fn common(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    if old.len().saturating_mul(new.len()) > MOST_PAIRS {
        return Vec::new();
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
    let (mut at, mut other, mut kept) = (0, 0, Vec::new());
    while let (Some(text), Some(candidate)) = (old.get(at), new.get(other)) {
        if text == candidate {
            kept.push((at, other));
            (at, other) = (at + 1, other + 1);
        } else if length(&lengths, at + 1, other) >= length(&lengths, at, other + 1) {
            at += 1;
        } else {
            other += 1;
        }
    }
    kept
}

/// The parts with changes, and the lines around them.
fn hunks<'l, 't>(lines: &'l [DiffLine<'t>]) -> Vec<&'l [DiffLine<'t>]> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for (at, _) in lines.iter().enumerate().filter(|(_, line)| line.sign != ' ') {
        let (from, to) = (at.saturating_sub(CONTEXT), (at + CONTEXT + 1).min(lines.len()));
        match ranges.last_mut() {
            Some((_, end)) if from <= *end => *end = to,
            _ => ranges.push((from, to)),
        }
    }
    ranges.into_iter().filter_map(|(from, to)| lines.get(from..to)).collect()
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
            let side = |sign| all.iter().filter(|line| line.sign != sign).map(|line| line.text).collect::<String>();
            assert_eq!((side('+'), side('-')), (before, after));
        }
    }
}
