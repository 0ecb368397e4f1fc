//! `modegate uninstall`: takes out exactly what `install` put in.

use super::cli_error::CliError;
use super::file_change::{self, ChangeKind, FileChange, text_of};
use super::install::refused;
use super::install_manifest::InstallManifest;
use super::install_target::{InstallScope, InstallTarget};
use super::screen::{self, TextStyle, styled};
use super::{CliResult, require_person};
use crate::disk::IGNORED;
use crate::event::EventKind;
use crate::hook_entries::{self, PATH_COMMAND};
use crate::mode_cache;
use crate::starter;
use clap::Args;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args)]
pub(super) struct Uninstall {
    #[command(flatten)]
    scope: InstallScope,
    /// Also remove the state and the journals
    #[arg(long)]
    purge: bool,
    /// Only show what would change
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

impl Uninstall {
    pub(super) fn run(self, project: Option<PathBuf>) -> CliResult {
        require_person("uninstall")?;
        let targets = self.scope.targets(project).map_err(CliError::failure)?;
        self.take_out(&targets).map_err(CliError::failure)
    }

    fn take_out(&self, targets: &[InstallTarget]) -> Result<ExitCode, String> {
        let Some(target) = targets.first() else { return Ok(ExitCode::SUCCESS) };
        let changes = self.plan(target, targets)?;
        if !self.dry_run && !changes.is_empty() {
            file_change::apply(&changes, target)?;
            if !elsewhere(target, targets) {
                InstallManifest::remove(target);
            }
            sweep(target);
        }
        self.tell(target, &changes);
        Ok(ExitCode::SUCCESS)
    }

    fn plan(&self, target: &InstallTarget, targets: &[InstallTarget]) -> Result<Vec<FileChange>, String> {
        let mut changes = Vec::new();
        for target in targets {
            changes.extend(settings(target)?);
        }
        if !elsewhere(target, targets) {
            changes.extend(workflow(target));
            changes.extend(self.own(target)?);
        }
        Ok(changes)
    }

    fn tell(&self, target: &InstallTarget, changes: &[FileChange]) {
        if self.json {
            let told: Vec<Value> = changes.iter().map(|change| change.as_json(self.dry_run)).collect();
            screen::print_json(
                &json!({"home": target.home.to_string_lossy(), "dry_run": self.dry_run, "changes": told}),
            );
            return;
        }
        if changes.is_empty() {
            screen::print_line(format!("modegate is not installed in {}", target.home.display()));
            return;
        }
        let word = if self.dry_run { "would be taken out of" } else { "taken out of" };
        screen::print_line(format!("modegate {word} {}", styled(TextStyle::Bold, &target.home.to_string_lossy())));
        file_change::tell(changes, target, self.dry_run);
    }

