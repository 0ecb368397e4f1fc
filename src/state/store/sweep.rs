//! Removes the state of old sessions, and what killed writers left behind.

use super::session_file::StoredSession;
use super::{StateStore, lock};
use base::disk;
use std::cmp::Reverse;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const DAY: Duration = Duration::from_hours(24);

/// How many other sessions must have changed since for a session to be old: one alone may have had a wrong clock.
const WITNESSES: usize = 2;

impl StateStore {
    /// Removes the sessions that have not changed for `days`, and temporary files, at most once a day; `own` is never removed.
    ///
    /// The age of a session is the time between its last change and those of other sessions: the clock of one event
    /// proves nothing.
    pub fn sweep(&self, own: &str, at: &str) {
        let Some(folder) = self.session_folder().filter(|_| self.is_sweep_due()) else { return };
        disk::remove_stale_temporaries(&self.places.cache());
        remove_temporaries(&folder);
        let mut files = self.session_files();
        files.retain(|(changed, _)| *changed <= SystemTime::now() + DAY);
        let age = DAY * self.days;
        let Some((newest, _)) = files.get(WITNESSES - 1) else { return };
        let oldest = newest.checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH);
        let own = self.session_file(own);
        let old =
            files.iter().skip(WITNESSES).filter(|(changed, path)| *changed < oldest && Some(path) != own.as_ref());
        let removed = old.filter(|(_, path)| remove(path, oldest)).count();
        if removed > 0 {
            // It can be written with the next change.
            let _: Result<(), _> = self.rewrite_summary(at);
        }
    }

    fn is_sweep_due(&self) -> bool {
        let Some(mark) = self.session_folder().map(|folder| folder.join("swept")) else { return false };
        let swept = fs::symlink_metadata(&mark).and_then(|meta| meta.modified());
        let is_due = !swept.is_ok_and(|swept| swept.elapsed().is_ok_and(|age| age < DAY));
        is_due && disk::write_unsynced(&mark, b"").is_ok()
    }

    /// The files of all sessions with the time of their last change, the latest first.
    pub(super) fn session_files(&self) -> Vec<(SystemTime, PathBuf)> {
        let entries =
            self.session_folder().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
        let mut files: Vec<_> = entries
            .filter(|entry| entry.path().extension().is_some_and(|end| end == "json"))
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        files.sort_unstable_by(|left, right| Reverse(left).cmp(&Reverse(right)));
        files
    }

    /// The sessions that changed last, the latest first.
    pub fn recent(&self, most: usize) -> Vec<StoredSession> {
        let files = self.session_files().into_iter().take(most);
        files.filter_map(|(_, path)| self.read_record(&path).ok()).collect()
    }
}

/// Removes a session with its lock, unless it is being changed.
fn remove(path: &Path, oldest: SystemTime) -> bool {
    let lock = path.with_extension("lock");
    let Some(_guard) = lock::try_take(&lock) else { return false };
    let is_old = fs::symlink_metadata(path).and_then(|meta| meta.modified()).is_ok_and(|changed| changed < oldest);
    let removed = is_old && fs::remove_file(path).is_ok();
    if removed {
        for other in [lock, path.with_extension("activity")] {
            let _: std::io::Result<()> = fs::remove_file(other);
        }
    }
    removed
}

fn remove_temporaries(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_temporary = entry.path().extension().is_some_and(|end| end == "tmp");
        let age = entry.metadata().and_then(|meta| meta.modified()).map(|changed| changed.elapsed());
        if is_temporary && matches!(age, Ok(Ok(age)) if age > DAY) {
            let _: std::io::Result<()> = fs::remove_file(entry.path());
        }
    }
}
