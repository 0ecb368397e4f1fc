//! The rules outside of commits that ignore files.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::GitError;
use base::{disk, paths};

/// See [`crate::uncommitted_rules`].
pub(crate) fn hashes(repo: &gix::Repository) -> Result<BTreeSet<String>, GitError> {
    let rules = uncommitted_rules(repo)?;
    let lines = rules.split(|byte| *byte == b'\n');
    let rules = lines.filter(|line| !line.trim_ascii().is_empty() && !line.starts_with(b"#"));
    Ok(rules.map(hash_of_rule).collect())
}

/// The rules that are also in `known`, as the text of one file.
pub(crate) fn known_rules(repo: &gix::Repository, known: &BTreeSet<String>) -> Result<Vec<u8>, GitError> {
    let rules = uncommitted_rules(repo)?;
    let kept = rules.split(|byte| *byte == b'\n').filter(|rule| known.contains(&hash_of_rule(rule)));
    Ok(kept.collect::<Vec<_>>().join(&b'\n'))
}

fn hash_of_rule(rule: &[u8]) -> String {
    format!("{:016x}", paths::hash(rule.trim_ascii_end()))
}

/// The user's own file with rules, `core.excludesFile`.
pub(crate) fn users_file(repo: &gix::Repository) -> Option<PathBuf> {
    match repo.config_snapshot().trusted_path("core.excludesFile") {
        Ok(Some(path)) => Some(repo.workdir()?.join(path)),
        Ok(None) => gix::path::env::xdg_config("ignore", &mut |name| std::env::var_os(name)),
        Err(_) => None,
    }
}

/// The rules of all files that are not part of a commit, the more important ones last.
fn uncommitted_rules(repo: &gix::Repository) -> Result<Vec<u8>, GitError> {
    let files = users_file(repo).into_iter().chain([repo.common_dir().join("info/exclude")]);
    let files = files.map(|path| rules_in(&path)).collect::<Result<Vec<_>, _>>()?;
    Ok(files.join(&b'\n'))
}

/// The content of a file, empty if there is none.
fn rules_in(path: &Path) -> Result<Vec<u8>, GitError> {
    match disk::read(path, disk::LARGEST) {
        Err(error) if disk::is_absent(&error) || !path.is_file() => Ok(Vec::new()),
        rules => rules.map_err(|error| GitError::unreadable(path, &error)),
    }
}
