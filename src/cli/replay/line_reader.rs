//! The lines of a file, read in large blocks: as fast as can be, in little memory whatever the file's size.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// How much is read at once.
const BLOCK: usize = 4 * 1024 * 1024;

/// What some editors put at the beginning of a file.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// No line that we write or read is longer.
pub(super) const LONGEST: usize = 10_000_000;

/// The lines of a file, one by one.
pub(super) struct LineReader {
    file: File,
    bytes: Vec<u8>,
    /// CaseLocation the next line begins, and how much of the buffer is filled.
    from: usize,
    filled: usize,
    /// CaseLocation the next end of a line is looked for.
    looked: usize,
    number: u64,
    ended: bool,
}

/// A line of a file.
pub(super) enum RawLine<'a> {
    /// A line, and whether its end is there.
    Line { number: u64, bytes: &'a [u8], whole: bool },
    /// A line that is too long; it was passed over.
    TooLong { number: u64, size: usize },
}

/// What is said of a line that is too long.
pub(super) fn too_long(size: usize) -> String {
    format!("the line has {size} bytes; more than {LONGEST} are not read")
}

impl LineReader {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let size = file.metadata().map_or(BLOCK, |meta| usize::try_from(meta.len()).unwrap_or(BLOCK));
        // A byte more than the file has, so that its end is seen without another buffer.
        let bytes = vec![0; size.saturating_add(1).clamp(4096, BLOCK)];
        Ok(Self { file, bytes, from: 0, filled: 0, looked: 0, number: 0, ended: false })
    }

    /// The next line that has anything in it.
    pub(super) fn next(&mut self) -> io::Result<Option<RawLine<'_>>> {
        loop {
            self.number += 1;
            let Some((from, to, whole)) = self.advance()? else { return Ok(None) };
            let size = to - from;
            if size > LONGEST {
                return Ok(Some(RawLine::TooLong { number: self.number, size }));
            }
            let bom = self.number == 1 && self.bytes.get(from..to).is_some_and(|line| line.starts_with(BOM));
            let from = if bom { from + BOM.len() } else { from };
            if !self.bytes.get(from..to).unwrap_or_default().trim_ascii().is_empty() {
                let bytes = self.bytes.get(from..to).unwrap_or_default();
                return Ok(Some(RawLine::Line { number: self.number, bytes, whole }));
            }
        }
    }

    /// Moves behind the next line: where it begins and ends in the buffer, and whether its end is there.
    fn advance(&mut self) -> io::Result<Option<(usize, usize, bool)>> {
        loop {
            let open = self.bytes.get(self.looked..self.filled).unwrap_or_default();
            if let Some(at) = memchr::memchr(b'\n', open) {
                let (from, to) = (self.from, self.looked + at);
                self.from = to + 1;
                self.looked = self.from;
                return Ok(Some((from, to, true)));
            }
            self.looked = self.filled;
            if self.ended {
                let (from, to) = (self.from, self.filled);
                self.from = to;
                return Ok((to > from).then_some((from, to, false)));
            }
            if self.filled - self.from > LONGEST {
                return self.pass_over().map(Some);
            }
            self.fill()?;
        }
    }

    /// Reads on; what is left of the last block stands before it.
    fn fill(&mut self) -> io::Result<()> {
        if self.from > 0 {
            self.bytes.copy_within(self.from..self.filled, 0);
            self.filled -= self.from;
            self.looked -= self.from;
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

    /// Passes over a line that is too long, without keeping it; its size stands for it.
    fn pass_over(&mut self) -> io::Result<(usize, usize, bool)> {
        let mut size = 0;
        loop {
            let open = self.bytes.get(self.looked..self.filled).unwrap_or_default();
            let end = memchr::memchr(b'\n', open);
            if end.is_some() || self.ended {
                let to = end.map_or(self.filled, |at| self.looked + at);
                size += to - self.from;
                self.from = (to + 1).min(self.filled);
                self.looked = self.from;
                return Ok((0, size, true));
            }
            size += self.filled - self.from;
            (self.from, self.filled, self.looked) = (0, 0, 0);
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
            found.push(match piece {
                RawLine::Line { number, bytes, whole } => (number, String::from_utf8_lossy(bytes).into_owned(), whole),
                RawLine::TooLong { number, size } => (number, format!("{size} bytes"), true),
            });
        }
        found
    }

    #[test]
    fn lines_come_with_their_number_and_tell_whether_they_are_whole() {
        assert_eq!(lines(b""), []);
        assert_eq!(lines(b"\xef\xbb\xbfa\n"), [(1, "a".into(), true)]);
        assert_eq!(
            lines(b"a\n\n \r\nb\r\nc"),
            [(1, "a".into(), true), (4, "b\r".into(), true), (5, "c".into(), false)]
        );
    }

    #[test]
    fn lines_that_lie_across_blocks_are_whole() {
        let long = "x".repeat(BLOCK - 10);
        let text = format!("{long}\n{long}y\n{long}z");
        let found: Vec<(u64, usize, bool)> =
            lines(text.as_bytes()).into_iter().map(|(number, text, whole)| (number, text.len(), whole)).collect();
        assert_eq!(found, [(1, BLOCK - 10, true), (2, BLOCK - 9, true), (3, BLOCK - 9, false)]);
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over() {
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
