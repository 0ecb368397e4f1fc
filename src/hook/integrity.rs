//! Notices what something other than modegate did to the state, the journal and the hook entries.

use super::event_run::EventRun;
use super::notices::{ALTERED_JOURNAL, GONE, LINKED, Notices};
use super::project::HooksFolder;
use crate::hook::installation;
use crate::host::event::EventKind;
use crate::policy::mode::BASE;
use crate::policy::settings::Settings;
use crate::state::store::{StateStatus, StateStore, StoreError, StoredSession, SummaryCheck, Tampering};
use crate::world::now;

/// The session as the store has it, restored where something other than modegate changed it. What was noticed is delivered
/// through the base mode, if there is one.
pub(super) fn checked_session(
    run: &EventRun<'_>,
    store: &StateStore,
    settings: &Settings,
    notices: &mut Notices,
) -> StoredSession {
    let id = run.event.session();
    let stored = if is_compared(run) { store.read_checked(id) } else { store.read(id) };
    let mut found: Vec<String> = stored.tampering.map(|what| what.sentence().to_owned()).into_iter().collect();
    if run.event.kind.is_some_and(installation::compares) {
        found.extend(compare_files(run, store, settings, &stored, notices));
    }
    report_state(run, store, &stored.status, notices);
    if found.is_empty() {
        return stored;
    }
    notices.security.extend(found.iter().cloned());
    if settings.disable.iter().any(|mode| mode == BASE) {
        notices.problems.extend(found);
        return stored;
    }
    let is_stop = run.event.kind == Some(EventKind::Stop);
    let kept = store.change_from(id, &now().at, StateStore::read_checked, |fresh| {
        let base = fresh.session.base_mut();
        for text in &found {
            base.notes.push(format!("modegate: {text}."));
            if !is_stop {
                base.messages.push(format!("modegate: {text}"));
            }
        }
    });
    match kept {
        Ok(_) => {
            notices.is_state_lost = stored.tampering == Some(Tampering::Lost);
            store.read(id)
        }
        Err(error) => {
            notices.add_store_error(&error);
            notices.problems.extend(found);
            stored
        }
    }
}

/// Whether the state is compared with the journal: where modes begin and end, and before agents start.
fn is_compared(run: &EventRun<'_>) -> bool {
    match run.event.kind {
        Some(EventKind::SessionStart | EventKind::UserPromptSubmit | EventKind::SubagentStart) => true,
        Some(EventKind::PreToolUse) => matches!(run.event.tool(), Some("Agent" | "Task" | "Skill")),
        kind => kind.is_some_and(EventKind::is_stop),
    }
}

/// Compares `cache.json`, the journal and the installation with what modegate wrote.
fn compare_files(
    run: &EventRun<'_>,
    store: &StateStore,
    settings: &Settings,
    stored: &StoredSession,
    notices: &mut Notices,
) -> Vec<String> {
    let (project, id) = (run.project, run.event.session());
    let has_folder = project.has_folder();
    if project.hooks == HooksFolder::Other {
        notices.add_problem(LINKED);
    } else if !has_folder && project.is_installed() {
        notices.add_problem(GONE);
    }
    if !has_folder || id.is_empty() || project.places.state_dir.is_none() {
        return Vec::new();
    }
    let mut found: Vec<String> = compare_summary(run, store, stored, notices).into_iter().collect();
    if stored.session.is_in_mode() && settings.journal && store.take_journal_alteration(id) {
        found.push(ALTERED_JOURNAL.to_owned());
    }
    let changes = installation::compare(&project.places, id);
    notices.ends_hooks = changes.ends_hooks;
    found.extend(changes.sentences);
    found
}

/// Compares `cache.json` with the session; returns what something other than modegate did to it.
fn compare_summary(
    run: &EventRun<'_>,
    store: &StateStore,
    stored: &StoredSession,
    notices: &mut Notices,
) -> Option<String> {
    match store.check_summary(&stored.session) {
        SummaryCheck::Same => None,
        SummaryCheck::Newer(version) => {
            if run.event.kind.is_some_and(|kind| kind.row().message) {
                notices.add_store_error(&StoreError::Newer(version));
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
fn report_state(run: &EventRun<'_>, store: &StateStore, status: &StateStatus, notices: &mut Notices) {
    if !matches!(run.event.kind, Some(EventKind::SessionStart | EventKind::UserPromptSubmit)) {
        return;
    }
    match status {
        StateStatus::Newer(version) => notices.add_store_error(&StoreError::NewerSession(*version)),
        StateStatus::Unreadable(why) => {
            notices.add_problem(format!("the state of this session cannot be read: {why}"));
        }
        _ if run.project.places.state_dir.is_none() => notices.add_store_error(&StoreError::NoFolder),
        _ => {}
    }
    if let StateStatus::Broken(why) = store.values_status() {
        let text = format!(
            "the values that scripts have set cannot be used ({why}); set them again with `modegate cache set`"
        );
        notices.security.push(text.clone());
        notices.problems.push(text);
    }
}
