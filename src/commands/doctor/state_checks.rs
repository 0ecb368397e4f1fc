//! Checks the state, its lock, the journal, and whether sessions call the hook.

use super::super::local_time;
use super::context::DoctorContext;
use super::{Diagnostic, note, ok, problem};
use crate::hook::heartbeats::{self, HookActivity};
use crate::state::journal::JournalLine;
use crate::state::journal_files;
use crate::state::store::{StateStatus, StateStore, StoreError};
use base::disk;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

pub(super) fn run(context: &DoctorContext) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    if context.target.state_places().hooks().exists() {
        diagnostics.extend(unwritable(context));
        diagnostics.extend(state(context));
    }
    if context.catalogue.settings.journal {
        diagnostics.extend(unknown_stops(context));
        diagnostics.extend(heartbeats(context));
    } else {
        let message = "the journal is off, so `modegate why`, `log` and `replay` have no data";
        diagnostics.push(problem("journal-off", message, "run `modegate record on`"));
    }
    if diagnostics.is_empty() {
        diagnostics.push(ok("state", "the state is writable and not locked"));
    }
    diagnostics
}

/// A folder for state or journals that cannot be written.
fn unwritable(context: &DoctorContext) -> Option<Diagnostic> {
    let hooks = context.target.state_places().hooks();
    if let Err(error) = disk::refuse_link(&hooks) {
        let message = format!("`.claude/hooks`: {error}, so nothing is checked");
        return Some(problem("state-unwritable", message, "replace the link with a folder"));
    }
    let probe = |folder: &Path| {
        let path = folder.join(format!("doctor.{}.tmp", std::process::id()));
        fs::write(&path, b"").and_then(|()| fs::remove_file(&path))
    };
    let sessions = context.target.state_places().sessions();
    let own = context.target.state_places().state_dir.map(|own| own.join("sessions"));
    let folders = [hooks].into_iter().chain([Some(sessions), own].into_iter().flatten().filter(|path| path.exists()));
    let (folder, error) = folders.into_iter().find_map(|folder| Some((folder.clone(), probe(&folder).err()?)))?;
    let message = format!("`{}` cannot be written ({error}), so no mode can start", context.target.short(&folder));
    Some(problem("state-unwritable", message, "make the folder writable"))
}

fn state(context: &DoctorContext) -> Vec<Diagnostic> {
    let store = StateStore::new(context.target.state_places(), context.catalogue.settings.days);
    let fix = match store.summary_status() {
        StateStatus::Newer(_) => "install the newer modegate",
        _ => "the next prompt writes a new one; or run `modegate cache reset`",
    };
    let unreadable = state_error(&store).map(|message| problem("state-unreadable", message, fix));
    let held = store.holder().map(|(holder, lock)| {
        let message = format!("{holder} holds `{}`, so the state cannot be changed", context.target.short(&lock));
        problem("lock-held", message, "end that process")
    });
    unreadable.into_iter().chain(held).collect()
}

pub(in crate::commands) fn state_error(store: &StateStore) -> Option<String> {
    let error = |what: &str, status: StateStatus| match status {
        StateStatus::Sound | StateStatus::Missing => None,
        StateStatus::Broken(why) | StateStatus::Unreadable(why) => Some(format!("{what} cannot be read: {why}")),
        StateStatus::Newer(version) => Some(format!("{what} has version {version}, which this modegate does not know")),
    };
    if !store.has_folder() {
        let error = StoreError::NoFolder;
        return Some(format!("{error}; {}", error.hint()));
    }
    let of_session = |(path, status): (PathBuf, StateStatus)| error(&format!("`{}`", path.display()), status);
    error("`.claude/hooks/cache.json`", store.summary_status())
        .or_else(|| error("the file of the values that scripts have set", store.values_status()))
        .or_else(|| store.unusable().into_iter().find_map(of_session))
}

/// Stops of unknown agents in the journals.
fn unknown_stops(context: &DoctorContext) -> Option<Diagnostic> {
    let journals = journal_files::journals(&context.target.state_places().sessions());
    let lines = journals.iter().filter(|path| heartbeats::is_recent(path)).flat_map(|path| journal_files::recent(path));
    let is_unknown_stop = |line: &JournalLine| {
        let text = |name: &str| line.event.get(name).and_then(Value::as_str);
        text("hook_event_name") == Some("SubagentStop") && line.who.is_none() && text("agent_type") != Some("")
    };
    let is_recent = |line: &JournalLine| line.at.parse().is_ok_and(heartbeats::is_recent_time);
    let stops: Vec<JournalLine> = lines.filter(is_unknown_stop).filter(is_recent).collect();
    let last = local_time(&stops.last()?.at);
    let message =
        format!("{} subagent stops of unknown agents were allowed in the last day, the last at {last}", stops.len());
    Some(problem("agent-unknown", message, "update Claude Code to 2.1.69 or newer"))
}

fn heartbeats(context: &DoctorContext) -> Vec<Diagnostic> {
    let heartbeats = context.target.heartbeats();
    let latest = heartbeats.iter().filter_map(|activity| activity.seen).max();
    let fix = "run `modegate doctor --live`; sessions started with `--bare` or without trust run no hooks";
    let diagnostic = |activity: &HookActivity| {
        // A hook that was called later, in any session, works again.
        let is_over = latest.is_some_and(|seen| activity.last_missed().is_some_and(|missed| missed < seen));
        let diagnostic = if is_over { note } else { problem };
        diagnostic("hook-not-called", activity.to_string(), fix.to_owned())
    };
    let missed: Vec<Diagnostic> = heartbeats.iter().filter(|activity| activity.is_missed()).map(diagnostic).collect();
    match latest {
        Some(at) if missed.is_empty() => {
            vec![ok("hook", format!("the hook was last called {}", heartbeats::ago(at)))]
        }
        _ => missed,
    }
}
