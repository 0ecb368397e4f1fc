//! Reads what the checks look at: settings files, modes and plugins.

use super::super::client_version::ClientVersion;
use super::super::install_target::{InstallTarget, user_folder};
use super::program_checks::is_this_program;
use crate::hook::host_settings::{self, SettingsPath};
use crate::hook::installation;
pub(super) use crate::host::hook_entries::SettingsScope;
use crate::host::hook_entries::{self, HookEntry, HostSettings, SettingsError, entries_in};
use crate::policy::mode::Catalogue;
use crate::state::mode_cache;
use crate::state::trust;
use crate::state::user_folder::is_outside;
use crate::world::place;
use base::disk;
use serde_json::Value;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

pub(in crate::commands) struct DoctorContext {
    pub(in crate::commands) target: InstallTarget,
    pub(in crate::commands) catalogue: Catalogue,
    /// The host's folder of the user.
    pub(super) user: Option<PathBuf>,
    /// The existing settings files; later ones override earlier ones.
    pub(super) settings_files: Vec<SettingsFile>,
    /// The folders of enabled plugins.
    pub(super) plugins: Vec<PathBuf>,
    client: OnceCell<Option<ClientVersion>>,
}

/// A settings file, or the hooks of a plugin.
pub(in crate::commands) struct SettingsFile {
    pub(super) scope: SettingsScope,
    pub(super) path: PathBuf,
    pub(super) name: String,
    text: String,
    /// Its content, or why the host ignores it.
    pub(super) value: Result<Value, IgnoredSettings>,
}

impl DoctorContext {
    pub(in crate::commands) fn read(target: InstallTarget) -> Self {
        let catalogue = mode_cache::read(&target.state_places());
        let user = user_folder();
        let mut paths: Vec<SettingsPath> = Vec::new();
        paths.extend(user.as_ref().map(|user| (SettingsScope::User, user.join("settings.json"))));
        if !target.is_users {
            paths.extend(host_settings::of_project(&target.home));
        }
        paths.extend(host_settings::managed());
        let read = |(scope, path): SettingsPath| SettingsFile::read(scope, &path, &target);
        let mut settings_files: Vec<SettingsFile> = paths.into_iter().filter_map(read).collect();
        let plugins = plugins(user.as_deref(), &settings_files);
        let hooks = plugins.iter().map(|root| (SettingsScope::Plugin, root.join("hooks/hooks.json")));
        settings_files.splice(0..0, hooks.filter_map(read));
        Self { target, catalogue, user, settings_files, plugins, client: OnceCell::new() }
    }

    /// The entries that are `modegate hook`, each with its file.
    pub(super) fn ours(&self) -> Vec<(&SettingsFile, HookEntry<'_>)> {
        self.entries().filter(|(_, entry)| entry.is_ours()).collect()
    }

    /// The entries that call modegate directly or within a shell line; one of a project must call it directly.
    pub(in crate::commands) fn calls(&self) -> Vec<(&SettingsFile, HookEntry<'_>)> {
        self.entries().filter(|(file, entry)| entry.calls_modegate() && !is_unclear(file, entry)).collect()
    }

    /// The entries of the project that name modegate, but may not call it.
    pub(super) fn unclear(&self) -> Vec<(&SettingsFile, HookEntry<'_>)> {
        self.entries().filter(|(file, entry)| entry.calls_modegate() && is_unclear(file, entry)).collect()
    }

    /// Whether a plugin's entry stays silent because an entry of a settings file handles its event.
    pub(super) fn is_superseded(&self, file: &SettingsFile, entry: &HookEntry<'_>) -> bool {
        let files: Vec<HostSettings> = self.settings_files.iter().filter_map(SettingsFile::of_host).collect();
        let from_plugin = file.scope == SettingsScope::Plugin;
        let copy = self.target.user_program();
        entry.is_fallback() && hook_entries::is_superseded(entry.event, &files, from_plugin, copy.as_deref())
    }

    fn entries(&self) -> impl Iterator<Item = (&SettingsFile, HookEntry<'_>)> {
        let readable = self.settings_files.iter().filter_map(|file| Some((file, file.value.as_ref().ok()?)));
        readable.flat_map(|(file, value)| entries_in(value).into_iter().map(move |entry| (file, entry)))
    }

