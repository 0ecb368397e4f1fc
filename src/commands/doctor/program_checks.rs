//! Checks the program that the hook entries call, and the version of Claude Code.

use super::super::cli_error::CliError;
use super::super::client_version::{ClientVersion, VersionError, find_program, version_numbers, version_output};
use super::super::install::refresh_program;
use super::super::install_manifest::InstallManifest;
use super::super::install_target::InstallTarget;
use super::super::is_run_by_model;
use super::context::{DoctorContext, SettingsFile};
use super::{Diagnostic, INSTALL, note, ok, problem};
use crate::host::hook_entries::{HookEntry, SCRIPT, SCRIPT_PATH};
use crate::state::user_folder::project_paths;
use crate::world::place;
use base::disk;
use git_facts::CommitState;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub(super) fn run(context: &DoctorContext) -> Vec<Diagnostic> {
    let programs = entry_programs(context);
    let mut diagnostics = missing(context);
    diagnostics.extend(programs.keys().filter_map(|program| installed(context, program)));
    if cfg!(debug_assertions) && diagnostics.iter().any(|diagnostic| diagnostic.check == "program") {
        let message = "this is a debug build, several times slower";
        diagnostics.push(note("debug-build", message, "build with `--release`"));
    }
    let own: BTreeSet<&PathBuf> = programs.keys().flat_map(|program| &program.of_project).collect();
    diagnostics.extend(own.into_iter().filter(|path| is_tracked(path)).map(|path| {
        let name = context.target.short(path);
        let message = format!("git tracks `{name}`, so a pull or a checkout can replace the program that decides");
        let fix = format!("run `git rm --cached {name}` and commit that, then `modegate install`");
        problem("program-tracked", message, fix)
    }));
    diagnostics.extend(script(context));
    diagnostics.extend(host(context));
    diagnostics
}

/// A script of the project's entries that is not the one of this version.
fn script(context: &DoctorContext) -> Option<Diagnostic> {
    context.ours().iter().find(|(file, entry)| file.scope.is_of_project() && entry.runs_script())?;
    let state = match disk::read(&context.target.script(), disk::SMALL) {
        Ok(bytes) if bytes == SCRIPT.as_bytes() => return None,
        Err(error) if disk::is_absent(&error) => "is missing",
        _ => "is not the one of this version",
    };
    let message = format!("`{SCRIPT_PATH}` {state}; the hook entries find the program of colleagues with it");
    Some(problem("script-altered", message, INSTALL))
}

fn is_tracked(path: &Path) -> bool {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return false };
    let state = git_facts::commit_state(folder, Path::new(name));
    matches!(state, Ok(CommitState::Committed | CommitState::Staged | CommitState::Modified))
}

/// A program that came with the repository and that entries of `install` would run, at once or after a checkout.
///
/// Entries for the program on PATH (`on_path`) also look for it in the project.
pub(in crate::commands) fn program_of_repository(context: &DoctorContext, on_path: bool) -> Option<CliError> {
    let (target, own) = (&context.target, context.target.program());
    let is_removed = InstallManifest::read(target).has(target, &own);
    let others = if on_path { in_project(&target.home) } else { Vec::new() };
    let mut programs = [own.clone()].into_iter().chain(others).filter(|path| path.is_file());
    // Packages that nobody committed were installed on this machine.
    let is_left = |path: &PathBuf| on_path && path.ends_with(PROGRAM) && !(is_removed && *path == own);
    let path = programs.find(|path| !context.may_run(path) && (is_left(path) || is_tracked(path)))?;
    let name = target.short(&path);
    let error = CliError::failure(format!("`{name}` is not a copy of this program, and the hook entries would run it"));
    Some(if is_tracked(&path) {
        error.hint(format!("git tracks it: run `git rm {name}` and commit that, then try again; nothing was changed"))
    } else {
        error.hint("remove it, or run `modegate install` without `--path`; nothing was changed")
    })
}

