//! The command line as people and scripts use it.

use crate::project::{CommandOutput, Project, run_command};
use serde_json::{Value, json};

fn plan(project: &Project) {
    project.write("project/status.json", r#"{"current_milestone": "MS-1", "milestone_description": "Login"}"#);
    let output = project.hook(
        &json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt_id": "p", "prompt": "/plan x"}),
    );
    assert_eq!(output.exit, 0, "{}", output.stderr);
}

fn planner_start() -> Value {
    json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Agent", "tool_input": {"subagent_type": "strategic-planner"}})
}

#[test]
fn wrong_usage_never_exits_with_2() {
    let project = Project::new();
    for words in [
        &["nonsense"][..],
        &["hook", "--nonsense"],
        &["cache"],
        &["cache", "set", "a"],
        &["modes", "show", "nonsense"],
        &["leave"],
        &["check"],
        &["check", "file"],
        &["check", "yaml", "{ run: ls }"],
    ] {
        let output = project.run(words);
        assert_eq!(output.exit, 64, "{words:?} {output:?}");
        assert!(!output.stderr.is_empty(), "{words:?}");
    }
}

#[test]
fn help_and_version_are_fine() {
    let project = Project::new();
    for words in [&["--help"][..], &["--version"], &["hook", "--help"], &["modes", "--help"]] {
        assert_eq!(project.run(words).exit, 0, "{words:?}");
    }
}

#[test]
fn without_a_command_an_event_on_stdin_runs_the_hook() {
    let project = Project::new();
    plan(&project);
    let output = run_command(&mut project.modegate(), planner_start().to_string().as_bytes());
    assert_eq!(output.exit, 2);
}

#[test]
fn exit_zero_blocks_in_json_only() {
    let project = Project::new();
    plan(&project);
    let output = run_command(project.modegate().args(["hook", "--exit-zero"]), planner_start().to_string().as_bytes());
    assert_eq!(output.exit, 0);
    assert_eq!(output.json()["hookSpecificOutput"]["permissionDecision"], "deny");
}

#[test]
fn status_shows_the_phase_and_the_expected_path() {
    let project = Project::new();
    plan(&project);
    let text = project.run(&["status"]).stdout;
    assert!(text.contains("plan in phase draft"), "{text}");
    assert!(text.contains("project/MS-1_Login/plans/plan_s_"), "{text}");
    let json = project.run(&["status", "--json"]).json();
    assert_eq!(json["sessions"][0]["modes"]["plan_mode"]["phase"], "draft");
    assert!(json["sessions"][0]["next"][0].as_str().unwrap().contains("plan_s_"));
}

/// The main agent has yet to read that the draft is done; `status` must not repeat it.
#[test]
fn status_shows_the_next_phase_once() {
    let project = Project::new();
    plan(&project);
    project.write("project/MS-1_Login/plans/plan_s_1.md", "# Plan\n");
    let stop = json!({"hook_event_name": "SubagentStop", "session_id": "s", "agent_id": "a1", "agent_type": "strategic-planner"});
    assert_eq!(project.hook(&stop).exit, 0);
    let text = project.run(&["status"]).stdout;
    assert_eq!(text.matches("next: consult (consulting-expert)").count(), 1, "{text}");
}

#[test]
fn log_shows_what_gates_warned_about_and_observed() {
    let project = Project::new();
    for (level, shown) in [("warn", "warned "), ("observe", "observed: ")] {
        project.write(".claude/modegate.yaml", format!("level: {level}\n"));
        plan(&project);
        assert_eq!(project.hook(&planner_start()).exit, 0);
        let text = project.run(&["log", "-n", "1"]).stdout;
        assert!(text.contains(shown) && text.contains("Research report not found."), "{text}");
    }
}

#[test]
fn modes_list_tells_detours_from_phases() {
    let text = Project::new().run(&["modes", "list"]).stdout;
    assert!(text.contains("refactor (the main agent) → commit (the main agent); detour troubleshoot (troubleshooter)"));
}

#[test]
fn an_agent_whose_start_is_blocked_is_explained() {
    let project = Project::new();
    plan(&project);
    let id = ("agent_id", "a1");
    let started =
        json!({"hook_event_name": "SubagentStart", "session_id": "s", id.0: id.1, "agent_type": "strategic-planner"});
    assert_eq!(project.hook(&started).exit, 0, "the host cannot block it");
    let text = project.run(&["status"]).stdout;
    assert!(text.contains("    start blocked: strategic-planner (a1); its tools are blocked too"), "{text}");
    let text = project.run(&["why"]).stdout;
    assert!(text.contains("SubagentStart(strategic-planner) was blocked"), "{text}");
    assert!(text.contains("reason: Research report not found."), "{text}");
    let tool = json!({"hook_event_name": "PreToolUse", "session_id": "s", id.0: id.1, "agent_type": "strategic-planner",
        "tool_name": "Read", "tool_input": {"file_path": "a"}});
    assert_eq!(project.hook(&tool).exit, 2);
    let text = project.run(&["log"]).stdout;
    assert!(text.contains("PreToolUse(Read a) · Research report not found."), "{text}");
}

#[test]
fn why_shows_the_gate_and_what_it_saw() {
    let project = Project::new();
    assert_eq!(project.run(&["why"]).exit, 1);
    plan(&project);
    assert_eq!(project.hook(&planner_start()).exit, 2);
    let text = project.run(&["why"]).stdout;
    for part in [
        "PreToolUse(Agent strategic-planner) was blocked",
        "research-is-there [plan mode, phase draft]: block",
        "fails: no file matches project/MS-1_Login/research/research_*.md",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let json = project.run(&["why", "--json"]).json();
    assert_eq!(json["findings"][0]["gate"], "research-is-there");
    assert_eq!(json["v"], 1);
}

#[test]
fn leaving_a_mode_is_for_people() {
    let project = Project::new();
    plan(&project);
    let model = run_command(project.modegate().env("CLAUDECODE", "1").args(["leave", "plan"]), b"");
    assert_eq!(model.exit, 1);
    assert_eq!(project.hook(&planner_start()).exit, 2);
    let person = project.run(&["leave", "plan"]);
    assert_eq!((person.exit, person.stdout.as_str()), (0, "left plan mode in session s\n"));
    assert_eq!(project.hook(&planner_start()).exit, 0);
    assert_eq!(project.run(&["leave", "plan"]).exit, 1);
    let help = project.run(&["leave", "--help"]).stdout;
    assert!(help.contains("every session of this project in which it is active"), "{help}");
    assert!(project.run(&["leave", "plam"]).stderr.contains("did you mean `plan`?"));
}

/// A tool can hide its environment, but not that its call is still open.
#[cfg(target_os = "linux")]
#[test]
fn a_command_without_a_terminal_waits_for_the_end_of_a_tool_call() {
    let project = Project::new();
    plan(&project);
    let call = |kind: &str| {
        project.hook(&json!({"hook_event_name": kind, "session_id": "s", "tool_name": "Bash", "tool_use_id": "t",
            "tool_input": {"command": "make"}}))
    };
    let leave = || {
        let mut command = project.plain("setsid");
        command.current_dir(project.home()).env_remove("MODEGATE_TERMINAL").args([
            "-w",
            env!("CARGO_BIN_EXE_modegate"),
            "leave",
            "plan",
        ]);
        run_command(&mut command, b"")
    };
    call("PreToolUse");
    let refused = leave();
    assert!(refused.exit == 1 && refused.stderr.contains("only a person"), "{refused:?}");
    call("PostToolUse");
    assert_eq!(leave().exit, 0);
    // The next event tells it.
    let told = project.hook(&json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "go on"}));
    assert!(told.stdout.contains("plan was left with `modegate leave`"), "{told:?}");
}

