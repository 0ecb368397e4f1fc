//! Where modegate is, or shall be, installed: a project, or everything a user does.

use crate::hook_entries::PROJECT_COMMAND;
use crate::live::place;
use crate::paths::ProjectPaths;
use crate::store;
use clap::Args;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Which settings file.
#[derive(Args, Debug, Clone, Copy, Default)]
pub(super) struct InstallScope {
    /// In `.claude/settings.local.json`: this project, only for you
    #[arg(long, conflicts_with = "user")]
    local: bool,
    /// In your own settings: all of your projects
    #[arg(long)]
    user: bool,
}

/// A place of installation.
#[derive(Debug, Clone)]
pub(super) struct InstallTarget {
    /// The project's folder; the user's own for a user's installation.
    pub(super) home: PathBuf,
    /// The `.claude` folder.
    pub(super) claude: PathBuf,
    /// The host's settings file.
    pub(super) settings: PathBuf,
    /// The folder for what is only ours.
    pub(super) own: PathBuf,
    /// Whether it is for all projects of a user.
    pub(super) is_users: bool,
    /// Whether the settings are this machine's own.
    is_private: bool,
}

impl InstallScope {
    /// The target for this scope; a project is `given`, or found from here.
    pub(super) fn target(self, given: Option<PathBuf>) -> Result<InstallTarget, String> {
        let user = user_folder();
        if self.user {
            let claude = user.ok_or("your own folder is not known: HOME is not set\n  hint: set HOME")?;
            let home = user_home().unwrap_or_else(|| claude.clone());
            let (settings, own) = (claude.join("settings.json"), claude.join("modegate"));
            return Ok(InstallTarget { home, claude, settings, own, is_users: true, is_private: true });
        }
        let home = match given {
            Some(given) => given
                .canonicalize()
                .map_err(|error| format!("`{}`: {error}\n  hint: give a folder that is there", given.display()))?,
            None => here(),
        };
        let claude = home.join(".claude");
        if user.is_some_and(|user| user == place::real(&claude)) {
            return Err("this is your own folder, not a project\n  hint: go to a project, say which with `--project DIR`, or install for all with `--user`".to_owned());
        }
        let name = if self.local { "settings.local.json" } else { "settings.json" };
        Ok(InstallTarget {
            home,
            settings: claude.join(name),
            own: claude.join("hooks"),
            claude,
            is_users: false,
            is_private: self.local,
        })
    }

    /// Every target that is meant: without a word, both settings files of the project.
    pub(super) fn targets(self, given: Option<PathBuf>) -> Result<Vec<InstallTarget>, String> {
        let target = self.target(given)?;
        let both = !self.user && !self.local;
        let settings = target.claude.join("settings.local.json");
        let local = both.then(|| InstallTarget { settings, is_private: true, ..target.clone() });
        Ok([target].into_iter().chain(local).collect())
    }
}

impl InstallTarget {
    /// The target of a project, by its own settings.
    pub(super) fn of(places: &ProjectPaths) -> Self {
        let claude = places.home.join(".claude");
        let (settings, own) = (claude.join("settings.json"), claude.join("hooks"));
        Self { home: places.home.clone(), settings, own, claude, is_users: false, is_private: false }
    }

    /// Where the program lies.
    pub(super) fn program(&self) -> PathBuf {
        self.own.join(format!("modegate{}", std::env::consts::EXE_SUFFIX))
    }

    /// The program as the settings name it. Settings of one machine name the whole path: the host reads those of a
    /// repository's root also for a session below it, whose folder then is another.
    pub(super) fn command(&self) -> String {
        if self.is_private {
            return self.program().to_string_lossy().into_owned();
        }
        format!("{PROJECT_COMMAND}{}", std::env::consts::EXE_SUFFIX)
    }

    /// Where the settings lie as they were before modegate came.
    pub(super) fn backup(&self) -> PathBuf {
        let name = self.settings.file_name().unwrap_or_default().to_string_lossy();
        self.own.join(format!("{name}.bak"))
    }

    /// The files of the project.
    pub(super) fn places(&self) -> ProjectPaths {
        ProjectPaths { home: self.home.clone() }
    }

    /// Keeps others from installing here at the same time.
    pub(super) fn hold(&self) -> Result<File, String> {
        std::fs::create_dir_all(&self.own).map_err(|error| format!("`{}`: {error}", self.own.display()))?;
        crate::disk::refuse_link(&self.own).map_err(|error| format!("`{}`: {error}", self.own.display()))?;
        store::hold(&self.places_lock()).map_err(|error| error.to_string())
    }

    fn places_lock(&self) -> PathBuf {
        self.own.join("cache.lock")
    }

    /// A path as people read it: below the project, or below the user's folder.
    pub(super) fn short(&self, path: &Path) -> String {
        match (
            path.strip_prefix(&self.home),
            user_home().and_then(|user| Some(path.strip_prefix(user).ok()?.to_owned())),
        ) {
            (Ok(below), _) if !self.is_users => below.display().to_string(),
            (_, Some(below)) => format!("~/{}", below.display()),
            _ => path.display().to_string(),
        }
    }
}

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The user's own folder, with links resolved.
fn user_home() -> Option<PathBuf> {
    variable("HOME").or_else(|| variable("USERPROFILE")).map(|home| place::real(&home))
}

/// The host's folder for a user: its settings, commands, agents and transcripts.
pub(super) fn user_folder() -> Option<PathBuf> {
    let said = variable("CLAUDE_CONFIG_DIR").map(|folder| std::path::absolute(&folder).unwrap_or(folder));
    said.map(|folder| place::real(&folder)).or_else(|| user_home().map(|home| place::real(&home.join(".claude"))))
}

/// The root of the repository that a folder is in; a repository of somebody's dotfiles is none.
fn root(folder: &Path) -> Option<PathBuf> {
    let user = user_home();
    folder.ancestors().find(|dir| dir.join(".git").exists() && Some(*dir) != user.as_deref()).map(Path::to_owned)
}

/// The project from here. The host looks for settings only where it is started, so a folder far above is no
/// project of ours: up to the root of the repository the nearest with a `.claude`, else that root; outside of
/// repositories one that modegate knows, else this folder.
fn here() -> PathBuf {
    let here = variable("CLAUDE_PROJECT_DIR").filter(|said| said.is_absolute() && said.is_dir());
    let here = here.or_else(|| std::env::current_dir().ok()).unwrap_or_else(|| PathBuf::from("."));
    let here = place::real(&here);
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
