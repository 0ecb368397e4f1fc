//! Install, uninstall and install again without changing the user's own files.

use crate::project::{CommandOutput, Project, run_command};
use serde_json::{Value, json};
use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::path::{Path, PathBuf};

const SETTINGS: &str = ".claude/settings.json";

fn fixtures(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/settings").join(folder);
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|end| end == "json")).collect()
}

/// Installs the hook entries only.
fn install_entries(project: &Project) -> CommandOutput {
    project.run(&["install", "--path", "--no-workflow"])
}

fn fine(output: &CommandOutput) {
    assert_eq!(output.exit, 0, "{output:?}");
}

/// The command of modegate's entry for an event.
fn command(project: &Project, event: &str) -> String {
    let value: Value = serde_json::from_str(&project.read(SETTINGS)).unwrap();
    value["hooks"][event][0]["hooks"][0]["command"].as_str().unwrap().to_owned()
}

/// A part of each of our entries, in JSON without spaces.
const OWN_ENTRY: &str = r#""statusMessage":"modegate""#;

/// A settings text as JSON, without our entries.
fn others(text: &str) -> String {
    let mut value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or(json!({}));
    if let Some(hooks) = value.get_mut("hooks").and_then(Value::as_object_mut) {
        for groups in hooks.values_mut().filter_map(Value::as_array_mut) {
            groups.retain(|group| !group.to_string().contains(OWN_ENTRY));
        }
        hooks.retain(|_, groups| groups.as_array().is_none_or(|groups| !groups.is_empty()));
    }
    value.to_string()
}

#[test]
fn install_and_uninstall_restore_a_settings_file() {
    for fixture in fixtures("") {
        let name = fixture.display();
        let before = fs::read(&fixture).unwrap();
        let project = Project::new();
        project.write(SETTINGS, &before);
        fine(&install_entries(&project));
        let installed = project.read(SETTINGS);
        let value: Value = serde_json::from_str(installed.trim_start_matches('\u{feff}')).expect("JSON");
        assert_eq!(value.to_string().matches(OWN_ENTRY).count(), 10, "{name}: {installed}");
        assert!(value["hooks"].get("WorktreeCreate").is_none());
        let plain = String::from_utf8(before.clone()).unwrap();
        if !plain.contains("[]") && !plain.contains("{}") {
            // `{}` for a file that was empty; else every key, in its order.
            let wanted = if plain.is_empty() { "{\"hooks\":{}}".to_owned() } else { others(&plain) };
            let own = others(&installed);
            assert!(own == wanted || own.replace(",\"hooks\":{}", "") == wanted, "{name}: {own} is not {wanted}");
        }
        fine(&install_entries(&project));
        assert_eq!(project.read(SETTINGS), installed, "{name}: installed twice");
        fine(&project.run(&["uninstall"]));
        if before.is_empty() {
            // An empty file is the same as none.
            assert!(project.read(SETTINGS).is_empty());
        } else {
            assert_eq!(fs::read(project.home().join(SETTINGS)).unwrap(), before, "{name}: not as it was");
        }
        fine(&install_entries(&project));
        assert_eq!(project.read(SETTINGS), installed, "{name}: installed again");
    }
}

#[cfg(unix)]
#[test]
fn entries_are_added_in_the_style_of_the_file() {
    let project = Project::new();
    project
        .write(SETTINGS, fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/settings/tabs.json")).unwrap());
    fine(&install_entries(&project));
    let expected = "{
\t\"model\": \"sonnet\",
\t\"permissions\": {
\t\t\"allow\": [\"Bash(git *)\"]
\t},
\t\"hooks\": {
\t\t\"SessionStart\": [
\t\t\t{
\t\t\t\t\"hooks\": [
\t\t\t\t\t{
\t\t\t\t\t\t\"type\": \"command\",
\t\t\t\t\t\t\"command\": \"…\",
\t\t\t\t\t\t\"timeout\": 150,
\t\t\t\t\t\t\"statusMessage\": \"modegate\"
\t\t\t\t\t}
\t\t\t\t]
\t\t\t}
\t\t],
";
    let written = project.read(SETTINGS);
    let line = serde_json::to_string(&command(&project, "SessionStart")).unwrap();
    assert!(written.replace(&line, "\"…\"").starts_with(expected), "{written}");
}

#[test]
fn a_settings_file_that_the_host_ignores_is_an_error_with_its_location() {
    for (name, words) in [
        (
            "comments",
            "comments are not allowed in JSON, so Claude Code ignores the whole file\n   --> .claude/settings.json:2:3",
        ),
        ("trailing-comma", "trailing comma, so Claude Code ignores the whole file\n   --> .claude/settings.json:3:1"),
        ("broken", "expected `,` or `}`, so Claude Code ignores the whole file\n   --> .claude/settings.json:3:3"),
        ("list", "the file is not a JSON object"),
        ("hooks-is-a-list", "`hooks` is not a JSON object"),
        ("event-is-an-object", "`hooks.Stop` is not a list"),
        ("duplicate-hooks", "the key `hooks` appears twice"),
        ("incomplete", "EOF while parsing a string"),
    ] {
        let project = Project::new();
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/settings/rejected/{name}.json"));
        let before = fs::read_to_string(fixture).unwrap();
        project.write(SETTINGS, &before);
        let output = project.run(&["install"]);
        assert_eq!(output.exit, 1, "{name}");
        assert!(output.stderr.contains(words), "{name}: {}", output.stderr);
        assert!(output.stderr.contains("nothing was changed"), "{name}: {}", output.stderr);
        assert_eq!(project.read(SETTINGS), before, "{name}");
        let left: Vec<_> = fs::read_dir(project.home().join(".claude")).unwrap().collect();
        assert_eq!(left.len(), 1, "{name}: something was written");
    }
    assert_eq!(fixtures("rejected").len(), 8, "each rejected file has a row above");
}

