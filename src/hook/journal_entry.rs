//! The journal line of an event.

use super::event_run::EventRun;
use super::transaction::StoredDecision;
use crate::facts::{Answer, Question};
use crate::state::journal::redacted_fields;
use crate::state::journal::{self, JournalLine};
use crate::state::journal_files;
use crate::state::store::StateStore;
use base::screen;

pub(super) struct JournalEntry<'a> {
    pub(super) run: &'a EventRun<'a>,
    /// Files that the tool call changed and the host did not list.
    pub(super) changed: &'a [String],
    /// Sentences about changes that something other than modegate made to its files.
    pub(super) security: &'a [String],
}

impl JournalEntry<'_> {
    /// Writes the line. What is decided and asked is lent to it, as copies would take as long as writing it.
    pub(super) fn write(self, store: &StateStore, decision: &mut StoredDecision, asked: &mut Vec<(Question, Answer)>) {
        let (project, event) = (self.run.project, self.run.event);
        let (settings, decided) = (&decision.modes.settings, &mut decision.decided);
        if !settings.journal || decision.before.id.is_empty() || !project.has_folder() {
            return;
        }
        let wrote: Vec<&str> = event.edited().into_iter().chain(self.changed.iter().map(String::as_str)).collect();
        let has_changed = decided.session != decision.before;
        let line = JournalLine {
            v: journal::VERSION,
            at: self.run.received_at.to_string(),
            event: redacted_fields(&event.fields),
            after: has_changed.then(|| journal::masked(decided.session.clone())),
            seal: decision.seal.take().filter(|_| has_changed),
            before: journal::masked(std::mem::take(&mut decision.before)),
            modes: decision.modes.hash.clone(),
            asked: std::mem::take(asked),
            findings: std::mem::take(&mut decided.findings),
            decision: std::mem::take(&mut decided.decision),
            who: decided.who.clone(),
            wrote: journal_files::hash_written(&wrote),
            lost: decision.is_lost,
            security: self.security.to_vec(),
            us: u64::try_from(self.run.begun.elapsed().as_micros()).unwrap_or(u64::MAX),
        };
        let path = project.places.journal(event.session());
        let limit = u64::from(settings.megabytes) << 20;
        match journal_files::append(&path, &project.places.lock(), &line, limit) {
            // The next stop of an agent then need not read the journal from the beginning, and knows who wrote what even if
            // something removes it.
            Ok(is_block) => {
                let is_notable = line.seal.is_some() || !line.wrote.is_empty();
                if is_block || decided.session.is_in_mode() && is_notable {
                    store.keep_activity(event.session());
                }
            }
            // A journal that cannot be written costs the record, never the decision.
            Err(error) => screen::print_error(format!("modegate: `{}` cannot be written: {error}", path.display())),
        }
        (*asked, decided.findings, decided.decision) = (line.asked, line.findings, line.decision);
    }
}
