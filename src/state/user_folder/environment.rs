//! The variables that are the user's own: the host also passes on those that a project's settings set.

#![expect(clippy::disallowed_methods, reason = "an I/O module")]

use super::is_outside;
use base::disk;
use serde_json::Value;
use std::borrow::Cow;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The environment, with what the settings of a project can have put into it.
pub struct UserEnvironment {
    /// The variables of the project's settings.
    settings: Vec<ProjectVariables>,
    /// Those of other settings around it, such as the user's own.
    others: Vec<ProjectVariables>,
}

/// The variables that a settings file sets.
enum ProjectVariables {
    Known(serde_json::Map<String, Value>),
    /// The text of a file that is not JSON for modegate; the host may read it otherwise.
    Text(String),
    Unreadable,
}

impl UserEnvironment {
    /// Reads the settings that the host can have used for a session in the project at `home`, or in a folder around it.
    #[must_use]
    pub fn of(home: &Path) -> Self {
        let (here, started) = (std::env::current_dir().ok(), started_in());
        let roots = distinct([Some(home), here.as_deref(), started.as_deref()]);
        let folders = distinct(roots.iter().flat_map(|root| root.ancestors()).map(Some));
        Self::reading(&folders, &roots, home)
    }

    /// Reads the settings of the project at `home` for the hook that calls modegate there: those of the folder that the host
    /// was started in, and of the folders around it as far as they are in a repository.
    ///
    /// Settings above these are never the project's, so the variables of the project are those of [`Self::of`].
    pub(super) fn of_hook(home: &Path) -> Self {
        let Some(started) = started_in() else { return Self::of(home) };
        let here = std::env::current_dir().ok();
        let roots = distinct([Some(home), here.as_deref(), Some(&started)]);
        let folders = distinct(roots.iter().flat_map(|&root| within_repositories(root)).map(Some));
        Self::reading(&folders, &roots, home)
    }

    /// Reads the settings in `folders`, which are `roots` or above them.
    fn reading(folders: &[&Path], roots: &[&Path], home: &Path) -> Self {
        let (mut settings, mut others) = (Vec::new(), Vec::new());
        let mut claude = PathBuf::new();
        for folder in folders {
            claude.as_mut_os_string().clear();
            claude.push(folder);
            claude.push(".claude");
            // Most folders around the project have none, and every event looks for it.
            let is_missing = || claude.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound);
            if folder.as_os_str() != home.as_os_str() && is_missing() {
                continue;
            }
            let files = ["settings.json", "settings.local.json"].map(|name| claude.join(name));
            let found: Vec<ProjectVariables> = files.iter().filter_map(|path| read(path)).collect();
            let mut below = roots.iter().filter(|root| root.starts_with(folder));
            // Settings in the user's home are not the project's.
            let is_projects = !found.is_empty() && below.any(|root| !is_outside(folder, root));
            if is_projects { &mut settings } else { &mut others }.extend(found);
        }
        Self { settings, others }
    }

    /// Whether any settings around the project may have given a variable the value that it has.
    #[must_use]
    pub fn may_come_from_settings(&self, name: &str) -> bool {
        let value = std::env::var_os(name);
        let known = self.others.iter().filter(|settings| matches!(settings, ProjectVariables::Known(_)));
        self.settings.iter().chain(known).any(|settings| settings.sets(name, value.as_deref()))
    }

    /// Whether the project's settings set a variable.
    #[must_use]
    pub fn is_set_by_project(&self, name: &str) -> bool {
        self.settings.iter().any(|settings| settings.sets(name, None))
    }

    /// A path from the environment that the project's settings do not set.
    pub(super) fn path(&self, name: &str) -> Option<PathBuf> {
        absolute(name).filter(|_| !self.is_set_by_project(name))
    }

    /// A path that the host sets: the project's settings can name the variable, but not decide its value.
    pub(super) fn path_from_host(&self, name: &str) -> Option<PathBuf> {
        absolute(name).filter(|path| !self.settings.iter().any(|settings| settings.sets(name, Some(path.as_os_str()))))
    }
}

/// The folder that the host was started in, as it says.
fn started_in() -> Option<PathBuf> {
    std::env::var_os("CLAUDE_PROJECT_DIR").filter(|folder| !folder.is_empty()).map(PathBuf::from)
}

/// A folder and those above it, up to the outermost that has a `.git`.
fn within_repositories(folder: &Path) -> Vec<&Path> {
    let mut folders: Vec<&Path> = folder.ancestors().collect();
    let outermost = folders.iter().rposition(|folder| folder.join(".git").exists());
    folders.truncate(outermost.unwrap_or(0) + 1);
    folders
}

/// The paths without repetitions, compared as bytes: every event does this.
fn distinct<'p>(paths: impl IntoIterator<Item = Option<&'p Path>>) -> Vec<&'p Path> {
    let mut distinct: Vec<&Path> = Vec::new();
    for path in paths.into_iter().flatten() {
        if !distinct.iter().any(|known| known.as_os_str() == path.as_os_str()) {
            distinct.push(path);
        }
    }
    distinct
}

/// A path from the environment; relative ones would depend on the folder that a session is in.
fn absolute(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

fn read(path: &Path) -> Option<ProjectVariables> {
    let bytes = match disk::read(path, disk::CONFIGURATION) {
        Ok(bytes) => bytes,
        Err(error) if disk::is_absent(&error) => return None,
        Err(_) => return Some(ProjectVariables::Unreadable),
    };
    // Some hosts also read UTF-16, in which every letter of a name has such a byte.
    if memchr::memchr(0, &bytes).is_some() {
        return Some(ProjectVariables::Unreadable);
    }
    // As the host reads them: a byte order mark and bytes that are no text do not matter. Every event reads them, and
    // `from_utf8` takes a fifth of the time of `from_utf8_lossy`.
    let text = std::str::from_utf8(&bytes).map_or_else(|_| String::from_utf8_lossy(&bytes), Cow::Borrowed);
    // Settings without variables are the rule.
    if !text.contains("\"env\"") && !text.contains("\\u") {
        return None;
    }
    let text = text.trim_start_matches('\u{feff}');
    Some(match serde_json::from_str::<Value>(text) {
        Ok(mut settings) => match settings.get_mut("env").map(Value::take) {
            Some(Value::Object(variables)) => ProjectVariables::Known(variables),
            _ => return None,
        },
        Err(_) => ProjectVariables::Text(text.to_owned()),
    })
}

impl ProjectVariables {
    /// Whether the variable is set, and to `value` if one is given.
    fn sets(&self, name: &str, value: Option<&OsStr>) -> bool {
        match self {
            Self::Known(variables) => variables.iter().any(|(set, to)| {
                // Windows does not tell upper case from lower case.
                let is_value = |value: &OsStr| to.as_str().is_none_or(|to| to.contains(['$', '~']) || value == to);
                set.eq_ignore_ascii_case(name) && value.is_none_or(is_value)
            }),
            Self::Text(text) => text.contains(name) || text.contains("\\u"),
            Self::Unreadable => true,
        }
    }
}
