//! Finds the commands with which a project is tested, linted, built and formatted, in the files that define them.

mod task;
mod tasks;
mod toolchains;

pub use task::Purpose;

use std::path::Path;

const LARGEST: u64 = 1024 * 1024;

const MOST_COMMANDS: usize = 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectCommand {
    pub purpose: Purpose,
    pub command: String,
    /// The file that defines it, relative to the project.
    pub source: String,
}

/// The commands of the project at `home`, without duplicates: task runners first, then the tools of each language.
pub fn project_commands(home: &Path) -> Vec<ProjectCommand> {
    let files = ProjectFiles { home };
    let mut found = tasks::commands(&files);
    found.extend(toolchains::commands(&files));
    let mut kept: Vec<ProjectCommand> = Vec::new();
    for command in found {
        let same = kept.iter().any(|other| other.purpose == command.purpose && other.command == command.command);
        let many = kept.iter().filter(|other| other.purpose == command.purpose).count() >= MOST_COMMANDS;
        if !same && !many {
            kept.push(command);
        }
    }
    kept
}

struct ProjectFiles<'a> {
    home: &'a Path,
}

impl ProjectFiles<'_> {
    fn has(&self, name: &str) -> bool {
        self.home.join(name).is_file()
    }

    fn text(&self, name: &str) -> Option<String> {
        let bytes = base::disk::read(&self.home.join(name), LARGEST).ok()?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
    }

    fn first(&self, names: &[&str]) -> Option<(String, String)> {
        names.iter().find_map(|name| Some(((*name).to_owned(), self.text(name)?)))
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.home.join(folder)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort_unstable();
        names
    }
}
