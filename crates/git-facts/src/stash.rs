//! The stash of the checked-out branch.

use std::collections::BTreeSet;
use std::path::Path;

use crate::checkout::Checkout;
use crate::path_scope::PathScope;
use crate::{ChangeKind, GitChange, GitError, program};
use base::disk;

/// See [`crate::stashes`].
pub(crate) fn stashes(tree: &Path) -> Result<Vec<String>, GitError> {
    let found = Checkout::open(tree)?;
    let Ok(repo) = found.references() else { return Ok(Vec::new()) };
    let Ok(log) = disk::read_text(&repo.common_dir().join("logs/refs/stash"), disk::LARGEST) else {
        return Ok(Vec::new());
    };
    let head = repo.head().map_err(|error| format!("HEAD cannot be read: {error}"))?;
    let branch = head.referent_name().map_or_else(|| "(no branch)".to_owned(), |name| name.shorten().to_string());
    let on = [format!("WIP on {branch}: "), format!("On {branch}: ")];
    let commits = log.lines().filter_map(|line| {
        let (ids, message) = line.split_once('\t')?;
        let commit = ids.split(' ').nth(1)?;
        on.iter().any(|start| message.starts_with(start.as_str())).then(|| commit.to_owned())
    });
    Ok(commits.collect())
}

/// See [`crate::stashed`].
pub(crate) fn stashed(tree: &Path, paths: &[String], commits: &[String]) -> Result<Vec<GitChange>, GitError> {
    let found = Checkout::open(tree)?;
    let asked = PathScope::new(found.prefix(), paths)?;
    let mut files = BTreeSet::new();
    for commit in commits {
        let missing: BTreeSet<Vec<u8>> = program::differences(found.root(), "HEAD", commit)?.into_iter().collect();
        let stashed = program::differences(found.root(), &format!("{commit}^1"), commit)?;
        files.extend(stashed.into_iter().filter(|path| missing.contains(path)));
        // A third parent has the untracked files.
        files.extend(program::files(found.root(), &format!("{commit}^3")).unwrap_or_default());
    }
    let files = files.iter().filter(|path| asked.covers(path));
    Ok(files.map(|path| asked.change(path, ChangeKind::Stashed)).collect())
}
