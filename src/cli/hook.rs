//! `modegate hook`: reads one event, decides, and prints the reply.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use super::screen;
use crate::disk;
use crate::engine::{Decided, decide};
use crate::event::{Event, EventKind};
use crate::facts::{Answer, Facts, Question};
use crate::hook_entries;
use crate::journal::{self, JournalLine};
use crate::journal_files;
use crate::live::{LiveFacts, as_fork, now, place};
use crate::mode::{BASE, Catalogue};
use crate::mode_cache::ModeCache;
use crate::paths::ProjectPaths;
use crate::redact::redacted;
use crate::reply::{Reply, internal_error, reply};
use crate::session::{ModeState, Session};
use crate::settings::Settings;
use crate::store::{StateStatus, StateStore, StoreError};
use crate::verdict::{Decision, Verdict};
use jiff::SignedDuration;
use std::io::{Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// The largest event that is read.
const LARGEST: u64 = 256 * 1024 * 1024;

/// Answers the event on standard input.
pub(super) fn main(exit_zero: bool, project: Option<&Path>) -> ExitCode {
    // A bug must not stop the user's work: it is reported like any other problem.
    std::panic::set_hook(Box::new(|_| {}));
    let reply = std::panic::catch_unwind(|| {
        let mut bytes = Vec::new();
        match std::io::stdin().lock().take(LARGEST).read_to_end(&mut bytes) {
            Ok(_) => answer(&bytes, project).reply,
            Err(error) => internal_error(&format!("standard input cannot be read: {error}")),
        }
    });
    let reply = reply
        .unwrap_or_else(|_| internal_error("a bug in modegate stopped it from deciding this event; it was allowed"));
    print(&reply);
    if exit_zero { ExitCode::SUCCESS } else { ExitCode::from(reply.exit) }
}

/// Prints a reply with one write per stream, so that nobody reads half of it.
fn print(reply: &Reply) {
    if !reply.stdout.is_empty() {
        let _: std::io::Result<()> = std::io::stdout().write_all(format!("{}\n", reply.stdout).as_bytes());
    }
    if !reply.stderr.is_empty() {
        screen::print_error(&reply.stderr);
    }
}

/// The reply to an event, and what led to it.
#[derive(Debug, Clone, Default)]
pub struct HookAnswer {
    /// The output and exit code.
    pub reply: Reply,
    /// The questions that were asked, with their answers.
    pub asked: Vec<(Question, Answer)>,
    /// The decision; `None` outside a project.
    pub decided: Option<Decided>,
}

/// Answers the event in `bytes` for the project `home`, or for the one that the event and the environment name.
#[must_use]
pub fn answer(bytes: &[u8], home: Option<&Path>) -> HookAnswer {
    answer_with_offset(bytes, home, SignedDuration::ZERO)
}

/// Answers an event with a clock that is `ahead` of now: scenarios wait this way.
#[must_use]
pub fn answer_with_offset(bytes: &[u8], home: Option<&Path>, ahead: SignedDuration) -> HookAnswer {
    let begun = Instant::now();
    let event = match Event::parse(bytes) {
        Ok(event) => as_fork(event),
        Err(why) => {
            return HookAnswer {
                reply: internal_error(&format!("this is not a hook event: {why}")),
                ..HookAnswer::default()
            };
        }
    };
    let home = home.map_or_else(|| place::home_here(event.cwd().map(Path::new)), Path::to_owned);
    let places = ProjectPaths { home };
    if disk::refuse_link(&places.hooks()).is_err() {
        let problem =
            internal_error("`.claude/hooks` is a link, and links are not followed; make it a folder of the project");
        let reply = if event.command().is_some() { problem } else { Reply::default() };
        return HookAnswer { reply, ..HookAnswer::default() };
    }
    match library(&places, &event) {
        Some(library) => {
            let received_at = jiff::Timestamp::now();
            let received_at = received_at.checked_add(ahead).unwrap_or(received_at);
            let run = HookRun {
                places,
                event: &event,
                begun,
                received_at,
                ahead,
                problems: Vec::new(),
                state_not_saved: false,
            };
            run.answer(&library)
        }
        None => HookAnswer::default(),
    }
}

/// Loads the modes in a project, or where a command is about to make the folder one.
fn library(places: &ProjectPaths, event: &Event) -> Option<ModeCache> {
    if places.hooks().is_dir() || event.kind == Some(EventKind::SessionStart) && is_set_up(places) {
        return Some(ModeCache::open(places));
    }
    let call = event.command()?;
    Some(ModeCache::read(places)).filter(|library| library.activated_by(call.name))
}

/// Makes a folder a project if its settings call modegate, as in a colleague's clone: the program is not committed.
fn is_set_up(places: &ProjectPaths) -> bool {
    let calls_modegate = |name: &str| {
        let text = std::fs::read_to_string(places.home.join(".claude").join(name)).unwrap_or_default();
        hook_entries::without_entries(&text).is_ok_and(|without| without != text)
    };
    if !["settings.json", "settings.local.json"].into_iter().any(calls_modegate) {
        return false;
    }
    let made = std::fs::create_dir_all(places.hooks());
    disk::ignore_own(&places.hooks());
    made.is_ok()
}

/// The handling of one event.
struct HookRun<'a> {
    places: ProjectPaths,
    event: &'a Event,
    begun: Instant,
    received_at: jiff::Timestamp,
    ahead: SignedDuration,
    problems: Vec<String>,
    /// Whether the state could not be stored.
    state_not_saved: bool,
}

