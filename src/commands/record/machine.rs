//! The folders and names of this machine.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use crate::host::paths::ProjectPaths;
use crate::replay::mask::MachineIdentity;
use std::path::{Path, PathBuf};

/// The folders and names that are masked in a recording of this project.
pub(crate) fn machine_identity(places: &ProjectPaths) -> MachineIdentity {
    let home = variable("HOME").or_else(|| variable("USERPROFILE")).map(PathBuf::from);
    let named = home.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let user = ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(variable).or(named);
    let mut projects = path_forms(&places.home);
    projects.extend(variable("CLAUDE_PROJECT_DIR").map(PathBuf::from).iter().flat_map(|path| path_forms(path)));
    MachineIdentity { projects, homes: home.as_deref().map(path_forms).unwrap_or_default(), user, host: host() }
}

/// A path as given, and without links.
fn path_forms(path: &Path) -> Vec<String> {
    let real = path.canonicalize().ok();
    let mut forms: Vec<String> =
        [Some(path.to_owned()), real].into_iter().flatten().map(|path| path.to_string_lossy().into_owned()).collect();
    forms.dedup();
    forms
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

#[cfg(unix)]
fn host() -> Option<String> {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    Some(name).filter(|name| !name.is_empty())
}

#[cfg(not(unix))]
fn host() -> Option<String> {
    variable("COMPUTERNAME")
}
