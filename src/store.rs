//! `cache.json`: the state of all sessions, written under a lock, read without one.

#![expect(clippy::disallowed_methods, reason = "an I/O module")]

pub(crate) mod lock;
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
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process held the lock for too long.
    #[error("another process holds the lock of `.claude/hooks/cache.json`, so the state was not written")]
    Busy,
    /// A later modegate has written the file.
    #[error("`.claude/hooks/cache.json` is of version {0}, which this modegate does not know")]
    Newer(u64),
    /// The file system failed.
    #[error("`{path}` cannot be written: {error}", path = .0.display(), error = .1)]
    Io(PathBuf, io::Error),
}

impl StoreError {
    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Busy => "`modegate doctor` shows which process holds it",
            Self::Newer(_) => "update modegate",
            Self::Io(..) => "check the permissions and the free space there",
        }
    }
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
        disk::remove_stale_temporaries(&self.places.cache());
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    #[test]
    fn a_write_removes_old_temporary_files() {
        let home = tempfile::tempdir().unwrap();
        let places = ProjectPaths { home: home.path().to_owned() };
        let hooks = places.hooks();
        fs::create_dir_all(&hooks).unwrap();
        let old = SystemTime::now() - Duration::from_mins(2);
        for (name, old) in [
            ("cache.json.killed.tmp", Some(old)),
            ("cache.json.running.tmp", None),
            ("settings.json.killed.tmp", Some(old)),
            ("cache.json.bak", Some(old)),
        ] {
            let file = fs::File::create(hooks.join(name)).unwrap();
            if let Some(old) = old {
                file.set_modified(old).unwrap();
            }
        }
        StateStore::new(places, 1).change("2026-01-01T00:00:00Z", |_| ()).unwrap();
        let has = |name: &str| hooks.join(name).exists();
        assert!(has("cache.json") && !has("cache.json.killed.tmp"));
        assert!(has("cache.json.running.tmp") && has("settings.json.killed.tmp") && has("cache.json.bak"));
    }

    #[test]
    fn an_error_says_what_to_do() {
        let error = StoreError::Newer(7);
        assert_eq!(error.hint(), "update modegate");
        assert!(error.to_string().ends_with("is of version 7, which this modegate does not know"), "{error}");
    }
}
