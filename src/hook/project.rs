//! The project of an event, and its modes.

use crate::hook::installation;
use crate::host::event::{Event, EventKind};
use crate::host::hook_entries;
use crate::host::paths::ProjectPaths;
use crate::state::mode_cache::{ModeCache, SourceScope};
use crate::state::user_folder::project_paths;
use crate::world::place;
use base::disk;
use std::fs;
use std::io;
use std::path::Path;

pub(super) struct HookProject {
    pub(super) places: ProjectPaths,
    /// What was at `.claude/hooks` when the event came.
    pub(super) hooks: HooksFolder,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HooksFolder {
    Missing,
    Folder,
    /// A link, which may lead anywhere, or a file: modegate decides, but writes nothing there.
    Other,
}

impl HookProject {
    /// The project `home`, or the one that an event and the environment name.
    pub(super) fn of_event(event: &Event, home: Option<&Path>) -> Self {
        let home = home.map_or_else(|| place::home_here(event.cwd().map(Path::new)), Path::to_owned);
        Self::at_paths(project_paths(home))
    }

    pub(super) fn at_paths(places: ProjectPaths) -> Self {
        Self { hooks: HooksFolder::at_hooks(&places), places }
    }

    /// Loads the modes in a project, or where a command is about to make the folder one.
    pub(super) fn open_modes(&self, event: &Event) -> Option<ModeCache<'_>> {
        let is_missing = self.hooks == HooksFolder::Missing;
        let is_new = is_missing && event.kind == Some(EventKind::SessionStart) && is_set_up(&self.places);
        if is_new || !is_missing || self.is_installed() {
            let looks_closely = event.kind.is_some_and(installation::compares);
            let scope = if looks_closely { SourceScope::All } else { SourceScope::Own };
            return Some(ModeCache::open(&self.places, scope));
        }
        let call = event.command()?;
        Some(ModeCache::read(&self.places)).filter(|open_modes| open_modes.activated_by(call.name))
    }

    /// Whether there is a record of the installation: a tool may have removed the folder.
    pub(super) fn is_installed(&self) -> bool {
        self.places.installation().is_some_and(|record| record.exists())
    }

    /// Whether `.claude/hooks` is a folder; the event itself may have created it.
    pub(super) fn has_folder(&self) -> bool {
        let missing = self.hooks == HooksFolder::Missing;
        let hooks = if missing { HooksFolder::at_hooks(&self.places) } else { self.hooks };
        hooks == HooksFolder::Folder
    }
}

impl HooksFolder {
    fn at_hooks(places: &ProjectPaths) -> Self {
        match fs::symlink_metadata(places.hooks()) {
            Ok(meta) if meta.is_dir() => Self::Folder,
            Ok(_) => Self::Other,
            // `.claude` itself is a file, or a link to itself.
            Err(error) if error.kind() != io::ErrorKind::NotFound => Self::Other,
            Err(_) => Self::Missing,
        }
    }
}

/// Makes a folder a project if its settings call modegate or enable its plugin, as in a colleague's clone: the program is
/// not committed.
fn is_set_up(places: &ProjectPaths) -> bool {
    let calls_modegate = |name: &str| {
        let text = disk::read_text(&places.home.join(".claude").join(name), disk::CONFIGURATION).unwrap_or_default();
        hook_entries::has_entries(&text) || hook_entries::enables_plugin(&text)
    };
    if !["settings.json", "settings.local.json"].into_iter().any(calls_modegate) {
        return false;
    }
    let made = fs::create_dir_all(places.hooks());
    crate::state::ignore_own(&places.hooks());
    made.is_ok()
}
