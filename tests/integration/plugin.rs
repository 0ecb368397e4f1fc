//! The plugin: its files are what `install` would write, and its entries make way for those of settings files.

#![cfg(unix)]

use crate::project::{CommandOutput, Project, run_command};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn plugin_folder() -> PathBuf {
    Path::new(ROOT).join("plugin")
}

fn json_file(path: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(Path::new(ROOT).join(path)).unwrap()).unwrap()
}

#[test]
fn the_plugin_has_the_entries_of_install() {
    let project = Project::new();
    assert_eq!(project.run(&["install", "--client", "99.0.0"]).exit, 0);
    let settings: Value = serde_json::from_str(&project.read(".claude/settings.json")).unwrap();
    let events = |value: &Value| value["hooks"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(events(&settings), events(&json_file("plugin/hooks/hooks.json")));
}

#[test]
fn the_manifests_name_the_plugin_and_its_version() {
    let plugin = json_file("plugin/.claude-plugin/plugin.json");
    assert_eq!((&plugin["name"], &plugin["version"]), (&json!("modegate"), &json!(env!("CARGO_PKG_VERSION"))));
    let market = json_file(".claude-plugin/marketplace.json");
    let [listed] = market["plugins"].as_array().unwrap().as_slice() else { panic!("{market:#}") };
    assert_eq!((&listed["name"], &listed["description"]), (&plugin["name"], &plugin["description"]));
    let source = Path::new(ROOT).join(listed["source"].as_str().unwrap());
    assert!(source.join(".claude-plugin/plugin.json").is_file(), "{market:#}");
}

/// The folder of the program under test, for PATH.
fn program_folder() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_modegate")).parent().unwrap()
}

/// Runs the plugin's entry of an event as the host does, with `program` or without any on PATH.
fn send(project: &Project, event: &Value, program: Option<&Path>) -> CommandOutput {
    let hooks = json_file("plugin/hooks/hooks.json");
    let name = event["hook_event_name"].as_str().unwrap();
    let line = hooks["hooks"][name][0]["hooks"][0]["command"].as_str().unwrap();
    let folders = std::env::var_os("PATH").unwrap();
    let others = std::env::split_paths(&folders).filter(|folder| !folder.join("modegate").exists());
    let path = std::env::join_paths(program.map(Path::to_owned).into_iter().chain(others)).unwrap();
    let mut command = project.plain("/bin/sh");
    command.args(["-c", line]).current_dir(project.home()).env("PATH", path).env("CLAUDE_PROJECT_DIR", project.home());
    command.env("CLAUDE_PLUGIN_ROOT", plugin_folder());
    run_command(&mut command, format!("{event}\n").as_bytes())
}

fn prompt(text: &str) -> Value {
    json!({"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt_id": "p", "prompt": text})
}

fn start() -> Value {
    json!({"session_id": "s", "hook_event_name": "SessionStart", "source": "startup"})
}

/// A model that starts the planner of the plugin.
fn planner() -> Value {
    json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_use_id": "t",
        "tool_input": {"subagent_type": "modegate:strategic-planner", "prompt": "plan"}})
}

fn journal(project: &Project) -> usize {
    project.read(".claude/hooks/sessions/s.jsonl").lines().count()
}

#[test]
fn the_planner_is_blocked_through_the_plugin() {
    let project = Project::new();
    let sent = |event: &Value| send(&project, event, Some(program_folder()));
    assert_eq!(sent(&start()).stdout, "");
    assert!(!project.home().join(".claude").exists(), "a project without modegate is never written to");
    assert!(sent(&prompt("/modegate:plan a page")).stdout.contains("Plan"));
    let blocked = sent(&planner());
    assert_eq!(blocked.exit, 2, "{blocked:?}");
    assert!(blocked.stderr.contains("Research report not found."), "{blocked:?}");
}