#[test]
fn a_tool_of_the_model_cannot_run_the_hook() {
    let project = Project::installed();
    let event = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "/plan x"}).to_string();
    let agent = ("AI_AGENT", "claude-code_2-1-325_agent");
    let mut tool = project.modegate();
    tool.env_remove("CLAUDE_PROJECT_DIR").env(agent.0, agent.1).arg("hook");
    let ignored = run_command(&mut tool, event.as_bytes());
    assert_eq!((ignored.exit, ignored.stdout.as_str()), (0, ""));
    assert_eq!(ignored.stderr.lines().count(), 1, "{}", ignored.stderr);
    assert!(!project.home().join(".claude/hooks/cache.json").exists());
    // A hook; a host that does not name itself, run by a tool; another program that names itself.
    let hook =
        run_command(project.modegate().env("AI_AGENT", "claude-code_2-1-325_harness").arg("hook"), event.as_bytes());
    assert!(hook.stdout.contains("plan"), "{hook:?}");
    let old = run_command(project.modegate().env(agent.0, agent.1).arg("hook"), event.as_bytes());
    assert!(old.stdout.contains("plan"), "{old:?}");
    let other = run_command(
        project.modegate().env_remove("CLAUDE_PROJECT_DIR").env("AI_AGENT", "an_agent").arg("hook"),
        event.as_bytes(),
    );
    assert!(other.stdout.contains("plan"), "{other:?}");
    // A tool sets the variables of a hook for a program that it runs.
    if cfg!(target_os = "linux") {
        let program = project.modegate().get_program().to_string_lossy().into_owned();
        let line = format!("AI_AGENT=claude-code_2-1-325_harness CLAUDE_PROJECT_DIR=. '{program}' hook; true");
        let mut shell = std::process::Command::new("sh");
        shell.envs(project.modegate().get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.current_dir(project.home()).env_remove("CLAUDE_PROJECT_DIR").env(agent.0, agent.1).args(["-c", &line]);
        let forged = run_command(&mut shell, event.as_bytes());
        assert!(forged.stdout.is_empty() && forged.stderr.contains("only Claude Code itself"), "{forged:?}");
    }
    // A repository gives its tools the variable that tells a hook.
    project.write(".claude/settings.json", r#"{"env": {"CLAUDE_PROJECT_DIR": "."}}"#);
    let mut tool = project.modegate();
    let forged = run_command(tool.env(agent.0, agent.1).env("CLAUDE_PROJECT_DIR", ".").arg("hook"), event.as_bytes());
    assert_eq!((forged.exit, forged.stdout.as_str()), (0, ""), "{forged:?}");
    // Settings that name the agent as well would make every event one of a tool: they are answered.
    let removal = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "rm -rf ~"},
    });
    for folder in [".".into(), project.home().to_string_lossy().into_owned()] {
        let variables = json!({"env": {"AI_AGENT": agent.1, "CLAUDE_PROJECT_DIR": folder}});
        project.write(".claude/settings.json", variables.to_string());
        let mut hook = project.modegate();
        let answered = run_command(hook.env(agent.0, agent.1).arg("hook"), removal.to_string().as_bytes());
        assert!(answered.stdout.contains("deny"), "{answered:?}");
    }
    // The same in a folder below the settings, which the variable names.
    let below = project.home().join("below");
    std::fs::create_dir(&below).unwrap();
    project.write(".claude/settings.json", json!({"env": {"CLAUDE_PROJECT_DIR": below}}).to_string());
    let mut tool = project.modegate();
    tool.env(agent.0, agent.1).env("CLAUDE_PROJECT_DIR", &below).current_dir(&below).arg("hook");
    let forged = run_command(&mut tool, event.as_bytes());
    assert_eq!((forged.exit, forged.stdout.as_str()), (0, ""), "{forged:?}");
    assert!(forged.stderr.contains("only Claude Code itself"), "{forged:?}");
    // Settings of the user that nobody can read set nothing.
    project.shell("rm .claude/settings.json");
    let user = project.user().join(".claude");
    std::fs::create_dir(&user).unwrap();
    std::fs::write(user.join("settings.json"), "// $CLAUDE_PROJECT_DIR\n{\"env\": {}}").unwrap();
    let old = run_command(project.modegate().env(agent.0, agent.1).arg("hook"), event.as_bytes());
    assert!(old.stdout.contains("plan"), "{old:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_variable_that_the_model_removes_is_found_above() {
    let project = Project::new();
    plan(&project);
    let mut shell = project.plain("sh");
    shell.env("CLAUDECODE", "1").env("CLAUDE_PROJECT_DIR", project.home()).current_dir(project.home());
    let line = "env -u CLAUDECODE \"$1\" leave plan; exit $?";
    let model = run_command(shell.args(["-c", line, "sh", env!("CARGO_BIN_EXE_modegate")]), b"");
    assert_eq!(model.exit, 1, "{model:?}");
    assert!(model.stderr.contains("only a person"), "{model:?}");
    // With a home of its own it is a test: nothing of the person's is there.
    assert_eq!(project.run(&["leave", "plan"]).exit, 0);
}

