//! Reads the lines of a file in parts, in little memory whatever its size; different processes can read different parts.

use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// How many bytes of a file one part has.
pub(crate) const PART: u64 = 256 * 1024;

/// The same where only the first lines are needed.
pub(crate) const SMALL_PART: u64 = 16 * 1024;

/// How much is read at once where a part ends in the middle of a line; the next part reads it again.
const BLOCK: usize = 4 * 1024;

/// The size of the text of a part, with its last line and what was read after it.
const ROOM: usize = 256 * 1024 + 64 * 1024;

/// Larger rooms are not kept for the next text.
const MOST_ROOM: usize = 4 * ROOM;

/// The byte order mark that some editors write.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// The longest line that is read.
const LONGEST: usize = 10_000_000;

thread_local! {
    /// The room of the last text on this thread, for the next one.
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// The lines of a file that begin in a range of its bytes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PartRange {
    /// The number of the file in its input.
    pub(crate) file: usize,
    pub(crate) bytes: Range<u64>,
}

impl PartRange {
    /// Whether the input begins with this part.
    pub(crate) fn is_first(&self) -> bool {
        self.file == 0 && self.bytes.start == 0
    }
}

/// The text of a part; it begins with a line.
#[derive(Debug)]
pub(crate) struct PartText {
    /// The room, of which the beginning is used.
    room: Vec<u8>,
    end: usize,
    /// The end of what was read, which may be in a later part.
    read_end: usize,
    /// The number of the file that was read last, and the file.
    file: Option<(usize, File)>,
    /// Where the first line begins.
    start: usize,
    /// The last line, if it is too long to be kept.
    too_long: Option<TooLong>,
    is_first: bool,
    is_last: bool,
}

/// A line that is not empty.
pub(crate) struct RawLine<'t> {
    /// The number of the line in its part, from 1.
    pub(crate) number: u64,
    pub(crate) bytes: Result<&'t [u8], TooLong>,
    /// Whether the line ends with a newline.
    pub(crate) complete: bool,
}

/// A line that is skipped because of its size.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the line has {0} bytes; the limit is {LONGEST}")]
pub(crate) struct TooLong(usize);

/// The lines of a part that are not empty.
pub(crate) struct PartLines<'t> {
    /// The text from the next line on.
    pub(crate) rest: &'t [u8],
    too_long: Option<TooLong>,
    /// What is known of the text behind the part; `None` where the file ends with it.
    behind: Option<&'t [u8]>,
    /// The number of lines so far, empty ones too.
    pub(crate) count: u64,
}

impl<'t> PartLines<'t> {
    /// What follows the next line, which has this length; at the end of a part, as far as it is known.
    pub(crate) fn after(&self, length: usize) -> Option<&'t [u8]> {
        self.rest.get(length + 1..).filter(|rest| !rest.is_empty()).or(self.behind)
    }

    /// What follows the last line; at the end of a part, as far as it is known.
    pub(crate) fn following(&self) -> Option<&'t [u8]> {
        Some(self.rest).filter(|rest| !rest.is_empty()).or(self.behind)
    }

    /// Goes past the next line, which has this length.
    pub(crate) fn pass(&mut self, length: usize) {
        self.rest = self.rest.get(length + 1..).unwrap_or_default();
        self.count += 1;
    }
}

impl<'t> Iterator for PartLines<'t> {
    type Item = RawLine<'t>;

    fn next(&mut self) -> Option<RawLine<'t>> {
        while !self.rest.is_empty() {
            let newline = memchr::memchr(b'\n', self.rest);
            let (bytes, _) = self.rest.split_at_checked(newline.unwrap_or(self.rest.len()))?;
            self.pass(bytes.len());
            if bytes.first() == Some(&b'{') || !bytes.trim_ascii().is_empty() {
                return Some(RawLine { number: self.count, bytes: Ok(bytes), complete: newline.is_some() });
            }
        }
        let long = self.too_long.take()?;
        self.count += 1;
        Some(RawLine { number: self.count, bytes: Err(long), complete: true })
    }
}

/// The parts of the files of an input, in order.
pub(crate) fn parts(files: &[PathBuf], size: u64) -> impl Iterator<Item = PartRange> {
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

/// Calls `each` with every line of a file and its number in the file, up to the first error.
pub(crate) fn each_line<E: From<io::Error>>(
    path: &Path,
    size: u64,
    mut each: impl FnMut(u64, RawLine<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let files = [path.to_owned()];
    let (mut text, mut before) = (PartText::default(), 0);
    for part in parts(&files, size) {
        text.read(&files, &part)?;
        let mut lines = text.lines();
        lines.try_for_each(|line| each(before + line.number, line))?;
        before += lines.count;
    }
    Ok(())
}

impl PartText {
    pub(crate) fn read(&mut self, files: &[PathBuf], PartRange { file: number, bytes }: &PartRange) -> io::Result<()> {
        (self.end, self.start, self.too_long) = (0, 0, None);
        (self.is_first, self.is_last) = (bytes.start == 0, bytes.end == u64::MAX);
        let mut file = match self.file.take().filter(|(open, _)| open == number) {
            Some((_, file)) => file,
            None => crate::disk::open(files.get(*number).map_or(Path::new(""), PathBuf::as_path))?,
        };
        // A line begins in this part if the newline before it is here or right before.
        let from = bytes.start.saturating_sub(1);
        file.seek(SeekFrom::Start(from))?;
        self.read_more(&file, usize::try_from(bytes.end - from).unwrap_or(usize::MAX))?;
        let first = if self.is_first { Some(0) } else { memchr::memchr(b'\n', self.from(0)).map(|at| at + 1) };
        self.start = first.unwrap_or(self.end);
        self.read_end = self.end;
        if self.start < self.end && !self.is_last {
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
        let start = memchr::memrchr(b'\n', self.from(0)).map_or(self.start, |at| at + 1);
        let (mut dropped, mut is_complete) = (0, start == self.end);
        while !is_complete {
            let end = self.end;
            if self.read_more(file, BLOCK)? == 0 {
                break;
            }
            self.read_end = self.end;
            if let Some(at) = memchr::memchr(b'\n', self.from(end)) {
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
            (self.end, self.read_end) = (start, start);
            self.too_long = Some(TooLong(size));
        }
        Ok(())
    }

    pub(crate) fn lines(&self) -> PartLines<'_> {
        let text = self.from(self.start);
        let rest = text.strip_prefix(BOM).filter(|_| self.is_first).unwrap_or(text);
        let behind = self.room.get(self.end..self.read_end).filter(|_| !self.is_last);
        PartLines { rest, too_long: self.too_long, behind, count: 0 }
    }

    fn from(&self, start: usize) -> &[u8] {
        self.room.get(start..self.end).unwrap_or_default()
    }
}

impl Default for PartText {
    fn default() -> Self {
        let (is_first, is_last) = (false, false);
        Self { room: SPARE.take(), end: 0, read_end: 0, file: None, start: 0, too_long: None, is_first, is_last }
    }
}

impl Drop for PartText {
    fn drop(&mut self) {
        if self.room.len() <= MOST_ROOM {
            SPARE.set(std::mem::take(&mut self.room));
        }
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
        let mut found = Vec::new();
        let read = each_line(&path, size, |number, line| {
            let text = line.bytes.map_or_else(
                |TooLong(size)| format!("{size} bytes"),
                |bytes| String::from_utf8_lossy(bytes).into_owned(),
            );
            found.push((number, text, line.complete));
            Ok::<(), io::Error>(())
        });
        read.unwrap();
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
