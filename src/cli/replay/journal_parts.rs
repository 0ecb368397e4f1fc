//! Reads a journal in parts of whole lines, which can be decided on different threads.

use super::line_reader::{BOM, LONGEST, RawLine, TooLong};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// How many bytes of a file one part has.
pub(super) const PART: u64 = 256 * 1024;

/// How much is read at once where a part ends in the middle of a line.
const BLOCK: usize = 16 * 1024;

/// The size of the text of a part, with its last line and what was read after it.
const ROOM: usize = 256 * 1024 + 64 * 1024;

/// The lines of a file that begin in a range of its bytes.
#[derive(Debug, Clone)]
pub(super) struct PartRange {
    /// The number of the file in its input.
    pub(super) file: usize,
    pub(super) bytes: Range<u64>,
}

/// The text of a part; it begins with a line.
#[derive(Debug, Default)]
pub(super) struct PartText {
    /// The room, of which the beginning is used.
    room: Vec<u8>,
    end: usize,
    /// The number of the file that was read last, and the file.
    file: Option<(usize, File)>,
    /// Where the first line begins.
    start: usize,
    /// The last line, if it is too long to be kept.
    too_long: Option<TooLong>,
    is_first: bool,
}

/// The lines of a part, each with its number in the part, from 1.
pub(super) struct PartLines<'t> {
    rest: &'t [u8],
    too_long: Option<TooLong>,
    /// The number of lines so far, empty ones too.
    pub(super) count: u64,
}

impl<'t> PartLines<'t> {
    /// The text from the next line on.
    pub(super) fn rest(&self) -> &'t [u8] {
        self.rest
    }

    /// Goes past the next line, which has this length.
    pub(super) fn pass(&mut self, length: usize) {
        self.rest = self.rest.get(length + 1..).unwrap_or_default();
        self.count += 1;
    }
}

impl<'t> Iterator for PartLines<'t> {
    type Item = RawLine<'t>;

    fn next(&mut self) -> Option<RawLine<'t>> {
        while !self.rest.is_empty() {
            let newline = memchr::memchr(b'\n', self.rest);
            let (bytes, rest) = self.rest.split_at_checked(newline.unwrap_or(self.rest.len()))?;
            self.rest = rest.get(1..).unwrap_or_default();
            self.count += 1;
            if bytes.first() == Some(&b'{') || !bytes.trim_ascii().is_empty() {
                return Some(RawLine { number: self.count, bytes: Ok(bytes), complete: newline.is_some() });
            }
        }
        let long = self.too_long.take()?;
        self.count += 1;
        Some(RawLine { number: self.count, bytes: Err(long), complete: true })
    }
}

/// The room of texts that are not needed any more.
static SPARE: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// How many are kept.
const SPARES: usize = 64;

/// The parts of the files of an input, in order.
pub(super) fn parts(files: &[PathBuf], size: u64) -> impl Iterator<Item = PartRange> {
    files.iter().enumerate().flat_map(move |(file, path)| {
        let length = crate::disk::open(path).and_then(|file| Ok(file.metadata()?.len())).unwrap_or(1);
        let starts = (0..length.max(1)).step_by(usize::try_from(size).unwrap_or(usize::MAX));
        // A file may still grow: the last part has no end.
        starts.map(move |start| {
            let end = if start + size >= length { u64::MAX } else { start + size };
            PartRange { file, bytes: start..end }
        })
    })
}

impl PartText {
    /// An empty text with the room of one that is not needed any more.
    pub(super) fn spare() -> Self {
        let room = SPARE.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        Self { room, ..Self::default() }
    }

    /// Keeps the room of the text for the next one.
    pub(super) fn keep(self) {
        let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < SPARES && self.room.len() <= ROOM {
            spare.push(self.room);
        }
    }

    /// Reads a part.
    pub(super) fn read(&mut self, files: &[PathBuf], PartRange { file: number, bytes }: &PartRange) -> io::Result<()> {
        (self.end, self.start, self.too_long) = (0, 0, None);
        self.is_first = bytes.start == 0;
        let mut file = match self.file.take().filter(|(open, _)| open == number) {
            Some((_, file)) => file,
            None => crate::disk::open(files.get(*number).map_or(Path::new(""), PathBuf::as_path))?,
        };
        // A line begins in this part if the newline before it is here or right before.
        let from = bytes.start.saturating_sub(1);
        file.seek(SeekFrom::Start(from))?;
        self.read_more(&file, usize::try_from(bytes.end - from).unwrap_or(usize::MAX))?;
        let first = if self.is_first { Some(0) } else { memchr::memchr(b'\n', self.all()).map(|at| at + 1) };
        self.start = first.unwrap_or(self.end);
        if self.start < self.end && bytes.end < u64::MAX {
            self.finish_line(&file)?;
        }
        self.file = Some((*number, file));
        Ok(())
    }

