//! Checks the program that the hook entries call, and the version of Claude Code.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use super::context::{DoctorContext, SettingsFile};
use super::{Diagnostic, INSTALL};
use crate::hook_entries::HookEntry;
use crate::process::{self, SHOWN_OUTPUT};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// How long a program may take to print its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(3);

pub(super) fn run(context: &DoctorContext) -> Vec<Diagnostic> {
    let mut programs: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (file, entry) in context.ours() {
        programs.entry(program_of(&entry, file, &context.target.home)).or_default().push(entry.event);
    }
    let installed = programs.iter().flat_map(|(program, events)| installed(context, program, events));
    installed.chain(host(context)).collect()
}

/// The program of an entry, with the host's variables filled in.
pub(super) fn program_of(entry: &HookEntry<'_>, file: &SettingsFile, home: &Path) -> String {
    let program = entry.program(&home.to_string_lossy());
    match file.plugin() {
        Some(root) => program.replace("${CLAUDE_PLUGIN_ROOT}", &root.to_string_lossy()),
        None => program,
    }
}

/// Whether a program runs and has the version of this one.
fn installed(context: &DoctorContext, program: &str, events: &[&str]) -> Vec<Diagnostic> {
    let is_path = program.contains(['/', '\\']);
    let Some(path) = find_program(program) else {
        let name = if is_path { context.short(Path::new(program)) } else { program.to_owned() };
        let state = if is_path { "does not exist" } else { "is not on PATH" };
        let fix = if is_path { INSTALL } else { "put modegate on PATH, or install without `--path`" };
        let message = format!("`{name}` {state}, so Claude Code reports an error and nothing is checked");
        let diagnostic = Diagnostic::problem("program-missing", message, fix);
        return events.iter().map(|event| diagnostic.clone().about(*event)).collect();
    };
    let name = context.short(&path);
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
    let running = std::env::current_exe().and_then(fs::read);
    if running.is_ok_and(|running| fs::read(&path).is_ok_and(|installed| installed != running)) {
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

/// The path of a program, which may be a name on PATH.
pub(super) fn find_program(program: &str) -> Option<PathBuf> {
    if program.contains(['/', '\\']) {
        return Some(PathBuf::from(program)).filter(|path| path.is_file());
    }
    let name = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths).map(|folder| folder.join(&name)).find(|path| path.is_file())
}

/// Why the version of a program is unknown.
#[derive(Debug, thiserror::Error)]
enum VersionError {
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("`--version` does not answer within {} s", VERSION_TIMEOUT.as_secs())]
    Timeout,
    #[error("`--version` prints `{0}`")]
    OtherProgram(String),
}

fn version(path: &Path) -> Result<String, VersionError> {
    let text = version_output(path)?;
    let first = || text.lines().next().unwrap_or_default().to_owned();
    text.trim().strip_prefix("modegate ").map(str::to_owned).ok_or_else(|| VersionError::OtherProgram(first()))
}

/// The output of `PROGRAM --version`.
fn version_output(path: &Path) -> Result<String, VersionError> {
    let output =
        process::run(Command::new(path).arg("--version"), None, Instant::now() + VERSION_TIMEOUT, SHOWN_OUTPUT)?;
    output.map(|output| output.stdout_text()).ok_or(VersionError::Timeout)
}

/// Limits of the Claude Code on PATH.
fn host(context: &DoctorContext) -> Option<Diagnostic> {
    let text = version_output(&find_program("claude")?).ok()?;
    let version = text.split_whitespace().next()?;
    let numbers: Vec<u32> = version.split('.').filter_map(|part| part.parse().ok()).collect();
    let numbers: [u32; 3] = numbers.try_into().ok()?;
    let has_spaces = context.target.home.to_string_lossy().contains(' ');
    let (limit, fix) = match numbers {
        numbers if numbers >= [2, 1, 139] => return Some(Diagnostic::ok("host", format!("Claude Code {version}"))),
        numbers if numbers < [2, 1, 90] => (
            "does not block on exit code 2 with JSON",
            "update Claude Code, or call `modegate hook --exit-zero` in entries without `args`",
        ),
        _ if has_spaces => (
            "does not know `args`, and its shell splits this project's path at the space",
            "update Claude Code, or install with `--path`",
        ),
        _ => {
            let message = format!("Claude Code {version} does not know `args`; it calls the bare program, which works");
            return Some(Diagnostic::note("host-outdated", message, "update Claude Code"));
        }
    };
    Some(Diagnostic::problem("host-outdated", format!("Claude Code {version} {limit}"), fix))
}
