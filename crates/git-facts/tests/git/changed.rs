//! What counts as a change, with every format of references, and as git says.

use super::ChangeKind::{self, Added, Conflicted, Deleted, Modified, Renamed, Submodule, TypeChanged, Untracked};
use super::ChangeQuery;
use super::repo::{RefFormat, Repo, seen};

const ALL: [RefFormat; 2] = [RefFormat::Files, RefFormat::Reftable];

/// Makes a repository for each format, changes it, and compares with `expected` and with git.
#[track_caller]
fn check(formats: &[RefFormat], make: impl Fn(&Repo), paths: &[&str], expected: &[(&str, ChangeKind)]) {
    check_in("", formats, make, paths, expected);
}

#[track_caller]
fn check_in(
    folder: &str,
    formats: &[RefFormat],
    make: impl Fn(&Repo),
    paths: &[&str],
    expected: &[(&str, ChangeKind)],
) {
    for format in formats {
        let repo = Repo::seeded(*format);
        make(&repo);
        let expected: Vec<_> = expected.iter().map(|(path, kind)| ((*path).to_owned(), *kind)).collect();
        assert_eq!(seen(&repo.root.join(folder), paths), expected, "{format:?} {paths:?}");
        assert_eq!(repo.oracle(folder, paths), expected, "git itself, {format:?} {paths:?}");
    }
}

#[test]
fn a_fresh_commit_is_clean() {
    check(&ALL, |_| {}, &[""], &[]);
    check(&ALL, |_| {}, &["src"], &[]);
}

#[test]
fn a_staged_file_is_added() {
    let make = |repo: &Repo| {
        repo.write("src/new.txt", "new");
        repo.git(&["add", "src/new.txt"]);
    };
    check(&ALL, make, &["."], &[("src/new.txt", Added)]);
    check(&ALL, make, &["src/deep"], &[]);
}

#[test]
fn a_staged_change_is_modified() {
    let make = |repo: &Repo| {
        repo.write("src/b.txt", "other");
        repo.git(&["add", "."]);
    };
    check(&ALL, make, &["src"], &[("src/b.txt", Modified)]);
    check(&ALL, make, &["src/deep", "a.txt"], &[]);
}

#[test]
fn an_unstaged_change_is_modified() {
    check(&ALL, |repo| repo.write("src/b.txt", "other"), &["src"], &[("src/b.txt", Modified)]);
    check(&ALL, |repo| repo.write("src/b.txt", "other"), &["src/deep"], &[]);
}

#[test]
fn a_file_staged_and_then_changed_back_counts() {
    let make = |repo: &Repo| {
        let old = std::fs::read_to_string(repo.root.join("a.txt")).unwrap();
        repo.write("a.txt", "other");
        repo.git(&["add", "."]);
        repo.write("a.txt", &old);
    };
    check(&ALL, make, &[""], &[("a.txt", Modified)]);
}

#[test]
fn untracked_files_and_folders_count() {
    let make = |repo: &Repo| {
        repo.write("src/new.txt", "new");
        repo.write("fresh/one.txt", "1");
        repo.write("fresh/two.txt", "2");
        std::fs::create_dir_all(repo.root.join("empty/deeper")).unwrap();
    };
    check(&ALL, make, &[""], &[("fresh/", Untracked), ("src/new.txt", Untracked)]);
    check(&ALL, make, &["fresh"], &[("fresh/", Untracked)]);
    check(&ALL, make, &["fresh/one.txt"], &[("fresh/one.txt", Untracked)]);
    check(&ALL, make, &["empty"], &[]);
}

#[test]
fn ignored_files_do_not_count() {
    let make = |repo: &Repo| {
        repo.write(".gitignore", "*.log\nnode_modules/\n/build\n");
        repo.write("src/.gitignore", "!keep.log\n*.tmp\n");
        repo.commit();
        repo.write(".git/info/exclude", "secret\n");
        repo.write("mine.ignore", "*.mine\n");
        repo.git(&["config", "core.excludesFile", repo.root.join("mine.ignore").to_str().unwrap()]);
        for path in [
            "x.log",
            "src/x.log",
            "src/x.tmp",
            "node_modules/a/b.js",
            "src/node_modules/c.js",
            "build/out",
            "secret",
            "x.mine",
            "only/x.log",
        ] {
            repo.write(path, "x");
        }
        repo.write("src/keep.log", "x");
        repo.write("x.tmp", "x");
        repo.write("src/build/out", "x");
    };
    let expected =
        [("mine.ignore", Untracked), ("src/build/", Untracked), ("src/keep.log", Untracked), ("x.tmp", Untracked)];
    check(&ALL, make, &[""], &expected);
    check(&ALL, make, &["src"], &expected[1..3]);
    check(&ALL, make, &["node_modules", "build", "secret", "only", "src/node_modules"], &[]);
}

