//! Whatever comes in: exit 0, a clear line, nothing outside `.claude/hooks`, no crash.

use crate::project::{CommandOutput, Project, run_command};
use serde_json::json;

/// One clear line on stderr, at most one JSON object on stdout, exit 0.
#[track_caller]
fn check_harmless(output: &CommandOutput, line: &str) {
    assert_eq!(output.exit, 0, "{output:?}");
    assert!(output.stderr.contains(line), "{output:?}");
    assert!(output.stderr.trim_end().lines().count() <= 1, "{output:?}");
    output.json();
}

#[test]
fn input_that_is_not_an_event_gets_one_clear_line() {
    let project = Project::installed();
    let deep = [b"{\"a\":".repeat(3000), b"1".to_vec(), b"}".repeat(3000)].concat();
    let cases: [(&[u8], &str); 9] = [
        (b"", "standard input is empty"),
        (b"hello", "is not JSON"),
        (b"[]", "a list, not a JSON object"),
        (b"null", "null, not a JSON object"),
        (b"{}", "has no `hook_event_name`"),
        (b"{\"hook_event_name\": null}", "has no `hook_event_name`"),
        (b"{\"hook_event_name\": \"Stop\"", "is not JSON"),
        (b"{\"hook_event_name\": \"Sto\xff\xfep\"}", "is not JSON"),
        (&deep, "has no `hook_event_name`"),
    ];
    for (bytes, line) in cases {
        check_harmless(&project.hook_bytes(bytes), line);
    }
}

#[test]
fn a_field_of_the_wrong_type_is_reported_and_ignored() {
    let project = Project::installed();
    let output = project.hook(&json!({"hook_event_name": "Stop", "session_id": 7}));
    assert!(output.stderr.contains("`session_id` is a number, not text"), "{output:?}");
    assert!(output.stderr.contains("has no session id"), "{output:?}");
}

#[test]
fn unknown_events_and_fields_are_allowed() {
    let project = Project::installed();
    let output = project.hook(&json!({"hook_event_name": "BrandNewEvent", "session_id": "s", "brand_new": {"x": [1]}}));
    assert_eq!(output, CommandOutput { exit: 0, stdout: String::new(), stderr: String::new() });
}

#[test]
fn an_event_of_50_megabytes_is_answered() {
    let project = Project::installed();
    project.hook(&json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "/plan x"}));
    let large = "x".repeat(50 << 20);
    let output = project.hook(&json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Agent", "tool_input": {"subagent_type": "strategic-planner", "prompt": large}}));
    assert_eq!(output.exit, 2, "{}", output.stderr);
    assert!(project.read(".claude/hooks/sessions/s.jsonl").len() < 1 << 20);
}

#[test]
fn hostile_names_stay_in_their_folder() {
    let long = "x".repeat(4096);
    for id in ["../../../evil", "*", "a\0b", "..", "/etc/passwd", "a\nb", "\u{202e}", long.as_str()] {
        let project = Project::installed();
        project.write("project/status.json", json!({"current_milestone": id, "milestone_description": id}).to_string());
        let prompt =
            project.hook(&json!({"hook_event_name": "UserPromptSubmit", "session_id": id, "prompt": "/plan x"}));
        assert_eq!(prompt.exit, 0, "{id:?} {}", prompt.stderr);
        let start = project.hook(&json!({"hook_event_name": "PreToolUse", "session_id": id, "tool_name": "Agent", "tool_input": {"subagent_type": "strategic-planner"}}));
        assert_eq!(start.exit, 2, "{id:?}");
        let top: Vec<_> = std::fs::read_dir(project.home()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(top.len(), 2, "{id:?}: {top:?}");
        // The user's state folder is beside the project, as the folder above is the user's home.
        let outside =
            std::fs::read_dir(project.home().parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name());
        let outside: Vec<_> = outside.filter(|name| name != ".local").collect();
        assert_eq!(outside.len(), 1, "{id:?}: {outside:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_fork_with_an_odd_transcript_is_answered() {
    let project = Project::installed();
    project.hook(&json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "/plan x"}));
    let folder = project.home().join("host");
    let line =
        |parent: &str| format!("{}\n", json!({"uuid": format!("of {parent}"), "forkedFrom": {"sessionId": parent}}));
    project.write("host/huge.jsonl", format!("\"uuid\"{}", "x".repeat(20 << 20)));
    project.write("host/binary.jsonl", [0xff, 0, 0x80, b'\n'].repeat(1000));
    project.write("host/path.jsonl", line("../host/huge"));
    project.write("host/names.jsonl", line("a\nb"));
    // Nobody writes to it, so reading would not end; it is found next to the others, too.
    project.shell("mkfifo host/pipe.jsonl");
    for name in ["huge", "binary", "path", "names", "pipe", "missing"] {
        let transcript = folder.join(format!("{name}.jsonl"));
        let event = json!({"hook_event_name": "SessionStart", "source": "fork", "session_id": name, "transcript_path": transcript});
        let mut command = project.plain("timeout");
        command.arg("20").arg(env!("CARGO_BIN_EXE_modegate")).arg("hook").env("CLAUDE_PROJECT_DIR", project.home());
        let output = run_command(&mut command, event.to_string().as_bytes());
        assert_eq!((output.exit, output.stderr.as_str()), (0, ""), "{name}: {output:?}");
        let has_lines = ["path", "names"].contains(&name);
        assert_eq!(output.stdout.contains("a fork of an unknown session"), has_lines, "{name}: {}", output.stdout);
    }
}

#[test]
fn a_project_without_modegate_stays_untouched() {
    let project = Project::new();
    // The error names all events.
    let events = serde_json::from_str::<modegate::EventKind>("\"?\"").unwrap_err().to_string();
    let events: Vec<&str> = events.split('`').skip(3).step_by(2).collect();
    assert!(events.len() > 30, "{events:?}");
    for name in events {
        let output = project.hook(&json!({"hook_event_name": name, "session_id": "s", "prompt": "hello", "tool_name": "Agent", "tool_input": {"subagent_type": "code-reviewer"}}));
        assert_eq!(output, CommandOutput { exit: 0, stdout: String::new(), stderr: String::new() }, "{name}");
    }
    assert_eq!(std::fs::read_dir(project.home()).unwrap().count(), 0);
}

#[test]
fn an_unwritable_state_file_does_not_stop_the_work() {
    let project = Project::installed();
    std::fs::create_dir_all(project.own()).unwrap();
    std::fs::write(project.own().join("sessions"), "not a folder").unwrap();
    let output = project.hook(&json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "/plan x"}));
    check_harmless(&output, "sessions");
    assert!(output.json()["systemMessage"].as_str().unwrap().contains("cannot be written"));
}