#[test]
fn modes_are_listed_shown_and_checked() {
    let project = Project::installed();
    let list = project.run(&["modes", "list"]).stdout;
    for name in ["base", "explore", "research", "plan", "code", "code-review", "implement"] {
        assert!(list.lines().any(|line| line.starts_with(name)), "{name} in {list}");
    }
    assert_eq!(project.run(&["modes", "list", "--json"]).json().as_array().unwrap().len(), 7);
    assert!(project.run(&["modes", "show", "plan"]).stdout.contains("agent: strategic-planner"));
    assert_eq!(project.run(&["modes", "show", "plan", "--json"]).json()["namespace"], "plan_mode");
    assert_eq!(project.run(&["modes", "check"]).exit, 0);
}

#[test]
fn a_broken_mode_file_is_shown_with_its_location_and_a_suggestion() {
    let project = Project::installed();
    project.write(
        ".claude/modes/plan.yaml",
        "mode: plan\nphases:\n  - phase: draft\n    agent: a\n    before:\n      - check: { fille: research }\n",
    );
    let output = project.run(&["modes", "check"]);
    let expected = "error: unknown check `fille`, did you mean `file`?
  --> .claude/modes/plan.yaml:6:18 in phases[0].before[0].check
 6 |       - check: { fille: research }
   |                  ^^^^^

error: `.claude/modes/plan.yaml` has 1 problem and is ignored
";
    assert_eq!((output.exit, output.stdout.as_str()), (1, expected));
}

