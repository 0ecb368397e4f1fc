//! `modegate uninstall`: removes exactly what `install` added.

use super::cli_error::CliError;
use super::file_change::{self, ChangeAction, FileChange, FileClass, text_of};
use super::install_manifest::InstallManifest;
use super::install_target::{InstallScope, InstallTarget};
use super::screen::{self, TextStyle, styled};
use super::user_copy::UserCopy;
use super::{CliResult, require_person};
use crate::commands::starter;
use crate::hook::installation;
use crate::host::event::EventKind;
use crate::host::hook_entries;
use crate::host::paths::ProjectPaths;
use crate::state::IGNORED;
use clap::Args;
use serde_json::json;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args)]
#[command(mut_arg("local", |arg| arg.help("Remove only the entries of `.claude/settings.local.json`")))]
#[command(mut_arg("user", |arg| arg.help("Remove the entries of your own settings, which are for all your projects")))]
#[command(after_help = "State and journals stay unless `--purge` is given.

Examples:
  modegate uninstall
  modegate uninstall --purge
  modegate uninstall --user --dry-run")]
pub(super) struct Uninstall {
    #[command(flatten)]
    scope: InstallScope,
    /// Also remove the state and the journals of this project, and your key if no other project has state
    #[arg(long)]
    purge: bool,
    /// Show what would change, with diffs, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Uninstall {
    pub(super) fn run(self, project: Option<PathBuf>) -> CliResult {
        require_person("uninstall", &super::places(project.clone()))?;
        let targets = self.scope.targets(project)?;
        let Some(target) = targets.first() else { return Ok(ExitCode::SUCCESS) };
        let mut changes = Vec::new();
        for target in &targets {
            changes.extend(settings(target)?);
        }
        let is_last = !is_called_elsewhere(target, &targets);
        if is_last {
            changes.extend(starter_files(target));
            changes.extend(self.own_files(target)?);
        }
        let mut copy = UserCopy::of_target(target);
        changes.extend(copy.as_mut().and_then(|copy| copy.remove_users(&targets)));
        if !self.dry_run && !changes.is_empty() {
            file_change::apply(&changes, target)?;
            // Records that cannot be changed cost a message at the next session, or the copy stays.
            if let Some(copy) = copy {
                let _: io::Result<()> = copy.write();
                remove_empty(target, &copy);
            }
            if is_last {
                let kept = !self.purge && !state_files(target).is_empty();
                InstallManifest::read(target).retire(target, kept);
                installation::forget(&target.state_places());
            } else if !target.is_users {
                let _: io::Result<()> = installation::record(&target.state_places());
            }
        }
        self.print(target, &changes);
        Ok(ExitCode::SUCCESS)
    }

    fn print(&self, target: &InstallTarget, changes: &[FileChange]) {
        let home = target.home.to_string_lossy();
        if self.json {
            let changes = file_change::as_json(changes, self.dry_run);
            screen::print_json(&json!({"home": home, "dry_run": self.dry_run, "changes": changes}));
            return;
        }
        let home = styled(TextStyle::Bold, &home);
        screen::print_line(match (changes.iter().any(FileChange::has_effect), self.dry_run) {
            (false, _) => format!("modegate is not installed in {home}"),
            (true, true) => format!("modegate would be removed from {home}"),
            (true, false) => format!("modegate removed from {home}"),
        });
        file_change::print(changes, target, self.dry_run);
        if !self.purge && changes.iter().any(|change| state_files(target).contains(&change.path)) {
            screen::print_line("\nState and journals stay; `modegate uninstall --purge` removes them.");
        }
        if target.is_users {
            screen::print_line(
                "\nThe state and journals of projects stay; `modegate uninstall --purge` in a project removes its own.",
            );
        }
    }

    /// The files in modegate's own folder; state and journals stay unless `--purge` is given.
    fn own_files(&self, target: &InstallTarget) -> Result<Vec<FileChange>, CliError> {
        let manifest = InstallManifest::read(target);
        let backups = ["settings.json.bak", "settings.local.json.bak"].map(|name| target.own.join(name));
        let written = [target.program()].into_iter().chain(backups).filter(|path| manifest.has(target, path));
        let mut removed: Vec<PathBuf> = written.collect();
        let exists = |path: &PathBuf| path.exists();
        if target.is_users {
            removed.extend(Some(target.own.join("cache.lock")).filter(exists));
            return Ok(removed.into_iter().map(FileChange::remove).collect());
        }
        let places = target.places();
        removed.extend(Some(target.script()).filter(exists));
        // Temporary files of an interrupted installation.
        removed.extend(files_named(&target.own, |name| {
            name.strip_suffix(".tmp").is_some_and(|name| name.starts_with("modegate."))
        }));
        // Where the lock is, the entries of colleagues take a missing program for one that has vanished.
        removed.extend([places.compiled(), Some(places.lock())].into_iter().flatten().filter(exists));
        let (state, users) = (state_files(target), users_state(&places, self.purge));
        if !self.purge && !state.is_empty() {
            let beside = [".gitignore", "installed.json"].map(|name| target.own.join(name)).into_iter().filter(exists);
            let stays = state.into_iter().chain(beside).filter(|path| path.starts_with(&target.own));
            let stays = stays.map(|path| FileChange::new(path, ChangeAction::Keep, ""));
            return Ok(removed.into_iter().map(FileChange::remove).chain(stays).chain(users).collect());
        }
        removed.extend(state);
        removed.retain(|path| users.iter().all(|change| !change.has_effect() || !path.starts_with(&change.path)));
        Ok(removed.into_iter().map(FileChange::remove).chain(gitignore(target, &manifest)?).chain(users).collect())
    }
}