/// The programs of modegate's entries, with their events.
fn entry_programs(context: &DoctorContext) -> BTreeMap<EntryProgram, Vec<String>> {
    let mut programs: BTreeMap<EntryProgram, Vec<String>> = BTreeMap::new();
    for (file, entry) in context.ours() {
        let program = EntryProgram::of_entry(&entry, file, &context.target.home);
        programs.entry(program).or_default().push(entry.event.to_owned());
    }
    programs
}

/// The problem that entries call a program that does not exist.
pub(in crate::commands) fn missing_program(context: &DoctorContext) -> Option<Diagnostic> {
    let missing = missing(context).into_iter().next()?;
    Some(Diagnostic { items: Vec::new(), ..missing })
}

/// The programs that do not exist, with each event that calls them.
fn missing(context: &DoctorContext) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for (program, events) in entry_programs(context).into_iter().filter(|(program, _)| program.path.is_none()) {
        let is_path = program.name.contains(['/', '\\']);
        let name = if is_path { context.target.short(Path::new(&program.name)) } else { program.name };
        let (effect, fix) = match (is_path, program.is_searched) {
            (_, true) => (
                "does not exist, and modegate is not on PATH, so nothing is checked",
                "run `modegate install` without `--path`, or put modegate on PATH",
            ),
            (true, _) => ("does not exist, so Claude Code reports an error and nothing is checked", INSTALL),
            (false, _) => (
                "is not on PATH, so Claude Code reports an error and nothing is checked",
                "put modegate on PATH, or run `modegate install` without `--path`",
            ),
        };
        let diagnostic = |event| problem("program-missing", format!("`{name}` {effect}"), fix).about(event);
        diagnostics.extend(events.into_iter().map(diagnostic));
    }
    diagnostics
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EntryProgram {
    /// As the entry names it, with the host's variables filled in.
    name: String,
    pub(super) path: Option<PathBuf>,
    /// Whether the entry also looks elsewhere.
    is_searched: bool,
    /// All programs of the project that the entry may run: which one depends on the system and on permissions.
    pub(super) of_project: Vec<PathBuf>,
}

impl EntryProgram {
    pub(super) fn of_entry(entry: &HookEntry<'_>, file: &SettingsFile, home: &Path) -> Self {
        let name = entry.program(&home.to_string_lossy());
        let name = match file.plugin() {
            Some(root) => name.replace("${CLAUDE_PLUGIN_ROOT}", &root.to_string_lossy()),
            None => name,
        };
        let is_searched = entry.is_launcher();
        let others = if is_searched && Path::new(&name).starts_with(home) { in_project(home) } else { Vec::new() };
        let path = find_program(&name).or_else(|| is_searched.then(|| launched(home, &others)).flatten());
        let own = path.iter().filter(|path| path.starts_with(home)).cloned();
        Self { of_project: own.chain(others).collect(), path, name, is_searched }
    }
}

/// The place of the program in a project.
const PROGRAM: &str = ".claude/hooks/modegate";

/// The folders where npm and Python install programs for a project; that of the native program comes first.
const PACKAGES: [&str; 7] = [
    "node_modules/@modegate/linux-x64/bin",
    "node_modules/@modegate/linux-arm64/bin",
    "node_modules/@modegate/darwin-arm64/bin",
    "node_modules/@modegate/darwin-x64/bin",
    "node_modules/.bin",
    ".venv/bin",
    "venv/bin",
];

/// The programs of a project that a launcher may find.
fn in_project(home: &Path) -> Vec<PathBuf> {
    let homes: Vec<PathBuf> = place::in_main_checkout(home).into_iter().chain(place::repository_home(home)).collect();
    let own = homes.iter().map(|home| home.join(PROGRAM));
    let packages = [home.to_owned()].into_iter().chain(homes.iter().cloned());
    let packages = packages.flat_map(|home| PACKAGES.map(|folder| home.join(folder).join("modegate")));
    own.chain(packages).filter(|path| path.is_file()).collect()
}