/// A decision, with the session and the modes that it rests on.
struct DecisionAttempt {
    before: Session,
    catalogue: Catalogue,
    decided: Decided,
}

impl HookRun<'_> {
    fn answer(mut self, library: &ModeCache) -> HookAnswer {
        let id = self.event.session().to_owned();
        let store = StateStore::new(self.places.clone(), library.index.settings.days);
        let (revision, before) = self.session(&store, &id, &library.index.settings);
        let live = LiveFacts::new(self.event, self.places.home.clone(), self.places.journal(&id));
        let live = live.ahead(self.ahead).forked_from(before.ancestors());
        let facts = Facts::new(&live);
        let attempt = self.decide(library, before, &facts);
        let DecisionAttempt { before, catalogue, mut decided } =
            self.store_session(&store, library, revision, attempt, &facts);
        let asked = facts.asked();
        self.write_journal(&catalogue, before, &decided, &asked);
        // Added after the journal line is written: modegate's own problems are not part of a decision that can be replayed.
        if self.event.kind.is_some_and(|kind| kind.row().message) {
            decided.decision.messages.extend(self.problems.iter().map(|text| format!("modegate: {text}")));
        }
        let mut reply = reply(self.event, &decided.decision, &decided.findings);
        for line in self.problems.iter().chain(&self.field_warnings()) {
            let joint = if reply.stderr.is_empty() { "" } else { "\n" };
            reply.stderr = format!("{}{joint}modegate: {line}", reply.stderr);
        }
        HookAnswer { reply, asked, decided: Some(decided) }
    }

    fn decide(&self, library: &ModeCache, before: Session, facts: &Facts<'_>) -> DecisionAttempt {
        let catalogue = self.needed(library, &before);
        let decided = decide(self.event, &catalogue, &before, facts);
        DecisionAttempt { before, catalogue, decided }
    }

    /// Stores the session if it changed; decides again if another process changed the state meanwhile.
    fn store_session(
        &mut self,
        store: &StateStore,
        library: &ModeCache,
        revision: u64,
        mut attempt: DecisionAttempt,
        facts: &Facts<'_>,
    ) -> DecisionAttempt {
        let id = attempt.before.id.clone();
        // A blocked command does not make a folder a project.
        let is_project = attempt.decided.decision.verdict < Verdict::Block || self.places.hooks().is_dir();
        if attempt.decided.session == attempt.before || id.is_empty() || !is_project {
            return attempt;
        }
        let at = facts.clock().at;
        let changed = store.change(&at, |fresh| {
            if fresh.revision != revision {
                attempt = self.decide(library, fresh.session(&id), facts);
            }
            fresh.put(&attempt.decided.session, &at);
        });
        if let Err(error) = changed {
            // A change that is not stored did not happen, so it is not reported.
            self.report_store_error(&error);
            self.state_not_saved = true;
            attempt.decided.session = attempt.before.clone();
            attempt.decided.decision.context.clear();
            attempt.decided.decision.moves.clear();
            // Without a state, blocks cannot be counted, and an agent that is blocked forever costs money.
            if self.event.kind.is_some_and(EventKind::is_stop) && self.event.stop_hook_active() {
                attempt.decided.decision = Decision::default();
            }
        }
        attempt
    }

    /// Returns the modes that this event needs; most events need none while no mode is active.
    fn needed(&self, library: &ModeCache, session: &Session) -> Catalogue {
        let quiet = self.event.command().is_none()
            && self.event.kind != Some(EventKind::SessionStart)
            && !session.is_pending_fork();
        if !quiet || !library.index.broken.is_empty() {
            return library.catalogue();
        }
        let is_busy = |state: &ModeState| {
            let blocks_agent = || state.agents.values().any(|record| record.start_blocked);
            state.is_active || !state.notes.is_empty() || !state.messages.is_empty() || blocks_agent()
        };
        library.needed(self.event, |namespace| session.mode_state(namespace).is_some_and(is_busy))
    }

    /// The session as the state has it, or as the journal does where the state is broken.
    fn session(&mut self, store: &StateStore, id: &str, settings: &Settings) -> (u64, Session) {
        let state = store.read();
        let known = || journal_files::last_session(&self.places.journal(id)).unwrap_or_else(|| state.session(id));
        match &state.status {
            StateStatus::Sound => {
                let odd = state.oddities(id);
                let session = state.session(id);
                if odd.is_empty() {
                    return (state.revision, session);
                }
                self.problems.extend(odd);
                // Written back as it was read, so that it is reported once.
                let healed = store.change(&now().at, |fresh| {
                    fresh.put(&fresh.session(id), &now().at);
                    fresh.revision + 1
                });
                (healed.unwrap_or(state.revision), session)
            }
            StateStatus::Newer(version) => {
                if self.event.kind == Some(EventKind::SessionStart) {
                    self.report_store_error(&StoreError::Newer(*version));
                }
                (state.revision, state.session(id))
            }
            StateStatus::Unreadable(why) => {
                let session = known();
                if matches!(self.event.kind, Some(EventKind::SessionStart | EventKind::UserPromptSubmit)) {
                    self.problems.push(format!("`.claude/hooks/cache.json` cannot be read: {why}"));
                }
                (state.revision, session)
            }
            StateStatus::Broken(why) => {
                let session = known();
                self.repair(store, session, why, settings)
            }
        }
    }

    /// Sets a broken file aside and restores every session from its journal.
    fn repair(&mut self, store: &StateStore, known: Session, why: &str, settings: &Settings) -> (u64, Session) {
        let source = if settings.journal {
            "the sessions' modes are taken from their journals"
        } else {
            "without a journal, all modes are left"
        };
        let text = format!(
            "`.claude/hooks/cache.json` could not be read ({why}); it is kept as `cache.broken-…`, and {source}"
        );
        let carries = self.event.kind.is_some_and(|kind| kind.row().message);
        let at = now().at;
        let others = journal_files::last_sessions(&self.places.sessions(), settings.days);
        let repaired = store.change(&at, |fresh| {
            for session in others {
                if fresh.session(&session.id).modes.is_empty() {
                    fresh.put(&session, &at);
                }
            }
            let mut own = fresh.session(&known.id);
            if !carries {
                // The reply to this event shows no message, so the next event carries it.
                own.modes.entry(format!("{BASE}_mode")).or_default().notes.push(format!("modegate: {text}"));
                fresh.put(&own, &at);
            }
            (fresh.revision + 1, own)
        });
        self.problems.push(text);
        repaired.unwrap_or((0, known))
    }

    fn report_store_error(&mut self, error: &StoreError) {
        self.problems.push(format!("{error}; {}", error.hint()));
    }

    /// Describes the fields of the event that cannot be read.
    fn field_warnings(&self) -> Vec<String> {
        const SHOWN: usize = 5;
        let odd = &self.event.oddities;
        let mut lines: Vec<String> =
            odd.iter().take(SHOWN).map(|odd| format!("{odd}; the field was left out")).collect();
        if odd.len() > SHOWN {
            lines.push(format!("{} more fields cannot be read", odd.len() - SHOWN));
        }
        lines
    }

    fn write_journal(&self, catalogue: &Catalogue, before: Session, decided: &Decided, asked: &[(Question, Answer)]) {
        let settings = &catalogue.settings;
        if !settings.journal || before.id.is_empty() || !self.places.hooks().is_dir() {
            return;
        }
        let line = JournalLine {
            v: journal::VERSION,
            at: self.received_at.to_string(),
            event: redacted(&self.event.to_value()),
            after: (decided.session != before).then(|| journal::masked(decided.session.clone())),
            before: journal::masked(before),
            modes: catalogue.hash.clone(),
            asked: asked.to_vec(),
            findings: decided.findings.clone(),
            decision: decided.decision.clone(),
            who: decided.who.clone(),
            wrote: journal_files::hash_written(&self.event.edited()),
            lost: self.state_not_saved,
            us: u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX),
        };
        let path = self.places.journal(self.event.session());
        let limit = u64::from(settings.megabytes) << 20;
        // A journal that cannot be written costs the record, never the decision.
        if let Err(error) = journal_files::append(&path, &self.places.lock(), &line, limit) {
            screen::print_error(format!("modegate: `{}` cannot be written: {error}", path.display()));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::hook_entries::TIMEOUT;
    use crate::live::STEP_TIMEOUT;
    use crate::store::lock::LOCK_TIMEOUT;
    use std::time::Duration;

    #[test]
    fn the_host_waits_longer_than_the_hook_can_take() {
        // One lock for the state, one for the rotation of the journal.
        let longest = STEP_TIMEOUT + 2 * LOCK_TIMEOUT;
        assert!(longest + Duration::from_secs(20) < Duration::from_secs(TIMEOUT), "{longest:?}");
    }
}