#[test]
fn a_project_that_enables_the_plugin_is_gated_from_its_first_session() {
    let project = Project::new();
    project.write(".claude/settings.json", r#"{"enabledPlugins": {"modegate@modegate": true}}"#);
    assert_eq!(send(&project, &start(), Some(program_folder())).exit, 0);
    assert!(project.home().join(".claude/hooks/.gitignore").is_file());
}

#[test]
fn without_a_program_the_person_is_told_once_and_nothing_is_blocked() {
    let project = Project::new();
    let silent = CommandOutput { exit: 0, stdout: String::new(), stderr: String::new() };
    let message = send(&project, &start(), None).json()["systemMessage"].as_str().unwrap().to_owned();
    assert!(
        message.starts_with("modegate is not on PATH") && message.contains("`npm install -g modegate`"),
        "{message}"
    );
    let mut resumed = start();
    resumed["source"] = "resume".into();
    for event in [resumed, prompt("/modegate:plan"), planner()] {
        assert_eq!(send(&project, &event, None), silent, "{event}");
    }
    // State without a program does not block either: the plugin may be another person's choice.
    project.write(".claude/hooks/cache.json", "{}");
    project.write(".claude/hooks/cache.lock", "");
    assert_eq!(send(&project, &planner(), None), silent);
    // The entries of the project say it themselves.
    assert_eq!(project.run(&["install", "--path"]).exit, 0);
    assert_eq!(send(&project, &start(), None), silent);
}

#[test]
fn a_program_of_the_project_is_not_run() {
    let project = Project::new();
    for path in [".claude/hooks/modegate", "node_modules/.bin/modegate", ".venv/bin/modegate", "modegate"] {
        project.write(path, "#!/bin/sh\necho ran\n");
        project.shell(&format!("chmod +x {path}"));
    }
    assert_eq!(send(&project, &planner(), None).stdout, "");
}

#[test]
fn where_settings_have_entries_too_exactly_one_decides() {
    let project = Project::new();
    assert_eq!(project.run(&["install"]).exit, 0);
    let silent = CommandOutput { exit: 0, stdout: String::new(), stderr: String::new() };
    let sent = |event: &Value| send(&project, event, Some(program_folder()));
    assert_eq!(sent(&prompt("/plan a page")), silent);
    assert_eq!(journal(&project), 0);
    project.hook(&prompt("/plan a page"));
    assert_eq!((project.hook(&planner()).exit, journal(&project)), (2, 2));
    assert_eq!((sent(&planner()), journal(&project)), (silent.clone(), 2));
    // In the settings of one person, too.
    assert_eq!(project.run(&["uninstall"]).exit, 0);
    assert_eq!((sent(&planner()).exit, journal(&project)), (2, 3));
    for scope in ["--local", "--user"] {
        assert_eq!(project.run(&["install", scope]).exit, 0);
        assert_eq!(sent(&planner()), silent, "{scope}");
        assert_eq!(project.run(&["uninstall", scope]).exit, 0);
    }
    // Settings that the host ignores have no entries.
    project.write(".claude/settings.json", "{ // comment\n \"hooks\": {} }");
    assert_eq!(sent(&planner()).exit, 2);
}

#[test]
fn doctor_names_the_entries_that_decide() {
    let project = Project::new();
    project.git(&["init", "-q"]);
    let user = project.home().parent().unwrap().join(".claude");
    fs::create_dir_all(user.join("plugins")).unwrap();
    let list =
        json!({"version": 2, "plugins": {"modegate@modegate": [{"scope": "user", "installPath": plugin_folder()}]}});
    fs::write(user.join("plugins/installed_plugins.json"), list.to_string()).unwrap();
    fs::write(user.join("settings.json"), r#"{"enabledPlugins": {"modegate@modegate": true}}"#).unwrap();
    let examined = |words: &[&str]| {
        let path = std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect::<Vec<_>>();
        let path = std::env::join_paths([program_folder().to_owned()].into_iter().chain(path)).unwrap();
        run_command(project.modegate().env("PATH", path).args(["doctor"]).args(words), b"")
    };
    let alone = examined(&[]);
    assert_eq!(alone.exit, 0, "{}", alone.stdout);
    assert!(alone.stdout.contains("plugin/hooks/hooks.json"), "{}", alone.stdout);
    assert!(!alone.stdout.contains("stay silent"), "{}", alone.stdout);
    assert_eq!(project.run(&["install"]).exit, 0);
    let both = examined(&["--live"]);
    assert_eq!(both.exit, 0, "{}", both.stdout);
    assert!(both.stdout.contains("stay silent: those of .claude/settings.json decide"), "{}", both.stdout);
}
