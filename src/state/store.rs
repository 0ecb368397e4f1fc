//! The state of sessions: a sealed file per session in the user's folder, and `cache.json` in the project as a summary.
//!
//! Files are written under a lock and read without one. What is in the project can come from a repository or from any
//! program, so it is shown and compared, never believed.

mod activity_file;
pub(crate) mod lock;
mod restore;
pub(crate) mod sealed;
mod session_file;
mod summary;
mod summary_file;
mod sweep;
mod values;

pub use restore::Tampering;
pub use sealed::StateStatus;
pub use session_file::StoredSession;
pub use summary::StateSummary;
pub use summary_file::SummaryCheck;

use crate::host::paths::ProjectPaths;
use crate::state::journal::StateSeal;
use crate::state::user_folder::{UserKey, create_private};
use base::cli_error::CliError;
use std::cell::OnceCell;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Takes the lock at `path`; it is released when the file is dropped or the process ends.
pub fn lock(path: &Path) -> Result<fs::File, StoreError> {
    lock::take(path, lock::LOCK_TIMEOUT)
}

#[derive(Debug, Clone)]
pub struct StateStore {
    places: ProjectPaths,
    days: u32,
    key: OnceCell<UserKey>,
}

#[derive(Debug)]
pub struct StoredChange<T> {
    pub value: T,
    /// The seal of the change, for the journal.
    pub seal: StateSeal,
    /// Why `cache.json` does not show it.
    pub hidden: Option<StoreError>,
}

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("another process holds the lock of the state, so the state was not written")]
    Busy,
    #[error("`.claude/hooks/cache.json` is of version {0}, which this modegate does not know")]
    Newer(u64),
    #[error("the state of this session is of version {0}, which this modegate does not know")]
    NewerSession(u64),
    /// The folder for the state would be in the repository, which could then supply it.
    #[error("modegate's folder would be inside the repository, so no state is kept and no mode can start")]
    NoFolder,
    /// A script sets a key to a value that it cannot have.
    #[error("the value has a wrong type: {0}")]
    WrongType(String),
    #[error("`{path}` cannot be written: {error}", path = .0.display(), error = .1)]
    Io(PathBuf, io::Error),
}

impl StoreError {
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Busy => "`modegate doctor` shows which process holds it",
            Self::Newer(_) | Self::NewerSession(_) => "update modegate",
            Self::NoFolder => "unset `MODEGATE_STATE_DIR`, or set it to a folder outside the repository",
            Self::WrongType(_) => "`modegate cache get` shows the keys of a session with their values",
            Self::Io(..) => "check the permissions and the free space there",
        }
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        Self::failure(error.to_string()).hint(error.hint())
    }
}

impl StateStore {
    /// The state of the project at `places`, which keeps a session for `days`.
    pub fn new(places: ProjectPaths, days: u32) -> Self {
        Self { places, days, key: OnceCell::new() }
    }

    fn key(&self) -> io::Result<&UserKey> {
        if let Some(key) = self.key.get() {
            return Ok(key);
        }
        let own = self.places.state_dir.as_deref().ok_or(io::ErrorKind::NotFound)?;
        let key = UserKey::open(own)?;
        Ok(self.key.get_or_init(|| key))
    }

    /// The texts that a seal covers besides the content: what it is for, and the project.
    fn purpose<'a>(&'a self, purpose: &'static [u8]) -> [&'a [u8]; 2] {
        sealed::purpose(purpose, self.places.state_dir.as_deref().unwrap_or(Path::new("")))
    }

    /// Changes the state of a session under its lock; `cache.json` is written if what it shows has changed.
    pub fn change<T>(
        &self,
        id: &str,
        at: &str,
        change: impl FnOnce(&mut StoredSession) -> T,
    ) -> Result<StoredChange<T>, StoreError> {
        self.change_from(id, at, Self::read, change)
    }

    /// Changes the state of a session as `read` returns it: [`Self::read`], or [`Self::read_checked`] for a restored one.
    pub fn change_from<T>(
        &self,
        id: &str,
        at: &str,
        read: impl FnOnce(&Self, &str) -> StoredSession,
        change: impl FnOnce(&mut StoredSession) -> T,
    ) -> Result<StoredChange<T>, StoreError> {
        let path = self.session_file(id).ok_or(StoreError::NoFolder)?;
        let _guard = self.lock_in_folder(&path.with_extension("lock"))?;
        let mut stored = read(self, id);
        match stored.status {
            StateStatus::Newer(version) => return Err(StoreError::NewerSession(version)),
            // What is not known must not be overwritten.
            StateStatus::Unreadable(why) if stored.tampering.is_none() => {
                return Err(StoreError::Io(path, io::Error::other(why)));
            }
            _ => {}
        }
        let before = stored.session.modes.clone();
        let value = change(&mut stored);
        let seal = self.write_file(&mut stored, &path, &before, at)?;
        let is_shown = stored.tampering.is_some() || summary::differs(&before, &stored.session.modes);
        let hidden = is_shown.then(|| self.update_summary(Some(&stored.session), at).err()).flatten();
        Ok(StoredChange { value, seal, hidden })
    }

    /// Deletes the modes of all sessions and the values of scripts, or those of one namespace.
    pub fn reset(&self, namespace: Option<&str>, at: &str) -> Result<(), StoreError> {
        for stored in self.sessions() {
            self.change(&stored.session.id, at, |fresh| match namespace {
                Some(name) => drop(fresh.session.modes.remove(name)),
                None => fresh.session.modes.clear(),
            })?;
        }
        self.change_values(at, |values| match namespace {
            Some(name) => drop(values.remove(name)),
            None => values.clear(),
        })?;
        self.rewrite_summary(at)
    }

    pub fn sessions(&self) -> Vec<StoredSession> {
        self.recent(usize::MAX)
    }

    /// All sessions and values in the form of `cache.json`.
    pub fn summary(&self) -> StateSummary {
        let mut summary = StateSummary { status: StateStatus::Sound, ..StateSummary::default() };
        for stored in self.sessions().iter().rev() {
            summary.put_entries(&stored.session, |state| serde_json::to_value(state));
        }
        summary.put_values(&self.values().0);
        summary.summarize();
        summary
    }

    /// The process that keeps holding the lock of `cache.json` or of a session, with the lock.
    pub fn holder(&self) -> Option<(String, PathBuf)> {
        let sessions = self.session_files().into_iter().map(|(_, path)| path.with_extension("lock"));
        let mut locks = [self.places.lock()].into_iter().chain(sessions);
        locks.find_map(|path| Some((lock::holder(&path)?, path)))
    }

    pub fn unusable(&self) -> Vec<(PathBuf, StateStatus)> {
        let files = self.session_files().into_iter();
        files.filter_map(|(_, path)| self.read_record(&path).err().map(|status| (path, status))).collect()
    }

    /// Whether the user has a folder for the state that no repository can supply.
    pub fn has_folder(&self) -> bool {
        self.places.state_dir.is_some()
    }

    pub fn is_empty(&self) -> bool {
        self.session_files().is_empty() && self.values_status() == StateStatus::Missing && !self.places.cache().exists()
    }

    /// Takes a lock; creates the folder of the state if that is missing.
    fn lock_in_folder(&self, path: &Path) -> Result<fs::File, StoreError> {
        match lock(path) {
            Err(StoreError::Io(_, error)) if error.kind() == io::ErrorKind::NotFound => {
                let folder = self.session_folder().ok_or(StoreError::NoFolder)?;
                create_private(&folder).map_err(|error| StoreError::Io(folder, error))?;
                lock(path)
            }
            taken => taken,
        }
    }
}
