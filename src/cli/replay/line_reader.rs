//! Reads the lines of a file in large blocks, in little memory whatever the size of the file.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// How much is read at once.
const BLOCK: usize = 4 * 1024 * 1024;

/// The byte order mark that some editors write.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// The longest line that is read.
pub(super) const LONGEST: usize = 10_000_000;

pub(super) struct LineReader {
    file: File,
    bytes: Vec<u8>,
    /// Where the next line begins, and how much of the buffer is filled.
    from: usize,
    filled: usize,
    /// Where the search for the next newline begins.
    searched: usize,
    number: u64,
    ended: bool,
}

/// A line that is not empty.
pub(super) struct RawLine<'a> {
    pub(super) number: u64,
    pub(super) bytes: Result<&'a [u8], TooLong>,
    /// Whether the line ends with a newline.
    pub(super) complete: bool,
}

/// A line that is skipped because of its size.
#[derive(Debug, thiserror::Error)]
#[error("the line has {0} bytes; the limit is {LONGEST}")]
pub(super) struct TooLong(usize);

impl LineReader {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let size = file.metadata().map_or(BLOCK, |meta| usize::try_from(meta.len()).unwrap_or(BLOCK));
        // One byte more than the file has, so that its end is seen without another buffer.
        let bytes = vec![0; size.saturating_add(1).clamp(4096, BLOCK)];
        Ok(Self { file, bytes, from: 0, filled: 0, searched: 0, number: 0, ended: false })
    }

    /// The next line that is not empty.
    pub(super) fn next(&mut self) -> io::Result<Option<RawLine<'_>>> {
        loop {
            self.number += 1;
            let Some((from, to, complete)) = self.advance()? else { return Ok(None) };
            let size = to - from;
            if size > LONGEST {
                let bytes = Err(TooLong(size));
                return Ok(Some(RawLine { number: self.number, bytes, complete }));
            }
            let bom = self.number == 1 && self.bytes.get(from..to).is_some_and(|line| line.starts_with(BOM));
            let from = if bom { from + BOM.len() } else { from };
            if !self.bytes.get(from..to).unwrap_or_default().trim_ascii().is_empty() {
                let bytes = Ok(self.bytes.get(from..to).unwrap_or_default());
                return Ok(Some(RawLine { number: self.number, bytes, complete }));
            }
        }
    }

    /// Moves past the next line; returns its start and end in the buffer, and whether it ends with a newline.
    fn advance(&mut self) -> io::Result<Option<(usize, usize, bool)>> {
        loop {
            let open = self.bytes.get(self.searched..self.filled).unwrap_or_default();
            if let Some(at) = memchr::memchr(b'\n', open) {
                let (from, to) = (self.from, self.searched + at);
                self.from = to + 1;
                self.searched = self.from;
                return Ok(Some((from, to, true)));
            }
            self.searched = self.filled;
            if self.ended {
                let (from, to) = (self.from, self.filled);
                self.from = to;
                return Ok((to > from).then_some((from, to, false)));
            }
            if self.filled - self.from > LONGEST {
                return self.skip_line().map(Some);
            }
            self.fill()?;
        }
    }

    /// Reads the next block behind what is left of the last one.
    fn fill(&mut self) -> io::Result<()> {
        if self.from > 0 {
            self.bytes.copy_within(self.from..self.filled, 0);
            self.filled -= self.from;
            self.searched -= self.from;
            self.from = 0;
        }
        if self.filled == self.bytes.len() {
            self.bytes.resize((self.bytes.len() * 2).clamp(4096, LONGEST + BLOCK), 0);
        }
        let read = loop {
            match self.file.read(self.bytes.get_mut(self.filled..).unwrap_or_default()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        self.filled += read;
        self.ended = read == 0;
        Ok(())
    }

    /// Skips a line that is too long without keeping it; the returned range has its size.
    fn skip_line(&mut self) -> io::Result<(usize, usize, bool)> {
        let mut size = 0;
        loop {
            let open = self.bytes.get(self.searched..self.filled).unwrap_or_default();
            let end = memchr::memchr(b'\n', open);
            if end.is_some() || self.ended {
                let to = end.map_or(self.filled, |at| self.searched + at);
                size += to - self.from;
                self.from = (to + 1).min(self.filled);
                self.searched = self.from;
                return Ok((0, size, true));
            }
            size += self.filled - self.from;
            (self.from, self.filled, self.searched) = (0, 0, 0);
            self.fill()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> Vec<(u64, String, bool)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        std::fs::write(&path, text).unwrap();
        let mut lines = LineReader::open(&path).unwrap();
        let mut found = Vec::new();
        while let Some(piece) = lines.next().unwrap() {
            let text = piece.bytes.map_or_else(
                |TooLong(size)| format!("{size} bytes"),
                |bytes| String::from_utf8_lossy(bytes).into_owned(),
            );
            found.push((piece.number, text, piece.complete));
        }
        found
    }

    #[test]
    fn lines_have_their_number_and_whether_they_are_complete() {
        assert_eq!(lines(b""), []);
        assert_eq!(lines(b"\xef\xbb\xbfa\n"), [(1, "a".into(), true)]);
        assert_eq!(
            lines(b"a\n\n \r\nb\r\nc"),
            [(1, "a".into(), true), (4, "b\r".into(), true), (5, "c".into(), false)]
        );
    }

    #[test]
    fn lines_across_blocks_are_complete() {
        let long = "x".repeat(BLOCK - 10);
        let text = format!("{long}\n{long}y\n{long}z");
        let found: Vec<(u64, usize, bool)> =
            lines(text.as_bytes()).into_iter().map(|(number, text, complete)| (number, text.len(), complete)).collect();
        assert_eq!(found, [(1, BLOCK - 10, true), (2, BLOCK - 9, true), (3, BLOCK - 9, false)]);
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped() {
        for size in [LONGEST + 1, LONGEST + BLOCK + 7, 3 * LONGEST] {
            let text = format!("a\n{}\nb\n", "x".repeat(size));
            assert_eq!(
                lines(text.as_bytes()),
                [(1, "a".into(), true), (2, format!("{size} bytes"), true), (3, "b".into(), true)]
            );
            let last = format!("a\n{}", "x".repeat(size));
            assert_eq!(lines(last.as_bytes()), [(1, "a".into(), true), (2, format!("{size} bytes"), true)]);
        }
    }
}
