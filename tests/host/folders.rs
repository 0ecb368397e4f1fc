//! Where a session is started: a colleague's clone, a worktree, a folder below the root.

use crate::Case;
use crate::client::{Client, ClientRun, Session, Version};
use crate::model::{MAIN, Script, agent, calls, shell, text};
use crate::project::Project;
use crate::setup::{empty_project, installed_project, modegate, must_be_gated, planner};
use serde_json::Value;
use std::path::{Path, PathBuf};

pub(super) fn cases() -> Vec<Case> {
    let root = "local settings of the repository are not read in its subfolders";
    vec![
        Case::new("a colleague without modegate can work and sees one message", colleague_without),
        Case::new("a colleague with modegate on PATH is gated", colleague_with),
        Case::new("a linked worktree is gated, with state in the main checkout", linked_worktree),
        Case::new("a worktree of the client is gated", client_worktree),
        Case::new("a worktree of the client with the copied program is gated", copied_program),
        Case::new("a worktree of the client with linked folders is gated", linked_folders),
        Case::new("a folder below the root is not gated and doctor says so", below_the_root),
        Case::new("a folder below the root has the state of the project after install --local", local_below_the_root)
            .since(Version(2, 1, 211), root),
        Case::new("a linked worktree is gated after install --local", local_worktree).since(Version(2, 1, 211), root),
    ]
}

/// The state of a checkout, if it has one of its own.
fn state_of(folder: &Path) -> Option<Value> {
    serde_json::from_slice(&std::fs::read(folder.join(".claude/hooks/cache.json")).ok()?).ok()
}

#[track_caller]
fn must_have_state(project: &Project, other: &Path) {
    assert_eq!(state_of(&project.home()).expect("a state")["plan_mode"]["is_active"], true);
    assert_eq!(state_of(other), None, "{}", other.display());
}

fn clone(project: &Project) -> PathBuf {
    project.git(&["clone", "-q", ".", "../clone"]);
    project.home().parent().unwrap().join("clone")
}

/// The first entry that says something to the person, as the client reports it.
fn messages(ran: &ClientRun) -> Vec<String> {
    let read = |text: &String| serde_json::from_str::<Value>(text).ok()?["systemMessage"].as_str().map(str::to_owned);
    ran.hooks.iter().map(|hook| hook.stdout.clone()).filter_map(|text| read(&text)).collect()
}

fn colleague_without(client: &Client) {
    let project = installed_project();
    std::fs::remove_dir_all(project.user().join(".local/state/modegate/bin")).unwrap();
    let clone = clone(&project);
    // Large inputs, which nobody reads.
    let large = format!("echo it works # {}", "x".repeat(300_000));
    let script = vec![calls(vec![shell(&large)]), calls(vec![agent("strategic-planner")]), text("Done.")];
    let ran = Session::new(&project).within("../clone").run(client, "/plan a page", Script::main(script));
    ran.check(ran.hooks.iter().all(|hook| hook.exit == 0 && hook.outcome == "success"), "no hook fails");
    ran.check(ran.hooks.iter().all(|hook| hook.stderr.is_empty()), "and none complains");
    ran.must_read(MAIN, "it works");
    ran.check(!ran.at("SubagentStart").is_empty() && ran.exit == Some(0), "everything goes on");
    let messages = messages(&ran);
    ran.check(messages.len() == 1 && messages[0].starts_with("modegate is not installed here"), "one message");
    let files = std::fs::read_dir(clone.join(".claude/hooks")).unwrap().count();
    assert_eq!(files, 1, "nothing is written next to the script");
}

fn colleague_with(client: &Client) {
    let project = installed_project();
    let clone = clone(&project);
    project.shell("mkdir -p ../bin && cp .claude/hooks/modegate ../bin/");
    let session = Session::new(&project).within("../clone").on_path("../bin");
    must_be_gated(&session.run(client, "/plan a page", planner()));
    assert_eq!(state_of(&clone).expect("a state")["plan_mode"]["is_active"], true);
    let mut git = project.plain("git");
    let listed = git.current_dir(&clone).args(["status", "--porcelain", "-uall"]).output().unwrap();
    assert!(listed.stdout.is_empty(), "{listed:?}");
}

