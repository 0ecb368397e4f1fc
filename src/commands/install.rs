//! `modegate install`: the program, the hook entries and the starter workflow.

use super::cli_error::CliError;
use super::client_version::ClientVersion;
use super::doctor::DoctorContext;
use super::file_change::{self, ChangeAction, FileChange, FileClass, text_of};
use super::install_manifest::InstallManifest;
use super::install_target::{InstallScope, InstallTarget};
use super::screen::{self, TextStyle, styled};
use super::trust::TrustBefore;
use super::user_copy::UserCopy;
use super::{CliResult, doctor, install_variables, is_run_by_model};
use crate::commands::starter::{self, StarterFile};
use crate::hook::installation::{self, is_executable};
use crate::host::event::EventKind;
use crate::host::hook_entries;
use crate::state::IGNORED;
use crate::state::mode_cache;
use crate::state::user_folder::create_private;
use crate::world::place;
use base::disk;
use clap::Args;
use serde_json::json;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args)]
#[command(
    after_help = "Installs in the nearest folder with `.claude`, or else at the root of the repository; `--project .` installs
in the current folder.

Examples:
  modegate install
  modegate install --dry-run
  modegate install --path          without a copy of the program in the project
  modegate install --user          for all your projects"
)]
#[expect(clippy::struct_excessive_bools, reason = "command-line flags")]
pub(super) struct Install {
    #[command(flatten)]
    scope: InstallScope,
    /// Do not copy the program to the project; use the one in its packages or on PATH
    #[arg(long)]
    path: bool,
    /// Write entries only for events that this version of Claude Code knows [default: the `claude` on PATH]
    #[arg(long, value_name = "VERSION")]
    client: Option<ClientVersion>,
    /// Do not write the starter workflow: six commands and eight agents
    #[arg(long)]
    no_workflow: bool,
    /// Do not trust the project's modes, settings and gates, and do not ask; see `modegate trust`
    #[arg(long)]
    no_trust: bool,
    /// Show what would change, with diffs, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Install {
    pub(super) fn run(self, project: Option<PathBuf>) -> CliResult {
        let target = self.scope.target(project)?;
        // Private entries run no program of a project.
        let installed = DoctorContext::read(target.clone());
        if let Some(error) = doctor::program_of_repository(&installed, self.path)
            && target.runs_project_program()
        {
            return Err(error);
        }
        let catalogue = mode_cache::sources(&target.state_places()).catalogue();
        let needed = hook_entries::required_events(catalogue.event_kinds());
        let client = self.client.or_else(ClientVersion::installed);
        let (events, unknown): (Vec<EventKind>, Vec<EventKind>) =
            needed.into_iter().partition(|kind| client.is_none_or(|client| client.knows(*kind)));
        let mut changes = self.plan(&target, &events)?;
        let may_trust = !self.no_trust && !self.dry_run && !target.is_users;
        let trust = may_trust.then(|| TrustBefore::read(target.state_places()));
        if !self.dry_run {
            file_change::require_inside(&changes, &target)?;
            let created = target.missing_folders();
            let _guard = target.lock()?;
            // Another process may have installed before the lock was taken.
            changes = self.plan(&target, &events)?;
            apply(&target, &changes, &created)?;
        }
        if let Some(trust) = &trust {
            trust.renew();
        }
        self.print(&target, &events, &changes);
        if let Some(trust) = trust.filter(|_| !self.json) {
            trust.ask()?;
        }
        if let Some(client) = client.filter(|_| !unknown.is_empty() && !self.json) {
            let names = unknown.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
            screen::print_line(format!(
                "Claude Code {client} does not know {names}, so no entry was written; run `modegate install` again after an update."
            ));
        }
        Ok(ExitCode::SUCCESS)
    }

    /// All changes in order: settings come after the program they name.
    fn plan(&self, target: &InstallTarget, events: &[EventKind]) -> Result<Vec<FileChange>, CliError> {
        let settings = self.settings(target, events)?;
        let mut changes = Vec::new();
        if !target.is_users {
            changes.push(gitignore(target)?);
        }
        if !target.is_private && cfg!(unix) {
            let (path, note) = (target.script(), "finds the program for colleagues");
            let (before, script) = (text_of(&path)?, hook_entries::SCRIPT.to_owned());
            changes.push(FileChange::text(path, FileClass::Own, before, script, note));
        }
        if !self.path {
            changes.extend(programs(target)?);
        }
        if !self.no_workflow {
            let starter = |file: &StarterFile| FileChange::starter(target.claude.join(file.path), file.text, "");
            changes.extend(starter::FILES.iter().map(starter));
        }
        changes.extend(install_variables::settings_change(target));
        changes.extend(settings);
        let is_used = !self.path && target.runs_project_program();
        if !is_used && InstallManifest::read(target).has(target, &target.program()) {
            let note = if self.path { "the program on PATH is used instead" } else { "your own copy is used instead" };
            changes.push(FileChange::new(target.program(), ChangeAction::Remove, note));
        }
        Ok(changes)
    }

