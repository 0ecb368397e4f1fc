//! `cache.json`: the state of all sessions, written under a lock, read without one.

#![expect(clippy::disallowed_methods, reason = "an I/O module")]

mod lock;
mod state_file;

pub use state_file::{StateFile, StateStatus};

use crate::disk::{self, LinkPolicy};
use crate::paths::ProjectPaths;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Takes the lock at `path`; it is released when the file is dropped or the process ends.
pub fn lock(path: &Path) -> Result<fs::File, StoreError> {
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
    /// Another process held the lock for too long.
    Busy,
    /// A later modegate has written the file.
    Newer(u64),
    /// The file system failed.
    Io(PathBuf, io::Error),
}

impl StateStore {
    /// The state of the project at `places`, which keeps a session for `days`.
    #[must_use]
    pub fn new(places: ProjectPaths, days: u32) -> Self {
        Self { places, days }
    }

    /// Reads the state; writers rename, so a read is never torn.
    #[must_use]
    pub fn read(&self) -> StateFile {
        match fs::read(self.places.cache()) {
            Ok(bytes) => StateFile::parse(&bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => StateFile::default(),
            Err(error) => StateFile { status: StateStatus::Unreadable(error.to_string()), ..StateFile::default() },
        }
    }

    /// Changes the state under the lock.
    pub fn change<T>(&self, at: &str, change: impl FnOnce(&mut StateFile) -> T) -> Result<T, StoreError> {
        self.prepare().map_err(|error| StoreError::Io(self.places.hooks(), error))?;
        let _guard = lock::take(&self.places.lock())?;
        let mut state = self.read();
        match state.status {
            StateStatus::Newer(version) => return Err(StoreError::Newer(version)),
            StateStatus::Unreadable(why) => return Err(StoreError::Io(self.places.cache(), io::Error::other(why))),
            StateStatus::Broken(_) => {
                self.set_aside(at)?;
                state = StateFile::default();
            }
            StateStatus::Sound => {}
        }
        let value = change(&mut state);
        state.finalize(at, self.days);
        disk::write(&self.places.cache(), &state.to_bytes(), LinkPolicy::Replace)
            .map_err(|error| StoreError::Io(self.places.cache(), error))?;
        Ok(value)
    }

    /// The process that keeps holding the lock; `None` when it is free.
    #[must_use]
    pub fn holder(&self) -> Option<String> {
        lock::holder(&self.places.lock())
    }

    /// Renames a broken file, so that nothing is lost.
    fn set_aside(&self, at: &str) -> Result<(), StoreError> {
        let plain: String = at.chars().filter(char::is_ascii_alphanumeric).collect();
        let aside = self.places.hooks().join(format!("cache.broken-{plain}.json"));
        fs::rename(self.places.cache(), &aside).map_err(|error| StoreError::Io(aside, error))
    }

    /// Creates the folder, which must not be a link, and makes git ignore our files in it.
    fn prepare(&self) -> io::Result<()> {
        let hooks = self.places.hooks();
        disk::refuse_link(&hooks)?;
        fs::create_dir_all(&hooks)?;
        disk::ignore_own(&hooks);
        Ok(())
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
