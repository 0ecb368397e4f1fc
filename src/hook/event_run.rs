//! One event of a project: the session is checked, the event decided and stored, the journal written, the reply rendered.

use super::HookAnswer;
use super::integrity::checked_session;
use super::journal_entry::JournalEntry;
use super::notices::Notices;
use super::project::{HookProject, HooksFolder};
use super::reply::{Reply, reply};
use super::transaction::Transaction;
use crate::facts::Facts;
use crate::host::event::{Event, EventKind};
use crate::state::mode_cache::ModeCache;
use crate::state::store::{StateStore, StoreError};
use crate::world::{LiveFacts, now};
use jiff::{SignedDuration, Timestamp};
use std::time::Instant;

/// An event, and when and where it came.
pub(super) struct EventRun<'a> {
    pub(super) project: &'a HookProject,
    pub(super) event: &'a Event,
    pub(super) begun: Instant,
    pub(super) received_at: Timestamp,
    pub(super) clock_offset: SignedDuration,
}

impl EventRun<'_> {
    pub(super) fn answer(&self, open_modes: &ModeCache<'_>, end: &dyn Fn(&Reply)) -> HookAnswer {
        let (event, places, index) = (self.event, &self.project.places, &open_modes.index);
        let mut notices = Notices::default();
        if event.session().is_empty() {
            notices.add_problem("the event has no session id, so its modes are not known and no state is kept");
        }
        let store = StateStore::new(places.clone(), index.settings.days);
        let stored = checked_session(self, &store, &index.settings, &mut notices);
        if event.kind == Some(EventKind::SessionStart) {
            store.sweep(event.session(), &now().at);
        }
        let live = LiveFacts::with_store(event, places.clone(), places.journal(event.session()), store.clone());
        let live = live.with_clock_offset(self.clock_offset).forked_from(stored.session.ancestors());
        let live = live.with_accepted(index.trust.accepted.as_ref());
        notices.add_trust(event, places, &index.trust);
        let facts = Facts::new(&live);
        let transaction = Transaction { run: self, open_modes, store: &store, facts: &facts };
        let mut decision = transaction.run(stored, &mut notices);
        let mut asked = facts.asked();
        notices.add_left_out(event, places, &asked);
        let is_in_mode = decision.decided.session.is_in_mode();
        if is_in_mode
            && self.project.hooks == HooksFolder::Missing
            && !self.project.has_folder()
            && self.project.is_installed()
        {
            // A tool has removed the folder. A session without modes leaves it alone: it may only have been moved for a moment.
            let _: Result<(), StoreError> = store.update_summary(Some(&decision.decided.session), &now().at);
        }
        let changed = if is_in_mode && event.may_have_edited() { live.changed_files() } else { Vec::new() };
        let entry = JournalEntry { run: self, changed: &changed, security: &notices.security };
        entry.write(&store, &mut decision, &mut asked);
        let (mut decided, modes) = (decision.decided, decision.modes);
        notices.add_to_decision(event, &mut decided.decision);
        let mut reply = reply(event, &decided.decision, &decided.findings);
        notices.add_to_reply(event, &mut reply);
        end(&reply);
        HookAnswer { reply, asked, decided: Some(decided), modes }
    }
}
