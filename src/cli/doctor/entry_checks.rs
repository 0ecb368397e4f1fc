//! The hook entries: missing, doubled, narrowed, switched off, or in a file that the host passes over.

use super::Diagnostic;
use super::context::{DoctorContext, SettingsFile, SettingsScope};
use crate::event::{EventKind, TABLE};
use crate::hook_entries::{self, HookEntry};
use crate::yaml::nearest;
use serde_json::Value;

const INSTALL: &str = "run `modegate install`";

/// Less than what modegate may wait for its lock.
const HASTY: f64 = 10.0;

pub(super) fn run(context: &DoctorContext) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for file in &context.settings_files {
        diagnostics.extend(readable(file));
    }
    diagnostics.extend(wired(context));
    diagnostics.extend(doubled(context));
    context.ours().iter().for_each(|(file, handler)| diagnostics.extend(weakened(file, handler)));
    diagnostics.extend(disabled(context));
    diagnostics.extend(misplaced(context));
    diagnostics
}

/// A file that the host does not read, or of which it drops every hook.
fn readable(file: &SettingsFile) -> Vec<Diagnostic> {
    let name = &file.name;
    let value = match &file.value {
        Err(why) => {
            return vec![Diagnostic::problem(
                "settings-unreadable",
                format!("`{name}`: {why}"),
                "mend the file".to_owned(),
            )];
        }
        Ok(value) => value,
    };
    let mut diagnostics = Vec::new();
    let events = value.get("hooks").and_then(Value::as_object).into_iter().flatten();
    for (event, groups) in events {
        if EventKind::named(event).is_none() {
            let names: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
            let near = nearest(event, &names).map(|near| format!(", did you mean `{near}`?")).unwrap_or_default();
            let what = format!("`{name}` has hooks for `{event}`, which is no event{near}");
            diagnostics.push(Diagnostic::problem("event-unknown", what, format!("rename or remove `hooks.{event}`")));
        } else if let Some(what) = malformed(groups) {
            let grave = matches!(event.as_str(), "PreToolUse" | "PermissionRequest");
            let effect =
                if grave { "Claude Code then runs no hook of that file" } else { "Claude Code passes over it" };
            let what = format!("`{name}`, `hooks.{event}`: {what}; {effect}");
            diagnostics.push(Diagnostic::problem("entry-malformed", what, "give it the form of the other entries"));
        }
    }
    diagnostics
}

/// What is wrong with the entries of an event.
fn malformed(groups: &Value) -> Option<String> {
    let Some(groups) = groups.as_array() else { return Some("it is not a list".to_owned()) };
    groups.iter().find_map(|group| {
        if group.get("matcher").is_some_and(|matcher| !matcher.is_string()) {
            return Some("a `matcher` is not text".to_owned());
        }
        let Some(entries) = group.get("hooks").and_then(Value::as_array) else {
            return Some("a group has no list `hooks`".to_owned());
        };
        entries.iter().find_map(|entry| {
            let text = |name: &str| entry.get(name).is_some_and(Value::is_string);
            let command = entry.get("type").and_then(Value::as_str) == Some("command");
            match entry {
                _ if !text("type") => Some("an entry has no `type`".to_owned()),
                _ if command && !text("command") => Some("a `command` entry has no `command`".to_owned()),
                _ if entry.get("args").is_some_and(|args| !args.is_array()) => Some("`args` is not a list".to_owned()),
                _ if entry.get("timeout").is_some_and(|time| time.as_f64().is_none_or(|time| time <= 0.0)) => {
                    Some("a `timeout` is not a number of seconds".to_owned())
                }
                _ => None,
            }
        })
    })
}

/// Whether every event that the modes need calls us.
fn wired(context: &DoctorContext) -> Vec<Diagnostic> {
    let ours = context.calls();
    let heard = |kind: &EventKind| ours.iter().any(|(_, handler)| handler.event == kind.name());
    let needed = hook_entries::required_events(&context.catalogue);
    let missing: Vec<&str> = needed.iter().filter(|kind| !heard(kind)).map(|kind| kind.name()).collect();
    if ours.is_empty() {
        return vec![Diagnostic::problem(
            "hooks-missing",
            "no hook entry calls modegate, so nothing is gated",
            INSTALL,
        )];
    }
    if !missing.is_empty() {
        let what = format!("no hook entry calls modegate for {}", missing.join(", "));
        return vec![Diagnostic::problem("hooks-missing", what, INSTALL)];
    }
    let mut files: Vec<&str> = ours.iter().map(|(file, _)| file.name.as_str()).collect();
    files.dedup();
    vec![Diagnostic::fine("hooks", format!("{} hook entries in {}", needed.len(), files.join(" and ")))]
}

