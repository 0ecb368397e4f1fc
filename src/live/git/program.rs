//! The last layer: the `git` program, for what the quick layer leaves to it.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::checkout::{Checkout, text};
use super::path_scope::PathScope;
use super::{AskedFile, ChangeKind, CommitState, GitChange, SAFE_OPTIONS, Unknown, submodules};
use crate::process::{self, ProcessOutput};

/// The time after which git is killed.
const PROGRAM_TIMEOUT: Duration = Duration::from_secs(10);
/// Variables that belong to the user, not to a surrounding git command.
const KEPT: [&str; 4] = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"];

/// Why the program has no answer.
pub(super) enum ProgramError {
    /// There is no such program.
    Absent,
    /// It cannot answer.
    Failed(Unknown),
}

impl From<String> for ProgramError {
    fn from(clause: String) -> Self {
        Self::Failed(clause.into())
    }
}

/// See [`super::commitment`].
pub(super) fn commitment(found: &Checkout, file: &AskedFile<'_>) -> Result<CommitState, ProgramError> {
    let asked = file.repository.unwrap_or(file.path).to_vec();
    let index = UnmarkedIndex::of(found, std::slice::from_ref(&asked))?;
    let options = ["--untracked-files=all", "--ignored", "--no-renames"];
    let output = status(found, index.as_ref(), &options, std::slice::from_ref(&asked))?;
    let mut answer = None;
    for record in output.split(|byte| *byte == 0) {
        let Some((path, kind)) = change(record) else { continue };
        if path != file.path && Some(path.strip_suffix(b"/").unwrap_or(path)) != file.repository {
            continue;
        }
        answer = Some(match (kind, record.get(2..4)) {
            (Some(ChangeKind::Untracked), _) => return Ok(CommitState::Untracked),
            (None, _) => return Ok(CommitState::Ignored),
            // `.A` is a file added with `git add -N`.
            (_, Some([_, b'.' | b'A'])) if record.starts_with(b"1") => CommitState::Staged,
            _ => CommitState::Modified,
        });
    }
    match answer {
        Some(answer) => Ok(answer),
        None if entries(found, file.path)?.is_empty() => Ok(CommitState::Untracked),
        None => Ok(CommitState::Committed),
    }
}

/// See [`super::changes`].
pub(super) fn changes(found: &Checkout, asked: &PathScope) -> Result<Vec<GitChange>, ProgramError> {
    let index = UnmarkedIndex::of(found, asked.paths())?;
    let renames = if asked.splits_renames() { "--no-renames" } else { "--find-renames" };
    let options = ["--untracked-files=normal", "--ignored=no", renames];
    let output = status(found, index.as_ref(), &options, asked.paths())?;
    let (mut changes, mut sources, mut is_conflicted) = (Vec::new(), Vec::new(), false);
    let mut records = output.split(|byte| *byte == 0).filter(|record| !record.is_empty());
    while let Some(record) = records.next() {
        if let Some((path, Some(kind))) = change(record) {
            changes.push(asked.change(path, kind));
            is_conflicted |= kind == ChangeKind::Conflicted;
        }
        if record.first() == Some(&b'2') {
            sources.extend(records.next());
        }
    }
    if is_conflicted && !asked.splits_renames() {
        // The search for renames takes a conflicted file for the new name of a deleted one, which is then not listed.
        let output = status(found, index.as_ref(), &["--untracked-files=no", "--no-renames"], asked.paths())?;
        for record in output.split(|byte| *byte == 0).filter(|record| record.starts_with(b"1 .D")) {
            if let Some((path, Some(kind))) = change(record).filter(|(path, _)| !sources.contains(path)) {
                changes.push(asked.change(path, kind));
            }
        }
        changes.sort_unstable();
        changes.dedup();
    }
    Ok(changes)
}

/// See [`super::head`].
pub(super) fn head(found: &Checkout) -> Result<Option<String>, ProgramError> {
    let mut command = git(found.root());
    command.args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
    let done = run(&mut command, None)?;
    match done.code {
        Some(0) if done.ended => Ok(Some(done.stdout_text().trim().to_owned())),
        Some(1) => Ok(None),
        _ => Err(complaint(&done)),
    }
}

