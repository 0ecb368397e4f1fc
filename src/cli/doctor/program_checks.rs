//! Checks the program that the hook entries call, and the version of Claude Code.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use super::super::client_version::{ClientVersion, VersionError, find_program, version_output};
use super::context::{DoctorContext, SettingsFile};
use super::{Diagnostic, INSTALL};
use crate::disk;
use crate::hook_entries::HookEntry;
use crate::live::place;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub(super) fn run(context: &DoctorContext) -> Vec<Diagnostic> {
    let mut programs: BTreeMap<EntryProgram, Vec<&str>> = BTreeMap::new();
    for (file, entry) in context.ours() {
        programs.entry(EntryProgram::of(&entry, file, &context.target.home)).or_default().push(entry.event);
    }
    let installed = programs.iter().flat_map(|(program, events)| installed(context, program, events));
    installed.chain(host(context)).collect()
}

/// The program that an entry starts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EntryProgram {
    /// As the entry names it, with the host's variables filled in.
    name: String,
    /// Where it is.
    pub(super) path: Option<PathBuf>,
    /// Whether the entry also looks elsewhere.
    is_searched: bool,
}

impl EntryProgram {
    pub(super) fn of(entry: &HookEntry<'_>, file: &SettingsFile, home: &Path) -> Self {
        let name = program_of(entry, file, home);
        let is_searched = entry.is_launcher();
        let is_of_project = Path::new(&name).starts_with(home);
        let path = find_program(&name).or_else(|| is_searched.then(|| launched(home, is_of_project)).flatten());
        Self { name, path, is_searched }
    }
}

/// The program that a launcher finds if it is not at its place; entries of the user use none of a project.
fn launched(home: &Path, is_of_project: bool) -> Option<PathBuf> {
    let main = place::in_main_checkout(home).filter(|_| is_of_project).map(|main| main.join(".claude/hooks/modegate"));
    let user = std::env::var_os("HOME").map(PathBuf::from);
    let users =
        user.into_iter().flat_map(|user| [".cargo/bin", ".local/bin"].map(|bin| user.join(bin).join("modegate")));
    main.filter(|path| path.is_file())
        .or_else(|| find_program("modegate"))
        .or_else(|| users.into_iter().find(|path| path.is_file()))
}

/// The program of an entry, with the host's variables filled in.
fn program_of(entry: &HookEntry<'_>, file: &SettingsFile, home: &Path) -> String {
    let program = entry.program(&home.to_string_lossy());
    match file.plugin() {
        Some(root) => program.replace("${CLAUDE_PLUGIN_ROOT}", &root.to_string_lossy()),
        None => program,
    }
}

/// Whether a program runs and has the version of this one.
fn installed(context: &DoctorContext, program: &EntryProgram, events: &[&str]) -> Vec<Diagnostic> {
    let is_path = program.name.contains(['/', '\\']);
    let Some(path) = program.path.clone() else {
        let name = if is_path { context.short(Path::new(&program.name)) } else { program.name.clone() };
        let (message, fix) = match (is_path, program.is_searched) {
            (_, true) => ("does not exist, and modegate is not on PATH, so nothing is checked", INSTALL),
            (true, _) => ("does not exist, so Claude Code reports an error and nothing is checked", INSTALL),
            (false, _) => (
                "is not on PATH, so Claude Code reports an error and nothing is checked",
                "put modegate on PATH, or install without `--path`",
            ),
        };
        let diagnostic = Diagnostic::problem("program-missing", format!("`{name}` {message}"), fix);
        return events.iter().map(|event| diagnostic.clone().about(*event)).collect();
    };
    let name = context.short(&path);
    if !context.may_run(&path) {
        let message = format!("`{name}` is another program than this one, and you have not trusted this project");
        return vec![Diagnostic::problem("program-untrusted", message, INSTALL)];
    }
    let version = match version(&path) {
        Ok(version) => version,
        Err(why) => {
            let message = format!("`{name}` does not run: {why}");
            return vec![Diagnostic::problem("program-broken", message, INSTALL)];
        }
    };
    let own = env!("CARGO_PKG_VERSION");
    if version != own {
        let message = format!("`{name}` is modegate {version}, this is {own}");
        return vec![Diagnostic::problem("program-outdated", message, INSTALL)];
    }
    if !is_this_program(&path) {
        let message = format!("`{name}` is another build of {own} than this one");
        return vec![Diagnostic::note("program-differs", message, "run `modegate install` if this one is newer")];
    }
    let mut diagnostics = vec![Diagnostic::ok("program", format!("`{name}` is modegate {version}"))];
    if cfg!(debug_assertions) {
        let message = "this is a debug build, several times slower";
        diagnostics.push(Diagnostic::note("debug-build", message, "build with `--release`"));
    }
    diagnostics
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

/// Limits of the Claude Code on PATH.
fn host(context: &DoctorContext) -> Option<Diagnostic> {
    let version = context.client()?;
    if version < ClientVersion::JSON_BLOCKS {
        let message = format!("Claude Code {version} does not block on exit code 2 with JSON");
        let fix = "update Claude Code, or add `--exit-zero` after `hook` in the entries";
        return Some(Diagnostic::problem("host-outdated", message, fix));
    }
    if version < ClientVersion::OLDEST_TESTED {
        let oldest = ClientVersion::OLDEST_TESTED;
        let message = format!("Claude Code {version} is older than {oldest}, the oldest that is tested");
        return Some(Diagnostic::note("host-outdated", message, "update Claude Code"));
    }
    Some(Diagnostic::ok("host", format!("Claude Code {version}")))
}
