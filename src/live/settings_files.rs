//! The settings files of a project, in which a tool may change modegate's hook entries.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use super::place;
use crate::event::Event;
use crate::facts::Unknown;
use crate::hook_entries::changes_entries;
use crate::paths::lexical;
use std::path::{Path, PathBuf};

/// The settings file in which the tool would change our hook entries.
pub(super) fn changed(event: &Event, home: &Path, cwd: &Path) -> Result<Option<String>, Unknown> {
    let Some(path) = event.path() else { return Ok(None) };
    let path = place::real(&lexical(&cwd.join(path)));
    if !settings(home).iter().any(|own| place::real(own) == path) {
        return Ok(None);
    }
    let before = crate::disk::read_text(&path, crate::disk::CONFIGURATION).unwrap_or_default();
    Ok(changes_entries(event, &before)?.then(|| path.to_string_lossy().into_owned()))
}

/// The settings files of the project, of the folder in which the session was started, and of the user.
fn settings(home: &Path) -> Vec<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let user = variable("CLAUDE_CONFIG_DIR").or_else(|| variable("HOME").map(|home| home.join(".claude")));
    let folders = [Some(home.to_owned()), place::session_folder()].into_iter().flatten();
    let own = folders
        .flat_map(|folder| ["settings.json", "settings.local.json"].map(|name| folder.join(".claude").join(name)));
    own.chain(user.map(|user| user.join("settings.json"))).collect()
}