    fn settings(&self, target: &InstallTarget, events: &[EventKind]) -> Result<Vec<FileChange>, CliError> {
        let before = text_of(&target.settings)?;
        let text = before.clone().unwrap_or_default();
        let after = target.with_entries(&text, events, self.path).map_err(|error| target.settings_error(&error))?;
        let mut changes = Vec::new();
        if before.is_some() && !hook_entries::has_entries(&text) && after != text {
            let class = FileClass::BackupOf(target.settings.clone());
            let action = ChangeAction::Write { before: None, after: text.into_bytes(), class };
            changes.push(FileChange::new(target.backup(), action, "backup of the settings"));
        }
        let called = match target.user_program() {
            _ if self.path => "modegate on PATH".to_owned(),
            Some(copy) if !target.runs_project_program() => target.short(&copy),
            _ => target.short(&target.program()),
        };
        let note = format!("{} hook entries calling {called}", events.len());
        changes.push(FileChange::text(target.settings.clone(), FileClass::User, before, after, note));
        Ok(changes)
    }

    fn print(&self, target: &InstallTarget, events: &[EventKind], changes: &[FileChange]) {
        let mut problems = if self.dry_run { Vec::new() } else { doctor::problems(target) };
        let found = problems.len();
        problems.retain(|problem| !self.no_workflow || !problem.is_missing_workflow());
        let has_workflow = problems.len() == found;
        if self.json {
            let names: Vec<&str> = events.iter().map(|kind| kind.name()).collect();
            let coverage: BTreeMap<_, _> = coverage(target, changes).into_iter().collect();
            let changes = file_change::as_json(changes, self.dry_run);
            screen::print_json(&json!({
                "version": env!("CARGO_PKG_VERSION"), "home": target.home.to_string_lossy(),
                "settings": target.settings.to_string_lossy(), "events": names, "dry_run": self.dry_run,
                "changes": changes, "problems": problems, "coverage": coverage,
            }));
            return;
        }
        let verb = if self.dry_run { "would be installed" } else { "installed" };
        let home = styled(TextStyle::Bold, &target.home.to_string_lossy());
        screen::print_line(format!("modegate {} {verb} in {home}", env!("CARGO_PKG_VERSION")));
        file_change::print(changes, target, self.dry_run);
        problems.iter().for_each(doctor::Diagnostic::print);
        screen::print_line("");
        for (who, text) in coverage(target, changes) {
            if let Some(text) = text {
                screen::print_line(format!("  {:<11} {text}", if who == "commit" { "git" } else { who }));
            }
        }
        if !self.dry_run {
            print_next_steps(target, has_workflow);
        }
    }
}

/// What committed entries mean for colleagues; those for Windows do not look for the program.
const COLLEAGUES: &str = if cfg!(windows) {
    "gated if they run `modegate install`, too; others see an error of the hook at each event"
} else {
    "gated if they have modegate; others work as usual and see one message"
};

/// Who is gated by an installation, and where; with what to commit for it.
fn coverage(target: &InstallTarget, changes: &[FileChange]) -> Vec<(&'static str, Option<String>)> {
    let [colleagues, worktrees, subfolders] = if target.is_users {
        ["not affected: these are your own settings", "gated", "gated"]
    } else if target.is_private {
        [
            "not affected: .claude/settings.local.json is yours, do not commit it",
            "gated; they share the state of this checkout (Claude Code 2.1.211 and later)",
            "gated (Claude Code 2.1.211 and later)",
        ]
    } else {
        let below = "not gated if you start Claude Code there; `modegate install --local` gates them for you";
        [COLLEAGUES, worktrees_of(target), below]
    };
    let rows = [("colleagues", colleagues), ("worktrees", worktrees), ("subfolders", subfolders)];
    let commit = (!target.is_private).then(|| format!("commit {} to share this", shared_files(target, changes)));
    rows.into_iter().map(|(who, text)| (who, Some(text.to_owned()))).chain([("commit", commit)]).collect()
}

/// Which other worktrees of the repository have the program.
fn worktrees_of(target: &InstallTarget) -> &'static str {
    if cfg!(windows) {
        return "gated after `modegate install` there";
    }
    if target.state_places().home != target.home {
        return "gated; they share the state of the main checkout";
    }
    if place::is_linked(&target.home) {
        return "others are not gated unless modegate is on PATH, or installed in the main checkout";
    }
    "gated; they share the state of this checkout"
}

/// The files of an installation that work for colleagues too.
fn shared_files(target: &InstallTarget, changes: &[FileChange]) -> String {
    let paths = [
        target.settings.clone(),
        target.script(),
        target.places().settings(),
        target.claude.join("commands"),
        target.claude.join("agents"),
    ];
    let is_written = |path: &&PathBuf| changes.iter().any(|change| change.path.starts_with(path));
    let names: Vec<String> = paths.iter().filter(is_written).map(|path| target.short(path)).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => names.concat(),
    }
}