/// See [`super::head_changed`].
pub(super) fn head_changed(found: &Checkout, since: &str) -> Result<bool, ProgramError> {
    let tree = |commit: &str| {
        let mut command = git(found.root());
        let done = run(command.args(["rev-parse", "--verify", "--quiet"]).arg(format!("{commit}^{{tree}}")), None)?;
        Ok::<_, ProgramError>((done.code == Some(0)).then_some(done.stdout))
    };
    let now = tree("HEAD")?;
    if since.is_empty() { Ok(now.is_some()) } else { Ok(tree(since)? != now) }
}

/// The files that differ between two commits; all files of the second where the first is empty.
pub(super) fn differences(found: &Checkout, before: &str, after: &str) -> Result<Vec<Vec<u8>>, ProgramError> {
    let mut command = git(found.root());
    if before.is_empty() {
        command.args(["ls-tree", "-r", "--name-only", "-z", after]);
    } else {
        command.args(["diff-tree", "-r", "--name-only", "-z", before, after]);
    }
    let output = finished(&mut command, None)?;
    Ok(output.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(<[u8]>::to_vec).collect())
}

/// Whether the index knows the repository at `folder` as a submodule.
pub(super) fn is_linked(found: &Checkout, folder: &[u8]) -> Result<bool, ProgramError> {
    Ok(entries(found, folder)?.starts_with(b"160000 "))
}

/// The entries of the index at `path` and below.
fn entries(found: &Checkout, path: &[u8]) -> Result<Vec<u8>, ProgramError> {
    finished(git(found.root()).args(["ls-files", "-s", "-z", "--"]).arg(text(path).as_os_str()), None)
}

/// The path in a record of `--porcelain=v2`, and the kind of its change, none if it is ignored.
fn change(record: &[u8]) -> Option<(&[u8], Option<ChangeKind>)> {
    let (mark, rest) = record.split_at_checked(2)?;
    let fields = match mark {
        b"? " => return Some((rest, Some(ChangeKind::Untracked))),
        b"! " => return Some((rest, None)),
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
    Some((path, Some(kind)))
}

/// Runs `git status` over `paths`, which are relative to the root.
fn status(
    found: &Checkout,
    index: Option<&UnmarkedIndex>,
    options: &[&str],
    paths: &[Vec<u8>],
) -> Result<Vec<u8>, ProgramError> {
    let mut command = git(found.root());
    command.args(["-c", "diff.ignoreSubmodules=none"]);
    for (name, ignore) in submodules::ignored_parts(found).iter().filter(|(name, _)| !name.contains('=')) {
        command.arg("-c").arg(format!("submodule.{name}.ignore={ignore}"));
    }
    if let Some(index) = index {
        command.env("GIT_INDEX_FILE", index.file.path());
    }
    command.args(["status", "--porcelain=v2", "-z"]).args(options).arg("--");
    finished(with_paths(&mut command, paths), None)
}

fn with_paths<'c>(command: &'c mut Command, paths: &[Vec<u8>]) -> &'c mut Command {
    for path in paths {
        let here: &[u8] = if path.is_empty() { b"." } else { path };
        command.arg(text(here).as_os_str());
    }
    command
}

/// A copy of the index in which no file is marked assume-unchanged or skip-worktree, except for files that a sparse
/// checkout leaves out.
struct UnmarkedIndex {
    file: tempfile::NamedTempFile,
}