#[test]
fn changes_since_the_installation_are_kept() {
    let project = Project::new();
    project.write(SETTINGS, "{\n  \"model\": \"opus\"\n}\n");
    fine(&install_entries(&project));
    let edited = project.read(SETTINGS).replace("\"opus\"", "\"sonnet\"");
    project.write(SETTINGS, edited);
    fine(&project.run(&["uninstall"]));
    assert_eq!(project.read(SETTINGS), "{\n  \"model\": \"sonnet\"\n}\n");
}

#[test]
fn an_entry_in_a_group_with_others_is_removed_alone() {
    let project = Project::new();
    let text = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}, {"type": "command", "command": "modegate", "args": ["hook"]}]}]}}"#;
    project.write(SETTINGS, text);
    fine(&project.run(&["uninstall"]));
    let left: Value = serde_json::from_str(&project.read(SETTINGS)).unwrap();
    assert_eq!(left, json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}));
}

#[cfg(unix)]
#[test]
fn an_entry_with_another_command_is_updated_and_keeps_its_other_keys() {
    let project = Project::new();
    let text =
        r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/old/modegate hook", "timeout": 300}]}]}}"#;
    project.write(SETTINGS, text);
    fine(&install_entries(&project));
    let value: Value = serde_json::from_str(&project.read(SETTINGS)).unwrap();
    let command = command(&project, "Stop");
    assert!(command.starts_with("for p in \"$CLAUDE_PROJECT_DIR\"/.claude/hooks/modegate "), "{command}");
    let entry = json!({"type": "command", "command": command, "timeout": 300, "statusMessage": "modegate"});
    assert_eq!(value["hooks"]["Stop"], json!([{"hooks": [entry]}]));
}

#[test]
fn an_event_of_a_project_gate_gets_an_entry() {
    let project = Project::new();
    project.write(
        ".claude/modes/base.yaml",
        "mode: base\nextends: builtin\ngates:\n  - { id: a, on: PreCompact, check: { file: a/x } }\n  - { id: b, on: WorktreeCreate, check: { file: a/x } }\n",
    );
    fine(&install_entries(&project));
    let value: Value = serde_json::from_str(&project.read(SETTINGS)).unwrap();
    assert!(value["hooks"]["PreCompact"].is_array() && value["hooks"].get("WorktreeCreate").is_none(), "{value}");
}

#[cfg_attr(windows, ignore = "needs git, which wine lacks")]
#[test]
fn the_installed_program_blocks_a_planner() {
    let project = Project::new();
    project.git(&["init", "-q"]);
    fine(&project.run(&["install"]));
    let hook = |event: Value| {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &command(&project, event["hook_event_name"].as_str().unwrap())]);
        run_command(shell.env("CLAUDE_PROJECT_DIR", project.home()), event.to_string().as_bytes())
    };
    let typed =
        json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt_id": "p", "prompt": "/plan x"});
    assert_eq!(hook(typed).exit, 0);
    let call = json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Agent", "tool_input": {"subagent_type": "strategic-planner"}});
    assert_eq!(hook(call).exit, 2);
    let listed = project.listed();
    assert!(
        listed.contains(".claude/settings.json") && listed.contains(".claude/agents/strategic-planner.md"),
        "{listed}"
    );
    assert!(listed.contains(".claude/hooks/modegate.sh"), "the script is committed: {listed}");
    assert_eq!(listed.matches("hooks/").count(), 1, "git lists local files: {listed}");
    // The running program can replace and remove itself.
    let program = project.home().join(".claude/hooks/modegate");
    let own =
        |words: &[&str]| run_command(std::process::Command::new(&program).args(words).current_dir(project.home()), b"");
    fine(&own(&["install"]));
    fine(&own(&["uninstall", "--purge"]));
    assert!(!project.home().join(".claude").exists(), "{}", project.listed());
}

#[test]
fn state_and_journals_stay_without_purge() {
    let project = Project::new();
    fine(&project.run(&["install", "--path"]));
    project.hook(
        &json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt_id": "p", "prompt": "/plan x"}),
    );
    let output = project.run(&["uninstall"]);
    assert!(
        output.stdout.contains("State and journals stay; `modegate uninstall --purge` removes them."),
        "{}",
        output.stdout
    );
    assert!(project.home().join(".claude/hooks/sessions/s.jsonl").exists());
    assert!(project.home().join(".claude/hooks/.gitignore").exists());
    let kept = ".claude/hooks/ (4 files: cache.json, sessions, .gitignore, installed.json)";
    assert!(output.stdout.contains(kept), "{}", output.stdout);
    for path in ["/projects/", "modegate/key (seals the state of all your projects)"] {
        assert!(output.stdout.lines().any(|line| line.contains("kept  ") && line.contains(path)), "{}", output.stdout);
    }
    fine(&project.run(&["uninstall", "--purge"]));
    assert!(!project.home().join(".claude").exists());
    assert!(!project.user().join(".local/state/modegate").exists(), "the key and the empty folders are removed");
}

