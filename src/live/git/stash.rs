//! The stash of the checked-out branch.

use std::collections::BTreeSet;
use std::path::Path;

use super::checkout::Checkout;
use super::{ChangeKind, GitChange, LayerError, PathScope, Unknown, program};

/// See [`super::stashes`].
pub(super) fn stashes(tree: &Path) -> Result<Vec<String>, Unknown> {
    let found = Checkout::from(tree)?;
    let Ok(repo) = found.repository() else { return Ok(Vec::new()) };
    let Ok(log) = crate::disk::read_text(&repo.common_dir().join("logs/refs/stash"), crate::disk::LARGEST) else {
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

/// See [`super::stashed`].
pub(super) fn stashed(tree: &Path, paths: &[String], commits: &[String]) -> Result<Vec<GitChange>, Unknown> {
    let found = Checkout::from(tree)?;
    let asked = PathScope::new(found.prefix(), paths)?;
    let differences = |before: &str, after: &str| {
        let unsure = || Err(LayerError::Unsure("the stash cannot be read without git".to_owned()));
        super::settled(unsure(), || program::differences(&found, before, after))
    };
    let mut files = BTreeSet::new();
    for commit in commits {
        let missing: BTreeSet<Vec<u8>> = differences("HEAD", commit)?.into_iter().collect();
        files.extend(differences(&format!("{commit}^1"), commit)?.into_iter().filter(|path| missing.contains(path)));
        // A third parent has the untracked files.
        files.extend(differences("", &format!("{commit}^3")).unwrap_or_default());
    }
    let files = files.iter().filter(|path| asked.covers(path));
    Ok(files.map(|path| asked.change(path, ChangeKind::Stashed)).collect())
}