/// Events that call us more than once: equal entries of settings files run once, others and a plugin's run again.
fn doubled(context: &DoctorContext) -> Vec<Diagnostic> {
    let ours = context.calls();
    let mut diagnostics = Vec::new();
    for row in TABLE {
        let own: Vec<&(&SettingsFile, HookEntry<'_>)> =
            ours.iter().filter(|(_, handler)| handler.event == row.name).collect();
        let mut distinct: Vec<&Value> = Vec::new();
        let mut runs = 0;
        for (file, handler) in &own {
            if file.scope == SettingsScope::Plugin {
                runs += 1;
            } else if !distinct.contains(&handler.entry) {
                distinct.push(handler.entry);
                runs += 1;
            }
        }
        if runs > 1 {
            let mut files: Vec<&str> = own.iter().map(|(file, _)| file.name.as_str()).collect();
            files.dedup();
            let what = format!("modegate is called {runs} times for each {}: by {}", row.name, files.join(" and "));
            diagnostics.push(Diagnostic::problem(
                "hooks-doubled",
                what,
                "keep one of them; `modegate uninstall` (`--local`, `--user`) removes a file's",
            ));
        }
    }
    // One diagnostic is enough where every event has the same trouble.
    diagnostics.truncate(1);
    diagnostics
}

/// An entry that does less than it should.
fn weakened(file: &SettingsFile, handler: &HookEntry<'_>) -> Vec<Diagnostic> {
    let at = format!("`{}`, `hooks.{}`", file.name, handler.event);
    let mut diagnostics = Vec::new();
    if !handler.matches_every_event() {
        let what = format!("{at}: a `matcher` or `if` keeps events from modegate, which chooses itself");
        diagnostics.push(Diagnostic::problem(
            "hooks-narrowed",
            what,
            "remove the `matcher` and the `if` of that entry",
        ));
    }
    if handler.entry.get("async").and_then(Value::as_bool) == Some(true) {
        let what = format!("{at}: an `async` hook cannot block");
        diagnostics.push(Diagnostic::problem("hooks-async", what, "remove `async` from that entry"));
    }
    if handler.entry.get("timeout").and_then(Value::as_f64).is_some_and(|seconds| seconds < HASTY) {
        let what = format!("{at}: the host gives up after less than {HASTY} seconds, and then lets the event through");
        diagnostics.push(Diagnostic::problem(
            "hooks-hasty",
            what,
            format!("set `timeout` to {}", hook_entries::TIMEOUT),
        ));
    }
    diagnostics
}

/// Hooks that are switched off as a whole.
fn disabled(context: &DoctorContext) -> Option<Diagnostic> {
    let yes = |file: &&SettingsFile, name: &str| file.setting(name).and_then(Value::as_bool);
    let settings = context.settings_files.iter().filter(|file| file.scope != SettingsScope::Plugin);
    let says: Vec<(&SettingsFile, bool)> =
        settings.clone().filter_map(|file| Some((file, yes(&file, "disableAllHooks")?))).collect();
    if let Some((file, true)) = says.last() {
        let what = format!("`{}` says `disableAllHooks`: Claude Code runs none", file.name);
        return Some(Diagnostic::problem("hooks-disabled", what, "remove `disableAllHooks` from that file"));
    }
    let only = settings
        .clone()
        .find(|file| file.scope == SettingsScope::Managed && yes(file, "allowManagedHooksOnly") == Some(true))?;
    let managed = context.ours().iter().any(|(file, _)| file.scope == SettingsScope::Managed);
    let what = format!("`{}` says `allowManagedHooksOnly`: hooks of projects and users are not run", only.name);
    (!managed).then(|| {
        Diagnostic::problem("hooks-disabled", what, "ask whoever manages this machine to add modegate's entries there")
    })
}

/// Entries where they do harm or have no effect.
fn misplaced(context: &DoctorContext) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for (file, handler) in context.ours() {
        if handler.event == EventKind::WorktreeCreate.name() {
            let what = format!(
                "`{}` calls modegate for WorktreeCreate, which takes git's place there: no worktree can be made",
                file.name
            );
            diagnostics.push(Diagnostic::problem("worktrees-broken", what, INSTALL));
        }
    }
    diagnostics
}
