//! `modegate completions` and `modegate man`, both generated from the command line's definition.

use super::cli_error::CliError;
use super::{CliResult, CommandLine};
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
#[command(after_help = "Examples:
  modegate completions bash > ~/.local/share/bash-completion/completions/modegate
  modegate completions zsh > ~/.zfunc/_modegate
  modegate completions fish > ~/.config/fish/completions/modegate.fish")]
pub(super) struct Completions {
    /// Shell to print completions for
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self) -> ExitCode {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut CommandLine::command(), "modegate", &mut script);
        super::screen::print_bytes(&script);
        ExitCode::SUCCESS
    }
}

#[derive(Args)]
#[command(after_help = "Examples:
  modegate man | man -l -
  modegate man --dir ~/.local/share/man/man1")]
pub(super) struct Man {
    /// Write one page per command to this folder instead
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl Man {
    pub(super) fn run(self) -> CliResult {
        let Some(dir) = &self.dir else {
            return page().map(|()| ExitCode::SUCCESS).map_err(|error| CliError::failure(error.to_string()));
        };
        let written = std::fs::create_dir_all(dir).and_then(|()| clap_mangen::generate_to(CommandLine::command(), dir));
        let error = |error: io::Error| CliError::failure(format!("cannot write to `{}`: {error}", dir.display()));
        written.map(|()| ExitCode::SUCCESS).map_err(error)
    }
}

fn page() -> io::Result<()> {
    let mut page = Vec::new();
    clap_mangen::Man::new(CommandLine::command()).render(&mut page)?;
    super::screen::print_bytes(&page);
    Ok(())
}
