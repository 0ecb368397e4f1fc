//! Uncommitted changes of a worktree, without excluded paths and without changes that are older than a mode.

use super::{files, read_limited};
use crate::facts::{ChangeKind, CommitState, FoundFile, GitChange, MOST_RESULTS, Unknown};
use crate::host::paths::hash;
use fast_glob::glob_match;
use git_facts::ChangeQuery;
use shell_effects::StagedFiles;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// How many files a baseline remembers.
const MOST_REMEMBERED: usize = 200;

/// The baseline's key for the rules outside of commits that ignore files.
const RULES: &str = ".git/info/exclude";

/// The baseline's key for the commits in the stash.
const STASHES: &str = ".git/refs/stash";

/// How many files of an untracked folder are looked at.
const MOST_IN_FOLDER: usize = 1000;

/// The uncommitted changes under `paths`; a path with `!` excludes what it matches.
pub(super) fn changes(tree: &Path, paths: &[String]) -> Result<Vec<GitChange>, Unknown> {
    let mut changes = all_changes(tree, paths, None)?;
    changes.truncate(MOST_RESULTS);
    Ok(changes)
}

/// The changes under `paths` that are not in `baseline`, or that have another content now, and that are not another
/// session's.
pub(super) fn changes_since(
    tree: &Path,
    paths: &[String],
    baseline: &BTreeMap<String, String>,
    is_other_sessions: impl Fn(&str) -> bool,
) -> Result<Vec<GitChange>, Unknown> {
    let is_old = |change: &GitChange| {
        baseline.get(&change.path).is_some_and(|before| *before == fingerprint(tree, &change.path))
    };
    let words = |key: &str| baseline.get(key).map(|words| words.split_whitespace().map(str::to_owned).collect());
    let rules: Option<BTreeSet<String>> = words(RULES);
    let mut changes = all_changes(tree, paths, rules.as_ref())?;
    if let Some(known) = words(STASHES) {
        changes.extend(stashed_since(tree, paths, &known)?);
    }
    let own = changes.into_iter().filter(|change| !is_old(change) && !is_other_sessions(&change.path));
    Ok(own.take(MOST_RESULTS).collect())
}

/// The uncommitted files under `paths`, with fingerprints of their contents.
pub(super) fn baseline(tree: &Path, paths: &[String]) -> Result<BTreeMap<String, String>, Unknown> {
    let changes = all_changes(tree, paths, None)?;
    let found = changes.into_iter().take(MOST_REMEMBERED);
    let mut found: BTreeMap<String, String> =
        found.map(|change| (change.path.clone(), fingerprint(tree, &change.path))).collect();
    let joined = |words: BTreeSet<String>| words.into_iter().collect::<Vec<_>>().join(" ");
    found.extend(git_facts::uncommitted_rules(tree).ok().map(|rules| (RULES.to_owned(), joined(rules))));
    found.extend(git_facts::stashes(tree).ok().map(|ids| (STASHES.to_owned(), joined(ids.into_iter().collect()))));
    Ok(found)
}

/// The files under `paths` in stashes that were made since the baseline.
fn stashed_since(tree: &Path, paths: &[String], known: &BTreeSet<String>) -> Result<Vec<GitChange>, Unknown> {
    let mut commits = git_facts::stashes(tree)?;
    commits.retain(|commit| !known.contains(commit));
    if commits.is_empty() {
        return Ok(Vec::new());
    }
    let (excluded, included) = split(paths);
    let mut files = git_facts::stashed(tree, &included, &commits)?;
    files.retain(|file| !is_excluded(&excluded, &file.path));
    Ok(files)
}

/// The paths to leave out, and those to look at.
fn split(paths: &[String]) -> (Vec<&str>, Vec<String>) {
    let (excluded, included): (Vec<&String>, Vec<&String>) = paths.iter().partition(|path| path.starts_with('!'));
    let excluded = excluded.into_iter().filter_map(|path| path.strip_prefix('!')).collect();
    (excluded, included.into_iter().cloned().collect())
}

