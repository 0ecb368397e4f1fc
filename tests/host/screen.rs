//! What a person sees in the terminal.

use crate::Case;
use crate::client::{Client, Session};
use crate::model::{MAIN, Script, agent, background, calls, text};
use crate::setup::installed_project;

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("a block names modegate and its mode", names).in_terminal(),
        Case::new("the person sees that an agent was allowed to stop unfinished", unfinished).in_terminal(),
        Case::new("a resumed session is still in its mode", resumed).in_terminal(),
    ]
}

/// A model that calls the planner at once, and once more when it is asked again.
fn calls_planner() -> Script {
    let call = || calls(vec![agent("strategic-planner")]);
    Script::main(vec![call(), text("I was blocked."), call(), text("I was blocked again.")])
}

fn names(client: &Client) {
    let project = installed_project();
    let terminal = Session::new(&project).open(client, calls_planner());
    terminal.enter("/plan a login page");
    terminal.wait_for_text("I was blocked.");
    terminal.wait_for_text("modegate: plan ·");
    let ran = terminal.finish();
    ran.check(ran.exits("PreToolUse:Agent") == [2], "the start is blocked");
    ran.must_read(MAIN, "Research report not found. Call research-specialist first.");
}

fn unfinished(client: &Client) {
    let project = installed_project();
    project.write("project/research/research_earlier_1.md", "# Research\n");
    let call = calls(vec![background("strategic-planner")]);
    let script = Script::main(vec![call, text("It works on."), text("I see.")]);
    let terminal = Session::new(&project).open(client, script);
    terminal.enter("/plan a login page");
    terminal.wait_until("the planner is allowed to stop", |ran| ran.exits("SubagentStop") == [2, 2, 2, 0]);
    terminal.wait_for_text("modegate: plan · strategic-planner was allowed to stop");
    terminal.finish();
}

fn resumed(client: &Client) {
    let project = installed_project();
    let terminal = Session::new(&project).open(client, calls_planner());
    terminal.enter("/plan a login page");
    terminal.wait_until("the main agent stops", |ran| ran.exits("Stop") == [0]);
    let id = terminal.finish().id;
    let terminal = Session::resume(&project, &id).open(client, calls_planner());
    terminal.enter("Try again.");
    terminal.wait_for_text("I was blocked again.");
    let ran = terminal.finish();
    ran.check(ran.exits("PreToolUse:Agent") == [2, 2], "both starts are blocked");
    ran.check(ran.screen.matches("modegate: plan ·").count() >= 1, "and the person sees it");
}
