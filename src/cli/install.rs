//! `modegate install`: the program, the hook entries and the starter workflow.

use super::cli_error::CliError;
use super::file_change::{self, ChangeKind, FileChange, text_of};
use super::install_manifest::InstallManifest;
use super::install_target::{InstallScope, InstallTarget};
use super::screen::{self, TextStyle, styled};
use super::{CliResult, doctor};
use crate::disk::IGNORED;
use crate::event::EventKind;
use crate::hook_entries::{self, SettingsError};
use crate::mode_cache;
use crate::starter;
use clap::Args;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(super) struct Install {
    #[command(flatten)]
    scope: InstallScope,
    /// Call the `modegate` on PATH instead of a copy in the project, so that committed settings work for everyone
    #[arg(long)]
    path: bool,
    /// Leave out the starter workflow: six commands and eight agents
    #[arg(long)]
    no_workflow: bool,
    /// Only show what would change
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

impl Install {
    pub(super) fn run(self, project: Option<PathBuf>) -> CliResult {
        let target = self.scope.target(project).map_err(CliError::failure)?;
        self.install(&target).map_err(CliError::failure)?;
        Ok(ExitCode::SUCCESS)
    }

    fn install(&self, target: &InstallTarget) -> Result<(), String> {
        let events = hook_entries::required_events(&mode_cache::read(&target.places()));
        let mut changes = self.plan(target, &events)?;
        if !self.dry_run {
            let _guard = target.hold()?;
            // Somebody else may have installed meanwhile.
            changes = self.plan(target, &events)?;
            file_change::apply(&changes, target)?;
            receive(target, &changes)?;
        }
        self.tell(target, &events, &changes);
        Ok(())
    }

    /// Everything that has to be done, in order: a settings file never names a program that is not there yet.
    fn plan(&self, target: &InstallTarget, events: &[EventKind]) -> Result<Vec<FileChange>, String> {
        let settings = self.settings(target, events)?;
        let mut changes = Vec::new();
        if !target.is_users {
            changes.push(ignored(target)?);
        }
        if !self.path {
            changes.push(program(target)?);
        }
        if !self.no_workflow {
            changes.extend(workflow(target));
        }
        changes.extend(settings);
        if self.path && InstallManifest::read(target).has(target, &target.program()) {
            changes.push(FileChange::new(target.program(), ChangeKind::Remove, "the one on PATH is called now"));
        }
        Ok(changes)
    }

    fn settings(&self, target: &InstallTarget, events: &[EventKind]) -> Result<Vec<FileChange>, String> {
        let command = if self.path { hook_entries::PATH_COMMAND.to_owned() } else { target.command() };
        let before = text_of(&target.settings)?;
        let text = before.clone().unwrap_or_default();
        let after = hook_entries::with_entries(&text, &command, events).map_err(|refusal| refused(target, &refusal))?;
        let pristine = hook_entries::without_entries(&text).is_ok_and(|without| without == text);
        let mut changes = Vec::new();
        if before.is_some() && pristine && after != text {
            let kind = ChangeKind::Backup { of: target.settings.clone(), text };
            changes.push(FileChange::new(target.backup(), kind, "the settings as they were"));
        }
        let note = format!("{} hook entries calling {command}", events.len());
        changes.push(FileChange::text(target.settings.clone(), before, after, note));
        Ok(changes)
    }

    fn tell(&self, target: &InstallTarget, events: &[EventKind], changes: &[FileChange]) {
        let problems = if self.dry_run { Vec::new() } else { doctor::problems(target) };
        if self.json {
            let names: Vec<&str> = events.iter().map(|kind| kind.name()).collect();
            let changes: Vec<Value> = changes.iter().map(|change| change.as_json(self.dry_run)).collect();
            screen::print_json(&json!({
                "version": env!("CARGO_PKG_VERSION"), "home": target.home.to_string_lossy(),
                "settings": target.settings.to_string_lossy(), "events": names, "dry_run": self.dry_run,
                "changes": changes, "problems": problems,
            }));
            return;
        }
        let would = if self.dry_run { "would be installed" } else { "installed" };
        let home = target.home.to_string_lossy();
        screen::print_line(format!(
            "modegate {} {would} in {}",
            env!("CARGO_PKG_VERSION"),
            styled(TextStyle::Bold, &home)
        ));
        file_change::tell(changes, target, self.dry_run);
        problems.iter().for_each(doctor::Diagnostic::tell);
        if !self.dry_run {
            tell_next(target);
        }
    }
}

fn tell_next(target: &InstallTarget) {
    let here = std::env::current_dir().is_ok_and(|here| here.canonicalize().is_ok_and(|here| here == target.home));
    let at = match (target.is_users, here) {
        (true, _) => "in a project".to_owned(),
        (false, true) => "here".to_owned(),
        (false, false) => format!("in {}", target.home.display()),
    };
    let plan = styled(TextStyle::Bold, "/plan");
    screen::print_line(format!(
        "\nNext: start Claude Code {at} and type {plan} (or /explore, /research, /code, /code-review, /implement)."
    ));
    screen::print_line(
        "A planner that the model calls without a research report is refused; `modegate why` tells what was seen.",
    );
    let user = if target.is_users { " --user" } else { "" };
    screen::print_line(format!(
        "`modegate doctor --live` tries every hook; `modegate uninstall{user}` takes all of this out again."
    ));
}

/// Writes the manifest: what is there because of us.
fn receive(target: &InstallTarget, changes: &[FileChange]) -> Result<(), String> {
    let mut manifest = InstallManifest::read(target);
    for change in changes {
        match &change.kind {
            ChangeKind::Own { before: Some(before), after } => {
                let new = after.lines().filter(|line| !before.lines().any(|own| own == *line));
                manifest.ignored.extend(new.map(str::to_owned));
            }
            _ => change.written().into_iter().for_each(|bytes| manifest.note(target, &change.path, bytes)),
        }
    }
    manifest.write(target).map_err(|error| format!("`{}`: {error}", target.own.display()))
}

/// The program itself, copied from the one that runs.
fn program(target: &InstallTarget) -> Result<FileChange, String> {
    let running = std::env::current_exe().and_then(|path| path.canonicalize());
    let running = running.map_err(|error| format!("the running program cannot be found: {error}"))?;
    let program = target.program();
    let bytes = fs::read(&running).map_err(|error| format!("`{}` cannot be read: {error}", running.display()))?;
    let same = fs::read(&program).is_ok_and(|there| there == bytes) && can_run(&program);
    #[expect(clippy::cast_precision_loss, reason = "megabytes for people")]
    let note = format!("{:.1} MB", bytes.len() as f64 / 1e6);
    Ok(FileChange::new(program, if same { ChangeKind::Same } else { ChangeKind::Program(bytes) }, note))
}

#[cfg(unix)]
fn can_run(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|meta| meta.permissions().mode() & 0o111 == 0o111)
}

