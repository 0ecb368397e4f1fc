//! The line of the hook entries: which program it starts, and what it does where there is none.

#![cfg(unix)]

use crate::project::{CommandOutput, Project, run_command};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The shells that may be `/bin/sh`, as far as this machine has them.
fn shells() -> Vec<Vec<&'static str>> {
    let known = [vec!["dash"], vec!["bash"], vec!["bash", "--posix"], vec!["busybox", "sh"], vec!["ksh"], vec!["zsh"]];
    let has = |shell: &Vec<&str>| Command::new(shell[0]).args(&shell[1..]).args(["-c", "exit 0"]).output().is_ok();
    let found: Vec<_> = known.into_iter().filter(has).collect();
    assert!(!found.is_empty());
    found
}

/// A repository with modegate installed and committed; the program says which one it is. The user has no copy of it.
fn installed() -> Project {
    let project = Project::new();
    project.git(&["init", "-q", "-b", "main"]);
    assert_eq!(project.run(&["install"]).exit, 0);
    std::fs::remove_dir_all(user_copy(&project).parent().unwrap()).unwrap();
    mark(&project.home().join(".claude/hooks/modegate"), "project");
    project.shell("git add -A && git commit -qm all");
    project
}

fn user_copy(project: &Project) -> PathBuf {
    project.user().join(".local/state/modegate/bin/modegate")
}

/// Writes a program that prints a name, its arguments and the length of its input.
fn mark(path: &Path, name: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, format!("#!/bin/sh\necho {name} $* $(wc -c)\n")).unwrap();
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}

/// A colleague's clone, or another checkout, in which the entries run.
struct Checkout<'a> {
    project: &'a Project,
    folder: PathBuf,
}

impl Checkout<'_> {
    /// The line of an event's entry.
    fn line(&self, event: &str) -> String {
        let settings = std::fs::read_to_string(self.folder.join(".claude/settings.json")).unwrap();
        let settings: Value = serde_json::from_str(&settings).unwrap();
        settings["hooks"][event][0]["hooks"][0]["command"].as_str().unwrap().to_owned()
    }

    /// Runs the entry of an event as the host does, in one shell.
    fn send_in(&self, shell: &[&str], event: &Value) -> CommandOutput {
        let line = self.line(event["hook_event_name"].as_str().unwrap());
        let mut command = self.project.plain(shell[0]);
        command.args(&shell[1..]).args(["-c", &line]).current_dir("/").env("CLAUDE_PROJECT_DIR", &self.folder);
        let folders = std::env::var_os("PATH").unwrap();
        let others = std::env::split_paths(&folders).filter(|folder| !folder.join("modegate").exists());
        command.env("PATH", std::env::join_paths(others).unwrap());
        // Values that must not count.
        command.envs([("g", "/x/.git/worktrees/y"), ("w", "/bin"), ("r", "/"), ("p", "/bin/true"), ("IFS", "/")]);
        run_command(&mut command, format!("{event}\n").as_bytes())
    }

    /// Runs it in every shell, which must agree.
    #[track_caller]
    fn send(&self, event: &Value) -> CommandOutput {
        let outputs = shells().into_iter().map(|shell| (shell.clone(), self.send_in(&shell, event)));
        let outputs: Vec<_> = outputs.collect();
        let (_, first) = outputs[0].clone();
        assert!(outputs.iter().all(|(_, output)| *output == first), "{outputs:#?}");
        first
    }

    /// The first word of what the program prints.
    #[track_caller]
    fn started(&self) -> String {
        let output = self.send(&event("Stop"));
        assert_eq!((output.exit, output.stderr.as_str()), (0, ""), "{output:?}");
        let mut words = output.stdout.split_whitespace();
        let name = words.next().unwrap_or("nothing").to_owned();
        if name != "nothing" {
            let sent = format!("{}\n", event("Stop")).len().to_string();
            assert_eq!(words.collect::<Vec<_>>(), ["hook", &sent], "{output:?}");
        }
        name
    }
}

fn event(name: &str) -> Value {
    json!({"session_id": "s", "hook_event_name": name, "source": "startup", "prompt": "it's \"$(touch /tmp/x)\" `y`"})
}

fn call(tool: &str) -> Value {
    json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": {"x": "\"tool_name\":\"Agent\""}})
}

