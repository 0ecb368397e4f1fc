//! `cache.json` on disk: compared with the sessions' own files, never believed.

use super::sealed::StateStatus;
use super::summary::{SESSIONS, StateSummary};
use super::{StateStore, StoreError, lock};
use crate::facts::session::Session;
use base::disk;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// How long a process waits for the lock of the summary: the next change or prompt writes it anyway.
const PATIENCE: Duration = Duration::from_millis(200);

const LARGEST: u64 = 64 << 20;

/// How `cache.json` differs from the state of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SummaryCheck {
    Same,
    /// modegate wrote it, before the session's last change.
    Stale,
    /// Something other than modegate removed it.
    Removed,
    /// Something other than modegate changed it.
    Changed,
    /// It shows modes of the session, of which the user's folder knows nothing: its state is gone.
    Lost,
    /// It is not a state file, for this reason.
    Broken(String),
    /// A later modegate wrote it.
    Newer(u64),
}

impl SummaryCheck {
    /// What something other than modegate did to the file, as a sentence.
    pub fn sentence(&self) -> Option<String> {
        let what = match self {
            Self::Same | Self::Stale | Self::Newer(_) => return None,
            Self::Removed => "was removed by something other than modegate; it was written again".to_owned(),
            Self::Changed => "was changed by something other than modegate; it was restored".to_owned(),
            Self::Lost => {
                "shows modes of this session, but its state in modegate's own folder is gone, so they are no longer active"
                    .to_owned()
            }
            Self::Broken(why) => {
                format!("could not be read ({why}); it is kept as `cache.broken-…`, and a new one was written")
            }
        };
        Some(format!("`.claude/hooks/cache.json` {what}"))
    }
}

struct SummaryFile {
    summary: StateSummary,
    /// Its digest, if this user's modegate wrote exactly this file.
    own: Option<String>,
    /// Whether this user's modegate has written the file before.
    is_known: bool,
}

impl StateStore {
    pub fn check_summary(&self, session: &Session) -> SummaryCheck {
        let check = self.compare(session);
        if check.sentence().is_none() {
            return check;
        }
        // Other processes may have written it meanwhile; while they do, nobody is blamed.
        match self.lock_summary() {
            Ok(Some(_guard)) => self.compare(session),
            Ok(None) => SummaryCheck::Stale,
            Err(_) => check,
        }
    }

    fn compare(&self, session: &Session) -> SummaryCheck {
        let SummaryFile { summary, own, is_known } = self.summary_file();
        match &summary.status {
            StateStatus::Newer(version) => SummaryCheck::Newer(*version),
            StateStatus::Broken(why) | StateStatus::Unreadable(why) => SummaryCheck::Broken(why.clone()),
            StateStatus::Missing if session.modes.is_empty() => SummaryCheck::Same,
            StateStatus::Missing if is_known => SummaryCheck::Removed,
            _ if summary.shows(session) => SummaryCheck::Same,
            _ if !is_known && session.modes.is_empty() && summary.lists(&session.id) => SummaryCheck::Lost,
            _ if own.is_some() || !is_known => SummaryCheck::Stale,
            _ => SummaryCheck::Changed,
        }
    }

    pub fn summary_status(&self) -> StateStatus {
        self.summary_file().summary.status
    }

    /// Writes the state of a session and the values for all sessions to `cache.json`; `None` for the values only.
    ///
    /// It is skipped while another process has the lock.
    pub fn update_summary(&self, session: Option<&Session>, at: &str) -> Result<(), StoreError> {
        self.replace_summary(at, |SummaryFile { summary, own, is_known }| {
            let mut summary = match summary.status {
                StateStatus::Sound if own.is_some() => summary,
                StateStatus::Sound if is_known => self.rebuilt(summary),
                StateStatus::Sound => self.rebuilt(summary.without_sessions()),
                _ => self.rebuilt(StateSummary::default()),
            };
            if let Some(session) = session {
                summary.put(session);
            }
            summary
        })
    }

    /// Writes `cache.json` again from the sessions' own files.
    pub(super) fn rewrite_summary(&self, at: &str) -> Result<(), StoreError> {
        self.replace_summary(at, |SummaryFile { summary: StateSummary { revision, .. }, .. }| {
            self.rebuilt(StateSummary { revision, ..StateSummary::default() })
        })
    }

