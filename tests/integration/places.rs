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