#[test]
fn a_file_with_errors_and_warnings_is_reported_once() {
    let project = Project::installed();
    project.write(".claude/modegate.yaml", "levels: { nobody: warn }\nlevle: warn\n");
    project.write(
        ".claude/modes/own.yaml",
        "mode: own\ngates: [{ id: a, on: PreToolUse(Bsah), check: { fille: x }, else: No. }]\n",
    );
    let output = project.run(&["modes", "check"]);
    for text in [
        "no mode and no gate is called `nobody`",
        "has no key `levle`",
        "`.claude/modegate.yaml` has 2 problems and is ignored",
        "Bsah",
        "`.claude/modes/own.yaml` has 2 problems and is ignored",
    ] {
        assert!(output.stdout.contains(text), "{text}: {}", output.stdout);
    }
    assert!(output.exit == 1 && !output.stdout.contains("the rest is used"), "{}", output.stdout);
}

#[test]
fn the_list_of_modes_tells_warnings_from_errors() {
    let project = Project::new();
    project.write(".claude/modegate.yaml", "disable: code-revue\n");
    project.write(".claude/modes/broken.yaml", "mode: broken\nnonsense: 1\n");
    let printed = project.run(&["modes", "list"]);
    let starts: Vec<&str> = printed.stderr.lines().map(|line| line.split(" (").next().unwrap()).collect();
    assert_eq!(
        starts,
        ["error: `.claude/modes/broken.yaml` is not a mode", "warning: `.claude/modegate.yaml` has a problem"],
        "{printed:?}"
    );
}

#[test]
fn a_file_that_does_not_exist_is_not_checked() {
    let printed = Project::new().run(&["modes", "check", "nope.yaml"]);
    let expected = "error: `nope.yaml` does not exist\n";
    assert_eq!((printed.exit, printed.stdout.as_str(), printed.stderr.as_str()), (64, "", expected));
}

#[test]
fn every_line_of_the_journal_has_the_values_of_scripts() {
    let project = Project::installed();
    assert_eq!(project.run(&["cache", "set", "my_script", "runs", "3"]).exit, 0);
    project.shell("find .claude ../.local -type f -exec touch -d '1 hour ago' {} +");
    let read = json!({"hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "Read", "tool_input": {"file_path": "/x"}});
    for _ in 0..3 {
        assert_eq!(project.hook(&read).exit, 0);
    }
    let journal = project.read(".claude/hooks/sessions/s.jsonl");
    assert_eq!(journal.lines().count(), 3);
    for line in journal.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["before"]["values"], json!({"my_script": {"runs": 3}}));
    }
}

#[test]
fn scripts_get_and_set_values_under_the_lock() {
    let project = Project::new();
    let ok = CommandOutput { exit: 0, stdout: String::new(), stderr: String::new() };
    assert_eq!(project.run(&["cache", "set", "my_module", "key", "{\"a\": [1]}"]), ok);
    assert_eq!(project.run(&["cache", "get", "my_module", "key"]).json(), json!({"a": [1]}));
    assert_eq!(project.run(&["cache", "get", "my_module", "none"]).exit, 1);
    assert_eq!(project.run(&["cache", "set", "my_module", "key", "text"]).exit, 64);
    plan(&project);
    assert_eq!(project.run(&["cache", "get", "plan_mode", "is_active"]).json(), json!(true));
    assert_eq!(project.run(&["cache", "get", "plan_mode", "session_id"]).json(), json!("s"));
    assert_eq!(project.run(&["cache", "get", "plan_mode", "current_phase"]).json(), json!("draft"));
    assert_eq!(project.run(&["cache", "set", "plan_mode", "is_active", "false"]), ok);
    assert_eq!(project.hook(&planner_start()).exit, 0);
    assert_eq!(project.run(&["cache", "reset"]), ok);
    assert_eq!(project.run(&["cache", "get"]).json(), json!({}));
}

