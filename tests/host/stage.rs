//! Projects for a real session: a git repository whose path has a space and a letter outside ASCII.

use crate::project::Project;
use serde_json::{Value, json};

/// The events that modegate listens to.
const EVENTS: [&str; 9] = [
    "SessionStart",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "SubagentStart",
    "SubagentStop",
    "Stop",
];

/// A repository with one commit, without modegate.
pub fn plain() -> Project {
    let project = Project::new();
    project.git(&["init", "-q", "-b", "main", "."]);
    project.git(&["commit", "-q", "--allow-empty", "-m", "begin"]);
    project
}

/// A repository with modegate wired up, all of it committed.
pub fn wired() -> Project {
    let project = plain();
    install(&project);
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "modegate"]);
    project
}

/// Wires modegate up.
pub fn install(project: &Project) {
    let hook = json!({"type": "command", "command": env!("CARGO_BIN_EXE_modegate"), "args": ["hook"], "timeout": 75});
    let mut settings: Value = serde_json::from_str(&project.read(".claude/settings.json")).unwrap_or(json!({}));
    for event in EVENTS {
        let list = settings["hooks"][event].as_array().cloned().unwrap_or_default();
        settings["hooks"][event] = list.into_iter().chain([json!({"hooks": [hook]})]).collect();
    }
    project.write(".claude/settings.json", settings.to_string());
    for name in ["explore", "research", "plan", "code", "code-review", "implement"] {
        project.write(
            &format!(".claude/commands/{name}.md"),
            format!("---\ndescription: {name}\n---\n{name} $ARGUMENTS\n"),
        );
    }
    for name in
        ["research-specialist", "research-consultant", "strategic-planner", "consulting-expert", "code-reviewer"]
    {
        project.write(
            &format!(".claude/agents/{name}.md"),
            format!("---\nname: {name}\ndescription: {name}\n---\nYou are the {name} here.\n"),
        );
    }
}

/// Takes modegate out again.
pub fn uninstall(project: &Project) {
    let mut settings: Value = serde_json::from_str(&project.read(".claude/settings.json")).unwrap_or(json!({}));
    let hooks = settings["hooks"].as_object_mut().unwrap();
    for list in hooks.values_mut() {
        list.as_array_mut().unwrap().retain(|entry| entry["hooks"][0]["args"] != json!(["hook"]));
    }
    hooks.retain(|_, list| list.as_array().is_some_and(|list| !list.is_empty()));
    project.write(".claude/settings.json", settings.to_string());
}

/// How a session stands in a mode.
pub fn standing(project: &Project, namespace: &str, session: &str) -> Value {
    project.cache()[namespace]["sessions"][session].clone()
}
