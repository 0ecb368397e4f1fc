//! The checked-out branch and the default branch.

use super::branch;
use super::repo::{RefFormat, Repo};
use std::path::Path;

/// Compares the branch with `git symbolic-ref`, and the default branch with `default`.
#[track_caller]
fn check(repo: &Repo, folder: &Path, default: Option<&str>) {
    let found = branch(folder).unwrap();
    let folder = folder.strip_prefix(&repo.root).unwrap().to_string_lossy().into_owned();
    let head = repo.git_in(&folder, &["rev-parse", "--symbolic-full-name", "HEAD"]);
    let name = head.trim().strip_prefix("refs/heads/");
    assert_eq!((found.name.as_deref(), found.default.as_deref()), (name, default));
}

#[test]
fn the_branch_is_the_one_that_git_names() {
    let repo = Repo::seeded(RefFormat::Files);
    check(&repo, &repo.root, Some("main"));
    repo.git(&["switch", "-q", "-c", "feature/deep/x"]);
    check(&repo, &repo.root.join("src"), Some("main"));
    repo.git(&["switch", "-q", "--detach"]);
    check(&repo, &repo.root, Some("main"));
    repo.git(&["worktree", "add", "-q", "-b", "side", "wt"]);
    check(&repo, &repo.root.join("wt"), Some("main"));
}

#[test]
fn the_remote_says_which_branch_is_the_default() {
    let repo = Repo::seeded(RefFormat::Files);
    repo.git(&["branch", "trunk"]);
    repo.git(&["update-ref", "refs/remotes/origin/trunk", "HEAD"]);
    check(&repo, &repo.root, Some("main"));
    repo.git(&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk"]);
    check(&repo, &repo.root, Some("trunk"));
    repo.git(&["pack-refs", "--all"]);
    check(&repo, &repo.root, Some("trunk"));
}

#[test]
fn without_a_remote_the_usual_names_count_if_they_exist() {
    let repo = Repo::seeded(RefFormat::Files);
    repo.git(&["branch", "-m", "main", "develop"]);
    check(&repo, &repo.root, None);
    repo.git(&["config", "init.defaultBranch", "develop"]);
    check(&repo, &repo.root, Some("develop"));
    repo.git(&["branch", "-m", "develop", "master"]);
    check(&repo, &repo.root, Some("master"));
}

#[test]
fn a_branch_without_a_commit_is_unborn() {
    let repo = Repo::new(RefFormat::Files);
    let found = branch(&repo.root).unwrap();
    assert_eq!((found.name.as_deref(), found.default, found.unborn), (Some("main"), None, true));
}

#[test]
fn what_cannot_be_read_is_unknown() {
    let repo = Repo::seeded(RefFormat::Reftable);
    assert!(branch(&repo.root).unwrap_err().to_string().contains("reftable"));
    let folder = tempfile::tempdir().unwrap();
    assert!(branch(folder.path()).is_err());
}