#[test]
fn the_demo_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let run = || {
        let mut demo = std::process::Command::new(env!("CARGO_BIN_EXE_modegate"));
        demo.arg("demo").env("TMPDIR", folder.path()).output().unwrap()
    };
    assert!(run().status.success());
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.path()).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn the_demo_shows_every_outcome() {
    let output = Project::new().run(&["demo"]);
    assert_eq!(output.exit, 0, "{}", output.stderr);
    for word in [
        "blocked  Research report not found.",
        "blocked  Plan not created.",
        "blocked  Plan not consulted.",
        "plan mode complete",
        "Planning complete.",
        "asked",
        "allowed",
    ] {
        assert!(output.stdout.contains(word), "{word}: {}", output.stdout);
    }
}

/// Starts plan mode in sessions with these ids.
fn plan_sessions(project: &Project, ids: &[&str]) {
    for id in ids {
        let prompt =
            json!({"hook_event_name": "UserPromptSubmit", "session_id": id, "prompt_id": "p", "prompt": "/plan x"});
        assert_eq!(project.hook(&prompt).exit, 0);
    }
}

#[test]
fn the_first_characters_of_a_session_id_are_enough() {
    let project = Project::new();
    plan_sessions(&project, &["5f1c2b3a-aaaa", "77777777-bbbb"]);
    let mut start = planner_start();
    start["session_id"] = "5f1c2b3a-aaaa".into();
    assert_eq!(project.hook(&start).exit, 2);
    for words in [
        &["why", "--session", "5f1c", "--json"][..],
        &["log", "--session", "5f1c2b3a"],
        &["log", "--path", "--session", "5f1c"],
        &["status", "--session", "5f1c"],
        &["cache", "get", "plan_mode", "phase", "--session", "5f1c"],
        &["leave", "plan", "--session", "5f1c"],
    ] {
        let output = project.run(words);
        assert_eq!(output.exit, 0, "{words:?} {output:?}");
        assert!(!output.stdout.contains("77777777"), "{words:?} {output:?}");
    }
    assert_eq!(project.run(&["status", "--session", "last"]).exit, 0);
}

#[test]
fn an_unknown_or_ambiguous_session_is_an_error_that_lists_the_near_ones() {
    let project = Project::new();
    plan_sessions(&project, &["5f1c2b3a-aaaa", "5f1c9999-bbbb"]);
    for words in [&["why"][..], &["log"], &["status"], &["cache", "get", "plan_mode"], &["leave", "plan"]] {
        let with = |id| project.run(&[words, &["--session", id]].concat());
        let ambiguous = with("5f1c");
        assert_eq!(ambiguous.exit, 1, "{words:?} {ambiguous:?}");
        let expected =
            "error: `5f1c` matches 2 sessions: 5f1c2b3a-aaaa, 5f1c9999-bbbb\n  hint: give more characters of the id\n";
        assert_eq!(ambiguous.stderr, expected, "{words:?}");
        let near = with("5f1c9899");
        assert_eq!(near.exit, 1, "{words:?} {near:?}");
        assert!(near.stderr.contains("hint: did you mean 5f1c9999-bbbb"), "{words:?} {near:?}");
        let unknown = with("zzzz");
        assert_eq!(unknown.exit, 1, "{words:?} {unknown:?}");
        assert!(unknown.stderr.contains("hint: run `modegate status --all` to list sessions"), "{words:?} {unknown:?}");
    }
}

#[test]
fn an_unknown_mode_is_not_replaced_by_a_distant_name() {
    let output = Project::new().run(&["leave", "nope"]);
    assert_eq!(
        (output.exit, output.stderr.as_str()),
        (64, "error: unknown mode `nope`\n  hint: run `modegate modes list` to see all modes\n")
    );
}

