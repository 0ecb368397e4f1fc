//! `modegate hook`: reads one event, decides, and prints the reply.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use super::event_input::read_event;
use super::{host_settings, screen, trust};
use crate::crash;
use crate::disk::{self, LinkResolver, SeenFolders};
use crate::engine::{Decided, decide};
use crate::event::{Event, EventKind};
use crate::facts::{Answer, Facts, Question};
use crate::hook_entries;
use crate::installation;
use crate::journal::{self, JournalLine, StateSeal};
use crate::journal_files;
use crate::live::{LiveFacts, TRUST_REASON, as_fork, is_run_by_tool, now, place};
use crate::mode::{BASE, Catalogue, ProjectTrust};
use crate::mode_cache::{BusyMode, ModeCache, SourceScope};
use crate::paths::ProjectPaths;
use crate::redact::redacted_fields;
use crate::reply::{self, Reply, internal_error, reply};
use crate::session::{ModeState, Session};
use crate::settings::Settings;
use crate::store::{StateStatus, StateStore, StoreError, StoredSession, SummaryCheck};
use crate::user_folder::hook_paths;
use crate::verdict::{Decision, Verdict};
use clap::Args;
use jiff::SignedDuration;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The problem with a folder that is a link.
const LINKED: &str = "`.claude/hooks` is a link or a file, so no journal is written; make it a folder of the project";

/// The problem with an installation whose folder is missing.
const GONE: &str = "`.claude/hooks` is gone, and with it the copy of the program there; run `modegate install`";

/// The sentence about a journal that something other than modegate altered.
const ALTERED_JOURNAL: &str = "the journal of this session was removed or changed by something other than modegate; what it \
    had about agents and their edits is still known";

/// The size of an event, in bytes, above which its analysis is watched. Shorter ones are limited by counted work alone: starting a
/// thread would slow down every event.
const LONG_EVENT: usize = 4 * 1024;

/// How long the analysis of an event may take; counted work ends nearly all of them long before.
const LONGEST_ANALYSIS: Duration = Duration::from_secs(3);

/// The event, for the reply after a crash.
static EVENT: OnceLock<Vec<u8>> = OnceLock::new();

/// The options of `modegate hook`.
#[derive(Args, Debug, Clone, Copy, Default)]
pub(super) struct HookOptions {
    /// Exit with 0 even when the event is blocked, for Claude Code before 2.1.90
    #[arg(long)]
    pub(super) exit_zero: bool,
    /// Stay silent if a settings file also calls modegate for this event (for plugins and managed settings)
    #[arg(long)]
    pub(super) fallback: bool,
}

/// Answers the event on standard input.
pub(super) fn main(options: HookOptions, project: Option<&Path>) -> ExitCode {
    if is_run_by_tool() {
        // The model must not tell modegate what has happened.
        screen::print_error("modegate: only Claude Code itself runs `modegate hook`; this event was ignored");
        return ExitCode::SUCCESS;
    }
    // A bug must not stop the user's work: it is reported like any other problem.
    crash::handle_panics(|_| end_after_crash());
    match read_event().map(|bytes| EVENT.get_or_init(|| bytes)) {
        Ok(bytes) if options.fallback && host_settings::answer_instead(bytes, project) => {}
        Ok(bytes) => {
            if bytes.len() > LONG_EVENT {
                crash::watch_analyses(LONGEST_ANALYSIS, move || end_after_time(options.exit_zero));
            }
            let end = |reply: &Reply| end_with(reply, options.exit_zero);
            let project = |event: &Event| project_of(event, project);
            end(&answered(bytes, &project, Instant::now(), SignedDuration::ZERO, &end).reply);
        }
        Err(error) => print(&internal_error(&error.to_string())),
    }
    ExitCode::SUCCESS
}

/// Replies after a panic in any thread. Nothing has been printed yet: that is the last thing the hook does.
fn end_after_crash() {
    // A panic here would end the hook without a reply, so the event is only parsed if that has worked before.
    let event = EVENT.get().filter(|_| crash::is_analyzing()).and_then(|bytes| Event::parse(bytes).ok());
    end_with(&event.map_or_else(reply::crashed, |event| reply::crashed_on_command(&event)), false);
}

