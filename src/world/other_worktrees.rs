//! Files in other worktrees of a project: agents may leave their work there.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use super::files;
use super::place::{checkout, repository};
use crate::facts::FoundFile;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// How many worktrees are looked at, the newest first.
const MOST_TREES: usize = 20;

/// How many files are named.
const MOST_FILES: usize = 3;

/// After this time no further worktree is looked at: the answer is only a hint.
const TIME: Duration = Duration::from_millis(300);

/// Finds the files of the first other worktree that match any of `globs`, each with the project's folder there.
pub(super) fn matching(home: &Path, tree: &Path, globs: &[String]) -> Vec<(PathBuf, FoundFile)> {
    let started = Instant::now();
    for root in other_trees(home, tree) {
        let found = globs.iter().filter_map(|glob| files::matching(&root, glob, MOST_FILES).ok());
        let mut found: Vec<FoundFile> = found.flatten().filter(|file| file.size > 0).collect();
        if !found.is_empty() {
            found.truncate(MOST_FILES);
            return found.into_iter().map(|file| (root.clone(), file)).collect();
        }
        if started.elapsed() > TIME {
            break;
        }
    }
    Vec::new()
}

/// The project's folder in the host's worktrees and in the repository's, the newest first.
fn other_trees(home: &Path, tree: &Path) -> Vec<PathBuf> {
    let main = checkout(home);
    let offset = main.as_deref().and_then(|main| home.strip_prefix(main).ok()).unwrap_or(Path::new(""));
    let linked = main.as_deref().and_then(repository).map(|common| linked_trees(&common)).unwrap_or_default();
    let hosted = entries(&home.join(".claude/worktrees"));
    let mut trees: Vec<(SystemTime, PathBuf)> = Vec::new();
    for root in hosted.into_iter().chain(linked).map(|worktree| worktree.join(offset)) {
        let known = |other: &Path| other == root || other.canonicalize().ok() == root.canonicalize().ok();
        if root.is_dir() && !known(home) && !known(tree) && !trees.iter().any(|(_, other)| known(other)) {
            let modified =
                fs::metadata(&root).and_then(|metadata| metadata.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
            trees.push((modified, root));
        }
    }
    trees.sort_by(|(a, _), (b, _)| b.cmp(a));
    trees.into_iter().take(MOST_TREES).map(|(_, root)| root).collect()
}

/// The worktrees of a repository: the main one, and those that it lists.
fn linked_trees(common: &Path) -> Vec<PathBuf> {
    let main = common.parent().filter(|_| common.ends_with(".git")).map(Path::to_owned);
    let listed = entries(&common.join("worktrees")).into_iter().filter_map(|entry| {
        let git_file = base::disk::read_text(&entry.join("gitdir"), base::disk::SMALL).ok()?;
        entry.join(git_file.trim()).parent().map(Path::to_owned)
    });
    main.into_iter().chain(listed).collect()
}

/// The entries of a folder, at most ten times as many as are looked at.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.take(10 * MOST_TREES).map(|entry| entry.path()).collect()
}
