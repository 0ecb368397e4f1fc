//! What is different on Windows: paths with drive letters and backslashes, hook entries without a shell, PowerShell.
//!
//! `tests/windows` runs this under wine.

#![cfg(windows)]

use crate::project::{CommandOutput, Project};
use serde_json::{Value, json};

/// Sends a tool call as the host on Windows does: with backslashes.
fn call(project: &Project, tool: &str, input: &Value) -> CommandOutput {
    project.hook(&json!({
        "session_id": "s", "transcript_path": "", "cwd": project.home(), "hook_event_name": "PreToolUse",
        "tool_name": tool, "tool_input": input,
    }))
}

/// An absolute path in the project.
fn whole(project: &Project, below: &str) -> String {
    format!("{}\\{below}", project.home().display())
}

#[test]
fn install_copies_the_program_and_writes_entries_without_a_shell() {
    let project = Project::new();
    let output = project.run(&["install"]);
    assert_eq!(output.exit, 0, "{output:?}");
    assert!(!output.stdout.contains(r"\\?\"), "{output:?}");
    assert!(output.stdout.contains("  colleagues  gated if they run `modegate install`, too; others see an error"));
    assert!(project.home().join(".claude/hooks/modegate.exe").is_file());
    let settings: Value = serde_json::from_str(&project.read(".claude/settings.json")).unwrap();
    let entry = &settings["hooks"]["PreToolUse"][0]["hooks"][0];
    assert_eq!(entry["command"], "${CLAUDE_PROJECT_DIR}/.claude/hooks/modegate.exe");
    assert_eq!(entry["args"], json!(["hook"]));
    // The running program can be replaced, and everything can be removed again.
    assert_eq!(project.run(&["install"]).exit, 0);
    let output = project.run(&["uninstall", "--purge"]);
    assert_eq!(output.exit, 0, "{output:?}");
    assert!(!project.home().join(".claude/hooks/modegate.exe").exists(), "{output:?}");
}

#[test]
fn a_planner_needs_research_here_too() {
    let project = Project::installed();
    let prompt = json!({ "session_id": "s", "transcript_path": "", "cwd": project.home(),
        "hook_event_name": "UserPromptSubmit", "prompt": "/plan x" });
    project.hook(&prompt);
    let planner = json!({ "subagent_type": "strategic-planner", "prompt": "p", "description": "d" });
    let blocked = call(&project, "Agent", &planner);
    assert_eq!(blocked.exit, 2, "{blocked:?}");
    assert!(blocked.stdout.contains("No file matches project/research/research_*.md"), "{blocked:?}");
    project.write("project/research/research_s_{date}.md", "# Research\n");
    let allowed = call(&project, "Agent", &planner);
    assert_eq!(allowed.exit, 0, "{allowed:?}");
}

#[test]
fn protected_files_are_found_behind_backslashes() {
    let project = Project::installed();
    for below in [r".claude\modes\plan.yaml", r".claude\hooks\cache.json", r".CLAUDE\Hooks\Cache.json"] {
        let output = call(&project, "Write", &json!({ "file_path": whole(&project, below), "content": "x" }));
        assert_eq!(output.exit, 2, "{below}: {output:?}");
    }
    for (below, decision) in [(r"config\.env", "ask"), (r"config\.ENV", "ask")] {
        let output = call(&project, "Write", &json!({ "file_path": whole(&project, below), "content": "x" }));
        assert_eq!(output.json()["hookSpecificOutput"]["permissionDecision"], decision, "{below}: {output:?}");
    }
    let output = call(&project, "Write", &json!({ "file_path": whole(&project, r"src\main.rs"), "content": "x" }));
    assert_eq!((output.exit, output.stdout.as_str()), (0, ""), "{output:?}");
}

#[test]
fn powershell_may_read_modegates_files_and_nothing_else() {
    let project = Project::installed();
    for line in [
        r"Remove-Item .claude\hooks\cache.json",
        r#"Set-Content -Path ".claude\modes\base.yaml" -Value "x""#,
        r"cd .claude\hooks; del cache.json",
        "modegate.exe leave plan",
    ] {
        let output = call(&project, "PowerShell", &json!({ "command": line }));
        assert_eq!(output.exit, 2, "{line}: {output:?}");
    }
    for line in [r"Get-Content .claude\hooks\cache.json", r"Get-ChildItem src -Recurse"] {
        let output = call(&project, "PowerShell", &json!({ "command": line }));
        assert_eq!((output.exit, output.stdout.as_str()), (0, ""), "{line}: {output:?}");
    }
}

#[test]
fn a_path_is_relative_to_the_project_with_slashes() {
    let project = Project::installed();
    project.write(".claude/modes/base.yaml", "mode: base\ngates:\n  - { id: docs, on: PreToolUse(Write), check: { not: { path: \"docs/**\" } }, else: No documents. }\n");
    for below in [r"docs\guide\a.md", "docs/a.md"] {
        let output = call(&project, "Write", &json!({ "file_path": whole(&project, below), "content": "x" }));
        assert_eq!(output.exit, 2, "{below}: {output:?}");
    }
    let output = call(&project, "Write", &json!({ "file_path": whole(&project, r"src\docs.md"), "content": "x" }));
    assert_eq!(output.exit, 0, "{output:?}");
}
