//! Lines and columns of a text, found without reading it again for each.

use super::Location;

/// How many bytes are counted together.
const BLOCK: usize = 512;

/// The text of a file, with what is needed to find the line and column of any byte.
pub(super) struct Positions<'t> {
    bytes: &'t [u8],
    /// Where each line begins.
    lines: Vec<usize>,
    /// The number of characters before each block.
    characters: Vec<usize>,
}

impl<'t> Positions<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let bytes = text.as_bytes();
        let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        let mut characters = vec![0];
        let mut count = 0;
        for block in bytes.chunks(BLOCK) {
            count += characters_in(block);
            characters.push(count);
        }
        Self { bytes, lines: [0].into_iter().chain(ends).collect(), characters }
    }

    /// The part of a line that `start..end` covers, from its beginning.
    pub(super) fn location(&self, start: usize, end: usize) -> Location {
        let start = start.min(self.bytes.len());
        let line = self.lines.partition_point(|begin| *begin <= start);
        let begin = self.lines.get(line.saturating_sub(1)).copied().unwrap_or_default();
        let line_end = self.lines.get(line).map_or(self.bytes.len(), |next| next - 1);
        let is_return = |at: usize| self.bytes.get(at) == Some(&b'\r') && line_end < self.bytes.len();
        let line_end = line_end.checked_sub(1).filter(|at| is_return(*at)).unwrap_or(line_end);
        let width = self.before(end.min(line_end)).saturating_sub(self.before(start)).max(1);
        Location { line, column: self.before(start) - self.before(begin) + 1, width }
    }

    /// The number of characters before a byte.
    fn before(&self, at: usize) -> usize {
        let block = at / BLOCK;
        let rest = self.bytes.get(block * BLOCK..at).unwrap_or_default();
        self.characters.get(block).copied().unwrap_or_default() + characters_in(rest)
    }
}

/// Counts the bytes that begin a character.
fn characters_in(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_columns_and_widths_are_counted_in_characters() {
        let text = format!("{}\nab\r\näöü x\n", "é".repeat(600));
        let positions = Positions::of(&text);
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