/// Replies in place of an analysis that takes too long: without an answer, the host goes on as if the gates had passed.
fn end_after_time(exit_zero: bool) {
    let event = EVENT.get().and_then(|bytes| Event::parse(bytes).ok());
    end_with(&event.map_or_else(reply::crashed, |event| reply::too_slow(&event)), exit_zero);
}

/// Prints a reply and ends the process.
#[expect(clippy::exit, reason = "nothing is left to do, and a program that panicked cannot end in another way")]
fn end_with(reply: &Reply, exit_zero: bool) {
    static IS_REPLYING: AtomicBool = AtomicBool::new(false);
    if IS_REPLYING.swap(true, Ordering::Relaxed) {
        // Another thread ends the process.
        std::thread::sleep(Duration::from_secs(1));
    } else {
        print(reply);
    }
    std::process::exit(if exit_zero { 0 } else { i32::from(reply.exit) });
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
    /// The modes that it rests on.
    pub modes: Catalogue,
}

/// Answers the event in `bytes` for the project `home`, or for the one that the event and the environment name.
#[must_use]
pub fn answer(bytes: &[u8], home: Option<&Path>) -> HookAnswer {
    answered(bytes, &|event| project_of(event, home), Instant::now(), SignedDuration::ZERO, &|_| {})
}

/// Answers an event in a project with a clock that is `ahead` of now: scenarios wait this way.
#[must_use]
pub fn answer_in(bytes: &[u8], places: &ProjectPaths, ahead: SignedDuration) -> HookAnswer {
    let project = |_: &Event| FoundProject { places: places.clone(), compiled: None, links: None };
    answered(bytes, &project, Instant::now(), ahead, &|_| {})
}

/// The project of an event.
struct FoundProject {
    places: ProjectPaths,
    /// Its compiled modes, if they were opened on the way.
    compiled: Option<File>,
    /// Folders that were looked at on the way.
    links: Option<LinkResolver>,
}

/// The project `home`, or the one that an event and the environment name.
fn project_of(event: &Event, home: Option<&Path>) -> FoundProject {
    let mut seen = SeenFolders::around_here();
    let here = |seen: &mut SeenFolders| place::home_here(event.cwd().map(Path::new), seen);
    let home = home.map_or_else(|| here(&mut seen), Path::to_owned);
    let (places, compiled) = hook_paths(home, &mut seen);
    FoundProject { places, compiled, links: Some(seen.into_links()) }
}

/// Answers an event. The reply to an event of a project goes to `end` first: the hook ends there, as freeing what it has read
/// takes as long as reading it.
fn answered(
    bytes: &[u8],
    project: &dyn Fn(&Event) -> FoundProject,
    begun: Instant,
    ahead: SignedDuration,
    end: &dyn Fn(&Reply),
) -> HookAnswer {
    let event = match Event::parse(bytes) {
        Ok(event) => as_fork(event),
        Err(why) => {
            return HookAnswer {
                reply: internal_error(&format!("this is not a hook event: {why}")),
                ..HookAnswer::default()
            };
        }
    };
    let FoundProject { places, compiled, links } = project(&event);
    let hooks = HooksFolder::of(&places);
    match library(&places, compiled, &event, hooks) {
        Some(library) => {
            let received_at = jiff::Timestamp::now();
            let received_at = received_at.checked_add(ahead).unwrap_or(received_at);
            let run = HookRun {
                places: &places,
                event: &event,
                hooks,
                begun,
                received_at,
                ahead,
                problems: Vec::new(),
                security: Vec::new(),
                seal: None,
                state_not_saved: false,
                ends_hooks: false,
                changed: Vec::new(),
            };
            run.answer(&library, links, end)
        }
        None => HookAnswer::default(),
    }
}

/// Loads the modes in a project, or where a command is about to make the folder one.
fn library<'p>(
    places: &'p ProjectPaths,
    compiled: Option<File>,
    event: &Event,
    hooks: HooksFolder,
) -> Option<ModeCache<'p>> {
    // A tool may have removed the folder: the record of the installation shows that this is a project.
    let is_missing = hooks == HooksFolder::Missing;
    let is_new = is_missing && event.kind == Some(EventKind::SessionStart) && is_set_up(places);
    if is_new || !is_missing || is_installed(places) {
        let looks_closely = event.kind.is_some_and(installation::compares);
        let check = if looks_closely { SourceScope::All } else { SourceScope::Own };
        return Some(ModeCache::open(places, check, compiled));
    }
    let call = event.command()?;
    Some(ModeCache::read(places)).filter(|library| library.activated_by(call.name))
}

