//! Repositories of unusual make, and what is none.

use std::fs;
use std::process::Command;

use super::ChangeKind::{Modified, Untracked};
use super::repo::{RefFormat, Repo, seen};
use super::{CommitState, changes, commit_state, head};

/// Changes a file and adds one, and expects just these to be seen, as git sees them.
#[track_caller]
fn check(repo: &Repo) {
    assert_eq!(seen(&repo.root, &[""]), repo.oracle("", &["."]), "before");
    assert_eq!(commit_state(&repo.root, "src/b.txt".as_ref()), Ok(CommitState::Committed));
    repo.write("src/b.txt", "other");
    repo.write("src/new.txt", "new");
    let expected = vec![("src/b.txt".to_owned(), Modified), ("src/new.txt".to_owned(), Untracked)];
    assert_eq!(seen(&repo.root, &["src"]), expected);
    assert_eq!(repo.oracle("", &["src"]), expected);
    assert_eq!(commit_state(&repo.root, "src/b.txt".as_ref()), Ok(CommitState::Modified));
    assert_eq!(commit_state(&repo.root, "src/new.txt".as_ref()), Ok(CommitState::Untracked));
    assert_eq!(commit_state(&repo.root, "src/deep/c.txt".as_ref()), Ok(CommitState::Committed));
    let id = repo.git(&["rev-parse", "HEAD"]);
    assert_eq!(head(&repo.root), Ok(Some(id.trim().to_owned())));
}

fn seed(repo: &Repo) {
    for path in ["a.txt", "src/b.txt", "src/deep/c.txt", "docs/d.txt"] {
        repo.write(path, path);
    }
    repo.commit();
}

#[test]
fn every_version_of_the_index_is_read() {
    for version in ["2", "3", "4"] {
        let repo = Repo::seeded(RefFormat::Files);
        repo.git(&["update-index", "--index-version", version]);
        check(&repo);
    }
}

#[test]
fn a_split_index_is_read() {
    let repo = Repo::seeded(RefFormat::Files);
    repo.git(&["update-index", "--split-index"]);
    repo.write("docs/e.txt", "e");
    repo.git(&["add", "docs"]);
    check(&repo);
}

#[test]
fn sha256_is_read() {
    let repo = Repo::with(RefFormat::Files, &["--object-format=sha256"]);
    seed(&repo);
    check(&repo);
}

#[test]
fn a_reftable_is_read_by_the_program() {
    let repo = Repo::with(RefFormat::Files, &["--ref-format=reftable"]);
    seed(&repo);
    check(&repo);
}

#[test]
fn a_sparse_checkout_is_not_a_deletion() {
    for index in ["--no-sparse-index", "--sparse-index"] {
        let repo = Repo::with(RefFormat::Files, &[]);
        seed(&repo);
        repo.git(&["sparse-checkout", "set", "--cone", index, "src"]);
        assert!(!repo.root.join("docs").exists());
        check(&repo);
        assert_eq!(seen(&repo.root, &["docs"]), [], "{index}");
        repo.write("docs/d.txt", "there again, and other");
        assert_eq!(seen(&repo.root, &["docs"]), repo.oracle("", &["docs"]), "{index}");
    }
}

#[test]
fn caches_and_monitors_make_no_difference() {
    let repo = Repo::seeded(RefFormat::Files);
    repo.git(&["config", "core.untrackedCache", "true"]);
    repo.git(&["config", "feature.manyFiles", "true"]);
    repo.git(&["update-index", "--untracked-cache"]);
    repo.git(&["config", "index.recordEndOfIndexEntries", "true"]);
    repo.git(&["update-index", "--force-write-index"]);
    check(&repo);
}

#[test]
fn packed_refs_and_a_detached_head_are_read() {
    let repo = Repo::seeded(RefFormat::Files);
    repo.git(&["checkout", "-q", "--detach"]);
    repo.git(&["gc", "-q"]);
    check(&repo);
}

#[test]
fn a_staged_change_elsewhere_does_not_matter() {
    let repo = Repo::with(RefFormat::Files, &[]);
    seed(&repo);
    repo.write("docs/d.txt", "other");
    repo.write("docs/new/x", "x");
    repo.git(&["add", "docs"]);
    assert_eq!(seen(&repo.root, &["src"]), []);
    check(&repo);
}

#[test]
fn an_index_without_a_cached_tree_is_compared_with_head() {
    let repo = Repo::with(RefFormat::Files, &[]);
    seed(&repo);
    repo.git(&["read-tree", "--empty"]);
    repo.git(&["add", "-A"]);
    check(&repo);
}

