//! Lines and columns of a text, found without reading it again for each.

use super::Location;

/// Of what is longer than any line that people write, the width is counted in bytes: counting characters would take long.
const LONGEST_LINE: usize = 4 * 1024;

/// The text of a file, with what is needed to find the line and column of any byte.
pub(super) struct Positions<'t> {
    text: &'t str,
    /// Where each line begins.
    lines: Vec<usize>,
}

impl<'t> Positions<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { text, lines: [0].into_iter().chain(ends).collect() }
    }

    /// The part of a line that `start..end` covers, from its beginning.
    pub(super) fn location(&self, start: usize, end: usize) -> Location {
        let [start, end] = [start, end].map(|at| at.min(self.text.len()));
        let line = self.lines.partition_point(|begin| *begin <= start);
        let begin = self.lines.get(line.saturating_sub(1)).copied().unwrap_or_default();
        let before = self.text.get(begin..start).unwrap_or_default();
        let covered = self.text.get(start..end).unwrap_or_default().lines().next().unwrap_or_default();
        Location { line, column: width(before) + 1, width: width(covered).max(1) }
    }
}

fn width(text: &str) -> usize {
    if text.len() > LONGEST_LINE { text.len() } else { text.chars().count() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_columns_and_widths_are_counted_in_characters() {
        let text = format!("{}\nab\r\näöü x\n", "é".repeat(600));
        let positions = Positions::new(&text);
        let at = |word: &str, length: usize| {
            let start = text.find(word).unwrap();
            let Location { line, column, width } = positions.location(start, start + length);
            (line, column, width)
        };
        assert_eq!(at("é", 1200), (1, 1, 600));
        assert_eq!(at("é\n", 3), (1, 600, 1));
        assert_eq!(at("ab", 20), (2, 1, 2));
        assert_eq!(at("öü", 4), (3, 2, 2));
        assert_eq!(at("x", 9), (3, 5, 1));
        assert_eq!(positions.location(text.len() + 5, text.len() + 9), Location { line: 4, column: 1, width: 1 });
    }
}
