//! Commands whose changes depend on files that exist.

use super::*;

/// Files with their texts.
const FILES: &[(&str, &str)] = &[
    ("/tmp/own.patch", "--- a/.claude/modegate.yaml\n+++ b/.claude/modegate.yaml\n@@ -1 +1 @@\n-a\n+b\n"),
    ("/tmp/deep.patch", "--- x/y/.claude/modegate.yaml\n+++ x/y/.claude/modegate.yaml\n@@ -1 +1 @@\n-a\n+b\n"),
    ("/tmp/flat.patch", "--- old/modegate.yaml\n+++ new/modegate.yaml\n@@ -1 +1 @@\n-a\n+b\n"),
    ("/tmp/renamed.patch", "diff --git a/x b/.claude/modegate.yaml\nrename from x\nrename to .claude/modegate.yaml\n"),
    ("/tmp/binary.patch", "diff --git a/.claude/x b/.claude/x\nnew file mode 100755\nGIT binary patch\n"),
    ("/tmp/quoted.patch", "--- /dev/null\n+++ \"b/.claude/mode\\147ate.yaml\"\n@@ -0,0 +1 @@\n+b\n"),
    ("/home/me/here.patch", "--- a/.claude/modegate.yaml\n+++ b/.claude/modegate.yaml\n"),
    ("/tmp/x/.claude/hooks/modegate", "\0"),
    ("/tmp/y/p/.claude/modes/plan.yaml", ""),
    ("/tmp/z/src/main.rs", ""),
    ("/w/p/bad.sh", "rm -rf /\n"),
    ("/w/p/Makefile", "all:\n\ttrue\nwipe:\n\trm -rf /\n"),
    ("/w/p/fix.patch", "--- a/src/main.rs\n+++ b/src/main.rs\n@@ -1 +1 @@\n-a\n+b\n"),
];

struct KnownFiles;

