//! `modegate cache`: the scripts' door to the state, under the same lock.

use super::{EXIT_FAILURE, EXIT_USAGE, places, screen};
use crate::live::now;
use crate::store::{StateFile, StateStatus, StateStore};
use clap::Subcommand;
use serde_json::Value;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Subcommand)]
pub(super) enum Cache {
    /// Print a namespace, or one of its keys, as JSON
    Get {
        /// The namespace, as `plan_mode`; all of them when left out
        namespace: Option<String>,
        /// The key in it
        key: Option<String>,
        /// As this session sees it
        #[arg(long)]
        session: Option<String>,
    },
    /// Set a key of a namespace to a JSON value
    Set {
        /// The namespace, as `plan_mode`
        namespace: String,
        /// The key in it
        key: String,
        /// The value, as JSON
        json: String,
        /// Only for this session
        #[arg(long)]
        session: Option<String>,
    },
    /// Forget the state of all sessions, or of one namespace
    Reset {
        /// The namespace, as `plan_mode`
        namespace: Option<String>,
    },
}

impl Cache {
    pub(super) fn run(self, project: Option<PathBuf>) -> ExitCode {
        let places = places(project);
        let store = StateStore::new(places.clone(), crate::mode_cache::read(&places).settings.days);
        let done = match self {
            Self::Get { namespace, key, session } => {
                return get(&store, namespace.as_deref(), key.as_deref(), session.as_deref());
            }
            Self::Set { namespace, key, json, session } => {
                let Ok(value) = serde_json::from_str::<Value>(&json) else {
                    screen::print_error(format!(
                        "error: `{json}` is not JSON\n  hint: text needs quotes of its own: '\"{json}\"'"
                    ));
                    return ExitCode::from(EXIT_USAGE);
                };
                if let Some(why) = StateFile::refusal(&namespace, &key, &value) {
                    screen::print_error(format!("error: {why}"));
                    return ExitCode::from(EXIT_USAGE);
                }
                let at = now().at;
                store.change(&at, |state| state.set(&namespace, &key, value, session.as_deref(), &at))
            }
            Self::Reset { .. } if !places.cache().exists() => Ok(()),
            Self::Reset { namespace } => store.change(&now().at, |state| match namespace {
                Some(name) => drop(state.namespaces.shift_remove(&name)),
                None => state.namespaces.clear(),
            }),
        };
        match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                screen::print_error(format!("error: {error}"));
                ExitCode::from(EXIT_FAILURE)
            }
        }
    }
}

fn get(store: &StateStore, namespace: Option<&str>, key: Option<&str>, session: Option<&str>) -> ExitCode {
    let state = store.read();
    if let StateStatus::Broken(why) | StateStatus::Unreadable(why) = &state.shape {
        screen::print_error(format!("error: `.claude/hooks/cache.json` could not be read: {why}"));
        return ExitCode::from(EXIT_FAILURE);
    }
    let value = value(&state, namespace, key, session);
    screen::print_json(&value);
    if value.is_null() { ExitCode::from(EXIT_FAILURE) } else { ExitCode::SUCCESS }
}

fn value(state: &StateFile, namespace: Option<&str>, key: Option<&str>, session: Option<&str>) -> Value {
    let all = || Value::Object(state.namespaces.clone());
    match (namespace, key, session) {
        (None, ..) => all(),
        (Some(name), None, None) => state.namespaces.get(name).cloned().unwrap_or_default(),
        (Some(name), None, Some(id)) => {
            state.namespaces.get(name).and_then(|space| space.get("sessions")?.get(id)).cloned().unwrap_or_default()
        }
        (Some(name), Some(key), session) => state.value(name, key, session).unwrap_or_default(),
    }
}
