//! The command line: `hook` for Claude Code, the rest for people and scripts.

#![expect(clippy::disallowed_methods, reason = "an I/O room")]

mod cache;
mod check;
mod cli_error;
mod client_version;
mod completions;
mod demo;
mod doctor;
mod file_change;
mod gallery;
mod install;
mod install_manifest;
mod install_target;
mod install_variables;
mod leave;
mod line_diff;
mod log;
mod modes;
mod person;
pub mod project_commands;
mod record;
mod replay;
mod session_lookup;
pub mod starter;
mod status;
mod trust;
mod uninstall;
mod user_copy;
mod version;
mod why;

use crate::hook::{self, HookOptions};
use crate::host::event::{Event, EventKind};
use crate::replay::command::ReplayCommand;
pub(crate) use crate::world::is_run_by_host as is_run_by_model;
use base::cli_error::{EXIT_FAILURE, EXIT_USAGE};
use base::crash;
use base::screen;
use clap::error::ErrorKind;
use clap::{ColorChoice, Parser, Subcommand};
use cli_error::CliError;
use jiff::Timestamp;
use jiff::tz::TimeZone;
pub(crate) use person::require_person;
use std::io::IsTerminal;
use std::panic::PanicHookInfo;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A bug stopped the command.
const EXIT_CRASH: u8 = 70;

/// The exit code of a command, or why it stopped.
pub(crate) type CliResult = Result<ExitCode, CliError>;

#[derive(Parser)]
#[command(name = "modegate", version, about, max_term_width = 100)]
#[command(after_help = "Examples:
  modegate install          set up this project
  modegate demo             see a session with blocked and allowed events
  modegate status           show what each session has to do next
  modegate why              explain the last event that a gate checked

Run `modegate COMMAND --help` for the options of a command.
Run `modegate --version --verbose` to see how this program was built.")]
struct CommandLine {
    /// Project folder [default: `$CLAUDE_PROJECT_DIR`, the nearest folder with `.claude`, or the root of the repository]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    project: Option<PathBuf>,
    /// When to use colors; `NO_COLOR`, `CLICOLOR_FORCE` and `TERM=dumb` are respected too
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = "Global options")]
    color: ColorChoice,
    #[command(subcommand)]
    command: CliCommand,
}

#[derive(Subcommand)]
enum CliCommand {
    /// Reply to one hook event from Claude Code: JSON on stdin, reply on stdout
    #[command(after_help = "Example:\n  modegate hook < event.json")]
    Hook(HookOptions),
    /// Install the program, the hook entries and a starter workflow in this project
    Install(install::Install),
    /// Remove the program, the hook entries and the starter files
    Uninstall(uninstall::Uninstall),
    /// Check the installation and print a fix for each problem
    Doctor(doctor::Doctor),
    /// Show the sessions of this project, their modes and what each expects next
    Status(status::Status),
    /// Show why an event was blocked or allowed: its gates, checks and evidence
    Why(why::Why),
    /// List the events of all sessions and their outcomes
    Log(log::Log),
    /// Re-evaluate recorded sessions and report what changed
    Replay(ReplayCommand),
    /// List, show, check, add and import modes
    #[command(subcommand)]
    Modes(modes::ModesCommand),
    /// Turn recording on or off, and export a recording that can be shared
    Record(record::RecordCommand),
    /// Trust the project's modes, settings and gates; only a person can do this
    Trust(trust::Trust),
    /// End a mode in all sessions, or in one; only a person can do this
    Leave(leave::Leave),
    /// Read and write the state, for scripts
    #[command(subcommand)]
    Cache(cache::Cache),
    /// Run a check from your own hooks, scripts and Makefiles
    Check(check::CheckCommand),
    /// Play a short plan session in a temporary project and show every decision
    Demo(demo::Demo),
    /// Print shell completions
    Completions(completions::Completions),
    /// Print the manual page
    Man(completions::Man),
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let given: Vec<_> = std::env::args_os().skip(1).collect();
    // The hook skips the argument parser, which costs more than the whole event. Old hosts call the bare program.
    let plain: Vec<_> = given.iter().map(|word| word.to_str()).collect();
    match plain.as_slice() {
        [Some("hook"), flag @ ..] if matches!(flag, [] | [Some("--exit-zero" | "--fallback")]) => {
            let has = |name: &str| flag.contains(&Some(name));
            hook::main(HookOptions { exit_zero: has("--exit-zero"), fallback: has("--fallback") }, None)
        }
        [] if !std::io::stdin().is_terminal() => hook::main(HookOptions::default(), None),
        _ => run(&plain),
    }
}