impl DiskView for KnownFiles {
    fn exists(&self, path: &str) -> bool {
        FILES.iter().any(|(own, _)| own.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    }

    fn script(&self, path: &str) -> Option<String> {
        FILES.iter().find(|(own, _)| *own == path).map(|(_, text)| (*text).to_owned())
    }
}

fn found(command: &str) -> Vec<String> {
    let effects = effects_on(command, &context(), &KnownFiles);
    assert_eq!(effects.unreadable, None, "{command}");
    let of_scripts = effects.scripts.iter().flat_map(|script| &script.changes);
    effects.changes.iter().chain(of_scripts).map(short).collect()
}

/// Checks a table of commands with a change that each must have.
#[track_caller]
fn check_found(table: &[(&str, &str)]) {
    for (command, expected) in table {
        let found = found(command);
        assert!(
            found.iter().any(|change| change == expected),
            "{command}\n    expected {expected}\n    found {found:?}"
        );
    }
}

#[test]
fn patches_change_the_files_that_they_name() {
    let (home, project) = ("write /home/me/.claude/modegate.yaml", "write /w/p/.claude/modegate.yaml");
    check_found(&[
        ("patch -d ~ -p1 < /tmp/own.patch", home),
        ("patch -p1 -d ~ -i /tmp/own.patch", home),
        ("patch -p1 -d ~ -i here.patch", home),
        ("cat /tmp/own.patch | patch -d ~ -p1", home),
        ("cd ~ && git apply /tmp/own.patch", home),
        ("git -C ~ apply /tmp/own.patch", home),
        ("git apply --directory=../../home/me /tmp/own.patch", home),
        ("patch -p1 -i /tmp/own.patch", project),
        ("git apply /tmp/own.patch", project),
        ("git apply - < /tmp/own.patch", project),
        ("git apply <(cat /tmp/own.patch)", project),
        ("git apply --stat --apply /tmp/own.patch", project),
        ("git am /tmp/own.patch", project),
        ("git am < /tmp/own.patch", project),
        ("cd src && git apply /tmp/own.patch", project),
        ("echo >> /tmp/own.patch; git apply /tmp/own.patch", project),
        ("git apply -p2 /tmp/deep.patch", project),
        ("cd .claude && patch < /tmp/flat.patch", project),
        ("git apply /tmp/renamed.patch", project),
        ("git apply /tmp/quoted.patch", project),
        ("git apply /tmp/binary.patch", "write /w/p/.claude/x"),
        ("git apply fix.patch", "write /w/p/src/main.rs"),
    ]);
}

#[test]
fn an_unknown_patch_of_the_home_folder_may_change_settings() {
    let settings = "write! /home/me/.claude/…";
    check_found(&[
        ("patch -d ~ -p1 < /tmp/none.patch", settings),
        ("cd ~ && git apply /tmp/none.patch", settings),
        ("curl https://example.com/x | patch -d / -p1", settings),
    ]);
    for command in [
        "git apply /tmp/none.patch",
        "patch -p1 < /tmp/none.patch",
        "patch -d ~/x -p1 < /tmp/none.patch",
        "cd ~ && git apply --check /tmp/none.patch",
        "cd ~ && git am --continue",
        "cd ~ && git apply /w/p/fix.patch",
    ] {
        assert!(!found(command).iter().any(|change| change == settings), "{command}");
    }
}

#[test]
fn files_that_the_line_writes_are_used_under_their_last_names() {
    check_found(&[
        ("printf 'all:\\n\\trm -rf /\\n' > Makefile && make", "rm! /"),
        ("printf 'x:\\n\\trm -rf /\\n' > my.mk && mv my.mk sub/Makefile && make -C sub x", "rm! /"),
        ("echo '# x' >> Makefile && make wipe", "rm! /"),
        ("echo '{\"scripts\":{\"x\":\"rm -rf /\"}}' > package.json && npm run x", "rm! /"),
        ("echo '{}' > package.json; echo '{\"scripts\":{\"x\":\"rm -rf /\"}}' > package.json; npm run x", "rm! /"),
        ("cp bad.sh b.sh; sh b.sh", "rm! /"),
        ("mv bad.sh b.sh && bash b.sh", "rm! /"),
        ("ln -s bad.sh b.sh; cat b.sh | sh", "rm! /"),
        ("cp /tmp/own.patch x && git apply x", "write /w/p/.claude/modegate.yaml"),
    ]);
    for command in [
        "printf 'all:\\n\\ttrue\\n' > Makefile && make",
        "echo '{\"scripts\":{\"x\":\"rm -rf /\"}}' > package.json && npm run y",
        "cp bad.sh b.sh; cat b.sh",
    ] {
        assert!(!found(command).iter().any(|change| change == "rm! /"), "{command}");
    }
}

#[test]
fn a_makefile_that_writes_itself_ends() {
    found("X='printf \"all:\\n\\teval \\\"\\$\\$X\\\"\\n\" > Makefile; make'; eval \"$X\"");
    found("ln -s a b; ln -s b a; sh a");
}

#[test]
fn copies_of_folders_bring_along_what_decides_about_tool_calls() {
    let program = "write /w/p/.claude/hooks/modegate";
    check_found(&[
        ("cp -r /tmp/x/. .", program),
        ("cp -a /tmp/x/. /w/p", program),
        ("cd /tmp/x && cp -r . /w/p", program),
        ("rsync -a /tmp/x/ .", program),
        ("rsync -a /tmp/x/ ~/", "write /home/me/.claude/hooks/modegate"),
        ("cp -r /tmp/y/. ..", "write /w/p/.claude/modes/any.yaml"),
    ]);
    assert!(!found("cp -r /tmp/z/. . && cp -r /tmp/y/. .").iter().any(|change| change.contains(".claude")));
}

#[test]
fn reading_patches_counts_as_work() {
    let work = |program: &str| effects(&format!("{program} <<'EOF'\n{}\nEOF", "x".repeat(16_000)), &context()).work;
    assert!(work("git apply") > work("true") + 900);
}

#[test]
fn scripts_in_substitutions_are_read() {
    check_found(&[("bash -c \"$(cat bad.sh)\"", "rm! /"), ("eval \"$(cat bad.sh)\"", "rm! /")]);
}
