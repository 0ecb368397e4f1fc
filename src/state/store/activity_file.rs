//! The agents and edits of a session, kept beside its state so that its journal need not be read from the beginning.

use super::StateStore;
use super::sealed::{self, Durability};
use crate::state::journal::ActivityLog;
use crate::state::journal_files::{self, ACTIVITY_BLOCK, ReadActivity};
use std::io;
use std::path::PathBuf;

/// What a seal is for, so that no file can take the place of another.
const PURPOSE: &[u8] = b"activity";

impl StateStore {
    /// The agents and edits of a session; `None` when its journal cannot be read.
    pub fn activity(&self, id: &str) -> Option<ActivityLog> {
        let kept = self.kept_activity(id);
        let known = kept.as_ref().map(|kept| kept.position);
        let read = journal_files::activity(&self.places.journal(id), kept)?;
        let from = known.filter(|known| known.file == read.position.file).map_or(0, |known| known.offset);
        if read.position.offset.saturating_sub(from) >= ACTIVITY_BLOCK {
            self.write_activity(id, &read);
        }
        Some(read.log)
    }

    /// Stores the agents and edits of a session, so that they are known even if something removes the journal.
    pub fn keep_activity(&self, id: &str) {
        if let Some(read) = journal_files::activity(&self.places.journal(id), self.kept_activity(id)) {
            self.write_activity(id, &read);
        }
    }

    /// Whether something removed or changed the journal since its agents and edits were stored; returned only once, unless the
    /// journal still cannot be read.
    pub fn take_journal_alteration(&self, id: &str) -> bool {
        let Some(kept) = self.kept_activity(id) else { return false };
        let read = journal_files::activity(&self.places.journal(id), Some(kept));
        let altered = read.filter(|read| read.is_altered);
        if let Some(read) = &altered {
            self.write_activity(id, &ReadActivity { is_altered: false, ..read.clone() });
        }
        altered.is_some()
    }

    fn kept_activity(&self, id: &str) -> Option<ReadActivity> {
        let [purpose, project] = self.purpose(PURPOSE);
        sealed::read(&self.activity_file(id)?, || self.key().cloned(), &[purpose, project, id.as_bytes()]).ok()
    }

    fn write_activity(&self, id: &str, read: &ReadActivity) {
        let [purpose, project] = self.purpose(PURPOSE);
        if let (Some(path), Ok(key)) = (self.activity_file(id), self.key()) {
            // Without it, the journal is read again.
            let written = sealed::write(&path, key, &[purpose, project, id.as_bytes()], read, Durability::Lossy);
            let _: io::Result<()> = written;
        }
    }

    fn activity_file(&self, id: &str) -> Option<PathBuf> {
        self.session_path(id, ".activity").filter(|_| !id.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::user_folder::{create_private, project_paths_in};
    use serde_json::json;
    use std::path::Path;

    /// A journal of at least one block, with an edit at its beginning and one at its end.
    fn lines(at: &str, agent: &str) -> String {
        let edit = |sha256: &str| {
            json!({"v": 1, "at": at, "event": {"hook_event_name": "PostToolUse", "agent_id": agent, "agent_type": agent},
                "wrote": [{"path": "/a.md", "sha256": sha256}]})
            .to_string()
        };
        let quiet = json!({"v": 1, "event": {"hook_event_name": "PreToolUse", "text": "x".repeat(1_000)}}).to_string();
        let count = usize::try_from(ACTIVITY_BLOCK).unwrap() / quiet.len() + 1;
        format!("{}\n{}{}\n", edit("first"), format!("{quiet}\n").repeat(count), edit("last"))
    }

    fn check(store: &StateStore, journal: &Path, agent: &str) {
        let whole = journal_files::activity(journal, None).unwrap().log;
        let kept = store.activity("s").unwrap();
        assert_eq!(kept.writer(|_| true, "last").as_deref(), Some(agent));
        assert_eq!(kept.writer(|_| true, "last"), whole.writer(|_| true, "last"));
        assert_eq!(kept.writers(|_| true).last(), whole.writers(|_| true).last());
    }

    #[test]
    fn the_kept_log_goes_on_where_it_ended() {
        let folder = tempfile::tempdir().unwrap();
        let places = project_paths_in(folder.path().join("app"), &folder.path().join("state"));
        let store = StateStore::new(places.clone(), 30);
        let journal = places.journal("s");
        std::fs::create_dir_all(journal.parent().unwrap()).unwrap();
        create_private(&store.session_folder().unwrap()).unwrap();
        assert_eq!(store.activity("s"), None);
        let first = lines("2026-01-01T00:00:00.000000001Z", "one");
        std::fs::write(&journal, &first).unwrap();
        check(&store, &journal, "one");
        let kept = store.activity_file("s").unwrap();
        let written = std::fs::read(&kept).unwrap();
        // A few more lines are read, but not stored.
        std::fs::write(&journal, first.clone() + &first.lines().last().unwrap().replace("one", "two") + "\n").unwrap();
        check(&store, &journal, "two");
        assert_eq!(std::fs::read(&kept).unwrap(), written);
        // A rotated journal goes on in a new file, which may be the only one that is left of two.
        std::fs::rename(&journal, journal_files::older_part(&journal)).unwrap();
        std::fs::write(&journal, lines("2026-01-01T00:00:00.000000002Z", "three")).unwrap();
        check(&store, &journal, "three");
        assert_eq!(store.activity("s").unwrap().writers(|_| true), ["one", "two", "three"]);
        // What something else has written is not believed.
        std::fs::write(&kept, std::fs::read_to_string(&kept).unwrap().replace("three", "thief")).unwrap();
        check(&store, &journal, "three");
    }
}
