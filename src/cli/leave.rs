//! `modegate leave`: a person ends a mode.

use super::{EXIT_FAILURE, EXIT_USAGE, person_only, places, screen};
use crate::live::now;
use crate::mode::Catalogue;
use crate::mode_cache;
use crate::paths::ProjectPaths;
use crate::session::ModeEnding;
use crate::store::{StateFile, StateStore};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub(super) struct Leave {
    /// The mode to leave
    mode: String,
    /// Only in this session [default: every session in which the mode is active]
    #[arg(long)]
    session: Option<String>,
}

impl Leave {
    pub(super) fn run(self, project: Option<PathBuf>) -> ExitCode {
        if let Some(refused) = person_only("leave") {
            return refused;
        }
        let places = places(project);
        let catalogue = mode_cache::read(&places);
        let Some(namespace) = self.namespace(&catalogue, &places) else {
            let names: Vec<&str> = catalogue.modes.iter().map(|mode| mode.name.as_str()).collect();
            let near = crate::yaml::nearest(&self.mode, &names).map(|near| format!(", did you mean `{near}`?"));
            let near = near.unwrap_or_default();
            screen::print_error(format!(
                "error: no mode is called `{}`{near}\n  hint: run `modegate modes list`",
                self.mode
            ));
            return ExitCode::from(EXIT_USAGE);
        };
        if !places.cache().exists() {
            screen::print_line(format!("{} mode is not active in {}", self.mode, places.home.display()));
            return ExitCode::from(EXIT_FAILURE);
        }
        let store = StateStore::new(places, catalogue.settings.days);
        let at = now().at;
        match store.change(&at, |state| left(state, &namespace, self.session.as_deref(), &at)) {
            Ok(sessions) if sessions.is_empty() => {
                screen::print_line(format!("{} mode is not active", self.mode));
                ExitCode::from(EXIT_FAILURE)
            }
            Ok(sessions) => {
                for session in sessions {
                    screen::print_line(format!("left {} mode in session {session}", self.mode));
                }
                ExitCode::SUCCESS
            }
            Err(error) => {
                screen::print_error(format!("error: {error}"));
                ExitCode::from(EXIT_FAILURE)
            }
        }
    }

    /// Where the mode's state is; a mode whose file is gone can still be left.
    fn namespace(&self, catalogue: &Catalogue, places: &ProjectPaths) -> Option<String> {
        if let Some(mode) = catalogue.mode(&self.mode) {
            return Some(mode.namespace.clone());
        }
        let gone = format!("{}_mode", self.mode.replace('-', "_"));
        let state = StateStore::new(places.clone(), catalogue.settings.days).read();
        (!state.active(&gone).is_empty()).then_some(gone)
    }
}

/// Ends the mode in the given session, or in all; returns those it was active in.
fn left(state: &mut StateFile, namespace: &str, only: Option<&str>, at: &str) -> Vec<String> {
    let ids: Vec<String> =
        state.active(namespace).into_iter().filter(|id| only.is_none_or(|only| only == id)).collect();
    for id in &ids {
        let mut session = state.session(id);
        if let Some(state) = session.modes.get_mut(namespace) {
            state.is_active = false;
            state.ended = Some(ModeEnding::Left);
            state.blocks.clear();
        }
        state.put(&session, at);
    }
    ids
}