/// The key belongs to all projects of a user.
#[test]
fn a_purge_leaves_the_key_to_other_projects() {
    let project = Project::new();
    fine(&project.run(&["install", "--path"]));
    let other = project.user().join("other");
    fs::create_dir(&other).unwrap();
    fine(&project.run(&["--project", other.to_str().unwrap(), "install", "--path"]));
    let output = project.run(&["uninstall", "--purge"]);
    assert!(output.stdout.contains("modegate/key (seals the state of all your projects)"), "{}", output.stdout);
    assert!(project.user().join(".local/state/modegate/key").exists());
}

#[test]
fn an_existing_workflow_file_is_kept() {
    let project = Project::new();
    project.write(".claude/commands/plan.md", "my plan\n");
    let output = project.run(&["install", "--path"]);
    assert!(output.stdout.contains("kept     .claude/commands/plan.md (already exists)"), "{}", output.stdout);
    assert_eq!(project.read(".claude/commands/plan.md"), "my plan\n");
    project.write(".claude/agents/troubleshooter.md", "---\nname: troubleshooter\n---\nmine\n");
    fine(&project.run(&["uninstall"]));
    assert_eq!(project.read(".claude/commands/plan.md"), "my plan\n");
    assert!(project.read(".claude/agents/troubleshooter.md").ends_with("mine\n"));
    assert!(!project.home().join(".claude/agents/strategic-planner.md").exists());
    let bare = Project::new();
    let output = bare.run(&["install", "--path", "--no-workflow"]);
    fine(&output);
    assert!(!bare.home().join(".claude/commands").exists());
    assert!(!output.stdout.contains("without a file") && !output.stdout.contains("type /plan"), "{}", output.stdout);
}

#[test]
fn a_dry_run_shows_the_diff_and_writes_nothing() {
    let project = Project::new();
    let output = project.run(&["install", "--dry-run"]);
    fine(&output);
    for part in ["would be installed", "write    .claude/hooks/modegate", "    +    \"PreToolUse\": ["] {
        assert!(output.stdout.contains(part), "{part}: {}", output.stdout);
    }
    assert!(!project.home().join(".claude").exists());
    fine(&install_entries(&project));
    let output = project.run(&["uninstall", "--dry-run"]);
    assert!(output.stdout.contains("would be removed"), "{}", output.stdout);
    assert!(project.read(SETTINGS).contains("modegate"));
}

#[test]
fn local_and_user_settings_are_separate_files() {
    let project = Project::new();
    fine(&project.run(&["install", "--local", "--path"]));
    assert!(
        project.read(".claude/settings.local.json").contains("modegate") && !project.home().join(SETTINGS).exists()
    );
    fine(&install_entries(&project));
    fine(&project.run(&["uninstall", "--local"]));
    assert!(!project.home().join(".claude/settings.local.json").exists());
    assert!(project.home().join(".claude/commands/plan.md").exists(), "the other file still calls modegate");
    fine(&project.run(&["uninstall"]));
    assert!(!project.home().join(".claude").exists());
    let user = project.home().parent().unwrap().to_owned();
    fine(&project.run(&["install", "--user"]));
    let settings = fs::read_to_string(user.join(SETTINGS)).unwrap();
    let program = user.join(".local/state/modegate/bin").join(format!("modegate{EXE_SUFFIX}"));
    assert!(settings.contains(&format!("modegate{EXE_SUFFIX}\",")) && program.exists(), "{settings}");
    assert!(user.join(".claude/commands/plan.md").exists() && !project.home().join(".claude").exists());
    fine(&project.run(&["uninstall", "--user"]));
    assert!(!user.join(".claude").exists() && !program.exists());
}

#[cfg(unix)]
#[test]
fn a_linked_settings_file_stays_linked_and_private() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new();
    project.write("dotfiles/settings.json", "{ \"model\": \"opus\" }\n");
    let real = project.home().join("dotfiles/settings.json");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
    fs::create_dir_all(project.home().join(".claude")).unwrap();
    std::os::unix::fs::symlink(&real, project.home().join(SETTINGS)).unwrap();
    fine(&install_entries(&project));
    assert!(fs::symlink_metadata(project.home().join(SETTINGS)).unwrap().is_symlink());
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(
        fs::metadata(project.home().join(".claude/hooks/settings.json.bak")).unwrap().permissions().mode() & 0o777,
        0o600
    );
    fine(&project.run(&["uninstall"]));
    assert_eq!(project.read("dotfiles/settings.json"), "{ \"model\": \"opus\" }\n");
}

#[test]
fn only_a_person_can_uninstall() {
    let project = Project::new();
    fine(&install_entries(&project));
    let model = run_command(project.modegate().env("CLAUDECODE", "1").arg("uninstall"), b"");
    assert_eq!(model.exit, 1);
    assert!(model.stderr.contains("only a person can run"), "{}", model.stderr);
    assert!(project.read(SETTINGS).contains("modegate"));
}

#[test]
fn scripts_get_the_changes_as_json() {
    let project = Project::new();
    let report = project.run(&["install", "--path", "--json"]).json();
    assert_eq!(report["events"].as_array().unwrap().len(), 10);
    assert_eq!(report["changes"].as_array().unwrap().len(), if cfg!(windows) { 16 } else { 17 });
    assert_eq!(report["dry_run"], false);
    let report = project.run(&["uninstall", "--json"]).json();
    assert!(report["changes"].as_array().unwrap().iter().all(|change| change["change"] == "removed"), "{report}");
}

