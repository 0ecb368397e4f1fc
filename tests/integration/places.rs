//! Where are we: home and tree, as the host says or does not say.

use crate::project::{CommandOutput, Project, run_command};
use serde_json::{Value, json};
use std::path::Path;

/// The hook as a host without `CLAUDE_PROJECT_DIR` calls it.
fn hook(project: &Project, cwd: &Path, event: Value) -> CommandOutput {
    let mut event = event;
    event["cwd"] = cwd.to_string_lossy().into();
    event["session_id"] = "s".into();
    run_command(project.modegate().env_remove("CLAUDE_PROJECT_DIR").arg("hook"), event.to_string().as_bytes())
}

fn plan() -> Value {
    json!({"hook_event_name": "UserPromptSubmit", "prompt_id": "p", "prompt": "/plan x"})
}

fn starts(agent: &str) -> Value {
    json!({"hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input": {"subagent_type": agent}})
}

/// Makes the reviewer's gate block outside its mode.
const ENFORCED: &str = "levels: { code-is-committed-before-review: enforce }\n";

#[test]
fn the_nearest_folder_with_claude_is_home() {
    let project = Project::installed();
    project.write("src/deep/x.rs", "x");
    let deep = project.home().join("src/deep");
    assert_eq!(hook(&project, &deep, plan()).exit, 0);
    assert_eq!(project.cache()["plan_mode"]["is_active"], true);
    assert!(!deep.join(".claude").exists());
    assert_eq!(hook(&project, &project.home(), starts("strategic-planner")).exit, 2);
}

#[test]
fn the_users_own_claude_folder_is_not_a_project() {
    let project = Project::new();
    // `HOME` of the test is the folder above the project.
    let user = project.home().parent().unwrap().to_owned();
    std::fs::create_dir_all(user.join(".claude/hooks")).unwrap();
    let silent = CommandOutput { exit: 0, stdout: String::new(), stderr: String::new() };
    assert_eq!(hook(&project, &project.home(), starts("code-reviewer")), silent);
    assert_eq!(hook(&project, &project.home(), plan()).exit, 0);
    assert!(project.home().join(".claude/hooks/cache.json").exists());
    assert!(!user.join(".claude/hooks/cache.json").exists());
}

#[test]
fn a_project_variable_that_is_not_a_folder_is_ignored() {
    let project = Project::installed();
    let event =
        json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": project.home(), "prompt": "/plan x"});
    for word in ["", "relative", "/no/such/folder"] {
        let output =
            run_command(project.modegate().env("CLAUDE_PROJECT_DIR", word).arg("hook"), event.to_string().as_bytes());
        assert_eq!(output.exit, 0, "{word}");
    }
    assert_eq!(project.cache()["plan_mode"]["is_active"], true);
}

#[test]
fn a_project_in_a_larger_repository_sees_only_itself() {
    let project = Project::new();
    project.git(&["init", "-q"]);
    project.write("one/.claude/hooks/.gitkeep", "");
    project.write("one/.claude/modegate.yaml", ENFORCED);
    project.write("one/src/a.rs", "x");
    project.write("two/src/b.rs", "x");
    project.shell("printf '/one/.claude/\\n' > .gitignore && git add -A && git commit -qm all");
    let one = project.home().join("one");
    project.write("two/src/b.rs", "changed");
    assert_eq!(hook(&project, &one, starts("code-reviewer")).exit, 0);
    project.write("one/src/new file ä.rs", "x");
    let output = hook(&project, &one.join("src"), starts("code-reviewer"));
    assert_eq!(output.exit, 2);
    assert!(output.stderr.contains("src/new file ä.rs (untracked)"), "{}", output.stderr);
}

#[test]
fn an_agents_worktree_belongs_to_its_project() {
    let project = Project::installed();
    project.git(&["init", "-q"]);
    project.write(".gitignore", ".claude/hooks\n.claude/worktrees\n");
    project.write(".claude/commands/plan.md", "x");
    project.shell("git add -A && git commit -qm all");
    let tree = project.home().join(".claude/worktrees/agent-1");
    project.git(&["worktree", "add", "-q", &tree.to_string_lossy()]);
    assert_eq!(hook(&project, &project.home(), plan()).exit, 0);
    project.write("project/research/research_x_1.md", "found at home");
    assert_eq!(hook(&project, &tree, starts("strategic-planner")).exit, 0);
    let stop = json!({"hook_event_name": "SubagentStop", "agent_id": "1", "agent_type": "strategic-planner"});
    assert_eq!(hook(&project, &tree, stop.clone()).exit, 2);
    project.write(".claude/worktrees/agent-1/project/plans/plan_s_010126.md", "found there");
    assert_eq!(hook(&project, &tree, stop).exit, 0);
    assert!(!tree.join(".claude/hooks").exists());
}

