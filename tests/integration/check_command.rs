//! `modegate check`: what gates ask, for hooks and scripts of the user.

use crate::project::{CommandOutput, Project, run_command};
use serde_json::json;

fn project() -> Project {
    let project = Project::installed();
    project.git(&["init", "-q", "-b", "main"]);
    project.write("docs/plan.md", "---\nconsulted_by: consulting-expert\nround: 3\n---\n# Plan\n");
    project.write("Makefile", "all:\n");
    project
}

#[track_caller]
fn check(project: &Project, words: &[&str], exit: i32, sentence: &str) {
    compare(&project.run(&[&["check"], words].concat()), words, exit, sentence);
}

/// A result is printed; anything else goes to standard error, so that `$(…)` does not hide it.
#[track_caller]
fn compare(output: &CommandOutput, words: &[&str], exit: i32, sentence: &str) {
    let (shown, other) = if exit == 0 { (&output.stdout, &output.stderr) } else { (&output.stderr, &output.stdout) };
    assert_eq!((output.exit, shown.trim_end(), other.as_str()), (exit, sentence, ""), "{words:?}");
}

#[test]
fn a_file_is_found_by_path_and_glob() {
    let project = project();
    check(&project, &["file", "docs/plan.md"], 0, "`docs/plan.md` exists.");
    check(&project, &["file", "docs/*.md", "Makefile"], 0, "`docs/plan.md` exists, and `Makefile` exists.");
    check(&project, &["file", "docs/plan_a.md"], 1, "No file matches docs/plan_a.md; write docs/plan_a.md.");
    let small = "`docs/plan.md` has 56 bytes, needs 200 characters; write docs/plan.md.";
    check(&project, &["file", "docs/*.md", "--min-chars", "200"], 1, small);
    check(&project, &["file", "/etc/passwd"], 64, "error: `/etc/passwd` leaves the project");
}

#[test]
fn paths_are_relative_to_the_current_folder() {
    let project = project();
    let mut inside = project.modegate();
    inside.current_dir(project.home().join("docs")).env_remove("CLAUDE_PROJECT_DIR");
    let words = ["check", "file", "plan.md", "../Makefile"];
    let output = run_command(inside.args(words), b"");
    compare(&output, &words, 0, "`docs/plan.md` exists, and `Makefile` exists.");
}

#[test]
fn frontmatter_is_compared_by_type() {
    let project = project();
    let says = "`docs/plan.md` says `consulted_by: consulting-expert`, `round: 3`.";
    check(&project, &["frontmatter", "docs/plan.md", "consulted_by=consulting-expert", "round=3"], 0, says);
    let output = project.run(&["check", "frontmatter", "docs/plan.md", "round=\"3\""]);
    assert_eq!(output.exit, 1, "{output:?}");
    check(
        &project,
        &["frontmatter", "docs/plan.md", "round"],
        64,
        "error: `round` is not KEY=VALUE\n  hint: for example `consulted_by=consulting-expert`",
    );
}

#[test]
fn commits_and_changes_are_those_of_git() {
    let project = project();
    let untracked = "`docs/plan.md` is untracked; commit docs/plan.md.";
    check(&project, &["committed", "docs/plan.md"], 1, untracked);
    let changes = "Uncommitted under docs: docs/ (untracked); commit these changes.";
    check(&project, &["clean", "docs"], 1, changes);
    project.git(&["add", "-A"]);
    project.git(&["commit", "-qm", "x"]);
    check(&project, &["committed", "docs/plan.md"], 0, "`docs/plan.md` is committed.");
    check(&project, &["clean"], 0, "Nothing is uncommitted in the project.");
    project.write("docs/b.md", "b");
    check(&project, &["clean", ".", "!docs"], 0, "Nothing is uncommitted in the project.");
    check(&project, &["clean", "docs", "--quiet"], 1, "");
}

#[test]
fn the_folder_of_the_milestone_is_printed() {
    let project = project();
    let none = "No milestone is current; write `project/status.json` with `current_milestone`.";
    check(&project, &["milestone"], 1, none);
    project.write("project/status.json", r#"{"current_milestone": "MS-001", "milestone_description": "Login"}"#);
    let printed = project.run(&["check", "milestone"]);
    assert_eq!((printed.exit, printed.stdout.trim_end()), (0, "project/MS-001_Login"), "{printed:?}");
    project.write("project/status.json", "{");
    assert_eq!(project.run(&["check", "milestone"]).exit, 3);
}

#[test]
fn a_check_can_be_given_as_in_a_mode_file() {
    let project = project();
    let passes = "{ any: [{ file: nothing.md }, { text: { of: docs/plan.md, contains: '# Plan' } }] }";
    assert_eq!(project.run(&["check", "yaml", passes]).exit, 0);
    check(&project, &["yaml", "{ branch: release }"], 1, "The branch is `main`, not `release`.");
    let output = project.run(&["check", "yaml", "{ file: nothing.md }", "--json"]);
    let outcome = json!({"truth": "fails", "saw": "no file matches nothing.md", "remedy": "write nothing.md"});
    assert_eq!((output.exit, output.json()), (1, outcome));
}

/// Base rules do not see what such a check would run.
#[test]
fn a_check_runs_nothing_and_is_about_no_event() {
    let project = project();
    for yaml in ["{ run: touch x }", "{ http: https://example.com }", "{ not: { run: touch x } }", "{ tool: Bash }"] {
        let output = project.run(&["check", "yaml", yaml]);
        assert_eq!(output.exit, 64, "{yaml} {output:?}");
    }
    assert!(!project.home().join("x").exists());
    for yaml in ["{", "file", "{ fille: x }", "{ file: plan }"] {
        assert_eq!(project.run(&["check", "yaml", yaml]).exit, 64, "{yaml}");
    }
}

#[test]
fn what_cannot_be_known_has_an_exit_code_of_its_own() {
    let project = Project::installed();
    project.write("a.md", "a");
    for words in [&["clean"][..], &["committed", "a.md"], &["yaml", "{ branch: main }"]] {
        let output = project.run(&[&["check"], words].concat());
        assert_eq!(output.exit, 3, "{words:?} {output:?}");
        assert!(output.stderr.starts_with("Cannot tell: "), "{output:?}");
    }
}

#[test]
fn a_modes_artifacts_and_a_session_can_be_named() {
    let project = project();
    project.write("project/plans/plan_s1_111626.md", "plan");
    let event = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": "/plan x",
        "cwd": project.home()});
    project.hook(&event);
    for words in [&["file", "plan", "--mode", "plan"][..], &["file", "plan", "--mode", "plan", "--session", "s1"]] {
        check(&project, words, 0, "`project/plans/plan_s1_111626.md` exists.");
    }
    let unknown =
        "error: unknown mode `plam`, did you mean `plan`?\n  hint: run `modegate modes list` to see all modes";
    check(&project, &["file", "plan", "--mode", "plam"], 64, unknown);
}
