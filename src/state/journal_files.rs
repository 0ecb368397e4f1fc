//! Journals on disk: appending a line, rotation, and reading them back.

use crate::facts::SessionHistory;
use crate::host::event::Event;
use crate::host::paths::checksum;
use crate::state::journal::{ActivityLog, HistoryBuilder, JournalLine, StateSeal, VERSION, WrittenFile};
use base::digest::sha256;
use base::disk;
use memchr::{memchr, memmem, memrchr};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How much of a journal may be read again to find the agents and edits of a session.
pub const ACTIVITY_BLOCK: u64 = 32 * 1024;

/// Appends a line in one write; a journal of more than `limit` bytes is rotated first.
///
/// Returns whether the line reaches a new block of [`ACTIVITY_BLOCK`] bytes.
pub fn append(path: &Path, lock: &Path, line: &JournalLine, limit: u64) -> io::Result<bool> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    let (mut file, mut size) = open(path)?;
    if size > limit && rotate(path, lock, limit) {
        (file, size) = (open(path)?.0, 0);
    } else if size > 0 && !ends_with_newline(&file, size)? {
        // A full disk or a kill may have cut the last line off; this one must stay readable.
        text.insert(0, b'\n');
    }
    file.write_all(&text)?;
    Ok(size / ACTIVITY_BLOCK != (size + text.len() as u64) / ACTIVITY_BLOCK)
}

fn ends_with_newline(file: &File, size: u64) -> io::Result<bool> {
    let mut last = Vec::new();
    disk::read_at(file, size - 1, 1, &mut last)?;
    Ok(last == b"\n")
}

fn open(path: &Path) -> io::Result<(File, u64)> {
    match disk::open_append(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            path.ancestors().nth(2).into_iter().for_each(super::ignore_own);
            disk::open_append(path)
        }
        result => result,
    }
}

/// Renames the journal to its older part; of several processes that try, one succeeds.
fn rotate(path: &Path, lock: &Path, limit: u64) -> bool {
    let Ok((guard, _)) = disk::open_lock(lock) else { return false };
    if fs4::FileExt::try_lock(&guard).is_err() {
        return false;
    }
    let is_still_large = fs::metadata(path).is_ok_and(|file| file.len() > limit);
    is_still_large && fs::rename(path, older_part(path)).is_ok()
}

pub fn older_part(path: &Path) -> PathBuf {
    path.with_extension("old.jsonl")
}

/// Both parts of a journal, the older first; a missing part is empty.
fn parts(path: &Path) -> [Vec<u8>; 2] {
    [older_part(path), path.to_owned()].map(|part| disk::read(&part, disk::LARGEST).unwrap_or_default())
}

/// Every readable line of a journal, the older part first.
pub fn lines(path: &Path) -> Vec<JournalLine> {
    all(path).0
}

/// Every readable line of a journal, the older part first, and the number of unreadable lines.
pub fn all(path: &Path) -> (Vec<JournalLine>, usize) {
    let (mut readable, mut unreadable) = (Vec::new(), 0);
    for line in parts(path).iter().flat_map(|part| split(part)) {
        match read(line) {
            Some(line) => readable.push(line),
            None => unreadable += 1,
        }
    }
    (readable, unreadable)
}

fn split(bytes: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

/// The lines of bytes that end with a newline.
fn whole_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (line, after) = rest.split_at_checked(memchr(b'\n', rest)?)?;
        rest = after.get(1..)?;
        Some(line)
    })
}

fn read(line: &[u8]) -> Option<JournalLine> {
    serde_json::from_slice::<JournalLine>(line).ok().filter(|line| line.v <= VERSION)
}

#[derive(Debug, Deserialize)]
pub struct SealedChange<'a> {
    pub at: String,
    pub seal: StateSeal,
    #[serde(borrow)]
    pub after: SealedState<'a>,
}

/// The exact text of a session's modes: its seal is over that.
#[derive(Debug, Deserialize)]
pub struct SealedState<'a> {
    #[serde(borrow, default)]
    pub modes: Option<&'a RawValue>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchDepth {
    Tail,
    Whole,
}

/// The beginning of the seal in the lines of changes.
const SEAL_MARK: &[u8] = b"\"seal\":{\"revision\":";

