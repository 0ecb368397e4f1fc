//! The program behind the entries: there, of this version, and the host that calls it.

use super::Diagnostic;
use super::context::{DoctorContext, SettingsFile};
use crate::hook_entries::HookEntry;
use crate::process;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

const INSTALL: &str = "run `modegate install`";

/// How long a program may take to tell its version.
const PATIENT: Duration = Duration::from_secs(3);

pub(super) fn run(context: &DoctorContext) -> Vec<Diagnostic> {
    let mut programs: Vec<String> =
        context.ours().iter().map(|(file, handler)| filled(handler, file, &context.target.home)).collect();
    programs.sort();
    programs.dedup();
    let mut diagnostics: Vec<Diagnostic> = programs.iter().flat_map(|program| installed(context, program)).collect();
    diagnostics.extend(host(context));
    diagnostics
}

/// The program of an entry, with what the host fills in.
pub(super) fn filled(handler: &HookEntry<'_>, file: &SettingsFile, home: &Path) -> String {
    let program = handler.program(&home.to_string_lossy());
    match file.plugin() {
        Some(root) => program.replace("${CLAUDE_PLUGIN_ROOT}", &root.to_string_lossy()),
        None => program,
    }
}

/// Whether a program can be started, and is the one that asks.
fn installed(context: &DoctorContext, program: &str) -> Vec<Diagnostic> {
    let Some(path) = found(program) else {
        let what = if program.contains(['/', '\\']) {
            format!(
                "`{}` is not there: Claude Code diagnostics an error at each event, and nothing is gated",
                context.short(Path::new(program))
            )
        } else {
            format!("`{program}` is not on PATH: Claude Code diagnostics an error at each event, and nothing is gated")
        };
        let fix =
            if program.contains(['/', '\\']) { INSTALL } else { "put modegate on PATH, or install without `--path`" };
        return vec![Diagnostic::problem("program-missing", what, fix)];
    };
    let name = context.short(&path);
    let version = match version(&path) {
        Ok(version) => version,
        Err(why) => {
            return vec![Diagnostic::problem("program-broken", format!("`{name}` cannot be run: {why}"), INSTALL)];
        }
    };
    let own = env!("CARGO_PKG_VERSION");
    if version != own {
        let what = format!("`{name}` is modegate {version}, this is {own}");
        return vec![Diagnostic::problem("program-stale", what, INSTALL)];
    }
    let running = std::env::current_exe().and_then(fs::read);
    if running.is_ok_and(|running| fs::read(&path).is_ok_and(|there| there != running)) {
        let what = format!("`{name}` is another build of {own} than this one");
        return vec![Diagnostic::note("program-differs", what, "run `modegate install` if this one is the newer")];
    }
    let mut diagnostics = vec![Diagnostic::fine("program", format!("`{name}` is modegate {version}"))];
    if cfg!(debug_assertions) {
        diagnostics.push(Diagnostic::note(
            "program-slow",
            "this is a debug build, several times slower",
            "build it with `--release`",
        ));
    }
    diagnostics
}

/// Where a program is: a path, or a name on PATH.
pub(super) fn found(program: &str) -> Option<PathBuf> {
    let there = |path: &Path| path.is_file();
    if program.contains(['/', '\\']) {
        return Some(PathBuf::from(program)).filter(|path| there(path));
    }
    let paths = std::env::var_os("PATH")?;
    let name = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&paths).map(|folder| folder.join(&name)).find(|path| there(path))
}

/// What a program says its version is.
fn version(path: &Path) -> Result<String, String> {
    let text = asked(path)?;
    match text.trim().strip_prefix("modegate ") {
        Some(version) => Ok(version.to_owned()),
        None => Err(format!("`--version` says `{}`", text.lines().next().unwrap_or_default())),
    }
}

/// What a program prints when it is asked for its version; not every program answers.
fn asked(path: &Path) -> Result<String, String> {
    let until = Instant::now() + PATIENT;
    match process::run(Command::new(path).arg("--version"), None, until).map_err(|error| error.to_string())? {
        Some(ended) => Ok(ended.stdout),
        None => Err(format!("`--version` does not answer within {} s", PATIENT.as_secs())),
    }
}

/// The host's version, where it is on PATH: what older ones cannot do.
fn host(context: &DoctorContext) -> Option<Diagnostic> {
    let text = asked(&found("claude")?).ok()?;
    let version = text.split_whitespace().next()?;
    let numbers: Vec<u32> = version.split('.').filter_map(|part| part.parse().ok()).collect();
    let at: [u32; 3] = numbers.try_into().ok()?;
    let spaces = context.target.home.to_string_lossy().contains(' ');
    Some(if at < [2, 1, 90] {
        let what = format!("Claude Code {version} does not block on exit code 2 with JSON");
        Diagnostic::problem(
            "host-old",
            what,
            "update Claude Code, or call `modegate hook --exit-zero` in entries without `args`",
        )
    } else if at < [2, 1, 139] && spaces {
        let what = format!(
            "Claude Code {version} does not know `args`, and its shell breaks this project's path at the space"
        );
        Diagnostic::problem("host-old", what, "update Claude Code, or install with `--path`")
    } else if at < [2, 1, 139] {
        let what = format!("Claude Code {version} does not know `args`; it calls the bare program, which works");
        Diagnostic::note("host-old", what, "update Claude Code")
    } else {
        Diagnostic::fine("host", format!("Claude Code {version}"))
    })
}
