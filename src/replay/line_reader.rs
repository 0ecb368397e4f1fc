//! Reads the lines of a file one by one, in little memory whatever its size.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

const BOM: &[u8] = b"\xef\xbb\xbf";

const LONGEST: usize = 10_000_000;

const BUFFER: usize = 64 * 1024;

pub(crate) struct LineReader {
    file: BufReader<File>,
    line: Vec<u8>,
    /// The number of lines so far, empty ones too.
    count: u64,
}

/// A line that is not empty.
pub(crate) struct RawLine<'t> {
    pub(crate) number: u64,
    pub(crate) bytes: Result<&'t [u8], TooLong>,
    pub(crate) is_complete: bool,
}

/// A line that is skipped because of its size.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the line has {0} bytes; the limit is {LONGEST}")]
pub(crate) struct TooLong(usize);

impl LineReader {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = BufReader::with_capacity(BUFFER, base::disk::open(path)?);
        Ok(Self { file, line: Vec::new(), count: 0 })
    }

    pub(crate) fn next_line(&mut self) -> io::Result<Option<RawLine<'_>>> {
        let is_complete = loop {
            if self.read_part()? == 0 {
                return Ok(None);
            }
            self.count += 1;
            let is_complete = self.line.ends_with(b"\n");
            if self.line.len() > LONGEST && !is_complete {
                let bytes = Err(TooLong(self.skip_line()?));
                return Ok(Some(RawLine { number: self.count, bytes, is_complete: true }));
            }
            if !self.content().trim_ascii().is_empty() {
                break is_complete;
            }
        };
        Ok(Some(RawLine { number: self.count, bytes: Ok(self.content()), is_complete }))
    }

    /// Reads a line, or the first part of one that is too long.
    fn read_part(&mut self) -> io::Result<usize> {
        self.line.clear();
        self.file.by_ref().take(LONGEST as u64 + 1).read_until(b'\n', &mut self.line)
    }

    /// Skips the rest of a line that is too long; returns its size.
    fn skip_line(&mut self) -> io::Result<usize> {
        let mut size = self.line.len();
        while !self.line.ends_with(b"\n") && self.read_part()? > 0 {
            size += self.line.len();
        }
        Ok(size - usize::from(self.line.ends_with(b"\n")))
    }

    fn content(&self) -> &[u8] {
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        line.strip_prefix(BOM).filter(|_| self.count == 1).unwrap_or(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a file with their numbers.
    fn lines(content: &[u8]) -> Vec<(u64, String, bool)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        base::disk::write(&path, content, base::disk::LinkPolicy::Replace).unwrap();
        let (mut reader, mut found) = (LineReader::open(&path).unwrap(), Vec::new());
        while let Some(line) = reader.next_line().unwrap() {
            let text = line.bytes.map_or_else(
                |TooLong(size)| format!("{size} bytes"),
                |bytes| String::from_utf8_lossy(bytes).into_owned(),
            );
            found.push((line.number, text, line.is_complete));
        }
        found
    }

    #[test]
    fn empty_lines_are_only_counted() {
        assert_eq!(
            lines(b"\xef\xbb\xbfa\n\n \r\nb\r\nc"),
            [(1, "a".into(), true), (4, "b\r".into(), true), (5, "c".into(), false)]
        );
        for text in ["", "\n", "\u{feff}\n \n"] {
            assert_eq!(lines(text.as_bytes()), [], "{text:?}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped() {
        for size in [LONGEST, LONGEST + 1, 2 * LONGEST + 7] {
            let kept = if size > LONGEST { format!("{size} bytes") } else { "x".repeat(size) };
            let text = format!("a\n{}\nb\n", "x".repeat(size));
            let expected = [(1, "a".into(), true), (2, kept, true), (3, "b".into(), true)];
            assert!(lines(text.as_bytes()) == expected, "{size}");
        }
        let last = format!("a\n{}", "x".repeat(LONGEST + 1));
        assert_eq!(lines(last.as_bytes())[1].1, format!("{} bytes", LONGEST + 1));
    }
}