/// Whether the user's folder shows that this is a project.
fn is_installed(places: &ProjectPaths) -> bool {
    places.installation().is_some_and(|record| record.exists())
}

/// What is at `.claude/hooks`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HooksFolder {
    Missing,
    Folder,
    /// A link, which may lead anywhere, or a file: modegate decides, but writes nothing there.
    Other,
}

impl HooksFolder {
    fn of(places: &ProjectPaths) -> Self {
        match std::fs::symlink_metadata(places.hooks()) {
            Ok(meta) if meta.is_dir() => Self::Folder,
            Ok(_) => Self::Other,
            // `.claude` itself is a file, or a link to itself.
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Self::Other,
            Err(_) => Self::Missing,
        }
    }
}

/// Makes a folder a project if its settings call modegate or enable its plugin, as in a colleague's clone: the program is
/// not committed.
fn is_set_up(places: &ProjectPaths) -> bool {
    let calls_modegate = |name: &str| {
        let text = disk::read_text(&places.home.join(".claude").join(name), disk::CONFIGURATION).unwrap_or_default();
        hook_entries::has_entries(&text) || hook_entries::enables_plugin(&text)
    };
    if !["settings.json", "settings.local.json"].into_iter().any(calls_modegate) {
        return false;
    }
    let made = std::fs::create_dir_all(places.hooks());
    disk::ignore_own(&places.hooks());
    made.is_ok()
}

/// The handling of one event. Its long steps are not inlined: each would keep its values on the stack, and every page of it
/// that is touched costs a page fault.
struct HookRun<'a> {
    places: &'a ProjectPaths,
    event: &'a Event,
    /// What was at `.claude/hooks` when the event came.
    hooks: HooksFolder,
    begun: Instant,
    received_at: jiff::Timestamp,
    ahead: SignedDuration,
    problems: Vec<String>,
    /// Sentences about changes that something other than modegate made to its files.
    security: Vec<String>,
    /// The seal of the change that was stored.
    seal: Option<StateSeal>,
    /// Whether the state could not be stored.
    state_not_saved: bool,
    /// Whether the settings on disk would end the hooks, and a tool call made them so.
    ends_hooks: bool,
    /// Files that the tool call changed and the host did not list.
    changed: Vec<String>,
}

/// A decision, with the session and the modes that it rests on.
struct DecisionAttempt {
    before: Session,
    catalogue: Catalogue,
    decided: Decided,
}