fn clone(project: &Project) -> Checkout<'_> {
    let folder = project.home().parent().unwrap().join("it's a \"clone\"");
    project.git(&["clone", "-q", ".", &folder.to_string_lossy()]);
    Checkout { project, folder }
}

fn worktree(project: &Project) -> Checkout<'_> {
    let folder = project.home().parent().unwrap().join("a tree");
    project.git(&["worktree", "add", "-q", "-b", "other", &folder.to_string_lossy()]);
    Checkout { project, folder }
}

#[test]
fn the_project_has_its_own_program() {
    let project = installed();
    mark(&project.home().parent().unwrap().join(".cargo/bin/modegate"), "cargo");
    assert_eq!(Checkout { project: &project, folder: project.home() }.started(), "project");
}

#[test]
fn a_colleague_without_modegate_works_and_sees_one_message() {
    let project = installed();
    let clone = clone(&project);
    let silent = CommandOutput { exit: 0, stdout: String::new(), stderr: String::new() };
    for name in ["UserPromptSubmit", "UserPromptExpansion", "PostToolUse", "SubagentStart", "SubagentStop", "Stop"] {
        assert_eq!(clone.send(&event(name)), silent, "{name}");
    }
    assert_eq!(clone.send(&call("Agent")), silent);
    let first = clone.send(&event("SessionStart"));
    assert_eq!((first.exit, first.stderr.as_str()), (0, ""));
    let message = first.json()["systemMessage"].as_str().unwrap().to_owned();
    assert!(message.starts_with("modegate is not installed here, so its gates are off. To get it, "), "{message}");
    for way in ["`npx modegate install`", "`uvx modegate install`", "`cargo install modegate`"] {
        assert!(message.contains(way), "{way}: {message}");
    }
    let mut later = event("SessionStart");
    for source in ["resume", "clear", "compact"] {
        later["source"] = source.into();
        assert_eq!(clone.send(&later), silent, "{source}");
    }
    let hooks: Vec<_> = std::fs::read_dir(clone.folder.join(".claude/hooks")).unwrap().collect();
    assert_eq!(hooks.len(), 1, "nothing is written next to the script");
}

/// A merge can leave marks of a conflict in it, and the exit code of a syntax error is that of a block.
#[test]
fn a_script_that_is_broken_or_missing_costs_only_the_search() {
    let project = installed();
    let clone = clone(&project);
    let script = clone.folder.join(".claude/hooks/modegate.sh");
    let text = std::fs::read_to_string(&script).unwrap();
    mark(&project.user().join(".cargo/bin/modegate"), "cargo");
    assert_eq!(clone.started(), "cargo");
    for broken in [format!("<<<<<<< HEAD\n{text}"), text.replace("esac\nexit 0", "")] {
        std::fs::write(&script, broken).unwrap();
        assert_eq!(clone.started(), "nothing");
    }
    std::fs::remove_file(&script).unwrap();
    assert_eq!(clone.started(), "nothing");
    mark(&user_copy(&project), "copy");
    assert_eq!(clone.started(), "copy");
}

#[test]
fn a_removed_folder_of_modegate_changes_nothing() {
    let project = Project::new();
    project.git(&["init", "-q", "-b", "main"]);
    assert_eq!(project.run(&["install"]).exit, 0);
    project.write("below/x", "");
    project.shell("git add -A && git commit -qm all");
    let lines = Checkout { project: &project, folder: project.home() };
    let mut command = event("UserPromptSubmit");
    command["prompt"] = "/plan x".into();
    let sent_from = |folder: &Path, event: &Value| {
        let mut shell = project.plain("dash");
        shell.args(["-c", &lines.line(event["hook_event_name"].as_str().unwrap())]).current_dir(folder);
        run_command(shell.env("CLAUDE_PROJECT_DIR", folder), event.to_string().as_bytes())
    };
    let home = project.home();
    assert_eq!(sent_from(&home, &command).exit, 0);
    let mut planner = call("Agent");
    planner["tool_input"] = json!({"subagent_type": "strategic-planner", "prompt": "x", "description": "x"});
    // A session in a folder below, which local entries also reach, and one in the project.
    for folder in [home.join("below"), home.clone()] {
        std::fs::remove_dir_all(home.join(".claude/hooks")).unwrap();
        let blocked = sent_from(&folder, &planner);
        assert!(blocked.exit == 2 && blocked.stderr.contains("Research report not found"), "{folder:?} {blocked:?}");
        assert_eq!(project.cache()["plan_mode"]["is_active"], true, "{}", project.cache());
        assert!(project.read(".claude/hooks/sessions/s.jsonl").contains("strategic-planner"));
    }
}