#[test]
fn rules_outside_of_commits_may_have_to_be_known() {
    let repo = Repo::seeded(RefFormat::Files);
    repo.write(".gitignore", "*.log\n");
    repo.commit();
    repo.write(".git/info/exclude", "*.tmp\n");
    let known = git_facts::uncommitted_rules(&repo.root).unwrap();
    repo.write(".git/info/exclude", "*.tmp\nhidden\nsrc/deeper\n");
    for path in ["x.log", "x.tmp", "hidden", "src/deeper/x", "src/deeper/x.tmp", "only/x.tmp"] {
        repo.write(path, "x");
    }
    repo.write("a.txt", "other");
    let changes = |known_rules| {
        let found = git_facts::changes(&repo.root, ChangeQuery { known_rules, ..ChangeQuery::default() }).unwrap();
        found.into_iter().map(|change| (change.path, change.kind)).collect::<Vec<_>>()
    };
    let all = [("a.txt", Modified), ("hidden", Untracked), ("src/deeper/", Untracked)];
    assert_eq!(changes(Some(known)), all.map(|(path, kind)| (path.to_owned(), kind)));
    assert_eq!(changes(None), [("a.txt".to_owned(), Modified)]);
}

#[test]
fn a_tracked_file_in_an_ignored_folder_counts() {
    let make = |repo: &Repo| {
        repo.write("build/kept.txt", "kept");
        repo.git(&["add", "."]);
        repo.write(".gitignore", "build\n");
        repo.commit();
        repo.write("build/other.txt", "other");
    };
    check(&ALL, make, &["build"], &[]);
    let changed = |repo: &Repo| {
        make(repo);
        repo.write("build/kept.txt", "changed");
    };
    check(&ALL, changed, &[""], &[("build/kept.txt", Modified)]);
}

#[test]
fn deleted_files_count_staged_or_not() {
    let unstaged = |repo: &Repo| repo.remove("src/b.txt");
    check(&ALL, unstaged, &["src"], &[("src/b.txt", Deleted)]);
    check(&ALL, unstaged, &["src/b.txt"], &[("src/b.txt", Deleted)]);
    let staged = |repo: &Repo| {
        repo.git(&["rm", "-q", "src/b.txt"]);
    };
    check(&ALL, staged, &["src"], &[("src/b.txt", Deleted)]);
    check(&ALL, staged, &["src/deep"], &[]);
}

#[test]
fn a_deleted_folder_is_its_files() {
    let make = |repo: &Repo| std::fs::remove_dir_all(repo.root.join("src")).unwrap();
    let expected = [("src/b.txt", Deleted), ("src/deep/c.txt", Deleted)];
    check(&ALL, make, &["src"], &expected);
    check(&ALL, make, &["src/deep"], &expected[1..]);
    let staged = |repo: &Repo| {
        repo.git(&["rm", "-rq", "src"]);
    };
    check(&ALL, staged, &["src"], &expected);
    check(&ALL, staged, &["src/deep/c.txt"], &expected[1..]);
}

#[test]
fn a_file_removed_from_the_index_is_deleted_and_untracked() {
    let make = |repo: &Repo| {
        repo.git(&["rm", "-q", "--cached", "src/b.txt"]);
    };
    check(&ALL, make, &["src"], &[("src/b.txt", Untracked), ("src/b.txt", Deleted)]);
}

#[test]
fn a_rename_inside_is_one_change() {
    let make = |repo: &Repo| {
        repo.git(&["mv", "src/b.txt", "src/moved.txt"]);
    };
    check(&ALL, make, &[""], &[("src/moved.txt", Renamed)]);
    check(&ALL, make, &["src"], &[("src/moved.txt", Renamed)]);
}

