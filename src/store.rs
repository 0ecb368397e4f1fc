//! `cache.json`: the state of all sessions, written under a lock, read without one.

#![expect(clippy::disallowed_methods, reason = "this is a door to the outside")]

mod file;
mod lock;

pub use file::{StateFile, StateStatus};

use crate::paths::ProjectPaths;
use crate::session::Session;
use std::fs;
use std::io;
use std::path::PathBuf;

/// Takes the lock at `path`; it is given back when the file is dropped, or the process dies.
pub fn hold(path: &std::path::Path) -> Result<fs::File, StoreError> {
    lock::take(path)
}

/// The state of a project.
#[derive(Debug, Clone)]
pub struct StateStore {
    places: ProjectPaths,
    days: u32,
}

/// Why the state could not be written.
#[derive(Debug)]
pub enum StoreError {
    /// The lock was not to be had in time.
    Busy,
    /// The file is of a version that this modegate does not know.
    Newer(u64),
    /// The disk said no.
    Io(PathBuf, io::Error),
}

impl StateStore {
    /// The state of the project at `places`, where a session's entries live for so many days.
    #[must_use]
    pub fn new(places: ProjectPaths, days: u32) -> Self {
        Self { places, days }
    }

    /// The state as it is now; writers rename, so a read is never torn.
    #[must_use]
    pub fn read(&self) -> StateFile {
        match fs::read(self.places.cache()) {
            Ok(bytes) => StateFile::parse(&bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => StateFile::default(),
            Err(error) => StateFile { shape: StateStatus::Unreadable(error.to_string()), ..StateFile::default() },
        }
    }

    /// Changes the state: under the lock, `change` sees it as it is and says what it shall be.
    pub fn change<T>(&self, at: &str, change: impl FnOnce(&mut StateFile) -> T) -> Result<T, StoreError> {
        self.prepare().map_err(|error| StoreError::Io(self.places.hooks(), error))?;
        let _guard = lock::take(&self.places.lock())?;
        let mut state = self.read();
        match state.shape {
            StateStatus::Newer(version) => return Err(StoreError::Newer(version)),
            StateStatus::Unreadable(why) => return Err(StoreError::Io(self.places.cache(), io::Error::other(why))),
            StateStatus::Broken(_) => {
                self.keep_aside(at)?;
                state = StateFile::default();
            }
            StateStatus::Sound => {}
        }
        let value = change(&mut state);
        state.seal(at, self.days);
        self.write(&state)?;
        Ok(value)
    }

    /// The process that holds the lock and does not give it back; `None` when it is free.
    #[must_use]
    pub fn holder(&self) -> Option<String> {
        lock::holder(&self.places.lock())
    }

    /// Puts a session's modes into the state.
    pub fn put(&self, at: &str, session: &Session) -> Result<(), StoreError> {
        self.change(at, |state| state.put(session, at))
    }

    /// Gives a broken file another name, so that nothing is lost.
    fn keep_aside(&self, at: &str) -> Result<(), StoreError> {
        let plain: String = at.chars().filter(char::is_ascii_alphanumeric).collect();
        let aside = self.places.hooks().join(format!("cache.broken-{plain}.json"));
        fs::rename(self.places.cache(), &aside).map_err(|error| StoreError::Io(aside, error))
    }

    /// Makes the folder ready: there, no link, and nothing of ours in git.
    fn prepare(&self) -> io::Result<()> {
        let hooks = self.places.hooks();
        crate::disk::refuse_link(&hooks)?;
        fs::create_dir_all(&hooks)?;
        crate::disk::ignore_own(&hooks);
        Ok(())
    }

    fn write(&self, state: &StateFile) -> Result<(), StoreError> {
        // The lock is held, so one name is enough.
        let beside = self.places.hooks().join("cache.tmp");
        let written = crate::disk::replace(&beside, &self.places.cache(), &state.to_bytes());
        written.map_err(|error| StoreError::Io(self.places.cache(), error))
    }
}

impl std::fmt::Display for StoreError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Busy => f.write_str(
                "another process holds the lock of `.claude/hooks/cache.json`, so the state was not written",
            ),
            Self::Newer(version) => write!(
                f,
                "`.claude/hooks/cache.json` is of version {version}, which this modegate does not know; update modegate"
            ),
            Self::Io(path, error) => write!(f, "`{}` cannot be written: {error}", path.display()),
        }
    }
}

impl std::error::Error for StoreError {}
