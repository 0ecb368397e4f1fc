//! The variables that are the user's own: the host also passes on those that a project's settings set.

use super::is_outside;
use base::disk;
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The environment, with what the settings of a project can have put into it.
pub struct UserEnvironment {
    /// The variables of the project's settings.
    settings: Vec<ProjectVariables>,
    /// Those of other settings around it, such as the user's own.
    others: Vec<ProjectVariables>,
}

enum ProjectVariables {
    Known(serde_json::Map<String, Value>),
    /// The text of a file that is not JSON for modegate; the host may read it otherwise.
    Text(String),
    Unreadable,
}

impl UserEnvironment {
    /// Reads the settings that the host can have used for a session in the project at `home`, or in a folder around it.
    pub fn of(home: &Path) -> Self {
        let (here, started) = (std::env::current_dir().ok(), std::env::var_os("CLAUDE_PROJECT_DIR").map(PathBuf::from));
        let started = started.filter(|folder| !folder.as_os_str().is_empty());
        let roots: BTreeSet<&Path> = [Some(home), here.as_deref(), started.as_deref()].into_iter().flatten().collect();
        let folders: BTreeSet<&Path> = roots.iter().flat_map(|root| root.ancestors()).collect();
        let (mut settings, mut others) = (Vec::new(), Vec::new());
        for folder in folders {
            let files = ["settings.json", "settings.local.json"].map(|name| folder.join(".claude").join(name));
            let found: Vec<ProjectVariables> = files.iter().filter_map(|path| read(path)).collect();
            let mut below = roots.iter().filter(|root| root.starts_with(folder));
            // Settings in the user's home are not the project's.
            let is_projects = !found.is_empty() && below.any(|root| !is_outside(folder, root));
            if is_projects { &mut settings } else { &mut others }.extend(found);
        }
        Self { settings, others }
    }

    /// Whether any settings around the project may have given a variable the value that it has.
    pub fn may_come_from_settings(&self, name: &str) -> bool {
        let value = std::env::var_os(name);
        let known = self.others.iter().filter(|settings| matches!(settings, ProjectVariables::Known(_)));
        self.settings.iter().chain(known).any(|settings| settings.sets(name, value.as_deref()))
    }

    pub fn is_set_by_project(&self, name: &str) -> bool {
        self.settings.iter().any(|settings| settings.sets(name, None))
    }

    pub(super) fn path(&self, name: &str) -> Option<PathBuf> {
        absolute(name).filter(|_| !self.is_set_by_project(name))
    }

    /// A path that the host sets: the project's settings can name the variable, but not decide its value.
    pub(super) fn path_from_host(&self, name: &str) -> Option<PathBuf> {
        absolute(name).filter(|path| !self.settings.iter().any(|settings| settings.sets(name, Some(path.as_os_str()))))
    }
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
    // As the host reads them: a byte order mark and bytes that are no text do not matter.
    let text = String::from_utf8_lossy(&bytes);
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
