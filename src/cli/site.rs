//! Where modegate is, or shall be, installed: a project, or everything a user does.

use crate::facts::live::place;
use crate::paths::Places;
use crate::wiring::IN_PROJECT;
use clap::Args;
use std::path::{Path, PathBuf};

/// Which settings file.
#[derive(Args, Debug, Clone, Copy, Default)]
pub(super) struct Scope {
    /// In `.claude/settings.local.json`: this project, only for you
    #[arg(long, conflicts_with = "user")]
    local: bool,
    /// In your own settings: all of your projects
    #[arg(long)]
    user: bool,
}

/// A place of installation.
#[derive(Debug, Clone)]
pub(super) struct Site {
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
}

impl Scope {
    /// The site for this scope; a project is `given`, or found from here.
    pub(super) fn site(self, given: Option<PathBuf>) -> Result<Site, String> {
        let user = user_folder();
        if self.user {
            let claude = user.ok_or("the user's own folder is not known: HOME is not set")?;
            let home = claude.parent().map_or_else(|| claude.clone(), Path::to_owned);
            let (settings, own) = (claude.join("settings.json"), claude.join("modegate"));
            return Ok(Site { home, claude, settings, own, is_users: true });
        }
        let home = match given {
            Some(given) => given.canonicalize().map_err(|error| format!("`{}`: {error}", given.display()))?,
            None => here(),
        };
        let claude = home.join(".claude");
        if user.is_some_and(|user| user == claude) {
            return Err(
                "this is your own folder, not a project\n  hint: go to a project, or install for all with `--user`"
                    .to_owned(),
            );
        }
        let name = if self.local { "settings.local.json" } else { "settings.json" };
        Ok(Site { home, settings: claude.join(name), own: claude.join("hooks"), claude, is_users: false })
    }
}

impl Scope {
    /// Every site that is meant: without a word, both settings files of the project.
    pub(super) fn sites(self, given: Option<PathBuf>) -> Result<Vec<Site>, String> {
        let site = self.site(given.clone())?;
        if self.user || self.local {
            return Ok(vec![site]);
        }
        Ok(vec![site, Self { local: true, user: false }.site(given)?])
    }
}

impl Site {
    /// Where the program lies.
    pub(super) fn program(&self) -> PathBuf {
        self.own.join(format!("modegate{}", std::env::consts::EXE_SUFFIX))
    }

    /// The program as the settings name it.
    pub(super) fn command(&self) -> String {
        if self.is_users {
            return self.program().to_string_lossy().into_owned();
        }
        format!("{IN_PROJECT}{}", std::env::consts::EXE_SUFFIX)
    }

    /// Where the settings lie as they were before modegate came.
    pub(super) fn backup(&self) -> PathBuf {
        let name = self.settings.file_name().unwrap_or_default().to_string_lossy();
        self.own.join(format!("{name}.bak"))
    }

    /// The files of the project.
    pub(super) fn places(&self) -> Places {
        Places { home: self.home.clone() }
    }

    /// A path as people read it: below the project, or below the user's folder.
    pub(super) fn short(&self, path: &Path) -> String {
        match path.strip_prefix(&self.home) {
            Ok(below) if self.is_users => format!("~/{}", below.display()),
            Ok(below) => below.display().to_string(),
            Err(_) => path.display().to_string(),
        }
    }
}

/// The host's folder for a user: its settings, commands, agents and transcripts.
pub(super) fn user_folder() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let own = || variable("HOME").or_else(|| variable("USERPROFILE"));
    variable("CLAUDE_CONFIG_DIR").or_else(|| own().map(|home| home.join(".claude")))
}

/// The project from here: where there is a `.claude`, else the root of the repository, else this folder.
fn here() -> PathBuf {
    let home = place::home_here(None);
    if home.join(".claude").is_dir() {
        return home;
    }
    let root = home.ancestors().find(|dir| dir.join(".git").exists()).map(Path::to_owned);
    root.unwrap_or(home)
}
