//! The state of sessions, and `cache.json`: broken files, later versions, old sessions.

use crate::project::{Project, run_command};
use serde_json::{Value, json};

fn start(session: &str) -> Value {
    json!({"hook_event_name": "PreToolUse", "session_id": session, "tool_name": "Agent", "tool_input": {"subagent_type": "strategic-planner"}})
}

fn prompt(session: &str, text: &str) -> Value {
    json!({"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt_id": "p", "prompt": text})
}

/// Other programs may keep values of their own in the file; modegate shows them and does not use them.
#[test]
fn namespaces_of_other_programs_are_kept() {
    let project = Project::installed();
    project.write(
        ".claude/hooks/cache.json",
        json!({"foreign": {"x": 1}, "implement": {"current_phase": "explore"}}).to_string(),
    );
    project.hook(&prompt("s", "/plan x"));
    let cache = project.cache();
    assert_eq!((&cache["version"], &cache["revision"]), (&json!(1), &json!(1)));
    assert_eq!(cache["foreign"], json!({"x": 1}));
    assert_eq!(cache["implement"], json!({"current_phase": "explore"}));
    assert_eq!(cache["plan_mode"]["sessions"]["s"]["is_active"], true);
}

#[test]
fn scripts_activate_a_mode_in_the_flat_form() {
    let project = Project::installed();
    for words in [["is_active", "true"], ["session_id", "\"abc\""]] {
        assert_eq!(project.run(&["cache", "set", "plan_mode", words[0], words[1]]).exit, 0, "{words:?}");
    }
    assert_eq!(project.hook(&start("abc")).exit, 2);
    assert_eq!(project.hook(&start("other")).exit, 0);
    assert_eq!(project.run(&["cache", "get", "plan_mode", "is_active"]).stdout, "true\n");
    assert_eq!(project.run(&["cache", "reset"]).exit, 0);
    assert_eq!(project.hook(&start("abc")).exit, 0);
    assert_eq!(project.cache()["plan_mode"], json!(null));
}