#[test]
fn install_prints_who_is_gated() {
    let project = Project::new();
    for (words, expected) in [
        (&["install"][..], "  subfolders  not gated if you start Claude Code there; `modegate install --local` gates"),
        (&["install", "--local"], "  worktrees   gated; they share the state of this checkout (Claude Code 2.1.211"),
        (&["install", "--user"], "  colleagues  not affected: these are your own settings\n"),
    ] {
        let output = project.run(words);
        assert!(output.stdout.contains(expected), "{words:?} {}", output.stdout);
        let json = project.run(&[words, &["--json"]].concat()).json();
        assert!(json["coverage"]["colleagues"].is_string(), "{json:#}");
    }
}

#[test]
fn install_prints_what_to_commit() {
    let project = Project::new();
    let committed = |words: &[&str]| {
        let stdout = project.run(words).stdout;
        stdout
            .lines()
            .find(|line| line.starts_with("  git "))
            .unwrap_or_default()
            .trim_start_matches("  git ")
            .trim()
            .to_owned()
    };
    let script = if cfg!(windows) { "" } else { ".claude/hooks/modegate.sh" };
    let joined = |names: &[&str]| names.iter().copied().filter(|name| !name.is_empty()).collect::<Vec<_>>().join(", ");
    let of_all =
        |names: &[&str]| format!("commit {}, .claude/commands and .claude/agents to share this", joined(names));
    assert_eq!(committed(&["install"]), of_all(&[".claude/settings.json", script]));
    let entries = joined(&[".claude/settings.json", script]).replace(", ", " and ");
    assert_eq!(committed(&["install", "--no-workflow"]), format!("commit {entries} to share this"));
    project.write("package.json", r#"{"scripts": {"test": "jest"}}"#);
    assert_eq!(committed(&["install"]), of_all(&[".claude/settings.json", script, ".claude/modegate.yaml"]));
    assert_eq!(
        committed(&["install"]),
        of_all(&[".claude/settings.json", script, ".claude/modegate.yaml"]),
        "unchanged files too"
    );
}

#[cfg_attr(windows, ignore = "needs git, which wine lacks")]
#[test]
fn install_in_a_linked_worktree_says_where_the_state_is() {
    let project = Project::new();
    project.git(&["init", "-q"]);
    project.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    let folder = project.home().parent().unwrap().join("tree").to_string_lossy().into_owned();
    project.git(&["worktree", "add", "-q", &folder]);
    let install = || project.run(&["install", "--project", &folder]).stdout;
    let expected = "  worktrees   others are not gated unless modegate is on PATH, or installed in the main checkout\n";
    assert!(install().contains(expected), "{}", install());
    assert_eq!(project.run(&["install"]).exit, 0);
    assert!(install().contains("  worktrees   gated; they share the state of the main checkout\n"), "{}", install());
}

#[cfg_attr(windows, ignore = "needs git, which wine lacks")]
#[test]
fn the_project_root_is_found_from_below_and_the_home_folder_is_not_a_project() {
    let project = Project::new();
    project.git(&["init", "-q"]);
    project.write("src/deep/x.rs", "");
    let mut below = project.modegate();
    let below = below.env_remove("CLAUDE_PROJECT_DIR").current_dir(project.home().join("src/deep"));
    fine(&run_command(below.args(["install", "--path"]), b""));
    assert!(project.read(SETTINGS).contains("modegate"));
    let user = project.home().parent().unwrap().to_owned();
    let output = run_command(project.modegate().arg("--project").arg(&user).arg("install"), b"");
    assert_eq!(output.exit, 1);
    assert!(output.stderr.contains("install for all projects with `--user`"), "{}", output.stderr);
}

/// A file of the starter workflow, such as `commands/plan.md`.
fn starter_file(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("modes").join(path)).unwrap()
}

#[test]
fn the_starter_workflow_follows_the_rules_of_the_host() {
    for folder in ["commands", "agents"] {
        for file in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("modes").join(folder)).unwrap() {
            let path = format!("{folder}/{}", file.unwrap().file_name().to_string_lossy());
            let text = starter_file(&path);
            assert!(text.starts_with("---\n") && text.is_ascii(), "{path}");
            if folder == "commands" {
                assert_eq!(text.matches('$').count(), 1, "{path}: one $ARGUMENTS and no other");
                assert!(text.contains("Request: $ARGUMENTS\n") && !text.contains("!`"), "{path}");
                // Brackets without quotes are a list to YAML, which the host does not expect.
                assert!(text.contains("argument-hint: \""), "{path}");
            } else {
                let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(plain.contains("full final report"), "{path}");
                let tools = text.lines().find(|line| line.starts_with("tools: ")).unwrap();
                assert!(!tools.contains("Agent") && !tools.contains("Skill"), "{path}");
            }
        }
    }
    for (agent, words) in [
        ("codebase-explorer", "exploration/codebase-status_<session>_<MMDDYY>.md"),
        ("research-specialist", "research/research_<session>_<MMDDYY>.md"),
        ("research-consultant", "validated_by: research-consultant"),
        ("strategic-planner", "plans/plan_<session>_<MMDDYY>.md"),
        ("consulting-expert", "consulted_by: consulting-expert"),
        ("code-reviewer", "reviews/review_<session>_<MMDDYY>.md"),
    ] {
        assert!(starter_file(&format!("agents/{agent}.md")).contains(words), "{agent} does not mention {words}");
    }
}

