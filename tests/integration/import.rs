//! `modegate modes import`: what it writes are the same gates.

use crate::project::Project;
use modegate::Catalogue;
use modegate::internals::Gate;
use modegate::internals::Location;
use serde_json::{Value, json};

fn example(name: &str) -> String {
    std::fs::read_to_string(format!("{}/fixtures/gates/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// The base's gates with this one file, each without its location.
#[track_caller]
fn gates(file: &str, text: &str) -> Vec<Gate> {
    let catalogue = Catalogue::compose(None, &[(file.to_owned(), text.to_owned())]);
    assert!(catalogue.broken.is_empty(), "{}\n{text}", catalogue.broken[0]);
    let gates = catalogue.mode("base").unwrap().gates.iter().cloned();
    gates.map(|gate| Gate { location: Location::default(), ..gate }).collect()
}

#[track_caller]
fn check(name: &str, count: usize) {
    let project = Project::new();
    project.write(name, example(name));
    let output = project.run(&["modes", "import", name]);
    assert_eq!(output.exit, 0, "{output:?}");
    let before = gates(name, &example(name));
    let after = gates("base.yaml", &output.stdout);
    let shipped = Catalogue::compose(None, &[]).mode("base").unwrap().gates.len();
    assert_eq!(before.len(), shipped + count);
    for (one, other) in before.iter().zip(&after) {
        assert_eq!(one, other, "{}", output.stdout);
    }
    assert_eq!(before.len(), after.len());
}

#[test]
fn gates_json_reads_back_as_the_same_gates() {
    check("pipeline.json", 5);
}

#[test]
fn hooks_toml_reads_back_as_the_same_gates() {
    check("hooks.toml", 5);
}

#[test]
fn a_file_without_gates_is_not_imported() {
    let project = Project::new();
    project.write("gates.json", "{\"park\": \"Tivoli\"}");
    let output = project.run(&["modes", "import", "gates.json"]);
    assert_eq!((output.exit, output.stdout.as_str()), (1, ""), "{output:?}");
    assert!(output.stderr.contains("error: `gates.json` is not a gates file\n  hint: "), "{output:?}");
}

#[test]
fn a_mistake_is_shown_with_its_location() {
    let project = Project::new();
    project.write("gates.json", "{\"gates\": {}, \"hooks\": {\"Stop\": {\"gates\": [\"x\"]}}}");
    let output = project.run(&["modes", "import", "gates.json"]);
    assert_eq!((output.exit, output.stdout.as_str()), (1, ""), "{output:?}");
    assert!(output.stderr.contains("no gate is called `x`\n  --> gates.json:1:44"), "{output:?}");
}

#[test]
fn a_missing_file_is_an_error() {
    let output = Project::new().run(&["modes", "import", "none.toml"]);
    assert!(output.exit == 1 && output.stderr.contains("error: `none.toml` does not exist"), "{output:?}");
}

/// One event of each kind that the examples are about.
fn events() -> Vec<Value> {
    let tool = |event: &str, tool: &str, input: Value| json!({"hook_event_name": event, "tool_name": tool, "tool_input": input, "tool_response": {}});
    vec![
        json!({"hook_event_name": "SessionStart", "source": "startup"}),
        json!({"hook_event_name": "UserPromptSubmit", "prompt": "hello"}),
        json!({"hook_event_name": "UserPromptSubmit", "prompt": "please test it"}),
        json!({"hook_event_name": "UserPromptSubmit"}),
        tool("PreToolUse", "Bash", json!({"command": "ls"})),
        tool("PreToolUse", "Bash", json!({"command": "sudo rm x"})),
        tool("PreToolUse", "Read", json!({"file_path": "a"})),
        tool("PostToolUse", "Edit", json!({"file_path": "a"})),
        tool("PostToolUse", "Write", json!({"file_path": "a"})),
        tool("PostToolUse", "Read", json!({"file_path": "a"})),
        json!({"hook_event_name": "SubagentStop", "agent_type": "rust-agent", "agent_id": "a1"}),
        json!({"hook_event_name": "SubagentStop", "agent_type": "other", "agent_id": "a2"}),
        json!({"hook_event_name": "Stop"}),
    ]
}

/// The replies to every event, and what the gates left on disk.
fn replies(project: &Project) -> Vec<String> {
    let send = |mut event: Value| {
        event["session_id"] = "s".into();
        event["cwd"] = project.home().to_string_lossy().into_owned().into();
        let output = project.hook(&event);
        format!("{event}: {} {} {}", output.exit, output.stdout, output.stderr)
    };
    let mut replies: Vec<String> = events().into_iter().map(send).collect();
    project.shell("touch ran.txt");
    // Gates that do not wait for each other run at the same time.
    project.shell("sort ran.txt > sorted.txt");
    replies.push(project.read("sorted.txt"));
    let home = project.home().to_string_lossy().into_owned();
    replies.into_iter().map(|reply| reply.replace(&home, "HOME")).collect()
}

/// Sends the same events through a file and through what `modes import` makes of it.
#[track_caller]
fn check_same_replies(name: &str, text: &str, blocked: usize) {
    let original = Project::installed();
    original.write(&format!(".claude/{name}"), text);
    let imported = Project::installed();
    imported.write(name, text);
    let output = imported.run(&["modes", "import", name]);
    assert_eq!(output.exit, 0, "{output:?}");
    imported.write(".claude/modes/base.yaml", &output.stdout);
    let (before, after) = (replies(&original), replies(&imported));
    assert_eq!(before, after, "{}", output.stdout);
    let count = before.iter().filter(|reply| reply.contains(": 2 ")).count();
    assert_eq!(count, blocked, "{before:#?}");
}

#[test]
fn an_imported_gates_json_replies_as_the_original() {
    check_same_replies("gates.json", &example("replies.json"), 7);
}

#[test]
fn an_imported_hooks_toml_replies_as_the_original() {
    check_same_replies("hooks.toml", &example("replies.toml"), 2);
}

#[test]
fn gates_of_a_plugin_are_below_those_of_the_project() {
    let project = Project::installed();
    let plugin = project.home().parent().unwrap().join("plugin");
    std::fs::create_dir_all(plugin.join("hooks")).unwrap();
    let defaults = json!({
        "gates": {"check": {"command": "echo placeholder; exit 1"}, "later": {"command": "echo later; exit 1"}},
        "hooks": {"UserPromptSubmit": {"gates": ["later"]}, "PostToolUse": {"gates": ["check"]}, "Stop": {"gates": ["check"]}},
    });
    std::fs::write(plugin.join("hooks/gates.json"), defaults.to_string()).unwrap();
    let reason = |event: &str| {
        let event = json!({"hook_event_name": event, "session_id": "s", "prompt": "x", "tool_name": "Edit", "tool_input": {}, "tool_response": {}});
        let mut command = project.modegate();
        command.env("CLAUDE_PLUGIN_ROOT", &plugin).arg("hook");
        crate::project::run_command(&mut command, event.to_string().as_bytes()).stderr
    };
    assert!(reason("PostToolUse").contains("placeholder"));
    let own = json!({
        "gates": {"check": {"command": "echo lint; exit 1"}, "test": {"command": "echo test; exit 1"}},
        "hooks": {"PostToolUse": {"gates": ["test"]}},
    });
    project.write(".claude/gates.json", own.to_string());
    assert!(reason("UserPromptSubmit").contains("later"), "an event of the plugin stays");
    let after = reason("PostToolUse");
    assert!(
        after.contains("test") && !after.contains("placeholder"),
        "the project's event replaces the plugin's: {after}"
    );
    assert!(reason("Stop").contains("lint"), "the project's gate replaces the plugin's");
    assert_eq!(project.hook(&json!({"hook_event_name": "Stop", "session_id": "s"})).exit, 0, "only the plugin's calls");
}

#[test]
fn a_plugin_in_the_repository_is_not_one() {
    let project = Project::installed();
    let gates = json!({"gates": {"g": {"command": "exit 1"}}, "hooks": {"Stop": {"gates": ["g"]}}});
    project.write("plugin/hooks/gates.json", gates.to_string());
    let mut command = project.modegate();
    command.env("CLAUDE_PLUGIN_ROOT", project.home().join("plugin")).arg("hook");
    let event = json!({"hook_event_name": "Stop", "session_id": "s"});
    assert_eq!(crate::project::run_command(&mut command, event.to_string().as_bytes()).exit, 0);
}

#[test]
fn a_plugin_that_the_projects_settings_name_is_not_one() {
    let project = Project::installed();
    let plugin = project.home().parent().unwrap().join("plugin");
    std::fs::create_dir_all(plugin.join("hooks")).unwrap();
    let gates = json!({"gates": {"g": {"command": "exit 1"}}, "hooks": {"Stop": {"gates": ["g"]}}});
    std::fs::write(plugin.join("hooks/gates.json"), gates.to_string()).unwrap();
    let send = || {
        let mut command = project.modegate();
        command.env("CLAUDE_PLUGIN_ROOT", &plugin).arg("hook");
        let event = json!({"hook_event_name": "Stop", "session_id": "s"});
        crate::project::run_command(&mut command, event.to_string().as_bytes()).exit
    };
    assert_eq!(send(), 2);
    project.write(".claude/settings.json", json!({"env": {"CLAUDE_PLUGIN_ROOT": plugin}}).to_string());
    assert_eq!(send(), 0);
}

#[test]
fn context_of_a_plugin_is_used_where_the_project_has_none() {
    let project = Project::installed();
    let plugin = project.home().parent().unwrap().join("plugin");
    std::fs::create_dir_all(plugin.join("context/skill")).unwrap();
    std::fs::write(plugin.join("context/prompt-submit.md"), "From the plugin.").unwrap();
    std::fs::write(plugin.join("context/skill/deploy-start.md"), "How to deploy.").unwrap();
    let context = |event: Value| {
        let mut command = project.modegate();
        command.env("CLAUDE_PLUGIN_ROOT", &plugin).arg("hook");
        crate::project::run_command(&mut command, event.to_string().as_bytes()).stdout
    };
    let prompt = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "x"});
    let skill = json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Skill", "tool_input": {"skill": "deploy"}});
    assert!(context(prompt.clone()).contains("From the plugin."));
    assert!(context(skill).contains("How to deploy."));
    project.write(".claude/context/prompt-submit.md", "From the project.");
    let both = context(prompt);
    assert!(both.contains("From the project.") && !both.contains("From the plugin."), "{both}");
}

#[test]
fn hooks_of_the_user_are_below_those_of_the_project() {
    let project = Project::installed();
    let config = project.home().parent().unwrap().join(".claude");
    std::fs::create_dir_all(&config).unwrap();
    let hook = |name: &str, text: &str| {
        format!("[[hooks]]\nevent = \"PreToolUse\"\n{name}[hooks.shell]\ncommand = \"echo {text}; exit 1\"\n")
    };
    let user = hook("", "users-unnamed") + &hook("name = \"v\"\n", "users-named");
    std::fs::write(config.join("hooks.toml"), user).unwrap();
    let read = json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Read", "tool_input": {"file_path": "a"}});
    let reason = project.hook(&read).stderr;
    assert!(reason.contains("users-unnamed") && reason.contains("users-named"), "{reason}");
    project.write(".claude/hooks.toml", hook("", "projects-unnamed") + &hook("name = \"v\"\n", "projects-named"));
    let reason = project.hook(&read).stderr;
    assert!(reason.contains("users-unnamed") && !reason.contains("users-named"), "{reason}");
    assert!(reason.contains("projects-unnamed") && reason.contains("projects-named"), "{reason}");
}