#[test]
fn the_reviewers_worktree_is_checked_on_its_own() {
    let project = Project::installed();
    project.git(&["init", "-q"]);
    project.write(".gitignore", ".claude\n");
    project.write(".claude/modegate.yaml", ENFORCED);
    project.write("src/a.rs", "x");
    project.shell("git add -A && git commit -qm all");
    let tree = project.home().parent().unwrap().join("beside");
    project.git(&["worktree", "add", "-q", &tree.to_string_lossy()]);
    project.write("src/a.rs", "changed at home");
    let start = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": tree, "tool_name": "Agent", "tool_input": {"subagent_type": "code-reviewer"}});
    assert_eq!(project.hook(&start).exit, 0);
    std::fs::write(tree.join("src/a.rs"), "changed there").unwrap();
    assert_eq!(project.hook(&start).exit, 2);
}

/// A repository with modegate's folder and entries, and a linked worktree beside it.
fn with_worktree() -> (Project, std::path::PathBuf) {
    let project = Project::new();
    project.git(&["init", "-q", "-b", "main"]);
    assert_eq!(project.run(&["install", "--path"]).exit, 0);
    project.write("below/x", "");
    project.shell("git add -A && git commit -qm all");
    let tree = project.home().parent().unwrap().join("beside");
    project.git(&["worktree", "add", "-q", "-b", "other", &tree.to_string_lossy()]);
    (project, tree)
}

/// The hook of a session that was started in `folder`.
fn session(project: &Project, folder: &Path, event: Value) -> CommandOutput {
    let mut event = event;
    event["cwd"] = folder.to_string_lossy().into();
    event["session_id"] = "s".into();
    let mut hook = project.modegate();
    run_command(hook.env("CLAUDE_PROJECT_DIR", folder).arg("hook"), event.to_string().as_bytes())
}

fn status(project: &Project, folder: &Path) -> Value {
    let mut status = project.modegate();
    status.env_remove("CLAUDE_PROJECT_DIR").current_dir(folder).args(["status", "--json"]);
    run_command(&mut status, b"").json()
}

#[test]
fn a_session_in_a_linked_worktree_has_its_state_in_the_main_checkout_and_its_evidence_there() {
    let (project, tree) = with_worktree();
    // A folder with the user's own hooks, or with a program that `.worktreeinclude` copied, changes nothing.
    std::fs::create_dir_all(tree.join(".claude/hooks")).unwrap();
    assert_eq!(session(&project, &tree, plan()).exit, 0);
    assert_eq!(project.cache()["plan_mode"]["is_active"], true);
    assert_eq!(session(&project, &tree, starts("strategic-planner")).exit, 2);
    std::fs::create_dir_all(tree.join("project/research")).unwrap();
    std::fs::write(tree.join("project/research/research_x_1.md"), "found there").unwrap();
    assert_eq!(session(&project, &tree, starts("strategic-planner")).exit, 0);
    // The agent's shell may be anywhere.
    let mut elsewhere = starts("strategic-planner");
    elsewhere["cwd"] = "/".into();
    elsewhere["session_id"] = "s".into();
    let mut hook = project.modegate();
    let output = run_command(hook.env("CLAUDE_PROJECT_DIR", &tree).arg("hook"), elsewhere.to_string().as_bytes());
    assert_eq!(output.exit, 0, "{output:?}");
    assert_eq!(
        std::fs::read_dir(tree.join(".claude/hooks")).unwrap().count(),
        1,
        "nothing is written next to the script"
    );
    for folder in [&tree, &tree.join("below"), &project.home()] {
        let report = status(&project, folder);
        assert_eq!(report["home"], json!(project.home()), "{}", folder.display());
        assert_eq!(report["sessions"][0]["id"], "s", "{report:#}");
    }
    for words in [&["why"][..], &["log"], &["leave", "plan"]] {
        let mut command = project.modegate();
        let output = run_command(command.env_remove("CLAUDE_PROJECT_DIR").current_dir(&tree).args(words), b"");
        assert_eq!(output.exit, 0, "{words:?} {output:?}");
    }
    assert_eq!(project.cache()["plan_mode"]["is_active"], false);
}