/// Installs in two processes at once.
fn install_twice_at_once(project: &Project) {
    let start = || project.modegate().args(["install", "--path"]).stdout(std::process::Stdio::null()).spawn().unwrap();
    let both = [start(), start()];
    for mut child in both {
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn two_concurrent_installations_can_be_uninstalled() {
    for _ in 0..5 {
        let project = Project::new();
        project.write(SETTINGS, "{\"model\": \"opus\"}\n");
        install_twice_at_once(&project);
        fine(&project.run(&["uninstall"]));
        assert_eq!(project.read(SETTINGS), "{\"model\": \"opus\"}\n");
    }
}

#[test]
fn a_backup_with_entries_is_not_restored() {
    let project = Project::new();
    project.write(SETTINGS, "{\"model\": \"opus\"}\n");
    fine(&install_entries(&project));
    fs::copy(project.home().join(SETTINGS), project.home().join(".claude/hooks/settings.json.bak")).unwrap();
    fine(&project.run(&["uninstall"]));
    assert!(!project.read(SETTINGS).contains("modegate"));
}

#[cfg_attr(windows, ignore = "needs git, which wine lacks")]
#[test]
fn a_folder_above_the_repository_is_another_project() {
    let project = Project::new();
    project.write(".claude/settings.json", "{}");
    project.write("repo/x", "");
    let repo = project.home().join("repo");
    project.git_in(&repo, &["init", "-q"]);
    let mut install = project.modegate();
    fine(&run_command(install.env_remove("CLAUDE_PROJECT_DIR").current_dir(&repo).args(["install", "--path"]), b""));
    assert!(project.read("repo/.claude/settings.json").contains("modegate"));
    assert_eq!(project.read(SETTINGS), "{}");
}

#[cfg(unix)]
#[test]
fn the_home_folder_is_recognized_through_links() {
    let project = Project::new();
    let user = project.home().parent().unwrap().to_owned();
    fs::create_dir_all(user.join("real/.claude")).unwrap();
    fs::create_dir_all(user.join("real/try/.git")).unwrap();
    std::os::unix::fs::symlink(user.join("real"), user.join("link")).unwrap();
    let mut install = project.modegate();
    install.env_remove("CLAUDE_PROJECT_DIR").env("HOME", user.join("link")).current_dir(user.join("real/try"));
    fine(&run_command(install.args(["install", "--path"]), b""));
    assert!(user.join("real/try/.claude/settings.json").exists() && !user.join("real/.claude/settings.json").exists());
}

#[test]
fn only_what_install_created_is_removed() {
    let project = Project::new();
    let notes = format!(".claude/hooks/modegate{EXE_SUFFIX}/notes.txt");
    project.write(&notes, "precious");
    project.write(".claude/commands/plan.md", starter_file("commands/plan.md"));
    let blocked = project.run(&["install"]);
    assert_eq!(blocked.exit, 1);
    assert!(blocked.stderr.contains("there is a folder with this name"), "{}", blocked.stderr);
    assert!(!project.home().join(SETTINGS).exists(), "no entry without a program");
    fine(&project.run(&["install", "--path"]));
    fine(&project.run(&["uninstall"]));
    assert_eq!(project.read(&notes), "precious");
    assert!(project.home().join(".claude/commands/plan.md").exists(), "it was there before");
    let never = Project::new();
    never.write(".claude/hooks/modegate", "mine");
    never.write(".claude/hooks/settings.json.bak", "mine");
    fine(&never.run(&["uninstall"]));
    assert_eq!(
        (never.read(".claude/hooks/modegate"), never.read(".claude/hooks/settings.json.bak")),
        ("mine".into(), "mine".into())
    );
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_links_in_a_repository() {
    let project = Project::new();
    project.write("victim", "v");
    project.write(SETTINGS, "{\"x\": 1}\n");
    fs::create_dir_all(project.home().join(".claude/hooks")).unwrap();
    for name in [".gitignore", "settings.json.bak"] {
        let link = project.home().join(".claude/hooks").join(name);
        std::os::unix::fs::symlink(project.home().join("victim"), &link).unwrap();
        assert_eq!(install_entries(&project).exit, 1);
        assert_eq!(project.read("victim"), "v");
        fs::remove_file(link).unwrap();
    }
}

#[cfg_attr(windows, ignore = "needs git, which wine lacks")]
#[test]
fn lines_are_added_to_an_existing_gitignore_and_removed_again() {
    let project = Project::new();
    project.git(&["init", "-q"]);
    project.write(".claude/hooks/.gitignore", "*.log");
    project.write(".claude/hooks/cache.py", "");
    fine(&install_entries(&project));
    assert!(project.read(".claude/hooks/.gitignore").starts_with("*.log\n/*.tmp\n/cache.broken-*.json\n"));
    assert!(project.listed().contains(".claude/hooks/cache.py"), "the user's script is ignored");
    fine(&project.run(&["uninstall"]));
    assert_eq!(project.read(".claude/hooks/.gitignore").trim_end(), "*.log");
}

#[test]
fn entries_that_no_mode_needs_are_removed() {
    let project = Project::new();
    let mode = ".claude/modes/base.yaml";
    project.write(SETTINGS, "{\"model\":\"opus\"}");
    project.write(mode, "mode: base\nextends: builtin\ngates:\n  - { id: a, on: PreCompact, check: { file: a/x } }\n");
    fine(&install_entries(&project));
    assert!(project.read(SETTINGS).contains("PreCompact"));
    fs::remove_file(project.home().join(mode)).unwrap();
    fine(&install_entries(&project));
    assert!(!project.read(SETTINGS).contains("PreCompact"));
    project.write(mode, "mode: base\nextends: builtin\ngates:\n  - { id: a, on: SessionEnd, check: { file: a/x } }\n");
    fine(&project.run(&["uninstall"]));
    assert_eq!(project.read(SETTINGS), "{\"model\":\"opus\"}", "a mode added later does not matter");
}

#[cfg(unix)]
#[test]
fn customized_entries_stay() {
    let project = Project::new();
    let text = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "modegate hook --exit-zero"}]}], "SessionStart": [{"hooks": [{"type": "command", "command": "nice modegate hook || true"}]}]}}"#;
    project.write(SETTINGS, text);
    fine(&install_entries(&project));
    let value: Value = serde_json::from_str(&project.read(SETTINGS)).unwrap();
    assert!(command(&project, "Stop").contains("exec \"$p\" hook --exit-zero; "), "{value}");
    assert_eq!(value["hooks"]["SessionStart"][0]["hooks"][0]["command"], "nice modegate hook || true");
    // Whoever wrote a line of a project, it may not call modegate; in the user's own settings it does.
    assert_eq!(value["hooks"]["SessionStart"].as_array().unwrap().len(), 2);
    let own = project.user().join(".claude/settings.json");
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    fs::write(&own, text).unwrap();
    fine(&project.run(&["install", "--user", "--no-workflow"]));
    let value: Value = serde_json::from_str(&fs::read_to_string(own).unwrap()).unwrap();
    assert_eq!(value["hooks"]["SessionStart"].as_array().unwrap().len(), 1, "{value}");
}

