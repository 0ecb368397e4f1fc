//! The hook entries: missing, doubled, narrowed, switched off, or in a file that the host passes over.

use super::Report;
use super::ground::{Ground, Rank, Source};
use crate::event::{EventKind, TABLE};
use crate::wiring::{self, Handler};
use crate::yaml::nearest;
use serde_json::Value;

const INSTALL: &str = "run `modegate install`";

/// Less than what modegate may wait for its lock.
const HASTY: f64 = 10.0;

pub(super) fn reports(ground: &Ground) -> Vec<Report> {
    let mut reports = Vec::new();
    for source in &ground.sources {
        reports.extend(readable(source));
    }
    reports.extend(wired(ground));
    reports.extend(doubled(ground));
    ground.ours().iter().for_each(|(source, handler)| reports.extend(weakened(source, handler)));
    reports.extend(disabled(ground));
    reports.extend(misplaced(ground));
    reports
}

/// A file that the host does not read, or of which it drops every hook.
fn readable(source: &Source) -> Vec<Report> {
    let name = &source.name;
    let value = match &source.value {
        Err(why) => {
            return vec![Report::problem(
                "settings-unreadable",
                format!("`{name}`: {why}"),
                "mend the file".to_owned(),
            )];
        }
        Ok(value) => value,
    };
    let mut reports = Vec::new();
    let events = value.get("hooks").and_then(Value::as_object).into_iter().flatten();
    for (event, groups) in events {
        if EventKind::named(event).is_none() {
            let names: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
            let near = nearest(event, &names).map(|near| format!(", did you mean `{near}`?")).unwrap_or_default();
            let what = format!("`{name}` has hooks for `{event}`, which is no event{near}");
            reports.push(Report::problem("event-unknown", what, format!("rename or remove `hooks.{event}`")));
        } else if let Some(what) = malformed(groups) {
            let grave = matches!(event.as_str(), "PreToolUse" | "PermissionRequest");
            let effect =
                if grave { "Claude Code then runs no hook of that file" } else { "Claude Code passes over it" };
            let what = format!("`{name}`, `hooks.{event}`: {what}; {effect}");
            reports.push(Report::problem("entry-malformed", what, "give it the form of the other entries"));
        }
    }
    reports
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
fn wired(ground: &Ground) -> Vec<Report> {
    let ours = ground.calls();
    let heard = |kind: &EventKind| ours.iter().any(|(_, handler)| handler.event == kind.name());
    let needed = wiring::needed(&ground.catalogue);
    let missing: Vec<&str> = needed.iter().filter(|kind| !heard(kind)).map(|kind| kind.name()).collect();
    if ours.is_empty() {
        return vec![Report::problem("hooks-missing", "no hook entry calls modegate, so nothing is gated", INSTALL)];
    }
    if !missing.is_empty() {
        let what = format!("no hook entry calls modegate for {}", missing.join(", "));
        return vec![Report::problem("hooks-missing", what, INSTALL)];
    }
    let mut files: Vec<&str> = ours.iter().map(|(source, _)| source.name.as_str()).collect();
    files.dedup();
    vec![Report::fine("hooks", format!("{} hook entries in {}", needed.len(), files.join(" and ")))]
}

/// Events that call us more than once: equal entries of settings files run once, others and a plugin's run again.
fn doubled(ground: &Ground) -> Vec<Report> {
    let ours = ground.calls();
    let mut reports = Vec::new();
    for row in TABLE {
        let own: Vec<&(&Source, Handler<'_>)> = ours.iter().filter(|(_, handler)| handler.event == row.name).collect();
        let mut distinct: Vec<&Value> = Vec::new();
        let mut runs = 0;
        for (source, handler) in &own {
            if source.rank == Rank::Plugin {
                runs += 1;
            } else if !distinct.contains(&handler.entry) {
                distinct.push(handler.entry);
                runs += 1;
            }
        }
        if runs > 1 {
            let mut files: Vec<&str> = own.iter().map(|(source, _)| source.name.as_str()).collect();
            files.dedup();
            let what = format!("modegate is called {runs} times for each {}: by {}", row.name, files.join(" and "));
            reports.push(Report::problem(
                "hooks-doubled",
                what,
                "keep one of them; `modegate uninstall` (`--local`, `--user`) removes a file's",
            ));
        }
    }
    // One report is enough where every event has the same trouble.
    reports.truncate(1);
    reports
}

/// An entry that does less than it should.
fn weakened(source: &Source, handler: &Handler<'_>) -> Vec<Report> {
    let at = format!("`{}`, `hooks.{}`", source.name, handler.event);
    let mut reports = Vec::new();
    if !handler.hears_all() {
        let what = format!("{at}: a `matcher` or `if` keeps events from modegate, which chooses itself");
        reports.push(Report::problem("hooks-narrowed", what, "remove the `matcher` and the `if` of that entry"));
    }
    if handler.entry.get("async").and_then(Value::as_bool) == Some(true) {
        let what = format!("{at}: an `async` hook cannot block");
        reports.push(Report::problem("hooks-async", what, "remove `async` from that entry"));
    }
    if handler.entry.get("timeout").and_then(Value::as_f64).is_some_and(|seconds| seconds < HASTY) {
        let what = format!("{at}: the host gives up after less than {HASTY} seconds, and then lets the event through");
        reports.push(Report::problem("hooks-hasty", what, format!("set `timeout` to {}", wiring::TIMEOUT)));
    }
    reports
}

/// Hooks that are switched off as a whole.
fn disabled(ground: &Ground) -> Option<Report> {
    let yes = |source: &&Source, name: &str| source.setting(name).and_then(Value::as_bool);
    let settings = ground.sources.iter().filter(|source| source.rank != Rank::Plugin);
    let says: Vec<(&Source, bool)> =
        settings.clone().filter_map(|source| Some((source, yes(&source, "disableAllHooks")?))).collect();
    if let Some((source, true)) = says.last() {
        let what = format!("`{}` says `disableAllHooks`: Claude Code runs none", source.name);
        return Some(Report::problem("hooks-disabled", what, "remove `disableAllHooks` from that file"));
    }
    let only = settings
        .clone()
        .find(|source| source.rank == Rank::Managed && yes(source, "allowManagedHooksOnly") == Some(true))?;
    let managed = ground.ours().iter().any(|(source, _)| source.rank == Rank::Managed);
    let what = format!("`{}` says `allowManagedHooksOnly`: hooks of projects and users are not run", only.name);
    (!managed).then(|| {
        Report::problem("hooks-disabled", what, "ask whoever manages this machine to add modegate's entries there")
    })
}

/// Entries where they do harm or have no effect.
fn misplaced(ground: &Ground) -> Vec<Report> {
    let mut reports = Vec::new();
    for (source, handler) in ground.ours() {
        if handler.event == EventKind::WorktreeCreate.name() {
            let what = format!(
                "`{}` calls modegate for WorktreeCreate, which takes git's place there: no worktree can be made",
                source.name
            );
            reports.push(Report::problem("worktrees-broken", what, INSTALL));
        }
    }
    reports
}
