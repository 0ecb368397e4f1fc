//! The doctor finds everything that keeps the hook from working, with a fix.

use crate::project::{Project, run_command};
use serde_json::{Value, json};
use std::fs;

const SETTINGS: &str = ".claude/settings.json";

/// A project with a working installation that calls the program on PATH.
fn working() -> Project {
    let project = Project::new();
    project.git(&["init", "-q"]);
    let output = project.run(&["install", "--path"]);
    assert_eq!(output.exit, 0, "{output:?}");
    project
}

/// The doctor's report, with modegate on PATH.
fn examined(project: &Project, words: &[&str]) -> (i32, Value) {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_modegate")).parent().unwrap();
    let path = std::env::join_paths(
        [program.to_owned()].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let output = run_command(project.modegate().env("PATH", path.unwrap()).args(["doctor", "--json"]).args(words), b"");
    (output.exit, output.json())
}

fn checks(report: &Value, severity: &str) -> Vec<String> {
    let reports = report["diagnostics"].as_array().unwrap().iter();
    reports.filter(|one| one["severity"] == severity).map(|one| one["check"].as_str().unwrap().to_owned()).collect()
}

/// The message of a diagnostic, with its items.
fn message(diagnostic: &Value) -> String {
    format!("{} {}", diagnostic["message"].as_str().unwrap(), diagnostic["items"])
}

/// After `harm`, the doctor reports the check `id` with a fix.
#[track_caller]
fn finds(id: &str, words: &str, harm: impl FnOnce(&Project)) {
    let project = working();
    harm(&project);
    let (exit, report) = examined(&project, &[]);
    let found = report["diagnostics"].as_array().unwrap().iter().find(|one| one["check"] == id);
    assert!(found.is_some(), "no {id} in {report:#}");
    let found = found.unwrap();
    assert!(message(found).contains(words), "{found:#}");
    assert!(found["fix"].as_str().is_some_and(|fix| !fix.is_empty()), "{found:#}");
    assert_eq!(exit, i32::from(report["problems"] != 0), "{report:#}");
    if found["severity"] == "problem" {
        assert_eq!(exit, 1);
    }
}

/// Changes the settings file.
fn edit(project: &Project, change: impl FnOnce(&mut Value)) {
    let mut value: Value = serde_json::from_str(&project.read(SETTINGS)).unwrap();
    change(&mut value);
    project.write(SETTINGS, value.to_string());
}

/// The settings with entries that start a program directly, as another tool or an earlier version wrote them.
fn with_direct_entries(project: &Project, program: &str) -> Value {
    let mut value: Value = serde_json::from_str(&project.read(SETTINGS)).unwrap();
    for groups in value["hooks"].as_object_mut().unwrap().values_mut() {
        groups[0]["hooks"][0] = json!({"type": "command", "command": program, "args": ["hook"], "timeout": 150});
    }
    value
}

fn call_directly(project: &Project, program: &str) {
    project.write(SETTINGS, with_direct_entries(project, program).to_string());
}

#[test]
fn a_working_installation_has_no_problem() {
    let (exit, report) = examined(&working(), &["--live"]);
    assert_eq!((exit, &report["problems"]), (0, &json!(0)), "{report:#}");
    let live = report["live"].as_array().unwrap();
    assert_eq!(live.len(), 10);
    assert!(live.iter().all(|one| one["exit"] == 0 && one["error"].is_null()), "{live:#?}");
}

#[test]
fn live_checks_leave_no_files() {
    let project = working();
    examined(&project, &["--live"]);
    assert!(!project.home().join(".claude/hooks/sessions").exists());
    assert!(!project.home().join(".claude/hooks/cache.json").exists());
}

#[test]
fn a_folder_without_modegate_needs_an_installation() {
    let project = Project::new();
    let (exit, report) = examined(&project, &[]);
    assert_eq!(exit, 1);
    assert!(checks(&report, "problem").contains(&"entries-missing".to_owned()), "{report:#}");
    assert!(!project.home().join(".claude").exists(), "the doctor leaves no trace");
}

#[test]
fn missing_duplicated_filtered_and_disabled_entries_are_found() {
    finds("entries-missing", "for Stop", |project| {
        edit(project, |value| drop(value["hooks"].as_object_mut().unwrap().remove("Stop")));
    });
    finds("entries-missing", "for PreCompact", |project| {
        project.write(
            ".claude/modes/base.yaml",
            "mode: base\nextends: builtin\ngates:\n  - { id: a, on: PreCompact, check: { file: a/x } }\n",
        );
    });
    finds("entries-duplicated", "modegate is called twice for each of these events, by ", |project| {
        project.write(".claude/settings.local.json", project.read(SETTINGS).replace("150", "60"));
    });
    finds("entries-duplicated", "plugins/cache/x/1.0/hooks/hooks.json", |project| plugin(project, true));
    finds("entries-filtered", "hooks.PreToolUse", |project| {
        edit(project, |value| value["hooks"]["PreToolUse"][0]["matcher"] = json!("Bash"));
    });
    finds("entries-async", "hooks.Stop", |project| {
        edit(project, |value| value["hooks"]["Stop"][0]["hooks"][0]["async"] = json!(true));
    });
    finds("timeout-too-short", "hooks.Stop", |project| {
        edit(project, |value| value["hooks"]["Stop"][0]["hooks"][0]["timeout"] = json!(1));
    });
    finds("hooks-disabled", "`.claude/settings.local.json` has `disableAllHooks`", |project| {
        project.write(".claude/settings.local.json", r#"{"disableAllHooks": true}"#);
    });
    finds("worktrees-blocked", "WorktreeCreate", |project| {
        edit(project, |value| value["hooks"]["WorktreeCreate"] = value["hooks"]["Stop"].clone());
    });
}

/// A plugin that calls modegate too.
fn plugin(project: &Project, enabled: bool) {
    let user = project.home().parent().unwrap().join(".claude");
    let root = user.join("plugins/cache/x/1.0");
    fs::create_dir_all(root.join("hooks")).unwrap();
    let hooks = with_direct_entries(project, "${CLAUDE_PLUGIN_ROOT}/modegate").to_string();
    fs::write(root.join("hooks/hooks.json"), hooks).unwrap();
    fs::write(root.join("modegate"), format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_modegate"))).unwrap();
    project.shell(&format!("chmod +x '{}'", root.join("modegate").display()));
    let list = json!({"version": 2, "plugins": {"x@acme": [{"scope": "user", "installPath": root}]}});
    fs::write(user.join("plugins/installed_plugins.json"), list.to_string()).unwrap();
    fs::write(user.join("settings.json"), json!({"enabledPlugins": {"x@acme": enabled}}).to_string()).unwrap();
}

#[test]
fn only_enabled_plugins_count() {
    let project = working();
    plugin(&project, false);
    let broken = project.home().parent().unwrap().join(".claude/plugins/marketplaces/y/hooks");
    fs::create_dir_all(&broken).unwrap();
    fs::write(broken.join("hooks.json"), "{").unwrap();
    let (_, report) = examined(&project, &[]);
    assert!(checks(&report, "problem").is_empty(), "{report:#}");
    // The plugin alone works too.
    plugin(&project, true);
    fs::remove_file(project.home().join(SETTINGS)).unwrap();
    let (exit, report) = examined(&project, &["--live"]);
    assert_eq!(exit, 0, "{report:#}");
    // A project without the workflow may not want it.
    fs::remove_dir_all(project.home().join(".claude/commands")).unwrap();
    fs::remove_dir_all(project.home().join(".claude/agents")).unwrap();
    let (exit, report) = examined(&project, &[]);
    assert_eq!((exit, checks(&report, "problem").len()), (0, 0), "{report:#}");
    let text = report.to_string();
    assert!(text.contains("a plugin gates this project") && text.contains("hooks.json"), "{report:#}");
}

#[test]
fn a_program_that_hangs_does_not_hang_the_doctor() {
    let project = working();
    project.write("bin/claude", "#!/bin/sh\nsleep 600\n");
    call_directly(&project, "${CLAUDE_PROJECT_DIR}/bin/modegate");
    project.write("bin/modegate", "#!/bin/sh\nsleep 600 & exit 0\n");
    project.shell("chmod +x bin/*; mkfifo .claude/agents/pipe.md");
    let path = format!("{}:{}", project.home().join("bin").display(), std::env::var("PATH").unwrap());
    let output = run_command(project.modegate().env("PATH", path).args(["doctor", "--live", "--json"]), b"");
    assert_eq!(output.exit, 1);
    let report = output.json();
    let problems = checks(&report, "problem");
    assert!(problems.contains(&"program-broken".to_owned()), "{report:#}");
    assert!(problems.contains(&"hook-fails".to_owned()), "an answer without a journal line: {report:#}");
}

#[test]
fn a_call_within_a_shell_line_counts_only_in_the_users_own_settings() {
    let own = json!([{"hooks": [{"type": "command", "command": "nice modegate hook || true"}]}]);
    let unclear = "an entry names modegate, but may not call it, so it does not count";
    finds("entries-unclear", unclear, |project| edit(project, |value| value["hooks"]["Stop"] = own.clone()));
    finds("entries-missing", "for Stop", |project| edit(project, |value| value["hooks"]["Stop"] = own.clone()));
    finds("entries-altered", "`once` may keep modegate from deciding", |project| {
        edit(project, |value| value["hooks"]["Stop"][0]["hooks"][0]["once"] = json!(true));
    });
    let project = working();
    edit(&project, |value| drop(value["hooks"].as_object_mut().unwrap().remove("Stop")));
    let users = project.user().join(".claude/settings.json");
    fs::create_dir_all(users.parent().unwrap()).unwrap();
    fs::write(users, json!({"hooks": {"Stop": own}}).to_string()).unwrap();
    let (exit, report) = examined(&project, &[]);
    assert_eq!(exit, 0, "{report:#}");
}

#[test]
fn equal_entries_in_two_settings_files_run_once() {
    let project = working();
    project.write(".claude/settings.local.json", project.read(SETTINGS));
    let (_, report) = examined(&project, &[]);
    assert!(checks(&report, "problem").is_empty(), "{report:#}");
}

#[test]
fn a_later_settings_file_can_enable_hooks_again() {
    let project = working();
    project.write(".claude/settings.local.json", r#"{"disableAllHooks": false}"#);
    edit(&project, |value| value["disableAllHooks"] = json!(true));
    let (_, report) = examined(&project, &[]);
    assert!(checks(&report, "problem").is_empty(), "{report:#}");
}

#[test]
fn settings_that_the_host_ignores_are_found() {
    finds("settings-unreadable", "it cannot be read", |project| {
        fs::create_dir_all(project.home().join(".claude/settings.local.json")).unwrap();
    });
    for text in ["{\n  // mine\n}\n", "{ // mine\n}\n", "{ \"a\": 1, /* mine */ \"b\": 2 }\n"] {
        finds(
            "settings-unreadable",
            "comments are not allowed in JSON, so Claude Code ignores the whole file",
            |project| {
                project.write(".claude/settings.local.json", text);
            },
        );
    }
    finds("event-unknown", "unknown event `PreTolUse`, did you mean `PreToolUse`?", |project| {
        edit(project, |value| value["hooks"]["PreTolUse"] = json!([]));
    });
    finds("entry-malformed", "an entry has no `type`; Claude Code then runs no hook of that file", |project| {
        edit(project, |value| {
            value["hooks"]["PreToolUse"].as_array_mut().unwrap().push(json!({"hooks": [{"command": "x"}]}));
        });
    });
}

#[test]
fn a_missing_or_outdated_program_is_found() {
    let local = "${CLAUDE_PROJECT_DIR}/.claude/hooks/modegate";
    let elsewhere = |project: &Project| call_directly(project, local);
    finds("program-missing", "`.claude/hooks/modegate` does not exist", elsewhere);
    let script = |project: &Project, text: &str| {
        elsewhere(project);
        project.write(".claude/hooks/modegate", text);
        project.shell("chmod +x .claude/hooks/modegate");
    };
    finds("program-outdated", "is modegate 0.0.1, this is", |project| {
        script(project, "#!/bin/sh\necho modegate 0.0.1\n");
    });
    finds("program-broken", "`--version` prints `hello`", |project| script(project, "#!/bin/sh\necho hello\n"));
}

/// An installation whose copy of the program prints another version.
#[cfg(unix)]
fn with_copy_of(version: &str) -> Project {
    let project = Project::new();
    project.git(&["init", "-q"]);
    assert_eq!(project.run(&["install"]).exit, 0);
    project.write(".claude/hooks/modegate", format!("#!/bin/sh\necho modegate {version}\n"));
    project.shell("sha256sum .claude/hooks/modegate | cut -d ' ' -f 1 > hash");
    let mut manifest: Value = serde_json::from_str(&project.read(".claude/hooks/installed.json")).unwrap();
    manifest["files"]["hooks/modegate"] = project.read("hash").trim().into();
    project.write(".claude/hooks/installed.json", manifest.to_string());
    project
}

#[cfg(unix)]
#[test]
fn an_older_copy_is_replaced_without_a_question() {
    let project = with_copy_of("0.0.9");
    let (exit, report) = examined(&project, &[]);
    assert_eq!(exit, 0, "{report:#}");
    let refreshed = report["diagnostics"].as_array().unwrap().iter().find(|one| one["check"] == "program-refreshed");
    let message = refreshed.unwrap()["message"].as_str().unwrap();
    assert!(message.starts_with("`.claude/hooks/modegate` was modegate 0.0.9 and is now 0."), "{message}");
    let program = fs::read(env!("CARGO_BIN_EXE_modegate")).unwrap();
    assert!(fs::read(project.home().join(".claude/hooks/modegate")).unwrap() == program);
    // The replaced copy is as installed: nothing is reported, and `uninstall` removes it.
    let start = json!({"hook_event_name": "SessionStart", "session_id": "s", "source": "startup"});
    assert!(project.hook(&start).json()["systemMessage"].is_null());
    assert_eq!(
        checks(&examined(&project, &[]).1, "ok").iter().filter(|check| *check == "program-refreshed").count(),
        0
    );
    assert_eq!(project.run(&["uninstall"]).exit, 0);
    assert!(!project.home().join(".claude/hooks/modegate").exists());
}

#[cfg(unix)]
#[test]
fn other_copies_are_left_to_a_person() {
    let newer = with_copy_of("99.0.0");
    let changed = with_copy_of("0.0.9");
    changed.write(".claude/hooks/modegate", "#!/bin/sh\necho modegate 0.0.8\n");
    let by_model = with_copy_of("0.0.9");
    for (project, variable, fix) in [
        (&newer, "NONE", "update the modegate you run here"),
        (&changed, "NONE", "run `modegate install`"),
        (&by_model, "CLAUDECODE", "run `modegate install`"),
    ] {
        let before = project.read(".claude/hooks/modegate");
        let output = run_command(project.modegate().env(variable, "1").args(["doctor", "--json"]), b"");
        let report = output.json();
        let found = report["diagnostics"].as_array().unwrap().iter().find(|one| one["check"] == "program-outdated");
        assert!(found.unwrap()["fix"].as_str().unwrap().starts_with(fix), "{report:#}");
        assert_eq!((output.exit, project.read(".claude/hooks/modegate")), (1, before));
    }
}

#[test]
fn missing_commands_agents_and_tools_are_found() {
    finds("command-missing", "[\"/plan (Claude Code's own command does not start the mode)\"]", |project| {
        fs::remove_file(project.home().join(".claude/commands/plan.md")).unwrap();
    });
    finds("agent-missing", "agents without a file in `.claude/agents` [\"strategic-planner\"]", |project| {
        fs::remove_file(project.home().join(".claude/agents/strategic-planner.md")).unwrap();
    });
    finds(
        "agent-tools-missing",
        "research-consultant (`.claude/agents/research-consultant.md`) needs Bash to pass [\"research-is-committed\"]",
        |project| {
            project.write(
                ".claude/agents/research-consultant.md",
                "---\nname: research-consultant\ntools: Read, Edit\n---\nx\n",
            );
        },
    );
    finds("agent-missing", "strategic-planner", |project| {
        project.write(".claude/agents/strategic-planner.md", "no frontmatter\n");
    });
    finds("agent-tools-missing", "needs Write or Edit", |project| {
        project.write(".claude/agents/strategic-planner.md", "---\nname: strategic-planner\ntools: [Read]\n---\nx\n");
    });
    finds("agent-tools-missing", "[\"review-is-written\",\"review-is-complete\"]", |project| {
        project.write(".claude/agents/code-reviewer.md", "---\nname: code-reviewer\ntools: [Read]\n---\nx\n");
    });
}

#[test]
fn a_command_may_be_a_skill_and_an_agent_may_be_the_users() {
    let project = working();
    let home = project.home();
    fs::remove_file(home.join(".claude/commands/plan.md")).unwrap();
    project.write(".claude/skills/plan/SKILL.md", "---\ndescription: x\n---\n");
    let user = home.parent().unwrap().join(".claude/agents");
    fs::create_dir_all(&user).unwrap();
    fs::rename(home.join(".claude/agents/strategic-planner.md"), user.join("planner.md")).unwrap();
    // A colon in a description and restricted tools are accepted.
    project.write(
        ".claude/agents/research-consultant.md",
        "---\nname: research-consultant\ndescription: Use it. Example: <example>Context: a\ntools: [Edit, Bash(git *)]\ndisallowedTools: Edit(secret/**)\n---\nx\n",
    );
    let (_, report) = examined(&project, &[]);
    assert!(checks(&report, "problem").is_empty(), "{report:#}");
}

#[test]
fn gates_that_can_never_pass_are_found() {
    let mode = |text: &'static str| move |project: &Project| project.write(".claude/modes/base.yaml", text);
    finds(
        "mode-invalid",
        "unknown check `fille`",
        mode("mode: base\ngates:\n  - { id: a, on: Stop, check: { fille: x } }\n"),
    );
    finds(
        "gate-unsatisfiable",
        "gate a of base mode can never pass: plan mode has no phase \"darft\"",
        mode("mode: base\ngates:\n  - { id: a, on: Stop, check: { state: { plan_mode.phase: darft } } }\n"),
    );
    finds(
        "gate-unsatisfiable",
        "a check and its opposite",
        mode("mode: base\ngates:\n  - { id: a, on: Stop, check: { all: [{ file: a/x }, { not: { file: a/x } }] } }\n"),
    );
    finds(
        "gate-cannot-block",
        "is on SessionStart, which cannot be blocked",
        mode("mode: base\ngates:\n  - { id: a, on: SessionStart, check: { file: a/x } }\n"),
    );
    finds("gate-unsatisfiable", "committed, but git ignores it", |project| project.write(".gitignore", "project/\n"));
    finds("git-unavailable", "stay closed", |project| {
        fs::remove_dir_all(project.home().join(".git")).unwrap();
    });
}

#[test]
fn unreadable_and_unwritable_state_is_found() {
    finds("state-unreadable", "cannot be read", |project| project.write(".claude/hooks/cache.json", "{"));
    finds("state-unreadable", "version 99", |project| project.write(".claude/hooks/cache.json", r#"{"version": 99}"#));
    finds("journal-off", "the journal is off", |project| project.write(".claude/modegate.yaml", "journal: false\n"));
    finds("state-unwritable", "cannot be written", |project| {
        // A file where the folder should be: root may write everywhere else.
        fs::remove_dir_all(project.home().join(".claude/hooks")).unwrap();
        project.write(".claude/hooks", "");
    });
}

#[cfg(target_os = "linux")]
#[test]
fn the_process_that_holds_the_lock_is_named() {
    let project = working();
    project.write(".claude/hooks/cache.lock", "");
    let lock = fs::File::options().write(true).open(project.home().join(".claude/hooks/cache.lock")).unwrap();
    lock.lock().unwrap();
    let (exit, report) = examined(&project, &[]);
    assert_eq!(exit, 1);
    let found =
        report["diagnostics"].as_array().unwrap().iter().find(|one| one["check"] == "lock-held").expect("a report");
    let own = format!("process {} (", std::process::id());
    assert!(message(found).contains(&own), "{found:#}");
    lock.unlock().unwrap();
}

#[test]
fn stops_of_unknown_agents_are_counted() {
    finds("agent-unknown", "1 subagent stops of unknown agents", |project| {
        project.hook(&json!({"hook_event_name": "SubagentStop", "session_id": "s", "agent_id": "a1"}));
        // A fork of the host has an empty agent type.
        project
            .hook(&json!({"hook_event_name": "SubagentStop", "session_id": "s", "agent_id": "a2", "agent_type": ""}));
    });
}

/// Sets the time of the installation back.
fn installed_hours_ago(project: &Project, hours: i64) {
    let mut manifest: Value = serde_json::from_str(&project.read(".claude/hooks/installed.json")).unwrap();
    manifest["at"] = json!((jiff::Timestamp::now() - jiff::SignedDuration::from_hours(hours)).to_string());
    project.write(".claude/hooks/installed.json", manifest.to_string());
}

#[test]
fn sessions_before_the_installation_do_not_matter() {
    let project = working();
    transcript(&project, "before", -3600);
    installed_hours_ago(&project, 0);
    let (exit, report) = examined(&project, &[]);
    assert_eq!(exit, 0, "{report:#}");
}

#[test]
fn a_hook_that_works_again_is_only_a_note() {
    let project = working();
    transcript(&project, "lost", -3600);
    project.hook(&json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "hello"}));
    let (exit, report) = examined(&project, &[]);
    assert_eq!(exit, 0, "{report:#}");
    assert!(checks(&report, "note").contains(&"hook-not-called".to_owned()), "{report:#}");
}

/// A transcript in which the model calls a tool `seconds` from now.
fn transcript(project: &Project, name: &str, seconds: i64) -> std::path::PathBuf {
    installed_hours_ago(project, 5);
    let folder: String =
        project.home().to_str().unwrap().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let folder = project.home().parent().unwrap().join(".claude/projects").join(folder);
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{name}.jsonl"));
    let at = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(seconds);
    let call = json!({"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}});
    let line = json!({"type": "assistant", "timestamp": at.to_string(), "message": {"content": [call]}});
    let result = json!({"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"});
    fs::write(&path, format!("{line}\n{}\n", json!({"type": "user", "message": {"content": [result]}}))).unwrap();
    path
}

/// A tool call of session `s`, as the hook gets it.
fn call(path: &std::path::Path, id: &str) -> Value {
    json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": id, "transcript_path": path})
}

#[test]
fn a_single_call_that_does_not_reach_the_hook_is_found() {
    let project = working();
    let path = transcript(&project, "s", 1);
    project.hook(&call(&path, "toolu_0"));
    let status = project.run(&["status"]).stdout;
    assert!(status.contains(", but used a tool without it "), "{status}");
    // The hook works again.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    project.hook(&call(&path, "toolu_2"));
    let (exit, report) = examined(&project, &[]);
    assert_eq!(exit, 0, "{report:#}");
    assert!(checks(&report, "note").contains(&"hook-not-called".to_owned()), "{report:#}");
    // A call that the host refused reaches no hook, and one that has no result yet may still run.
    let text = fs::read_to_string(&path).unwrap();
    for harmless in
        [text.replace("\"tool_result\"", "\"tool_result\",\"is_error\":true"), text.replace("tool_result", "text")]
    {
        fs::write(&path, harmless).unwrap();
        assert!(!project.run(&["status"]).stdout.contains("but used"), "{}", fs::read_to_string(&path).unwrap());
    }
    fs::write(&path, text).unwrap();
    project.hook(&call(&path, "toolu_1"));
    assert!(!project.run(&["status"]).stdout.contains("but used"), "the call is known");
}

#[test]
fn a_session_that_does_not_call_the_hook_is_found() {
    finds("hook-not-called", "session lost has never called the hook", |project| {
        transcript(project, "lost", -30);
        // The host writes this when the user chooses "always allow".
        project.write(".claude/settings.local.json", "{}");
        let status = project.run(&["status"]).stdout;
        assert!(status.contains("session lost has never called the hook"), "{status}");
        assert_eq!(project.run(&["status", "--json"]).json()["silent"], json!(["lost"]));
    });
    let project = working();
    let path = transcript(&project, "s", 120);
    let prompt = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt_id": "p", "prompt": "/plan x", "transcript_path": path});
    project.hook(&prompt);
    let (_, report) = examined(&project, &[]);
    assert!(checks(&report, "problem").contains(&"hook-not-called".to_owned()), "{report:#}");
    let status = project.run(&["status"]).stdout;
    assert!(status.contains("last called the hook") && status.contains(", but used a tool without it"), "{status}");
    assert_eq!(project.run(&["status", "--json"]).json()["sessions"][0]["missed"], true);
}

#[test]
fn a_session_that_calls_the_hook_is_fine() {
    let project = working();
    let path = transcript(&project, "s", -5);
    let prompt = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt_id": "p", "prompt": "/plan x", "transcript_path": path});
    project.hook(&prompt);
    let (exit, report) = examined(&project, &[]);
    assert_eq!(exit, 0, "{report:#}");
    let status = project.run(&["status"]).stdout;
    assert!(status.contains("last event") && !status.contains("but used"), "{status}");
    assert_eq!(project.run(&["status", "--json"]).json()["sessions"][0]["missed"], false);
}

#[test]
fn a_failing_hook_command_is_found_with_live() {
    let project = working();
    call_directly(&project, "${CLAUDE_PROJECT_DIR}/bin/modegate");
    project.write(
        "bin/modegate",
        "#!/bin/sh\n[ \"$1\" = --version ] && echo modegate 0.1.0 && exit\necho oops >&2\nexit 3\n",
    );
    project.shell("chmod +x bin/modegate");
    let (exit, report) = examined(&project, &["--live"]);
    assert_eq!(exit, 1);
    let found =
        report["diagnostics"].as_array().unwrap().iter().find(|one| one["check"] == "hook-fails").expect("a report");
    assert!(message(found).contains("exit code 3, so Claude Code lets the event through (oops)"), "{found:#}");
}

#[test]
fn people_get_lines_and_a_count() {
    let project = Project::new();
    let output = project.run(&["doctor"]);
    assert_eq!(output.exit, 1);
    assert!(output.stdout.contains("problem  no hook entry calls modegate"), "{}", output.stdout);
    assert!(output.stdout.contains("fix: run `modegate install`"), "{}", output.stdout);
}

#[test]
fn a_missing_program_is_one_problem_with_its_events() {
    let project = working();
    call_directly(&project, "${CLAUDE_PROJECT_DIR}/.claude/hooks/modegate");
    let (exit, report) = examined(&project, &["--live"]);
    assert_eq!((exit, &report["problems"]), (1, &json!(1)), "{report:#}");
    let found = report["diagnostics"].as_array().unwrap().iter().find(|one| one["check"] == "program-missing").unwrap();
    assert_eq!(found["items"].as_array().unwrap().len(), 10, "{found:#}");
}

/// What the entries of a broken file would call is not known, and `install` cannot change that file.
#[test]
fn a_broken_settings_file_is_one_problem() {
    let project = working();
    project.write(".claude/settings.json", "{ // mine\n}\n");
    let output = project.run(&["doctor"]);
    assert!(output.stdout.ends_with("\n1 problem\n"), "{}", output.stdout);
    assert!(output.stdout.contains("JSON has neither comments nor trailing commas"), "{}", output.stdout);
}

#[test]
fn missing_agents_of_a_projects_own_mode_are_one_problem() {
    let project = working();
    project.write(
        ".claude/modes/own.yaml",
        "mode: own\nphases:\n  - { phase: one, agent: first }\n  - { phase: two, agent: second }\n",
    );
    let (_, report) = examined(&project, &[]);
    let found: Vec<&Value> =
        report["diagnostics"].as_array().unwrap().iter().filter(|one| one["check"] == "agent-missing").collect();
    assert_eq!(found.len(), 1, "{report:#}");
    assert_eq!(found[0]["items"], json!(["first", "second"]));
    assert_eq!(found[0]["fix"], "write `.claude/agents/NAME.md` for each");
}

#[test]
fn every_mode_that_needs_git_is_named() {
    let project = Project::new();
    assert_eq!(project.run(&["install"]).exit, 0);
    let (_, report) = examined(&project, &[]);
    let found = report["diagnostics"].as_array().unwrap().iter().find(|one| one["check"] == "git-unavailable").unwrap();
    let text = found["message"].as_str().unwrap();
    assert!(text.ends_with("so gates of these modes stay closed: implement, research, code, code-review"), "{text}");
}

#[test]
fn a_program_that_is_nowhere_is_not_fixed_by_the_same_installation() {
    let project = Project::new();
    let mut install = project.modegate();
    let output = crate::project::run_command(install.env("PATH", "/usr/bin:/bin").args(["install", "--path"]), b"");
    assert!(
        output.stdout.contains("fix: run `modegate install` without `--path`, or put modegate on PATH"),
        "{output:?}"
    );
}

#[test]
fn a_folder_without_modegate_has_one_problem() {
    let project = Project::new();
    project.git(&["init", "-q"]);
    let output = project.run(&["doctor"]);
    assert!(output.stdout.ends_with("1 problem\n"), "{}", output.stdout);
}

/// The doctor's report, run in a folder below the project.
fn examined_below(project: &Project, words: &[&str]) -> crate::project::CommandOutput {
    project.write("packages/web/x", "");
    let mut command = project.modegate();
    command.env_remove("CLAUDE_PROJECT_DIR").current_dir(project.home().join("packages/web"));
    run_command(command.args(words), b"")
}

#[test]
fn a_folder_below_the_project_is_reported_as_ungated() {
    let project = Project::new();
    project.git(&["init", "-q"]);
    assert_eq!(project.run(&["install"]).exit, 0);
    let output = examined_below(&project, &["doctor"]);
    let words = "sessions started in `packages/web` are not gated: Claude Code reads `.claude/settings.json` only";
    assert!(output.exit == 1 && output.stdout.contains(words), "{output:?}");
    assert!(output.stdout.contains("modegate install --local"), "{output:?}");
    let status = examined_below(&project, &["status"]);
    assert!(status.stdout.contains(words), "{status:?}");
    assert!(!project.run(&["status"]).stdout.contains("not gated"), "not at the root");
    assert_eq!(project.run(&["install", "--local"]).exit, 0);
    assert!(!examined_below(&project, &["doctor"]).stdout.contains("not gated"));
    // Claude Code before 2.1.211 does not read them there.
    project.write("bin/claude", "#!/bin/sh\necho '2.1.210 (Claude Code)'\n");
    project.shell("chmod +x bin/claude");
    let path = format!("{}:{}", project.home().join("bin").display(), std::env::var("PATH").unwrap());
    let mut command = project.modegate();
    command.env_remove("CLAUDE_PROJECT_DIR").env("PATH", path).current_dir(project.home().join("packages/web"));
    let output = run_command(command.arg("doctor"), b"");
    assert!(output.stdout.contains("not gated"), "{output:?}");
}

#[test]
fn a_claude_folder_below_the_project_does_not_hide_its_installation() {
    let project = Project::new();
    project.git(&["init", "-q"]);
    assert_eq!(project.run(&["install"]).exit, 0);
    project.write("packages/web/.claude/settings.json", "{}");
    let words = "sessions started in `packages/web` are not gated";
    for command in ["doctor", "status"] {
        let output = examined_below(&project, &[command]);
        assert!(output.stdout.contains(words), "{output:?}");
        let home = project.home().display().to_string();
        assert!(output.stdout.lines().next().is_some_and(|line| line.ends_with(&home)), "{output:?}");
    }
    // With an installation of its own, the folder is a project.
    assert_eq!(examined_below(&project, &["install"]).exit, 0);
    let output = examined_below(&project, &["doctor"]);
    assert!(output.stdout.lines().next().is_some_and(|line| line.ends_with("packages/web")), "{output:?}");
    assert!(!output.stdout.contains("not gated"), "{output:?}");
}