#[test]
fn a_rename_with_a_change_is_one_change() {
    let make = |repo: &Repo| {
        repo.git(&["mv", "src/b.txt", "src/moved.txt"]);
        repo.write("src/moved.txt", "one src/b.txt\ntwo src/b.txt\nthree src/b.txt\nfive\n");
        repo.git(&["add", "."]);
    };
    check(&ALL, make, &["src"], &[("src/moved.txt", Renamed)]);
    let unlike = |repo: &Repo| {
        repo.git(&["mv", "src/b.txt", "src/moved.txt"]);
        repo.write("src/moved.txt", "nothing\nof\nthe\nkind\n");
        repo.git(&["add", "."]);
    };
    check(&ALL, unlike, &["src"], &[("src/b.txt", Deleted), ("src/moved.txt", Added)]);
}

#[test]
fn a_rename_in_or_out_is_half_a_rename() {
    let make = |repo: &Repo| {
        repo.git(&["mv", "src/b.txt", "b.txt"]);
        repo.git(&["mv", "a.txt", "src/a.txt"]);
    };
    check(&ALL, make, &["src"], &[("src/a.txt", Added), ("src/b.txt", Deleted)]);
    check(&ALL, make, &[""], &[("b.txt", Renamed), ("src/a.txt", Renamed)]);
}

#[test]
fn an_unstaged_rename_is_a_deletion_and_an_untracked_file() {
    let make = |repo: &Repo| {
        std::fs::rename(repo.root.join("src/b.txt"), repo.root.join("src/z.txt")).unwrap();
    };
    check(&ALL, make, &["src"], &[("src/b.txt", Deleted), ("src/z.txt", Untracked)]);
}

#[test]
fn names_may_be_odd() {
    let make = |repo: &Repo| {
        repo.write("Über uns/naïve plan \u{1f600}.md", "x");
        repo.write("src/a b.txt", "x");
        repo.write("src/*.txt", "x");
        repo.write("src/:(top)x", "x");
        repo.commit();
        repo.write("Über uns/naïve plan \u{1f600}.md", "y");
        repo.write("src/a b.txt", "y");
        repo.write("src/new \"one\".txt", "x");
    };
    let expected = [("src/a b.txt", Modified), ("src/new \"one\".txt", Untracked)];
    check(&ALL, make, &["src"], &expected);
    check(&ALL, make, &["Über uns"], &[("Über uns/naïve plan \u{1f600}.md", Modified)]);
    check(&ALL, make, &["src/a b.txt"], &expected[..1]);
}

#[test]
fn a_path_is_not_a_pattern() {
    for format in ALL {
        let repo = Repo::seeded(format);
        repo.write("src/b.txt", "other");
        assert_eq!(seen(&repo.root, &["src/*.txt", "s*", ":(top)src", "src/[b].txt"]), []);
    }
}

#[test]
fn folders_are_sorted_as_git_does() {
    let make = |repo: &Repo| {
        for path in ["x/1", "x.a/1", "x-b", "x0/1", "x", "x.a.b"] {
            if path != "x" {
                repo.write(path, "1");
            }
        }
        repo.commit();
        for path in ["x/1", "x.a/1", "x-b", "x0/1", "x.a.b"] {
            repo.write(path, "2");
        }
        repo.write("x/0", "new");
    };
    let expected = [
        ("x-b", Modified),
        ("x.a.b", Modified),
        ("x.a/1", Modified),
        ("x/0", Untracked),
        ("x/1", Modified),
        ("x0/1", Modified),
    ];
    check(&ALL, make, &[""], &expected);
    check(&ALL, make, &["x"], &expected[3..5]);
}

#[test]
fn a_project_may_be_part_of_a_repository() {
    let make = |repo: &Repo| {
        repo.write("a.txt", "other");
        repo.write("src/b.txt", "other");
        repo.write("src/new/x", "new");
    };
    check_in("src", &ALL, make, &[""], &[("b.txt", Modified), ("new/", Untracked)]);
    check_in("src", &ALL, make, &["deep"], &[]);
    check_in("src/deep", &ALL, make, &["."], &[]);
}

#[test]
fn paths_may_overlap() {
    let make = |repo: &Repo| repo.write("src/deep/c.txt", "other");
    check(&ALL, make, &["src/deep", "src", "src/deep/c.txt"], &[("src/deep/c.txt", Modified)]);
}

#[test]
fn a_missing_path_has_no_changes() {
    check(&ALL, |repo| repo.write("src/b.txt", "other"), &["none", "src/none/of/it"], &[]);
    check(&ALL, |_| {}, &["a.txt/below"], &[]);
}

