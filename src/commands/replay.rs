//! `modegate replay`: resolves the session ids among the inputs, and replays them.

use super::cli_error::CliError;
use super::session_lookup::find_session;
use super::{CliResult, EXIT_FAILURE, places};
use crate::host::paths::ProjectPaths;
use crate::replay::command::{EXIT_NO_INPUT, ReplayCommand};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(super) fn run(mut replay: ReplayCommand, project: Option<PathBuf>) -> CliResult {
    let here = places(project.clone());
    for given in &mut replay.paths {
        if let Some(journal) = journal(&here, given)? {
            *given = journal;
        }
    }
    let is_fine = replay.run(&here, project)?;
    Ok(if is_fine { ExitCode::SUCCESS } else { ExitCode::from(EXIT_FAILURE) })
}

/// The journal of the session that a word means, if the word names no file.
#[expect(clippy::disallowed_methods, reason = "does I/O")]
fn journal(here: &ProjectPaths, given: &Path) -> Result<Option<PathBuf>, CliError> {
    let Some(id) = given.to_str().filter(|word| !word.contains(['/', '\\', '.']) && !given.exists()) else {
        return Ok(None);
    };
    let found = find_session(here, id).map_err(|error| error.exit(EXIT_NO_INPUT))?;
    Ok(Some(here.journal(&found)))
}
