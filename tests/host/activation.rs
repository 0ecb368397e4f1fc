//! How a mode begins.

use crate::Case;
use crate::client::{Client, ClientRun, Version};
use crate::model::{Block, MAIN, Script, agent, calls, text};
use crate::project::Project;
use crate::setup::{installed_project, mode_state};
use serde_json::json;

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("a typed command activates, once for both of its events", typed),
        Case::new("an expansion alone activates", expanded),
        Case::new("the model's own call of the skill activates", called),
        Case::new("a session without a command is left alone", nothing),
    ]
}

/// How often the journal says that a mode was activated.
fn activations(project: &Project, ran: &ClientRun) -> usize {
    let journal = project.read(&format!(".claude/hooks/sessions/{}.jsonl", ran.id));
    journal.lines().filter(|line| line.contains("plan mode activated")).count()
}

fn typed(client: &Client) {
    let project = installed_project();
    let ran = client.run(&project, "/plan a login page", Script::main(vec![text("I plan.")]));
    ran.check(ran.exits("UserPromptSubmit") == [0], "the prompt reaches the hook");
    ran.check(client.version < Version(2, 1, 116) || ran.exits("UserPromptExpansion") == [0], "so does its expansion");
    ran.check(activations(&project, &ran) == 1, "the mode is activated once");
    ran.check(mode_state(&project, "plan_mode", &ran.id)["is_active"] == true, "it is active");
    ran.must_read(MAIN, "Planning Phase. Follow the planning workflow.");
    ran.check(ran.text_read_by(MAIN).matches("Planning Phase.").count() == 1, "the model reads it once");
}

/// Removes the hook entry of one event.
fn without_entry(project: &Project, event: &str) {
    let mut settings: serde_json::Value = serde_json::from_str(&project.read(".claude/settings.json")).unwrap();
    settings["hooks"].as_object_mut().unwrap().remove(event);
    project.write(".claude/settings.json", settings.to_string());
}

fn expanded(client: &Client) {
    let project = installed_project();
    without_entry(&project, "UserPromptSubmit");
    let ran = client.run(&project, "/plan a login page", Script::main(vec![text("I plan.")]));
    ran.check(ran.at("UserPromptSubmit").is_empty(), "no hook gets the prompt");
    ran.check(ran.exits("UserPromptExpansion") == [0], "a hook gets its expansion");
    ran.check(activations(&project, &ran) == 1, "the mode is activated");
    ran.must_read(MAIN, "Planning Phase. Follow the planning workflow.");
}

fn called(client: &Client) {
    let project = installed_project();
    let skill = Block::Tool("Skill", json!({"skill": "plan", "args": "a login page"}));
    let script = vec![calls(vec![skill]), calls(vec![agent("strategic-planner")]), text("I was blocked.")];
    let ran = client.run(&project, "Plan a login page.", Script::main(script));
    ran.check(ran.exits("PreToolUse:Skill") == [0], "a hook gets the call");
    ran.check(activations(&project, &ran) == 1, "the mode is activated");
    ran.check(ran.exits("PreToolUse:Agent") == [2], "its gates are active");
    ran.must_read(MAIN, "Research report not found. Call research-specialist first.");
}

fn nothing(client: &Client) {
    let project = installed_project();
    let ran = client.run(
        &project,
        "Make a plan.",
        Script::main(vec![calls(vec![agent("strategic-planner")]), text("Done.")]),
    );
    ran.check(!ran.hooks.is_empty(), "hooks are called");
    ran.check(ran.hooks.iter().all(|hook| hook.exit == 0 && hook.outcome == "success"), "nothing is blocked");
}
