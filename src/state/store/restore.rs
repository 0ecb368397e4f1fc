//! Restores the state of a session from its journal, where something other than modegate changed or removed its file.

use super::StateStore;
use super::sealed::StateStatus;
use super::session_file::StoredSession;
use super::summary::UPDATED;
use crate::state::journal_files::{self, SealedChange, SearchDepth};
use jiff::{SignedDuration, Timestamp};
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tampering {
    /// It was removed; the journal has the state.
    Removed,
    /// It was replaced by an older one; the journal has the later one.
    Replaced,
    /// It was changed; the journal has the state.
    Changed,
    /// It was removed or changed, and no journal has the state.
    Lost,
}

impl Tampering {
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Removed => {
                "the state of this session was removed by something other than modegate; it was restored from the journal"
            }
            Self::Replaced => {
                "the state of this session was older than its journal; the later state was restored from there"
            }
            Self::Changed => {
                "the state of this session was changed by something other than modegate; it was restored from the journal"
            }
            Self::Lost => {
                "the state of this session was removed or changed by something other than modegate, and no journal has it; \
                 all modes are left"
            }
        }
    }
}

impl StateStore {
    /// Reads a session without the values for all sessions; its journal is read only where the file cannot be used.
    pub fn read(&self, id: &str) -> StoredSession {
        let stored = self.read_file(id);
        match stored.status {
            StateStatus::Broken(_) | StateStatus::Unreadable(_) => self.restored(stored, SearchDepth::Whole),
            StateStatus::Missing if self.had_state(id) => self.restored(stored, SearchDepth::Whole),
            _ => stored,
        }
    }

    /// Reads a session and compares it with its journal, which may have a later state.
    pub fn read_checked(&self, id: &str) -> StoredSession {
        let stored = self.read_file(id);
        let depth = match stored.status {
            StateStatus::Broken(_) | StateStatus::Unreadable(_) => SearchDepth::Whole,
            StateStatus::Missing if self.had_state(id) => SearchDepth::Whole,
            StateStatus::Missing | StateStatus::Sound => SearchDepth::Tail,
            StateStatus::Newer(_) => return stored,
        };
        self.restored(stored, depth)
    }

    /// Whether a session without a file once had a state: its lock is there, or the whole folder was removed after a summary
    /// was written.
    fn had_state(&self, id: &str) -> bool {
        let is_folder_gone = || self.session_folder().is_some_and(|folder| !folder.exists());
        let has_lock = self.session_path(id, ".lock").is_some_and(|lock| lock.exists());
        has_lock || is_folder_gone() && self.has_written_summary()
    }

    /// The later one of a stored session and its journal.
    fn restored(&self, stored: StoredSession, depth: SearchDepth) -> StoredSession {
        let id = stored.session.id.clone();
        if id.is_empty() || self.places.state_dir.is_none() {
            return stored;
        }
        let journal = self.places.journal(&id);
        // A state that the file has, too, need not be decoded.
        let visit = |change: &SealedChange<'_>| match change.seal.revision > stored.revision {
            _ if !self.is_own(&id, change) => None,
            true => Self::recorded(&id, change).map(Some),
            false => Some(None),
        };
        let later = journal_files::find_change(&journal, depth, visit).flatten();
        let tampering = match (&stored.status, &later) {
            (StateStatus::Broken(_) | StateStatus::Unreadable(_), Some(_)) => Some(Tampering::Changed),
            (StateStatus::Broken(_), None) => Some(Tampering::Lost),
            (StateStatus::Missing, Some(_)) => Some(Tampering::Removed),
            (StateStatus::Missing, None) if self.had_state(&id) => Some(Tampering::Lost),
            (_, Some(_)) => Some(Tampering::Replaced),
            (_, None) => None,
        };
        let status = stored.status.clone();
        StoredSession { status, tampering, ..later.unwrap_or(stored) }
    }

    /// Whether this user has sealed a line of the journal, and it is not too old to be kept.
    fn is_own(&self, id: &str, change: &SealedChange<'_>) -> bool {
        self.accepts_change(id, &change.seal, modes_of(change)) && !self.is_old(&change.at)
    }

    fn recorded(id: &str, change: &SealedChange<'_>) -> Option<StoredSession> {
        let mut stored = StoredSession {
            revision: change.seal.revision,
            last: change.seal.seal.clone(),
            ..StoredSession::default()
        };
        stored.session.id = id.into();
        stored.session.modes = serde_json::from_slice(modes_of(change).as_bytes()).ok()?;
        for state in stored.session.modes.values_mut() {
            Arc::make_mut(state).other.insert(UPDATED.to_owned(), change.at.clone().into());
        }
        Some(stored)
    }

    /// Whether a session that changed last at this time would have been swept.
    fn is_old(&self, at: &str) -> bool {
        let age = at.parse::<Timestamp>().map(|at| Timestamp::now().duration_since(at));
        age.is_ok_and(|age| age > SignedDuration::from_hours(24 * i64::from(self.days)))
    }
}

fn modes_of<'a>(change: &SealedChange<'a>) -> &'a str {
    change.after.modes.map_or("{}", |modes| modes.get())
}