fn linked_worktree(client: &Client) {
    let project = installed_project();
    project.git(&["worktree", "add", "-q", "-b", "other", "../tree"]);
    let tree = project.home().parent().unwrap().join("tree");
    must_be_gated(&Session::new(&project).within("../tree").run(client, "/plan a page", planner()));
    must_have_state(&project, &tree);
    project.write("../tree/project/research/research_x_1.md", "found here");
    let ran = Session::new(&project).within("../tree").run(client, "/plan a page", planner());
    ran.check(ran.exits("PreToolUse:Agent") == [0], "evidence in the worktree counts");
}

/// A session in a worktree that the client makes.
fn in_client_worktree(client: &Client, project: &Project) -> PathBuf {
    let session = Session::new(project).arguments(&["--worktree", "feature"]);
    must_be_gated(&session.run(client, "/plan a page", planner()));
    let trees = std::fs::read_dir(project.home().join(".claude/worktrees")).unwrap();
    trees.map(|entry| entry.unwrap().path()).next().expect("a worktree")
}

fn client_worktree(client: &Client) {
    let project = installed_project();
    let tree = in_client_worktree(client, &project);
    must_have_state(&project, &tree);
}

fn copied_program(client: &Client) {
    let project = installed_project();
    project.write(".worktreeinclude", ".claude/hooks/modegate\n");
    let tree = in_client_worktree(client, &project);
    assert!(tree.join(".claude/hooks/modegate").exists(), "the client copies it");
    must_have_state(&project, &tree);
}

fn linked_folders(client: &Client) {
    let project = installed_project();
    let links = r#"{"worktree": {"symlinkDirectories": [".claude/hooks"]}}"#;
    project.write(".claude/settings.local.json", links);
    let tree = in_client_worktree(client, &project);
    assert!(!tree.join(".claude/hooks").is_symlink(), "the committed script is there, so the client links nothing");
    assert_eq!(state_of(&project.home()).expect("a state")["plan_mode"]["is_active"], true);
}

fn below_the_root(client: &Client) {
    let project = installed_project();
    project.write("docs/file", "");
    let ran = Session::new(&project).within("docs").run(client, "/plan a page", planner());
    ran.check(ran.hooks.is_empty(), "no hook runs");
    let mut doctor = project.modegate();
    doctor.env_remove("CLAUDE_PROJECT_DIR").current_dir(project.home().join("docs")).arg("doctor");
    let output = crate::project::run_command(&mut doctor, b"");
    assert_eq!(output.exit, 1, "{output:?}");
    assert!(output.stdout.contains("sessions started in `docs` are not gated"), "{output:?}");
}

fn local_worktree(client: &Client) {
    let project = empty_project();
    modegate(&project, &["install", "--local"]);
    project.git(&["add", ".claude/commands", ".claude/agents"]);
    project.git(&["commit", "-q", "-m", "workflow"]);
    project.git(&["worktree", "add", "-q", "-b", "other", "../tree"]);
    must_be_gated(&Session::new(&project).within("../tree").run(client, "/plan a page", planner()));
    let tree = project.home().parent().unwrap().join("tree");
    must_have_state(&project, &tree);
    let mut doctor = project.modegate();
    let doctor = doctor.env_remove("CLAUDE_PROJECT_DIR").current_dir(&tree).args(["doctor", "--live"]);
    let output = crate::project::run_command(doctor, b"");
    assert_eq!(output.exit, 0, "{output:?}");
}

fn local_below_the_root(client: &Client) {
    let project = installed_project();
    modegate(&project, &["install", "--local"]);
    project.write("docs/file", "");
    must_be_gated(&Session::new(&project).within("docs").run(client, "/plan a page", planner()));
    must_have_state(&project, &project.home().join("docs"));
    // Equal entries in both settings files run once.
    must_be_gated(&client.run(&project, "/plan a page", planner()));
}