/// With `rules`, files that only other rules outside of commits ignore count as well.
fn all_changes(tree: &Path, paths: &[String], rules: Option<&BTreeSet<String>>) -> Result<Vec<GitChange>, Unknown> {
    let (excluded, included) = split(paths);
    let query = ChangeQuery { paths: included, known_rules: rules.cloned(), splits_renames: false };
    let mut changes = git_facts::changes(tree, query.clone())?;
    // A file that was moved to an excluded path is gone from its own one.
    let is_moved_out = |change: &GitChange| change.kind == ChangeKind::Renamed && is_excluded(&excluded, &change.path);
    if changes.iter().any(is_moved_out) {
        changes = git_facts::changes(tree, ChangeQuery { splits_renames: true, ..query })?;
    }
    if !excluded.is_empty() {
        changes.retain(|change| !is_excluded(&excluded, &change.path) && !is_excluded_folder(tree, &excluded, change));
    }
    Ok(changes)
}

/// The files that staging a folder would include.
pub(super) fn staged(tree: &Path, folder: &str, staged: &StagedFiles) -> Result<Vec<String>, Unknown> {
    let below = |folder: &str| Ok::<_, Unknown>(files_below(tree, folder)?.into_iter().map(|file| file.path));
    if staged.forced && !staged.tracked {
        let prefix = if folder.is_empty() || folder == "." { String::new() } else { format!("{folder}/") };
        return Ok(below(&prefix)?.collect());
    }
    let mut paths = Vec::new();
    let query = ChangeQuery { paths: vec![folder.to_owned()], ..ChangeQuery::default() };
    for change in git_facts::changes(tree, query)? {
        if change.kind == ChangeKind::Untracked && staged.tracked {
            continue;
        }
        if change.path.ends_with('/') {
            let is_ignored = |path: &String| git_facts::commit_state(tree, Path::new(path)) == Ok(CommitState::Ignored);
            paths.extend(below(&change.path)?.filter(|path| !is_ignored(path)));
        } else {
            paths.push(change.path);
        }
    }
    Ok(paths)
}

fn files_below(tree: &Path, folder: &str) -> Result<Vec<FoundFile>, Unknown> {
    files::matching(tree, &format!("{folder}**"), MOST_IN_FOLDER)
}

/// Whether a pattern matches a path: a plain path with all below it, `*.md` by the file's name, other globs as a whole.
fn is_excluded(patterns: &[&str], path: &str) -> bool {
    let path = path.trim_end_matches('/');
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_glob = |pattern: &str| pattern.contains(['*', '?', '[', '{']);
    patterns.iter().any(|pattern| {
        if !is_glob(pattern) {
            let plain = pattern.trim_start_matches("./").trim_end_matches('/');
            return path.strip_prefix(plain).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        }
        glob_match(pattern, if pattern.contains('/') { path } else { name })
    })
}

/// Whether a change is an untracked folder in which every file is excluded; git names only the folder.
fn is_excluded_folder(tree: &Path, patterns: &[&str], change: &GitChange) -> bool {
    if change.kind != ChangeKind::Untracked || !change.path.ends_with('/') {
        return false;
    }
    let found = files_below(tree, &change.path).unwrap_or_default();
    !found.is_empty() && found.len() < MOST_IN_FOLDER && found.iter().all(|file| is_excluded(patterns, &file.path))
}

/// A text that differs when the content of a file, or the list of a folder's files, differs.
fn fingerprint(tree: &Path, path: &str) -> String {
    if path.ends_with('/') {
        let found = files_below(tree, path).unwrap_or_default();
        let list: Vec<String> = found.iter().map(|file| format!("{file:?}")).collect();
        return format!("{:016x}", hash(list.join("\n").as_bytes()));
    }
    match read_limited(&tree.join(path), path) {
        Ok(bytes) => format!("{:016x}", hash(&bytes)),
        Err(why) => why.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(patterns: &[&str], path: &str, expected: bool) {
        assert_eq!(is_excluded(patterns, path), expected, "{patterns:?} {path}");
    }

    #[test]
    fn plain_paths_names_and_globs_exclude() {
        check(&["docs"], "docs/a.rs", true);
        check(&["docs"], "docs/", true);
        check(&["docs"], "src/docs/a.rs", false);
        check(&["docs"], "docs.rs", false);
        check(&["*.md"], "src/deep/README.md", true);
        check(&["**/gen/**"], "src/gen/a.rs", true);
        check(&["**/gen/**"], "src/a.rs", false);
    }
}
