//! Runs the `git` program without the programs that a repository's own settings name.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::GitError;
use crate::checkout::system_path;
use base::process::{self, ProcessOutput};

/// Options that keep git from running programs that a repository's folder names, and from using the folder of a bare
/// repository, which a clone can contain.
pub const SAFE_OPTIONS: [&str; 6] =
    ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "safe.bareRepository=explicit"];

/// The time after which git is killed.
const PROGRAM_TIMEOUT: Duration = Duration::from_secs(10);
/// Variables that belong to the user, not to a surrounding git command.
const KEPT: [&str; 4] = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"];

/// The commit of HEAD, `None` while it is unborn.
pub(crate) fn head(root: &Path) -> Result<Option<String>, GitError> {
    let done = run(git(root).args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]), None)?;
    match done.code {
        Some(0) if done.ended => Ok(Some(done.stdout_text().trim().to_owned())),
        Some(1) => Ok(None),
        _ => Err(complaint(&done)),
    }
}

/// The files that differ between two commits.
pub(crate) fn differences(root: &Path, before: &str, after: &str) -> Result<Vec<Vec<u8>>, GitError> {
    let output = output(git(root).args(["diff-tree", "-r", "--name-only", "-z", before, after]))?;
    Ok(records(&output).map(<[u8]>::to_vec).collect())
}

/// The files of a commit.
pub(crate) fn files(root: &Path, commit: &str) -> Result<Vec<Vec<u8>>, GitError> {
    let output = output(git(root).args(["ls-tree", "-r", "--name-only", "-z", commit]))?;
    Ok(records(&output).map(<[u8]>::to_vec).collect())
}

/// The entries of the index at `path` and below, as `ls-files -s` prints them.
pub(crate) fn index_entries(root: &Path, path: &[u8]) -> Result<Vec<u8>, GitError> {
    output(with_paths(git(root).args(["ls-files", "-s", "-z"]), &[path.to_vec()]))
}

/// The parts of an output between null bytes.
pub(crate) fn records(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|byte| *byte == 0).filter(|record| !record.is_empty())
}

/// Adds paths that are relative to the root, where the command runs.
pub(crate) fn with_paths<'c>(command: &'c mut Command, paths: &[Vec<u8>]) -> &'c mut Command {
    command.arg("--");
    for path in paths {
        let here: &[u8] = if path.is_empty() { b"." } else { path };
        command.arg(system_path(here).as_os_str());
    }
    command
}

/// A git command that takes no locks, fetches nothing, runs no hook and ignores a surrounding git command.
pub(crate) fn git(folder: &Path) -> Command {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("GIT_") && !KEPT.contains(&name.as_ref()) {
            command.env_remove(name.as_ref());
        }
    }
    command
        .current_dir(folder)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_LITERAL_PATHSPECS", "1")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_ADVICE", "0")
        .env("LC_ALL", "C")
        .args(SAFE_OPTIONS);
    command
}

/// What git prints, if it succeeds.
pub(crate) fn output(command: &mut Command) -> Result<Vec<u8>, GitError> {
    output_for(command, None)
}

/// What git prints for this input, if it succeeds.
pub(crate) fn output_for(command: &mut Command, input: Option<Vec<u8>>) -> Result<Vec<u8>, GitError> {
    let mut done = run(command, input.clone())?;
    if done.code == Some(0) && !done.ended {
        // On a busy machine its output may come late.
        done = run(command, input)?;
    }
    if done.code == Some(0) && is_complete(&done) { Ok(done.stdout) } else { Err(complaint(&done)) }
}

/// Whether nothing was left out: git skips what it cannot read and prints an error.
fn is_complete(output: &ProcessOutput) -> bool {
    let is_error = |line: &str| line.starts_with("error:") || line.contains("could not open");
    output.ended && !output.stderr_text().lines().any(is_error)
}

/// The first line of git's errors.
fn complaint(output: &ProcessOutput) -> GitError {
    let errors = output.stderr_text();
    let line = errors.lines().next().unwrap_or("no reason given");
    format!("git failed: {}", line.trim_start_matches("fatal: ").trim_start_matches("error: ")).into()
}

/// Runs git to its end, or until the timeout.
fn run(command: &mut Command, input: Option<Vec<u8>>) -> Result<ProcessOutput, GitError> {
    match process::run(command, input, Instant::now() + PROGRAM_TIMEOUT, usize::MAX) {
        Ok(Some(output)) => Ok(output),
        Ok(None) => Err(format!("git did not end within {} s", PROGRAM_TIMEOUT.as_secs()).into()),
        Err(error) if error.kind() == ErrorKind::NotFound => Err("there is no `git` program in PATH".into()),
        Err(error) => Err(format!("git cannot be started: {error}").into()),
    }
}