#[test]
fn an_unborn_head_has_no_commits() {
    for format in ALL {
        let repo = Repo::new(format);
        repo.write("a.txt", "a");
        repo.write("src/b.txt", "b");
        let expected = vec![("a.txt".to_owned(), Untracked), ("src/".to_owned(), Untracked)];
        assert_eq!(seen(&repo.root, &[""]), expected, "{format:?}");
        repo.git(&["add", "src"]);
        let expected = vec![("src/b.txt".to_owned(), Added)];
        assert_eq!(seen(&repo.root, &["src"]), expected, "{format:?}");
        assert_eq!(super::head(&repo.root), Ok(None), "{format:?}");
    }
}

#[test]
fn the_executable_bit_counts_where_it_should() {
    let make = |repo: &Repo| repo.mode("src/b.txt", 0o755);
    check(&ALL, make, &["src"], &[("src/b.txt", Modified)]);
    let off = |repo: &Repo| {
        make(repo);
        repo.git(&["config", "core.fileMode", "false"]);
    };
    check(&ALL, off, &["src"], &[]);
    let staged = |repo: &Repo| {
        repo.git(&["config", "core.fileMode", "false"]);
        repo.git(&["update-index", "--chmod=+x", "src/b.txt"]);
    };
    check(&ALL, staged, &["src"], &[("src/b.txt", Modified)]);
}

#[test]
fn symbolic_links_are_compared_by_target() {
    let make = |repo: &Repo| {
        repo.link("b.txt", "src/link");
        repo.link("deep", "src/folder");
        repo.commit();
    };
    check(&ALL, make, &["src"], &[]);
    let turned = |repo: &Repo| {
        make(repo);
        repo.remove("src/link");
        repo.link("c.txt", "src/link");
    };
    check(&ALL, turned, &["src"], &[("src/link", Modified)]);
    let replaced = |repo: &Repo| {
        make(repo);
        repo.remove("src/link");
        repo.write("src/link", "b.txt");
    };
    check(&ALL, replaced, &["src"], &[("src/link", TypeChanged)]);
    let piped = |repo: &Repo| {
        make(repo);
        repo.remove("src/b.txt");
        repo.pipe("src/b.txt");
    };
    check(&ALL, piped, &["src"], &[("src/b.txt", Modified)]);
    let fresh = |repo: &Repo| repo.link("nowhere", "src/dangling");
    check(&ALL, fresh, &["src"], &[("src/dangling", Untracked)]);
}

#[test]
fn files_become_folders_and_back() {
    let make = |repo: &Repo| {
        repo.remove("src/b.txt");
        repo.write("src/b.txt/inner", "x");
    };
    check(&ALL, make, &["src"], &[("src/b.txt", Deleted)]);
    let back = |repo: &Repo| {
        std::fs::remove_dir_all(repo.root.join("src/deep")).unwrap();
        repo.write("src/deep", "x");
    };
    check(&ALL, back, &["src"], &[("src/deep", Untracked), ("src/deep/c.txt", Deleted)]);
    let linked = |repo: &Repo| {
        std::fs::rename(repo.root.join("src/deep"), repo.root.join("elsewhere")).unwrap();
        repo.link("../elsewhere", "src/deep");
    };
    check(&ALL, linked, &["src"], &[("src/deep", Untracked), ("src/deep/c.txt", Deleted)]);
    check(&ALL, linked, &["src/deep/c.txt"], &[("src/deep/c.txt", Deleted)]);
}

#[test]
fn conflicts_are_conflicts() {
    let make = |repo: &Repo| {
        repo.git(&["checkout", "-qb", "side"]);
        repo.write("src/b.txt", "theirs\n");
        repo.remove("a.txt");
        repo.write("both.txt", "theirs\n");
        repo.commit();
        repo.git(&["checkout", "-q", "main"]);
        repo.write("src/b.txt", "ours\n");
        repo.write("a.txt", "ours\n");
        repo.write("both.txt", "ours\n");
        repo.commit();
        repo.try_git(&["merge", "-q", "side"]);
    };
    let expected = [("a.txt", Conflicted), ("both.txt", Conflicted), ("src/b.txt", Conflicted)];
    check(&ALL, make, &[""], &expected);
    check(&ALL, make, &["src"], &expected[2..]);
    check(&ALL, make, &["src/b.txt"], &expected[2..]);
    check(&ALL, make, &["src/deep"], &[]);
}

