//! `cache.json`: old shapes, broken files, later versions, old sessions.

use crate::project::Project;
use serde_json::{Value, json};

fn start(session: &str) -> Value {
    json!({"hook_event_name": "PreToolUse", "session_id": session, "tool_name": "Agent", "tool_input": {"subagent_type": "strategic-planner"}})
}

fn prompt(session: &str, text: &str) -> Value {
    json!({"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt_id": "p", "prompt": text})
}

#[test]
fn a_flat_file_is_read_and_brought_into_shape() {
    let project = Project::installed();
    project.write(".claude/hooks/cache.json", json!({"plan_mode": {"is_active": true, "session_id": "abc"}, "foreign": {"x": 1}, "implement": {"current_phase": "explore"}}).to_string());
    assert_eq!(project.hook(&start("abc")).exit, 2);
    assert_eq!(project.hook(&start("other")).exit, 0);
    project.hook(&prompt("abc", "/explore"));
    let cache = project.cache();
    assert_eq!(cache["version"], 1);
    assert_eq!(cache["foreign"], json!({"x": 1}));
    assert_eq!(cache["implement"], json!({"current_phase": "explore"}));
    assert_eq!(cache["plan_mode"]["sessions"]["abc"]["is_active"], true);
    assert_eq!(project.hook(&start("abc")).exit, 2);
}

#[test]
fn a_broken_file_is_kept_aside_and_the_session_comes_from_its_journal() {
    let project = Project::installed();
    project.hook(&prompt("s", "/plan x"));
    project.hook(&json!({"hook_event_name": "Stop", "session_id": "s"}));
    project.write(".claude/hooks/cache.json", "{\"plan_mode\": {\"is_act");
    let said = project.hook(&start("s"));
    assert_eq!(said.exit, 2, "{said:?}");
    assert!(said.stdout.contains("could not be read"), "{}", said.stdout);
    let names: Vec<String> = std::fs::read_dir(project.home().join(".claude/hooks"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    let kept = names.iter().find(|name| name.starts_with("cache.broken-")).expect("the broken file");
    assert_eq!(project.read(&format!(".claude/hooks/{kept}")), "{\"plan_mode\": {\"is_act");
    assert_eq!(project.cache()["plan_mode"]["sessions"]["s"]["is_active"], true);
    assert_eq!(project.hook(&start("s")).stdout.matches("could not be read").count(), 0);
}

#[test]
fn a_file_of_a_later_version_is_never_overwritten() {
    let project = Project::installed();
    let later = json!({"version": 99, "plan_mode": {"novel": true}}).to_string();
    project.write(".claude/hooks/cache.json", &later);
    let said = project.hook(&prompt("s", "/plan x"));
    assert_eq!(said.exit, 0);
    assert!(said.stdout.contains("version 99"), "{}", said.stdout);
    assert_eq!(project.read(".claude/hooks/cache.json"), later);
    assert_eq!(project.run(&["cache", "set", "a", "b", "1"]).exit, 1);
    assert_eq!(project.read(".claude/hooks/cache.json"), later);
}

#[test]
fn old_sessions_go_when_the_file_is_written() {
    let project = Project::installed();
    let entry = |stamp: &str| json!({"is_active": true, "activated_at": stamp, "updated_at": stamp});
    let recent = modegate::facts::live::now().at;
    let cache = json!({"version": 1, "revision": 7, "plan_mode": {"sessions": {"old": entry("2020-01-01T00:00:00Z"), "new": entry(&recent)}}});
    project.write(".claude/hooks/cache.json", cache.to_string());
    project.hook(&prompt("s", "/research x"));
    let cache = project.cache();
    assert_eq!(cache["revision"], 8);
    let sessions = cache["plan_mode"]["sessions"].as_object().unwrap();
    assert!(!sessions.contains_key("old") && sessions.contains_key("new"), "{sessions:?}");
}

#[test]
fn resume_compact_and_clear_keep_a_sessions_modes() {
    let project = Project::installed();
    project.hook(&prompt("s", "/plan x"));
    for source in ["resume", "compact", "clear"] {
        let said = project.hook(&json!({"hook_event_name": "SessionStart", "session_id": "s", "source": source}));
        assert!(said.stdout.contains("active modes: plan (phase draft)"), "{}", said.stdout);
        assert_eq!(project.hook(&start("s")).exit, 2);
    }
}

#[test]
fn the_summary_tells_of_the_latest_activation() {
    let project = Project::installed();
    project.hook(&prompt("one", "/plan x"));
    std::thread::sleep(std::time::Duration::from_millis(5));
    project.hook(&prompt("two", "/plan x"));
    let cache = project.cache();
    assert_eq!((&cache["plan_mode"]["is_active"], &cache["plan_mode"]["session_id"]), (&json!(true), &json!("two")));
    assert_eq!(cache["plan_mode"]["sessions"].as_object().unwrap().len(), 2);
}

#[test]
fn losing_the_journal_changes_no_verdict() {
    let project = Project::installed();
    project.write(".claude/modegate.yaml", "journal: off\n");
    project.hook(&prompt("s", "/plan x"));
    assert_eq!(project.hook(&start("s")).exit, 2);
    assert!(!project.home().join(".claude/hooks/sessions").exists());
}
