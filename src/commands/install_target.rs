//! Where modegate is installed: in a project, or for all projects of a user.

use super::cli_error::CliError;
use super::file_change::text_of;
use super::install_manifest::InstallManifest;
use crate::hook::heartbeats::{HookActivity, heartbeats};
use crate::host::event::EventKind;
use crate::host::hook_entries::{
    PROJECT_COMMAND, SCRIPT_PATH, SettingsError, SettingsScope, has_entries, with_entries,
};
use crate::host::paths::ProjectPaths;
use crate::state::store;
use crate::state::user_folder::{project_paths, user_program_at};
use crate::world::place;
use clap::Args;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Args, Debug, Clone, Copy, Default)]
pub(super) struct InstallScope {
    /// Use `.claude/settings.local.json`: this project, only you
    #[arg(long, conflicts_with = "user")]
    local: bool,
    /// Use your own settings: all your projects
    #[arg(long)]
    user: bool,
}

#[derive(Debug, Clone)]
pub(super) struct InstallTarget {
    /// The project folder; the home folder with `--user`.
    pub(super) home: PathBuf,
    pub(super) claude: PathBuf,
    pub(super) settings: PathBuf,
    pub(super) own: PathBuf,
    /// Whether it is for all projects of the user.
    pub(super) is_users: bool,
    /// Whether the settings file is not shared with others.
    pub(super) is_private: bool,
}

impl InstallScope {
    pub(super) const USER: Self = Self { local: false, user: true };

    /// The target of this scope, in the `given` project or the one around the current folder.
    pub(super) fn target(self, given: Option<PathBuf>) -> Result<InstallTarget, CliError> {
        let user = user_folder();
        if self.user {
            let claude =
                user.ok_or_else(|| CliError::failure("HOME is not set").hint("set HOME to your home folder"))?;
            let home = user_home().unwrap_or_else(|| claude.clone());
            let (settings, own) = (claude.join("settings.json"), claude.join("modegate"));
            return Ok(InstallTarget { home, claude, settings, own, is_users: true, is_private: true });
        }
        let home = match given {
            Some(given) => base::disk::canonical(&given)
                .ok()
                .filter(|folder| folder.is_dir())
                .ok_or_else(|| CliError::failure(format!("`{}` is not a folder", given.display())))?,
            None => here(),
        };
        let target = InstallTarget::of(&project_paths(home));
        if user.is_some_and(|user| user == place::real(&target.claude)) {
            return Err(CliError::failure("this is your home folder, not a project")
                .hint("change to a project, use `--project DIR`, or install for all projects with `--user`"));
        }
        Ok(if self.local { target.local() } else { target })
    }

    /// All targets of this scope: both settings files of the project unless a flag chooses one.
    pub(super) fn targets(self, given: Option<PathBuf>) -> Result<Vec<InstallTarget>, CliError> {
        let target = self.target(given)?;
        let both = !self.user && !self.local;
        let local = both.then(|| target.clone().local());
        Ok([target].into_iter().chain(local).collect())
    }
}

impl InstallTarget {
    pub(super) fn of(places: &ProjectPaths) -> Self {
        let claude = places.home.join(".claude");
        let (settings, own) = (claude.join("settings.json"), claude.join("hooks"));
        Self { home: places.home.clone(), settings, own, claude, is_users: false, is_private: false }
    }

    /// The settings `text` with hook entries for `events`.
    pub(super) fn with_entries(
        &self,
        text: &str,
        events: &[EventKind],
        on_path: bool,
    ) -> Result<String, SettingsError> {
        let scope = match (self.is_users, self.is_private) {
            (true, _) => SettingsScope::User,
            (false, true) => SettingsScope::Local,
            (false, false) => SettingsScope::Project,
        };
        with_entries(text, &self.entry_program(on_path), scope, events)
    }

    /// An error about settings that cannot be edited, with its place.
    pub(super) fn settings_error(&self, error: &SettingsError) -> CliError {
        let file = self.short(&self.settings);
        let place = error.place().map(|(line, column)| format!("\n   --> {file}:{line}:{column}")).unwrap_or_default();
        CliError::failure(format!("`{file}` is not a settings file: {error}{place}"))
            .hint("fix the file and run the command again; nothing was changed")
    }

    fn local(self) -> Self {
        Self { settings: self.claude.join("settings.local.json"), is_private: true, ..self }
    }

    pub(super) fn program(&self) -> PathBuf {
        self.own.join(format!("modegate{}", std::env::consts::EXE_SUFFIX))
    }

    /// The user's copy of the program; `None` if it could only be inside the repository.
    pub(super) fn user_program(&self) -> Option<PathBuf> {
        if self.is_users { user_program_at(&self.home) } else { self.places().user_program() }
    }

    /// Whether the hook entries run the project's program.
    ///
    /// Where the shared settings have entries, local ones are the same, since the host runs equal entries once.
    pub(super) fn runs_project_program(&self) -> bool {
        let shared = || text_of(&self.claude.join("settings.json")).ok().flatten();
        !self.is_private || !self.is_users && shared().is_some_and(|text| has_entries(&text))
    }

    /// The program of the hook entries: the project's, the user's copy, or for private entries the one `on_path`.
    pub(super) fn entry_program(&self, on_path: bool) -> String {
        if self.runs_project_program() && !(on_path && cfg!(windows)) {
            return format!("{PROJECT_COMMAND}{}", std::env::consts::EXE_SUFFIX);
        }
        let copy = self.user_program().filter(|_| !on_path);
        copy.map_or_else(|| "modegate".to_owned(), |copy| copy.to_string_lossy().into_owned())
    }

