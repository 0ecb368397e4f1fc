//! The command line: `hook` for the host, the rest for people and scripts.

#![expect(clippy::disallowed_methods, reason = "this is a door to the outside")]

mod cache;
mod demo;
mod doctor;
mod file_change;
mod heartbeat;
pub mod hook;
mod install;
mod install_manifest;
mod install_target;
mod leave;
mod log;
mod modes;
mod record;
mod replay;
mod screen;
mod status;
mod uninstall;
mod why;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

/// Wrong usage; never 2, which is a hook's block.
const EXIT_USAGE: u8 = 64;

/// Something was found: problems, nothing to leave.
const EXIT_FAILURE: u8 = 1;

/// Makes Claude Code keep to a workflow: gates on commands and subagents, decided from files and git.
#[derive(Parser)]
#[command(name = "modegate", version, about, max_term_width = 100)]
struct CommandLine {
    /// The project's folder [default: where Claude Code says, else the nearest folder with `.claude`]
    #[arg(long, global = true, value_name = "DIR")]
    project: Option<PathBuf>,
    #[command(subcommand)]
    command: CliCommand,
}

#[derive(Subcommand)]
enum CliCommand {
    /// Answer one hook event of Claude Code, given as JSON on standard input
    Hook {
        /// Exit with 0 also for a block, for Claude Code before 2.1.90
        #[arg(long)]
        exit_zero: bool,
    },
    /// Install modegate in this project: the program, the hook entries and a starter workflow
    Install(install::Install),
    /// Take out what `install` put in, and nothing else
    Uninstall(uninstall::Uninstall),
    /// Look for everything that could keep the hook from working, and tell how to mend it
    Doctor(doctor::Doctor),
    /// Show the sessions of this project, their modes and what each expects next
    Status(status::Status),
    /// Show why the last decision was made: its gates, their checks and what was seen
    Why(why::Why),
    /// Show the events of the sessions, and what came of each
    Log(log::Log),
    /// Decide recorded sessions again, and tell what comes out differently
    Replay(replay::Replay),
    /// List, show and check modes
    #[command(subcommand)]
    Modes(modes::Modes),
    /// Switch the recording of sessions on and off, and export one that can be shared
    Record(record::RecordCommand),
    /// Leave a mode without finishing it; only a person can do this
    Leave(leave::Leave),
    /// Read and write the state, for scripts
    #[command(subcommand)]
    Cache(cache::Cache),
    /// Play a short plan session in a temporary project and show every decision
    Demo(demo::Demo),
}

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    let given: Vec<_> = std::env::args_os().skip(1).collect();
    // The hot path does without a parser. A host that does not know `args` calls the bare program.
    let plain: Vec<_> = given.iter().map(|word| word.to_str()).collect();
    match plain.as_slice() {
        [Some("hook")] => return hook::main(false, None),
        [Some("hook"), Some("--exit-zero")] => return hook::main(true, None),
        [] if !std::io::stdin().is_terminal() => return hook::main(false, None),
        _ => {}
    }
    match CommandLine::try_parse() {
        Ok(line) => run(line),
        Err(error) => {
            let fine = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            let _: std::io::Result<()> = error.print();
            if fine { ExitCode::SUCCESS } else { ExitCode::from(EXIT_USAGE) }
        }
    }
}

fn run(line: CommandLine) -> ExitCode {
    let project = line.project;
    match line.command {
        CliCommand::Hook { exit_zero } => hook::main(exit_zero, project.as_deref()),
        CliCommand::Install(install) => install.run(project),
        CliCommand::Uninstall(uninstall) => uninstall.run(project),
        CliCommand::Doctor(doctor) => doctor.run(project),
        CliCommand::Status(status) => status.run(project),
        CliCommand::Why(why) => why.run(project),
        CliCommand::Log(log) => log.run(project),
        CliCommand::Replay(replay) => replay.run(project),
        CliCommand::Modes(modes) => modes.run(project),
        CliCommand::Record(record) => record.run(project),
        CliCommand::Leave(leave) => leave.run(project),
        CliCommand::Cache(cache) => cache.run(project),
        CliCommand::Demo(demo) => demo.run(),
    }
}

/// Refuses a command that only a person may give.
fn person_only(command: &str) -> Option<ExitCode> {
    // The host sets this for every command the model runs.
    std::env::var_os("CLAUDECODE")?;
    screen::print_error(format!(
        "error: `modegate {command}` is for a person\n  hint: run it in a terminal outside Claude Code"
    ));
    Some(ExitCode::from(EXIT_FAILURE))
}

/// The project of a command that a person gives.
fn places(project: Option<PathBuf>) -> crate::paths::ProjectPaths {
    use crate::live::place;
    let home = match project {
        Some(given) => given.canonicalize().unwrap_or(given),
        None => place::home_here(None),
    };
    crate::paths::ProjectPaths { home }
}