#[test]
fn an_intent_to_add_file_is_added() {
    let make = |repo: &Repo| {
        repo.write("src/soon.txt", "soon");
        repo.git(&["add", "-N", "src/soon.txt"]);
    };
    check(&ALL, make, &["src"], &[("src/soon.txt", Added)]);
    check(&ALL, make, &["src/soon.txt"], &[("src/soon.txt", Added)]);
}

#[test]
fn a_mark_in_the_index_hides_no_change() {
    for option in ["--assume-unchanged", "--skip-worktree"] {
        for format in ALL {
            let repo = Repo::seeded(format);
            repo.git(&["update-index", option, "src/b.txt", "a.txt", "src/deep/c.txt"]);
            repo.write("src/b.txt", "other");
            repo.remove("a.txt");
            assert_eq!(repo.oracle("", &["."]), [], "git itself skips them");
            let expected = [("a.txt".to_owned(), Deleted), ("src/b.txt".to_owned(), Modified)];
            assert_eq!(seen(&repo.root, &[""]), expected, "{option} {format:?}");
        }
    }
}

#[test]
fn settings_hide_no_change_of_a_submodule() {
    for format in ALL {
        let repo = Repo::seeded(format);
        with_submodule(&repo);
        repo.git(&["config", "submodule.lib/sub.ignore", "all"]);
        repo.git(&["config", "diff.ignoreSubmodules", "all"]);
        repo.write("lib/sub/x", "other");
        assert_eq!(seen(&repo.root, &["lib"]), [("lib/sub".to_owned(), Submodule)], "{format:?}");
    }
}

#[test]
fn the_same_size_in_the_same_tick_is_seen() {
    for _ in 0..5 {
        let make = |repo: &Repo| {
            repo.write("src/b.txt", "aaaa");
            repo.commit();
            repo.write("src/b.txt", "bbbb");
        };
        check(&ALL, make, &["src"], &[("src/b.txt", Modified)]);
    }
}

#[test]
fn a_touched_file_is_unchanged() {
    let make = |repo: &Repo| {
        repo.age("src/b.txt", 100);
        repo.age("a.txt", 100);
        repo.git(&["update-index", "--refresh", "-q"]);
        repo.age("src/b.txt", 50);
    };
    check(&ALL, make, &[""], &[]);
}

#[test]
fn line_endings_are_left_to_git() {
    let make = |repo: &Repo| {
        repo.git(&["config", "core.autocrlf", "true"]);
        repo.write("src/crlf.txt", "one\r\ntwo\r\n");
        repo.commit();
    };
    check(&ALL, make, &["src"], &[]);
    let changed = |repo: &Repo| {
        make(repo);
        repo.write("src/crlf.txt", "one\r\ntoo\r\n");
    };
    check(&ALL, changed, &["src"], &[("src/crlf.txt", Modified)]);
    let attributes = |repo: &Repo| {
        repo.write(".gitattributes", "* text=auto eol=crlf\n*.bin -text\n");
        repo.write("src/crlf.txt", "one\r\ntwo\r\n");
        repo.write("src/x.bin", "one\r\ntwo\r\n");
        repo.commit();
        repo.age("src/crlf.txt", 30);
        repo.age("src/x.bin", 30);
    };
    check(&ALL, attributes, &["src"], &[]);
    let kept = |repo: &Repo| {
        repo.write("src/crlf.txt", "one\r\ntwo\r\n");
        repo.commit();
        repo.git(&["config", "core.autocrlf", "input"]);
        repo.age("src/crlf.txt", 30);
    };
    check(&ALL, kept, &["src"], &[]);
}

#[test]
fn filters_are_left_to_git() {
    let make = |repo: &Repo| {
        repo.git(&["config", "filter.upper.clean", "tr a-z A-Z"]);
        repo.git(&["config", "filter.upper.smudge", "tr A-Z a-z"]);
        repo.write("src/.gitattributes", "*.up filter=upper\n*.id ident\n");
        repo.write("src/x.up", "hello");
        repo.write("src/x.id", "$Id$");
        repo.commit();
        repo.remove("src/x.id");
        repo.git(&["checkout", "-q", "src/x.id"]);
        repo.age("src/x.up", 30);
        repo.age("src/x.id", 30);
    };
    check(&ALL, make, &["src"], &[]);
    let changed = |repo: &Repo| {
        make(repo);
        repo.write("src/x.up", "hullo");
    };
    check(&ALL, changed, &["src"], &[("src/x.up", Modified)]);
}

