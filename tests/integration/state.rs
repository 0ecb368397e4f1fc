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
fn a_flat_state_file_is_read_and_converted() {
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
fn a_broken_state_file_is_kept_and_the_session_is_rebuilt_from_its_journal() {
    let project = Project::installed();
    project.hook(&prompt("s", "/plan x"));
    project.hook(&json!({"hook_event_name": "Stop", "session_id": "s"}));
    project.write(".claude/hooks/cache.json", "{\"plan_mode\": {\"is_act");
    let output = project.hook(&start("s"));
    assert_eq!(output.exit, 2, "{output:?}");
    assert!(output.stdout.contains("could not be read"), "{}", output.stdout);
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
    let output = project.hook(&prompt("s", "/plan x"));
    assert_eq!(output.exit, 0);
    assert!(output.stdout.contains("version 99"), "{}", output.stdout);
    assert_eq!(project.read(".claude/hooks/cache.json"), later);
    assert_eq!(project.run(&["cache", "set", "a", "b", "1"]).exit, 1);
    assert_eq!(project.read(".claude/hooks/cache.json"), later);
}

#[test]
fn old_sessions_are_removed_when_the_file_is_written() {
    let project = Project::installed();
    let entry = |stamp: &str| json!({"is_active": true, "activated_at": stamp, "updated_at": stamp});
    let recent = modegate::internals::now().at;
    let cache = json!({"version": 1, "revision": 7, "plan_mode": {"sessions": {"old": entry("2020-01-01T00:00:00Z"), "new": entry(&recent)}}});
    project.write(".claude/hooks/cache.json", cache.to_string());
    project.hook(&prompt("s", "/research x"));
    let cache = project.cache();
    assert_eq!(cache["revision"], 8);
    let sessions = cache["plan_mode"]["sessions"].as_object().unwrap();
    assert!(!sessions.contains_key("old") && sessions.contains_key("new"), "{sessions:?}");
}

#[test]
fn whatever_starts_a_session_again_keeps_its_modes() {
    let project = Project::installed();
    project.hook(&prompt("s", "/plan x"));
    for source in ["resume", "compact", "startup"] {
        let output = project.hook(&json!({"hook_event_name": "SessionStart", "session_id": "s", "source": source}));
        assert!(output.stdout.contains("active modes: plan (phase draft)"), "{}", output.stdout);
        assert_eq!(project.hook(&start("s")).exit, 2);
    }
}

#[test]
fn the_top_level_fields_show_the_latest_activation() {
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

#[test]
fn a_broken_state_file_loses_no_active_modes() {
    let project = Project::installed();
    project.hook(&prompt("a", "/plan x"));
    project.hook(&prompt("b", "/plan x"));
    project.write(".claude/hooks/cache.json", "{torn");
    assert_eq!(project.hook(&start("a")).exit, 2);
    assert_eq!(project.hook(&start("b")).exit, 2);
}

#[test]
fn a_repair_at_a_stop_is_reported_later() {
    let project = Project::installed();
    project.hook(&prompt("s", "/plan x"));
    project.write(".claude/hooks/cache.json", "{torn");
    let stop = project.hook(&json!({"hook_event_name": "Stop", "session_id": "s"}));
    assert_eq!((stop.exit, stop.stdout.as_str()), (0, ""));
    let next = json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Read"});
    assert!(project.hook(&next).stdout.contains("could not be read"));
    assert!(project.hook(&next).stdout.is_empty());
}

#[test]
fn a_state_field_of_the_wrong_type_is_reported_and_the_others_are_kept() {
    let odd = [
        json!({"is_active": true, "phase": 5}),
        json!({"is_active": true, "done": "x"}),
        json!({"is_active": true, "tick": -1}),
    ];
    for entry in odd {
        let project = Project::installed();
        let cache = json!({"version": 1, "plan_mode": {"sessions": {"s": entry}}});
        project.write(".claude/hooks/cache.json", cache.to_string());
        let output = project.hook(&start("s"));
        assert_eq!(output.exit, 2, "{entry}");
        assert!(output.stdout.contains("has a wrong type"), "{entry}: {}", output.stdout);
    }
}

#[test]
fn a_mode_entry_of_the_wrong_type_does_not_prevent_activation() {
    for odd in [json!(null), json!([]), json!("x"), json!({"sessions": []})] {
        let project = Project::installed();
        project.write(".claude/hooks/cache.json", json!({"plan_mode": odd}).to_string());
        project.hook(&prompt("s", "/plan x"));
        assert_eq!(project.hook(&start("s")).exit, 2, "{odd}");
    }
}

#[test]
fn a_damaged_mode_cache_opens_no_gate() {
    let project = Project::installed();
    project.hook(&prompt("s", "/plan x"));
    assert_eq!(project.hook(&start("s")).exit, 2);
    let copy = project.home().join(".claude/hooks/modes.bin");
    let whole = std::fs::read(&copy).unwrap();
    let flipped: Vec<u8> =
        whole.iter().enumerate().map(|(at, byte)| if at > whole.len() / 2 { byte ^ 0x55 } else { *byte }).collect();
    for damaged in [&whole[..8], &whole[..200], &whole[..whole.len() / 2], &flipped, b""] {
        std::fs::write(&copy, damaged).unwrap();
        assert_eq!(project.hook(&start("s")).exit, 2);
        assert_eq!(std::fs::read(&copy).unwrap(), whole);
    }
}

#[test]
fn a_changed_mode_is_used_at_once() {
    let project = Project::installed();
    let mode = |agent: &str| {
        format!(
            "mode: own\ncommands: [/own]\nphases: [{{ phase: one, agent: {agent}, before: [{{ check: {{ file: a/b }} }}] }}]\n"
        )
    };
    let starts = |agent: &str| json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Agent", "tool_input": {"subagent_type": agent}});
    project.write(".claude/modes/own.yaml", mode("aaa"));
    project.hook(&prompt("s", "/own"));
    for agent in ["bbb", "ccc", "ddd", "eee"] {
        assert_eq!(project.hook(&starts(agent)).exit, 0, "{agent}");
        project.write(".claude/modes/own.yaml", mode(agent));
        assert_eq!(project.hook(&starts(agent)).exit, 2, "{agent}");
    }
    std::fs::remove_file(project.home().join(".claude/modes/own.yaml")).unwrap();
    assert_eq!(project.hook(&starts("eee")).exit, 0);
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_writes_out_of_the_folder() {
    for name in ["cache.tmp", "cache.lock", "sessions", "gitignore.tmp"] {
        let project = Project::installed();
        let outside = project.home().parent().unwrap().join("outside");
        if name == "sessions" {
            std::fs::create_dir(&outside).unwrap();
        } else {
            std::fs::write(&outside, "precious").unwrap();
        }
        std::os::unix::fs::symlink(&outside, project.home().join(".claude/hooks").join(name)).unwrap();
        assert_eq!(project.hook(&prompt("s", "/plan x")).exit, 0);
        match name {
            "sessions" => assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0),
            _ => assert_eq!(std::fs::read_to_string(&outside).unwrap(), "precious", "{name}"),
        }
    }
}

#[test]
fn an_incomplete_journal_line_loses_no_other_line() {
    let project = Project::installed();
    project.hook(&prompt("s", "/plan x"));
    let path = ".claude/hooks/sessions/s.jsonl";
    let text = project.read(path);
    project.write(path, format!("{text}{{\"v\": 1, \"at\": \"cut"));
    project.hook(&start("s"));
    let lines = modegate::internals::lines(&project.home().join(path));
    assert_eq!(lines.len(), 2);
}

#[test]
fn scripts_cannot_set_reserved_values() {
    let project = Project::installed();
    for words in [
        ["plan_mode", "sessions", "[]"],
        ["version", "x", "1"],
        ["plan_mode", "phase", "5"],
        ["plan_mode", "is_active", "\"yes\""],
    ] {
        let output = project.run(&[&["cache", "set"], &words[..]].concat());
        assert_eq!(output.exit, 64, "{words:?}");
    }
}

#[test]
fn what_another_session_wrote_does_not_keep_a_mode_from_ending() {
    let project = Project::installed();
    project.git(&["init", "-q"]);
    project.write(".gitignore", ".claude\n");
    project.write(
        ".claude/modes/x.yaml",
        "mode: x\ncommands: [/x]\nphases:\n  - phase: one\n    main: true\n    after: [{ id: done, check: { clean: { since: activation, moved: true } } }]\n",
    );
    project.write("a.rs", "a");
    project.write("b.rs", "b");
    project.shell("git add -A && git commit -qm all");
    let event = |session: &str, event: Value| {
        let mut event = event;
        event["session_id"] = session.into();
        event["cwd"] = project.home().to_string_lossy().into();
        project.hook(&event)
    };
    let edit = |file: &str| {
        let path = project.home().join(file);
        json!({"hook_event_name": "PostToolUse", "tool_name": "Write", "tool_input": {"file_path": path, "content": "x"}, "tool_response": {"filePath": path}})
    };
    event("s", json!({"hook_event_name": "UserPromptSubmit", "prompt": "/x", "prompt_id": "p"}));
    project.write("b.rs", "changed by the other session");
    event("other", edit("b.rs"));
    project.write("a.rs", "changed by this session");
    event("s", edit("a.rs"));
    assert_eq!(project.cache()["x_mode"]["sessions"]["s"]["is_active"], true);
    project.shell("git add a.rs && git commit -qm a");
    event(
        "s",
        json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "git commit -qm a"}, "tool_response": {}}),
    );
    assert_eq!(project.cache()["x_mode"]["sessions"]["s"]["ended"], "complete", "{}", project.cache());
}
