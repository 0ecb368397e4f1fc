//! Projects for a real session: a git repository whose path has a space and a letter outside ASCII.

use crate::project::{Project, Said};
use serde_json::Value;

/// A repository with one commit, without modegate.
pub fn plain() -> Project {
    let project = Project::new();
    project.git(&["init", "-q", "-b", "main", "."]);
    project.git(&["commit", "-q", "--allow-empty", "-m", "begin"]);
    project
}

/// A repository with modegate installed, all of it committed.
pub fn wired() -> Project {
    let project = plain();
    modegate(&project, &["install"]);
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "modegate"]);
    project
}

/// Runs a command of modegate that must succeed.
#[track_caller]
pub fn modegate(project: &Project, arguments: &[&str]) -> Said {
    let said = project.run(arguments);
    assert_eq!(said.exit, 0, "modegate {arguments:?}: {said:?}");
    said
}

/// How a session stands in a mode.
pub fn standing(project: &Project, namespace: &str, session: &str) -> Value {
    project.cache()[namespace]["sessions"][session].clone()
}
