//! What a compiled file was made of.

use super::{BUILD, IMPORTED, context_folders, defaults, own_contexts};
use crate::host::paths::{ProjectPaths, checksum};
use crate::state::trust;
use base::disk;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Timestamps are coarse: a file written this recently may change again without a new time.
const RACY: Duration = Duration::from_secs(2);

/// How closely the sources are compared with the compiled file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceScope {
    All,
    /// The user's own files, and the record of trust. A project's file that has changed is not trusted any more, and what
    /// the person has agreed to stays in use; so it is enough to notice it with the next event that looks at every file.
    Own,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CacheKey {
    build: String,
    /// Whether the environment trusts the project.
    granted: bool,
    /// The sizes and times of the user's own files, and the record of trust.
    own: u64,
    /// Those of the project's files; `None` if they were not looked at.
    project: Option<u64>,
}

impl CacheKey {
    /// The key of the sources as they are, and whether one of them is too young to be relied on.
    pub(super) fn of_sources(places: &ProjectPaths, scope: SourceScope) -> (Self, bool) {
        let granted = trust::is_granted(places);
        let mut stamps = Stamps::new();
        stamps.add_all(defaults::paths(places).into_iter().chain(places.trust()).chain(places.user_settings.clone()));
        let own = stamps.digest();
        // Without trust from the environment, a changed file is not used before the person agrees to it.
        let project = (granted || scope == SourceScope::All).then(|| {
            let folder = places.modes();
            stamps.add_all(IMPORTED.map(|name| places.home.join(name)));
            stamps.add_all([places.settings(), folder.clone()]);
            stamps.add_all(mode_files(&folder).0);
            let [context, below @ ..] = context_folders(&own_contexts(places)).map(|(_, folder)| folder);
            if stamps.add(&context) {
                stamps.add_all(below);
            }
            stamps.digest()
        });
        (Self { build: BUILD.to_owned(), granted, own, project }, stamps.racy)
    }

    pub(super) fn is_complete(&self) -> bool {
        self.project.is_some()
    }

    /// Whether a file with the key `kept` is up to date, as far as this one tells.
    pub(super) fn accepts(&self, kept: &Self) -> bool {
        let is_same_project = self.project.is_none() || self.project == kept.project;
        is_same_project && (&self.build, self.granted, self.own) == (&kept.build, kept.granted, kept.own)
    }
}

struct Stamps {
    now: SystemTime,
    racy: bool,
    bytes: Vec<u8>,
}

impl Stamps {
    fn new() -> Self {
        Self { now: SystemTime::now(), racy: false, bytes: Vec::new() }
    }

    fn add_all(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        for path in paths {
            self.add(&path);
        }
    }

    fn add(&mut self, path: &Path) -> bool {
        let Ok(meta) = fs::metadata(path) else { return false };
        let modified = meta.modified().unwrap_or(self.now);
        self.racy |= self.now.duration_since(modified).map_or(true, |age| age < RACY);
        let nanos = modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
        self.bytes.extend_from_slice(path.as_os_str().as_encoded_bytes());
        for part in [meta.len(), u64::try_from(nanos).unwrap_or_default() ^ changed(&meta)] {
            self.bytes.extend_from_slice(&part.to_le_bytes());
        }
        true
    }

    fn digest(&self) -> u64 {
        checksum(&self.bytes)
    }
}

/// The inode and its change time, which change even if the file's time is set back.
#[cfg(unix)]
fn changed(meta: &fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    meta.ino().rotate_left(32) ^ meta.ctime().cast_unsigned() ^ meta.ctime_nsec().cast_unsigned().rotate_left(16)
}

#[cfg(not(unix))]
fn changed(_: &fs::Metadata) -> u64 {
    0
}

/// The most files that are read of a folder: every session looks at all of them.
pub(super) const MOST_FILES: usize = 1_000;

pub(super) fn mode_files(folder: &Path) -> (Vec<PathBuf>, usize) {
    let is_yaml = |name: &OsString| Path::new(name).extension().is_some_and(|end| end == "yaml" || end == "yml");
    let mut names = disk::names(folder, usize::MAX).unwrap_or_default();
    names.retain(is_yaml);
    names.sort_unstable();
    let left_out = names.len().saturating_sub(MOST_FILES);
    names.truncate(MOST_FILES);
    (names.into_iter().map(|name| folder.join(name)).collect(), left_out)
}
