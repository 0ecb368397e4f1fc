//! State, lock, journal and the hook's life.

use super::super::heartbeat;
use super::Diagnostic;
use super::context::DoctorContext;
use crate::disk;
use crate::journal;
use crate::journal_files;
use crate::store::{StateStatus, StateStore};
use std::fs;
use std::path::Path;

pub(super) fn run(context: &DoctorContext) -> Vec<Diagnostic> {
    let places = context.target.places();
    let mut diagnostics = Vec::new();
    if places.hooks().exists() {
        diagnostics.extend(writable(context));
        diagnostics.extend(state(context));
    }
    diagnostics.extend(recorded(context));
    diagnostics.extend(alive(context));
    if diagnostics.is_empty() {
        diagnostics.push(Diagnostic::fine("state", "the state can be written, and nobody holds its lock"));
    }
    diagnostics
}

/// Whether state and journal can be written at all.
fn writable(context: &DoctorContext) -> Option<Diagnostic> {
    let hooks = context.target.places().hooks();
    if let Err(error) = disk::refuse_link(&hooks) {
        let what = format!("`.claude/hooks`: {error}; nothing is gated");
        return Some(Diagnostic::problem("state-unwritable", what, "make it a folder of the project"));
    }
    let probe = |folder: &Path| {
        let path = folder.join(format!("doctor.{}.tmp", std::process::id()));
        fs::write(&path, b"").and_then(|()| fs::remove_file(&path))
    };
    let sessions = context.target.places().sessions();
    let folders = [hooks].into_iter().chain(sessions.exists().then_some(sessions));
    let (folder, error) = folders.into_iter().find_map(|folder| Some((folder.clone(), probe(&folder).err()?)))?;
    let what = format!("`{}` cannot be written ({error}): no mode can be activated", context.short(&folder));
    Some(Diagnostic::problem("state-unwritable", what, "give yourself the right to write there"))
}

fn state(context: &DoctorContext) -> Vec<Diagnostic> {
    let store = StateStore::new(context.target.places(), context.catalogue.settings.days);
    let broken = match store.read().status {
        StateStatus::Sound => None,
        StateStatus::Broken(why) | StateStatus::Unreadable(why) => {
            let what = format!("`.claude/hooks/cache.json` could not be read: {why}");
            Some(Diagnostic::problem(
                "state-broken",
                what,
                "the next event puts it older_part and begins a new one; `modegate cache reset` does so now",
            ))
        }
        StateStatus::Newer(version) => {
            let what = format!("`.claude/hooks/cache.json` is of version {version}, which this modegate does not know");
            Some(Diagnostic::problem("state-newer", what, "install the newer modegate"))
        }
    };
    let held = store.holder().map(|holder| {
        let what =
            format!("{holder} holds `.claude/hooks/cache.lock` and does not give it back: no state can be changed");
        Diagnostic::problem("lock-held", what, "end that process")
    });
    broken.into_iter().chain(held).collect()
}

/// The journal: off, or with stops that could not be attributed.
fn recorded(context: &DoctorContext) -> Vec<Diagnostic> {
    if !context.catalogue.settings.journal {
        let what =
            "the journal is off: `modegate why` and replay know nothing, nor can be told whether the hook is alive";
        return vec![Diagnostic::problem(
            "journal-off",
            what,
            "say `journal: true` in `.claude/modegate.yaml`, or leave the key out",
        )];
    }
    let recent = journal_files::journals(&context.target.places().sessions())
        .into_iter()
        .filter(|path| heartbeat::is_recent(path));
    let lines = recent.flat_map(|path| journal_files::recent(&path));
    let is_one = |line: &journal::JournalLine| {
        let text = |name: &str| line.event.get(name).and_then(serde_json::Value::as_str);
        text("hook_event_name") == Some("SubagentStop") && line.who.is_none() && text("agent_type") != Some("")
    };
    let stops: Vec<journal::JournalLine> =
        lines.filter(is_one).filter(|line| heartbeat::is_of_today(&line.at)).collect();
    let Some(last) = stops.last() else { return Vec::new() };
    let what = format!(
        "{} stops of subagents in the last day could not be attributed, the last at {}: they were let through",
        stops.len(),
        last.at
    );
    vec![Diagnostic::problem("stops-unattributed", what, "update Claude Code, which names the agent since 2.1.69")]
}

/// Sessions that go on without the hook.
fn alive(context: &DoctorContext) -> Vec<Diagnostic> {
    if context.ours().is_empty() || !context.catalogue.settings.journal {
        return Vec::new();
    }
    let heartbeats = heartbeat::heartbeats(&context.target);
    let latest = heartbeats.iter().filter_map(|heartbeat| heartbeat.seen).max();
    let fix = "run `modegate doctor --live`; in a session that was begun with `--bare` or without trust, no hook runs";
    let missed = heartbeats.iter().filter(|heartbeat| heartbeat.is_missed()).map(|heartbeat| {
        // What was silent once and has been heard since is a thing of the past.
        let over = latest.is_some_and(|seen| heartbeat.used.is_some_and(|used| used < seen));
        if over {
            Diagnostic::note("hook-silent", heartbeat.told(), fix)
        } else {
            Diagnostic::problem("hook-silent", heartbeat.told(), fix)
        }
    });
    let missed: Vec<Diagnostic> = missed.collect();
    if !missed.is_empty() {
        return missed;
    }
    latest
        .map(|at| Diagnostic::fine("hook", format!("the hook was last seen {}", heartbeat::ago(at))))
        .into_iter()
        .collect()
}
