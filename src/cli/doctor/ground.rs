//! What the doctor looks at: the settings files of the host, the modes, the folders.

use super::super::site::{Site, user_folder};
use crate::mode::Catalogue;
use crate::mode_cache;
use crate::wiring::{self, Handler, handlers};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Everything the checks share, gathered once.
pub(super) struct Ground {
    pub(super) site: Site,
    pub(super) catalogue: Catalogue,
    /// The host's folder for the user.
    pub(super) user: Option<PathBuf>,
    /// The settings files that are there, the weakest first.
    pub(super) sources: Vec<Source>,
    /// The folders of the plugins that are enabled.
    pub(super) plugins: Vec<PathBuf>,
}

/// Where hooks come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Plugin,
    User,
    Project,
    Local,
    Managed,
}

/// A file with hooks.
pub(super) struct Source {
    pub(super) rank: Rank,
    pub(super) path: PathBuf,
    /// How it is called in messages.
    pub(super) name: String,
    /// What it says; an error is why the host passes over it.
    pub(super) value: Result<Value, String>,
}

impl Ground {
    pub(super) fn gather(site: Site) -> Self {
        let catalogue = mode_cache::read(&site.places());
        let user = user_folder();
        let own = user.as_ref().map(|user| (Rank::User, user.join("settings.json")));
        let project = [(Rank::Project, "settings.json"), (Rank::Local, "settings.local.json")];
        let project = project.map(|(rank, name)| (rank, site.claude.join(name)));
        let project = project.into_iter().filter(|_| !site.is_users);
        let paths = own.into_iter().chain(project).chain(managed().map(|path| (Rank::Managed, path)));
        let mut sources: Vec<Source> = paths.filter_map(|(rank, path)| Source::read(rank, &path, &site)).collect();
        let plugins = plugins(user.as_deref(), &sources);
        let hooks = plugins.iter().map(|root| root.join("hooks/hooks.json"));
        let hooks: Vec<Source> = hooks.filter_map(|path| Source::read(Rank::Plugin, &path, &site)).collect();
        sources.splice(0..0, hooks);
        Self { site, catalogue, user, sources, plugins }
    }

    /// Our entries, with the file each is in.
    pub(super) fn ours(&self) -> Vec<(&Source, Handler<'_>)> {
        self.handlers().filter(|(_, handler)| handler.is_ours()).collect()
    }

    /// Entries that call modegate in whatever way.
    pub(super) fn calls(&self) -> Vec<(&Source, Handler<'_>)> {
        self.handlers().filter(|(_, handler)| handler.reaches_us()).collect()
    }

    fn handlers(&self) -> impl Iterator<Item = (&Source, Handler<'_>)> {
        let readable = self.sources.iter().filter_map(|source| Some((source, source.value.as_ref().ok()?)));
        readable.flat_map(|(source, value)| handlers(value).into_iter().map(move |handler| (source, handler)))
    }

    /// A path as people read it.
    pub(super) fn short(&self, path: &Path) -> String {
        self.site.short(path)
    }
}

impl Source {
    fn read(rank: Rank, path: &Path, site: &Site) -> Option<Self> {
        let value = match fs::read(path) {
            Ok(bytes) => parsed(&String::from_utf8_lossy(&bytes)),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return None;
            }
            Err(error) => Err(format!("it cannot be read ({error})")),
        };
        Some(Self { rank, path: path.to_owned(), name: site.short(path), value })
    }

    /// The folder of the plugin that has this file.
    pub(super) fn plugin(&self) -> Option<&Path> {
        (self.rank == Rank::Plugin).then(|| self.path.parent()?.parent())?
    }

    /// The value of a setting in this file.
    pub(super) fn setting(&self, name: &str) -> Option<&Value> {
        self.value.as_ref().ok()?.get(name)
    }
}

/// A settings file as the host reads it; an error is why it passes over it.
fn parsed(text: &str) -> Result<Value, String> {
    wiring::unwire(text).map_err(|refusal| {
        let place = refusal.place.map(|(line, column)| format!(" (line {line}, column {column})"));
        format!("{}{}", refusal.why, place.unwrap_or_default())
    })?;
    Ok(serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default())
}

/// Where the plugins are that are switched on: others lie about in the host's folder too.
fn plugins(user: Option<&Path>, sources: &[Source]) -> Vec<PathBuf> {
    let mut on: BTreeMap<&str, bool> = BTreeMap::new();
    for source in sources {
        let enabled = source.setting("enabledPlugins").and_then(Value::as_object).into_iter().flatten();
        on.extend(enabled.map(|(name, value)| (name.as_str(), value.as_bool() != Some(false))));
    }
    let list = user.and_then(|user| fs::read(user.join("plugins/installed_plugins.json")).ok());
    let list: Value = list.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    let named = |name: &str| list.get("plugins").and_then(|plugins| plugins.get(name)).or_else(|| list.get(name));
    let path = |entry: &Value| entry.get("installPath").and_then(Value::as_str).map(PathBuf::from);
    let found = on.into_iter().filter(|(_, on)| *on).filter_map(|(name, _)| match named(name)? {
        Value::Array(versions) => versions.iter().rev().find_map(path),
        entry => path(entry),
    });
    found.collect()
}

/// Where an administrator puts settings that nobody below can change.
fn managed() -> impl Iterator<Item = PathBuf> {
    let folders = [
        "/etc/claude-code",
        "/ModeCache/Application Support/ClaudeCode",
        "C:\\Program Files\\ClaudeCode",
        "C:\\ProgramData\\ClaudeCode",
    ];
    folders.into_iter().map(|folder| Path::new(folder).join("managed-settings.json"))
}