/// The latest changes of a session's state in its journal, the last one first, until `visit` returns a value.
pub fn find_change<T>(
    path: &Path,
    depth: SearchDepth,
    mut visit: impl FnMut(&SealedChange<'_>) -> Option<T>,
) -> Option<T> {
    /// The line before a tail is cut off, so a longer one may find more.
    const TAILS: [u64; 2] = [32 * 1024, 512 * 1024];
    let mut visit = |line: &[u8]| serde_json::from_slice(line).ok().and_then(|change| visit(&change));
    let mut search =
        |bytes: &[u8]| split(bytes).rev().filter(|line| memmem::find(line, SEAL_MARK).is_some()).find_map(&mut visit);
    match depth {
        SearchDepth::Tail => TAILS.iter().find_map(|size| search(&disk::read_tail(path, *size).ok()?)),
        SearchDepth::Whole => parts(path).iter().rev().find_map(|part| search(part)),
    }
}

pub fn last(path: &Path) -> Option<JournalLine> {
    /// Larger than almost every line.
    const TAIL: u64 = 256 * 1024;
    let tail = disk::read_tail(path, TAIL).ok()?;
    split(&tail).rev().find_map(read).or_else(|| lines(path).pop())
}

/// The readable lines in the last 2 MiB of a journal.
pub fn recent(path: &Path) -> Vec<JournalLine> {
    const TAIL: u64 = 2 * 1024 * 1024;
    split(&disk::read_tail(path, TAIL).unwrap_or_default()).filter_map(read).collect()
}

/// The journals of a project's sessions.
pub fn journals(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let is_journal = |path: &PathBuf| {
        path.extension().is_some_and(|end| end == "jsonl") && !path.to_string_lossy().ends_with(".old.jsonl")
    };
    entries.filter(is_journal).collect()
}

/// The journals of the other sessions that were active last.
pub fn recent_others(own: &Path) -> impl Iterator<Item = PathBuf> {
    const MOST: usize = 4;
    let written = |path: &PathBuf| std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    let mut others = own.parent().map(journals).unwrap_or_default();
    others.retain(|path| path != own);
    others.sort_by_cached_key(|path| std::cmp::Reverse(written(path)));
    others.into_iter().take(MOST)
}

/// Whether a text occurs in the latest part of a journal.
pub fn mentions(path: &Path, text: &str) -> bool {
    const PART: u64 = 1 << 20;
    disk::read_tail(path, PART).is_ok_and(|bytes| memmem::find(&bytes, text.as_bytes()).is_some())
}

/// Hashes the files that an event changed; missing and very large ones are left out.
pub fn hash_written(paths: &[&str]) -> Vec<WrittenFile> {
    const MANY: usize = 50;
    const LARGEST: u64 = 16 * 1024 * 1024;
    let hashed = |path: &&str| {
        let bytes = disk::read(Path::new(path), LARGEST).ok()?;
        Some(WrittenFile { path: (*path).to_owned(), sha256: sha256(&bytes) })
    };
    paths.iter().take(MANY).filter_map(hashed).collect()
}

/// How much text at the beginning of a journal and before a position tells whether it is the same, in bytes.
const CHECKED: u64 = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalPosition {
    /// Identifies the file: a checksum of its beginning, which has the time of the first event.
    pub file: u64,
    pub offset: u64,
    /// A checksum of the text before it.
    #[serde(default)]
    end: u64,
}

/// The log of agents and edits in a journal, and how far it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadActivity {
    pub position: JournalPosition,
    pub log: ActivityLog,
    /// Whether lines that had been read were removed or changed since, and nobody has been told.
    #[serde(default)]
    pub is_altered: bool,
}

/// Reads the agents and edits of a session from its journal, after what was `read` before; `None` when it cannot be read.
///
/// What was read before stays known, even if it is no longer there.
pub fn activity(path: &Path, read: Option<ReadActivity>) -> Option<ReadActivity> {
    let Some(journal) = OpenJournal::open(path) else {
        let read = read?;
        // Another process may be rotating it.
        let is_rotated = OpenJournal::open(&older_part(path)).is_some_and(|older| older.has(&read.position));
        return Some(ReadActivity { is_altered: read.is_altered || !is_rotated, ..read });
    };
    let mut is_altered = read.as_ref().is_some_and(|read| read.is_altered);
    let (mut log, from) = match read {
        Some(read) if journal.has(&read.position) => (read.log, read.position.offset),
        read => {
            let (log, is_older_altered) = older_activity(&older_part(path), read)?;
            is_altered |= is_older_altered;
            (log, 0)
        }
    };
    let offset = journal.add_activity(from, &mut log).ok()?;
    let end = journal.checksum_before(offset)?;
    Some(ReadActivity { position: JournalPosition { file: journal.id, offset, end }, log, is_altered })
}

/// Reads the agents and edits in the older part of a journal, after what was `read` there before. Returns also whether
/// something that had been read is no longer there.
fn older_activity(path: &Path, read: Option<ReadActivity>) -> Option<(ActivityLog, bool)> {
    let Some(journal) = OpenJournal::open(path) else {
        return Some(read.map_or_else(Default::default, |read| (read.log, true)));
    };
    let (mut log, from) = match read {
        Some(read) if journal.has(&read.position) => (read.log, read.position.offset),
        Some(read) => return Some((read.log, true)),
        None => (ActivityLog::default(), 0),
    };
    journal.add_activity(from, &mut log).ok()?;
    Some((log, false))
}

