//! `modegate status`: the sessions of a project, their modes and what each expects next.

use super::cli_error::CliError;
use super::doctor::DoctorContext;
use super::install_target::{InstallTarget, start_folder};
use super::screen::{self, TextStyle, styled};
use super::session_lookup::{find_optional, known_sessions};
use super::{CliResult, EXIT_FAILURE, doctor, local_time, places, session_start, trust};
use crate::engine::{decide, next_opening};
use crate::facts::Facts;
use crate::facts::session::{ModeEnding, ModeState, Session};
use crate::hook::heartbeats::{self, HookActivity};
use crate::host::paths::ProjectPaths;
use crate::policy::mode::{BrokenFile, Catalogue};
use crate::state::store::StateStore;
use crate::world::LiveFacts;
use clap::Args;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

#[derive(Args)]
#[command(after_help = "Examples:
  modegate status
  modegate status --all
  modegate status --session 5f1c --json")]
pub(super) struct Status {
    /// Only this session: session id or a prefix of it, or `last`
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Also show sessions without events in the last 24 hours
    #[arg(long)]
    all: bool,
    /// Print JSON, with all sessions
    #[arg(long)]
    json: bool,
}

struct SessionStatus {
    session: Session,
    activity: Option<HookActivity>,
}

impl SessionStatus {
    fn read(places: &ProjectPaths, session: Session) -> Self {
        Self { activity: HookActivity::from_journal(&places.journal(&session.id)), session }
    }

    fn last_event(&self) -> Option<Timestamp> {
        self.activity.as_ref()?.seen
    }

    /// Whether there was an event lately; without a journal, whether a mode is active.
    fn is_live(&self) -> bool {
        let has_active_mode = || self.session.is_in_mode();
        self.last_event().map_or_else(has_active_mode, heartbeats::is_recent_time)
    }
}

impl Status {
    pub(super) fn run(mut self, project: Option<PathBuf>) -> CliResult {
        if let Some(missing) = project.as_ref().filter(|folder| !folder.is_dir()) {
            return Err(CliError::failure(format!("`{}` is not a folder", missing.display())));
        }
        let is_here = project.is_none();
        let places = places(project);
        self.session = find_optional(&places, self.session.as_deref())?;
        let installation = DoctorContext::read(InstallTarget::of(&places));
        let catalogue = &installation.catalogue;
        let store = StateStore::new(places.clone(), catalogue.settings.days);
        let heartbeats = installation.target.heartbeats();
        let ids = self.session.as_ref().map_or_else(|| known_sessions(&places), |only| vec![only.clone()]);
        let read = |id: &String| {
            let mut session = store.read(id).session;
            store.add_values(&mut session);
            SessionStatus::read(&places, session)
        };
        let mut sessions: Vec<SessionStatus> = ids.iter().map(read).collect();
        sessions.sort_by_key(|session| Reverse((session.is_live(), session.last_event())));
        let missed: Vec<&HookActivity> = heartbeats.iter().filter(|activity| activity.is_missed()).collect();
        let is_installed = !installation.calls().is_empty();
        let error = doctor::state_error(&store);
        if self.json {
            let sessions: Vec<Value> = sessions.iter().map(|session| as_json(session, catalogue, &places)).collect();
            let broken: Vec<String> = catalogue.broken.iter().map(BrokenFile::summary).collect();
            let silent: Vec<&String> = missed.iter().map(|activity| &activity.session).collect();
            screen::print_json(&json!({
                "home": places.home.to_string_lossy(), "installed": is_installed, "sessions": sessions,
                "silent": silent, "error": error, "broken": broken, "trust": catalogue.trust.state,
            }));
        } else {
            self.print(&places, &installation, &sessions);
            let is_listed = |one: &HookActivity| sessions.iter().any(|known| *known.session.id == *one.session);
            missed.iter().filter(|one| !is_listed(one)).for_each(|one| print_missed(one, ""));
            if is_here && let Some(ungated) = doctor::ungated_folder(&installation, &start_folder()) {
                ungated.print();
            }
            if let Some(text) = &error {
                screen::print_failure(text, false);
            }
        }
        Ok(if error.is_some() { ExitCode::from(EXIT_FAILURE) } else { ExitCode::SUCCESS })
    }

    fn print(&self, places: &ProjectPaths, installation: &DoctorContext, sessions: &[SessionStatus]) {
        let (catalogue, is_installed) = (&installation.catalogue, !installation.calls().is_empty());
        screen::print_line(format!("project {}", styled(TextStyle::Bold, &places.home.to_string_lossy())));
        if !is_installed {
            let text = "modegate is not installed: no hook entry calls it; run `modegate install`";
            screen::print_line(styled(TextStyle::Yellow, text));
        } else if let Some(problem) = doctor::missing_program(installation) {
            problem.print();
        } else if sessions.is_empty() {
            screen::print_line("no sessions yet; start Claude Code in this folder and type a command such as /plan");
        }
        if let Some(notice) = trust::notice(places, catalogue).filter(|_| is_installed) {
            screen::print_line(styled(TextStyle::Yellow, &notice));
        }
        for broken in &catalogue.broken {
            screen::print_line(styled(TextStyle::Red, &broken.summary()));
        }
        let show_all = self.all || self.session.is_some();
        let (shown, older): (Vec<&SessionStatus>, Vec<&SessionStatus>) =
            sessions.iter().partition(|session| show_all || session.is_live());
        for session in shown {
            session.print(catalogue, places);
        }
        if !older.is_empty() {
            screen::print_line(format!("{}, use --all", screen::counted(older.len(), "older session")));
        }
    }
}

