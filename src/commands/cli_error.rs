//! Errors that several commands have.

pub(crate) use base::cli_error::CliError;

use crate::policy::mode::{BrokenFile, Catalogue};
use crate::policy::yaml::did_you_mean;

/// An unknown name of a `kind`, with the nearest known one if there is one.
pub(super) fn unknown(kind: &str, name: &str, known: &[&str]) -> CliError {
    CliError::usage(format!("unknown {kind} `{name}`{}", did_you_mean(name, known)))
}

pub(super) fn unknown_mode(name: &str, catalogue: &Catalogue) -> CliError {
    let names: Vec<&str> = catalogue.modes.iter().map(|mode| mode.name.as_str()).collect();
    unknown("mode", name, &names).hint("run `modegate modes list` to see all modes")
}

/// Every problem of files that cannot be used.
pub(super) fn broken(files: &[BrokenFile]) -> CliError {
    let problems: Vec<String> = files.iter().map(|file| file.to_string().trim_end().to_owned()).collect();
    let problems = problems.join("\n");
    CliError::failure(problems.strip_prefix("error: ").unwrap_or(&problems))
}
