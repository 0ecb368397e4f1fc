//! The doctor finds each thing that could keep the hook from working, and says how to mend it.

use crate::project::{Project, said};
use serde_json::{Value, json};
use std::fs;

const SETTINGS: &str = ".claude/settings.json";

/// A project with everything installed, that calls the program on PATH; nothing is wrong with it.
fn sound() -> Project {
    let project = Project::new();
    project.git(&["init", "-q"]);
    let said = project.run(&["install", "--path"]);
    assert_eq!(said.exit, 0, "{said:?}");
    project
}

/// What the doctor reports, with modegate on PATH.
fn examined(project: &Project, words: &[&str]) -> (i32, Value) {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_modegate")).parent().unwrap();
    let path = std::env::join_paths(
        [program.to_owned()].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let said = said(project.modegate().env("PATH", path.unwrap()).args(["doctor", "--json"]).args(words), b"");
    (said.exit, said.json())
}

fn ids(report: &Value, weight: &str) -> Vec<String> {
    let reports = report["diagnostics"].as_array().unwrap().iter();
    reports.filter(|one| one["weight"] == weight).map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

/// After `harm`, the doctor reports `id`, and every report has its fix.
#[track_caller]
fn finds(id: &str, words: &str, harm: impl FnOnce(&Project)) {
    let project = sound();
    harm(&project);
    let (exit, report) = examined(&project, &[]);
    let found = report["diagnostics"].as_array().unwrap().iter().find(|one| one["id"] == id);
    assert!(found.is_some(), "no {id} in {report:#}");
    let found = found.unwrap();
    assert!(found["what"].as_str().unwrap().contains(words), "{found:#}");
    assert!(found["fix"].as_str().is_some_and(|fix| !fix.is_empty()), "{found:#}");
    assert_eq!(exit, i32::from(report["problems"] != 0), "{report:#}");
    if found["weight"] == "problem" {
        assert_eq!(exit, 1);
    }
}

/// Changes the settings file.
fn edit(project: &Project, change: impl FnOnce(&mut Value)) {
    let mut value: Value = serde_json::from_str(&project.read(SETTINGS)).unwrap();
    change(&mut value);
    project.write(SETTINGS, value.to_string());
}

#[test]
fn a_sound_installation_has_no_problem() {
    let (exit, report) = examined(&sound(), &["--live"]);
    assert_eq!((exit, &report["problems"]), (0, &json!(0)), "{report:#}");
    let live = report["live"].as_array().unwrap();
    assert_eq!(live.len(), 9);
    assert!(live.iter().all(|one| one["exit"] == 0 && one["wrong"].is_null()), "{live:#?}");
}

#[test]
fn nothing_is_left_behind_by_trying_it_live() {
    let project = sound();
    examined(&project, &["--live"]);
    assert!(!project.home().join(".claude/hooks/sessions").exists());
    assert!(!project.home().join(".claude/hooks/cache.json").exists());
}

#[test]
fn a_folder_without_modegate_is_told_to_install_it() {
    let project = Project::new();
    let (exit, report) = examined(&project, &[]);
    assert_eq!(exit, 1);
    assert!(ids(&report, "problem").contains(&"hooks-missing".to_owned()), "{report:#}");
    assert!(!project.home().join(".claude").exists(), "the doctor leaves no trace");
}

#[test]
fn hooks_that_are_missing_doubled_narrowed_or_switched_off() {
    finds("hooks-missing", "for Stop", |project| {
        edit(project, |value| drop(value["hooks"].as_object_mut().unwrap().remove("Stop")));
    });
    finds("hooks-missing", "for PreCompact", |project| {
        project.write(
            ".claude/modes/base.yaml",
            "mode: base\nextends: builtin\ngates:\n  - { id: a, on: PreCompact, check: { file: a/x } }\n",
        );
    });
    finds("hooks-doubled", "2 times for each", |project| {
        project.write(".claude/settings.local.json", project.read(SETTINGS).replace("75", "60"));
    });
    finds("hooks-doubled", "plugins/cache/x/1.0/hooks/hooks.json", |project| plugin(project, true));
    finds("hooks-narrowed", "hooks.PreToolUse", |project| {
        edit(project, |value| value["hooks"]["PreToolUse"][0]["matcher"] = json!("Bash"));
    });
    finds("hooks-async", "hooks.Stop", |project| {
        edit(project, |value| value["hooks"]["Stop"][0]["hooks"][0]["async"] = json!(true));
    });
    finds("hooks-hasty", "hooks.Stop", |project| {
        edit(project, |value| value["hooks"]["Stop"][0]["hooks"][0]["timeout"] = json!(1));
    });
    finds("hooks-disabled", "`.claude/settings.local.json` says", |project| {
        project.write(".claude/settings.local.json", r#"{"disableAllHooks": true}"#);
    });
    finds("worktrees-broken", "WorktreeCreate", |project| {
        edit(project, |value| value["hooks"]["WorktreeCreate"] = value["hooks"]["Stop"].clone());
    });
}

/// A plugin that calls modegate too.
fn plugin(project: &Project, enabled: bool) {
    let user = project.home().parent().unwrap().join(".claude");
    let root = user.join("plugins/cache/x/1.0");
    fs::create_dir_all(root.join("hooks")).unwrap();
    let hooks = project.read(SETTINGS).replace("\"modegate\"", "\"${CLAUDE_PLUGIN_ROOT}/modegate\"");
    fs::write(root.join("hooks/hooks.json"), hooks).unwrap();
    fs::write(root.join("modegate"), format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_modegate"))).unwrap();
    project.shell(&format!("chmod +x '{}'", root.join("modegate").display()));
    let list = json!({"version": 2, "plugins": {"x@acme": [{"scope": "user", "installPath": root}]}});
    fs::write(user.join("plugins/installed_plugins.json"), list.to_string()).unwrap();
    fs::write(user.join("settings.json"), json!({"enabledPlugins": {"x@acme": enabled}}).to_string()).unwrap();
}

#[test]
fn a_plugin_counts_only_where_it_is_switched_on() {
    let project = sound();
    plugin(&project, false);
    let broken = project.home().parent().unwrap().join(".claude/plugins/marketplaces/y/hooks");
    fs::create_dir_all(&broken).unwrap();
    fs::write(broken.join("hooks.json"), "{").unwrap();
    let (_, report) = examined(&project, &[]);
    assert!(ids(&report, "problem").is_empty(), "{report:#}");
    // With nothing but the plugin all is well too.
    plugin(&project, true);
    fs::remove_file(project.home().join(SETTINGS)).unwrap();
    let (exit, report) = examined(&project, &["--live"]);
    assert_eq!(exit, 0, "{report:#}");
}

#[test]
fn what_hangs_does_not_hang_the_doctor() {
    let project = sound();
    project.write("bin/claude", "#!/bin/sh\nsleep 60\n");
    let text = project.read(SETTINGS).replace("\"modegate\"", "\"${CLAUDE_PROJECT_DIR}/bin/modegate\"");
    project.write(SETTINGS, text);
    project.write("bin/modegate", "#!/bin/sh\nsleep 60 & exit 0\n");
    project.shell("chmod +x bin/*; mkfifo .claude/agents/pipe.md");
    let begun = std::time::Instant::now();
    let path = format!("{}:{}", project.home().join("bin").display(), std::env::var("PATH").unwrap());
    let said = said(project.modegate().env("PATH", path).args(["doctor", "--live", "--json"]), b"");
    assert_eq!(said.exit, 1);
    let report = said.json();
    let problems = ids(&report, "problem");
    assert!(problems.contains(&"program-broken".to_owned()), "{report:#}");
    assert!(problems.contains(&"hook-fails".to_owned()), "an answer without a journal line is none: {report:#}");
    assert!(begun.elapsed().as_secs() < 50, "it waited for what hangs");
}

#[test]
fn a_call_in_somebodys_own_way_is_seen() {
    let project = sound();
    edit(&project, |value| {
        value["hooks"]["Stop"] = json!([{"hooks": [{"type": "command", "command": "nice modegate hook || true"}]}]);
    });
    let (exit, report) = examined(&project, &[]);
    assert_eq!(exit, 0, "{report:#}");
    finds("hooks-doubled", "2 times for each Stop", |project| {
        edit(project, |value| {
            let own = json!({"hooks": [{"type": "command", "command": "nice modegate hook || true"}]});
            value["hooks"]["Stop"].as_array_mut().unwrap().push(own);
        });
    });
}

#[test]
fn equal_entries_in_two_settings_files_run_once() {
    let project = sound();
    project.write(".claude/settings.local.json", project.read(SETTINGS));
    let (_, report) = examined(&project, &[]);
    assert!(ids(&report, "problem").is_empty(), "{report:#}");
}

#[test]
fn a_nearer_file_can_switch_hooks_on_again() {
    let project = sound();
    project.write(".claude/settings.local.json", r#"{"disableAllHooks": false}"#);
    edit(&project, |value| value["disableAllHooks"] = json!(true));
    let (_, report) = examined(&project, &[]);
    assert!(ids(&report, "problem").is_empty(), "{report:#}");
}

#[test]
fn settings_that_the_host_passes_over() {
    finds("settings-unreadable", "it cannot be read", |project| {
        fs::create_dir_all(project.home().join(".claude/settings.local.json")).unwrap();
    });
    finds("settings-unreadable", "a comment", |project| {
        project.write(".claude/settings.local.json", "{\n  // mine\n}\n");
    });
    finds("event-unknown", "`PreTolUse`, which is no event, did you mean `PreToolUse`?", |project| {
        edit(project, |value| value["hooks"]["PreTolUse"] = json!([]));
    });
    finds("entry-malformed", "an entry has no `type`; Claude Code then runs no hook of that file", |project| {
        edit(project, |value| {
            value["hooks"]["PreToolUse"].as_array_mut().unwrap().push(json!({"hooks": [{"command": "x"}]}));
        });
    });
}

#[test]
fn a_program_that_is_not_there_or_of_another_version() {
    let local = "${CLAUDE_PROJECT_DIR}/.claude/hooks/modegate";
    let elsewhere = |project: &Project| {
        let text = project.read(SETTINGS).replace("\"modegate\"", &format!("\"{local}\""));
        project.write(SETTINGS, text);
    };
    finds("program-missing", "`.claude/hooks/modegate` is not there", elsewhere);
    let script = |project: &Project, text: &str| {
        elsewhere(project);
        project.write(".claude/hooks/modegate", text);
        project.shell("chmod +x .claude/hooks/modegate");
    };
    finds("program-stale", "is modegate 0.0.1, this is", |project| script(project, "#!/bin/sh\necho modegate 0.0.1\n"));
    finds("program-broken", "`--version` says `hello`", |project| script(project, "#!/bin/sh\necho hello\n"));
}

#[test]
fn commands_and_agents_that_a_mode_names() {
    finds(
        "command-missing",
        "/plan of plan mode has no file `.claude/commands/plan.md`: Claude Code's own",
        |project| {
            fs::remove_file(project.home().join(".claude/commands/plan.md")).unwrap();
        },
    );
    finds(
        "agent-missing",
        "strategic-planner, the agent of plan mode's phase draft, is described nowhere",
        |project| {
            fs::remove_file(project.home().join(".claude/agents/strategic-planner.md")).unwrap();
        },
    );
    finds(
        "agent-tools",
        "research-consultant (`.claude/agents/research-consultant.md`) lacks the tools for its gate research-is-committed: it needs Bash",
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
    finds("agent-tools", "it needs Write or Edit", |project| {
        project.write(".claude/agents/strategic-planner.md", "---\nname: strategic-planner\ntools: [Read]\n---\nx\n");
    });
}

#[test]
fn a_command_may_be_a_skill_and_an_agent_a_users_own() {
    let project = sound();
    let home = project.home();
    fs::remove_file(home.join(".claude/commands/plan.md")).unwrap();
    project.write(".claude/skills/plan/SKILL.md", "---\ndescription: x\n---\n");
    let user = home.parent().unwrap().join(".claude/agents");
    fs::create_dir_all(&user).unwrap();
    fs::rename(home.join(".claude/agents/strategic-planner.md"), user.join("planner.md")).unwrap();
    // A colon in a description, and tools that are narrowed, are no want of tools.
    project.write(
        ".claude/agents/research-consultant.md",
        "---\nname: research-consultant\ndescription: Use it. Example: <example>Context: a\ntools: [Edit, Bash(git *)]\ndisallowedTools: Edit(secret/**)\n---\nx\n",
    );
    let (_, report) = examined(&project, &[]);
    assert!(ids(&report, "problem").is_empty(), "{report:#}");
}

#[test]
fn gates_that_can_never_be_satisfied() {
    let mode = |text: &'static str| move |project: &Project| project.write(".claude/modes/base.yaml", text);
    finds(
        "mode-broken",
        "unknown check `fille`",
        mode("mode: base\ngates:\n  - { id: a, on: Stop, check: { fille: x } }\n"),
    );
    finds(
        "gate-impossible",
        "a of base mode can never be satisfied: plan mode has no phase \"darft\"",
        mode("mode: base\ngates:\n  - { id: a, on: Stop, check: { state: { plan_mode.phase: darft } } }\n"),
    );
    finds(
        "gate-impossible",
        "a thing and its opposite",
        mode("mode: base\ngates:\n  - { id: a, on: Stop, check: { all: [{ file: a/x }, { not: { file: a/x } }] } }\n"),
    );
    finds(
        "gate-toothless",
        "hears SessionStart, which cannot be blocked",
        mode("mode: base\ngates:\n  - { id: a, on: SessionStart, check: { file: a/x } }\n"),
    );
    finds("gate-impossible", "committed, but git ignores it", |project| project.write(".gitignore", "project/\n"));
    finds("git-unusable", "its gates stay closed", |project| {
        fs::remove_dir_all(project.home().join(".git")).unwrap();
    });
}

#[test]
fn state_that_cannot_be_read_or_written() {
    finds("state-broken", "could not be read", |project| project.write(".claude/hooks/cache.json", "{"));
    finds("state-newer", "version 99", |project| project.write(".claude/hooks/cache.json", r#"{"version": 99}"#));
    finds("journal-off", "the journal is off", |project| project.write(".claude/modegate.yaml", "journal: false\n"));
    finds("state-unwritable", "cannot be written", |project| {
        // A file where the folder should be: root may write everywhere else.
        fs::remove_dir_all(project.home().join(".claude/hooks")).unwrap();
        project.write(".claude/hooks", "");
    });
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_does_not_give_the_lock_back_is_named() {
    let project = sound();
    project.write(".claude/hooks/cache.lock", "");
    let lock = fs::File::options().write(true).open(project.home().join(".claude/hooks/cache.lock")).unwrap();
    lock.lock().unwrap();
    let (exit, report) = examined(&project, &[]);
    assert_eq!(exit, 1);
    let found =
        report["diagnostics"].as_array().unwrap().iter().find(|one| one["id"] == "lock-held").expect("a report");
    let own = format!("process {} (", std::process::id());
    assert!(found["what"].as_str().unwrap().contains(&own), "{found:#}");
    lock.unlock().unwrap();
}

#[test]
fn stops_that_nobody_can_be_blamed_for_are_counted() {
    finds("stops-unattributed", "1 stops of subagents in the last day could not be attributed", |project| {
        project.hook(&json!({"hook_event_name": "SubagentStop", "session_id": "s", "agent_id": "a1"}));
        // A fork of the host's own is no stop of anybody.
        project
            .hook(&json!({"hook_event_name": "SubagentStop", "session_id": "s", "agent_id": "a2", "agent_type": ""}));
    });
}

/// Sets the time of the installation back.
fn installed_hours_ago(project: &Project, hours: i64) {
    let mut receipt: Value = serde_json::from_str(&project.read(".claude/hooks/installed.json")).unwrap();
    receipt["at"] = json!((jiff::Timestamp::now() - jiff::SignedDuration::from_hours(hours)).to_string());
    project.write(".claude/hooks/installed.json", receipt.to_string());
}

#[test]
fn what_was_silent_before_the_installation_is_no_alarm() {
    let project = sound();
    transcript(&project, "before", -3600);
    installed_hours_ago(&project, 0);
    let (exit, report) = examined(&project, &[]);
    assert_eq!(exit, 0, "{report:#}");
}

#[test]
fn what_was_silent_and_is_heard_again_is_only_told() {
    let project = sound();
    transcript(&project, "lost", -3600);
    project.hook(&json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "hello"}));
    let (exit, report) = examined(&project, &[]);
    assert_eq!(exit, 0, "{report:#}");
    assert!(ids(&report, "note").contains(&"hook-silent".to_owned()), "{report:#}");
}

/// A transcript of the host in which the model calls a tool, so many seconds from now.
fn transcript(project: &Project, name: &str, seconds: i64) -> std::path::PathBuf {
    installed_hours_ago(project, 5);
    let folder: String =
        project.home().to_str().unwrap().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let folder = project.home().parent().unwrap().join(".claude/projects").join(folder);
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{name}.jsonl"));
    let at = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(seconds);
    let line = json!({"type": "assistant", "timestamp": at.to_string(), "message": {"content": [{"type": "tool_use", "name": "Bash"}]}});
    fs::write(&path, format!("{line}\n{}\n", json!({"type": "user", "message": {"content": "x"}}))).unwrap();
    path
}

#[test]
fn a_session_that_goes_on_without_the_hook_is_noticed() {
    finds("hook-silent", "the hook was never seen in session lost", |project| {
        transcript(project, "lost", -30);
        // As the host does when a person says "always allow".
        project.write(".claude/settings.local.json", "{}");
        let status = project.run(&["status"]).stdout;
        assert!(status.contains("the hook was never seen in session lost"), "{status}");
        assert_eq!(project.run(&["status", "--json"]).json()["silent"], json!(["lost"]));
    });
    let project = sound();
    let path = transcript(&project, "s", 120);
    let prompt = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt_id": "p", "prompt": "/plan x", "transcript_path": path});
    project.hook(&prompt);
    let (_, report) = examined(&project, &[]);
    assert!(ids(&report, "problem").contains(&"hook-silent".to_owned()), "{report:#}");
    let status = project.run(&["status"]).stdout;
    assert!(status.contains("the hook was last seen") && status.contains("though the session used a tool"), "{status}");
    assert_eq!(project.run(&["status", "--json"]).json()["sessions"][0]["missed"], true);
}

#[test]
fn a_session_that_the_hook_follows_is_alive() {
    let project = sound();
    let path = transcript(&project, "s", -5);
    let prompt = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt_id": "p", "prompt": "/plan x", "transcript_path": path});
    project.hook(&prompt);
    let (exit, report) = examined(&project, &[]);
    assert_eq!(exit, 0, "{report:#}");
    let status = project.run(&["status"]).stdout;
    assert!(status.contains("the hook was last seen") && !status.contains("though"), "{status}");
    assert_eq!(project.run(&["status", "--json"]).json()["sessions"][0]["missed"], false);
}

#[test]
fn an_installed_line_that_fails_is_found_live() {
    let project = sound();
    let text = project.read(SETTINGS).replace("\"modegate\"", "\"${CLAUDE_PROJECT_DIR}/bin/modegate\"");
    project.write(SETTINGS, text);
    project.write(
        "bin/modegate",
        "#!/bin/sh\n[ \"$1\" = --version ] && echo modegate 0.1.0 && exit\necho oops >&2\nexit 3\n",
    );
    project.shell("chmod +x bin/modegate");
    let (exit, report) = examined(&project, &["--live"]);
    assert_eq!(exit, 1);
    let found =
        report["diagnostics"].as_array().unwrap().iter().find(|one| one["id"] == "hook-fails").expect("a report");
    assert!(
        found["what"].as_str().unwrap().contains("exit code 3: the host lets the event through (oops)"),
        "{found:#}"
    );
}

#[test]
fn people_get_lines_and_a_verdict() {
    let project = Project::new();
    let said = project.run(&["doctor"]);
    assert_eq!(said.exit, 1);
    assert!(said.stdout.contains("problem  no hook entry calls modegate"), "{}", said.stdout);
    assert!(said.stdout.contains("fix: run `modegate install`"), "{}", said.stdout);
}
