//! `modegate uninstall`: takes out exactly what `install` put in.

use super::change::{self, Change, Deed, text_of};
use super::install::refused;
use super::screen::{self, Colour, paint};
use super::site::{Scope, Site};
use super::{FOUND, person_only};
use crate::disk::IGNORED;
use crate::library;
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
            screen::complain(format!("error: {error}"));
            ExitCode::from(FOUND)
        })
    }

    fn take_out(&self, sites: &[Site]) -> Result<ExitCode, String> {
        let Some(site) = sites.first() else { return Ok(ExitCode::SUCCESS) };
        let mut changes = Vec::new();
        for site in sites {
            changes.extend(settings(site)?);
        }
        if !elsewhere(site, sites) {
            changes.extend(workflow(site)?);
            changes.extend(self.own(site)?);
        }
        if !self.dry_run {
            for change in &changes {
                change.apply().map_err(|error| format!("`{}`: {error}", change.path.display()))?;
            }
            sweep(site);
        }
        self.tell(site, &changes);
        Ok(ExitCode::SUCCESS)
    }

    fn tell(&self, site: &Site, changes: &[Change]) {
        if self.json {
            let told: Vec<Value> = changes.iter().map(Change::as_json).collect();
            screen::json(&json!({"home": site.home, "dry_run": self.dry_run, "changes": told}));
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
        let places = site.places();
        let mut gone = vec![site.program(), site.backup()];
        let mut changes = Vec::new();
        if !site.is_users {
            gone.extend([places.compiled(), site.own.join("settings.local.json.bak")]);
            let state = [places.cache(), places.sessions()].into_iter().filter(|path| is_there(path));
            let mut kept = false;
            for path in state {
                kept |= !self.purge;
                let deed = if self.purge { Deed::Remove } else { Deed::Keep };
                changes.push(Change::new(path, deed, if self.purge { "" } else { "`--purge` removes it" }));
            }
            let ignore = site.own.join(".gitignore");
            if !kept {
                gone.push(places.lock());
                gone.extend(text_of(&ignore)?.filter(|text| text == IGNORED).map(|_| ignore));
            }
        }
        let gone = gone.into_iter().filter(|path| path.exists());
        Ok(gone.map(|path| Change::new(path, Deed::Remove, "")).chain(changes).collect())
    }
}

/// The settings as they were before: byte for byte where nothing else has changed since, else without our entries.
fn settings(site: &Site) -> Result<Vec<Change>, String> {
    let Some(text) = text_of(&site.settings)? else { return Ok(Vec::new()) };
    let without = wiring::unwire(&text).map_err(|refusal| refused(site, &refusal))?;
    if without == text {
        return Ok(Vec::new());
    }
    let events = wiring::needed(&library::read(&site.places()));
    let is_it = |before: &str| {
        let wired = |command: &str| wiring::wire(before, command, &events).is_ok_and(|wired| wired == text);
        wired(&site.command()) || wired(ON_PATH)
    };
    let note = "without the hook entries";
    if let Some(before) = text_of(&site.backup())?.filter(|before| is_it(before)) {
        return Ok(vec![Change::text(site.settings.clone(), Some(text), before, "as it was before")]);
    }
    if is_it("") {
        return Ok(vec![Change::new(site.settings.clone(), Deed::Remove, "install had made it")]);
    }
    Ok(vec![Change::text(site.settings.clone(), Some(text), without, note)])
}

/// The starter workflow as far as it is still ours.
fn workflow(site: &Site) -> Result<Vec<Change>, String> {
    let mut changes = Vec::new();
    for file in starter::FILES {
        let path = site.claude.join(file.path);
        if let Some(text) = text_of(&path)? {
            let same = text == file.text;
            let (deed, note) = if same { (Deed::Remove, "") } else { (Deed::Keep, "it is not as install wrote it") };
            changes.push(Change::new(path, deed, note));
        }
    }
    Ok(changes)
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