    fn replace_summary(&self, at: &str, make: impl FnOnce(SummaryFile) -> StateSummary) -> Result<(), StoreError> {
        let Some(_guard) = self.lock_summary()? else { return Ok(()) };
        let file = self.summary_file();
        match file.summary.status {
            StateStatus::Newer(version) => return Err(StoreError::Newer(version)),
            StateStatus::Broken(_) | StateStatus::Unreadable(_) => self.set_aside(at)?,
            StateStatus::Sound | StateStatus::Missing => {}
        }
        let own = file.own.clone();
        self.write_summary(make(file), own)
    }

    fn lock_summary(&self) -> Result<Option<fs::File>, StoreError> {
        self.prepare_hooks().map_err(|error| StoreError::Io(self.places.hooks(), error))?;
        match lock::take(&self.places.lock(), PATIENCE) {
            Ok(guard) => Ok(Some(guard)),
            Err(StoreError::Busy) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn rebuilt(&self, mut summary: StateSummary) -> StateSummary {
        for stored in self.recent(SESSIONS).iter().rev() {
            summary.put(&stored.session);
        }
        summary
    }

    fn summary_file(&self) -> SummaryFile {
        let known = self.known_digests();
        let is_known = !known.is_empty();
        let path = self.places.cache();
        match disk::read_unlinked(&path, LARGEST) {
            Ok(bytes) => {
                let own = self.digest(&bytes).filter(|digest| known.contains(digest));
                SummaryFile { summary: StateSummary::parse(&bytes), own, is_known }
            }
            Err(error) => {
                let status = match error.kind() {
                    io::ErrorKind::NotFound => StateStatus::Missing,
                    _ => StateStatus::Unreadable(disk::reason(&error)),
                };
                let summary = StateSummary { status, ..StateSummary::default() };
                SummaryFile { summary, own: None, is_known }
            }
        }
    }

    /// Writes the file without a sync: it can be written again at any time.
    fn write_summary(&self, mut summary: StateSummary, present: Option<String>) -> Result<(), StoreError> {
        summary.put_values(&self.values().0);
        summary.trim();
        summary.summarize();
        summary.revision = summary.revision.saturating_add(1);
        let path = self.places.cache();
        let bytes = summary.to_bytes();
        let written = self
            .remember_digest(&bytes, &present.unwrap_or_default())
            .and_then(|()| disk::write_unsynced(&path, &bytes));
        written.map_err(|error| StoreError::Io(path, error))
    }

    fn digest(&self, bytes: &[u8]) -> Option<String> {
        Some(self.key().ok()?.seal(&[b"summary", bytes]))
    }

    fn digest_file(&self) -> Option<PathBuf> {
        self.places.state_dir.as_ref().map(|own| own.join("summary"))
    }

    /// The digests of the last two summaries that modegate wrote.
    fn known_digests(&self) -> Vec<String> {
        let text = self.digest_file().and_then(|path| disk::read_text(&path, LARGEST).ok());
        text.unwrap_or_default().lines().take(2).map(str::to_owned).collect()
    }

    pub(super) fn has_written_summary(&self) -> bool {
        self.digest_file().is_some_and(|path| path.exists())
    }

    /// Stores the digest of the next summary beside that of the present one: a process may be killed between the two.
    fn remember_digest(&self, bytes: &[u8], present: &str) -> io::Result<()> {
        let path = self.digest_file().ok_or(io::ErrorKind::NotFound)?;
        let digest = self.digest(bytes).ok_or(io::ErrorKind::NotFound)?;
        disk::write_unsynced(&path, format!("{digest}\n{present}\n").as_bytes())
    }

    /// Renames a file that cannot be read, so that nothing is lost.
    fn set_aside(&self, at: &str) -> Result<(), StoreError> {
        let plain: String = at.chars().filter(char::is_ascii_alphanumeric).collect();
        let aside = self.places.hooks().join(format!("cache.broken-{plain}.json"));
        fs::rename(self.places.cache(), &aside).map_err(|error| StoreError::Io(aside, error))
    }

    /// Creates the folder, which must not be a link, and makes git ignore our files in it.
    pub(super) fn prepare_hooks(&self) -> io::Result<()> {
        let hooks = self.places.hooks();
        if !fs::symlink_metadata(&hooks).is_ok_and(|meta| meta.is_dir()) {
            disk::refuse_link(&hooks)?;
            fs::create_dir_all(&hooks)?;
        }
        crate::state::ignore_own(&hooks);
        Ok(())
    }
}