/// The project's folder in the user's state folder, and the key, which goes with the state of the last project.
fn users_state(places: &ProjectPaths, purge: bool) -> Vec<FileChange> {
    /// What is made again at the next event or installation.
    const DISPENSABLE: [&str; 5] = ["modes.bin", "parsed.bin", "installation.json", "trust-notice", "context-notice"];
    let Some(own) = places.state_dir.clone().filter(|own| own.is_dir()) else { return Vec::new() };
    let is_kept = !purge && !files_named(&own, |name| !DISPENSABLE.contains(&name)).is_empty();
    let projects = own.parent().map(|projects| files_named(projects, |_| true)).unwrap_or_default();
    let is_only = projects.iter().all(|other| *other == own);
    let key = own.ancestors().nth(2).map(|state| state.join("key")).filter(|key| key.is_file());
    let note = "seals the state of all your projects";
    let key = key.map(|key| FileChange::remove_unless(is_kept || !is_only, key, note));
    [FileChange::remove_unless(is_kept, own, "state, and what you trust")].into_iter().chain(key).collect()
}

fn state_files(target: &InstallTarget) -> Vec<PathBuf> {
    let places = target.places();
    let has_content =
        |path: &PathBuf| path.is_file() || std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
    let broken = files_named(&target.own, |name| name.starts_with("cache.broken-"));
    let own = places.state_dir.iter().flat_map(|own| ["sessions", "values.json", "summary"].map(|name| own.join(name)));
    [places.cache(), places.sessions()].into_iter().chain(own).filter(has_content).chain(broken).collect()
}

fn files_named(folder: &Path, matches: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.filter(|entry| matches(&entry.file_name().to_string_lossy())).map(|entry| entry.path()).collect()
}

/// Removes modegate's `.gitignore`, or its lines in the user's.
fn gitignore(target: &InstallTarget, manifest: &InstallManifest) -> Result<Option<FileChange>, CliError> {
    let path = target.own.join(".gitignore");
    let Some(text) = text_of(&path)? else { return Ok(None) };
    if text == IGNORED || manifest.is_unchanged(target, &path) {
        return Ok(Some(FileChange::remove(path)));
    }
    let is_ours = |line: &str| manifest.ignored.iter().any(|own| own == line.trim_end());
    let after: String = text.split_inclusive('\n').filter(|line| !is_ours(line)).collect();
    let note = "without modegate's lines";
    Ok((after != text).then(|| FileChange::text(path, FileClass::Own, Some(text), after, note)))
}

/// Restores the settings byte for byte if nothing else has changed since, else removes the entries.
fn settings(target: &InstallTarget) -> Result<Option<FileChange>, CliError> {
    let Some(text) = text_of(&target.settings)? else { return Ok(None) };
    let path = target.settings.clone();
    let without = hook_entries::without_entries(&text).map_err(|error| target.settings_error(&error))?;
    if without == text {
        return Ok(None);
    }
    let is_clean = |before: &String| hook_entries::without_entries(before).as_ref() == Ok(before);
    let backup = text_of(&target.backup())?.filter(is_clean).filter(|before| is_result_of(target, before, &text));
    Ok(Some(match backup {
        Some(before) => FileChange::text(path, FileClass::User, Some(text), before, "restored from the backup"),
        None if is_result_of(target, "", &text) => FileChange::new(path, ChangeAction::Remove, "created by install"),
        None => FileChange::text(path, FileClass::User, Some(text), without, "without the hook entries"),
    }))
}

/// Whether installing into `before` results in exactly `text`.
fn is_result_of(target: &InstallTarget, before: &str, text: &str) -> bool {
    let value = hook_entries::settings_value(text);
    let entries = hook_entries::entries_in(&value);
    let events = entries.iter().filter(|entry| entry.is_ours()).filter_map(|entry| EventKind::named(entry.event));
    let events: Vec<EventKind> = events.collect();
    // Both in the present form: the entries may have been written by an earlier version, or with `--path`.
    let updated = |text: &str| target.with_entries(text, &events, false).ok();
    updated(before).is_some_and(|installed| updated(text) == Some(installed))
}

/// Removes the files of the starter workflow and the settings that the user has not changed.
fn starter_files(target: &InstallTarget) -> Vec<FileChange> {
    let manifest = InstallManifest::read(target);
    let paths = starter::FILES.iter().map(|file| target.claude.join(file.path)).chain([target.places().settings()]);
    let written = paths.filter(|path| manifest.has(target, path));
    let is_changed = |path: &Path| !manifest.is_unchanged(target, path);
    written.map(|path| FileChange::remove_unless(is_changed(&path), path, "changed since install")).collect()
}

/// Whether a settings file outside `targets` still calls the program.
fn is_called_elsewhere(target: &InstallTarget, targets: &[InstallTarget]) -> bool {
    let names = ["settings.json", "settings.local.json"].map(|name| target.claude.join(name));
    let mut others = names.iter().filter(|path| targets.iter().all(|target| target.settings != **path));
    others.any(|path| text_of(path).ok().flatten().is_some_and(|text| hook_entries::has_entries(&text)))
}

/// Removes the folders of the state that are empty now: other projects have their state there.
fn remove_empty(target: &InstallTarget, copy: &UserCopy) {
    let own = target.places().state_dir.filter(|own| !own.exists());
    let projects = own.as_deref().and_then(Path::parent);
    let folders = projects.into_iter().chain(copy.program.ancestors().nth(2));
    let _: Vec<io::Result<()>> = folders.map(std::fs::remove_dir).collect();
}