#[test]
fn a_colleague_with_modegate_uses_it() {
    let project = installed();
    let clone = clone(&project);
    let user = project.home().parent().unwrap().to_owned();
    mark(&user.join(".local/bin/modegate"), "local");
    assert_eq!(clone.started(), "local");
    mark(&user.join(".cargo/bin/modegate"), "cargo");
    assert_eq!(clone.started(), "cargo");
    mark(&clone.folder.join(".claude/hooks/modegate"), "own");
    assert_eq!(clone.started(), "own");
}

/// The folder of this platform's npm package.
fn npm_platform() -> String {
    let system = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    let machine = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    format!("{system}-{machine}")
}

#[test]
fn a_colleague_with_a_package_of_the_project_uses_it() {
    let project = installed();
    let clone = clone(&project);
    // From the last place that is looked at to the first.
    let native = format!("node_modules/@modegate/{}/bin", npm_platform());
    let user = project.home().parent().unwrap().join(".local/bin");
    for (folder, name) in [
        (user, "pipx"),
        (user_copy(&project).parent().unwrap().to_owned(), "users"),
        (clone.folder.join("venv/bin"), "venv"),
        (clone.folder.join(".venv/bin"), "uv"),
        (clone.folder.join("node_modules/.bin"), "script"),
        (clone.folder.join(native), "native"),
        (clone.folder.join(".claude/hooks"), "copy"),
    ] {
        mark(&folder.join("modegate"), name);
        assert_eq!(clone.started(), name);
    }
}

#[test]
fn packages_of_other_platforms_are_not_run() {
    let project = installed();
    let clone = clone(&project);
    let others = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "win32-x64"];
    for other in others.into_iter().filter(|name| *name != npm_platform()) {
        mark(&clone.folder.join(format!("node_modules/@modegate/{other}/bin/modegate")), other);
    }
    assert_eq!(clone.started(), "nothing");
}

#[test]
fn packages_at_the_root_serve_a_project_below_it_and_a_worktree() {
    let project = installed();
    std::fs::remove_file(project.home().join(".claude/hooks/modegate")).unwrap();
    mark(&project.home().join(".venv/bin/modegate"), "root");
    for file in [".claude/settings.json", ".claude/hooks/modegate.sh"] {
        project.write(&format!("packages/a/{file}"), project.read(file));
    }
    let below = Checkout { project: &project, folder: project.home().join("packages/a") };
    assert_eq!(below.started(), "root");
    assert_eq!(worktree(&project).started(), "root");
}

#[test]
fn a_linked_worktree_uses_the_program_of_the_main_checkout() {
    let project = installed();
    let tree = worktree(&project);
    assert_eq!(tree.started(), "project");
    // A path relative to the worktree, as `git worktree add --relative-paths` writes it.
    let link = std::fs::read_to_string(tree.folder.join(".git")).unwrap();
    let main = project.home().to_string_lossy().into_owned();
    std::fs::write(tree.folder.join(".git"), link.replace(&main, "../app")).unwrap();
    assert_eq!(tree.started(), "project");
    // `.worktreeinclude` copies the program.
    mark(&tree.folder.join(".claude/hooks/modegate"), "copy");
    assert_eq!(tree.started(), "copy");
}

#[test]
fn a_project_below_the_root_is_found_in_the_main_checkout() {
    let project = Project::new();
    project.git(&["init", "-q", "-b", "main"]);
    project.write("packages/a b/.claude/settings.json", "{}");
    let below = project.home().join("packages/a b");
    let installed = run_command(project.modegate().arg("--project").arg(&below).arg("install"), b"");
    assert_eq!(installed.exit, 0, "{installed:?}");
    mark(&below.join(".claude/hooks/modegate"), "below");
    project.shell("git add -A && git commit -qm all");
    let tree = worktree(&project);
    std::fs::remove_dir_all(user_copy(&project).parent().unwrap()).unwrap();
    let inner = Checkout { project: &project, folder: tree.folder.join("packages/a b") };
    assert_eq!(inner.started(), "below");
}

