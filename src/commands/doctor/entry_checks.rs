//! Checks the hook entries: missing, duplicated, filtered, disabled, or in a file that the host ignores.

use super::super::client_version::ClientVersion;
use super::context::{DoctorContext, SettingsFile, SettingsScope};
use super::{Diagnostic, INSTALL, note, ok, problem};
use crate::host::event::{EventKind, TABLE};
use crate::host::hook_entries::{self, HookEntry};
use crate::policy::yaml::did_you_mean;
use serde_json::Value;
use std::path::Path;

/// The shortest timeout in seconds that leaves time to wait for the lock.
const SHORTEST_TIMEOUT: f64 = 10.0;

type FileEntry<'a> = (&'a SettingsFile, HookEntry<'a>);

pub(super) fn run(context: &DoctorContext) -> Vec<Diagnostic> {
    let mut diagnostics: Vec<Diagnostic> = context.settings_files.iter().flat_map(malformed_entries).collect();
    // The entries of a file that cannot be read are not known.
    if context.settings_files.iter().all(|file| file.value.is_ok()) || !context.calls().is_empty() {
        diagnostics.push(coverage(context));
    }
    diagnostics.extend(duplicates(context));
    diagnostics.extend(context.unclear().iter().map(|(file, entry)| {
        let message = format!("`{}`: an entry names modegate, but may not call it, so it does not count", file.name);
        let fix = "remove that entry; `modegate install` writes one that counts";
        problem("entries-unclear", message, fix).about(format!("hooks.{}", entry.event))
    }));
    for (file, entry) in context.ours() {
        diagnostics.extend(ineffective(file, &entry));
        diagnostics.extend(unknown_to_client(context, file, &entry));
    }
    diagnostics.extend(disabled(context));
    diagnostics
}

/// A settings file that the host ignores, or entries that it ignores.
fn malformed_entries(file: &SettingsFile) -> Vec<Diagnostic> {
    let name = &file.name;
    let value = match &file.value {
        Ok(value) => value,
        Err(why) => {
            let fix = "correct the file; JSON has neither comments nor trailing commas";
            return vec![problem("settings-unreadable", format!("`{name}`: {why}"), fix)];
        }
    };
    let events = value.get("hooks").and_then(Value::as_object).into_iter().flatten();
    let diagnostic = |(event, groups): (&String, &Value)| {
        if EventKind::named(event).is_none() {
            let near = did_you_mean(event, &TABLE.iter().map(|row| row.name).collect::<Vec<_>>());
            let message = format!("`{name}` has hooks for the unknown event `{event}`{near}");
            return Some(problem("event-unknown", message, format!("rename or remove `hooks.{event}`")));
        }
        let effect = match event.as_str() {
            "PreToolUse" | "PermissionRequest" => "Claude Code then runs no hook of that file",
            _ => "Claude Code ignores it",
        };
        let message = format!("`{name}`, `hooks.{event}`: {}; {effect}", hook_entries::malformed(groups)?);
        Some(problem("entry-malformed", message, "use the form of the other entries"))
    };
    events.filter_map(diagnostic).collect()
}

/// Whether every event that the modes need has an entry.
fn coverage(context: &DoctorContext) -> Diagnostic {
    let calls = context.calls();
    if calls.is_empty() {
        return problem("entries-missing", "no hook entry calls modegate, so nothing is checked", INSTALL);
    }
    let mut needed = hook_entries::required_events(context.catalogue.event_kinds());
    needed.retain(|kind| context.client().is_none_or(|client| client.knows(*kind)));
    let is_covered = |kind: &EventKind| calls.iter().any(|(_, entry)| entry.event == kind.name());
    let missing: Vec<&str> = needed.iter().filter(|kind| !is_covered(kind)).map(|kind| kind.name()).collect();
    if !missing.is_empty() {
        let message = format!("no hook entry calls modegate for {}", missing.join(", "));
        return problem("entries-missing", message, INSTALL);
    }
    ok("entries", format!("{} hook entries in {}", needed.len(), names_of(&calls)))
}

/// A folder below the project, if sessions that are started there run without hooks.
pub(in crate::commands) fn ungated_folder(context: &DoctorContext, folder: &Path) -> Option<Diagnostic> {
    let home = &context.target.home;
    let below = folder.strip_prefix(home).ok().filter(|below| !below.as_os_str().is_empty())?;
    let calls = context.calls();
    let reads_local = || context.client().is_none_or(|version| version >= ClientVersion::LOCAL_SETTINGS_BELOW);
    let is_read = |scope: SettingsScope| match scope {
        SettingsScope::Project => false,
        SettingsScope::Local => reads_local(),
        SettingsScope::Plugin | SettingsScope::User | SettingsScope::Managed => true,
    };
    if calls.is_empty() || context.target.is_users || calls.iter().any(|(file, _)| is_read(file.scope)) {
        return None;
    }
    let message = format!(
        "sessions started in `{}` are not gated: Claude Code reads `{}` only in the folder where it is started",
        below.display(),
        names_of(&calls)
    );
    let fix = format!(
        "start Claude Code in {}, or run `modegate install --local`, which Claude Code {} and later also read in subfolders",
        home.display(),
        ClientVersion::LOCAL_SETTINGS_BELOW
    );
    Some(problem("folder-ungated", message, fix))
}