/// Runs a command other than the hook.
fn run(plain: &[Option<&str>]) -> ExitCode {
    match plain {
        [Some("--version" | "-V"), Some("--verbose")] | [Some("--verbose"), Some("--version" | "-V")] => {
            return version::main();
        }
        _ => {}
    }
    let line = match CommandLine::try_parse() {
        Ok(line) => line,
        Err(error) => {
            let is_success = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            let _: std::io::Result<()> = error.print();
            return if is_success { ExitCode::SUCCESS } else { ExitCode::from(EXIT_USAGE) };
        }
    };
    crash::handle_panics(end_after_crash);
    screen::choose_color(match line.color {
        ColorChoice::Always => Some(true),
        ColorChoice::Never => Some(false),
        ColorChoice::Auto => None,
    });
    // `log` and `replay` print JSON Lines, which one object for an error would not belong to.
    let as_json =
        plain.contains(&Some("--json")) && !matches!(line.command, CliCommand::Log(_) | CliCommand::Replay(_));
    line.command.run(line.project).unwrap_or_else(|error| {
        screen::print_failure(&error.to_string(), as_json);
        ExitCode::from(error.exit)
    })
}

/// Reports a panic and ends the program.
fn end_after_crash(panic: &PanicHookInfo<'_>) {
    let input = crash::input().map(|path| format!(" on {}", path.display())).unwrap_or_default();
    let text = format!("error: modegate crashed{input}\n  caused by: {panic}\n  hint: please report it");
    screen::print_error(text);
    exit_after_crash();
}

#[expect(clippy::exit, reason = "released programs do not unwind")]
fn exit_after_crash() {
    std::process::exit(i32::from(EXIT_CRASH));
}

impl CliCommand {
    fn run(self, project: Option<PathBuf>) -> CliResult {
        match self {
            Self::Hook(options) => Ok(hook::main(options, project.as_deref())),
            Self::Install(install) => install.run(project),
            Self::Uninstall(uninstall) => uninstall.run(project),
            Self::Doctor(doctor) => doctor.run(project),
            Self::Status(status) => status.run(project),
            Self::Why(why) => why.run(project),
            Self::Log(log) => log.run(project),
            Self::Replay(command) => replay::run(command, project),
            Self::Modes(modes) => modes.run(project),
            Self::Record(record) => record.run(project),
            Self::Trust(trust) => trust.run(project),
            Self::Leave(leave) => leave.run(project),
            Self::Cache(cache) => cache.run(project),
            Self::Check(check) => check.run(project),
            Self::Demo(demo) => demo.run(),
            Self::Completions(completions) => Ok(completions.run()),
            Self::Man(man) => man.run(),
        }
    }
}

/// The event with which a session starts in a folder: commands look at a project as it would.
fn session_start(session: &str, cwd: &Path) -> Event {
    let kind = EventKind::SessionStart;
    let fields = [("hook_event_name", kind.name()), ("session_id", session), ("cwd", &cwd.to_string_lossy())];
    let fields = fields.map(|(name, text)| (name.to_owned(), text.into()));
    Event { kind: Some(kind), fields: fields.into_iter().collect(), oddities: Vec::new() }
}

/// A time of the journal as local time with its zone; text that is not a time is unchanged.
fn local_time(at: &str) -> String {
    let time = at.parse::<Timestamp>().map(|at| at.to_zoned(TimeZone::system()));
    time.map_or_else(|_| screen::one_line(at), |time| time.strftime("%Y-%m-%d %H:%M:%S %Z").to_string())
}

/// The project that a command is about: the given folder, or the one around the current folder.
pub(crate) fn places(project: Option<PathBuf>) -> crate::host::paths::ProjectPaths {
    use crate::world::place;
    let home = match project {
        Some(given) => place::home_at(&base::disk::canonical(&given).unwrap_or(given)),
        None => place::home_here(None),
    };
    crate::state::user_folder::project_paths(home)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    /// A call under another name is looked at only if it has one of these words.
    #[test]
    fn every_command_is_known_to_the_rules() {
        let mut command = CommandLine::command();
        command.build();
        let names = |command: &clap::Command| {
            let own = std::iter::once(command.get_name().to_owned());
            own.chain(command.get_all_aliases().map(str::to_owned)).collect::<Vec<_>>()
        };
        let mut commands: Vec<String> = command.get_subcommands().flat_map(names).collect();
        commands.sort();
        assert_eq!(commands, crate::facts::tool_effects::OWN_COMMANDS);
    }
}
