//! The state of one session: a file in the user's folder with a sealed line per change, of which the last one counts.

use super::restore::Tampering;
use super::sealed::{self, Durability, StateStatus};
use super::summary::UPDATED;
use super::{StateStore, StoreError};
use crate::facts::session::{Session, SessionModes};
use crate::host::ids::SessionId;
use crate::host::paths::safe_name;
use crate::state::journal::StateSeal;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a seal is for, so that no file can take the place of another.
const PURPOSE: &[u8] = b"session";
const CHANGE: &[u8] = b"change";

#[derive(Debug, Serialize, Deserialize)]
struct SessionRecord {
    id: SessionId,
    revision: u64,
    #[serde(default)]
    last: String,
    #[serde(default)]
    modes: SessionModes,
}

#[derive(Debug, Clone, Default)]
pub struct StoredSession {
    /// The session, without the values for all sessions.
    pub session: Session,
    pub revision: u64,
    /// Whether its file could be read; a restored session has the status of the file.
    pub status: StateStatus,
    pub tampering: Option<Tampering>,
    pub(super) last: String,
}

impl StateStore {
    pub(super) fn session_file(&self, id: &str) -> Option<PathBuf> {
        self.session_path(id, ".json")
    }

    /// A path in the folder of sessions: the session's id, and this ending.
    pub(super) fn session_path(&self, id: &str, ending: &str) -> Option<PathBuf> {
        let own = self.places.state_dir.as_ref()?;
        Some(own.join(["sessions/", &safe_name(id), ending].concat()))
    }

    pub(super) fn session_folder(&self) -> Option<PathBuf> {
        self.places.state_dir.as_ref().map(|own| own.join("sessions"))
    }

    /// Reads the file of a session, without looking at anything else.
    pub(super) fn read_file(&self, id: &str) -> StoredSession {
        let empty = Session { id: id.into(), ..Session::default() };
        let Some(path) = self.session_file(id).filter(|_| !id.is_empty()) else {
            return StoredSession { session: empty, ..StoredSession::default() };
        };
        match self.read_record(&path) {
            Ok(stored) if *stored.session.id == *id => stored,
            Ok(_) => StoredSession {
                session: empty,
                status: StateStatus::Broken("it belongs to another session".to_owned()),
                ..StoredSession::default()
            },
            Err(status) => {
                let session = self.unverified(&path, &status).filter(|session| *session.id == *id).unwrap_or(empty);
                StoredSession { session, status, ..StoredSession::default() }
            }
        }
    }

    /// The session in a file whose seal cannot be checked, because the key cannot be read: without its modes, every gate would
    /// open.
    fn unverified(&self, path: &Path, status: &StateStatus) -> Option<Session> {
        if !matches!(status, StateStatus::Unreadable(_)) || self.key().is_ok() {
            return None;
        }
        let SessionRecord { id, modes, .. } = sealed::unverified(&sealed::read_bytes(path).ok()?)?;
        Some(Session { id, modes, ..Session::default() })
    }

    pub(super) fn read_record(&self, path: &Path) -> Result<StoredSession, StateStatus> {
        let text = sealed::read_bytes(path)?;
        let record = sealed::decode(&text, || self.key().cloned(), &self.purpose(PURPOSE))?;
        let SessionRecord { id, revision, last, modes } = record;
        let session = Session { id, modes, ..Session::default() };
        Ok(StoredSession { session, revision, last, status: StateStatus::Sound, tampering: None })
    }

    /// Writes a session whose modes were `before` to its file; returns the seal for the journal.
    pub(super) fn write_file(
        &self,
        stored: &mut StoredSession,
        path: &Path,
        before: &SessionModes,
        at: &str,
    ) -> Result<StateSeal, StoreError> {
        let io = |error| StoreError::Io(path.to_owned(), error);
        let key = self.key().map_err(io)?;
        stored.revision = stored.revision.saturating_add(1);
        let previous = std::mem::take(&mut stored.last);
        let modes = serde_json::to_string(&stored.session.modes).map_err(|error| io(error.into()))?;
        let texts = change_texts(&previous, &stored.session.id, stored.revision, &modes);
        stored.last = key.seal(&texts.each_ref().map(Vec::as_slice));
        for (name, state) in &mut stored.session.modes {
            if before.get(name) != Some(state) {
                Arc::make_mut(state).other.insert(UPDATED.to_owned(), at.into());
            }
        }
        let record = SessionRecord {
            id: stored.session.id.clone(),
            revision: stored.revision,
            last: stored.last.clone(),
            modes: stored.session.modes.clone(),
        };
        let durability = if moves(before, &stored.session.modes) { Durability::Synced } else { Durability::Lossy };
        sealed::append(path, key, &self.purpose(PURPOSE), &record, durability).map_err(io)?;
        Ok(StateSeal { revision: stored.revision, previous, seal: stored.last.clone() })
    }

    /// Whether the seal of a change in a journal is this user's.
    pub(super) fn accepts_change(&self, id: &str, seal: &StateSeal, modes: &str) -> bool {
        let Ok(key) = self.key() else { return false };
        let texts = change_texts(&seal.previous, id, seal.revision, modes);
        key.seal(&texts.each_ref().map(Vec::as_slice)) == seal.seal
    }
}

/// Whether a mode begins, ends or changes its phase. The rest, such as which start was allowed, is written without
/// waiting for the disk: after a power cut, the journal has the state.
fn moves(before: &SessionModes, after: &SessionModes) -> bool {
    let place = |modes: &SessionModes| -> Vec<(String, Option<String>)> {
        let active = modes.iter().filter(|(_, state)| state.is_active);
        active.map(|(name, state)| (name.clone(), state.phase.clone())).collect()
    };
    place(before) != place(after)
}

fn change_texts(previous: &str, id: &str, revision: u64, modes: &str) -> [Vec<u8>; 5] {
    let revision = revision.to_le_bytes().to_vec();
    [CHANGE.to_vec(), previous.into(), id.into(), revision, modes.into()]
}
