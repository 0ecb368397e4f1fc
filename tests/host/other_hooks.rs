//! The user's own hooks next to modegate's.

use crate::Case;
use crate::client::Client;
use crate::model::{MAIN, Script, agent, calls, text};
use crate::project::Project;
use crate::setup::{empty_project, modegate};
use serde_json::{Value, json};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("the user's hooks run before, with and after modegate", log),
        Case::new("the user's allow does not override a block", allow),
        Case::new("the user's own deny still counts", refusal),
    ]
}

/// A repository with hooks of the user's.
fn owned(hooks: &Value) -> Project {
    let project = empty_project();
    project.write(".claude/settings.json", json!({"model": "sonnet", "hooks": hooks}).to_string());
    project
}

fn planner() -> Script {
    Script::main(vec![calls(vec![agent("strategic-planner")]), text("That is all.")])
}

fn log(client: &Client) {
    let note = |word: &str| json!([{"hooks": [{"type": "command", "command": format!("cat > /dev/null; echo {word} >> own.log")}]}]);
    let mut hooks = json!({"PreToolUse": note("tool"), "Stop": note("stop")});
    hooks["PreToolUse"][0]["matcher"] = "Agent|Task".into();
    let project = owned(&hooks);
    let settings = project.read(".claude/settings.json");
    let agents = "---\nname: strategic-planner\ndescription: plans\n---\nYou plan in your own way.\n";
    project.write(".claude/agents/strategic-planner.md", agents);
    project.write(".claude/commands/plan.md", "---\ndescription: plan\n---\nPlan $ARGUMENTS\n");
    let before = client.run(&project, "/plan a page", planner());
    before.check(project.read("own.log") == "tool\nstop\n", "the user's hooks run");
    modegate(&project, &["install"]);
    let beside = client.run(&project, "/plan a page", planner());
    beside.check(project.read("own.log") == "tool\nstop\n".repeat(2), "the user's hooks run with modegate");
    let mut exits = beside.exits("PreToolUse:Agent");
    exits.sort_unstable();
    beside.check(exits == [0, 2], "modegate blocks");
    modegate(&project, &["uninstall"]);
    let after = client.run(&project, "/plan a page", planner());
    after.check(project.read("own.log") == "tool\nstop\n".repeat(3), "the user's hooks still run");
    after.check(after.exits("PreToolUse:Agent") == [0], "nothing is blocked");
    assert_eq!(project.read(".claude/settings.json"), settings);
}

fn answers(answer: &Value) -> Value {
    let command = format!("cat > /dev/null; echo '{answer}'");
    json!({"PreToolUse": [{"matcher": "Agent", "hooks": [{"type": "command", "command": command}]}]})
}

fn decision(word: &str) -> Value {
    let why = "A reason of our own.";
    json!({"hookSpecificOutput":
        {"hookEventName": "PreToolUse", "permissionDecision": word, "permissionDecisionReason": why}})
}

fn allow(client: &Client) {
    let project = owned(&answers(&decision("allow")));
    modegate(&project, &["install"]);
    let ran = client.run(&project, "/plan a page", planner());
    ran.check(ran.at("SubagentStart").is_empty(), "no agent starts");
    ran.must_read(MAIN, "Research report not found. Call research-specialist first.");
}

fn refusal(client: &Client) {
    let project = owned(&answers(&decision("deny")));
    modegate(&project, &["install"]);
    project.write("project/research/research_earlier_1.md", "# Research\n");
    let ran = client.run(&project, "/plan a page", planner());
    ran.check(ran.exits("PreToolUse:Agent") == [0, 0], "modegate allows it");
    ran.check(ran.at("SubagentStart").is_empty(), "no agent starts");
    ran.must_read(MAIN, "A reason of our own.");
}