/// A repository must not be able to pass off its own entry as the one that decides.
#[cfg(unix)]
#[test]
fn entries_that_only_name_modegate_do_not_count_as_installed() {
    for (entry, is_kept) in [
        (json!({"command": "true # modegate hook"}), true),
        (json!({"command": "true || modegate hook"}), true),
        (json!({"command": "modegate hook >/dev/null"}), true),
        (json!({"command": "modegate hook --project /nowhere"}), true),
        (json!({"command": "/bin/true # /modegate hook"}), false),
        (json!({"command": "modegate", "args": ["hook", "--project", "/nowhere"]}), false),
        (json!({"command": "modegate hook", "once": true}), false),
        (json!({"command": "modegate hook", "shell": "powershell"}), false),
        (json!({"command": "modegate hook", "timeout": 1}), false),
        (json!({"command": "modegate hook", "if": "Bash(nothing)"}), false),
    ] {
        let mut entry = entry;
        entry["type"] = json!("command");
        let project = Project::new();
        let sham = json!([{"hooks": [entry]}]);
        project.write(SETTINGS, json!({"hooks": {"PreToolUse": sham, "Stop": sham}}).to_string());
        let report = project.run(&["doctor", "--json"]).stdout;
        assert!(
            ["unclear", "altered", "short", "filtered"].iter().any(|word| report.contains(word)) || !is_kept,
            "{report}"
        );
        let output = install_entries(&project);
        fine(&output);
        let value: Value = serde_json::from_str(&project.read(SETTINGS)).unwrap();
        let groups = value["hooks"]["PreToolUse"].as_array().unwrap();
        assert_eq!(groups.len(), if is_kept { 2 } else { 1 }, "{value:#}");
        let own = &groups.last().unwrap()["hooks"][0];
        assert!(own["command"].as_str().unwrap().contains("exec \"$p\" hook; "), "{own}");
        assert_eq!((own["timeout"].as_u64(), own.as_object().unwrap().len()), (Some(150), 4), "{own}");
        let says = "an entry names modegate, but may not call it, so it does not count: hooks.PreToolUse, hooks.Stop";
        assert_eq!(output.stdout.contains(says), is_kept, "{output:?}");
    }
    // A second key of the same name, or another matcher, is what the host uses.
    for group in [
        r#"{"hooks": [{"type": "command", "command": "modegate hook", "command": "true"}]}"#,
        r#"{"hooks": [{"type": "command", "command": "modegate hook"}], "hooks": []}"#,
        r#"{"matcher": "Nothing", "hooks": [{"type": "command", "command": "modegate hook"}]}"#,
    ] {
        let project = Project::new();
        project.write(SETTINGS, format!("{{\"hooks\": {{\"PreToolUse\": [{group}]}}}}"));
        fine(&install_entries(&project));
        let value: Value = serde_json::from_str(&project.read(SETTINGS)).unwrap();
        let group = value["hooks"]["PreToolUse"].as_array().unwrap().last().unwrap();
        assert!(group.get("matcher").is_none() && group["hooks"][0]["timeout"] == 150, "{value:#}");
        assert!(group["hooks"][0]["command"].as_str().unwrap().contains("exec \"$p\" hook; "), "{value:#}");
    }
}

#[cfg(unix)]
#[test]
fn a_program_that_is_not_executable_is_replaced() {
    let project = Project::new();
    fine(&project.run(&["install"]));
    project.shell("chmod 644 .claude/hooks/modegate");
    fine(&project.run(&["install"]));
    project.shell("test -x .claude/hooks/modegate");
    // The one on PATH takes its place.
    fine(&project.run(&["install", "--path"]));
    assert!(!project.home().join(".claude/hooks/modegate").exists());
}

