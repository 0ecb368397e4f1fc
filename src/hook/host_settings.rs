//! The settings files that Claude Code reads.

use crate::host::event::Event;
use crate::host::hook_entries::{self, HostSettings, SettingsScope};
use crate::state::user_folder::project_paths;
use crate::world::place;
use base::disk;
use std::path::{Path, PathBuf};

/// The folders of administrators' settings, on any system.
const MANAGED: [&str; 4] = [
    "/etc/claude-code",
    "/Library/Application Support/ClaudeCode",
    "C:\\Program Files\\ClaudeCode",
    "C:\\ProgramData\\ClaudeCode",
];

pub type SettingsPath = (SettingsScope, PathBuf);

/// The settings files of a session that is started in `folder`, without those of the user.
pub fn of_project(folder: &Path) -> Vec<SettingsPath> {
    let claude = folder.join(".claude");
    let local = claude.join("settings.local.json");
    // The host also reads the local settings at the root of the repository, in a worktree those of the main one.
    let shared = place::repository_home(folder).map(|root| root.join(".claude/settings.local.json"));
    let shared = shared.filter(|path| *path != local);
    let own = [(SettingsScope::Project, claude.join("settings.json")), (SettingsScope::Local, local)];
    own.into_iter().chain(shared.map(|path| (SettingsScope::Local, path))).collect()
}

pub fn managed() -> Vec<SettingsPath> {
    let mut paths = Vec::new();
    for folder in MANAGED.map(PathBuf::from) {
        let parts = std::fs::read_dir(folder.join("managed-settings.d")).into_iter().flatten().flatten();
        let mut parts: Vec<PathBuf> = parts.map(|entry| entry.path()).collect();
        parts.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        parts.sort_unstable();
        paths.push(folder.join("managed-settings.json"));
        paths.append(&mut parts);
    }
    paths.into_iter().map(|path| (SettingsScope::Managed, path)).collect()
}

/// Whether a fallback entry stays silent at an event, because an entry of a settings file answers it.
pub fn answer_instead(event: &[u8], project: Option<&Path>) -> bool {
    let Ok(event) = Event::parse(event) else { return false };
    let Some(kind) = event.kind else { return false };
    let cwd = || event.cwd().map(PathBuf::from);
    let Some(folder) = project.map(Path::to_owned).or_else(place::session_folder).or_else(cwd) else { return false };
    let places = project_paths(folder.clone());
    let copy = places.user_program();
    let user = places.user_settings.map(|settings| (SettingsScope::User, settings.with_file_name("settings.json")));
    let paths = of_project(&folder).into_iter().chain(user).chain(managed());
    let read = |(scope, path): SettingsPath| {
        Some(HostSettings { text: disk::read_text(&path, disk::CONFIGURATION).ok()?, scope })
    };
    let files: Vec<HostSettings> = paths.filter_map(read).collect();
    hook_entries::is_superseded(kind.name(), &files, places.plugin.is_some(), copy.as_deref())
}