/// The program that a launcher finds if it is not at its place: the first of those in the project, else the user's.
fn launched(home: &Path, in_project: &[PathBuf]) -> Option<PathBuf> {
    let copy = || project_paths(home.to_owned()).user_program().filter(|copy| copy.is_file());
    let users = || {
        let user = PathBuf::from(std::env::var_os("HOME")?);
        [".cargo/bin", ".local/bin"].map(|bin| user.join(bin).join("modegate")).into_iter().find(|path| path.is_file())
    };
    in_project.first().cloned().or_else(copy).or_else(|| find_program("modegate")).or_else(users)
}

/// Whether a program runs and has the version of this one.
fn installed(context: &DoctorContext, program: &EntryProgram) -> Option<Diagnostic> {
    let path = program.path.as_ref()?;
    let (name, own) = (context.target.short(path), env!("CARGO_PKG_VERSION"));
    if !context.may_run(path) {
        let message = format!("`{name}` is not a copy of this program, so it was not run");
        return Some(problem("program-untrusted", message, INSTALL));
    }
    let version = match version(path) {
        Ok(version) => version,
        Err(why) => return Some(problem("program-broken", format!("`{name}` does not run: {why}"), INSTALL)),
    };
    Some(if version != own {
        let is_newer = version_numbers(&version) > version_numbers(own);
        let fix =
            if is_newer { "update the modegate you run here, or go back with `modegate install`" } else { INSTALL };
        problem("program-outdated", format!("`{name}` is modegate {version}, this is {own}"), fix)
    } else if !is_this_program(path) {
        let message = format!("`{name}` is a different build of {own}");
        note("program-differs", message, "run `modegate install` if this one is newer")
    } else {
        ok("program", format!("`{name}` is modegate {version}"))
    })
}

/// Replaces the copy of an installation by this program if it is of an older version and as `install` wrote it.
///
/// A copy of the same or a newer version stays: which one is wanted is for a person to say.
pub(super) fn refresh(target: &InstallTarget) -> Option<Diagnostic> {
    let (program, own) = (target.program(), env!("CARGO_PKG_VERSION"));
    let is_ours = !is_run_by_model() && InstallManifest::read(target).is_unchanged(target, &program);
    if !is_ours || is_this_program(&program) || !DoctorContext::read(target.clone()).may_run(&program) {
        return None;
    }
    let version = version(&program).ok()?;
    version_numbers(&version).zip(version_numbers(own)).filter(|(copy, own)| copy < own)?;
    let name = target.short(&program);
    Some(match refresh_program(target) {
        Ok(()) => ok("program-refreshed", format!("`{name}` was modegate {version} and is now {own}")),
        Err(error) => {
            let message = format!("`{name}` is modegate {version} and cannot be replaced: {error}");
            problem("program-outdated", message, INSTALL)
        }
    })
}

/// Whether a program is a copy of this one.
pub(super) fn is_this_program(path: &Path) -> bool {
    let running = std::env::current_exe().and_then(|path| disk::read(&path, disk::LARGEST));
    running.is_ok_and(|running| disk::read(path, disk::LARGEST).is_ok_and(|installed| installed == running))
}

fn version(path: &Path) -> Result<String, VersionError> {
    let text = version_output(path)?;
    let first = || text.lines().next().unwrap_or_default().to_owned();
    text.trim().strip_prefix("modegate ").map(str::to_owned).ok_or_else(|| VersionError::OtherProgram(first()))
}

fn host(context: &DoctorContext) -> Option<Diagnostic> {
    let version = context.client()?;
    if version < ClientVersion::JSON_BLOCKS {
        let message = format!("Claude Code {version} does not block on exit code 2 with JSON");
        let fix = "update Claude Code, or add `--exit-zero` after `hook` in the entries";
        return Some(problem("host-outdated", message, fix));
    }
    if version < ClientVersion::OLDEST_TESTED {
        let oldest = ClientVersion::OLDEST_TESTED;
        let message = format!("Claude Code {version} is older than {oldest}, the oldest that is tested");
        return Some(note("host-outdated", message, "update Claude Code"));
    }
    Some(ok("host", format!("Claude Code {version}")))
}
