//! `cache.json`: the state of all sessions, written under a lock, read without one.

#![expect(clippy::disallowed_methods, reason = "this is a door to the outside")]

mod file;
mod lock;

pub use file::{Shape, State};

use crate::paths::Places;
use crate::session::Session;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;

/// The state of a project.
#[derive(Debug, Clone)]
pub struct Store {
    places: Places,
    days: u32,
}

/// Why the state could not be written.
#[derive(Debug)]
pub enum Error {
    /// The lock was not to be had in time.
    Busy,
    /// The file is of a version that this modegate does not know.
    Newer(u64),
    /// The disk said no.
    Io(PathBuf, io::Error),
}

impl Store {
    /// The state of the project at `places`, where a session's entries live for so many days.
    #[must_use]
    pub fn new(places: Places, days: u32) -> Self {
        Self { places, days }
    }

    /// The state as it is now; writers rename, so a read is never torn.
    #[must_use]
    pub fn read(&self) -> State {
        match fs::read(self.places.cache()) {
            Ok(bytes) => State::parse(&bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => State::default(),
            Err(error) => State::unreadable(&error.to_string()),
        }
    }

    /// Changes the state: under the lock, `change` sees it as it is and says what it shall be.
    pub fn change<T>(&self, at: &str, change: impl FnOnce(&mut State) -> T) -> Result<T, Error> {
        let io = |path: PathBuf| |error| Error::Io(path, error);
        fs::create_dir_all(self.places.hooks()).map_err(io(self.places.hooks()))?;
        let _guard = lock::take(&self.places.lock())?;
        let mut state = self.read();
        match state.shape {
            Shape::Newer(version) => return Err(Error::Newer(version)),
            Shape::Broken(_) => {
                self.keep_aside(at)?;
                state = State::default();
            }
            Shape::Sound => {}
        }
        let value = change(&mut state);
        state.seal(at, self.days);
        self.write(&state)?;
        Ok(value)
    }

    /// Puts a session's standing into the state.
    pub fn put(&self, at: &str, session: &Session) -> Result<(), Error> {
        self.change(at, |state| state.put(session, at))
    }

    /// Gives a broken file another name, so that nothing is lost.
    fn keep_aside(&self, at: &str) -> Result<(), Error> {
        let plain: String = at.chars().filter(char::is_ascii_alphanumeric).collect();
        let aside = self.places.hooks().join(format!("cache.broken-{plain}.json"));
        fs::rename(self.places.cache(), &aside).map_err(|error| Error::Io(aside, error))
    }

    /// Writes beside, syncs and renames: a reader sees the old file or the new one.
    fn write(&self, state: &State) -> Result<(), Error> {
        // The lock is held, so one name is enough, and what a killed process left is overwritten.
        let beside = self.places.hooks().join("cache.tmp");
        let written = File::create(&beside).and_then(|mut file| {
            file.write_all(&state.to_bytes())?;
            file.sync_data()
        });
        let renamed = written.and_then(|()| fs::rename(&beside, self.places.cache()));
        renamed.map_err(|error| Error::Io(self.places.cache(), error))
    }
}

impl std::fmt::Display for Error {
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

impl std::error::Error for Error {}