#[test]
fn a_worktree_without_a_main_checkout_keeps_its_own_state() {
    let (project, tree) = with_worktree();
    let home = project.home();
    std::fs::create_dir_all(tree.join(".claude/hooks")).unwrap();
    // Modegate is not installed in the main checkout.
    std::fs::rename(home.join(".claude/hooks"), home.join(".claude/away")).unwrap();
    assert_eq!(session(&project, &tree, plan()).exit, 0);
    assert!(tree.join(".claude/hooks/cache.json").exists() && !home.join(".claude/hooks").exists());
    std::fs::rename(home.join(".claude/away"), home.join(".claude/hooks")).unwrap();
    // It was moved away, or is bare.
    let bare = home.parent().unwrap().join("bare.git");
    std::fs::rename(home.join(".git"), &bare).unwrap();
    let link = std::fs::read_to_string(tree.join(".git")).unwrap();
    for link in [link.clone(), link.replace(&*home.join(".git").to_string_lossy(), &bare.to_string_lossy())] {
        std::fs::write(tree.join(".git"), &link).unwrap();
        std::fs::remove_file(tree.join(".claude/hooks/cache.json")).unwrap();
        assert_eq!(session(&project, &tree, plan()).exit, 0);
        assert!(tree.join(".claude/hooks/cache.json").exists(), "{link}");
    }
    assert!(!home.join(".claude/hooks/cache.json").exists());
}

/// An unpacked archive can have a `.git` file that names any repository of the user.
#[test]
fn a_folder_that_the_repository_does_not_list_is_not_its_worktree() {
    let (project, tree) = with_worktree();
    let folder = project.home().parent().unwrap().join("evil");
    let git = project.home().join(".git");
    std::fs::create_dir_all(folder.join("m/worktrees/m")).unwrap();
    let own = git.join("worktrees").read_dir().unwrap().next().unwrap().unwrap().path();
    for (link, common) in [
        ("m".into(), git.clone()),
        ("m/worktrees/m".into(), git.clone()),
        (own.clone(), git.clone()),
        ("m/worktrees/m".into(), "../..".into()),
    ] {
        std::fs::write(folder.join(".git"), format!("gitdir: {}\n", link.display())).unwrap();
        for own in ["m", "m/worktrees/m"].map(|own| folder.join(own)) {
            std::fs::write(own.join("HEAD"), "ref: refs/heads/main\n").unwrap();
            std::fs::write(own.join("gitdir"), format!("{}\n", folder.join(".git").display())).unwrap();
            std::fs::write(own.join("commondir"), format!("{}\n", common.display())).unwrap();
        }
        assert_eq!(session(&project, &folder, plan()).exit, 0);
        assert!(project.cache().is_null(), "{}", link.display());
        std::fs::remove_file(folder.join(".claude/hooks/cache.json")).unwrap();
    }
    // One that was moved counts as soon as git knows its place.
    let moved = project.home().parent().unwrap().join("moved");
    std::fs::rename(&tree, &moved).unwrap();
    project.git_in(&moved, &["worktree", "repair"]);
    assert_eq!(session(&project, &moved, plan()).exit, 0);
    assert_eq!(project.cache()["plan_mode"]["is_active"], true);
}

#[test]
fn a_worktree_is_known_by_relative_paths_and_through_links() {
    let (project, tree) = with_worktree();
    let own = project.home().join(".git/worktrees/beside");
    std::fs::write(tree.join(".git"), "gitdir: ../app/.git/worktrees/beside\n").unwrap();
    std::fs::write(own.join("gitdir"), "../../../../beside/.git\n").unwrap();
    assert_eq!(session(&project, &tree, plan()).exit, 0);
    assert_eq!(project.cache()["plan_mode"]["is_active"], true);
    #[cfg(unix)]
    {
        let link = project.home().parent().unwrap().join("link");
        std::os::unix::fs::symlink(&tree, &link).unwrap();
        assert_eq!(session(&project, &link, starts("strategic-planner")).exit, 2);
    }
}

