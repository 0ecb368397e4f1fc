//! Whose machine this is, so that a recording does not tell.

use crate::paths::ProjectPaths;
use crate::replay::mask::MachineIdentity;
use std::path::{Path, PathBuf};

/// The folders and names that a recording of this project must not tell.
pub(super) fn identity(places: &ProjectPaths) -> MachineIdentity {
    let home = variable("HOME").or_else(|| variable("USERPROFILE")).map(PathBuf::from);
    let named = home.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let user = ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(variable).or(named);
    let mut projects = both(&places.home);
    projects.extend(variable("CLAUDE_PROJECT_DIR").map(PathBuf::from).iter().flat_map(|path| both(path)));
    MachineIdentity { projects, homes: home.as_deref().map(both).unwrap_or_default(), user, host: host() }
}

/// A folder as it is called, and where it really is.
fn both(path: &Path) -> Vec<String> {
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