#[test]
fn nested_repositories_are_one_untracked_folder() {
    let make = |repo: &Repo| {
        std::fs::create_dir_all(repo.root.join("vendor/inner")).unwrap();
        repo.git_in("vendor/inner", &["init", "-q"]);
        repo.write("vendor/inner/x", "x");
        repo.git_in("vendor/inner", &["add", "x"]);
        repo.git_in("vendor/inner", &["commit", "-qm", "x"]);
    };
    check(&ALL, make, &[""], &[("vendor/", Untracked)]);
    let beside = |repo: &Repo| {
        repo.write("vendor/kept", "x");
        repo.commit();
        make(repo);
    };
    check(&ALL, beside, &["vendor"], &[("vendor/inner/", Untracked)]);
}

#[test]
fn untracked_files_count_even_where_git_hides_them() {
    for format in ALL {
        let repo = Repo::seeded(format);
        repo.write("src/new.txt", "x");
        repo.git(&["config", "status.showUntrackedFiles", "no"]);
        assert_eq!(seen(&repo.root, &["src"]), [("src/new.txt".to_owned(), Untracked)], "{format:?}");
    }
}

/// Adds a submodule at `lib/sub`, committed.
fn with_submodule(repo: &Repo) {
    let other = repo.root.parent().unwrap().join("other");
    std::fs::create_dir(&other).unwrap();
    let other = other.to_str().unwrap();
    repo.git(&["init", "-q", "-b", "main", other]);
    std::fs::write(format!("{other}/x"), "x").unwrap();
    repo.git(&["-C", other, "add", "."]);
    repo.git(&["-C", other, "commit", "-qm", "one"]);
    repo.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, "lib/sub"]);
    repo.commit();
}

#[test]
fn submodules_count_when_dirty_or_moved() {
    check(&ALL, with_submodule, &[""], &[]);
    let dirty = |repo: &Repo| {
        with_submodule(repo);
        repo.write("lib/sub/x", "other");
    };
    check(&ALL, dirty, &["lib"], &[("lib/sub", Submodule)]);
    let extended = |repo: &Repo| {
        with_submodule(repo);
        repo.write("lib/sub/new", "new");
    };
    check(&ALL, extended, &["lib/sub"], &[("lib/sub", Submodule)]);
    let moved = |repo: &Repo| {
        with_submodule(repo);
        repo.git_in("lib/sub", &["commit", "-q", "--allow-empty", "-m", "two"]);
    };
    check(&ALL, moved, &[""], &[("lib/sub", Submodule)]);
    let staged = |repo: &Repo| {
        moved(repo);
        repo.git(&["add", "lib/sub"]);
    };
    check(&ALL, staged, &["lib"], &[("lib/sub", Submodule)]);
    check(&ALL, staged, &["src"], &[]);
}

#[test]
fn submodules_may_be_absent_or_ignored() {
    let absent = |repo: &Repo| {
        with_submodule(repo);
        repo.git(&["submodule", "--quiet", "deinit", "-f", "lib/sub"]);
    };
    check(&ALL, absent, &[""], &[]);
    let gone = |repo: &Repo| {
        absent(repo);
        std::fs::remove_dir(repo.root.join("lib/sub")).unwrap();
    };
    check(&ALL, gone, &[""], &[("lib/sub", Deleted)]);
    let ignored = |repo: &Repo| {
        with_submodule(repo);
        repo.git(&["config", "-f", ".gitmodules", "submodule.lib/sub.ignore", "dirty"]);
        repo.commit();
        repo.write("lib/sub/x", "other");
    };
    check(&ALL, ignored, &["lib"], &[]);
}

#[test]
fn attributes_count_where_a_sparse_checkout_leaves_them_out() {
    let sparse = |repo: &Repo| {
        repo.write(".gitattributes", "*.txt text eol=crlf\n");
        repo.write("src/mixed.txt", "one\ntwo\r\n");
        repo.commit();
        repo.git(&["sparse-checkout", "set", "--no-cone", "src/*"]);
    };
    check(&ALL, sparse, &["src"], &[]);
}

#[test]
fn a_file_that_a_sparse_checkout_leaves_out_may_be_there_in_other_letters() {
    let folded = |repo: &Repo| {
        repo.git(&["config", "core.ignoreCase", "true"]);
        repo.git(&["sparse-checkout", "set", "--no-cone", "src/*"]);
        repo.write("A.TXT", "other");
    };
    check(&ALL, folded, &[""], &[]);
}

