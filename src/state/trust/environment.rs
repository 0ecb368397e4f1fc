//! `MODEGATE_TRUST=1`, for CI: trusts every project, unless the project itself sets it.

use crate::host::paths::ProjectPaths;
use crate::state::user_folder::{UserEnvironment, create_private, listed_project_folder};
use base::disk;
use std::path::PathBuf;

const VARIABLE: &str = "MODEGATE_TRUST";

/// The file that notes that the project's settings have set the variable: the host keeps it when they no longer do.
const NOTE: &str = "asks-for-trust";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EnvironmentTrust {
    Unset,
    Granted,
    /// The project's settings set the variable, which the host passes on to hooks.
    Ignored,
}

pub(super) fn trust(places: &ProjectPaths) -> EnvironmentTrust {
    if !std::env::var_os(VARIABLE).is_some_and(|value| value == "1" || value == "true") {
        return EnvironmentTrust::Unset;
    }
    // The settings may also have named another state folder before.
    let folders = places.state_dir.iter().cloned().chain(listed_project_folder(&places.home));
    let notes: Vec<PathBuf> = folders.map(|folder| folder.join(NOTE)).collect();
    if UserEnvironment::of(&places.home).is_set_by_project(VARIABLE) {
        for note in notes.iter().filter(|note| !note.exists()) {
            let folder = note.parent().map_or(Ok(()), create_private);
            let _: std::io::Result<()> = folder.and_then(|()| disk::write(note, b"", disk::LinkPolicy::Replace));
        }
        return EnvironmentTrust::Ignored;
    }
    let is_noted = notes.iter().any(|note| note.exists());
    if is_noted { EnvironmentTrust::Ignored } else { EnvironmentTrust::Granted }
}
