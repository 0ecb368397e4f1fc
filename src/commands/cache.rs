//! `modegate cache`: reads and writes the state for scripts, under the same lock as the hook.

use super::cli_error::CliError;
use super::session_lookup::find_optional;
use super::{CliResult, EXIT_FAILURE, places, require_person, screen};
use crate::state::mode_cache;
use crate::state::store::{StateStatus, StateStore, StateSummary, StoreError};
use crate::world::now;
use clap::Subcommand;
use serde_json::Value;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Subcommand)]
#[command(after_help = "Examples:
  modegate cache get plan_mode phase
  modegate cache set my_script runs 3
  modegate cache reset plan_mode")]
pub(super) enum Cache {
    /// Print a namespace, or one of its keys, as JSON
    #[command(after_help = "Examples:\n  modegate cache get\n  modegate cache get plan_mode phase --session 5f1c")]
    Get {
        /// Namespace, such as `plan_mode` [default: all]
        namespace: Option<String>,
        /// Key in the namespace
        key: Option<String>,
        /// The values of this session: session id or a prefix of it, or `last`
        #[arg(long, value_name = "ID")]
        session: Option<String>,
    },
    /// Set a key of a namespace to a JSON value
    #[command(
        after_help = "Examples:\n  modegate cache set my_script runs 3\n  modegate cache set my_script name '\"text\"'"
    )]
    Set {
        /// Namespace, such as `plan_mode`
        namespace: String,
        /// Key in the namespace
        key: String,
        /// Value, as JSON
        json: String,
        /// Set it for this session only: session id or a prefix of it, or `last`
        #[arg(long, value_name = "ID")]
        session: Option<String>,
    },
    /// Delete the state of all sessions, or one namespace
    #[command(after_help = "Examples:\n  modegate cache reset\n  modegate cache reset plan_mode")]
    Reset {
        /// Namespace, such as `plan_mode` [default: all]
        namespace: Option<String>,
    },
}

impl Cache {
    pub(super) fn run(self, project: Option<PathBuf>) -> CliResult {
        let places = places(project);
        let store = StateStore::new(places.clone(), mode_cache::read(&places).settings.days);
        let done = match self {
            Self::Get { namespace, key, session } => {
                let session = find_optional(&places, session.as_deref())?;
                return get(&store, namespace.as_deref(), key.as_deref(), session.as_deref());
            }
            Self::Set { namespace, key, json, session } => {
                let not_json = |_| {
                    let hint = format!("text needs its own quotes: '\"{json}\"'");
                    CliError::usage(format!("`{json}` is not JSON")).hint(hint)
                };
                let value: Value = serde_json::from_str(&json).map_err(not_json)?;
                if let Some(why) = StateSummary::refusal(&namespace, &key, &value) {
                    return Err(CliError::usage(why));
                }
                // The scripts of gates have namespaces of their own.
                if namespace.ends_with("_mode") {
                    require_person(&format!("cache set {namespace}"), &places)?;
                }
                let session = find_optional(&places, session.as_deref())?;
                // A later modegate may keep values in a form that this one would lose.
                if let StateStatus::Newer(version) = store.summary_status() {
                    return Err(StoreError::Newer(version).into());
                }
                store.set(&namespace, &key, value, session.as_deref(), &now().at)
            }
            Self::Reset { .. } if store.is_empty() => Ok(()),
            Self::Reset { namespace } => {
                require_person("cache reset", &places)?;
                store.reset(namespace.as_deref(), &now().at)
            }
        };
        Ok(done.map(|()| ExitCode::SUCCESS)?)
    }
}

fn get(store: &StateStore, namespace: Option<&str>, key: Option<&str>, session: Option<&str>) -> CliResult {
    let status = session.map(|id| store.read(id).status);
    if let Some(StateStatus::Broken(why) | StateStatus::Unreadable(why)) = status {
        return Err(CliError::failure(format!("the state of this session cannot be read: {why}")));
    }
    let state = store.summary();
    let value = match (namespace, key, session) {
        (None, ..) => Some(Value::Object(state.namespaces)),
        (Some(name), None, None) => state.namespaces.get(name).cloned(),
        (Some(name), None, Some(id)) => state.entry(name, id).cloned(),
        (Some(name), Some(key), session) => state.value(name, key, session),
    };
    let value = value.unwrap_or_default();
    screen::print_json(&value);
    Ok(if value.is_null() { ExitCode::from(EXIT_FAILURE) } else { ExitCode::SUCCESS })
}