struct OpenJournal {
    file: File,
    size: u64,
    /// A checksum of its beginning.
    id: u64,
}

impl OpenJournal {
    fn open(path: &Path) -> Option<Self> {
        let (file, size) = disk::open_sized(path).ok()?;
        let mut beginning = Vec::new();
        disk::read_at(&file, 0, CHECKED, &mut beginning).ok()?;
        Some(Self { file, size, id: checksum(&beginning) })
    }

    /// Whether the text up to a position is the one that was read.
    fn has(&self, position: &JournalPosition) -> bool {
        let is_same = || self.checksum_before(position.offset) == Some(position.end);
        self.id == position.file && position.offset <= self.size && is_same()
    }

    fn checksum_before(&self, offset: u64) -> Option<u64> {
        let (from, mut text) = (offset.saturating_sub(CHECKED), Vec::new());
        disk::read_at(&self.file, from, offset - from, &mut text).ok()?;
        Some(checksum(&text))
    }

    /// Adds the lines from `offset` on; returns the end of the last whole line.
    fn add_activity(&self, offset: u64, log: &mut ActivityLog) -> io::Result<u64> {
        const BLOCK: u64 = 64 * 1024;
        let (mut end, mut reach, mut block) = (offset, BLOCK, Vec::new());
        while end < self.size {
            disk::read_at(&self.file, end, reach.min(self.size - end), &mut block)?;
            let Some(lines) = memrchr(b'\n', &block).and_then(|last| block.get(..=last)) else {
                // The line is longer, or not written to its end.
                if end + reach >= self.size {
                    break;
                }
                reach *= 4;
                continue;
            };
            for line in whole_lines(lines).filter(|line| may_concern_activity(line)) {
                let _: Result<(), serde_json::Error> = serde_json::from_slice(line).map(|value| log.add_line(&value));
            }
            (end, reach) = (end + lines.len() as u64, BLOCK);
        }
        Ok(end)
    }
}

/// Whether a line may be about agents or edits: most events are of another kind, which their beginning shows.
fn may_concern_activity(line: &[u8]) -> bool {
    const KIND: &[u8] = b"\"hook_event_name\":\"";
    let kind = memmem::find(line, KIND).and_then(|at| line.get(at + KIND.len()..));
    let is_of_kind = kind.is_none_or(|kind| kind.starts_with(b"Subagent") || kind.starts_with(b"PostToolUse"));
    is_of_kind && contains_any(line, &ActivityLog::WORDS)
}

/// The history of a session of the project at `home`, from its journal.
pub fn history(path: &Path, home: &Path) -> SessionHistory {
    #[derive(Deserialize)]
    struct EventLine {
        at: String,
        event: Value,
    }
    let mut builder = HistoryBuilder::new(home);
    for line in parts(path).iter().flat_map(|part| split(part)) {
        let is_first = builder.history.started_at.is_none();
        if !is_first && !contains_any(line, &HistoryBuilder::EVENTS) {
            continue;
        }
        if let Ok(EventLine { at, event }) = serde_json::from_slice(line) {
            builder.history.started_at.get_or_insert(at);
            if let Ok(event) = Event::from_value(event) {
                builder.add(&event);
            }
        }
    }
    builder.history
}

fn contains_any(line: &[u8], words: &[&str]) -> bool {
    words.iter().any(|word| memmem::find(line, word.as_bytes()).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A journal line with a seal of this revision, of about `size` bytes.
    fn sealed(revision: u64, size: usize) -> String {
        let text = "x".repeat(size);
        format!(r#"{{"at":"{text}","seal":{{"revision":{revision},"previous":"","seal":""}},"after":{{"id":"s"}}}}"#)
    }

    #[test]
    fn the_last_change_is_found_wherever_it_is_in_the_tail() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let quiet = r#"{"v":1,"event":{"hook_event_name":"PreToolUse"}}"#;
        for size in [10, 5_000, 40_000, 200_000] {
            for lines_after in [0, 1, 300, 600, 601, 602, 603, 604, 605, 3_000] {
                let before = format!("{}\n{}\n", sealed(1, 10), sealed(2, size));
                std::fs::write(&path, before + &format!("{quiet}\n").repeat(lines_after)).unwrap();
                let found = find_change(&path, SearchDepth::Tail, |change| Some(change.seal.revision));
                assert_eq!(found, Some(2), "{size} bytes, {lines_after} lines after it");
                let first = |change: &SealedChange<'_>| (change.seal.revision == 1).then_some(());
                assert_eq!(find_change(&path, SearchDepth::Tail, first), Some(()));
                assert_eq!(find_change(&path, SearchDepth::Whole, first), Some(()));
            }
        }
        assert_eq!(find_change(&folder.path().join("none"), SearchDepth::Tail, |_| Some(())), None);
    }
}
