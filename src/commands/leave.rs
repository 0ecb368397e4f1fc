//! `modegate leave`: a person ends a mode.

use super::cli_error::{CliError, unknown_mode};
use super::session_lookup::find_optional;
use super::{CliResult, places, require_person, screen};
use crate::facts::session::ModeEnding;
use crate::policy::mode::Catalogue;
use crate::state::mode_cache;
use crate::state::store::{StateStore, StoreError};
use crate::world::now;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
#[command(
    after_help = "Ends the mode in every session of this project in which it is active, unless `--session` is given.\n\n\
    Examples:\n  modegate leave plan\n  modegate leave code --session 5f1c"
)]
pub(super) struct Leave {
    /// Mode to leave
    mode: String,
    /// Only in this session: session id or a prefix of it, or `last` [default: all sessions]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

impl Leave {
    pub(super) fn run(self, project: Option<PathBuf>) -> CliResult {
        let places = places(project);
        require_person("leave", &places)?;
        let catalogue = mode_cache::read(&places);
        let store = StateStore::new(places.clone(), catalogue.settings.days);
        let namespace = self.namespace(&catalogue, &store)?;
        let session = find_optional(&places, self.session.as_deref())?;
        let scope = session.as_ref().map_or_else(|| places.home.display().to_string(), |id| format!("session {id}"));
        let inactive = || {
            CliError::failure(format!("{} mode is not active in {scope}", self.mode))
                .hint("run `modegate status` to see the active modes")
        };
        let left = leave(&store, &namespace, session.as_deref())?;
        for id in &left {
            screen::print_line(format!("left {} mode in session {id}", self.mode));
        }
        if left.is_empty() { Err(inactive()) } else { Ok(ExitCode::SUCCESS) }
    }

    /// The mode's namespace; a mode whose file was deleted can still be left.
    fn namespace(&self, catalogue: &Catalogue, store: &StateStore) -> Result<String, CliError> {
        if let Some(mode) = catalogue.mode(&self.mode) {
            return Ok(mode.namespace.clone());
        }
        let deleted = format!("{}_mode", self.mode.replace('-', "_"));
        if !active(store, &deleted).is_empty() {
            return Ok(deleted);
        }
        Err(unknown_mode(&self.mode, catalogue))
    }
}

fn active(store: &StateStore, namespace: &str) -> Vec<String> {
    let sessions = store.sessions().into_iter().map(|stored| stored.session);
    sessions.filter(|session| session.is_active(namespace)).map(|session| session.id.to_string()).collect()
}

/// Ends the mode in one session or all; returns the sessions in which it was active.
fn leave(store: &StateStore, namespace: &str, only: Option<&str>) -> Result<Vec<String>, StoreError> {
    let mut ids = active(store, namespace);
    ids.retain(|id| only.is_none_or(|only| only == id));
    ids.sort_unstable();
    for id in &ids {
        store.change(id, &now().at, |stored| {
            if let Some(mode) = stored.session.mode_state_mut(namespace) {
                mode.is_active = false;
                mode.ended = Some(ModeEnding::Left);
                mode.blocks.clear();
                // Whoever it was, the person sees it.
                mode.messages
                    .push(format!("modegate: {} was left with `modegate leave`", namespace.trim_end_matches("_mode")));
            }
        })?;
    }
    Ok(ids)
}
