//! Forked conversations: a new session, which goes on with the modes of its parent.

use crate::case::Case;
use crate::client::{Client, ClientRun, Session, Version};
use crate::model::{MAIN, Script, agent, calls, shell, text};
use crate::project::Project;
use crate::setup::{installed_project, mode_state};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("a fork is blocked as its parent was", resumed),
        Case::new("a fork of the latest session is blocked at its first tool call", continued),
        Case::new("forks of one session and of a fork have the right parent", family),
        Case::new("what the parent wrote counts in a fork", evidence),
        Case::new("a branch is in its parent's mode", branch)
            .in_terminal()
            .since(Version(2, 1, 196), "nothing in the event of `/branch` tells it from `--resume`"),
        Case::new("a fork in the background is in its parent's mode", background)
            .in_terminal()
            .since(Version(2, 1, 250), "`/fork` starts an agent of the same session"),
    ]
}

/// A model that calls the planner at once, and again in each later session.
fn calls_planner() -> Script {
    let turn = |_| [calls(vec![agent("strategic-planner")]), calls(vec![shell("ls")]), text("I have tried.")];
    Script::main((0..4).flat_map(turn).collect()).agent("strategic-planner", vec![text("The plan is made.")])
}

/// A session in plan mode, whose planner was blocked.
#[track_caller]
fn parent(client: &Client, project: &Project) -> String {
    let ran = Session::new(project).run(client, "/plan a login page", calls_planner());
    ran.check(ran.exits("PreToolUse:Agent") == [2], "the planner is blocked");
    ran.id
}

#[track_caller]
fn fork(client: &Client, project: &Project, arguments: &[&str]) -> ClientRun {
    Session::new(project).arguments(arguments).arguments(&["--fork-session"]).run(client, "Go on.", calls_planner())
}

fn parent_of(project: &Project, session: &str) -> String {
    let parents = &mode_state(project, "base_mode", session)["forked_from"];
    parents[0].as_str().unwrap_or_default().to_owned()
}

fn resumed(client: &Client) {
    let project = installed_project();
    let parent = parent(client, &project);
    let ran = fork(client, &project, &["--resume", &parent]);
    ran.check(ran.id != parent && parent_of(&project, &ran.id) == parent, "the parent is known");
    ran.check(ran.exits("PreToolUse:Agent") == [2], "the planner is blocked in the fork too");
    ran.must_read(
        MAIN,
        &format!("this session was forked from {parent}, so plan mode (phase draft) is active here too"),
    );
}

fn continued(client: &Client) {
    let project = installed_project();
    let parent = parent(client, &project);
    let ran = fork(client, &project, &["--continue"]);
    ran.check(parent_of(&project, &ran.id) == parent, "the parent is known");
    ran.check(ran.exits("PreToolUse:Agent") == [2], "the planner is blocked in the fork too");
}

fn family(client: &Client) {
    let project = installed_project();
    let parent = parent(client, &project);
    let first = fork(client, &project, &["--resume", &parent]);
    let second = fork(client, &project, &["--resume", &parent]);
    // The latest session is the second fork.
    let third = fork(client, &project, &["--continue"]);
    let parents = [&first, &second, &third].map(|ran| parent_of(&project, &ran.id));
    third.check(parents == [parent.clone(), parent, second.id], &format!("the parents are {parents:?}"));
    third.check(third.exits("PreToolUse:Agent") == [2], "the planner is blocked in the last one too");
}

fn evidence(client: &Client) {
    let project = installed_project();
    let parent = parent(client, &project);
    project.write(&format!("project/research/research_{parent}_1.md"), "# Research\n");
    let ran = fork(client, &project, &["--resume", &parent]);
    ran.check(ran.exits("PreToolUse:Agent") == [0], "the planner may start");
    let own = format!("project/plans/plan_{}_", ran.id);
    ran.must_read("strategic-planner", &own);
}

fn branch(client: &Client) {
    let project = installed_project();
    let terminal = Session::new(&project).open(client, calls_planner());
    terminal.enter("/plan a login page");
    terminal.wait_until("the main agent stops", |ran| ran.exits("Stop") == [0]);
    terminal.enter("/branch elsewhere");
    terminal.wait_for_text("so plan mode (phase draft) is active here too");
    terminal.enter("Go on.");
    terminal.wait_until("the branch stops", |ran| ran.exits("Stop") == [0, 0]);
    let ran = terminal.finish();
    ran.check(ran.exits("PreToolUse:Agent") == [2, 2], "both starts are blocked");
    ran.must_read(MAIN, "this session was forked from");
}

fn background(client: &Client) {
    let project = installed_project();
    let terminal = Session::new(&project).open(client, calls_planner()).with_background_sessions(client);
    terminal.enter("/plan a login page");
    terminal.wait_until("the main agent stops", |ran| ran.exits("Stop") == [0]);
    terminal.enter("/fork go on");
    terminal.wait_until("the fork stops", |ran| ran.exits("Stop") == [0, 0]);
    let ran = terminal.finish();
    ran.check(ran.exits("PreToolUse:Agent") == [2, 2], "both starts are blocked");
    ran.must_read(MAIN, "this session was forked from");
}