#[test]
fn a_broken_summary_is_kept_and_written_again() {
    let project = Project::installed();
    project.hook(&prompt("s", "/plan x"));
    project.hook(&json!({"hook_event_name": "Stop", "session_id": "s"}));
    project.write(".claude/hooks/cache.json", "{\"plan_mode\": {\"is_act");
    assert_eq!(project.hook(&start("s")).exit, 2);
    let output = project.hook(&prompt("s", "hello"));
    assert!(output.stdout.contains("could not be read"), "{}", output.stdout);
    let names: Vec<String> = std::fs::read_dir(project.home().join(".claude/hooks"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    let kept = names.iter().find(|name| name.starts_with("cache.broken-")).expect("the broken file");
    assert_eq!(project.read(&format!(".claude/hooks/{kept}")), "{\"plan_mode\": {\"is_act");
    assert_eq!(project.cache()["plan_mode"]["sessions"]["s"]["is_active"], true);
    assert_eq!(project.hook(&prompt("s", "hello")).stdout.matches("could not be read").count(), 0);
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
    assert_eq!(project.hook(&start("s")).exit, 2, "the state is elsewhere");
    assert_eq!(project.run(&["cache", "set", "a", "b", "1"]).exit, 1);
    assert_eq!(project.read(".claude/hooks/cache.json"), later);
}

/// Session files that changed a number of days ago, or in the future.
fn aged(project: &Project, sessions: &[(&str, i64)]) {
    for (session, days) in sessions {
        project.hook(&prompt(session, "/plan x"));
        let hours = std::time::Duration::from_hours(24 * days.unsigned_abs());
        let now = std::time::SystemTime::now();
        let changed = if *days < 0 { now + hours } else { now - hours };
        std::fs::File::options().write(true).open(project.state_file(session)).unwrap().set_modified(changed).unwrap();
    }
}

#[test]
fn old_sessions_are_removed_when_a_session_starts() {
    let project = Project::installed();
    aged(&project, &[("old", 40), ("young", 20), ("new", 0), ("newer", 0)]);
    project.hook(&json!({"hook_event_name": "SessionStart", "session_id": "s", "source": "startup"}));
    let kept = |session: &str| project.state_file(session).exists();
    assert!(!kept("old") && kept("young") && kept("new"));
    assert!(!project.state_file("old").with_extension("lock").exists());
    let cache = project.cache();
    let sessions = cache["plan_mode"]["sessions"].as_object().unwrap();
    assert!(!sessions.contains_key("old") && sessions.contains_key("young"), "{sessions:?}");
}

/// One event with a wrong clock leaves one file with a wrong time.
#[test]
fn a_wrong_clock_removes_no_session() {
    for days in [-40, -3650, -1] {
        let project = Project::installed();
        aged(&project, &[("a", 0), ("b", 10), ("jumped", days)]);
        project.hook(&json!({"hook_event_name": "SessionStart", "session_id": "s", "source": "startup"}));
        assert!(["a", "b", "jumped"].iter().all(|session| project.state_file(session).exists()), "{days}");
        assert_eq!(project.hook(&start("b")).exit, 2);
    }
    let project = Project::installed();
    aged(&project, &[("idle", 40), ("only", 0)]);
    project.hook(&json!({"hook_event_name": "SessionStart", "session_id": "only", "source": "resume"}));
    assert!(project.state_file("idle").exists(), "one other session proves nothing");
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
fn a_repair_at_a_stop_is_reported_to_the_person_at_once_and_to_the_model_later() {
    let project = Project::installed();
    project.hook(&prompt("s", "/plan x"));
    project.write(".claude/hooks/cache.json", "{torn");
    let stop = project.hook(&json!({"hook_event_name": "Stop", "session_id": "s"}));
    assert_eq!(stop.exit, 0);
    assert!(stop.json()["systemMessage"].as_str().unwrap().contains("could not be read"));
    let next = json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Read"});
    assert!(project.hook(&next).stdout.contains("could not be read"));
    assert!(project.hook(&next).stdout.is_empty());
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
    let copy = project.own().join("modes.bin");
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
    assert_eq!(project.journal("s").len(), 2);
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

#[cfg_attr(windows, ignore = "needs git, which wine lacks")]
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

/// Sessions share `cache.json`, so they do not write it for what only their own gates need.
#[test]
fn an_allowed_start_does_not_write_the_summary() {
    let project = Project::installed();
    project.write("specs/tasks.md", "x");
    let event = |mut event: Value| {
        event["session_id"] = "s".into();
        event["cwd"] = project.home().to_string_lossy().into();
        project.hook(&event)
    };
    let agent = json!({"subagent_type": "codebase-explorer", "prompt": "x", "description": "x"});
    event(json!({"hook_event_name": "UserPromptSubmit", "prompt": "/explore", "prompt_id": "p"}));
    let shown = project.cache();
    let start =
        json!({"hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input": agent, "tool_use_id": "t1"});
    assert_eq!(event(start).exit, 0);
    assert_eq!(project.cache(), shown, "{shown}");
    let admitted = project.run(&["cache", "get", "explore_mode", "admitted"]);
    assert!(admitted.stdout.contains("codebase-explorer"), "{admitted:?}");
    // A prompt compares the file with the state, which has changed.
    let prompt = event(json!({"hook_event_name": "UserPromptSubmit", "prompt": "go on", "prompt_id": "p2"}));
    assert!(!prompt.stdout.contains("cache.json"), "{prompt:?}");
    event(json!({"hook_event_name": "SubagentStart", "agent_id": "a1", "agent_type": "codebase-explorer"}));
    assert_eq!(project.cache()["explore_mode"]["sessions"]["s"]["agents"]["a1"]["agent"], "codebase-explorer");
}

#[cfg_attr(windows, ignore = "needs a POSIX shell")]
#[test]
fn compiled_modes_from_a_repository_are_not_read() {
    let weak = Project::installed();
    weak.write("../.claude/modegate.yaml", "levels: { base: off }\n");
    weak.shell("touch -d '1 hour ago' ../.claude/modegate.yaml");
    let removal = json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "rm -rf ~"}});
    assert_eq!(weak.hook(&removal).exit, 0);
    let compiled = std::fs::read(weak.own().join("modes.bin")).expect("compiled modes in the user's folder");
    assert!(!weak.home().join(".claude/hooks/modes.bin").exists());

    let clone = Project::installed();
    clone.write(".claude/hooks/modes.bin", &compiled);
    clone.write("state/modegate/projects/app/modes.bin", &compiled);
    assert_eq!(clone.hook(&removal).exit, 2);
    // A state folder in the repository, as its settings can name it, is not used.
    let state = clone.home().join("state");
    let mut inside = clone.modegate();
    inside.arg("hook").env("XDG_STATE_HOME", &state).env("MODEGATE_STATE_DIR", state.join("modegate"));
    assert_eq!(run_command(&mut inside, removal.to_string().as_bytes()).exit, 2);
    let files: Vec<_> =
        walkdir::WalkDir::new(&state).into_iter().flatten().filter(|entry| entry.file_type().is_file()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
}

#[cfg_attr(windows, ignore = "needs a POSIX shell")]
#[test]
fn temporary_files_of_killed_writers_are_removed() {
    let project = Project::installed();
    std::fs::create_dir_all(project.own()).unwrap();
    let left = project.own().join("modes.bin.abc.tmp");
    std::fs::write(&left, "").unwrap();
    project.shell(&format!("touch -d '1 hour ago' '{}'", left.display()));
    project.hook(&prompt("s", "/plan x"));
    assert!(!left.exists() && project.own().join("modes.bin").exists());
}
