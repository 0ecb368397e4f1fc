//! The agents and edits of a session, kept beside its state so that its journal need not be read from the beginning.

use super::StateStore;
use super::sealed::{self, Durability};
use crate::journal::ActivityLog;
use crate::journal_files::{self, ACTIVITY_BLOCK, ReadActivity};
use std::io;
use std::path::PathBuf;

/// What a seal is for, so that no file can take the place of another.
const PURPOSE: &[u8] = b"activity";

impl StateStore {
    /// The agents and edits of a session; `None` when its journal cannot be read.
    #[must_use]
    pub fn activity(&self, id: &str) -> Option<ActivityLog> {
        let path = self.activity_file(id);
        let [purpose, project] = self.purpose(PURPOSE);
        let purpose = [purpose, project, id.as_bytes()];
        let kept: Option<ReadActivity> =
            path.as_ref().and_then(|path| sealed::read(path, || self.key().cloned(), &purpose).ok());
        let known = kept.as_ref().map(|kept| kept.position);
        let read = journal_files::activity(&self.places.journal(id), kept)?;
        let from = known.filter(|known| known.is_in_file_of(&read.position)).map_or(0, |known| known.offset);
        if read.position.offset.saturating_sub(from) >= ACTIVITY_BLOCK
            && let (Some(path), Ok(key)) = (path, self.key())
        {
            // Without it, the journal is read again.
            let _: io::Result<()> = sealed::write(&path, key, &purpose, &read, Durability::Lossy);
        }
        Some(read.log)
    }

    fn activity_file(&self, id: &str) -> Option<PathBuf> {
        self.session_file(id).filter(|_| !id.is_empty()).map(|file| file.with_extension("activity"))
    }
}
