//! State, lock, journal and the hook's life.

use super::super::pulse::{self, Pulse};
use super::Report;
use super::ground::{Ground, Rank};
use crate::disk;
use crate::journal;
use crate::store::{Shape, Store};
use jiff::Timestamp;
use std::fs;
use std::path::Path;

pub(super) fn reports(ground: &Ground) -> Vec<Report> {
    let places = ground.site.places();
    let mut reports = Vec::new();
    if places.hooks().exists() {
        reports.extend(writable(ground));
        reports.extend(state(ground));
    }
    reports.extend(recorded(ground));
    reports.extend(alive(ground));
    if reports.is_empty() {
        reports.push(Report::fine("state", "the state can be written, and nobody holds its lock"));
    }
    reports
}

/// Whether state and journal can be written at all.
fn writable(ground: &Ground) -> Option<Report> {
    let hooks = ground.site.places().hooks();
    if let Err(error) = disk::refuse_link(&hooks) {
        let what = format!("`.claude/hooks`: {error}; nothing is gated");
        return Some(Report::problem("state-unwritable", what, "make it a folder of the project"));
    }
    let probe = |folder: &Path| {
        let path = folder.join(format!("doctor.{}.tmp", std::process::id()));
        fs::write(&path, b"").and_then(|()| fs::remove_file(&path))
    };
    let sessions = ground.site.places().sessions();
    let folders = [hooks].into_iter().chain(sessions.exists().then_some(sessions));
    let (folder, error) = folders.into_iter().find_map(|folder| Some((folder.clone(), probe(&folder).err()?)))?;
    let what = format!("`{}` cannot be written ({error}): no mode can be activated", ground.short(&folder));
    Some(Report::problem("state-unwritable", what, "give yourself the right to write there"))
}

fn state(ground: &Ground) -> Vec<Report> {
    let store = Store::new(ground.site.places(), ground.catalogue.settings.days);
    let broken = match store.read().shape {
        Shape::Sound => None,
        Shape::Broken(why) | Shape::Unreadable(why) => {
            let what = format!("`.claude/hooks/cache.json` could not be read: {why}");
            Some(Report::problem(
                "state-broken",
                what,
                "the next event puts it aside and begins a new one; `modegate cache reset` does so now",
            ))
        }
        Shape::Newer(version) => {
            let what = format!("`.claude/hooks/cache.json` is of version {version}, which this modegate does not know");
            Some(Report::problem("state-newer", what, "install the newer modegate"))
        }
    };
    let held = store.holder().map(|holder| {
        let what =
            format!("{holder} holds `.claude/hooks/cache.lock` and does not give it back: no state can be changed");
        Report::problem("lock-held", what, "end that process")
    });
    broken.into_iter().chain(held).collect()
}

/// The journal: off, or with stops that could not be attributed.
fn recorded(ground: &Ground) -> Vec<Report> {
    if !ground.catalogue.settings.journal {
        let what =
            "the journal is off: `modegate why` and replay know nothing, nor can be told whether the hook is alive";
        return vec![Report::problem("journal-off", what, "remove `journal: false` from `.claude/modegate.yaml`")];
    }
    let journals = journal::journals(&ground.site.places().sessions());
    let lines = journals.iter().flat_map(|path| journal::lines(path));
    let is_one = |line: &journal::Line| {
        let text = |name: &str| line.event.get(name).and_then(serde_json::Value::as_str);
        text("hook_event_name") == Some("SubagentStop") && line.who.is_none() && text("agent_type") != Some("")
    };
    let stops: Vec<journal::Line> = lines.filter(is_one).collect();
    let Some(last) = stops.last() else { return Vec::new() };
    let what = format!(
        "{} stops of subagents could not be attributed, the last at {}: they were let through",
        stops.len(),
        last.at
    );
    vec![Report::problem("stops-unattributed", what, "update Claude Code, which names the agent since 2.1.69")]
}

/// Sessions that go on without the hook.
fn alive(ground: &Ground) -> Vec<Report> {
    let places = ground.site.places();
    if ground.ours().is_empty() || !ground.catalogue.settings.journal {
        return Vec::new();
    }
    let known = journal::journals(&places.sessions());
    let mut pulses: Vec<Pulse> = known.iter().filter_map(|path| Pulse::of(path)).collect();
    let installed = ground.sources.iter().filter(|source| source.rank != Rank::Plugin);
    let times = installed.filter_map(|source| source.path.metadata().and_then(|meta| meta.modified()).ok());
    let from = times.max().and_then(|time| Timestamp::try_from(time).ok());
    // Without a folder for it, nothing is written down, and so nothing is missed.
    if let Some(from) = from.filter(|_| places.hooks().is_dir()) {
        pulses.extend(pulse::unseen(&places, from));
    }
    let fix = "run `modegate doctor --live`; in a session that was begun with `--bare` or without trust, no hook runs";
    let missed: Vec<Report> = pulses
        .iter()
        .filter(|pulse| pulse.is_missed())
        .map(|pulse| Report::problem("hook-silent", pulse.told(), fix))
        .collect();
    if !missed.is_empty() {
        return missed;
    }
    let latest = pulses.iter().filter_map(|pulse| pulse.seen).max();
    latest.map(|at| Report::fine("hook", format!("the hook was last seen {}", pulse::ago(at)))).into_iter().collect()
}
