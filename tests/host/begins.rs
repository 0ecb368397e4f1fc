//! Ways in which a conversation goes on, or does not; forks are in `forks`.

use crate::case::Case;
use crate::client::{Client, Session};
use crate::model::{MAIN, Script, agent, calls, text};
use crate::project::Project;
use crate::setup::{installed_project, mode_state};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("a session starts without a mode", started),
        Case::new("a continued session is still in its mode", continued),
        Case::new("a compacted session is still in its mode", compacted),
        Case::new("a cleared conversation is a session without a mode", cleared),
    ]
}

/// A model that calls the planner at once, and again in each later run.
fn calls_planner() -> Script {
    let turn = |_| [calls(vec![agent("strategic-planner")]), text("I have called the planner.")];
    Script::main((0..3).flat_map(turn).collect()).agent("strategic-planner", vec![text("The plan is made.")])
}

/// A session in plan mode, whose planner was blocked.
#[track_caller]
fn planning(client: &Client, project: &Project) -> String {
    let ran = Session::new(project).run(client, "/plan a login page", calls_planner());
    ran.check(ran.exits("PreToolUse:Agent") == [2], "the planner is blocked");
    ran.id
}

fn started(client: &Client) {
    let project = installed_project();
    planning(client, &project);
    let ran = Session::new(&project).run(client, "Call the planner.", calls_planner());
    ran.check(ran.exits("PreToolUse:Agent") == [0], "the planner may start in another session");
    ran.must_read(MAIN, "active modes: none");
}

fn continued(client: &Client) {
    let project = installed_project();
    let id = planning(client, &project);
    let ran = Session::resume(&project, &id).arguments(&["--continue"]).run(client, "Go on.", calls_planner());
    ran.check(ran.exits("PreToolUse:Agent") == [2], "the planner is blocked again");
    ran.must_read(MAIN, &format!("session {id}"));
}

fn compacted(client: &Client) {
    let project = installed_project();
    let id = planning(client, &project);
    let ran = Session::resume(&project, &id).run(client, "/compact", calls_planner());
    let said = ran.at("SessionStart").iter().any(|hook| hook.stdout.contains("active modes: plan (phase draft)"));
    ran.check(said, "the model reads the mode again");
    ran.check(mode_state(&project, "plan_mode", &id)["is_active"] == true, "the mode is still active");
}

fn cleared(client: &Client) {
    let project = installed_project();
    let id = planning(client, &project);
    let ran = Session::resume(&project, &id).run(client, "/clear", calls_planner());
    let said = ran.at("SessionStart").iter().any(|hook| hook.stdout.contains("/clear started a new session"));
    ran.check(said, "the model reads that the modes are gone");
    ran.check(mode_state(&project, "plan_mode", &id)["is_active"] == true, "the old session keeps them");
}
