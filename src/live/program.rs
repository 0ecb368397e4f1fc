//! A program that is given the event.

use crate::facts::{Answer, RunStep};
use crate::process;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// What a program gets to know.
#[derive(Debug, Clone)]
pub(super) struct Surroundings<'a> {
    pub(super) event: &'a str,
    pub(super) name: &'a str,
    pub(super) tool: Option<&'a str>,
    pub(super) session: &'a str,
    pub(super) home: &'a Path,
    pub(super) cwd: &'a Path,
}

/// Runs a program; one that does not end in time is killed with its children.
pub(super) fn run(asked: &RunStep, around: &Surroundings<'_>, until: Instant) -> Answer {
    let name = asked.command.lines().next().unwrap_or_default();
    let begun = Instant::now();
    let until = until.min(begun + Duration::from_secs(asked.seconds.into()));
    let input = asked.event.then(|| around.event.as_bytes().to_vec());
    match process::run(&mut command(asked, around), input, until) {
        Ok(Some(process::ProcessOutput { code: Some(code), stdout, stderr })) => Answer::Ran { code, stdout, stderr },
        Ok(Some(_)) => Answer::Unknown(format!("`{name}` was ended by a signal")),
        Ok(None) => {
            let seconds = until.duration_since(begun).as_secs();
            Answer::Unknown(format!("`{name}` did not end within {seconds} s, and was killed"))
        }
        Err(error) => Answer::Unknown(format!("`{name}` cannot be started: {error}")),
    }
}

fn command(asked: &RunStep, around: &Surroundings<'_>) -> Command {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut command = Command::new(shell);
    command.args([flag, &asked.command]).current_dir(around.cwd);
    command.env("HOOK_EVENT", around.name).env("HOOK_SESSION_ID", around.session);
    command.env("HOOK_TOOL_NAME", around.tool.unwrap_or_default()).env("CLAUDE_PROJECT_DIR", around.home);
    command
}
