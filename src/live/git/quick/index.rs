//! The index, read as a stream; only the entries under the given paths are kept.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use gix::hash;

use super::entry::IndexEntry;
use super::raw_entry::{RawEntry, number};
use super::window::{FileWindow, LONGEST_ENTRY};
use crate::live::git::LayerError;
use crate::live::git::path_scope::{PathScope, within};

/// The entries of the index under the given paths.
#[derive(Debug, Default)]
pub(super) struct GitIndex {
    /// Files and symbolic links, sorted by path.
    pub(super) entries: Vec<IndexEntry>,
    /// Submodules, sorted by path.
    pub(super) links: Vec<IndexEntry>,
    /// The cached tree, undecoded.
    pub(super) cached: Vec<u8>,
    /// When it was written, in seconds.
    pub(super) written: i64,
    paths: Vec<u8>,
}

impl GitIndex {
    /// Reads the index at `path`; a missing one is empty.
    ///
    /// With `hasty`, reading stops after the given paths, and the cached tree may be missing.
    pub(super) fn read(path: &Path, kind: hash::Kind, asked: &PathScope, hasty: bool) -> Result<Self, LayerError> {
        let mut index = Self::default();
        let file = match crate::disk::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(index),
            Err(error) => return Err(LayerError::unreadable(path, &error)),
        };
        let facts = file.metadata().map_err(|error| LayerError::unreadable(path, &error))?;
        index.written = facts.mtime();
        let mut window = FileWindow::new(file, facts.len());
        let header = IndexHeader::read(&mut window)?;
        let (mut previous, mut left) = (Vec::new(), header.count);
        while left > 0 {
            let bytes = window.need(LONGEST_ENTRY)?;
            let mut used = 0;
            // All entries that are certainly in memory, and the last ones of the file.
            while left > 0 && (used == 0 || bytes.len() - used >= LONGEST_ENTRY) {
                let raw = RawEntry::parse(bytes.get(used..).unwrap_or_default(), header.version, kind, &mut previous);
                let raw = raw.ok_or_else(corrupt)?;
                if asked.covers(raw.path) || (raw.is_link() && asked.is_in(raw.path)) {
                    index.keep(&raw, kind)?;
                } else if hasty && !index.entries.is_empty() && asked.is_behind(raw.path) {
                    return Ok(index);
                }
                used += raw.size;
                left -= 1;
            }
            window.skip(used);
        }
        index.extensions(&mut window, kind)?;
        Ok(index)
    }

    /// The path of `entry`.
    pub(super) fn path(&self, entry: &IndexEntry) -> &[u8] {
        let (start, length) = (entry.path.0 as usize, entry.path.1 as usize);
        self.paths.get(start..start + length).unwrap_or_default()
    }

    /// Where the entries inside `folder`, without the slash, start and end among `entries[from..to]`.
    pub(super) fn inside(&self, folder: &[u8], from: usize, to: usize) -> (usize, usize) {
        if folder.is_empty() {
            return (from, to);
        }
        let some = self.entries.get(from..to).unwrap_or_default();
        let start = some.partition_point(|entry| before(self.path(entry), folder));
        let tail = some.get(start..).unwrap_or_default();
        let length = tail.partition_point(|entry| is_inside(self.path(entry), folder));
        (from + start, from + start + length)
    }

    /// The entries for exactly `path`: one, or up to three in a conflict.
    pub(super) fn exactly(&self, path: &[u8]) -> &[IndexEntry] {
        let start = self.entries.partition_point(|entry| self.path(entry) < path);
        let tail = self.entries.get(start..).unwrap_or_default();
        let length = tail.partition_point(|entry| self.path(entry) == path);
        tail.get(..length).unwrap_or_default()
    }

    /// The submodule that `path` is, or is inside of.
    pub(super) fn link(&self, path: &[u8]) -> Option<&IndexEntry> {
        self.links.iter().find(|link| within(self.path(link), path))
    }

    /// Whether a submodule is somewhere inside `folder`.
    pub(super) fn has_links(&self, folder: &[u8]) -> bool {
        self.links.iter().any(|link| is_inside(self.path(link), folder))
    }

    fn keep(&mut self, raw: &RawEntry<'_>, kind: hash::Kind) -> Result<(), LayerError> {
        let start = u32::try_from(self.paths.len()).map_err(LayerError::unsure)?;
        let length = u32::try_from(raw.path.len()).map_err(LayerError::unsure)?;
        let entry = raw.entry((start, length), kind).ok_or_else(corrupt)?;
        self.paths.extend_from_slice(raw.path);
        match entry.mode & 0o170_000 {
            0o160_000 => self.links.push(entry),
            0o100_000 | 0o120_000 => self.entries.push(entry),
            _ => return Err(LayerError::Unsure("the index is sparse".to_owned())),
        }
        Ok(())
    }

    /// Reads the extensions after the entries; those with a capital letter may be skipped.
    fn extensions(&mut self, window: &mut FileWindow, kind: hash::Kind) -> Result<(), LayerError> {
        while window.remaining() > kind.len_in_bytes() as u64 {
            let head = window.need(8)?;
            let (Some(name), Some(size)) = (head.first_chunk::<4>().copied(), number(head, 4)) else {
                return Err(corrupt());
            };
            window.skip(8);
            let size = size as usize;
            if name == *b"TREE" {
                self.cached = window.need(size)?.get(..size).ok_or_else(corrupt)?.to_vec();
            } else if name == *b"sdir" {
                return Err(LayerError::Unsure("the index is sparse".to_owned()));
            } else if !name.first().is_some_and(u8::is_ascii_uppercase) {
                return Err(LayerError::Unsure("the index is split".to_owned()));
            }
            window.pass(size)?;
        }
        Ok(())
    }
}

/// Whether `path` sorts before everything inside `folder`.
fn before(path: &[u8], folder: &[u8]) -> bool {
    let length = folder.len();
    match path.get(..length) {
        Some(head) if head == folder => path.get(length).is_none_or(|byte| *byte < b'/'),
        Some(head) => head < folder,
        None => path < folder || folder.starts_with(path),
    }
}

/// Whether `path` is inside `folder`.
fn is_inside(path: &[u8], folder: &[u8]) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.first() == Some(&b'/'))
}

/// The error for a file that is not an index; git itself would guess.
pub(super) fn corrupt() -> LayerError {
    LayerError::Unreadable("the index is corrupt".to_owned())
}

/// The header of the file.
struct IndexHeader {
    version: u32,
    count: u32,
}

impl IndexHeader {
    fn read(window: &mut FileWindow) -> Result<Self, LayerError> {
        let bytes = window.need(12)?;
        let header = match (bytes.get(..4), number(bytes, 4), number(bytes, 8)) {
            (Some(b"DIRC"), Some(version @ 2..=4), Some(count)) => Self { version, count },
            (Some(b"DIRC"), Some(_), _) => {
                return Err(LayerError::Unsure("the index is of an unknown version".to_owned()));
            }
            _ => return Err(corrupt()),
        };
        window.skip(12);
        Ok(header)
    }
}