fn print_next_steps(target: &InstallTarget, has_workflow: bool) {
    let here = std::env::current_dir().and_then(|here| disk::canonical(&here)).is_ok_and(|here| here == target.home);
    let place = match (target.is_users, here) {
        (true, _) => "in a project".to_owned(),
        (false, true) => "here".to_owned(),
        (false, false) => format!("in {}", target.home.display()),
    };
    let plan = styled(TextStyle::Bold, "/plan");
    let user = if target.is_users { " --user" } else { "" };
    let gated = if target.is_users { " A project is gated once you have typed one of these there." } else { "" };
    let next = if has_workflow {
        format!(
            "Next: start Claude Code {place} and type {plan} (or /explore, /research, /code, /code-review, /implement).{gated}\n\
             A planner that starts without a research report is blocked; `modegate why` shows the reason."
        )
    } else {
        format!(
            "Next: start Claude Code {place}. The built-in rules are active; a mode starts once its command has a file in\n\
             `.claude/commands`. `modegate modes gallery` lists gates and modes that you can add."
        )
    };
    screen::print_line(format!(
        "\n{next}\n`modegate doctor --live` tests every hook; `modegate uninstall{user}` removes all of this."
    ));
}

/// Replaces the programs of a target with the running one.
pub(super) fn refresh_program(target: &InstallTarget) -> Result<(), CliError> {
    let _guard = target.lock()?;
    apply(target, &programs(target)?, &[])
}

/// Makes the changes, and writes down what was installed.
fn apply(target: &InstallTarget, changes: &[FileChange], created: &[PathBuf]) -> Result<(), CliError> {
    let copy = UserCopy::of_target(target).filter(|copy| changes.iter().any(|change| change.path == copy.program));
    let unwritable = |path: &Path, error: io::Error| CliError::failure(format!("`{}`: {error}", path.display()));
    if let Some(folder) = copy.as_ref().and_then(|copy| copy.program.parent()) {
        create_private(folder).map_err(|error| unwritable(folder, error))?;
    }
    file_change::apply(changes, target)?;
    let mut manifest = InstallManifest::read(target);
    manifest.add_folders(target, created);
    for change in changes {
        manifest.add(target, change);
    }
    manifest.write(target).map_err(|error| unwritable(&target.own, error))?;
    if let Some(copy) = copy {
        copy.add_user(&target.settings).map_err(|error| unwritable(&target.settings, error))?;
    }
    if !target.is_users && !is_run_by_model() {
        // Without a record, the next session makes one.
        let _: io::Result<()> = installation::record(&target.state_places());
    }
    Ok(())
}

/// Copies the running program to the project, unless the target is private, and to the user's state folder.
fn programs(target: &InstallTarget) -> Result<Vec<FileChange>, CliError> {
    let running = std::env::current_exe().and_then(|path| disk::canonical(&path));
    let bytes = running.and_then(|path| disk::read(&path, disk::LARGEST));
    let bytes = bytes.map_err(|error| CliError::failure(format!("cannot read the running program: {error}")))?;
    let project = (!target.is_private).then(|| copied(&bytes, target.program()));
    let copy = UserCopy::of_target(target).map(|copy| match copy.newer_version() {
        Some(version) => {
            let note = format!("modegate {version} is newer; remove it to go back");
            FileChange::new(copy.program.clone(), ChangeAction::Keep, note)
        }
        None => copied(&bytes, copy.program.clone()),
    });
    Ok(project.into_iter().chain(copy).collect())
}

fn copied(bytes: &[u8], program: PathBuf) -> FileChange {
    let is_current = disk::read(&program, disk::LARGEST).is_ok_and(|installed| installed == bytes)
        && is_executable(&program) != Some(false);
    #[expect(clippy::cast_precision_loss, reason = "megabytes for people")]
    let note = format!("{:.1} MB", bytes.len() as f64 / 1e6);
    let write = || ChangeAction::Write { before: None, after: bytes.to_owned(), class: FileClass::Program };
    let action = if is_current { ChangeAction::Unchanged } else { write() };
    FileChange::new(program, action, note)
}

/// Writes `.claude/hooks/.gitignore`; an existing one keeps its lines.
fn gitignore(target: &InstallTarget) -> Result<FileChange, CliError> {
    let path = target.own.join(".gitignore");
    let before = text_of(&path)?;
    let mut after = before.clone().unwrap_or_else(|| IGNORED.to_owned());
    // A committed file must not ignore itself.
    let wanted = |line: &&str| !line.starts_with('#') && *line != "/.gitignore";
    for line in IGNORED.lines().filter(wanted) {
        if !after.lines().any(|own| own.trim() == line) {
            let newline = if after.is_empty() || after.ends_with('\n') { "" } else { "\n" };
            after = format!("{after}{newline}{line}\n");
        }
    }
    Ok(FileChange::text(path, FileClass::Own, before, after, "keeps the program, state and journals out of git"))
}