#[cfg(not(unix))]
fn can_run(_: &Path) -> bool {
    true
}

/// `.claude/hooks/.gitignore`; one that is there keeps its lines.
fn ignored(target: &InstallTarget) -> Result<FileChange, String> {
    let path = target.own.join(".gitignore");
    let before = text_of(&path)?;
    let mut after = before.clone().unwrap_or_default();
    let has = |text: &str, line: &str| text.lines().any(|own| own.trim() == line);
    if before.is_none() {
        IGNORED.clone_into(&mut after);
    }
    // A file that git knows must not ignore itself.
    let own = |line: &&str| !line.starts_with('#') && (before.is_none() || *line != "/.gitignore");
    for line in IGNORED.lines().filter(own) {
        if !has(&after, line) {
            let joint = if after.is_empty() || after.ends_with('\n') { "" } else { "\n" };
            after = format!("{after}{joint}{line}\n");
        }
    }
    let same = before.as_deref() == Some(after.as_str());
    let kind = if same { ChangeKind::Same } else { ChangeKind::Own { before, after } };
    Ok(FileChange::new(path, kind, "program, state and journals stay out of git"))
}

/// The commands and agents; a file that is there is somebody's.
fn workflow(target: &InstallTarget) -> Vec<FileChange> {
    let change = |file: &starter::StarterFile| {
        let path = target.claude.join(file.path);
        match fs::read(&path) {
            Ok(own) if own == file.text.as_bytes() => FileChange::new(path, ChangeKind::Same, ""),
            _ if fs::symlink_metadata(&path).is_ok() => FileChange::new(path, ChangeKind::Keep, "it was there before"),
            _ => FileChange::new(path, ChangeKind::New(file.text), ""),
        }
    };
    starter::FILES.iter().map(change).collect()
}

/// A settings file that is left alone, with the place and the way out.
pub(super) fn refused(target: &InstallTarget, refusal: &SettingsError) -> String {
    let file = target.short(&target.settings);
    let place = refusal.place.map(|(line, column)| format!("\n   --> {file}:{line}:{column}")).unwrap_or_default();
    format!(
        "`{file}` is not a settings file: {}{place}\n  hint: mend the file and run this again; nothing was changed",
        refusal.why
    )
}
