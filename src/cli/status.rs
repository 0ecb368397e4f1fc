//! `modegate status`: the sessions of a project, their modes and what each expects next.

use super::cli_error::CliError;
use super::heartbeat::{self, Heartbeat};
use super::install_target::InstallTarget;
use super::screen::{self, TextStyle, styled};
use super::session_lookup::find_optional;
use super::{CliResult, EXIT_FAILURE, places};
use crate::engine::decide;
use crate::event::Event;
use crate::facts::Facts;
use crate::live::LiveFacts;
use crate::mode::Catalogue;
use crate::mode_cache;
use crate::paths::ProjectPaths;
use crate::session::{ModeState, Session};
use crate::store::{StateStatus, StateStore};
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub(super) struct Status {
    /// Only this session
    #[arg(long)]
    session: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

impl Status {
    pub(super) fn run(mut self, project: Option<PathBuf>) -> CliResult {
        if let Some(gone) = project.as_ref().filter(|folder| !folder.is_dir()) {
            return Err(CliError::failure(format!("`{}` is not a folder", gone.display())));
        }
        let places = places(project);
        self.session = find_optional(&places, self.session.as_deref())?;
        let target = InstallTarget::of(&places);
        let catalogue = mode_cache::read(&places);
        let state = StateStore::new(places.clone(), catalogue.settings.days).read();
        // Sessions without a mode have no state, but a journal.
        let mut ids = state.ids();
        let of_late = heartbeat::heartbeats(&target)
            .into_iter()
            .filter(|heartbeat| heartbeat.seen.is_some())
            .map(|heartbeat| heartbeat.session);
        let new: Vec<String> = of_late.filter(|id| !ids.contains(id)).collect();
        ids.extend(new);
        ids.retain(|id| self.session.as_ref().is_none_or(|only| only == id));
        let sessions: Vec<Session> = ids.iter().map(|id| state.session(id)).collect();
        let trouble = match &state.status {
            StateStatus::Sound => None,
            StateStatus::Broken(why) | StateStatus::Unreadable(why) => {
                Some(format!("`.claude/hooks/cache.json` could not be read: {why}"))
            }
            StateStatus::Newer(version) => {
                Some(format!("`.claude/hooks/cache.json` is of version {version}, which this modegate does not know"))
            }
        };
        if self.json {
            let sessions: Vec<Value> = sessions.iter().map(|session| as_json(session, &catalogue, &places)).collect();
            let broken: Vec<String> = catalogue.broken.iter().map(crate::mode::BrokenFile::summary).collect();
            let project = places.hooks().is_dir();
            let silent: Vec<String> = silent(&target).iter().map(|heartbeat| heartbeat.session.clone()).collect();
            screen::print_json(
                &json!({"home": places.home.to_string_lossy(), "silent": silent, "project": project, "sessions": sessions, "trouble": trouble, "broken": broken}),
            );
        } else {
            show(&places, &catalogue, &sessions);
            for heartbeat in
                silent(&target).iter().filter(|heartbeat| sessions.iter().all(|known| known.id != heartbeat.session))
            {
                screen::print_line(format!(
                    "{}; run `modegate doctor --live`",
                    styled(TextStyle::Red, &heartbeat.told())
                ));
            }
            if let Some(text) = &trouble {
                screen::print_error(format!("error: {text}"));
            }
        }
        Ok(if trouble.is_some() { ExitCode::from(EXIT_FAILURE) } else { ExitCode::SUCCESS })
    }
}

/// Sessions that go on without the hook.
fn silent(target: &InstallTarget) -> Vec<Heartbeat> {
    heartbeat::heartbeats(target).into_iter().filter(Heartbeat::is_missed).collect()
}

fn show(places: &ProjectPaths, catalogue: &Catalogue, sessions: &[Session]) {
    screen::print_line(format!("project {}", styled(TextStyle::Bold, &places.home.to_string_lossy())));
    if !places.hooks().is_dir() {
        screen::print_line(
            "no mode was ever activated here; type /plan, /research, /explore, /code, /code-review or /implement in Claude Code",
        );
    }
    for broken in &catalogue.broken {
        screen::print_line(styled(TextStyle::Red, &broken.summary()));
    }
    for session in sessions {
        screen::print_line(format!("session {}", styled(TextStyle::Cyan, &session.id)));
        for mode in &catalogue.modes {
            if let Some(state) =
                session.mode_state(&mode.namespace).filter(|state| state.activated_at.is_some() || state.is_active)
            {
                screen::print_line(format!("  {}", line(&mode.name, state)));
                state.unmet.iter().for_each(|unmet| {
                    screen::print_line(format!("    allowed unmet: {} ({}, {})", unmet.gate, unmet.agent, unmet.at));
                });
            }
        }
        for text in expected(session, catalogue, places) {
            screen::print_line(format!("  next: {text}"));
        }
        if let Some(heartbeat) = Heartbeat::of(&places.journal(&session.id)) {
            if heartbeat.is_missed() {
                screen::print_line(format!(
                    "  {}; run `modegate doctor --live`",
                    styled(TextStyle::Red, &heartbeat.told())
                ));
            } else if let Some(at) = heartbeat.seen {
                screen::print_line(format!("  the hook was last seen {}", heartbeat::ago(at)));
            }
        }
    }
}

fn line(name: &str, state: &ModeState) -> String {
    let phase = state.phase.as_deref().unwrap_or("its first phase");
    let since = state.activated_at.as_deref().unwrap_or("an unknown time");
    match (state.is_active, state.ended) {
        (true, _) => format!("{} in phase {phase}, active since {since}", styled(TextStyle::Green, name)),
        (false, Some(crate::session::ModeEnding::Complete)) => format!("{name} complete"),
        (false, _) => format!("{name} left in phase {phase}"),
    }
}

/// What the active modes of a session expect next: just what the session would be told if it began now.
fn expected(session: &Session, catalogue: &Catalogue, places: &ProjectPaths) -> Vec<String> {
    let event =
        json!({"hook_event_name": "SessionStart", "session_id": session.id, "cwd": places.home.to_string_lossy()});
    let Ok(event) = Event::from_value(event) else { return Vec::new() };
    let live = LiveFacts::new(&event, places.home.clone(), places.journal(&session.id));
    let mut context = decide(&event, catalogue, session, &Facts::new(&live)).decision.context;
    let modes = context.split_off(context.len().min(1));
    modes.into_iter().filter(|text| text.contains(" mode: next is ")).collect()
}

fn as_json(session: &Session, catalogue: &Catalogue, places: &ProjectPaths) -> Value {
    let heartbeat = Heartbeat::of(&places.journal(&session.id));
    let seen = heartbeat.as_ref().and_then(|heartbeat| heartbeat.seen).map(|at| at.to_string());
    let missed = heartbeat.is_some_and(|heartbeat| heartbeat.is_missed());
    let history = crate::journal_files::history(&places.journal(&session.id), &places.home);
    let metadata = session.values.get("metadata").cloned().unwrap_or_default();
    let facts = json!({
        "session_id": session.id, "started_at": history.started_at, "active_command": history.active_command,
        "active_skill": history.active_skill, "edited_files": history.edited_files,
        "file_extensions": history.file_extensions, "metadata": metadata,
    });
    json!({"id": session.id, "modes": session.modes, "next": expected(session, catalogue, places), "seen": seen, "missed": missed, "facts": facts})
}
