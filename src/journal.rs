//! The journal: one line an event, with everything that went into its decision.
//!
//! Audit trail, recording for replay, ledger of evidence and map of agents in one. Its loss changes no
//! verdict but those that ask for provenance.

#![expect(clippy::disallowed_methods, reason = "this is a door to the outside")]

mod history;
mod ledger;

use crate::redact::{redacted, sha256};
pub use history::{HistoryBuilder, history};
pub use ledger::ActivityLog;

use crate::facts::{Answer, Question};
use crate::session::Session;
use crate::verdict::{Decision, Finding};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The version of the line's format.
pub const VERSION: u32 = 1;

/// One event and its decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JournalLine {
    /// The version of this format.
    pub v: u32,
    /// When the event came, in UTC.
    pub at: String,
    /// The event, redacted.
    pub event: Value,
    /// The session before it.
    pub before: Session,
    /// The session after it, if it moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Session>,
    /// The hash of the modes and settings that decided.
    pub modes: String,
    /// What was asked of the world, and answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<(Question, Answer)>,
    /// What the gates found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// What was decided.
    pub decision: Decision,
    /// The agent that stops, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<crate::ids::AgentName>,
    /// The files that this event has changed, as they stood right after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrote: Vec<WrittenFile>,
    /// Whether the state could not be kept, so that nothing was told and nothing moved.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lost: bool,
    /// How long it took, in microseconds.
    pub us: u64,
}

/// A file as it stood after an edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenFile {
    /// Its absolute path.
    pub path: String,
    /// The hash of its content.
    pub sha256: String,
}

impl WrittenFile {
    /// Hashes files as they stand; what is gone or too large is left out.
    #[must_use]
    pub fn of(paths: &[&str]) -> Vec<Self> {
        const MANY: usize = 50;
        const LARGEST: u64 = 16 * 1024 * 1024;
        let hashed = |path: &&str| {
            let size = fs::metadata(path).ok().filter(fs::Metadata::is_file)?.len();
            let bytes = (size <= LARGEST).then(|| fs::read(path).ok()).flatten()?;
            Some(Self { path: (*path).to_owned(), sha256: sha256(&bytes) })
        };
        paths.iter().take(MANY).filter_map(hashed).collect()
    }
}

/// A session fit to be written down: what scripts have set beside the sessions may be secret.
#[must_use]
pub fn masked(mut session: Session) -> Session {
    for values in session.values.values_mut() {
        if let Value::Object(masked) = redacted(&Value::Object(std::mem::take(values))) {
            *values = masked;
        }
    }
    session
}

/// Appends a line in one write; a journal over `limit` bytes is put aside first.
pub fn append(path: &Path, lock: &Path, line: &JournalLine, limit: u64) -> io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    let mut file = open(path)?;
    let size = file.metadata()?.len();
    if size > limit && rotate(path, lock, limit) {
        file = open(path)?;
    } else if size > 0 && !ends_a_line(&mut file)? {
        // A line that was cut off, by a full disk or a kill, must not swallow this one.
        text.insert(0, b'\n');
    }
    file.write_all(&text)
}

fn ends_a_line(file: &mut File) -> io::Result<bool> {
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

fn open(path: &Path) -> io::Result<File> {
    path.parent().map_or(Ok(()), crate::disk::refuse_link)?;
    crate::disk::refuse_link(path)?;
    let open = || OpenOptions::new().read(true).append(true).create(true).open(path);
    match open() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            path.ancestors().nth(2).into_iter().for_each(crate::disk::ignore_own);
            open()
        }
        result => result,
    }
}

/// Puts the journal aside; of several processes that want to, one does.
fn rotate(path: &Path, lock: &Path, limit: u64) -> bool {
    let Ok(guard) = OpenOptions::new().create(true).truncate(false).write(true).open(lock) else { return false };
    if fs4::FileExt::try_lock(&guard).is_err() {
        return false;
    }
    let still = fs::metadata(path).is_ok_and(|file| file.len() > limit);
    still && fs::rename(path, aside(path)).is_ok()
}

/// Where the older part of a journal lies.
#[must_use]
pub fn aside(path: &Path) -> PathBuf {
    path.with_extension("old.jsonl")
}

/// Every readable line of a journal, the older part first.
#[must_use]
pub fn lines(path: &Path) -> Vec<JournalLine> {
    all(path).0
}

/// Every readable line of a journal, the older part first, and how many are not readable.
#[must_use]
pub fn all(path: &Path) -> (Vec<JournalLine>, usize) {
    let parts = [aside(path), path.to_owned()].map(|part| fs::read(part).unwrap_or_default());
    let lines = parts.iter().flat_map(|part| part.split(|byte| *byte == b'\n')).filter(|line| !line.is_empty());
    let mut unreadable = 0;
    let readable = lines.filter_map(|line| {
        read(line).or_else(|| {
            unreadable += 1;
            None
        })
    });
    (readable.collect(), unreadable)
}

fn read(line: &[u8]) -> Option<JournalLine> {
    serde_json::from_slice::<JournalLine>(line).ok().filter(|line| line.v <= VERSION)
}

/// Every session that was written down within so many days, as its journal last knew it.
#[must_use]
pub fn last_sessions(folder: &Path, days: u32) -> Vec<Session> {
    let age = Duration::from_secs(u64::from(days) * 24 * 60 * 60);
    let young = |path: &PathBuf| {
        let modified = fs::metadata(path).and_then(|meta| meta.modified()).ok();
        modified.and_then(|modified| modified.elapsed().ok()).is_none_or(|elapsed| elapsed < age)
    };
    journals(folder).into_iter().filter(young).filter_map(|path| last_session(&path)).collect()
}

/// The session as the journal last knew it.
#[must_use]
pub fn last_session(path: &Path) -> Option<Session> {
    last(path).map(|line| line.after.unwrap_or(line.before))
}

/// The last readable line of a journal: when the hook was seen, and in what.
#[must_use]
pub fn last(path: &Path) -> Option<JournalLine> {
    /// Far more than a line has, as a rule.
    const TAIL: u64 = 256 * 1024;
    let tail = tail(path, TAIL).ok()?;
    let mut newest = tail.split(|byte| *byte == b'\n').rev();
    newest.find_map(read).or_else(|| lines(path).pop())
}

/// The readable lines at the end of a journal, as many as are read in a moment.
#[must_use]
pub fn recent(path: &Path) -> Vec<JournalLine> {
    const TAIL: u64 = 2 * 1024 * 1024;
    tail(path, TAIL).unwrap_or_default().split(|byte| *byte == b'\n').filter_map(read).collect()
}

/// The last `size` bytes of a file.
pub fn tail(path: &Path, size: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(size)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The journals of a project's sessions.
#[must_use]
pub fn journals(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let own = |path: &PathBuf| {
        path.extension().is_some_and(|end| end == "jsonl") && !path.to_string_lossy().ends_with(".old.jsonl")
    };
    entries.filter(own).collect()
}