#[test]
fn the_log_has_one_line_per_event_in_local_time() {
    let project = Project::installed();
    let prompt = "<task-notification>\n  <id>1</id>\n  done\r\n</task-notification>";
    project.hook(&json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": prompt}));
    project.hook(&json!({"hook_event_name": "Stop", "session_id": "s"}));
    let output = run_command(project.modegate().env("TZ", "Asia/Kolkata").arg("log"), b"");
    let lines: Vec<&str> = output.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{output:?}");
    assert!(
        lines[0].ends_with("UserPromptSubmit(<task-notification> <id>1</id> done </task-notification…)"),
        "{output:?}"
    );
    assert!(lines[1].contains(" IST s allowed       Stop"), "{output:?}");
}

/// A line shows what a tool call is about, shortened, masked as in the journal, and without control characters.
#[test]
fn the_log_shows_the_command_or_the_path_on_one_line() {
    let project = Project::installed();
    let call = |tool: &str, input: Value| {
        project.hook(&json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": project.home(),
            "tool_name": tool, "tool_input": input}));
    };
    call("Bash", json!({"command": "npm test \\\n  --silent\u{1b}[31m --token abcdef123456"}));
    call("Edit", json!({"file_path": project.home().join("src/a.rs"), "old_string": "a", "new_string": "b"}));
    call("Bash", json!({"command": format!("echo {}", "long ".repeat(40))}));
    call("Grep", json!({"pattern": "fn main", "path": "src"}));
    let text = project.run(&["log"]).stdout;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert!(lines[0].ends_with("PreToolUse(Bash npm test \\ --silent [31m --token [masked])"), "{text}");
    assert!(lines[1].ends_with("PreToolUse(Edit src/a.rs)"), "{text}");
    assert!(lines[2].ends_with("long long …)") && lines[2].len() < 140, "{text}");
    assert!(lines[3].ends_with("PreToolUse(Grep fn main)"), "{text}");
}

