//! The settings files of a project, in which a tool may change modegate's hook entries.

use super::place;
use crate::facts::Unknown;
use crate::host::event::Event;
use crate::host::hook_entries::changes_entries;
use crate::host::paths::{ProjectPaths, given_path, lexical};
use std::path::{Path, PathBuf};

/// The settings file in which the tool would change our hook entries.
pub(super) fn changed(event: &Event, places: &ProjectPaths, cwd: &Path) -> Result<Option<String>, Unknown> {
    let Some(path) = event.path() else { return Ok(None) };
    let user = places.user.clone().unwrap_or_default();
    let path = place::real(&lexical(&given_path(path, cwd, &user)));
    if !settings(places).iter().any(|own| place::real(own) == path) {
        return Ok(None);
    }
    let before = base::disk::read_text(&path, base::disk::CONFIGURATION).unwrap_or_default();
    Ok(changes_entries(event, &before).map_err(|error| error.to_string())?.then(|| path.to_string_lossy().into_owned()))
}

/// The settings files of the project, of the folder in which the session was started, and of the user.
fn settings(places: &ProjectPaths) -> Vec<PathBuf> {
    let user = place::variable("CLAUDE_CONFIG_DIR");
    let user = user.or_else(|| places.user.as_ref().map(|home| home.join(".claude")));
    let folders = [Some(places.home.clone()), place::session_folder()].into_iter().flatten();
    let own = folders
        .flat_map(|folder| ["settings.json", "settings.local.json"].map(|name| folder.join(".claude").join(name)));
    own.chain(user.map(|user| user.join("settings.json"))).collect()
}