    pub(super) fn script(&self) -> PathBuf {
        self.home.join(SCRIPT_PATH)
    }

    /// Fails if a link of the repository leads a change of `path` elsewhere; the user's own files may be anywhere.
    pub(super) fn require_inside(&self, path: &Path) -> io::Result<()> {
        if self.is_users {
            return Ok(());
        }
        // Folders of a linked worktree can be links to those of the main checkout.
        let state = self.state_places();
        let project = [self.home.clone(), state.home];
        let is_of_project = project.iter().any(|folder| path.starts_with(folder));
        let own = [state.state_dir, self.places().state_dir].into_iter().flatten();
        let own = own.filter_map(|own| Some(own.ancestors().nth(2)?.to_owned()));
        // Other projects have their state next to this one's: a link of the project must not lead there.
        let folders: Vec<PathBuf> = if is_of_project { project.to_vec() } else { own.collect() };
        let folders: Vec<&Path> = folders.iter().map(PathBuf::as_path).collect();
        base::disk::require_inside(path, &folders)
    }

    pub(super) fn backup(&self) -> PathBuf {
        let name = self.settings.file_name().unwrap_or_default().to_string_lossy();
        self.own.join(format!("{name}.bak"))
    }

    pub(super) fn places(&self) -> ProjectPaths {
        project_paths(self.home.clone())
    }

    /// The paths of the project's state and modes, which all checkouts of a repository share.
    pub(super) fn state_places(&self) -> ProjectPaths {
        project_paths(place::home_at(&self.home))
    }

    /// When each recent session of the project last called the hook.
    pub(super) fn heartbeats(&self) -> Vec<HookActivity> {
        let installed = InstallManifest::read(self).time();
        heartbeats(&self.home, &self.state_places(), user_folder().as_deref(), installed)
    }

    /// Locks out other installations until the file is dropped.
    pub(super) fn lock(&self) -> Result<File, CliError> {
        let unusable = |error| CliError::failure(format!("`{}`: {error}", self.own.display()));
        std::fs::create_dir_all(&self.own).map_err(unusable)?;
        base::disk::refuse_link(&self.own).map_err(unusable)?;
        Ok(store::lock(&self.own.join("cache.lock"))?)
    }

    pub(super) fn missing_folders(&self) -> Vec<PathBuf> {
        let starter = ["commands", "agents"].map(|name| self.claude.join(name));
        let folders = [self.claude.clone(), self.own.clone()].into_iter().chain(starter);
        folders.filter(|folder| std::fs::symlink_metadata(folder).is_err()).collect()
    }

    /// A path for messages: relative to the project, or to the home folder with `~`.
    pub(super) fn short(&self, path: &Path) -> String {
        match (
            path.strip_prefix(&self.home),
            user_home().and_then(|user| Some(path.strip_prefix(user).ok()?.to_owned())),
        ) {
            (Ok(below), _) if !self.is_users => crate::host::paths::with_slashes(below),
            (_, Some(below)) => format!("~/{}", crate::host::paths::with_slashes(&below)),
            _ => path.display().to_string(),
        }
    }
}

fn user_home() -> Option<PathBuf> {
    place::user_home().map(|home| place::real(&home))
}

/// The host's folder of the user: settings, commands, agents and transcripts.
pub(super) fn user_folder() -> Option<PathBuf> {
    let configured = place::variable("CLAUDE_CONFIG_DIR").map(|folder| std::path::absolute(&folder).unwrap_or(folder));
    configured.map(|folder| place::real(&folder)).or_else(|| user_home().map(|home| place::real(&home.join(".claude"))))
}

/// The root of the repository around a folder; a home folder under git (dotfiles) does not count.
fn root(folder: &Path) -> Option<PathBuf> {
    let user = user_home();
    folder.ancestors().find(|dir| dir.join(".git").exists() && Some(*dir) != user.as_deref()).map(Path::to_owned)
}

/// The folder in which Claude Code would be started: the current one, or that of the session.
pub(super) fn start_folder() -> PathBuf {
    let here = place::session_folder().filter(|folder| folder.is_absolute() && folder.is_dir());
    let here = here.or_else(|| std::env::current_dir().ok()).unwrap_or_else(|| PathBuf::from("."));
    place::real(&here)
}

/// The project around the current folder.
///
/// In a repository the nearest folder with `.claude`, up to its root, else the root; elsewhere the nearest folder
/// with `.claude/hooks`, else the current one. The host reads settings only where it is started, so folders
/// further up do not count.
fn here() -> PathBuf {
    let here = start_folder();
    let user = user_folder();
    let is_users = |dir: &Path| user.as_ref().is_some_and(|user| *user == place::real(&dir.join(".claude")));
    if let Some(root) = root(&here) {
        let within = here.ancestors().take_while(|dir| dir.starts_with(&root));
        let own = within.into_iter().find(|dir| dir.join(".claude").is_dir() && !is_users(dir));
        return own.map_or(root.clone(), Path::to_owned);
    }
    let known = here.ancestors().find(|dir| dir.join(".claude/hooks").is_dir() && !is_users(dir));
    known.map_or(here.clone(), Path::to_owned)
}
