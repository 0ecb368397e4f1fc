//! What the doctor looks at: the settings files of the host, the modes, the folders.

use super::super::install_target::{InstallTarget, user_folder};
use crate::hook_entries::{self, HookEntry, entries_in};
use crate::mode::Catalogue;
use crate::mode_cache;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Everything the checks share, gathered once.
pub(super) struct DoctorContext {
    pub(super) target: InstallTarget,
    pub(super) catalogue: Catalogue,
    /// The host's folder for the user.
    pub(super) user: Option<PathBuf>,
    /// The settings files that are there, the weakest first.
    pub(super) settings_files: Vec<SettingsFile>,
    /// The folders of the plugins that are enabled.
    pub(super) plugins: Vec<PathBuf>,
}

/// Where hooks come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SettingsScope {
    Plugin,
    User,
    Project,
    Local,
    Managed,
}

/// A file with hooks.
pub(super) struct SettingsFile {
    pub(super) scope: SettingsScope,
    pub(super) path: PathBuf,
    /// How it is called in messages.
    pub(super) name: String,
    /// What it says; an error is why the host passes over it.
    pub(super) value: Result<Value, String>,
}

impl DoctorContext {
    pub(super) fn gather(target: InstallTarget) -> Self {
        let catalogue = mode_cache::read(&target.places());
        let user = user_folder();
        let own = user.as_ref().map(|user| (SettingsScope::User, user.join("settings.json")));
        let project = [(SettingsScope::Project, "settings.json"), (SettingsScope::Local, "settings.local.json")];
        let project = project.map(|(scope, name)| (scope, target.claude.join(name)));
        let project = project.into_iter().filter(|_| !target.is_users);
        let paths = own.into_iter().chain(project).chain(managed().map(|path| (SettingsScope::Managed, path)));
        let mut settings_files: Vec<SettingsFile> =
            paths.filter_map(|(scope, path)| SettingsFile::read(scope, &path, &target)).collect();
        let plugins = plugins(user.as_deref(), &settings_files);
        let hooks = plugins.iter().map(|root| root.join("hooks/hooks.json"));
        let hooks: Vec<SettingsFile> =
            hooks.filter_map(|path| SettingsFile::read(SettingsScope::Plugin, &path, &target)).collect();
        settings_files.splice(0..0, hooks);
        Self { target, catalogue, user, settings_files, plugins }
    }

    /// Our entries, with the file each is in.
    pub(super) fn ours(&self) -> Vec<(&SettingsFile, HookEntry<'_>)> {
        self.entries_in().filter(|(_, handler)| handler.is_ours()).collect()
    }

    /// Entries that call modegate in whatever way.
    pub(super) fn calls(&self) -> Vec<(&SettingsFile, HookEntry<'_>)> {
        self.entries_in().filter(|(_, handler)| handler.calls_modegate()).collect()
    }

    fn entries_in(&self) -> impl Iterator<Item = (&SettingsFile, HookEntry<'_>)> {
        let readable = self.settings_files.iter().filter_map(|file| Some((file, file.value.as_ref().ok()?)));
        readable.flat_map(|(file, value)| entries_in(value).into_iter().map(move |handler| (file, handler)))
    }

    /// A path as people read it.
    pub(super) fn short(&self, path: &Path) -> String {
        self.target.short(path)
    }
}

impl SettingsFile {
    fn read(scope: SettingsScope, path: &Path, target: &InstallTarget) -> Option<Self> {
        let value = match fs::read(path) {
            Ok(bytes) => parsed(&String::from_utf8_lossy(&bytes)),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return None;
            }
            Err(error) => Err(format!("it cannot be read ({error})")),
        };
        Some(Self { scope, path: path.to_owned(), name: target.short(path), value })
    }

    /// The folder of the plugin that has this file.
    pub(super) fn plugin(&self) -> Option<&Path> {
        (self.scope == SettingsScope::Plugin).then(|| self.path.parent()?.parent())?
    }

    /// The value of a setting in this file.
    pub(super) fn setting(&self, name: &str) -> Option<&Value> {
        self.value.as_ref().ok()?.get(name)
    }
}

/// A settings file as the host reads it; an error is why it passes over it.
fn parsed(text: &str) -> Result<Value, String> {
    hook_entries::without_entries(text).map_err(|error| {
        let place = error.place().map(|(line, column)| format!(" (line {line}, column {column})"));
        format!("{error}{}", place.unwrap_or_default())
    })?;
    Ok(serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default())
}

/// Where the plugins are that are switched on: others lie about in the host's folder too.
fn plugins(user: Option<&Path>, settings_files: &[SettingsFile]) -> Vec<PathBuf> {
    let mut on: BTreeMap<&str, bool> = BTreeMap::new();
    for file in settings_files {
        let enabled = file.setting("enabledPlugins").and_then(Value::as_object).into_iter().flatten();
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