impl SessionStatus {
    fn print(&self, catalogue: &Catalogue, places: &ProjectPaths) {
        let last = self.last_event().map(|at| format!(", last event {}", heartbeats::ago(at))).unwrap_or_default();
        let last = styled(TextStyle::Dim, &last);
        screen::print_line(format!("session {}{last}", styled(TextStyle::Cyan, &screen::one_line(&self.session.id))));
        if let Some(parent) = self.session.ancestors().first() {
            screen::print_line(format!("  forked from {parent}"));
        }
        let next = next_steps(&self.session, catalogue, places);
        if self.session.modes.values().all(|state| state.activated_at.is_none() && !state.is_active) {
            screen::print_line("  no mode was used");
        }
        for mode in &catalogue.modes {
            let state = self.session.mode_state(&mode.namespace);
            let Some(state) = state.filter(|state| state.activated_at.is_some() || state.is_active) else { continue };
            screen::print_line(format!("  {}", mode_line(&mode.name, state)));
            for unmet in &state.unmet {
                let at = local_time(&unmet.at);
                screen::print_line(format!("    stopped unfinished: {}, {} not met, {at}", unmet.agent, unmet.gate));
            }
            for (id, record) in state.agents.iter().filter(|(_, record)| record.start_blocked) {
                screen::print_line(format!("    start blocked: {} ({id}); its tools are blocked too", record.agent));
            }
            let opening = next_opening(mode);
            for text in next.iter().filter_map(|text| text.strip_prefix(opening.as_str())) {
                screen::print_line(format!("    next: {text}"));
            }
        }
        if let Some(activity) = self.activity.as_ref().filter(|activity| activity.is_missed()) {
            print_missed(activity, "  ");
        }
    }
}

fn print_missed(activity: &HookActivity, indent: &str) {
    let text = styled(TextStyle::Red, &activity.to_string());
    screen::print_line(format!("{indent}{text}; run `modegate doctor --live`"));
}

fn mode_line(name: &str, state: &ModeState) -> String {
    let phase = state.phase.as_deref().unwrap_or("its first phase");
    let since = state.activated_at.as_deref().map(|at| format!(" since {}", local_time(at)));
    match (state.is_active, state.ended) {
        (true, _) => {
            format!("{} in phase {phase}, active{}", styled(TextStyle::Green, name), since.unwrap_or_default())
        }
        (false, Some(ModeEnding::Complete)) => format!("{name} complete"),
        (false, _) => format!("{name} left in phase {phase}"),
    }
}

/// What the active modes expect next: the context that a session start would get now, without notes that were not
/// delivered yet, which may be about an earlier phase.
fn next_steps(session: &Session, catalogue: &Catalogue, places: &ProjectPaths) -> Vec<String> {
    let mut session = session.clone();
    session.modes.values_mut().for_each(|state| Arc::make_mut(state).notes.clear());
    let event = session_start(&session.id, &places.home);
    let live = LiveFacts::new(&event, places.clone(), places.journal(&session.id)).forked_from(session.ancestors());
    let context = decide(&event, catalogue, &session, &Facts::new(&live)).decision.context;
    let is_next = |text: &String| catalogue.modes.iter().any(|mode| text.starts_with(&next_opening(mode)));
    context.into_iter().skip(1).filter(is_next).collect()
}

fn as_json(status: &SessionStatus, catalogue: &Catalogue, places: &ProjectPaths) -> Value {
    let session = &status.session;
    let history = crate::state::journal_files::history(&places.journal(&session.id), &places.home);
    let mut metadata = session.values.get("metadata").cloned().unwrap_or_default();
    let own = session.mode_state("metadata").into_iter().flat_map(|state| state.other.clone());
    metadata.extend(own.filter(|(key, _)| key != "updated_at"));
    let facts = json!({
        "session_id": session.id, "started_at": history.started_at, "active_command": history.active_command,
        "active_skill": history.active_skill, "edited_files": history.edited_files,
        "file_extensions": history.file_extensions, "metadata": metadata,
    });
    json!({
        "id": session.id, "forked_from": session.ancestors(), "modes": session.modes, "next": next_steps(session, catalogue, places),
        "seen": status.last_event().map(|at| at.to_string()),
        "missed": status.activity.as_ref().is_some_and(HookActivity::is_missed), "facts": facts,
    })
}