#[test]
fn an_unwritable_summary_costs_only_the_summary() {
    let project = Project::installed();
    project.write(".claude/hooks/cache.lock/not-a-file", "");
    let output = project.hook(&json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "/plan x"}));
    check_harmless(&output, "cache.lock");
    assert!(output.json()["systemMessage"].as_str().unwrap().contains("cannot be written"));
    let start = json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Agent", "tool_input": {"subagent_type": "strategic-planner"}});
    assert_eq!(project.hook(&start).exit, 2);
}

#[test]
fn state_in_the_repository_is_not_kept() {
    let project = Project::installed();
    let prompt = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "/plan x"});
    let mut command = project.modegate();
    command.arg("hook").env("MODEGATE_STATE_DIR", project.home().join("state"));
    let output = run_command(&mut command, prompt.to_string().as_bytes());
    assert_eq!(output.exit, 0);
    assert!(
        output.stdout.contains("inside the repository") && output.stdout.contains("MODEGATE_STATE_DIR"),
        "{output:?}"
    );
    assert!(!project.home().join("state").exists());
    // Nor where the folder below it leads out of the repository: the key would be inside.
    #[cfg(unix)]
    {
        let outside = tempfile::tempdir().unwrap();
        std::fs::create_dir(project.home().join("state")).unwrap();
        std::os::unix::fs::symlink(outside.path(), project.home().join("state/projects")).unwrap();
        let output = run_command(&mut command, prompt.to_string().as_bytes());
        assert!(output.stdout.contains("inside the repository"), "{output:?}");
        assert!(!project.home().join("state/key").exists());
    }
}

#[test]
fn a_mode_file_with_an_alias_bomb_disables_only_itself() {
    let project = Project::installed();
    let mut bomb = String::from("a0: &a0 [x, x]\n");
    bomb.extend((1..40).map(|n| format!("a{n}: &a{n} [*a{}, *a{}]\n", n - 1, n - 1)));
    project.write(".claude/modes/bomb.yaml", bomb);
    project.write(".claude/modes/deep.yaml", "[".repeat(100_000));
    project.write(".claude/modes/bytes.yaml", b"mode: \xff\xfe\n");
    let output = project.hook(&json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "/plan x"}));
    assert_eq!(output.exit, 0);
    assert!(output.stdout.contains("Planning Phase."), "{}", output.stdout);
    assert!(output.stdout.contains(".claude/modes/bomb.yaml"), "{}", output.stdout);
}

#[cfg(unix)]
#[test]
fn a_pipe_instead_of_a_file_does_not_hang_the_hook() {
    let project = Project::installed();
    project.shell("mkdir -p .claude/modes; mkfifo .claude/modegate.yaml .claude/gates.json .claude/modes/x.yaml");
    let output =
        project.hook(&serde_json::json!({"hook_event_name": "SessionStart", "session_id": "s", "source": "startup"}));
    assert_eq!(output.exit, 0, "{output:?}");
    assert!(output.stdout.contains("modes check"), "the user is not informed: {output:?}");
}
