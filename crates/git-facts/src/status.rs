//! Changes as `git status` lists them.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use crate::checkout::Checkout;
use crate::index_marks::UnmarkedIndex;
use crate::path_scope::PathScope;
use crate::program::{git, index_entries, output, records, with_paths};
use crate::{ChangeKind, ChangeQuery, CommitState, GitChange, GitError, ignore_rules, submodules};

/// See [`crate::changes`].
pub(crate) fn changes(tree: &Path, query: &ChangeQuery) -> Result<Vec<GitChange>, GitError> {
    let found = Checkout::open(tree)?;
    let mut scope = PathScope::new(found.prefix(), &query.paths)?;
    let mut changes = submodules::take_inner_changes(&found, &mut scope, query)?;
    if scope.paths().is_empty() {
        return Ok(changes);
    }
    let status = StatusCommand::new(&found, scope.paths())?;
    let unknown_rules = match &query.known_rules {
        Some(known) if !ignore_rules::hashes(found.repository()?)?.is_subset(known) => Some(known),
        _ => None,
    };
    let untracked = if unknown_rules.is_some() { "--untracked-files=no" } else { "--untracked-files=normal" };
    let renames = if query.splits_renames { "--no-renames" } else { "--find-renames" };
    let listed = status.run(&[untracked, "--ignored=no", renames])?;
    let (mut sources, mut is_conflicted) = (Vec::new(), false);
    let mut lines = records(&listed);
    while let Some(line) = lines.next() {
        if let Some((path, Some(kind))) = parse_change(line) {
            changes.push(scope.change(path, kind));
            is_conflicted |= kind == ChangeKind::Conflicted;
        }
        if line.first() == Some(&b'2') {
            sources.extend(lines.next());
        }
    }
    if is_conflicted && !query.splits_renames {
        // The search for renames takes a conflicted file for the new name of a deleted one, which is then not listed.
        let listed = status.run(&["--untracked-files=no", "--no-renames"])?;
        for line in records(&listed).filter(|line| line.starts_with(b"1 .D")) {
            if let Some((path, Some(kind))) = parse_change(line).filter(|(path, _)| !sources.contains(path)) {
                changes.push(scope.change(path, kind));
            }
        }
    }
    if let Some(known) = unknown_rules {
        let untracked = untracked_with_rules(&found, &scope, known)?;
        changes.extend(records(&untracked).map(|path| scope.change(path, ChangeKind::Untracked)));
    }
    Ok(changes)
}

/// The state of a file that exists, in this repository or in `repository`, which is inside and no submodule: git never
/// looks into that one.
pub(crate) fn commit_state(found: &Checkout, file: &[u8], repository: Option<&[u8]>) -> Result<CommitState, GitError> {
    let asked = repository.unwrap_or(file).to_vec();
    let status = StatusCommand::new(found, std::slice::from_ref(&asked))?;
    let listed = status.run(&["--untracked-files=all", "--ignored", "--no-renames"])?;
    let mut answer = None;
    for line in records(&listed) {
        let Some((path, kind)) = parse_change(line) else { continue };
        if path != file && Some(path.strip_suffix(b"/").unwrap_or(path)) != repository {
            continue;
        }
        answer = Some(match (kind, line.get(2..4)) {
            (Some(ChangeKind::Untracked), _) => return Ok(CommitState::Untracked),
            (None, _) => return Ok(CommitState::Ignored),
            // `.A` is a file added with `git add -N`.
            (_, Some([_, b'.' | b'A'])) if line.starts_with(b"1") => CommitState::Staged,
            _ => CommitState::Modified,
        });
    }
    match answer {
        Some(answer) => Ok(answer),
        None if index_entries(found.root(), file)?.is_empty() => Ok(CommitState::Untracked),
        None => Ok(CommitState::Committed),
    }
}

/// `git status` for some paths, relative to the root.
struct StatusCommand<'a> {
    found: &'a Checkout,
    paths: &'a [Vec<u8>],
    settings: Vec<String>,
    index: Option<UnmarkedIndex>,
}

impl<'a> StatusCommand<'a> {
    fn new(found: &'a Checkout, paths: &'a [Vec<u8>]) -> Result<Self, GitError> {
        let mut settings = submodules::settings(found);
        let users_rules = found.repository().ok().and_then(ignore_rules::users_file);
        if users_rules.is_some_and(|path| path.exists() && !path.is_file()) {
            // git would wait for a pipe.
            settings.push("core.excludesFile=".to_owned());
        }
        Ok(Self { found, paths, settings, index: UnmarkedIndex::copy(found.root(), paths)? })
    }

    fn run(&self, options: &[&str]) -> Result<Vec<u8>, GitError> {
        let mut command = git(self.found.root());
        for setting in &self.settings {
            command.args(["-c", setting]);
        }
        if let Some(index) = &self.index {
            command.env("GIT_INDEX_FILE", index.path());
        }
        command.args(["status", "--porcelain=v2", "-z"]).args(options);
        output(with_paths(&mut command, self.paths))
    }
}

/// Lists untracked files and folders; of the rules outside of commits, only the `known` ones ignore any.
fn untracked_with_rules(found: &Checkout, scope: &PathScope, known: &BTreeSet<String>) -> Result<Vec<u8>, GitError> {
    let rules = ignore_rules::known_rules(found.repository()?, known)?;
    let write = || {
        let mut file = tempfile::NamedTempFile::new()?;
        file.write_all(&rules)?;
        Ok::<_, std::io::Error>(file)
    };
    let file = write().map_err(|error| format!("the ignore rules cannot be written: {error}"))?;
    let mut command = git(found.root());
    command.args(["ls-files", "-z", "--others", "--directory", "--no-empty-directory"]);
    command.arg("--exclude-per-directory=.gitignore").arg("--exclude-from").arg(file.path());
    output(with_paths(&mut command, scope.paths()))
}

/// The path in a line of `--porcelain=v2`, and the kind of its change, none if it is ignored.
fn parse_change(line: &[u8]) -> Option<(&[u8], Option<ChangeKind>)> {
    let (mark, rest) = line.split_at_checked(2)?;
    let fields = match mark {
        b"? " => return Some((rest, Some(ChangeKind::Untracked))),
        b"! " => return Some((rest, None)),
        b"u " => 10,
        b"1 " => 8,
        b"2 " => 9,
        _ => return None,
    };
    let path = line.splitn(fields + 1, |byte| *byte == b' ').nth(fields)?;
    let letter = match rest.get(..2)? {
        [b'.', worktree] => worktree,
        [index, _] => index,
        _ => return None,
    };
    let is_submodule = rest.get(3) == Some(&b'S');
    let kind = match letter {
        _ if mark == b"u " => ChangeKind::Conflicted,
        b'M' if is_submodule => ChangeKind::Submodule,
        b'A' => ChangeKind::Added,
        b'D' => ChangeKind::Deleted,
        b'R' | b'C' => ChangeKind::Renamed,
        b'T' => ChangeKind::TypeChanged,
        _ => ChangeKind::Modified,
    };
    Some((path, Some(kind)))
}