    pub(super) fn client(&self) -> Option<ClientVersion> {
        *self.client.get_or_init(ClientVersion::installed)
    }

    /// Whether a program may be run: a repository can contain one, so that one must be this program, or an older copy that
    /// `install` left there. Trust in the project's modes is not trust in its programs.
    pub(super) fn may_run(&self, program: &Path) -> bool {
        let places = self.target.state_places();
        self.is_from_elsewhere(program)
            || is_this_program(program)
            || trust::is_granted(&places)
            || installation::is_installed_copy(&places, program)
    }

    /// Whether a program is neither in the repository nor behind a link that it brought along.
    fn is_from_elsewhere(&self, program: &Path) -> bool {
        let home = &self.target.home;
        let mut roots =
            [Some(home.clone()), place::repository_home(home), place::in_main_checkout(home)].into_iter().flatten();
        !roots.any(|root| program.starts_with(root)) && is_outside(program, home)
    }

    /// Whether the line of an entry may be run: one of the project must be as `install` writes it, or plain.
    pub(super) fn may_run_line(&self, file: &SettingsFile, entry: &HookEntry<'_>) -> bool {
        !file.scope.is_of_project()
            || entry.is_as_installed(&self.target.entry_program(false))
            || entry.is_certain_to_decide(self.target.user_program().as_deref())
            || trust::is_granted(&self.target.state_places())
    }
}

/// Whether only words of an entry say that it calls modegate. What people write in their own settings is not doubted.
fn is_unclear(file: &SettingsFile, entry: &HookEntry<'_>) -> bool {
    file.scope.is_of_project() && !entry.is_direct_call()
}

impl SettingsFile {
    fn read(scope: SettingsScope, path: &Path, target: &InstallTarget) -> Option<Self> {
        let file = |text: String, value| Self { scope, path: path.to_owned(), name: target.short(path), text, value };
        match disk::read(path, disk::SMALL) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                // As strict as the host.
                let checked = hook_entries::without_entries(&text).map_err(IgnoredSettings::Invalid);
                let value = checked.map(|_| hook_entries::settings_value(&text));
                Some(file(text, value))
            }
            Err(error) if disk::is_absent(&error) => None,
            Err(error) => Some(file(String::new(), Err(IgnoredSettings::Unreadable(error)))),
        }
    }

    /// The file as the hook sees it; `None` for a plugin's.
    fn of_host(&self) -> Option<HostSettings> {
        let is_used = self.value.is_ok() && self.scope != SettingsScope::Plugin;
        is_used.then(|| HostSettings { text: self.text.clone(), scope: self.scope })
    }

    /// The folder of the plugin that this file belongs to.
    pub(super) fn plugin(&self) -> Option<&Path> {
        (self.scope == SettingsScope::Plugin).then(|| self.path.parent()?.parent())?
    }

    pub(super) fn setting(&self, name: &str) -> Option<&Value> {
        self.value.as_ref().ok()?.get(name)
    }
}

#[derive(Debug, thiserror::Error)]
pub(super) enum IgnoredSettings {
    #[error("it cannot be read ({0})")]
    Unreadable(io::Error),
    #[error("{0}{position}", position = .0.position())]
    Invalid(SettingsError),
}

/// The folders of enabled plugins; the host's folder also has disabled ones.
fn plugins(user: Option<&Path>, settings_files: &[SettingsFile]) -> Vec<PathBuf> {
    let mut on: BTreeMap<&str, bool> = BTreeMap::new();
    for file in settings_files {
        let enabled = file.setting("enabledPlugins").and_then(Value::as_object).into_iter().flatten();
        on.extend(enabled.map(|(name, value)| (name.as_str(), value.as_bool() != Some(false))));
    }
    let list = user.and_then(|user| disk::read(&user.join("plugins/installed_plugins.json"), disk::SMALL).ok());
    let list: Value = list.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    let named = |name: &str| list.get("plugins").and_then(|plugins| plugins.get(name)).or_else(|| list.get(name));
    let path = |entry: &Value| entry.get("installPath").and_then(Value::as_str).map(PathBuf::from);
    let found = on.into_iter().filter(|(_, on)| *on).filter_map(|(name, _)| match named(name)? {
        Value::Array(versions) => versions.iter().rev().find_map(path),
        entry => path(entry),
    });
    found.collect()
}