#[test]
fn a_submodule_is_not_a_worktree() {
    let project = Project::installed();
    project.git(&["init", "-q"]);
    project.write(".git/modules/sub/config", "");
    project.write("sub/.git", "gitdir: ../.git/modules/sub\n");
    let sub = project.home().join("sub");
    assert_eq!(session(&project, &sub, plan()).exit, 0);
    assert!(sub.join(".claude/hooks/cache.json").exists() && project.cache().is_null());
}

#[cfg(unix)]
#[test]
fn a_linked_hooks_folder_is_followed_to_the_main_checkout_only() {
    let (project, tree) = with_worktree();
    // `worktree.symlinkDirectories` makes this link where nothing in the folder is committed.
    std::fs::remove_dir_all(tree.join(".claude/hooks")).unwrap();
    std::os::unix::fs::symlink(project.home().join(".claude/hooks"), tree.join(".claude/hooks")).unwrap();
    assert_eq!(session(&project, &tree, plan()).exit, 0);
    assert_eq!(session(&project, &tree, starts("strategic-planner")).exit, 2);
    assert_eq!(project.cache()["plan_mode"]["is_active"], true);
    let elsewhere = project.home().parent().unwrap().join("elsewhere");
    std::fs::create_dir_all(&elsewhere).unwrap();
    std::fs::rename(project.home().join(".claude/hooks"), project.home().join(".claude/away")).unwrap();
    std::fs::remove_file(tree.join(".claude/hooks")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, tree.join(".claude/hooks")).unwrap();
    let output = session(&project, &tree, plan());
    assert!(output.stdout.contains("is a link") || output.stderr.contains("is a link"), "{output:?}");
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn a_session_below_the_root_belongs_to_the_project() {
    let (project, _) = with_worktree();
    let below = project.home().join("below");
    assert_eq!(session(&project, &below, plan()).exit, 0);
    assert_eq!(project.cache()["plan_mode"]["is_active"], true);
    assert_eq!(session(&project, &below, starts("strategic-planner")).exit, 2);
    assert!(!below.join(".claude").exists());
    // A folder that is a project of its own stays one.
    project.write("below/.claude/hooks/.gitignore", "*");
    assert_eq!(session(&project, &below, plan()).exit, 0);
    assert!(below.join(".claude/hooks/cache.json").exists());
}

#[test]
fn a_clone_whose_settings_call_modegate_is_a_project_from_the_start() {
    let (project, _) = with_worktree();
    let clone = project.home().parent().unwrap().join("clone");
    project.git(&["clone", "-q", ".", &clone.to_string_lossy()]);
    let delete = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "rm -rf ~"}});
    assert_eq!(session(&project, &clone, delete.clone()).exit, 2, "the committed script makes it a project");
    // Entries of an earlier version had no script.
    std::fs::remove_dir_all(clone.join(".claude/hooks")).unwrap();
    std::fs::remove_dir_all(project.user().join(".local/state/modegate")).unwrap();
    assert_eq!(session(&project, &clone, delete.clone()).exit, 0, "no session has begun");
    assert_eq!(session(&project, &clone, json!({"hook_event_name": "SessionStart", "source": "startup"})).exit, 0);
    assert_eq!(session(&project, &clone, delete).exit, 2, "the base mode is active");
    project.shell("cd ../clone && git checkout -q .");
    assert!(clone.join(".claude/hooks/.gitignore").exists());
    let mut git = project.plain("git");
    let listed = git.current_dir(&clone).args(["status", "--porcelain", "-uall"]).output().unwrap();
    assert!(listed.stdout.is_empty(), "{listed:?}");
}

#[test]
fn the_settings_of_a_worktree_are_protected_in_its_session() {
    let (project, tree) = with_worktree();
    for (folder, name) in [(&tree, "settings.json"), (&tree, "settings.local.json"), (&project.home(), "settings.json")]
    {
        let path = folder.join(".claude").join(name);
        let write = json!({"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": {"file_path": path, "content": "{\"disableAllHooks\": true}"}});
        assert_eq!(session(&project, &tree, write).exit, 2, "{}", path.display());
    }
}