#[test]
fn folded_names_are_left_to_git() {
    let repo = Repo::seeded(RefFormat::Files);
    repo.git(&["config", "core.ignoreCase", "true"]);
    check(&repo);
}

#[test]
fn a_folder_outside_a_repository_is_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let error = changes(folder.path(), &[]).unwrap_err().to_string();
    assert!(error.ends_with("is not in a git repository"), "{error}");
    assert!(commit_state(folder.path(), "x".as_ref()).is_err());
    assert!(head(folder.path()).is_err());
    assert!(changes(&folder.path().join("nowhere"), &[]).is_err());
}

#[test]
fn a_bare_repository_is_unknown() {
    let repo = Repo::seeded(RefFormat::Files);
    repo.git(&["clone", "-q", "--bare", ".", "../bare.git"]);
    let bare = repo.root.parent().unwrap().join("bare.git");
    let error = changes(&bare, &[]).unwrap_err().to_string();
    assert!(error.ends_with("is not in a git repository"), "{error}");
    assert!(commit_state(&bare, "HEAD".as_ref()).is_err());
    assert!(changes(&repo.root.join(".git"), &[]).is_err());
    assert!(changes(&repo.root.join(".git/hooks"), &[]).is_err());
}

#[test]
fn a_corrupt_repository_is_unknown() {
    type Damage = fn(&[u8]) -> Vec<u8>;
    let cases: [Damage; 6] = [
        |_| b"nonsense".to_vec(),
        |bytes| bytes[..bytes.len() / 2].to_vec(),
        |bytes| bytes[..20].to_vec(),
        |bytes| [b"DIRC\0\0\0\x09", &bytes[8..]].concat(),
        |bytes| [&bytes[..8], b"\xff\xff\xff\xff", &bytes[12..]].concat(),
        |_| Vec::new(),
    ];
    for (number, damage) in cases.iter().enumerate() {
        let repo = Repo::seeded(RefFormat::Files);
        let index = repo.root.join(".git/index");
        fs::write(&index, damage(&fs::read(&index).unwrap())).unwrap();
        // git itself reads some of a damaged index. It is never clean.
        assert_ne!(changes(&repo.root, &[]), Ok(Vec::new()), "{number}");
    }
    let repo = Repo::seeded(RefFormat::Files);
    fs::write(repo.root.join(".git/refs/heads/main"), "nonsense\n").unwrap();
    assert_ne!(changes(&repo.root, &[]), Ok(Vec::new()), "nothing is committed for git");
    assert!(head(&repo.root).is_err());
    let repo = Repo::seeded(RefFormat::Files);
    fs::remove_dir_all(repo.root.join(".git/objects")).unwrap();
    fs::create_dir(repo.root.join(".git/objects")).unwrap();
    repo.write("a.txt", "other");
    assert!(changes(&repo.root, &[]).is_err());
    assert!(commit_state(&repo.root, "src/b.txt".as_ref()).is_err());
}

#[test]
fn paths_out_of_the_project_are_unknown() {
    let repo = Repo::seeded(RefFormat::Files);
    for path in ["..", "src/../..", "/etc"] {
        assert!(changes(&repo.root, &[path.to_owned()]).is_err(), "{path}");
    }
    assert_eq!(seen(&repo.root, &["src/../a.txt", "./src//deep/"]), []);
}

/// Runs in a process of its own, see below.
#[test]
#[ignore = "needs an environment that leads astray"]
fn astray() {
    let root = std::path::PathBuf::from(std::env::var_os("ASTRAY").unwrap());
    assert_eq!(seen(&root, &["src"]), [("src/b.txt".to_owned(), Modified)]);
    assert_eq!(commit_state(&root, "src/b.txt".as_ref()), Ok(CommitState::Modified));
    assert_eq!(commit_state(&root, "a.txt".as_ref()), Ok(CommitState::Committed));
    assert!(head(&root).unwrap().is_some());
}

