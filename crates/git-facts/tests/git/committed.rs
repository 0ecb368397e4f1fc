//! Whether a single file is committed.

use super::CommitState::{self, Committed, Ignored, Missing, Modified, Staged, Untracked};
use super::commit_state;
use super::repo::{RefFormat, Repo};

#[track_caller]
fn check(make: impl Fn(&Repo), expected: &[(&str, CommitState)]) {
    for format in [RefFormat::Files, RefFormat::Reftable] {
        let repo = Repo::seeded(format);
        make(&repo);
        for (path, wanted) in expected {
            let found = commit_state(&repo.root, path.as_ref());
            assert_eq!(found.as_ref(), Ok(wanted), "{path}, {format:?}");
        }
    }
}

#[test]
fn committed_changed_and_untracked_files_are_distinguished() {
    let make = |repo: &Repo| {
        repo.write(".gitignore", "*.log\nout/\n");
        repo.commit();
        repo.write("a.txt", "other");
        repo.write("src/new.txt", "new");
        repo.git(&["add", "src/new.txt"]);
        repo.write("src/unknown.txt", "new");
        repo.write("x.log", "x");
        repo.write("out/deep/x", "x");
        repo.write("fresh/x", "x");
    };
    let expected = [
        ("src/b.txt", Committed),
        ("./src/../src/deep/c.txt", Committed),
        ("a.txt", Modified),
        ("src/new.txt", Staged),
        ("src/unknown.txt", Untracked),
        ("fresh/x", Untracked),
        ("x.log", Ignored),
        ("out/deep/x", Ignored),
        ("nowhere.txt", Missing),
        ("src/b.txt/below", Missing),
        ("none/of/it", Missing),
    ];
    check(make, &expected);
}

#[test]
fn staged_changes_are_not_committed() {
    let make = |repo: &Repo| {
        repo.write("a.txt", "other");
        repo.write("src/b.txt", "other");
        repo.git(&["add", "."]);
        repo.write("src/b.txt", "and another");
        repo.git(&["update-index", "--chmod=+x", "src/deep/c.txt"]);
        repo.mode("src/deep/c.txt", 0o755);
        repo.write("soon.txt", "soon");
        repo.git(&["add", "-N", "soon.txt"]);
    };
    let expected = [("a.txt", Staged), ("src/b.txt", Modified), ("src/deep/c.txt", Staged), ("soon.txt", Staged)];
    check(make, &expected);
}

#[test]
fn deletions_are_missing_or_untracked() {
    let make = |repo: &Repo| {
        repo.remove("a.txt");
        repo.git(&["rm", "-q", "--cached", "src/b.txt"]);
        repo.git(&["rm", "-q", "src/deep/c.txt"]);
    };
    let expected = [("a.txt", Missing), ("src/b.txt", Untracked), ("src/deep/c.txt", Missing)];
    check(make, &expected);
}

#[test]
fn conflicts_are_modified() {
    let make = |repo: &Repo| {
        repo.git(&["checkout", "-qb", "side"]);
        repo.write("a.txt", "theirs\n");
        repo.commit();
        repo.git(&["checkout", "-q", "main"]);
        repo.write("a.txt", "ours\n");
        repo.commit();
        repo.try_git(&["merge", "-q", "side"]);
    };
    check(make, &[("a.txt", Modified), ("src/b.txt", Committed)]);
}

#[test]
fn the_content_decides_not_the_timestamp() {
    let make = |repo: &Repo| {
        repo.write("a.txt", "aaaa");
        repo.write("src/b.txt", "aaaa");
        repo.commit();
        repo.write("a.txt", "bbbb");
        repo.age("src/b.txt", 30);
    };
    check(make, &[("a.txt", Modified), ("src/b.txt", Committed)]);
}

#[test]
fn a_file_marked_as_unchanged_is_still_compared() {
    for option in ["--assume-unchanged", "--skip-worktree"] {
        let make = |repo: &Repo| {
            repo.git(&["update-index", option, "a.txt", "src/b.txt"]);
            repo.write("a.txt", "other");
        };
        check(make, &[("a.txt", Modified), ("src/b.txt", Committed)]);
    }
}

#[test]
fn links_are_compared_by_target_and_followed_within_a_path() {
    let make = |repo: &Repo| {
        repo.link("b.txt", "src/link");
        repo.link("src", "short");
        repo.link("b.txt", "src/turned");
        repo.commit();
        repo.remove("src/turned");
        repo.link("c.txt", "src/turned");
    };
    let expected =
        [("src/link", Committed), ("src/turned", Modified), ("short", Committed), ("short/b.txt", Committed)];
    check(make, &expected);
}