impl UnmarkedIndex {
    /// `None` if no file under `paths` is marked.
    fn of(found: &Checkout, paths: &[Vec<u8>]) -> Result<Option<Self>, ProgramError> {
        let mut command = git(found.root());
        command.args(["ls-files", "-v", "-z", "--"]);
        let listed = finished(with_paths(&mut command, paths), None)?;
        let records = listed.split(|byte| *byte == 0).filter_map(|record| record.split_at_checked(2));
        let is_assumed = |tag: &[u8]| tag.first().is_some_and(u8::is_ascii_lowercase);
        let is_skipped = |tag: &[u8]| tag.first().is_some_and(|letter| letter.eq_ignore_ascii_case(&b'S'));
        let (mut assumed, mut skipped) = (Vec::new(), Vec::new());
        let mut sparse = None;
        for (tag, path) in records {
            if is_assumed(tag) {
                assumed.extend_from_slice(&[path, b"\0"].concat());
            }
            let is_there = || found.root().join(text(path)).symlink_metadata().is_ok();
            if is_skipped(tag) && (is_there() || !*sparse.get_or_insert_with(|| is_sparse(found))) {
                skipped.extend_from_slice(&[path, b"\0"].concat());
            }
        }
        if assumed.is_empty() && skipped.is_empty() {
            return Ok(None);
        }
        let index = Self { file: copied_index(found)? };
        for (option, paths) in [("--no-assume-unchanged", assumed), ("--no-skip-worktree", skipped)] {
            let mut command = git(found.root());
            command.env("GIT_INDEX_FILE", index.file.path()).args(["update-index", option, "-z", "--stdin"]);
            finished(&mut command, Some(paths))?;
        }
        Ok(Some(index))
    }
}

/// Whether parts of the worktree may not be checked out.
fn is_sparse(found: &Checkout) -> bool {
    let done = finished(git(found.root()).args(["config", "--type=bool", "core.sparseCheckout"]), None);
    done.is_ok_and(|output| output == b"true\n")
}

/// A copy of the index with its time, which decides whose timestamps can be believed.
fn copied_index(found: &Checkout) -> Result<tempfile::NamedTempFile, ProgramError> {
    let path = finished(git(found.root()).args(["rev-parse", "--git-path", "index"]), None)?;
    let path = found.root().join(text(path.strip_suffix(b"\n").unwrap_or(&path)));
    let copy = || {
        let file = tempfile::NamedTempFile::new()?;
        std::fs::copy(&path, file.path())?;
        file.as_file().set_modified(path.metadata()?.modified()?)?;
        Ok::<_, std::io::Error>(file)
    };
    copy().map_err(|error| format!("the index cannot be copied: {error}").into())
}

/// A git command that takes no locks, fetches nothing, runs no hook and ignores a surrounding git command.
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
        .env("GIT_ADVICE", "0")
        .env("LC_ALL", "C")
        .args(SAFE_OPTIONS);
    command
}

/// Whether nothing was left out: git skips what it cannot read and prints an error.
fn is_whole(output: &ProcessOutput) -> bool {
    let is_error = |line: &str| line.starts_with("error:") || line.contains("could not open");
    output.ended && !output.stderr_text().lines().any(is_error)
}

/// The first line of git's errors.
fn complaint(output: &ProcessOutput) -> ProgramError {
    let errors = output.stderr_text();
    let line = errors.lines().next().unwrap_or("no reason given");
    format!("git failed: {}", line.trim_start_matches("fatal: ").trim_start_matches("error: ")).into()
}

/// What git prints, if it succeeds.
fn finished(command: &mut Command, input: Option<Vec<u8>>) -> Result<Vec<u8>, ProgramError> {
    let mut done = run(command, input.clone())?;
    if done.code == Some(0) && !done.ended {
        // On a busy machine its output may come late.
        done = run(command, input)?;
    }
    if done.code == Some(0) && is_whole(&done) { Ok(done.stdout) } else { Err(complaint(&done)) }
}

/// Runs git to its end, or until the timeout.
fn run(command: &mut Command, input: Option<Vec<u8>>) -> Result<ProcessOutput, ProgramError> {
    match process::run(command, input, Instant::now() + PROGRAM_TIMEOUT, usize::MAX) {
        Ok(Some(output)) => Ok(output),
        Ok(None) => Err(format!("git did not end within {} s", PROGRAM_TIMEOUT.as_secs()).into()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(ProgramError::Absent),
        Err(error) => Err(format!("git cannot be started: {error}").into()),
    }
}
