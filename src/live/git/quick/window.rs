//! Reads a file piece by piece, for an index of any size.

use std::fs::File;
use std::io::Read;

use super::index::corrupt;
use crate::live::git::LayerError;

/// How much of the file is in memory at a time.
const WINDOW: usize = 64 * 1024;
/// More than the entry with the longest possible path takes.
pub(super) const LONGEST_ENTRY: usize = 4096 + 128;

/// The part of the file that is in memory.
pub(super) struct FileWindow {
    file: File,
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes of the file that were not read yet.
    left: u64,
}

impl FileWindow {
    /// A window at the start of `file`, which is `length` bytes long.
    pub(super) fn new(file: File, length: u64) -> Self {
        Self { file, bytes: vec![0; WINDOW], start: 0, end: 0, left: length }
    }

    /// At least `size` bytes, or the rest.
    pub(super) fn need(&mut self, size: usize) -> Result<&[u8], LayerError> {
        if self.end - self.start < size && self.left > 0 {
            self.fill(size)?;
        }
        Ok(self.bytes.get(self.start..self.end).unwrap_or_default())
    }

    fn fill(&mut self, size: usize) -> Result<(), LayerError> {
        self.bytes.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        let whole = u64::try_from(size).map_or(u64::MAX, |size| size.min(self.left + self.end as u64));
        if whole > self.bytes.len() as u64 {
            self.bytes.resize(usize::try_from(whole).map_err(LayerError::unsure)?, 0);
        }
        while self.end < size.min(self.bytes.len()) && self.left > 0 {
            let room = self.bytes.get_mut(self.end..).unwrap_or_default();
            let read = self.file.read(room).map_err(LayerError::unsure)?;
            if read == 0 {
                return Err(corrupt());
            }
            self.end += read;
            self.left = self.left.saturating_sub(read as u64);
        }
        Ok(())
    }

    /// Skips `size` bytes that are in memory.
    pub(super) fn skip(&mut self, size: usize) {
        self.start = (self.start + size).min(self.end);
    }

    /// Skips `size` bytes, read or not.
    pub(super) fn pass(&mut self, size: usize) -> Result<(), LayerError> {
        let mut size = size;
        while size > 0 {
            let here = self.need(size.min(WINDOW))?.len().min(size);
            if here == 0 {
                return Err(corrupt());
            }
            self.skip(here);
            size -= here;
        }
        Ok(())
    }

    /// Bytes up to the end of the file.
    pub(super) fn remaining(&self) -> u64 {
        (self.end - self.start) as u64 + self.left
    }
}
