//! `modegate hook`: one event, from standard input to the reply.
//!
//! [`project`] finds the project and opens its modes, [`event_run`] decides, stores and records the event.

#![expect(clippy::disallowed_methods, reason = "an I/O room")]

mod event_input;
mod event_run;
pub mod heartbeats;
pub mod host_settings;
pub mod installation;
mod integrity;
mod journal_entry;
mod notices;
mod project;
mod reply;
mod transaction;
mod watchdog;

pub use reply::{Reply, reply};

use crate::engine::Decided;
use crate::facts::{Answer, Question};
use crate::host::event::Event;
use crate::host::paths::ProjectPaths;
use crate::policy::mode::Catalogue;
use crate::world::{as_fork, is_run_by_tool};
use base::screen;
use clap::Args;
use event_run::EventRun;
use jiff::{SignedDuration, Timestamp};
use project::HookProject;
use reply::internal_error;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// The options of `modegate hook`.
#[derive(Args, Debug, Clone, Copy, Default)]
pub struct HookOptions {
    /// Exit with 0 even when the event is blocked, for Claude Code before 2.1.90
    #[arg(long)]
    pub exit_zero: bool,
    /// Stay silent if a settings file also calls modegate for this event (for plugins and managed settings)
    #[arg(long)]
    pub fallback: bool,
}

/// The reply to an event, and what led to it.
#[derive(Debug, Clone, Default)]
pub struct HookAnswer {
    /// The output and exit code.
    pub reply: Reply,
    /// The questions that were asked, with their answers.
    pub asked: Vec<(Question, Answer)>,
    /// The decision; `None` outside a project.
    pub decided: Option<Decided>,
    /// The modes that it rests on.
    pub modes: Catalogue,
}

/// Answers the event on standard input.
pub fn main(options: HookOptions, project: Option<&Path>) -> ExitCode {
    if is_run_by_tool() {
        // The model must not tell modegate what has happened.
        screen::print_error("modegate: only Claude Code itself runs `modegate hook`; this event was ignored");
        return ExitCode::SUCCESS;
    }
    watchdog::handle_panics();
    match event_input::read_event().map(watchdog::keep_event) {
        Ok(bytes) if options.fallback && host_settings::answer_instead(bytes, project) => {}
        Ok(bytes) => {
            watchdog::watch_long_event(bytes, options.exit_zero);
            let end = |reply: &Reply| watchdog::end_with(reply, options.exit_zero);
            let find = |event: &Event| HookProject::of_event(event, project);
            end(&answered(bytes, &find, SignedDuration::ZERO, &end).reply);
        }
        Err(error) => watchdog::print(&internal_error(&error.to_string())),
    }
    ExitCode::SUCCESS
}

/// Answers the event in `bytes` for the project `home`, or for the one that the event and the environment name.
pub fn answer(bytes: &[u8], home: Option<&Path>) -> HookAnswer {
    answered(bytes, &|event| HookProject::of_event(event, home), SignedDuration::ZERO, &|_| {})
}

/// Answers an event in a project, with the clock set forward by `clock_offset`: scenarios wait this way.
pub fn answer_in(bytes: &[u8], places: &ProjectPaths, clock_offset: SignedDuration) -> HookAnswer {
    answered(bytes, &|_| HookProject::at_paths(places.clone()), clock_offset, &|_| {})
}

/// Answers an event. The reply to an event of a project goes to `end` first: the hook ends there, as freeing what it has read
/// takes as long as reading it.
fn answered(
    bytes: &[u8],
    find: &dyn Fn(&Event) -> HookProject,
    clock_offset: SignedDuration,
    end: &dyn Fn(&Reply),
) -> HookAnswer {
    let begun = Instant::now();
    let event = match Event::parse(bytes) {
        Ok(event) => as_fork(event),
        Err(why) => {
            let reply = internal_error(&format!("this is not a hook event: {why}"));
            return HookAnswer { reply, ..HookAnswer::default() };
        }
    };
    let project = find(&event);
    let Some(open_modes) = project.open_modes(&event) else { return HookAnswer::default() };
    let now = Timestamp::now();
    let received_at = now.checked_add(clock_offset).unwrap_or(now);
    EventRun { project: &project, event: &event, begun, received_at, clock_offset }.answer(&open_modes, end)
}

#[cfg(test)]
mod tests {
    use super::answer_in;
    use crate::host::event::TABLE;
    use crate::host::hook_entries::TIMEOUT;
    use crate::state::store::lock::LOCK_TIMEOUT;
    use crate::state::user_folder::project_paths_in;
    use crate::world::STEP_TIMEOUT;
    use git_facts::GIT_TIMEOUT;
    use jiff::SignedDuration;
    use serde_json::{Value, json};
    use std::time::Duration;

    #[test]
    fn the_host_waits_longer_than_the_hook_can_take() {
        // One lock for the state, one for the rotation of the journal.
        let longest = GIT_TIMEOUT + STEP_TIMEOUT + 2 * LOCK_TIMEOUT;
        assert!(longest + Duration::from_secs(5) < Duration::from_secs(TIMEOUT), "{longest:?}");
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test makes a project")]
    fn null_and_wrong_types_are_harmless_everywhere() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("app");
        std::fs::create_dir_all(home.join(".claude/hooks")).unwrap();
        let places = project_paths_in(home, &folder.path().join("state"));
        let whole = json!({
            "session_id": "s", "transcript_path": "/x", "cwd": "/x", "prompt_id": "p", "permission_mode": "default", "agent_id": "a",
            "agent_type": "strategic-planner", "tool_name": "Agent", "tool_input": {"subagent_type": "strategic-planner"},
            "tool_response": {"agentId": "a"}, "prompt": "/plan x", "background_tasks": [{"status": "running"}], "stop_hook_active": true,
            "error": "e", "last_assistant_message": "m", "source": "startup",
        });
        for row in TABLE {
            for key in whole.as_object().unwrap().keys() {
                for odd in [Value::Null, json!(5), json!([]), json!({}), json!(true), json!("")] {
                    let mut event = whole.clone();
                    event["hook_event_name"] = row.name.into();
                    event[key] = odd;
                    let answered = answer_in(event.to_string().as_bytes(), &places, SignedDuration::ZERO);
                    assert!(answered.reply.exit == 0 || answered.reply.exit == 2);
                }
            }
        }
    }
}
