//! Starts that are blocked.

use crate::Case;
use crate::client::{Client, Version};
use crate::model::{MAIN, Script, agent, calls, text};
use crate::setup::installed_project;

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("the planner is blocked without research", planner_without_research),
        Case::new("a review is blocked on uncommitted code", review_of_uncommitted_code),
        Case::new("a reviewer on uncommitted code gets a warning outside the mode too", reviewer_without_the_mode),
    ]
}

fn planner_without_research(client: &Client) {
    let project = installed_project();
    let script = Script::main(vec![calls(vec![agent("strategic-planner")]), text("I was blocked.")]);
    let ran = client.run(&project, "/plan a login page", script);
    ran.check(ran.exit == Some(0), "the client continues");
    ran.check(ran.exits("PreToolUse:Agent") == [2], "the start is blocked");
    ran.check(ran.at("SubagentStart").is_empty(), "no subagent started");
    ran.must_read(MAIN, "Research report not found. Call research-specialist first.");
}

fn review_of_uncommitted_code(client: &Client) {
    let project = installed_project();
    project.write("src/main.rs", "fn main() {}\n");
    let ran = client.run(&project, "/code-review", Script::default());
    // Which of the two events of a command comes first depends on the client; after a block the other one is not sent.
    let blocked: Vec<_> = ran.at("UserPromptSubmit").into_iter().chain(ran.at("UserPromptExpansion")).collect();
    ran.check(blocked.len() == 1 && blocked[0].exit == 2, "the command is blocked");
    ran.check(ran.asked(MAIN).is_empty(), "the model is never asked");
    let shown = if client.version <= Version(2, 1, 145) { ran.prompt_block() } else { &ran.result() };
    ran.check(shown.contains("Code not committed. Complete coding first."), "the person reads why");
    ran.check(project.cache()["code_review_mode"].is_null(), "no mode is active");
}

fn reviewer_without_the_mode(client: &Client) {
    let project = installed_project();
    project.write(".claude/hooks/.gitkeep", "");
    project.write("src/main.rs", "fn main() {}\n");
    let turns = || Script::main(vec![calls(vec![agent("code-reviewer")]), text("That is all.")]);
    let ran = client.run(&project, "Please have the code reviewed.", turns());
    ran.check(ran.exits("PreToolUse:Agent") == [0], "the start is allowed");
    ran.must_read(MAIN, "Code not committed.");
    project.write(".claude/modegate.yaml", "levels: { code-is-committed-before-review: enforce }\n");
    let ran = client.run(&project, "Please have the code reviewed.", turns());
    ran.check(ran.exits("PreToolUse:Agent") == [2], "a project can insist");
    ran.must_read(MAIN, "Code not committed.");
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "code"]);
    let ran = client.run(&project, "Please have the code reviewed.", turns());
    ran.check(ran.exits("PreToolUse:Agent") == [0], "a clean tree opens the start");
    ran.check(ran.exits("SubagentStop") == [0], "without the mode no stop is gated");
}