    /// What lies in the folder that is only ours. State and journals are the user's: they stay unless asked for.
    fn own(&self, target: &InstallTarget) -> Result<Vec<FileChange>, String> {
        let manifest = InstallManifest::read(target);
        let backups = ["settings.json.bak", "settings.local.json.bak"].map(|name| target.own.join(name));
        let mut gone: Vec<PathBuf> = [target.program()].into_iter().chain(backups).collect();
        gone.retain(|path| manifest.has(target, path));
        if target.is_users {
            gone.extend(Some(target.own.join("cache.lock")).filter(|path| path.exists()));
            return Ok(gone.into_iter().map(removed).collect());
        }
        let places = target.places();
        gone.extend(leftovers(&target.own));
        gone.extend(Some(places.compiled()).filter(|path| path.exists()));
        let mut changes: Vec<FileChange> = gone.into_iter().map(removed).collect();
        let mut kept = false;
        for path in state(target) {
            kept |= !self.purge;
            let kind = match self.purge {
                false => ChangeKind::Keep,
                true if path.is_dir() => ChangeKind::RemoveAll,
                true => ChangeKind::Remove,
            };
            changes.push(FileChange::new(path, kind, if self.purge { "" } else { "`--purge` removes it" }));
        }
        if !kept {
            changes.extend(Some(places.lock()).filter(|path| path.exists()).map(removed));
            changes.extend(ignored(target, &manifest)?);
        }
        Ok(changes)
    }
}

fn removed(path: PathBuf) -> FileChange {
    FileChange::new(path, ChangeKind::Remove, "")
}

/// The state and the journals.
fn state(target: &InstallTarget) -> Vec<PathBuf> {
    let places = target.places();
    let broken = named(&target.own, |name| name.starts_with("cache.broken-"));
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
fn ignored(target: &InstallTarget, manifest: &InstallManifest) -> Result<Option<FileChange>, String> {
    let path = target.own.join(".gitignore");
    let Some(text) = text_of(&path)? else { return Ok(None) };
    if text == IGNORED || manifest.vouches(target, &path) {
        return Ok(Some(removed(path)));
    }
    let ours = |line: &str| manifest.ignored.iter().any(|own| own == line.trim_end());
    let after: String = text.split_inclusive('\n').filter(|line| !ours(line)).collect();
    Ok((after != text).then(|| FileChange::text(path, Some(text), after, "without the lines of modegate")))
}

/// The settings as they were before: byte for byte where nothing else has changed since, else without our entries.
fn settings(target: &InstallTarget) -> Result<Vec<FileChange>, String> {
    let Some(text) = text_of(&target.settings)? else { return Ok(Vec::new()) };
    let without = hook_entries::without_entries(&text).map_err(|refusal| refused(target, &refusal))?;
    if without == text {
        return Ok(Vec::new());
    }
    let backup =
        text_of(&target.backup())?.filter(|before| hook_entries::without_entries(before).as_ref() == Ok(before));
    if let Some(before) = backup.filter(|before| is_it(target, before, &text)) {
        return Ok(vec![FileChange::text(target.settings.clone(), Some(text), before, "as it was before")]);
    }
    if is_it(target, "", &text) {
        return Ok(vec![FileChange::new(target.settings.clone(), ChangeKind::Remove, "install had made it")]);
    }
    Ok(vec![FileChange::text(target.settings.clone(), Some(text), without, "without the hook entries")])
}

/// Whether `text` is exactly what installing makes of `before`.
fn is_it(target: &InstallTarget, before: &str, text: &str) -> bool {
    let value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default();
    let own: Vec<EventKind> = hook_entries::entries_in(&value)
        .iter()
        .filter(|own| own.is_ours())
        .filter_map(|own| EventKind::named(own.event))
        .collect();
    // New events stand in the order in which modes need them; what is gone from the modes came after those.
    let mut events = hook_entries::required_events(&mode_cache::read(&target.places()));
    events.retain(|kind| own.contains(kind));
    let gone: Vec<EventKind> = own.into_iter().filter(|kind| !events.contains(kind)).collect();
    events.extend(gone);
    let wired = |command: &str| hook_entries::with_entries(before, command, &events).is_ok_and(|wired| wired == text);
    wired(&target.command()) || wired(PATH_COMMAND)
}

/// The starter workflow as far as it is still ours.
fn workflow(target: &InstallTarget) -> Vec<FileChange> {
    let manifest = InstallManifest::read(target);
    let paths =
        starter::FILES.iter().map(|file| target.claude.join(file.path)).filter(|path| manifest.has(target, path));
    let change = |path: PathBuf| {
        let same = manifest.vouches(target, &path);
        let (kind, note) =
            if same { (ChangeKind::Remove, "") } else { (ChangeKind::Keep, "it is not as install wrote it") };
        FileChange::new(path, kind, note)
    };
    paths.map(change).collect()
}

/// Whether a settings file that is not asked for still calls the program.
fn elsewhere(target: &InstallTarget, targets: &[InstallTarget]) -> bool {
    let names = ["settings.json", "settings.local.json"].map(|name| target.claude.join(name));
    let others = names.into_iter().filter(|path| targets.iter().all(|target| target.settings != *path));
    let wired = |path: &Path| {
        let text = text_of(path).ok().flatten().unwrap_or_default();
        hook_entries::without_entries(&text).is_ok_and(|without| without != text)
    };
    others.collect::<Vec<_>>().iter().any(|path| wired(path))
}

/// Whether there is a file, or a folder with something in it.
fn is_there(path: &Path) -> bool {
    path.is_file() || std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some())
}

/// Removes the folders that are empty now.
fn sweep(target: &InstallTarget) {
    let own = [target.own.join("sessions"), target.own.clone()];
    let shared = ["commands", "agents", ""].map(|name| target.claude.join(name));
    for folder in own.into_iter().chain(shared) {
        let _: std::io::Result<()> = std::fs::remove_dir(folder);
    }
}