#[cfg(unix)]
#[test]
fn names_and_files_that_are_not_utf8_are_handled() {
    use std::os::unix::ffi::OsStrExt;
    let project = Project::new();
    let odd = project.home().join(std::ffi::OsStr::from_bytes(b"odd\xff"));
    fs::create_dir_all(odd.join(".claude/agents")).unwrap();
    fs::write(odd.join(".claude/agents/code-reviewer.md"), b"\xff\xfe").unwrap();
    for words in
        [&["install", "--path", "--json"][..], &["doctor", "--json"], &["status", "--json"], &["uninstall", "--json"]]
    {
        let output =
            run_command(project.modegate().env("CLAUDE_PROJECT_DIR", &odd).arg("--project").arg(&odd).args(words), b"");
        assert!(output.exit == 0 || output.exit == 1, "{words:?} {output:?}");
        assert!(output.json().is_object(), "{words:?} {output:?}");
    }
    assert_eq!(fs::read(odd.join(".claude/agents/code-reviewer.md")).unwrap(), b"\xff\xfe");
}

#[test]
fn an_error_is_printed_as_json_too() {
    let project = Project::new();
    project.write(SETTINGS, "{");
    for command in ["install", "uninstall"] {
        let output = project.run(&[command, "--json"]);
        assert_eq!(output.exit, 1);
        assert!(output.json()["error"].as_str().unwrap().contains("is not a settings file"), "{output:?}");
    }
    project.write(SETTINGS, "{}");
    let report = project.run(&["install", "--path", "--dry-run", "--json"]).json();
    let settings = report["changes"]
        .as_array()
        .unwrap()
        .iter()
        .find(|change| change["path"].as_str().unwrap().ends_with("settings.json"));
    let settings = settings.unwrap();
    assert!(settings["change"] == "change" && settings["diff"].as_str().unwrap().contains('+'), "{settings}");
}

