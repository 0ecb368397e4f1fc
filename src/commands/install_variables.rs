//! The settings file that `install` writes: the project's own commands as variables.

use super::file_change::FileChange;
use super::install_target::InstallTarget;
use crate::commands::project_commands::{ProjectCommand, Purpose, project_commands};
use serde_json::json;

const NAMED: usize = 3;

/// Writes `.claude/modegate.yaml` with the commands that were found; an existing file is the user's.
pub(super) fn settings_change(target: &InstallTarget) -> Option<FileChange> {
    let found = project_commands(&target.home);
    let is_written = !found.is_empty() && !target.is_users;
    is_written.then(|| FileChange::starter(target.places().settings(), &settings_text(&found), found_words(&found)))
}

fn found_words(found: &[ProjectCommand]) -> String {
    let of = |purpose: Purpose| {
        let commands: Vec<&str> = commands(found, purpose).map(|command| command.command.as_str()).collect();
        let more = if commands.len() > NAMED { ", …" } else { "" };
        let named = commands.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
        (!commands.is_empty()).then(|| format!("{}: {named}{more}", purpose.variable()))
    };
    Purpose::ALL.into_iter().filter_map(of).collect::<Vec<_>>().join("; ")
}

fn commands(found: &[ProjectCommand], purpose: Purpose) -> impl Iterator<Item = &ProjectCommand> {
    found.iter().filter(move |command| command.purpose == purpose)
}

fn settings_text(found: &[ProjectCommand]) -> String {
    let mut lines = vec![
        "# modegate settings for this project.".to_owned(),
        "# These commands were found in the files named next to them; edit them as you like.".to_owned(),
        "variables:".to_owned(),
    ];
    for purpose in Purpose::ALL.into_iter().filter(|purpose| commands(found, *purpose).next().is_some()) {
        lines.push(format!("  {}:", purpose.variable()));
        // The project's own commands come first: messages name the first one.
        let line = |command: &ProjectCommand| format!("    - {} # {}", json!(command.command), command.source);
        lines.extend(commands(found, purpose).map(line));
        if purpose == Purpose::Test {
            lines.push("    - \"{test}\" # the test commands modegate knows".to_owned());
        }
    }
    lines.join("\n") + "\n"
}