fn names_of(entries: &[FileEntry<'_>]) -> String {
    let mut files: Vec<&str> = entries.iter().map(|(file, _)| file.name.as_str()).collect();
    files.dedup();
    files.join(" and ")
}

/// Events that call modegate more than once. The host runs equal entries once, but each plugin's entry by itself.
fn duplicates(context: &DoctorContext) -> Vec<Diagnostic> {
    let (silent, calls): (Vec<_>, Vec<_>) =
        context.calls().into_iter().partition(|(file, entry)| context.is_superseded(file, entry));
    let of_event = |event: &str| -> Vec<FileEntry<'_>> {
        calls.iter().filter(|(_, entry)| entry.event == event).cloned().collect()
    };
    let mut diagnostics = Vec::new();
    if let Some((file, entry)) = silent.first() {
        let others = names_of(&of_event(entry.event));
        let message = format!("the entries of `{}` stay silent: those of {others} decide", file.name);
        diagnostics.push(ok("entries-silent", message));
    }
    for row in TABLE {
        let own = of_event(row.name);
        let mut distinct: Vec<&FileEntry<'_>> = Vec::new();
        for call in &own {
            let is_same =
                |other: &&FileEntry<'_>| other.1.entry == call.1.entry && other.0.scope != SettingsScope::Plugin;
            if call.0.scope == SettingsScope::Plugin || !distinct.iter().any(is_same) {
                distinct.push(call);
            }
        }
        let runs = distinct.len();
        if runs > 1 {
            let times = if runs == 2 { "twice".to_owned() } else { format!("{runs} times") };
            let message = format!("modegate is called {times} for each of these events, by {}", names_of(&own));
            let fix = "keep one of them; `modegate uninstall --local` or `--user` removes the entries of one file";
            diagnostics.push(problem("entries-duplicated", message, fix).about(row.name));
        }
    }
    diagnostics
}

/// The keys of an entry that may keep modegate from deciding, apart from those with a message of their own.
fn unknown_keys(entry: &HookEntry<'_>) -> Vec<String> {
    let is_harmless = |key: &str| match entry.entry.get(key) {
        Some(Value::Bool(false) | Value::Null) => true,
        value => key == "shell" && value.and_then(Value::as_str) == Some("bash"),
    };
    let keys = entry.other_keys().into_iter().filter(|key| !matches!(*key, "if" | "async"));
    keys.filter(|key| !is_harmless(key)).map(|key| format!("`{key}`")).collect()
}

fn ineffective(file: &SettingsFile, entry: &HookEntry<'_>) -> Vec<Diagnostic> {
    let is_async = entry.entry.get("async").and_then(Value::as_bool) == Some(true);
    let timeout = entry.entry.get("timeout").and_then(Value::as_f64);
    let unknown = unknown_keys(entry).join(" and ");
    let altered = format!("{unknown} may keep modegate from deciding");
    let remove_unknown = format!("remove {unknown} from these entries");
    let set_timeout = format!("set `timeout` to {}", hook_entries::TIMEOUT);
    let rows = [
        (!unknown.is_empty(), "entries-altered", altered.as_str(), remove_unknown.as_str()),
        (
            !entry.matches_every_event(),
            "entries-filtered",
            "a `matcher` or `if` hides events from modegate",
            "remove `matcher` and `if` from these entries",
        ),
        (is_async, "entries-async", "an `async` hook cannot block", "remove `async` from these entries"),
        (
            timeout.is_some_and(|seconds| seconds < SHORTEST_TIMEOUT),
            "timeout-too-short",
            "after a timeout of less than 10 seconds Claude Code lets the event through",
            &set_timeout,
        ),
        (
            entry.event == EventKind::WorktreeCreate.name(),
            "worktrees-blocked",
            "a hook for WorktreeCreate replaces git, so no worktree can be created",
            INSTALL,
        ),
    ];
    let found = rows.into_iter().filter(|(is_wrong, ..)| *is_wrong).map(|(_, check, message, fix)| {
        problem(check, format!("`{}`: {message}", file.name), fix).about(format!("hooks.{}", entry.event))
    });
    found.collect()
}

/// An entry for an event that the installed Claude Code does not have yet.
fn unknown_to_client(context: &DoctorContext, file: &SettingsFile, entry: &HookEntry<'_>) -> Option<Diagnostic> {
    let client = context.client()?;
    EventKind::named(entry.event).filter(|kind| !client.knows(*kind))?;
    let message = format!("Claude Code {client} does not know an event in `{}`", file.name);
    let diagnostic = if file.scope == SettingsScope::Plugin {
        let fix = "update Claude Code, or remove the event from the plugin";
        problem("event-too-new", format!("{message} and ignores the whole file"), fix)
    } else {
        note("event-too-new", format!("{message} and shows a warning"), format!("update Claude Code, or {INSTALL}"))
    };
    Some(diagnostic.about(entry.event))
}

fn disabled(context: &DoctorContext) -> Option<Diagnostic> {
    let flag = |file: &SettingsFile, name: &str| file.setting(name).and_then(Value::as_bool);
    let settings = || context.settings_files.iter().filter(|file| file.scope != SettingsScope::Plugin);
    let mut disabling = settings().rev().filter_map(|file| Some((file, flag(file, "disableAllHooks")?)));
    if let Some((file, true)) = disabling.next() {
        let message = format!("`{}` has `disableAllHooks`, so Claude Code runs no hooks", file.name);
        return Some(problem("hooks-disabled", message, "remove `disableAllHooks` from that file"));
    }
    let is_managed = |file: &SettingsFile| file.scope == SettingsScope::Managed;
    let only = settings().find(|file| is_managed(file) && flag(file, "allowManagedHooksOnly") == Some(true))?;
    if context.ours().iter().any(|(file, _)| is_managed(file)) {
        return None;
    }
    let message = format!("`{}` has `allowManagedHooksOnly`, so hooks of projects and users do not run", only.name);
    Some(problem("hooks-disabled", message, "ask the administrator to add modegate's entries there"))
}