#[test]
fn a_project_may_be_part_of_a_repository_or_a_linked_worktree() {
    for format in [RefFormat::Files, RefFormat::Reftable] {
        let repo = Repo::seeded(format);
        repo.git(&["worktree", "add", "-q", "-b", "side", ".claude/worktrees/side"]);
        repo.write(".claude/worktrees/side/src/b.txt", "other");
        let side = repo.root.join(".claude/worktrees/side");
        assert_eq!(commit_state(&repo.root.join("src"), "b.txt".as_ref()), Ok(Committed));
        assert_eq!(commit_state(&repo.root.join("src"), "../a.txt".as_ref()), Ok(Committed));
        assert_eq!(commit_state(&side, "src/b.txt".as_ref()), Ok(Modified));
        assert_eq!(commit_state(&side.join("src"), "deep/c.txt".as_ref()), Ok(Committed));
    }
}

#[test]
fn a_path_that_is_not_a_file_of_the_worktree_is_unknown() {
    let repo = Repo::seeded(RefFormat::Files);
    for path in ["src", ".git/HEAD", "../..", "/etc/passwd"] {
        assert!(commit_state(&repo.root, path.as_ref()).is_err(), "{path}");
    }
}

#[test]
fn an_unborn_head_has_committed_nothing() {
    for format in [RefFormat::Files, RefFormat::Reftable] {
        let repo = Repo::new(format);
        repo.write("a.txt", "a");
        repo.write("b.txt", "b");
        repo.git(&["add", "a.txt"]);
        assert_eq!(commit_state(&repo.root, "a.txt".as_ref()), Ok(Staged), "{format:?}");
        assert_eq!(commit_state(&repo.root, "b.txt".as_ref()), Ok(Untracked), "{format:?}");
    }
}

/// Makes the timestamps of all files old enough to be believed.
fn settle(repo: &Repo) {
    for path in ["a.txt", "src/b.txt", "src/deep/c.txt"] {
        repo.age(path, 100);
    }
    repo.git(&["update-index", "--refresh", "-q"]);
}

#[test]
fn an_unchanged_file_is_not_read_again() {
    let all = |wanted: CommitState| ["a.txt", "src/b.txt", "src/deep/c.txt"].map(|path| (path, wanted));
    check(settle, &all(Committed));
    let packed = |repo: &Repo| {
        settle(repo);
        repo.git(&["pack-refs", "--all"]);
        repo.git(&["repack", "-adq"]);
    };
    check(packed, &all(Committed));
    let detached = |repo: &Repo| {
        settle(repo);
        repo.git(&["checkout", "-q", "--detach"]);
    };
    check(detached, &all(Committed));
    let orphaned = |repo: &Repo| {
        settle(repo);
        repo.git(&["checkout", "-q", "--orphan", "other"]);
    };
    check(orphaned, &all(Staged));
}

#[test]
fn a_cached_file_may_be_staged_changed_or_elsewhere() {
    let staged = |repo: &Repo| {
        repo.write("a.txt", "other");
        repo.git(&["add", "."]);
        settle(repo);
        repo.write("src/b.txt", "other");
        repo.mode("src/deep/c.txt", 0o755);
    };
    let expected = [("a.txt", Staged), ("src/b.txt", Modified), ("src/deep/c.txt", Modified)];
    check(staged, &expected);
    let emptied = |repo: &Repo| {
        settle(repo);
        repo.git(&["checkout", "-q", "--orphan", "other"]);
        let tree = repo.git(&["hash-object", "-t", "tree", "/dev/null"]);
        let commit = repo.git(&["commit-tree", "-m", "empty", tree.trim()]);
        repo.git(&["update-ref", "refs/heads/other", commit.trim()]);
    };
    check(emptied, &[("a.txt", Staged), ("src/b.txt", Staged)]);
    let replaced = |repo: &Repo| {
        settle(repo);
        repo.git(&["commit", "-q", "--allow-empty", "-m", "same"]);
        let tree = repo.git(&["hash-object", "-t", "tree", "/dev/null"]);
        let commit = repo.git(&["commit-tree", "-m", "empty", tree.trim()]);
        repo.git(&["replace", "HEAD", commit.trim()]);
    };
    check(replaced, &[("a.txt", Staged), ("src/b.txt", Staged)]);
}
