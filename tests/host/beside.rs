//! The user's own hooks beside modegate's.

use crate::Case;
use crate::client::Client;
use crate::model::{MAIN, Script, agent, calls, says};
use crate::project::Project;
use crate::stage::{modegate, plain};
use serde_json::{Value, json};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("the user's hooks run before, beside and after modegate", log),
        Case::new("the user's allow does not open what modegate refuses", allow),
        Case::new("the user's refusal stands where modegate has nothing to say", refusal),
    ]
}

/// A repository with hooks of the user's.
fn owned(hooks: &Value) -> Project {
    let project = plain();
    project.write(".claude/settings.json", json!({"model": "sonnet", "hooks": hooks}).to_string());
    project
}

fn planner() -> Script {
    Script::main(vec![calls(vec![agent("strategic-planner")]), says("That is all.")])
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
    before.must(project.read("own.log") == "tool\nstop\n", "the user's hooks run");
    modegate(&project, &["install"]);
    let beside = client.run(&project, "/plan a page", planner());
    beside.must(project.read("own.log") == "tool\nstop\n".repeat(2), "the user's hooks run beside modegate");
    let mut exits = beside.exits("PreToolUse:Agent");
    exits.sort_unstable();
    beside.must(exits == [0, 2], "and modegate refuses");
    modegate(&project, &["uninstall"]);
    let after = client.run(&project, "/plan a page", planner());
    after.must(project.read("own.log") == "tool\nstop\n".repeat(3), "the user's hooks run on");
    after.must(after.exits("PreToolUse:Agent") == [0], "and nothing is refused");
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
    ran.must(ran.at("SubagentStart").is_empty(), "no agent starts");
    ran.must_tell(MAIN, "Research report not found. Call research-specialist first.");
}

fn refusal(client: &Client) {
    let project = owned(&answers(&decision("deny")));
    modegate(&project, &["install"]);
    project.write("project/research/research_earlier_1.md", "# Research\n");
    let ran = client.run(&project, "/plan a page", planner());
    ran.must(ran.exits("PreToolUse:Agent") == [0, 0], "modegate has nothing against it");
    ran.must(ran.at("SubagentStart").is_empty(), "no agent starts");
    ran.must_tell(MAIN, "A reason of our own.");
}
