//! Commands that only a person may run.
//!
//! The environment of a tool tells it, also that of the processes above. A tool can hide both, but not that its call is
//! still open, and that it has no terminal.

use super::cli_error::CliError;
use crate::facts::verdict::Verdict;
use crate::host::paths::ProjectPaths;
use crate::state::journal_files;
use crate::world::is_run_by_host;
use base::disk;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// How long a tool call without an end counts as open; the host ends them after ten minutes.
const LONGEST_CALL: Duration = Duration::from_mins(15);

/// Stops a command that only a person may run.
pub(crate) fn require_person(command: &str, places: &ProjectPaths) -> Result<(), CliError> {
    if is_run_by_host() || !has_terminal() && has_open_call(places) {
        return Err(CliError::failure(format!("only a person can run `modegate {command}`"))
            .hint("run it in a terminal outside Claude Code"));
    }
    Ok(())
}

/// Whether a terminal controls this process; the host starts tools without one.
fn has_terminal() -> bool {
    // Tests have none. A tool could set this variable, so releases ignore it.
    let is_test = cfg!(debug_assertions) && std::env::var_os("MODEGATE_TERMINAL").is_some();
    is_test || disk::has_terminal()
}

/// Whether a tool of one of the project's sessions, which may be a shell, has begun and not ended.
fn has_open_call(places: &ProjectPaths) -> bool {
    let journals = std::fs::read_dir(places.sessions()).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_recent = |path: &Path| {
        let changed = path.metadata().and_then(|meta| meta.modified()).ok();
        changed.is_some_and(|time| SystemTime::now().duration_since(time).is_ok_and(|age| age < LONGEST_CALL))
    };
    let journals = journals.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    journals.filter(|path| is_recent(path)).any(|path| is_call_open(&path))
}

fn is_call_open(journal: &Path) -> bool {
    let mut open: Vec<String> = Vec::new();
    for line in journal_files::recent(journal) {
        let text = |name: &str| line.event.get(name).and_then(|value| value.as_str()).unwrap_or_default();
        let (tool, id) = (text("tool_name"), text("tool_use_id"));
        let may_run = matches!(tool, "Bash" | "Monitor" | "PowerShell") || tool.starts_with("mcp__");
        match text("hook_event_name") {
            "PreToolUse" if may_run && line.decision.verdict < Verdict::Block => open.push(id.to_owned()),
            "PostToolUse" | "PostToolUseFailure" | "PermissionDenied" => open.retain(|own| own != id),
            "UserPromptSubmit" | "Stop" | "StopFailure" | "SessionStart" | "SessionEnd" => open.clear(),
            _ => {}
        }
    }
    !open.is_empty()
}
