//! The last layer: the `git` program, for repositories that gix cannot read.
//!
//! Every function returns `None` if the program is missing.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::checkout::{Checkout, text};
use super::path_scope::PathScope;
use super::{ChangeKind, CommitState, GitChange, Unknown};
use crate::process::{self, ProcessOutput};

/// The time after which git is killed.
const GIT_TIMEOUT: Duration = Duration::from_secs(10);
/// Variables that belong to the user, not to a surrounding git command.
const KEPT: [&str; 4] = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"];

/// See [`super::commitment`]; `path` is relative to the root and exists.
pub(super) fn commitment(found: &Checkout, path: &[u8]) -> Option<Result<CommitState, Unknown>> {
    let options = ["--untracked-files=all", "--ignored", "--no-renames"];
    let output = status(found, &options, &[path.to_vec()])?;
    Some(output.map(|output| match output.first() {
        None => CommitState::Committed,
        Some(b'?') => CommitState::Untracked,
        Some(b'!') => CommitState::Ignored,
        // `.A` is a file added with `git add -N`.
        Some(b'1') if matches!(output.get(2..4), Some([_, b'.'] | b".A")) => CommitState::Staged,
        Some(_) => CommitState::Modified,
    }))
}

/// See [`super::changes`].
pub(super) fn changes(found: &Checkout, asked: &PathScope) -> Option<Result<Vec<GitChange>, Unknown>> {
    let options = ["--untracked-files=normal", "--ignored=no", "--find-renames"];
    let output = match status(found, &options, asked.paths())? {
        Ok(output) => output,
        Err(unknown) => return Some(Err(unknown)),
    };
    let mut changes = Vec::new();
    let mut records = output.split(|byte| *byte == 0).filter(|record| !record.is_empty());
    while let Some(record) = records.next() {
        if let Some((path, kind)) = change(record) {
            changes.push(asked.change(path, kind));
        }
        if record.first() == Some(&b'2') {
            // The path it was renamed from.
            records.next();
        }
    }
    Some(Ok(changes))
}

/// See [`super::head`].
pub(super) fn head(found: &Checkout) -> Option<Result<Option<String>, Unknown>> {
    let mut command = git(found.root());
    command.args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
    let done = match run(command)? {
        Ok(done) => done,
        Err(unknown) => return Some(Err(unknown)),
    };
    Some(match done.code {
        Some(0) if done.ended => Ok(Some(done.stdout_text().trim().to_owned())),
        Some(1) => Ok(None),
        _ => Err(complaint(&done)),
    })
}

/// The path and kind in a record of `--porcelain=v2`.
fn change(record: &[u8]) -> Option<(&[u8], ChangeKind)> {
    let (mark, rest) = record.split_at_checked(2)?;
    let fields = match mark {
        b"? " => return Some((rest, ChangeKind::Untracked)),
        b"u " => 10,
        b"1 " => 8,
        b"2 " => 9,
        _ => return None,
    };
    let path = record.splitn(fields + 1, |byte| *byte == b' ').nth(fields)?;
    let letter = match rest.get(..2)? {
        [b'.', worktree] => worktree,
        [index, _] => index,
        _ => return None,
    };
    let submodule = rest.get(3) == Some(&b'S');
    let kind = match letter {
        _ if mark == b"u " => ChangeKind::Conflicted,
        b'M' if submodule => ChangeKind::Submodule,
        b'A' => ChangeKind::Added,
        b'D' => ChangeKind::Deleted,
        b'R' | b'C' => ChangeKind::Renamed,
        b'T' => ChangeKind::TypeChanged,
        _ => ChangeKind::Modified,
    };
    Some((path, kind))
}

/// Runs `git status` over `paths`, which are relative to the root.
fn status(found: &Checkout, options: &[&str], paths: &[Vec<u8>]) -> Option<Result<Vec<u8>, Unknown>> {
    let mut command = git(found.root());
    command.args(["status", "--porcelain=v2", "-z"]).args(options).arg("--");
    for path in paths {
        let here: &[u8] = if path.is_empty() { b"." } else { path };
        command.arg(text(here).as_os_str());
    }
    let done = match run(command)? {
        Ok(done) => done,
        Err(unknown) => return Some(Err(unknown)),
    };
    Some(if done.code == Some(0) && is_whole(&done) { Ok(done.stdout) } else { Err(complaint(&done)) })
}

/// A git command that takes no locks, fetches nothing and ignores a surrounding git command.
fn git(folder: &Path) -> Command {
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
        .env("LC_ALL", "C")
        .args(["-c", "core.fsmonitor=false"]);
    command
}

/// Whether nothing was left out: git skips what it cannot read and prints an error.
fn is_whole(output: &ProcessOutput) -> bool {
    let is_error = |line: &str| line.starts_with("error:") || line.contains("could not open");
    output.ended && !output.stderr_text().lines().any(is_error)
}

/// The first line of git's errors.
fn complaint(output: &ProcessOutput) -> Unknown {
    let errors = output.stderr_text();
    let line = errors.lines().next().unwrap_or("no reason given");
    format!("git failed: {}", line.trim_start_matches("fatal: ").trim_start_matches("error: ")).into()
}

/// Runs git to its end, or until the timeout.
fn run(mut command: Command) -> Option<Result<ProcessOutput, Unknown>> {
    Some(match process::run(&mut command, None, Instant::now() + GIT_TIMEOUT, usize::MAX) {
        Ok(Some(output)) => Ok(output),
        Ok(None) => Err(format!("git did not end within {} s", GIT_TIMEOUT.as_secs()).into()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => Err(format!("git cannot be started: {error}").into()),
    })
}