#[test]
fn duplicate_entries_are_reduced_to_one() {
    let project = Project::new();
    let own = r#"{"hooks": [{"type": "command", "command": "modegate", "args": ["hook"]}]}"#;
    project.write(SETTINGS, format!(r#"{{"hooks": {{"Stop": [{own}, {own}]}}}}"#));
    fine(&install_entries(&project));
    let value: Value = serde_json::from_str(&project.read(SETTINGS)).unwrap();
    assert_eq!(value["hooks"]["Stop"].as_array().unwrap().len(), 1, "{value}");
}

#[test]
fn an_empty_folder_of_the_user_stays() {
    let project = Project::new();
    fs::create_dir_all(project.home().join(".claude/agents")).unwrap();
    fine(&project.run(&["install", "--path"]));
    fine(&project.run(&["uninstall"]));
    assert!(project.home().join(".claude/agents").is_dir());
    assert!(!project.home().join(".claude/commands").exists(), "install created it");
    assert!(!project.home().join(".claude/hooks").exists(), "install created it");
}

#[test]
fn a_second_uninstall_says_that_nothing_is_installed() {
    let project = Project::new();
    fine(&install_entries(&project));
    project.hook(&json!({"hook_event_name": "Stop", "session_id": "s"}));
    let first = project.run(&["uninstall"]).stdout;
    assert!(
        first.starts_with("modegate removed from ") && first.contains("kept     .claude/hooks/ (3 files: sessions, "),
        "{first}"
    );
    let second = project.run(&["uninstall"]).stdout;
    assert!(second.starts_with("modegate is not installed in ") && second.contains("--purge"), "{second}");
}

#[test]
fn the_projects_own_commands_are_found_and_become_variables() {
    let project = Project::new();
    project.write(
        "package.json",
        r#"{"scripts": {"test": "vitest", "test:e2e": "playwright test", "test:watch": "x", "lint": "eslint ."}}"#,
    );
    project.write("pnpm-lock.yaml", "");
    project.write(
        "Makefile",
        "TESTS := a\n.PHONY: test-all\ntest-all: build\n\tgo test ./...\nbuild:\n\tgo build\n%.o: %.c\n",
    );
    project.write("justfile", "verify-test arg='x':\n  echo\nset shell := ['sh']\n");
    project.write("mise.toml", "[tasks.\"test:unit\"]\nrun = 'x'\n[tasks.deploy]\nrun = 'y'\n");
    project.write("Taskfile.yml", "version: '3'\ntasks:\n  tests:\n    cmds: [x]\n");
    project.write(".github/workflows/ci.yml", "jobs:\n  a:\n    steps:\n      - run: make test-ci\n");
    project.write("go.mod", "module x\n");
    let output = project.run(&["install"]);
    fine(&output);
    assert!(output.stdout.contains("test: pnpm run test, pnpm run test:e2e, make test-all, …"), "{}", output.stdout);
    let settings = project.read(".claude/modegate.yaml");
    for wanted in [
        "- \"{test}\"",
        "\"pnpm run test:e2e\" # package.json",
        "\"make test-all\" # Makefile",
        "\"just verify-test\"",
        "\"mise run test:unit\"",
        "\"task tests\"",
        "\"make test-ci\" # .github/workflows/ci.yml",
        "\"go test\" # go.mod",
        "\"pnpm run lint\"",
        "\"make build\"",
    ] {
        assert!(settings.contains(wanted), "{wanted}\n{settings}");
    }
    // Messages name the first command.
    assert!(settings.find("pnpm run test") < settings.find("{test}"), "{settings}");
    for other in ["watch", "deploy", "TESTS", "%"] {
        assert!(!settings.contains(other), "{other}\n{settings}");
    }
    let shown = project.run(&["modes", "check"]);
    fine(&shown);
    project.write(".claude/modegate.yaml", "variables: { test: [make prove], code: [lib] }\n");
    fine(&project.run(&["install"]));
    assert!(project.read(".claude/modegate.yaml").contains("make prove"), "an existing file is the user's");
    let doctor = project.run(&["doctor"]);
    assert!(doctor.stdout.contains("`code` names a path that does not exist: lib"), "{}", doctor.stdout);
}

#[test]
fn scripts_of_a_workspace_are_found() {
    let project = Project::new();
    project.write("package.json", r#"{"private": true, "workspaces": ["packages/*", "tools/cli"]}"#);
    project.write("packages/web/package.json", r#"{"scripts": {"test:unit": "vitest", "build": "vite build"}}"#);
    project.write("tools/cli/package.json", r#"{"scripts": {"test:e2e": "x"}}"#);
    project.write("other/package.json", r#"{"scripts": {"test:other": "x"}}"#);
    fine(&project.run(&["install"]));
    let settings = project.read(".claude/modegate.yaml");
    for wanted in ["\"npm run test:unit\" # packages/web/package.json", "\"npm run test:e2e\" # tools/cli/package.json"]
    {
        assert!(settings.contains(wanted), "{wanted}\n{settings}");
    }
    assert!(!settings.contains("other"), "{settings}");
}

#[test]
fn settings_that_install_wrote_are_removed_with_it() {
    let project = Project::new();
    project.write("Cargo.toml", "[package]\n");
    fine(&project.run(&["install"]));
    assert!(project.read(".claude/modegate.yaml").contains("\"cargo test\" # Cargo.toml"));
    fine(&project.run(&["uninstall"]));
    assert!(!project.home().join(".claude/modegate.yaml").exists());
}

/// A program that says it is Claude Code, on PATH.
#[cfg(unix)]
fn with_client(project: &Project, version: &str, words: &[&str]) -> CommandOutput {
    project.write("../bin/claude", format!("#!/bin/sh\necho '{version} (Claude Code)'\n"));
    project.shell("chmod +x ../bin/claude");
    let bin = project.home().parent().unwrap().join("bin");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    run_command(project.modegate().env("PATH", path).args(words), b"")
}

#[cfg(unix)]
#[test]
fn only_events_that_the_client_knows_get_an_entry() {
    let project = Project::new();
    project.git(&["init", "-q"]);
    let events = |project: &Project| {
        let value: Value = serde_json::from_str(&project.read(SETTINGS)).unwrap();
        value["hooks"].as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    };
    let output = with_client(&project, "2.1.110", &["install"]);
    fine(&output);
    let words = "Claude Code 2.1.110 does not know UserPromptExpansion, so no entry was written";
    assert!(output.stdout.contains(words), "{}", output.stdout);
    assert!(events(&project).len() == 9 && !events(&project).contains(&"UserPromptExpansion".to_owned()));
    let report = with_client(&project, "2.1.110", &["doctor", "--json"]);
    assert!(!report.stdout.contains("entries-missing") && !report.stdout.contains("event-too-new"), "{report:?}");
    // A newer client needs the entry, and gets it.
    assert!(with_client(&project, "2.1.325", &["doctor", "--json"]).stdout.contains("entries-missing"));
    fine(&with_client(&project, "2.1.325", &["install"]));
    assert_eq!(events(&project).len(), 10);
    let report = with_client(&project, "2.1.110", &["doctor", "--json"]);
    assert!(report.stdout.contains("event-too-new") && report.stdout.contains("UserPromptExpansion"), "{report:?}");
    // Told on the command line.
    fine(&with_client(&project, "2.1.325", &["install", "--client", "2.1.115"]));
    assert_eq!(events(&project).len(), 9);
    assert_eq!(project.run(&["install", "--client", "new"]).exit, 64);
    fine(&project.run(&["uninstall"]));
    assert!(!project.home().join(SETTINGS).exists());
}

/// One copy of the program serves all projects of a user.
#[test]
fn the_users_copy_goes_with_the_last_installation() {
    let project = Project::new();
    let other = project.user().join("other");
    fs::create_dir(&other).unwrap();
    let in_other = |words: &[&str]| project.run(&[&["--project", other.to_str().unwrap()], words].concat());
    fine(&project.run(&["install", "--no-workflow"]));
    fine(&in_other(&["install", "--no-workflow"]));
    let copy = project.user().join(".local/state/modegate/bin").join(format!("modegate{EXE_SUFFIX}"));
    let first = project.run(&["uninstall"]).stdout;
    assert!(first.contains("modegate/bin (your other installations use it)") && copy.exists(), "{first}");
    // A newer one stays.
    fs::write(&copy, "newer").unwrap();
    let record = copy.with_file_name("installed.json");
    let text = fs::read_to_string(&record).unwrap();
    fs::write(&record, text.replace(env!("CARGO_PKG_VERSION"), "99.0.0")).unwrap();
    let output = project.run(&["install", "--no-workflow"]).stdout;
    assert!(output.contains("(modegate 99.0.0 is newer; remove it to go back)"), "{output}");
    assert_eq!(fs::read_to_string(&copy).unwrap(), "newer");
    fs::write(&record, text).unwrap();
    fine(&project.run(&["install", "--no-workflow"]));
    assert!(fs::read(&copy).unwrap() == fs::read(env!("CARGO_BIN_EXE_modegate")).unwrap());
    // A project that was deleted does not keep it.
    fs::remove_dir_all(&other).unwrap();
    fine(&project.run(&["uninstall", "--dry-run"]));
    assert!(copy.exists());
    fine(&project.run(&["uninstall"]));
    assert!(!copy.exists());
}
