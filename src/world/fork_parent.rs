//! The session that another was forked from: its transcript has the lines that the two share.
//!
//! The host copies the lines of the parent, with their `uuid`, into the transcript of the fork. Only some hosts name
//! the parent in them (`forkedFrom`), and lines of a fork of a fork may still name the grandparent.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use super::host_process::resumed_session;
use crate::facts::session::Session;
use crate::facts::{ForkParent, ParentSession};
use crate::host::event::Event;
use crate::host::ids::SessionId;
use crate::host::paths::ProjectPaths;
use crate::host::transcript::TranscriptRecord;
use crate::state::store::StateStore;
use memchr::memmem;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long the host may take to write the lines that it has in memory.
const PATIENCE: Duration = Duration::from_secs(1);

/// How much of the end of a fork's transcript is read.
const OWN_TAIL: u64 = 8 << 20;

/// How much of the end of another transcript is read: that session may have gone on since.
const OTHER_TAIL: u64 = 16 << 20;

/// How many lines of the fork's own may follow the shared ones.
const OWN_LINES: usize = 500;

/// How many sessions are compared, the latest first.
const CANDIDATES: usize = 16;

/// How many sessions with a state are looked at, the latest first.
const RECENT: usize = 200;

/// How many sessions with active modes are named.
const NAMED: usize = 3;

pub(super) struct ParentSearch<'a> {
    pub places: &'a ProjectPaths,
    pub event: &'a Event,
    pub transcript: Option<&'a Path>,
    /// Whether the host is about to write the lines: it has asked the model already.
    pub wait: bool,
}

impl ParentSearch<'_> {
    pub(super) fn run(&self) -> ForkParent {
        let state = StateStore::new(self.places.clone(), u32::MAX);
        let lines = self.shared_lines();
        if let Some(parent) = self.find(&state, &lines) {
            return ForkParent::Found(parent);
        }
        let active = self.active_sessions(&state);
        if lines.is_empty() { ForkParent::NotWritten { active } } else { ForkParent::NotFound { active } }
    }

    fn find(&self, state: &StateStore, lines: &[ConversationLine]) -> Option<ParentSession> {
        let Some(last) = lines.first() else {
            let resumed = resumed_session(self.event).filter(|id| id != self.event.session());
            return resumed.and_then(|id| self.known(state, &id));
        };
        // A host that names the parent in the last line has just copied it from there.
        let named = last.forked_from.clone().and_then(|id| self.known(state, &id));
        let holder = || self.holder(state, lines).and_then(|id| self.known(state, &id));
        let older = || lines.iter().find_map(|line| line.forked_from.clone()).and_then(|id| self.known(state, &id));
        named.or_else(holder).or_else(older)
    }

    /// The lines of the conversation in the session's transcript, the last one first.
    fn shared_lines(&self) -> Vec<ConversationLine> {
        let Some(path) = self.transcript else { return Vec::new() };
        let begun = Instant::now();
        loop {
            let lines = conversation_lines(&base::disk::read_tail(path, OWN_TAIL).unwrap_or_default());
            if !lines.is_empty() || !self.wait || begun.elapsed() > PATIENCE {
                return lines;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The session in whose transcript the last shared line is.
    fn holder(&self, state: &StateStore, lines: &[ConversationLine]) -> Option<String> {
        let others: Vec<(String, Vec<u8>)> = self
            .candidates(state)
            .into_iter()
            .filter_map(|(id, path)| Some((id, base::disk::read_tail(&path, OTHER_TAIL).ok()?)))
            .collect();
        for line in lines {
            let has_line = |(_, text): &&(String, Vec<u8>)| memmem::find(text, line.uuid.as_bytes()).is_some();
            let holders: Vec<&String> = others.iter().filter(has_line).map(|(id, _)| id).collect();
            if holders.is_empty() {
                continue;
            }
            // Other forks of the parent have the line too, and have the parent as an ancestor.
            let is_above = |id: &&&String| {
                holders.iter().all(|other| other == *id || ancestors(state, other).iter().any(|one| *one == ***id))
            };
            return holders.iter().find(is_above).map(|id| (*id).clone());
        }
        None
    }

    /// The latest sessions with a transcript next to this one's, and those in which a mode is active.
    fn candidates(&self, state: &StateStore) -> Vec<(String, PathBuf)> {
        let Some(folder) = self.transcript.and_then(Path::parent) else { return Vec::new() };
        let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        let mut found: Vec<_> = entries
            .filter_map(|entry| {
                let path = entry.path();
                let id = path.file_name()?.to_str()?.strip_suffix(".jsonl")?.to_owned();
                (id != self.event.session()).then_some((entry.metadata().ok()?.modified().ok()?, id, path))
            })
            .collect();
        found.sort_unstable_by(|left, right| right.cmp(left));
        let active = active_ids(state);
        let is_active = |id: &str| active.iter().any(|active| **active == *id);
        let found = found.into_iter().enumerate();
        let found = found.filter(|(place, (_, id, _))| *place < CANDIDATES || is_active(id));
        found.map(|(_, (_, id, path))| (id, path)).take(2 * CANDIDATES).collect()
    }

    /// A session that has a state, a journal or at least a transcript.
    fn known(&self, state: &StateStore, id: &str) -> Option<ParentSession> {
        let session = Some(state.read_checked(id).session).filter(|session| !session.modes.is_empty());
        let is_there = |folder: &Path| folder.join(format!("{id}.jsonl")).is_file();
        let is_recorded = || self.places.journal(id).is_file();
        if session.is_none() && !is_recorded() && !self.transcript.and_then(Path::parent).is_some_and(is_there) {
            return None;
        }
        let session = session.unwrap_or_default();
        Some(ParentSession {
            id: id.into(),
            ancestors: session.ancestors().to_vec(),
            modes: session
                .modes
                .iter()
                .map(|(namespace, state)| (namespace.clone(), Arc::new(state.for_fork())))
                .collect(),
        })
    }

    fn active_sessions(&self, state: &StateStore) -> Vec<SessionId> {
        active_ids(state).into_iter().filter(|id| **id != *self.event.session()).take(NAMED).collect()
    }
}

/// The latest sessions in which a mode is active.
fn active_ids(state: &StateStore) -> Vec<SessionId> {
    let is_active = |session: &Session| session.modes.values().any(|mode| mode.is_active);
    let sessions = state.recent(RECENT).into_iter().map(|stored| stored.session);
    let mut ids: Vec<SessionId> = sessions.filter(is_active).map(|session| session.id).collect();
    ids.sort_unstable();
    ids
}

fn ancestors(state: &StateStore, id: &str) -> Vec<SessionId> {
    state.read(id).session.ancestors().to_vec()
}

struct ConversationLine {
    uuid: String,
    forked_from: Option<String>,
}

/// The lines of a transcript that have a `uuid`, the last one first.
fn conversation_lines(text: &[u8]) -> Vec<ConversationLine> {
    let lines = text.rsplit(|byte| *byte == b'\n').filter_map(|line| {
        // Cheaper than reading every line of the host's own notes.
        memmem::find(line, b"\"uuid\"")?;
        let record = TranscriptRecord::parse(line)?;
        let forked_from = record.forked_from().filter(|id| crate::host::paths::safe_name(id) == *id);
        Some(ConversationLine { uuid: record.uuid.into_string()?, forked_from })
    });
    lines.take(OWN_LINES).collect()
}
