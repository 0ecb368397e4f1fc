//! Reads the lines of a file in large blocks, in little memory whatever the size of the file.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

/// How much is read at once.
const BLOCK: usize = 16 * 1024;

/// The byte order mark that some editors write.
pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

/// The longest line that is read.
pub(super) const LONGEST: usize = 10_000_000;

pub(super) struct LineReader {
    file: BufReader<File>,
    line: Vec<u8>,
    number: u64,
}

/// A line that is not empty.
pub(super) struct RawLine<'a> {
    pub(super) number: u64,
    pub(super) bytes: Result<&'a [u8], TooLong>,
    /// Whether the line ends with a newline.
    pub(super) complete: bool,
}

/// A line that is skipped because of its size.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the line has {0} bytes; the limit is {LONGEST}")]
pub(super) struct TooLong(pub(super) usize);

impl LineReader {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { file: BufReader::with_capacity(BLOCK, crate::disk::open(path)?), line: Vec::new(), number: 0 })
    }

    /// The next line that is not empty.
    pub(super) fn next(&mut self) -> io::Result<Option<RawLine<'_>>> {
        loop {
            self.number += 1;
            let (size, complete) = self.read_line()?;
            if size > LONGEST {
                let bytes = Err(TooLong(size));
                return Ok(Some(RawLine { number: self.number, bytes, complete: true }));
            }
            if self.number == 1 && self.line.starts_with(BOM) {
                self.line.drain(..BOM.len());
            }
            if !self.line.trim_ascii().is_empty() {
                return Ok(Some(RawLine { number: self.number, bytes: Ok(&self.line), complete }));
            }
            if !complete {
                return Ok(None);
            }
        }
    }

    /// Reads up to the next newline; returns the size of the line, of which a too long one is not kept, and whether
    /// there is a newline.
    fn read_line(&mut self) -> io::Result<(usize, bool)> {
        let mut size = 0;
        self.line.clear();
        loop {
            let block = match self.file.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                block => block?,
            };
            let newline = memchr::memchr(b'\n', block);
            let part = block.get(..newline.unwrap_or(block.len())).unwrap_or_default();
            size += part.len();
            if size <= LONGEST {
                self.line.extend_from_slice(part);
            }
            let is_end = block.is_empty();
            let used = part.len() + usize::from(newline.is_some());
            self.file.consume(used);
            if is_end || newline.is_some() {
                return Ok((size, newline.is_some()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> Vec<(u64, String, bool)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        crate::disk::write(&path, text, crate::disk::LinkPolicy::Replace).unwrap();
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
