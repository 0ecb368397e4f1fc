//! Every trick that is known, and everything that only looks like one.

use super::*;
use crate::protected::NOTHING_PROTECTED;

mod bypasses;
mod commits;
mod find;
mod harmless;
mod hostile;
mod on_disk;
mod remote;
mod results;
mod sending;

/// A tool as the callers of the analysis protect one.
static PROTECTED: ProtectedFiles = ProtectedFiles {
    folder: ".claude",
    subfolders: &["hooks", "sessions", "modes"],
    worktrees: "worktrees/",
    files: &[("modes", "modes/any.yaml"), ("hooks/modegate", "hooks/modegate")],
    program: "modegate",
    project_variable: "CLAUDE_PROJECT_DIR",
    ..NOTHING_PROTECTED
};

fn context() -> ExecContext {
    ExecContext {
        cwd: "/w/p".to_owned(),
        home: "/home/me".to_owned(),
        project: "/w/p".to_owned(),
        wrappers: Vec::new(),
        protected: &PROTECTED,
    }
}

/// Formats a change as its effect, `!` if it is recursive, `?` if it is uncertain, and its path, with `…` for unknown
/// text.
fn short(change: &FileEffect) -> String {
    let effect = match change.effect {
        Effect::Remove => "rm",
        Effect::Write => "write",
        Effect::Mode => "mode",
        Effect::Own => "own",
        Effect::Device => "device",
        Effect::Bomb => "bomb",
        Effect::Send => "send",
    };
    let target = match &change.target {
        TargetPath::Known { path, .. } => path.clone(),
        TargetPath::Below { prefix, .. } => format!("{prefix}…"),
        TargetPath::Unknown { bare: Some(bare) } => format!("…{bare}"),
        TargetPath::Unknown { bare: None } => "…".to_owned(),
        TargetPath::Anywhere => "anywhere".to_owned(),
    };
    let marks = [(change.recursive, "!"), (!change.sure, "?")];
    let marks: String = marks.into_iter().filter(|(is, _)| *is).map(|(_, mark)| mark).collect();
    format!("{effect}{marks} {target}")
}

fn changes(command: &str) -> Vec<String> {
    let effects = effects(command, &context());
    assert_eq!(effects.unreadable, None, "{command}");
    effects.changes.iter().map(short).collect()
}

/// Checks a table of commands with the changes that each must have, separated by commas.
#[track_caller]
fn check(table: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (command, expected) in table {
        let effects = effects(command, &context());
        let found: Vec<String> = effects.changes.iter().map(short).collect();
        let missing = expected.split(", ").any(|one| !found.iter().any(|change| change == one));
        if missing || effects.unreadable.is_some() {
            wrong.push(format!("{command}\n    expected {expected}\n    found    {found:?} {:?}", effects.unreadable));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), table.len(), wrong.join("\n"));
}
