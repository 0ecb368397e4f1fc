//! The program behind the entries: there, of this version, and the host that calls it.

use super::Report;
use super::ground::Ground;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const INSTALL: &str = "run `modegate install`";

pub(super) fn reports(ground: &Ground) -> Vec<Report> {
    let mut programs: Vec<String> =
        ground.ours().iter().map(|(_, handler)| handler.program(&ground.site.home.to_string_lossy())).collect();
    programs.sort();
    programs.dedup();
    let mut reports: Vec<Report> = programs.iter().flat_map(|program| installed(ground, program)).collect();
    reports.extend(host());
    reports
}

/// Whether a program can be started, and is the one that asks.
fn installed(ground: &Ground, program: &str) -> Vec<Report> {
    let Some(path) = found(program) else {
        let what = if program.contains(['/', '\\']) {
            format!(
                "`{}` is not there: Claude Code reports an error at each event, and nothing is gated",
                ground.short(Path::new(program))
            )
        } else {
            format!("`{program}` is not on PATH: Claude Code reports an error at each event, and nothing is gated")
        };
        let fix =
            if program.contains(['/', '\\']) { INSTALL } else { "put modegate on PATH, or install without `--path`" };
        return vec![Report::problem("program-missing", what, fix)];
    };
    let name = ground.short(&path);
    let version = match version(&path) {
        Ok(version) => version,
        Err(why) => return vec![Report::problem("program-broken", format!("`{name}` cannot be run: {why}"), INSTALL)],
    };
    let own = env!("CARGO_PKG_VERSION");
    if version != own {
        let what = format!("`{name}` is modegate {version}, this is {own}");
        return vec![Report::problem("program-stale", what, INSTALL)];
    }
    let running = std::env::current_exe().and_then(fs::read);
    if running.is_ok_and(|running| fs::read(&path).is_ok_and(|there| there != running)) {
        let what = format!("`{name}` is another build of {own} than this one");
        return vec![Report::note("program-differs", what, "run `modegate install` if this one is the newer")];
    }
    let mut reports = vec![Report::fine("program", format!("`{name}` is modegate {version}"))];
    if cfg!(debug_assertions) {
        reports.push(Report::note(
            "program-slow",
            "this is a debug build, several times slower",
            "build it with `--release`",
        ));
    }
    reports
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
    let said = Command::new(path).arg("--version").stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&said.stdout);
    match text.trim().strip_prefix("modegate ") {
        Some(version) => Ok(version.to_owned()),
        None => Err(format!("`--version` says `{}`", text.lines().next().unwrap_or_default())),
    }
}

/// The host's version, where it is on PATH: what older ones cannot do.
fn host() -> Option<Report> {
    let path = found("claude")?;
    let said = Command::new(path).arg("--version").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    let version = text.split_whitespace().next()?;
    let numbers: Vec<u32> = version.split('.').filter_map(|part| part.parse().ok()).collect();
    let at: [u32; 3] = numbers.try_into().ok()?;
    Some(if at < [2, 1, 90] {
        let what = format!("Claude Code {version} does not block on exit code 2 with JSON");
        Report::problem(
            "host-old",
            what,
            "update Claude Code, or use `args: [\"hook\", \"--exit-zero\"]` in the entries",
        )
    } else if at < [2, 1, 139] {
        let what = format!(
            "Claude Code {version} does not know `args`; it calls the bare program, which works where the path has no spaces"
        );
        Report::note("host-old", what, "update Claude Code")
    } else {
        Report::fine("host", format!("Claude Code {version}"))
    })
}
