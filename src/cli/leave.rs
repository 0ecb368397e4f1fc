//! `modegate leave`: a person ends a mode.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use super::cli_error::CliError;
use super::session_lookup::find_optional;
use super::{CliResult, places, require_person, screen};
use crate::live::now;
use crate::mode::Catalogue;
use crate::mode_cache;
use crate::session::ModeEnding;
use crate::store::{StateFile, StateStore};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
#[command(after_help = "Examples:\n  modegate leave plan\n  modegate leave code --session 5f1c")]
pub(super) struct Leave {
    /// Mode to leave
    mode: String,
    /// Leave it only in this session: id, a prefix of it, or `last` [default: all sessions]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

impl Leave {
    pub(super) fn run(self, project: Option<PathBuf>) -> CliResult {
        require_person("leave")?;
        let places = places(project);
        let catalogue = mode_cache::read(&places);
        let store = StateStore::new(places.clone(), catalogue.settings.days);
        let namespace = self.namespace(&catalogue, &store.read())?;
        let session = find_optional(&places, self.session.as_deref())?;
        let scope = session.as_ref().map_or_else(|| places.home.display().to_string(), |id| format!("session {id}"));
        let inactive = || CliError::failure(format!("{} mode is not active in {scope}", self.mode));
        if !places.cache().exists() {
            return Err(inactive());
        }
        let at = now().at;
        let left = store.change(&at, |state| leave(state, &namespace, session.as_deref(), &at))?;
        for id in &left {
            screen::print_line(format!("left {} mode in session {id}", self.mode));
        }
        if left.is_empty() { Err(inactive()) } else { Ok(ExitCode::SUCCESS) }
    }

    /// The mode's namespace; a mode whose file was deleted can still be left.
    fn namespace(&self, catalogue: &Catalogue, state: &StateFile) -> Result<String, CliError> {
        if let Some(mode) = catalogue.mode(&self.mode) {
            return Ok(mode.namespace.clone());
        }
        let deleted = format!("{}_mode", self.mode.replace('-', "_"));
        if !state.active(&deleted).is_empty() {
            return Ok(deleted);
        }
        let names: Vec<&str> = catalogue.modes.iter().map(|mode| mode.name.as_str()).collect();
        Err(CliError::unknown("mode", &self.mode, &names).hint("run `modegate modes list`"))
    }
}

/// Ends the mode in one session or all; returns the sessions in which it was active.
fn leave(state: &mut StateFile, namespace: &str, only: Option<&str>, at: &str) -> Vec<String> {
    let ids: Vec<String> =
        state.active(namespace).into_iter().filter(|id| only.is_none_or(|only| only == id)).collect();
    for id in &ids {
        let mut session = state.session(id);
        if let Some(mode) = session.modes.get_mut(namespace) {
            mode.is_active = false;
            mode.ended = Some(ModeEnding::Left);
            mode.blocks.clear();
        }
        state.put(&session, at);
    }
    ids
}