#[test]
fn git_variables_in_the_environment_are_ignored() {
    for format in [RefFormat::Files, RefFormat::Reftable] {
        let repo = Repo::seeded(format);
        repo.write("src/b.txt", "other");
        let other = Repo::new(RefFormat::Files);
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "odd::astray", "--ignored"])
            .env("ASTRAY", &repo.root)
            .env("GIT_DIR", other.root.join(".git"))
            .env("GIT_WORK_TREE", &other.root)
            .env("GIT_INDEX_FILE", other.root.join(".git/index"))
            .env("GIT_OBJECT_DIRECTORY", other.root.join(".git/objects"))
            .env("GIT_CEILING_DIRECTORIES", &repo.root)
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "core.worktree")
            .env("GIT_CONFIG_VALUE_0", &other.root)
            .output()
            .unwrap();
        assert!(output.status.success(), "{format:?} {}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn packed_and_borrowed_objects_are_read() {
    let repo = Repo::seeded(RefFormat::Files);
    repo.git(&["gc", "-q"]);
    assert!(fs::read_dir(repo.root.join(".git/objects/pack")).unwrap().count() > 0);
    check(&repo);
    let repo = Repo::seeded(RefFormat::Files);
    fs::rename(repo.root.join(".git/objects"), repo.root.join(".git/borrowed")).unwrap();
    repo.write(".git/objects/info/alternates", "../borrowed\n");
    fs::create_dir_all(repo.root.join(".git/objects/pack")).unwrap();
    check(&repo);
}

#[test]
fn as_many_entries_with_other_names_are_changes() {
    let moves: [&[(&str, &str)]; 4] = [
        &[("src/deep", "src/other")],
        &[("src/b.txt", "src/x.txt")],
        &[("src/deep/c.txt", "src/deep/d.txt"), ("src/deep", "src/x")],
        &[("src/deep", "x"), ("src/b.txt", "src/deep"), ("x", "src/b.txt")],
    ];
    for moves in moves {
        let repo = Repo::seeded(RefFormat::Files);
        for (from, to) in moves {
            fs::rename(repo.root.join(from), repo.root.join(to)).unwrap();
        }
        let expected = repo.oracle("", &["."]);
        assert!(!expected.is_empty(), "{moves:?}");
        assert_eq!(seen(&repo.root, &[""]), expected, "{moves:?}");
    }
}

#[test]
fn what_is_no_repository_is_passed_over() {
    let repo = Repo::seeded(RefFormat::Files);
    repo.write("src/.git/HEAD", "ref: refs/heads/main\n");
    repo.write("src/.git/config", "[core]\n\tbare = false\n");
    fs::create_dir_all(repo.root.join("src/.git/objects")).unwrap();
    assert_eq!(seen(&repo.root.join("src"), &[""]), []);
    repo.write("src/b.txt", "other");
    assert_eq!(seen(&repo.root.join("src"), &[""]), [("b.txt".to_owned(), Modified)]);
    assert_eq!(commit_state(&repo.root.join("src"), "deep/c.txt".as_ref()), Ok(CommitState::Committed));
}

#[test]
fn settings_of_a_repository_run_no_program() {
    let repo = Repo::seeded(RefFormat::Files);
    let trace = repo.root.parent().unwrap().join("trace");
    let program = repo.root.parent().unwrap().join("program");
    fs::write(&program, format!("#!/bin/sh\ntouch '{}'\n", trace.display())).unwrap();
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let program = program.to_str().unwrap();
    repo.git(&["init", "-q", "sub"]);
    repo.write("sub/x", "x");
    for args in [&["add", "."][..], &["commit", "-qm", "x"]] {
        repo.git_in("sub", args);
    }
    repo.commit();
    for folder in ["", "sub"] {
        repo.git_in(folder, &["config", "core.fsmonitor", &format!("'{program}'")]);
        fs::copy(program, repo.root.join(folder).join(".git/hooks/post-index-change")).unwrap();
    }
    repo.write("sub/x", "other");
    assert_eq!(seen(&repo.root, &[""]), [("sub".to_owned(), super::ChangeKind::Submodule)]);
    assert!(!trace.exists());
    repo.git(&["status"]);
    assert!(trace.exists(), "git itself runs the program");
}

#[test]
fn a_pipe_has_no_ignore_rules() {
    let repo = Repo::seeded(RefFormat::Files);
    repo.pipe(".git/rules");
    repo.git(&["config", "core.excludesFile", ".git/rules"]);
    repo.write("src/new.txt", "new");
    assert_eq!(seen(&repo.root, &[""]), [("src/new.txt".to_owned(), Untracked)]);
}

/// Runs in a process of its own, see below.
#[test]
#[ignore = "needs an environment without git"]
fn without_git() {
    let root = std::path::PathBuf::from(std::env::var_os("ASTRAY").unwrap());
    assert_eq!(changes(&root, &[]), Err("there is no `git` program in PATH".into()));
    assert_eq!(commit_state(&root, "a.txt".as_ref()), Ok(CommitState::Committed));
    assert!(head(&root).unwrap().is_some());
}

#[test]
fn without_the_git_program_changes_are_unknown() {
    let repo = Repo::seeded(RefFormat::Files);
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "odd::without_git", "--ignored"])
        .env("ASTRAY", &repo.root)
        .env("PATH", "/nonexistent")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