impl HookRun<'_> {
    fn answer(mut self, library: &ModeCache<'_>, links: Option<LinkResolver>, end: &dyn Fn(&Reply)) -> HookAnswer {
        let id = self.event.session().to_owned();
        if id.is_empty() {
            self.problems
                .push("the event has no session id, so its modes are not known and no state is kept".to_owned());
        }
        let store = StateStore::new(self.places.clone(), library.index.settings.days);
        let mut stored = self.session(&store, &id, &library.index.settings);
        if self.event.kind == Some(EventKind::SessionStart) {
            store.sweep(&id, &now().at);
        }
        let before = std::mem::take(&mut stored.session);
        let journal = self.places.journal(&id);
        let live = LiveFacts::with_store(self.event, self.places.clone(), journal.clone(), store.clone());
        let live = live.ahead(self.ahead).knowing(links).forked_from(before.ancestors());
        let live = live.accepting(library.index.trust.accepted.as_ref());
        self.report_trust(&library.index.trust);
        let facts = Facts::new(&live);
        let attempt = self.decide(library, &store, before, &facts);
        let DecisionAttempt { before, catalogue, mut decided } =
            self.store_session(&store, library, stored, attempt, &facts);
        let mut asked = facts.asked();
        self.report_left_out(&asked);
        let is_in_mode = decided.session.modes.values().any(|state| state.is_active);
        if is_in_mode && self.event.may_have_edited() {
            self.changed = live.changed_files();
        }
        if is_in_mode && self.hooks == HooksFolder::Missing && !self.has_folder() && is_installed(self.places) {
            // A tool has removed the folder. A session without modes leaves it alone: it may only have been moved for a moment.
            let _: Result<(), StoreError> = store.update_summary(Some(&decided.session), &now().at);
        }
        self.write_journal(&journal, &store, &catalogue, before, &mut decided, &mut asked);
        // Added after the journal line is written: modegate's own problems are not part of a decision that can be replayed.
        if self.event.kind.is_some_and(|kind| kind.row().message) {
            decided.decision.messages.extend(self.problems.iter().map(|text| format!("modegate: {text}")));
        }
        if self.event.kind == Some(EventKind::Stop) {
            // The host shows a message at a stop, and there may be no next event.
            let linked = self.problems.iter().filter(|text| *text == LINKED);
            decided
                .decision
                .messages
                .extend(self.security.iter().chain(linked).map(|text| format!("modegate: {text}")));
        }
        if self.ends_hooks && self.event.kind == Some(EventKind::ConfigChange) {
            decided.decision.verdict = Verdict::Block;
            "the changed settings would end modegate's hooks".clone_into(&mut decided.decision.reason);
        }
        let mut reply = reply(self.event, &decided.decision, &decided.findings);
        for line in self.problems.iter().chain(&self.field_warnings()) {
            let joint = if reply.stderr.is_empty() { "" } else { "\n" };
            reply.stderr = format!("{}{joint}modegate: {line}", reply.stderr);
        }
        end(&reply);
        HookAnswer { reply, asked, decided: Some(decided), modes: catalogue }
    }

    /// Whether `.claude/hooks` is a folder; the event itself may have created it.
    fn has_folder(&self) -> bool {
        let missing = self.hooks == HooksFolder::Missing;
        let hooks = if missing { HooksFolder::of(self.places) } else { self.hooks };
        hooks == HooksFolder::Folder
    }

    fn decide(
        &self,
        library: &ModeCache<'_>,
        store: &StateStore,
        mut before: Session,
        facts: &Facts<'_>,
    ) -> DecisionAttempt {
        let catalogue = self.needed(library, &before);
        store.add_values(&mut before);
        let decided = decide(self.event, &catalogue, &before, facts);
        DecisionAttempt { before, catalogue, decided }
    }

    /// Stores the session if it changed; decides again if another process changed the state meanwhile.
    #[inline(never)]
    fn store_session(
        &mut self,
        store: &StateStore,
        library: &ModeCache<'_>,
        mut stored: StoredSession,
        mut attempt: DecisionAttempt,
        facts: &Facts<'_>,
    ) -> DecisionAttempt {
        let id = attempt.before.id.clone();
        // A blocked command does not make a folder a project.
        let is_project = self.hooks != HooksFolder::Missing || is_installed(self.places);
        let is_project = is_project || attempt.decided.decision.verdict < Verdict::Block;
        if attempt.decided.session == attempt.before || id.is_empty() || !is_project {
            return attempt;
        }
        let at = self.received_at.round(jiff::Unit::Millisecond).unwrap_or(self.received_at).to_string();
        let revision = stored.revision;
        stored.session = attempt.before.clone();
        let changed = store.change_known(&id, &at, stored, |fresh| {
            if fresh.revision != revision {
                attempt = self.decide(library, store, fresh.session.clone(), facts);
            }
            fresh.session.modes.clone_from(&attempt.decided.session.modes);
        });
        let changed = changed.map(|change| {
            self.seal = Some(change.seal);
            if let Some(error) = change.hidden.filter(|_| self.event.kind == Some(EventKind::UserPromptSubmit)) {
                self.report_store_error(&error);
            }
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
    fn needed(&self, library: &ModeCache<'_>, session: &Session) -> Catalogue {
        let is_first = self.event.kind == Some(EventKind::SessionStart) || session.is_pending_fork();
        if is_first || !library.index.broken.is_empty() {
            return library.catalogue();
        }
        library.needed(self.event, &busy_modes(session))
    }

    /// The session as the store has it, restored where something other than modegate changed it. What was noticed goes
    /// through the base mode, if there is one.
    fn session(&mut self, store: &StateStore, id: &str, settings: &Settings) -> StoredSession {
        let has_base = !settings.disable.iter().any(|mode| mode == BASE);
        let stored = if self.is_checked() { store.read_checked(id) } else { store.read(id) };
        let compares = self.event.kind.is_some_and(installation::compares);
        let mut noticed: Vec<String> = stored.tampering.map(|what| what.sentence().to_owned()).into_iter().collect();
        if compares && self.hooks == HooksFolder::Other {
            self.problems.push(LINKED.to_owned());
        } else if compares && self.hooks == HooksFolder::Missing && !self.has_folder() && is_installed(self.places) {
            self.problems.push(GONE.to_owned());
        } else if compares && !id.is_empty() && self.places.own.is_some() && self.has_folder() {
            noticed.extend(self.compare_summary(store, &stored));
            let is_in_mode = stored.session.modes.values().any(|state| state.is_active);
            if is_in_mode && settings.journal && store.take_journal_alteration(id) {
                noticed.push(ALTERED_JOURNAL.to_owned());
            }
            let changes = installation::compare(self.places, id);
            self.ends_hooks = changes.ends_hooks;
            noticed.extend(changes.sentences);
        }
        self.report_state(store, &stored.status);
        if noticed.is_empty() {
            return stored;
        }
        self.security.extend(noticed.iter().cloned());
        if !has_base {
            self.problems.extend(noticed);
            return stored;
        }
        let is_stop = self.event.kind == Some(EventKind::Stop);
        let told = store.change_checked(id, &now().at, |fresh| {
            let base = fresh.session.base_mut();
            for text in &noticed {
                base.notes.push(format!("modegate: {text}."));
                if !is_stop {
                    base.messages.push(format!("modegate: {text}"));
                }
            }
        });
        match told {
            Ok(_) => store.read(id),
            Err(error) => {
                self.report_store_error(&error);
                self.problems.extend(noticed);
                stored
            }
        }
    }

    /// Whether the state is compared with the journal: where modes begin and end, and before agents start.
    fn is_checked(&self) -> bool {
        let starts = matches!(self.event.tool(), Some("Agent" | "Task" | "Skill"));
        match self.event.kind {
            Some(EventKind::SessionStart | EventKind::UserPromptSubmit | EventKind::SubagentStart) => true,
            Some(EventKind::PreToolUse) => starts,
            kind => kind.is_some_and(EventKind::is_stop),
        }
    }

    /// Compares `cache.json` with the session; returns what something other than modegate did to it.
    fn compare_summary(&mut self, store: &StateStore, stored: &StoredSession) -> Option<String> {
        match store.check_summary(&stored.session) {
            SummaryCheck::Same => None,
            SummaryCheck::Newer(version) => {
                if self.event.kind.is_some_and(|kind| kind.row().message) {
                    self.report_store_error(&StoreError::Newer(version));
                }
                None
            }
            other => {
                if stored.tampering.is_none() {
                    let _: Result<(), StoreError> = store.update_summary(Some(&stored.session), &now().at);
                }
                other.sentence()
            }
        }
    }

    /// Reports a state that cannot be used, where a session begins and with each prompt.
    fn report_state(&mut self, store: &StateStore, status: &StateStatus) {
        if !matches!(self.event.kind, Some(EventKind::SessionStart | EventKind::UserPromptSubmit)) {
            return;
        }
        match status {
            StateStatus::Newer(version) => self.report_store_error(&StoreError::NewerSession(*version)),
            StateStatus::Unreadable(why) => {
                self.problems.push(format!("the state of this session cannot be read: {why}"));
            }
            _ if self.places.own.is_none() => self.report_store_error(&StoreError::NoFolder),
            _ => {}
        }
        if let StateStatus::Broken(why) = store.values_status() {
            let text = format!(
                "the values that scripts have set cannot be used ({why}); set them again with `modegate cache set`"
            );
            self.security.push(text.clone());
            self.problems.push(text);
        }
    }

    /// Reports files that the person has not agreed to: when a session starts, and once when they change.
    fn report_trust(&mut self, trust: &ProjectTrust) {
        let is_start = self.event.kind == Some(EventKind::SessionStart);
        if !is_start && self.event.kind != Some(EventKind::UserPromptSubmit) {
            return;
        }
        if is_start {
            self.problems.extend(trust::project_above(self.places));
        }
        let Some(notice) = trust.notice() else { return };
        let known = self.places.own.as_ref().map(|own| own.join("trust-notice"));
        let is_known =
            known.as_ref().is_some_and(|path| disk::read_text(path, disk::SMALL).is_ok_and(|old| old == notice));
        if let Some(path) = known.filter(|_| !is_known) {
            let _: std::io::Result<()> = disk::write(&path, notice.as_bytes(), disk::LinkPolicy::Replace);
        }
        if is_start || !is_known {
            self.problems.push(notice);
        }
    }

    /// Reports context files that are left out because the person has not agreed to them, once per session.
    fn report_left_out(&mut self, asked: &[(Question, Answer)]) {
        let reason = |(question, answer): &(Question, Answer)| match (question, answer) {
            (Question::Context(_), Answer::Unknown(why)) => {
                Some(why.to_string()).filter(|why| why.contains(TRUST_REASON))
            }
            _ => None,
        };
        let (Some(notice), true) =
            (asked.iter().find_map(reason), self.event.kind.is_some_and(|kind| kind.row().message))
        else {
            return;
        };
        let Some(path) = self.places.own.as_ref().map(|own| own.join("context-notice")) else { return };
        let known = format!("{}\n{notice}", self.event.session());
        if disk::read_text(&path, disk::SMALL).is_ok_and(|old| old == known) {
            return;
        }
        let _: std::io::Result<()> = disk::write(&path, known.as_bytes(), disk::LinkPolicy::Replace);
        self.problems.push(format!("{notice}; its context is left out"));
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

    /// Writes the line of the journal. What is decided and asked is lent to it, as copies would take as long as writing it.
    #[inline(never)]
    fn write_journal(
        &self,
        path: &Path,
        store: &StateStore,
        catalogue: &Catalogue,
        before: Session,
        decided: &mut Decided,
        asked: &mut Vec<(Question, Answer)>,
    ) {
        let settings = &catalogue.settings;
        if !settings.journal || before.id.is_empty() || !self.has_folder() {
            return;
        }
        let wrote: Vec<&str> = self.event.edited().into_iter().chain(self.changed.iter().map(String::as_str)).collect();
        let line = JournalLine {
            v: journal::VERSION,
            at: self.received_at.to_string(),
            event: redacted_fields(self.event.fields.all()),
            after: (decided.session != before).then(|| journal::masked(decided.session.clone())),
            seal: self.seal.clone().filter(|_| decided.session != before),
            before: journal::masked(before),
            modes: catalogue.hash.clone(),
            asked: std::mem::take(asked),
            findings: std::mem::take(&mut decided.findings),
            decision: std::mem::take(&mut decided.decision),
            who: decided.who.clone(),
            wrote: journal_files::hash_written(&wrote),
            lost: self.state_not_saved,
            security: self.security.clone(),
            us: u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX),
        };
        let is_in_mode = decided.session.modes.values().any(|state| state.is_active);
        let limit = u64::from(settings.megabytes) << 20;
        match journal_files::append(path, &self.places.lock(), &line, limit) {
            // The next stop of an agent then need not read the journal from the beginning, and knows who wrote what even if
            // something removes it.
            Ok(is_block) if is_block || is_in_mode && (line.seal.is_some() || !line.wrote.is_empty()) => {
                store.keep_activity(self.event.session());
            }
            Ok(_) => {}
            // A journal that cannot be written costs the record, never the decision.
            Err(error) => screen::print_error(format!("modegate: `{}` cannot be written: {error}", path.display())),
        }
        (*asked, decided.findings, decided.decision) = (line.asked, line.findings, line.decision);
    }
}

/// The modes that are active in a session, or have something to deliver there.
fn busy_modes(session: &Session) -> Vec<BusyMode<'_>> {
    let waits = |state: &ModeState| {
        let blocks_agent = || state.agents.values().any(|record| record.start_blocked);
        let delivers = !state.notes.is_empty() || !state.messages.is_empty();
        delivers || !state.waiting.is_empty() || blocks_agent()
    };
    let modes = session.modes.iter();
    let busy = modes.filter(|(_, state)| state.is_active || waits(state));
    busy.map(|(namespace, state)| BusyMode { namespace, waits: waits(state) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::TOOLS;
    use crate::facts::RecordedAnswers;
    use crate::hook_entries::TIMEOUT;
    use crate::live::{GIT_TIMEOUT, STEP_TIMEOUT};
    use crate::store::lock::LOCK_TIMEOUT;
    use crate::user_folder::project_paths_in;
    use serde_json::json;
    use std::process::Command;
    use std::time::Duration;

    #[test]
    fn a_tool_call_is_decided_alike_without_the_modes_that_it_does_not_need() {
        let folder = tempfile::tempdir().unwrap();
        let places = project_paths_in(folder.path().join("app"), &folder.path().join("state"));
        let all = ModeCache::open(&places, SourceScope::All, None).catalogue();
        let library = ModeCache::open(&places, SourceScope::All, None);
        let (mut fewer, answers) = (0, RecordedAnswers::default());
        let active = |phase: &str, notes: &[&str]| -> ModeState {
            serde_json::from_value(json!({"is_active": true, "phase": phase, "notes": notes})).unwrap()
        };
        for mode in all.modes.iter().filter(|mode| mode.name != BASE) {
            let phases = mode.phases.iter().map(|phase| phase.name.as_str());
            let states = phases.flat_map(|phase| [active(phase, &[]), active(phase, &["a note"])]);
            for state in states {
                let modes = [(mode.namespace.clone(), std::sync::Arc::new(state))].into();
                let session = Session { id: "s".into(), modes, ..Session::default() };
                for tool in TOOLS.iter().copied().chain(["mcp__files__write", "SlashCommand", "Task", "Unknown"]) {
                    let input = json!({"file_path": "src/a.rs", "command": "git commit", "subagent_type": "strategic-planner", "skill": mode.commands.first(), "to": "x"});
                    for agent in [None, Some("a1")] {
                        let event = json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": tool, "tool_input": input, "agent_id": agent});
                        let event = Event::from_value(event).unwrap();
                        let needed = library.needed(&event, &busy_modes(&session));
                        let short = decide(&event, &needed, &session, &Facts::new(&answers));
                        let long = decide(&event, &all, &session, &Facts::new(&answers));
                        assert_eq!(short, long, "{} {tool}", mode.name);
                        fewer += usize::from(!needed.modes.contains(mode));
                    }
                }
            }
        }
        assert!(fewer > 50, "{fewer}");
    }

    #[test]
    fn the_host_waits_longer_than_the_hook_can_take() {
        // One lock for the state, one for the rotation of the journal.
        let longest = GIT_TIMEOUT + STEP_TIMEOUT + 2 * LOCK_TIMEOUT;
        assert!(longest + Duration::from_secs(5) < Duration::from_secs(TIMEOUT), "{longest:?}");
    }

    #[test]
    fn a_crash_gets_a_reply() {
        let allowed =
            r#"{"systemMessage":"modegate: a bug in modegate stopped it from deciding this event; it was allowed"}"#;
        let asked = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"modegate: a bug in modegate stopped it from analyzing this command, so its gates were not run"}}"#;
        for (crash, event, reply) in [
            ("", "PreToolUse", allowed),
            ("thread", "PreToolUse", allowed),
            ("analysis", "PreToolUse", asked),
            ("analysis in thread", "PreToolUse", asked),
            ("analysis", "PostToolUse", allowed),
            // Who waits for such a thread goes on without it.
            ("contained thread", "PreToolUse", "went on"),
        ] {
            // The crash ends a process of its own.
            let mut test = Command::new(std::env::current_exe().unwrap());
            let test = test.args(["--exact", "cli::hook::tests::crashes", "--nocapture"]);
            let output = test.env("MODEGATE_TEST_CRASH", crash).env("MODEGATE_TEST_EVENT", event).output().unwrap();
            let printed = String::from_utf8(output.stdout).unwrap();
            assert_eq!(output.status.code(), Some(0), "{crash}: {printed}");
            assert!(printed.contains(&format!("{reply}\n")), "{crash} {event}: {printed}");
        }
    }

    /// Crashes if the test above runs it.
    #[test]
    #[expect(clippy::exit, reason = "a thread that is left behind would keep the test runner from ending")]
    fn crashes() {
        let Ok(crash) = std::env::var("MODEGATE_TEST_CRASH") else { return };
        let event = format!(r#"{{"hook_event_name": "{}"}}"#, std::env::var("MODEGATE_TEST_EVENT").unwrap());
        EVENT.set(event.into_bytes()).unwrap();
        crash::handle_panics(|_| end_after_crash());
        let panics = || panic!("on purpose");
        match crash.as_str() {
            "thread" => std::thread::spawn(panics).join().unwrap(),
            "analysis" => crash::analyzing(panics),
            "analysis in thread" => std::thread::spawn(move || crash::analyzing(panics)).join().unwrap(),
            "contained thread" => {
                assert!(crash::start(std::thread::Builder::new(), panics).unwrap().recv().is_err());
                println!("went on");
                std::process::exit(0);
            }
            _ => panics(),
        }
    }
}
