//! Projects for a real session: a git repository whose path has a space and a letter outside ASCII.

use crate::client::ClientRun;
use crate::model::{MAIN, Script, agent, calls, text};
use crate::project::{CommandOutput, Project};
use serde_json::Value;

/// A repository with one commit, without modegate.
pub fn empty_project() -> Project {
    let project = Project::new();
    project.git(&["init", "-q", "-b", "main", "."]);
    project.git(&["commit", "-q", "--allow-empty", "-m", "begin"]);
    project
}

/// A repository with modegate installed, all of it committed.
pub fn installed_project() -> Project {
    let project = empty_project();
    modegate(&project, &["install"]);
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "modegate"]);
    project
}

/// Runs a command of modegate that must succeed.
#[track_caller]
pub fn modegate(project: &Project, arguments: &[&str]) -> CommandOutput {
    let output = project.run(arguments);
    assert_eq!(output.exit, 0, "modegate {arguments:?}: {output:?}");
    output
}

/// The state of a session in a mode.
pub fn mode_state(project: &Project, namespace: &str, session: &str) -> Value {
    project.cache()[namespace]["sessions"][session].clone()
}

/// A model that starts the planner.
pub fn planner() -> Script {
    Script::main(vec![calls(vec![agent("strategic-planner")]), text("I was blocked.")])
}

/// The planner was blocked, and every hook ran.
#[track_caller]
pub fn must_be_gated(ran: &ClientRun) {
    ran.check(ran.exits("PreToolUse:Agent") == [2], "the planner is blocked");
    ran.check(ran.hooks.iter().all(|hook| hook.outcome == "success" || hook.exit == 2), "every hook runs");
    ran.must_read(MAIN, "Research report not found. Call research-specialist first.");
}