#[test]
fn the_log_can_be_limited() {
    let project = Project::installed();
    for prompt in ["one", "two", "three"] {
        project.hook(&json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": prompt}));
    }
    let prompts = |words: &[&str]| {
        let output = project.run(&[&["log"], words].concat());
        assert_eq!(output.exit, 0, "{output:?}");
        let prompt = |line: &str| line.rsplit_once('(').unwrap().1.trim_end_matches(')').to_owned();
        output.stdout.lines().map(prompt).collect::<Vec<_>>()
    };
    assert_eq!(prompts(&["-n", "2"]), ["two", "three"]);
    assert_eq!(prompts(&["--last", "9"]), ["one", "two", "three"]);
    assert_eq!(prompts(&["--since", "1h"]), ["one", "two", "three"]);
    assert_eq!(prompts(&["--since", "2020-01-02", "-n", "1"]), ["three"]);
    assert_eq!(prompts(&["--since", "2999-01-02T03:04"]), Vec::<String>::new());
    let wrong = project.run(&["log", "--since", "yesterday"]);
    assert!(wrong.exit == 64 && wrong.stderr.contains("`2h`"), "{wrong:?}");
    let unknown = project.run(&["log", "--event", "Foo"]);
    assert!(unknown.stderr.contains("hint: the events are PreToolUse, PostToolUse, "), "{unknown:?}");
}

#[test]
fn color_is_chosen_by_flag_and_environment() {
    let project = Project::new();
    plan(&project);
    let colored = |words: &[&str], environment: &[(&str, &str)]| {
        let mut command = project.modegate();
        command.env_remove("NO_COLOR").envs(environment.iter().copied()).args(words);
        run_command(&mut command, b"").stdout.contains('\x1b')
    };
    assert!(!colored(&["log"], &[]), "a pipe has no color");
    assert!(colored(&["log", "--color", "always"], &[("NO_COLOR", "1")]));
    assert!(colored(&["log"], &[("CLICOLOR_FORCE", "1")]));
    assert!(!colored(&["log"], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(!colored(&["log", "--color=never"], &[("CLICOLOR_FORCE", "1")]));
    assert_eq!(project.run(&["log", "--color", "blue"]).exit, 64);
}

#[test]
fn completions_and_manual_pages_are_generated() {
    let project = Project::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = project.run(&["completions", shell]);
        assert!(output.exit == 0 && output.stdout.contains("uninstall"), "{shell} {output:?}");
    }
    let page = project.run(&["man"]).stdout;
    assert!(page.contains(".TH") && page.contains("doctor"), "{page}");
    assert_eq!(project.run(&["man", "--dir", "."]).exit, 0);
    assert!(project.read("modegate-cache-set.1").contains(".TH"));
    assert_eq!(project.run(&["man", "--dir", "new/man1"]).exit, 0);
    assert!(project.read("new/man1/modegate.1").contains(".TH"));
    project.write("file", "");
    let error = project.run(&["man", "--dir", "file/man1"]).stderr;
    assert!(error.starts_with("error: cannot write to `file/man1`: "), "{error}");
}

#[test]
fn status_shows_live_sessions_and_counts_older_ones() {
    let project = Project::new();
    assert_eq!(project.run(&["install"]).exit, 0);
    let empty = project.run(&["status"]).stdout;
    assert!(empty.contains("no sessions yet"), "{empty}");
    plan_sessions(&project, &["aaaa", "bbbb", "cccc"]);
    for id in ["aaaa", "bbbb"] {
        let path = format!(".claude/hooks/sessions/{id}.jsonl");
        let line = project.read(&path);
        let mut value: Value = serde_json::from_str(line.trim()).unwrap();
        value["at"] = "2020-01-02T03:04:05Z".into();
        project.write(&path, format!("{value}\n"));
    }
    let text = project.run(&["status"]).stdout;
    assert!(text.contains("session cccc, last event ") && text.ends_with("2 older sessions, use --all\n"), "{text}");
    assert!(text.contains("    next: draft (strategic-planner)."), "{text}");
    assert!(!text.contains("mode: next is"), "{text}");
    let all = project.run(&["status", "--all"]).stdout;
    assert!(all.find("cccc").unwrap() < all.find("aaaa").unwrap(), "{all}");
    assert!(project.run(&["status", "--session", "aaaa"]).stdout.contains("session aaaa"));
}

#[test]
fn status_says_that_the_hook_entries_are_gone() {
    let project = Project::new();
    assert_eq!(project.run(&["install", "--path"]).exit, 0);
    plan_sessions(&project, &["aaaa"]);
    assert_eq!(project.run(&["uninstall"]).exit, 0);
    let text = project.run(&["status"]).stdout;
    assert!(text.contains("modegate is not installed: no hook entry calls it; run `modegate install`"), "{text}");
    assert_eq!(project.run(&["status", "--json"]).json()["installed"], false);

    project.write(".claude/modes/own.yaml", "mode: own\n");
    let output = run_command(project.modegate().env_remove("MODEGATE_TRUST").arg("status"), b"");
    assert!(!output.stdout.contains("trust"), "no file is used without hooks: {}", output.stdout);
}

/// `--all` lists what `log` lists, also sessions that used no mode.
#[test]
fn status_counts_old_sessions_without_a_mode() {
    let project = Project::new();
    assert_eq!(project.run(&["install", "--path"]).exit, 0);
    for id in ["aaaa", "bbbb"] {
        project.hook(&json!({"hook_event_name": "UserPromptSubmit", "session_id": id, "prompt": "hello"}));
        let path = format!(".claude/hooks/sessions/{id}.jsonl");
        let mut value: Value = serde_json::from_str(project.read(&path).trim()).unwrap();
        value["at"] = "2020-01-02T03:04:05Z".into();
        project.write(&path, format!("{value}\n"));
        let long_ago = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_577_934_245);
        std::fs::File::options().write(true).open(project.home().join(path)).unwrap().set_modified(long_ago).unwrap();
    }
    let text = project.run(&["status"]).stdout;
    assert!(text.ends_with("2 older sessions, use --all\n"), "{text}");
    let all = project.run(&["status", "--all"]).stdout;
    assert!(all.contains("session aaaa, ") && all.contains("session bbbb, "), "{all}");
    assert_eq!(project.run(&["status", "--json"]).json()["sessions"].as_array().unwrap().len(), 2);
}

#[test]
fn status_says_that_the_program_is_missing() {
    let project = Project::new();
    let path = ("PATH", "/usr/bin:/bin");
    let run = |words: &[&str]| run_command(project.modegate().env(path.0, path.1).args(words), b"");
    assert_eq!(run(&["install"]).exit, 0);
    assert!(run(&["status"]).stdout.contains("no sessions yet"));
    let program = format!(".claude/hooks/modegate{}", std::env::consts::EXE_SUFFIX);
    std::fs::remove_file(project.home().join(&program)).unwrap();
    assert!(!run(&["status"]).stdout.contains("problem"), "the user has a copy");
    std::fs::remove_dir_all(project.user().join(".local/state/modegate/bin")).unwrap();
    let text = run(&["status"]).stdout;
    assert!(text.contains(&format!("problem  `{program}` does not exist")), "{text}");
    assert!(text.contains("fix: run `modegate install` without `--path`, or put modegate on PATH"), "{text}");
    assert!(!text.contains("no sessions yet"), "{text}");
}

/// The parts of a check that contradict the check are explained.
#[test]
fn why_shows_how_checks_are_composed() {
    let project = Project::installed();
    project.write(
        ".claude/modes/base.yaml",
        "mode: base\ngates:\n  - id: either\n    on: PreToolUse(Bash)\n    check: { all: [{ not: { command: git push } }, \
         { any: [{ file: a.md }, { not: { command: rm } }] }] }\n    else: No.\n",
    );
    let call = json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "git push"}});
    assert_eq!(project.hook(&call).exit, 2);
    let text = project.run(&["why"]).stdout;
    let labels: Vec<&str> =
        text.lines().map(str::trim).filter(|line| ["all of:", "any of:", "not:"].contains(line)).collect();
    assert_eq!(labels, ["all of:", "not:", "any of:", "not:"], "{text}");
}