    /// Reads up to this many bytes; returns how many there were.
    fn read_more(&mut self, mut file: &File, most: usize) -> io::Result<usize> {
        let (start, limit) = (self.end, self.end.saturating_add(most));
        loop {
            if self.end == self.room.len() {
                self.room.resize(self.room.len() + ROOM, 0);
            }
            let limit = limit.min(self.room.len());
            let count = match file.read(self.room.get_mut(self.end..limit).unwrap_or_default()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                count => count?,
            };
            self.end += count;
            if count == 0 || self.end - start == most {
                return Ok(self.end - start);
            }
        }
    }

    /// Reads on to the end of the last line; one that is too long is only measured.
    fn finish_line(&mut self, file: &File) -> io::Result<()> {
        let start = memchr::memrchr(b'\n', self.all()).map_or(self.start, |at| at + 1);
        let (mut dropped, mut is_complete) = (0, start == self.end);
        while !is_complete {
            let end = self.end;
            if self.read_more(file, BLOCK)? == 0 {
                break;
            }
            if let Some(at) = memchr::memchr(b'\n', self.bytes(&(end..self.end))) {
                self.end = end + at + 1;
                is_complete = true;
            }
            if self.end - start > LONGEST + usize::from(is_complete) {
                dropped += self.end - start;
                self.end = start;
            }
        }
        if dropped > 0 {
            let size = dropped + self.end - start - usize::from(is_complete);
            self.end = start;
            self.too_long = Some(TooLong(size));
        }
        Ok(())
    }

    /// The lines that are not empty.
    pub(super) fn lines(&self) -> PartLines<'_> {
        let text = self.bytes(&(self.start..self.end));
        let text = text.strip_prefix(BOM).filter(|_| self.is_first).unwrap_or(text);
        PartLines { rest: text, too_long: self.too_long, count: 0 }
    }

    fn all(&self) -> &[u8] {
        self.bytes(&(0..self.end))
    }

    /// Where a part of this text is.
    pub(super) fn place(&self, part: &[u8]) -> Range<usize> {
        if part.is_empty() {
            return 0..0;
        }
        let start = part.as_ptr().addr() - self.room.as_ptr().addr();
        start..start + part.len()
    }

    pub(super) fn bytes(&self, place: &Range<usize>) -> &[u8] {
        self.room.get(place.clone()).unwrap_or_default()
    }

    pub(super) fn text(&self, place: &Range<usize>) -> &str {
        std::str::from_utf8(self.bytes(place)).unwrap_or_default()
    }
}

/// A text that is in no file any more.
impl From<Vec<u8>> for PartText {
    fn from(text: Vec<u8>) -> Self {
        Self { end: text.len(), room: text, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a file in parts of this size, with their numbers in the file.
    fn lines(content: &[u8], size: u64) -> Vec<(u64, String, bool)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        crate::disk::write(&path, content, crate::disk::LinkPolicy::Replace).unwrap();
        let (mut found, mut before, mut text) = (Vec::new(), 0, PartText::default());
        for part in parts(std::slice::from_ref(&path), size) {
            text.read(std::slice::from_ref(&path), &part).unwrap();
            let mut lines = text.lines();
            for line in &mut lines {
                let text = line.bytes.map_or_else(
                    |TooLong(size)| format!("{size} bytes"),
                    |bytes| String::from_utf8_lossy(bytes).into_owned(),
                );
                found.push((before + line.number, text, line.complete));
            }
            before += lines.count;
        }
        found
    }

    #[test]
    fn lines_are_the_same_in_parts_of_any_size() {
        for text in ["", "\n", "a", "a\n", "\u{feff}a\n", "a\n\n \r\nb\r\nc", "abcdefgh\nij\n\nk\n", "\n\nabc\nd"] {
            let whole = lines(text.as_bytes(), 1000);
            for size in 1..12 {
                assert_eq!(lines(text.as_bytes(), size), whole, "{text:?} in parts of {size}");
            }
        }
        assert_eq!(
            lines(b"a\n\n \r\nb\r\nc", 1000),
            [(1, "a".into(), true), (4, "b\r".into(), true), (5, "c".into(), false)]
        );
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped() {
        for size in [LONGEST, LONGEST + 1, 2 * LONGEST + 7] {
            let kept = if size > LONGEST { format!("{size} bytes") } else { "x".repeat(size) };
            let text = format!("a\n{}\nb\n", "x".repeat(size));
            let expected = [(1, "a".into(), true), (2, kept, true), (3, "b".into(), true)];
            assert!(lines(text.as_bytes(), PART) == expected, "{size}");
        }
        let last = format!("a\n{}", "x".repeat(LONGEST + 1));
        assert_eq!(lines(last.as_bytes(), PART)[1].1, format!("{} bytes", LONGEST + 1));
    }
}