#[test]
fn other_git_files_lead_nowhere() {
    let project = installed();
    let clone = clone(&project);
    let git = clone.folder.join(".git");
    std::fs::remove_dir_all(&git).unwrap();
    for text in
        ["", "gitdir: ../.git/modules/x\n", "gitdir: /no/such/.git/worktrees/x", "gitdir: /x/bare.git/worktrees/x\n"]
    {
        std::fs::write(&git, text).unwrap();
        assert_eq!(clone.started(), "nothing", "{text}");
    }
    std::fs::remove_file(&git).unwrap();
    assert_eq!(clone.started(), "nothing", "no repository at all");
}

#[test]
fn a_vanished_program_blocks_starts_of_agents_only() {
    let project = installed();
    std::fs::remove_file(project.home().join(".claude/hooks/modegate")).unwrap();
    let home = Checkout { project: &project, folder: project.home() };
    assert_eq!(home.send(&call("Agent")).exit, 0, "modegate has never run here");
    project.write(".claude/hooks/cache.json", "{}");
    for checkout in [home, worktree(&project)] {
        for tool in ["Agent", "Task", "Skill", "SendMessage", "Workflow"] {
            let output = checkout.send(&call(tool));
            assert_eq!((output.exit, output.stderr.as_str()), (2, ""), "{tool}");
            let reason = output.json()["reason"].as_str().unwrap().to_owned();
            assert!(reason.contains(".claude/hooks/modegate") && reason.contains("`modegate install`"), "{reason}");
            assert_eq!(output.json()["decision"], "block");
        }
        for tool in ["Bash", "Write", "AgentOutput", "mcp__Agent"] {
            assert_eq!(checkout.send(&call(tool)).exit, 0, "{tool}");
        }
        let prompt = checkout.send(&event("UserPromptSubmit"));
        assert_eq!(prompt.exit, 0);
        let message = prompt.json()["systemMessage"].as_str().unwrap().to_owned();
        assert!(message.starts_with("modegate: its program is missing (.claude/hooks/modegate"), "{message}");
        assert_eq!(checkout.send(&event("SessionStart")).stdout, "", "the prompt says it");
    }
    // Another one is good enough.
    mark(&project.home().parent().unwrap().join(".cargo/bin/modegate"), "cargo");
    let home = Checkout { project: &project, folder: project.home() };
    assert_eq!(home.started(), "cargo");
}

#[test]
fn a_person_who_has_uninstalled_it_is_a_colleague_without_modegate() {
    let project = installed();
    project.write(".claude/hooks/cache.json", "{}");
    assert_eq!(project.run(&["uninstall"]).exit, 0);
    // The settings of colleagues come back with the next checkout.
    project.shell("git checkout -q .claude");
    assert!(project.home().join(".claude/hooks/cache.json").exists(), "the state stays");
    let home = Checkout { project: &project, folder: project.home() };
    for event in [call("Agent"), event("UserPromptSubmit")] {
        let output = home.send(&event);
        assert_eq!((output.exit, output.stdout.as_str()), (0, ""), "{event}");
    }
    assert!(home.send(&event("SessionStart")).stdout.contains("modegate is not installed here"));
}

#[test]
fn an_empty_path_is_not_the_current_folder() {
    let project = installed();
    let clone = clone(&project);
    mark(&clone.folder.join("modegate"), "current");
    let line = clone.line("Stop");
    let mut command = project.plain("/bin/sh");
    command.args(["-c", &line]).current_dir(&clone.folder).env("CLAUDE_PROJECT_DIR", &clone.folder);
    let output = run_command(command.env("PATH", ""), b"{}\n");
    assert_eq!((output.exit, output.stdout.as_str(), output.stderr.as_str()), (0, "", ""));
}

#[test]
fn private_settings_name_the_users_copy() {
    let project = Project::named("it's $HOME `x` \"q\"");
    project.git(&["init", "-q"]);
    for (scope, file) in [
        ("--user", project.user().join(".claude/settings.json")),
        ("--local", project.home().join(".claude/settings.local.json")),
    ] {
        assert_eq!(project.run(&["install", scope]).exit, 0);
        let settings: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let copy = user_copy(&project).canonicalize().unwrap();
        let entry =
            json!({"type": "command", "command": copy, "args": ["hook"], "timeout": 150, "statusMessage": "modegate"});
        assert_eq!(settings["hooks"]["Stop"], json!([{"hooks": [entry]}]), "{scope}");
        let hooks = project.home().join(".claude/hooks");
        assert!(!hooks.join("modegate").exists() && !hooks.join("modegate.sh").exists(), "{scope}");
        assert_eq!(project.run(&["uninstall", scope]).exit, 0);
        assert!(!copy.exists() && !file.exists(), "{scope}");
    }
}