/// Every base gate looks at a command line; an explanation names those that objected and counts the others.
#[test]
fn why_counts_the_base_gates_that_passed() {
    let project = Project::installed();
    let call = |command: &str| json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": command}});
    assert_eq!(project.hook(&call("rm -rf /etc")).exit, 2);
    let text = project.run(&["why"]).stdout;
    assert!(text.starts_with("PreToolUse(Bash rm -rf /etc) was blocked\n"), "{text}");
    assert!(text.contains("\n└ system-is-not-removed [base mode]: block\n"), "{text}");
    assert!(text.contains(" base gates passed, use --all\n") && !text.contains("no-fork-bomb"), "{text}");
    assert!(text.lines().count() < 15, "{text}");
    let all = project.run(&["why", "--all"]).stdout;
    assert!(all.contains("no-fork-bomb [base mode]: pass"), "{all}");
    assert!(all.contains("would it change the permissions of or change the owner of "), "{all}");
    project.hook(&call("echo 'unclosed"));
    let text = project.run(&["why"]).stdout;
    assert!(text.starts_with("PreToolUse(Bash echo 'unclosed) needed approval\n"), "{text}");
    assert!(text.lines().count() < 15, "what a part repeats is left out: {text}");
}

#[test]
fn status_names_a_session_without_a_mode() {
    let project = Project::installed();
    project.hook(&json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "hello"}));
    assert!(project.run(&["status"]).stdout.contains("\n  no mode was used\n"));
}

/// The subcommands that a help text lists.
fn subcommands(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.split_whitespace().next().map(str::to_owned));
    names.filter(|name| name != "help").collect()
}

#[test]
fn every_help_has_an_example() {
    let project = Project::new();
    let mut paths: Vec<Vec<String>> = vec![Vec::new()];
    let mut seen = 0;
    while let Some(path) = paths.pop() {
        let words: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
        let help = project.run(&words).stdout;
        assert!(help.contains("Example"), "{path:?}: {help}");
        paths.extend(subcommands(&help).into_iter().map(|name| [path.clone(), vec![name]].concat()));
        seen += 1;
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn status_shows_the_metadata_of_each_session() {
    let project = Project::installed();
    for session in ["one", "two"] {
        let event = json!({"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": "/plan x"});
        project.hook(&event);
    }
    assert_eq!(project.run(&["cache", "set", "metadata", "team", "\"web\""]).exit, 0);
    assert_eq!(project.run(&["cache", "set", "metadata", "ticket", "\"X-1\"", "--session", "one"]).exit, 0);
    let status = project.run(&["status", "--json"]).json();
    let of = |id: &str| {
        let mut sessions = status["sessions"].as_array().unwrap().iter();
        sessions.find(|session| session["id"] == id).unwrap()["facts"]["metadata"].clone()
    };
    assert_eq!((of("one"), of("two")), (json!({"team": "web", "ticket": "X-1"}), json!({"team": "web"})));
}

/// A program that a tool runs may run modegate, whatever the command line of the tool call was.
#[test]
fn a_tool_cannot_set_the_state_of_a_mode() {
    let project = Project::installed();
    project.hook(&json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "/plan x"}));
    let run = |arguments: &[&str]| run_command(project.modegate().env("CLAUDECODE", "1").args(arguments), b"");
    for arguments in [&["cache", "set", "plan_mode", "is_active", "false"][..], &["cache", "reset"]] {
        let refused = run(arguments);
        assert!(refused.exit == 1 && refused.stderr.contains("only a person can run"), "{refused:?}");
    }
    assert_eq!(project.run(&["cache", "get", "plan_mode", "is_active"]).json(), json!(true));
    // The scripts of gates keep values of their own.
    assert_eq!(run(&["cache", "set", "my_script", "runs", "3"]).exit, 0);
}
