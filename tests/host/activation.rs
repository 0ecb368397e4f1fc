//! How a mode begins.

use crate::Case;
use crate::client::{Client, Ran, Version};
use crate::model::{Block, MAIN, Script, agent, calls, says};
use crate::project::Project;
use crate::stage::{standing, wired};
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
fn activations(project: &Project, ran: &Ran) -> usize {
    let journal = project.read(&format!(".claude/hooks/sessions/{}.jsonl", ran.id));
    journal.lines().filter(|line| line.contains("plan mode activated")).count()
}

fn typed(client: &Client) {
    let project = wired();
    let ran = client.run(&project, "/plan a login page", Script::main(vec![says("I plan.")]));
    ran.must(ran.exits("UserPromptSubmit") == [0], "the prompt is heard");
    ran.must(client.version < Version(2, 1, 116) || ran.exits("UserPromptExpansion") == [0], "so is its expansion");
    ran.must(activations(&project, &ran) == 1, "the mode is activated once");
    ran.must(standing(&project, "plan_mode", &ran.id)["is_active"] == true, "it is active");
    ran.must_tell(MAIN, "Planning Phase. Follow the planning workflow.");
    ran.must(ran.heard(MAIN).matches("Planning Phase.").count() == 1, "the model is told once");
}

/// Takes modegate off one event.
fn deaf(project: &Project, event: &str) {
    let mut settings: serde_json::Value = serde_json::from_str(&project.read(".claude/settings.json")).unwrap();
    settings["hooks"].as_object_mut().unwrap().remove(event);
    project.write(".claude/settings.json", settings.to_string());
}

fn expanded(client: &Client) {
    let project = wired();
    deaf(&project, "UserPromptSubmit");
    let ran = client.run(&project, "/plan a login page", Script::main(vec![says("I plan.")]));
    ran.must(ran.at("UserPromptSubmit").is_empty(), "nobody hears the prompt");
    ran.must(ran.exits("UserPromptExpansion") == [0], "its expansion is heard");
    ran.must(activations(&project, &ran) == 1, "the mode is activated");
    ran.must_tell(MAIN, "Planning Phase. Follow the planning workflow.");
}

fn called(client: &Client) {
    let project = wired();
    let skill = Block::Tool("Skill", json!({"skill": "plan", "args": "a login page"}));
    let script = vec![calls(vec![skill]), calls(vec![agent("strategic-planner")]), says("I was refused.")];
    let ran = client.run(&project, "Plan a login page.", Script::main(script));
    ran.must(ran.exits("PreToolUse:Skill") == [0], "the call is heard");
    ran.must(activations(&project, &ran) == 1, "the mode is activated");
    ran.must(ran.exits("PreToolUse:Agent") == [2], "and its gates stand");
    ran.must_tell(MAIN, "Research report not found. Call research-specialist first.");
}

fn nothing(client: &Client) {
    let project = wired();
    let ran = client.run(
        &project,
        "Make a plan.",
        Script::main(vec![calls(vec![agent("strategic-planner")]), says("Done.")]),
    );
    ran.must(!ran.hooks.is_empty(), "hooks are called");
    ran.must(ran.hooks.iter().all(|hook| hook.exit == 0 && hook.outcome == "success"), "nothing is refused or held");
}
