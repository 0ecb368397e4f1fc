//! Runs a program on the event.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use super::StepInput;
use crate::facts::{Answer, RunResult, RunStep, Unknown};
use base::process::{self, SHOWN_OUTPUT};
use std::process::Command;
use std::time::{Duration, Instant};

/// Runs a program; one that takes too long is killed with its children.
pub(super) fn run(step: &RunStep, input: &StepInput) -> Result<Answer, Unknown> {
    let name = step.command.lines().next().unwrap_or_default();
    let started = Instant::now();
    let deadline = input.deadline.min(started + Duration::from_secs(step.seconds.into()));
    let stdin = step.event.then(|| input.event.as_bytes().to_vec());
    match process::run(&mut command(step, input), stdin, deadline, SHOWN_OUTPUT) {
        Ok(Some(output)) => match output.code {
            Some(code) => {
                Ok(Answer::Ran(RunResult { code, stdout: output.stdout_text(), stderr: output.stderr_text() }))
            }
            None => Err(format!("`{name}` was ended by a signal").into()),
        },
        Ok(None) => {
            let seconds = deadline.duration_since(started).as_secs();
            Err(Unknown::timeout(&format!("`{name}` was killed, because it"), "end", seconds))
        }
        Err(error) => Err(format!("`{name}` cannot be started: {error}").into()),
    }
}

fn command(step: &RunStep, input: &StepInput) -> Command {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("/bin/sh", "-c") };
    let mut command = Command::new(shell);
    command.args([flag, &step.command]).current_dir(&input.cwd);
    command.env("HOOK_EVENT", &input.name).env("HOOK_SESSION_ID", &input.session);
    command.env("CLAUDE_PROJECT_DIR", &input.home);
    match &input.tool {
        Some(tool) => command.env("HOOK_TOOL_NAME", tool),
        None => command.env_remove("HOOK_TOOL_NAME"),
    };
    command
}
