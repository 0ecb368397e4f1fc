//! `modegate uninstall`: takes out exactly what `install` put in.

use super::change::{self, Change, Deed, text_of};
use super::install::refused;
use super::receipt::Receipt;
use super::screen::{self, Colour, paint};
use super::site::{Scope, Site};
use super::{FOUND, person_only};
use crate::disk::IGNORED;
use crate::event::EventKind;
use crate::mode_cache;
use crate::starter;
use crate::wiring::{self, ON_PATH};
use clap::Args;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args)]
pub(super) struct Uninstall {
    #[command(flatten)]
    scope: Scope,
    /// Also remove the state and the journals
    #[arg(long)]
    purge: bool,
    /// Only show what would change
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Uninstall {
    pub(super) fn run(self, project: Option<PathBuf>) -> ExitCode {
        if let Some(refused) = person_only("uninstall") {
            return refused;
        }
        let done = self.scope.sites(project).and_then(|sites| self.take_out(&sites));
        done.unwrap_or_else(|error| {
            screen::fail(&error, self.json);
            ExitCode::from(FOUND)
        })
    }

    fn take_out(&self, sites: &[Site]) -> Result<ExitCode, String> {
        let Some(site) = sites.first() else { return Ok(ExitCode::SUCCESS) };
        let changes = self.plan(site, sites)?;
        if !self.dry_run && !changes.is_empty() {
            change::apply(&changes, site)?;
            if !elsewhere(site, sites) {
                Receipt::remove(site);
            }
            sweep(site);
        }
        self.tell(site, &changes);
        Ok(ExitCode::SUCCESS)
    }

    fn plan(&self, site: &Site, sites: &[Site]) -> Result<Vec<Change>, String> {
        let mut changes = Vec::new();
        for site in sites {
            changes.extend(settings(site)?);
        }
        if !elsewhere(site, sites) {
            changes.extend(workflow(site));
            changes.extend(self.own(site)?);
        }
        Ok(changes)
    }

    fn tell(&self, site: &Site, changes: &[Change]) {
        if self.json {
            let told: Vec<Value> = changes.iter().map(|change| change.as_json(self.dry_run)).collect();
            screen::json(&json!({"home": site.home.to_string_lossy(), "dry_run": self.dry_run, "changes": told}));
            return;
        }
        if changes.is_empty() {
            screen::say(format!("modegate is not installed in {}", site.home.display()));
            return;
        }
        let word = if self.dry_run { "would be taken out of" } else { "taken out of" };
        screen::say(format!("modegate {word} {}", paint(Colour::Bold, &site.home.to_string_lossy())));
        change::tell(changes, site, self.dry_run);
    }

    /// What lies in the folder that is only ours. State and journals are the user's: they stay unless asked for.
    fn own(&self, site: &Site) -> Result<Vec<Change>, String> {
        let receipt = Receipt::read(site);
        let backups = ["settings.json.bak", "settings.local.json.bak"].map(|name| site.own.join(name));
        let mut gone: Vec<PathBuf> = [site.program()].into_iter().chain(backups).collect();
        gone.retain(|path| receipt.has(site, path));
        if site.is_users {
            gone.extend(Some(site.own.join("cache.lock")).filter(|path| path.exists()));
            return Ok(gone.into_iter().map(removed).collect());
        }
        let places = site.places();
        gone.extend(leftovers(&site.own));
        gone.extend(Some(places.compiled()).filter(|path| path.exists()));
        let mut changes: Vec<Change> = gone.into_iter().map(removed).collect();
        let mut kept = false;
        for path in state(site) {
            kept |= !self.purge;
            let deed = match self.purge {
                false => Deed::Keep,
                true if path.is_dir() => Deed::RemoveAll,
                true => Deed::Remove,
            };
            changes.push(Change::new(path, deed, if self.purge { "" } else { "`--purge` removes it" }));
        }
        if !kept {
            changes.extend(Some(places.lock()).filter(|path| path.exists()).map(removed));
            changes.extend(ignored(site, &receipt)?);
        }
        Ok(changes)
    }
}

fn removed(path: PathBuf) -> Change {
    Change::new(path, Deed::Remove, "")
}

/// The state and the journals.
fn state(site: &Site) -> Vec<PathBuf> {
    let places = site.places();
    let broken = named(&site.own, |name| name.starts_with("cache.broken-"));
    let known = [places.cache(), places.sessions()].into_iter().filter(|path| is_there(path));
    known.chain(broken).collect()
}

/// What an installation that was killed has left.
fn leftovers(own: &Path) -> Vec<PathBuf> {
    named(own, |name| name.strip_prefix("modegate.").is_some_and(|rest| rest.strip_suffix(".tmp").is_some()))
}

fn named(folder: &Path, is_it: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.filter(|entry| is_it(&entry.file_name().to_string_lossy())).map(|entry| entry.path()).collect()
}

/// Our `.gitignore`, or our lines in the user's.
fn ignored(site: &Site, receipt: &Receipt) -> Result<Option<Change>, String> {
    let path = site.own.join(".gitignore");
    let Some(text) = text_of(&path)? else { return Ok(None) };
    if text == IGNORED || receipt.vouches(site, &path) {
        return Ok(Some(removed(path)));
    }
    let ours = |line: &str| receipt.ignored.iter().any(|own| own == line.trim_end());
    let after: String = text.split_inclusive('\n').filter(|line| !ours(line)).collect();
    Ok((after != text).then(|| Change::text(path, Some(text), after, "without the lines of modegate")))
}

/// The settings as they were before: byte for byte where nothing else has changed since, else without our entries.
fn settings(site: &Site) -> Result<Vec<Change>, String> {
    let Some(text) = text_of(&site.settings)? else { return Ok(Vec::new()) };
    let without = wiring::unwire(&text).map_err(|refusal| refused(site, &refusal))?;
    if without == text {
        return Ok(Vec::new());
    }
    let backup = text_of(&site.backup())?.filter(|before| wiring::unwire(before).as_ref() == Ok(before));
    if let Some(before) = backup.filter(|before| is_it(site, before, &text)) {
        return Ok(vec![Change::text(site.settings.clone(), Some(text), before, "as it was before")]);
    }
    if is_it(site, "", &text) {
        return Ok(vec![Change::new(site.settings.clone(), Deed::Remove, "install had made it")]);
    }
    Ok(vec![Change::text(site.settings.clone(), Some(text), without, "without the hook entries")])
}

/// Whether `text` is exactly what installing makes of `before`.
fn is_it(site: &Site, before: &str, text: &str) -> bool {
    let value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default();
    let own: Vec<EventKind> = wiring::handlers(&value)
        .iter()
        .filter(|own| own.is_ours())
        .filter_map(|own| EventKind::named(own.event))
        .collect();
    // New events stand in the order in which modes need them; what is gone from the modes came after those.
    let mut events = wiring::needed(&mode_cache::read(&site.places()));
    events.retain(|kind| own.contains(kind));
    let gone: Vec<EventKind> = own.into_iter().filter(|kind| !events.contains(kind)).collect();
    events.extend(gone);
    let wired = |command: &str| wiring::wire(before, command, &events).is_ok_and(|wired| wired == text);
    wired(&site.command()) || wired(ON_PATH)
}

/// The starter workflow as far as it is still ours.
fn workflow(site: &Site) -> Vec<Change> {
    let receipt = Receipt::read(site);
    let paths = starter::FILES.iter().map(|file| site.claude.join(file.path)).filter(|path| receipt.has(site, path));
    let change = |path: PathBuf| {
        let same = receipt.vouches(site, &path);
        let (deed, note) = if same { (Deed::Remove, "") } else { (Deed::Keep, "it is not as install wrote it") };
        Change::new(path, deed, note)
    };
    paths.map(change).collect()
}

/// Whether a settings file that is not asked for still calls the program.
fn elsewhere(site: &Site, sites: &[Site]) -> bool {
    let names = ["settings.json", "settings.local.json"].map(|name| site.claude.join(name));
    let others = names.into_iter().filter(|path| sites.iter().all(|site| site.settings != *path));
    let wired = |path: &Path| {
        let text = text_of(path).ok().flatten().unwrap_or_default();
        wiring::unwire(&text).is_ok_and(|without| without != text)
    };
    others.collect::<Vec<_>>().iter().any(|path| wired(path))
}

/// Whether there is a file, or a folder with something in it.
fn is_there(path: &Path) -> bool {
    path.is_file() || std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some())
}

/// Removes the folders that are empty now.
fn sweep(site: &Site) {
    let own = [site.own.join("sessions"), site.own.clone()];
    let shared = ["commands", "agents", ""].map(|name| site.claude.join(name));
    for folder in own.into_iter().chain(shared) {
        let _: std::io::Result<()> = std::fs::remove_dir(folder);
    }
}