/// git compares times to the second: it does not look at a file that was touched in the second in which it was staged.
#[test]
fn a_new_rule_about_line_endings_counts_once_git_looks_at_the_file() {
    use std::os::unix::fs::MetadataExt;
    let touched = |repo: &Repo| {
        repo.write("src/mixed.txt", "one\r\ntwo\n");
        let changed = || repo.root.join("src/mixed.txt").metadata().unwrap().ctime();
        loop {
            repo.age("src/mixed.txt", 100_000);
            let staged = changed();
            repo.git(&["add", "src/mixed.txt"]);
            repo.mode("src/mixed.txt", 0o644);
            if changed() == staged {
                break;
            }
        }
        repo.git(&["commit", "-q", "-m", "some"]);
        repo.write(".gitattributes", "*.txt text\n");
    };
    check(&ALL, touched, &["src"], &[]);
    let touched_later = |repo: &Repo| {
        touched(repo);
        repo.age("src/mixed.txt", 100);
    };
    check(&ALL, touched_later, &["src"], &[("src/mixed.txt", Modified)]);
}

#[test]
fn a_missing_submodule_may_be_ignored() {
    let missing = |ignore: &'static str| {
        move |repo: &Repo| {
            with_submodule(repo);
            repo.git(&["config", "-f", ".gitmodules", "submodule.lib/sub.ignore", ignore]);
            repo.commit();
            std::fs::remove_dir_all(repo.root.join("lib")).unwrap();
        }
    };
    check(&ALL, missing("all"), &[""], &[]);
    check(&ALL, missing("dirty"), &[""], &[("lib/sub", Deleted)]);
}

#[test]
fn paths_inside_a_submodule_are_checked_there() {
    let repo = Repo::seeded(RefFormat::Files);
    with_submodule(&repo);
    repo.write("lib/sub/x", "other");
    repo.write("lib/sub/y/z", "new");
    assert_eq!(seen(&repo.root, &["lib/sub/x"]), [("lib/sub/x".to_owned(), Modified)]);
    assert_eq!(seen(&repo.root, &["lib/sub/y"]), [("lib/sub/y/".to_owned(), Untracked)]);
    assert_eq!(seen(&repo.root.join("lib"), &["sub/x"]), [("sub/x".to_owned(), Modified)]);
}

#[test]
fn a_linked_worktree_is_checked_on_its_own() {
    for format in ALL {
        let repo = Repo::seeded(format);
        repo.write(".gitignore", ".claude/worktrees/\n");
        repo.commit();
        repo.git(&["worktree", "add", "-q", "-b", "side", ".claude/worktrees/side"]);
        repo.write(".claude/worktrees/side/src/b.txt", "other");
        let side = repo.root.join(".claude/worktrees/side");
        let expected = [("src/b.txt".to_owned(), Modified)];
        assert_eq!(seen(&side, &["src"]), expected, "{format:?}");
        assert_eq!(seen(&side.join("src"), &["b.txt"]), [("b.txt".to_owned(), Modified)], "{format:?}");
        assert_eq!(seen(&repo.root, &[""]), [], "{format:?}");
        repo.git_in(".claude/worktrees/side", &["commit", "-qam", "side"]);
        assert_eq!(seen(&side, &[""]), [], "{format:?}");
        assert_ne!(super::head(&side), super::head(&repo.root), "{format:?}");
    }
}

#[test]
fn a_linked_worktree_that_is_not_ignored_is_untracked() {
    let make = |repo: &Repo| {
        repo.git(&["worktree", "add", "-q", "-b", "side", ".claude/worktrees/side"]);
    };
    check(&ALL, make, &[""], &[(".claude/", Untracked)]);
}

#[test]
fn the_repository_is_not_written_to() {
    let repo = Repo::seeded(RefFormat::Files);
    repo.age("a.txt", 20);
    let index = repo.root.join(".git/index");
    let before = (std::fs::read(&index).unwrap(), std::fs::metadata(&index).unwrap().modified().unwrap());
    assert_eq!(seen(&repo.root, &[""]), []);
    let after = (std::fs::read(&index).unwrap(), std::fs::metadata(&index).unwrap().modified().unwrap());
    assert_eq!(before, after);
}