#[test]
fn local_settings_work_in_a_folder_below_the_root() {
    let project = installed();
    let shared = project.read(".claude/settings.json");
    assert_eq!(project.run(&["install", "--local"]).exit, 0);
    assert_eq!(project.read(".claude/settings.local.json"), shared, "the host runs equal entries once");
    mark(&user_copy(&project), "users");
    // The host takes the entries from the root, and says that this folder is the project.
    project.write("a/below/.claude/settings.json", shared);
    assert_eq!(Checkout { project: &project, folder: project.home().join("a/below") }.started(), "users");
}

/// Settings as an earlier version would have written them.
fn in_the_earlier_form(settings: &str) -> String {
    let mut event = "";
    let lines = settings.lines().flat_map(|line| {
        let text = line.trim_start();
        let indent = &line[..line.len() - text.len()];
        if text.ends_with("\": [") && !text.starts_with("\"hooks\"") {
            event = text;
        }
        match text.split(':').next() {
            Some("\"command\"") => vec![
                format!("{indent}\"command\": \"${{CLAUDE_PROJECT_DIR}}/.claude/hooks/modegate\","),
                format!("{indent}\"args\": [\"hook\"],"),
            ],
            Some("\"timeout\"") if event.starts_with("\"UserPromptExpansion\"") => {
                vec![line.to_owned(), format!("{indent}\"onFailure\": \"block\"")]
            }
            Some("\"timeout\"") => vec![line.trim_end_matches(',').to_owned()],
            Some("\"statusMessage\"") => Vec::new(),
            _ => vec![line.to_owned()],
        }
    });
    lines.map(|line| line + "\n").collect()
}

#[test]
fn entries_of_an_earlier_version_are_replaced() {
    const SETTINGS: &str = ".claude/settings.json";
    let project = Project::new();
    let before = "{\n  \"model\": \"opus\"\n}\n";
    project.write(SETTINGS, before);
    assert_eq!(project.run(&["install"]).exit, 0);
    let present = project.read(SETTINGS);
    let old = in_the_earlier_form(&present);
    assert_eq!((old.matches("\"args\"").count(), old.matches("onFailure").count()), (10, 1), "{old}");
    project.write(SETTINGS, &old);
    assert_eq!(project.run(&["install"]).exit, 0);
    assert_eq!(project.read(SETTINGS), present);
    project.write(SETTINGS, &old);
    assert_eq!(project.run(&["uninstall"]).exit, 0);
    assert_eq!(project.read(SETTINGS), before);
    // The long lines of the version before.
    assert_eq!(project.run(&["install"]).exit, 0);
    let mut settings: Value = serde_json::from_str(&present).unwrap();
    for groups in settings["hooks"].as_object_mut().unwrap().values_mut() {
        groups[0]["hooks"][0]["command"] = json!(EARLIER_LINE);
    }
    let old = serde_json::to_string_pretty(&settings).unwrap() + "\n";
    project.write(SETTINGS, &old);
    assert!(project.run(&["doctor"]).stdout.contains("`modegate install` writes one that counts"));
    assert_eq!(project.run(&["install"]).exit, 0);
    assert_eq!(project.read(SETTINGS), present);
    project.write(SETTINGS, &old);
    assert_eq!(project.run(&["uninstall"]).exit, 0);
    assert_eq!(project.read(SETTINGS), before);
}

/// The start and the end of the line that version 0.1.0 wrote, with what stood between left out.
const EARLIER_LINE: &str = r#"p="$CLAUDE_PROJECT_DIR/.claude/hooks/modegate"; [ -x "$p" ] && exec "$p" hook; d=$CLAUDE_PROJECT_DIR; r=$d; g=; c=; PATH=${PATH:-/bin}:~/.cargo/bin:~/.local/bin; command -v modegate >/dev/null && exec modegate hook; exit 0"#;
