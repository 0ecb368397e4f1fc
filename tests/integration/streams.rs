//! Whole sessions of the real host, through the hook in order.

use crate::project::today;
use crate::project::{CommandOutput, Project};
use serde_json::{Value, json};

/// A stream in a project where plan mode is active; `act` works on the project before an event.
fn play(name: &str, research: bool, mut act: impl FnMut(&Project, &Value)) -> (Project, Vec<(String, CommandOutput)>) {
    let project = Project::installed();
    project.git(&["init", "-q"]);
    project.write("README.md", "x");
    project.shell("git add -A && git commit -qm start");
    project.write("project/status.json", r#"{"current_milestone": "MS-001", "milestone_description": "Login"}"#);
    if research {
        project.write("project/MS-001_Login/research/research_x_010126.md", "# Research\n");
    }
    project.hook(
        &json!({"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt_id": "before", "prompt": "/plan x"}),
    );
    let path = format!("{}/fixtures/events/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let home = project.home().to_string_lossy().into_owned();
    let mut output = Vec::new();
    for line in text.lines() {
        let line = line.replace("{home}", &home).replace("{user}", "/nowhere").replace("{session}", "s1");
        let event: Value = serde_json::from_str(&line).unwrap();
        act(&project, &event);
        let subject = event["agent_type"].as_str().or_else(|| event["tool_name"].as_str()).unwrap_or_default();
        let label = format!("{} {subject}", event["hook_event_name"].as_str().unwrap()).trim().to_owned();
        output.push((label, project.hook_bytes(line.as_bytes())));
    }
    (project, output)
}

fn exits(output: &[(String, CommandOutput)], label: &str) -> Vec<i32> {
    output.iter().filter(|(own, _)| own == label).map(|(_, output)| output.exit).collect()
}

fn plan(project: &Project, text: &str) {
    project.write(&format!("project/MS-001_Login/plans/plan_s1_{}.md", today()), text);
}

fn is(event: &Value, name: &str, agent: &str) -> bool {
    event["hook_event_name"] == name && event["agent_type"] == agent
}

/// Whatever else happens, an allowed stop prints nothing and a block prints one object.
#[track_caller]
fn check_replies(output: &[(String, CommandOutput)]) {
    for (label, output) in output {
        output.json();
        if label.contains("Stop") && output.exit == 0 {
            assert!(output.stdout.is_empty(), "{label}: {}", output.stdout);
        }
    }
}

#[test]
fn every_event_gets_a_valid_reply() {
    let folder = std::fs::read_dir(format!("{}/fixtures/events", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let names =
        folder.filter_map(|entry| entry.unwrap().file_name().to_str()?.strip_suffix(".jsonl").map(str::to_owned));
    let mut count = 0;
    for name in names {
        for research in [false, true] {
            check_replies(&play(&name, research, |_, _| {}).1);
        }
        count += 1;
    }
    assert_eq!(count, 12);
}

#[test]
fn the_planner_is_blocked_without_research() {
    let (_, output) = play("agent-denied", false, |_, _| {});
    assert_eq!(exits(&output, "PreToolUse Agent"), [2]);
}

#[test]
fn a_repeated_prompt_activates_a_mode_once() {
    let (project, output) = play("agent-denied", false, |_, _| {});
    let spoken: Vec<bool> = output
        .iter()
        .filter(|(label, _)| label.starts_with("UserPrompt"))
        .map(|(_, output)| !output.stdout.is_empty())
        .collect();
    assert_eq!(spoken, [true, false]);
    assert_eq!(project.cache()["plan_mode"]["sessions"]["s1"]["phase"], "draft");
}

#[test]
fn foreground_agents_stop_once_their_work_is_done() {
    let (project, output) = play("plan-command-foreground-agents", true, |project, event| {
        if is(event, "PostToolUse", "strategic-planner") {
            plan(project, "# Plan\n");
        }
        if is(event, "PostToolUse", "consulting-expert") && event["tool_name"] == "Edit" {
            plan(project, "---\nconsulted_by: consulting-expert\n---\n# Plan\n");
        }
    });
    assert_eq!(exits(&output, "SubagentStop strategic-planner"), [0]);
    assert_eq!(exits(&output, "SubagentStop consulting-expert"), [0]);
    assert_eq!(project.cache()["plan_mode"]["sessions"]["s1"]["ended"], "complete");
    let reply = output
        .iter()
        .filter(|(label, _)| label == "PostToolUse Agent")
        .filter(|(_, output)| output.stdout.contains("Planning complete."));
    assert_eq!(reply.count(), 1);
}

#[test]
fn the_stop_of_a_background_agent_is_blocked_after_the_main_agents_stop() {
    let (_, output) = play("plan-command-background-agent", true, |_, _| {});
    assert_eq!(exits(&output, "Stop"), [0, 0]);
    assert_eq!(exits(&output, "SubagentStop strategic-planner"), [2]);
}

#[test]
fn modegate_gives_in_before_the_host_and_informs_the_parent() {
    let (project, output) = play("subagent-stop-blocked-until-cap", true, |_, _| {});
    assert_eq!(exits(&output, "SubagentStop strategic-planner"), [2, 2, 2, 0, 0, 0, 0, 0, 0]);
    let reply = output.iter().find(|(label, _)| label == "PostToolUse Agent").unwrap();
    assert!(reply.1.stdout.contains("was allowed to stop with its work unfinished"), "{}", reply.1.stdout);
    assert_eq!(project.cache()["plan_mode"]["sessions"]["s1"]["unmet"][0]["gate"], "plan-is-written");
    assert_eq!(project.cache()["plan_mode"]["sessions"]["s1"]["phase"], "draft");
}

#[test]
fn an_agent_in_its_own_worktree_is_checked_there() {
    let (_, output) = play("agent-in-worktree", true, |project, event| {
        let cwd = event["cwd"].as_str().unwrap();
        if is(event, "SubagentStart", "strategic-planner") {
            project.git(&["worktree", "add", "-q", cwd]);
        }
        if is(event, "PostToolUse", "strategic-planner") {
            let there = cwd.strip_prefix(&format!("{}/", project.home().display())).unwrap();
            project.write(&format!("{there}/project/MS-001_Login/plans/plan_s1_{}.md", today()), "# Plan\n");
        }
    });
    assert_eq!(exits(&output, "SubagentStop strategic-planner"), [0]);
}

#[test]
fn the_hosts_own_review_agent_is_not_blocked() {
    let (_, output) = play("bundled-code-review", true, |_, _| {});
    assert_eq!(exits(&output, "SubagentStop general-purpose"), [0]);
}

#[test]
fn a_command_called_by_the_model_continues_an_active_mode() {
    let (project, output) = play("model-invoked-skill", true, |_, _| {});
    assert_eq!(exits(&output, "PreToolUse Skill"), [0]);
    // Only a person starts an active mode again.
    assert_eq!(project.cache()["plan_mode"]["sessions"]["s1"]["prompt_id"], "before");
    let reply = output.iter().find(|(label, _)| label == "PreToolUse Skill").unwrap();
    assert!(reply.1.stdout.contains("plan mode: next is draft"), "{}", reply.1.stdout);
}

#[test]
fn parallel_agents_are_checked_separately() {
    let (_, output) = play("parallel-agents", true, |project, event| {
        if is(event, "PostToolUse", "strategic-planner") {
            plan(project, "# Plan\n");
        }
    });
    // The expert was called before there was a plan, and never set its marker on the real one.
    assert_eq!(exits(&output, "PreToolUse Agent"), [2, 0]);
    assert_eq!(exits(&output, "SubagentStop strategic-planner"), [0]);
    assert_eq!(exits(&output, "SubagentStop consulting-expert"), [2]);
}

#[test]
fn a_cd_into_a_subfolder_changes_nothing() {
    let (project, output) = play("bash-edits", true, |_, _| {});
    assert!(output.iter().all(|(_, output)| output.exit == 0));
    assert!(!project.home().join("src/.claude").exists());
}
