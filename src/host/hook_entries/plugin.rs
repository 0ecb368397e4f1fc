//! Hook entries for plugins and administrators, which stay silent where a settings file calls modegate itself.

use super::host_schema::is_used;
use super::{DISABLING, HookEntry, entries_in, settings_value};
use serde_json::Value;
use std::path::Path;

pub(super) const FALLBACK_FLAG: &str = "--fallback";

/// The prefix of modegate's plugin in `enabledPlugins`; what follows is the name of a marketplace.
pub(super) const PLUGIN_PREFIX: &str = "modegate@";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostSettings {
    /// Its text; the host ignores a file that is not JSON.
    pub text: String,
    pub scope: SettingsScope,
}

/// Where a settings file belongs; later ones override earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SettingsScope {
    Plugin,
    User,
    Project,
    Local,
    Managed,
}

impl HostSettings {
    /// Whether the host is certain to use the hooks of the file, whose content is `value`. Not every host takes a byte order mark.
    fn is_used(&self, value: &Value) -> bool {
        !self.text.starts_with('\u{feff}') && is_used(value)
    }
}

impl SettingsScope {
    /// Whether a repository can have brought the file along.
    pub fn is_of_project(self) -> bool {
        matches!(self, Self::Project | Self::Local)
    }
}

/// Whether an entry of the settings answers an event, so that a fallback entry stays silent.
///
/// The host runs every entry. A plugin's entry also yields to a fallback entry of the settings, which is not
/// `from_plugin`. Where the administrator allows only managed hooks, or a file switches the others off, no other entry
/// counts. An entry of a project counts only if it is certain to decide and the host uses its file: otherwise a
/// repository could silence the others. `user_program` is the user's copy of the program.
pub fn is_superseded(event: &str, files: &[HostSettings], from_plugin: bool, user_program: Option<&Path>) -> bool {
    let is_managed = |file: &HostSettings| file.scope == SettingsScope::Managed;
    // Most settings files name neither the program nor the setting.
    let names = |file: &HostSettings| ["modegate", DISABLING, "\\u"].iter().any(|name| file.text.contains(name));
    let may_count = |file: &&HostSettings| names(file) || is_managed(file);
    let files: Vec<(&HostSettings, Value)> =
        files.iter().filter(may_count).map(|file| (file, settings_value(&file.text))).collect();
    let is_set = |value: &Value, name: &str| value.get(name).and_then(Value::as_bool) == Some(true);
    let only_managed = files.iter().any(|(file, value)| {
        is_managed(file) && is_set(value, "allowManagedHooksOnly") || !is_managed(file) && is_set(value, DISABLING)
    });
    let counts = |file: &HostSettings, value: &Value, entry: &HookEntry<'_>| {
        let is_certain = || entry.is_certain_to_decide(user_program) && !entry.is_plain() && file.is_used(value);
        let decides = || if file.scope.is_of_project() { is_certain() } else { entry.calls_modegate() };
        entry.event == event && decides() && (from_plugin || !entry.is_fallback())
    };
    let running = files.iter().filter(|(file, _)| is_managed(file) || !only_managed);
    running.into_iter().any(|(file, value)| entries_in(value).iter().any(|entry| counts(file, value, entry)))
}

pub fn enables_plugin(text: &str) -> bool {
    let settings = settings_value(text);
    let mut plugins = settings.get("enabledPlugins").and_then(Value::as_object).into_iter().flatten();
    plugins.any(|(name, value)| name.starts_with(PLUGIN_PREFIX) && *value == Value::Bool(true))
}

#[cfg(test)]
pub mod tests {
    use super::super::{PROJECT_COMMAND, TIMEOUT, launcher, with_entries};
    use super::*;
    use crate::host::event::EventKind;
    use serde_json::{Map, json};

    /// The `hooks/hooks.json` of the plugin, with an entry per event.
    ///
    /// The same on every platform: where the host runs a line in a shell, it has one.
    pub fn plugin_hooks(events: &[EventKind]) -> String {
        let args = format!("hook {FALLBACK_FLAG}");
        let group = |kind: &EventKind| {
            let command = launcher::fallback_line(&args, *kind);
            let entry = json!({"type": "command", "command": command, "timeout": TIMEOUT, "statusMessage": "modegate"});
            (kind.name().to_owned(), json!([{"hooks": [entry]}]))
        };
        let hooks: Map<String, Value> = events.iter().map(group).collect();
        let file = json!({"description": "Calls modegate, which decides from files and git", "hooks": hooks});
        format!("{file:#}\n")
    }

    fn is_superseded(event: &str, files: &[HostSettings], from_plugin: bool) -> bool {
        super::is_superseded(event, files, from_plugin, Some(Path::new("/state/bin/modegate")))
    }

    fn settings(text: impl Into<String>, is_managed: bool) -> HostSettings {
        let scope = if is_managed { SettingsScope::Managed } else { SettingsScope::User };
        HostSettings { text: text.into(), scope }
    }

    #[test]
    fn an_entry_of_the_settings_answers_instead() {
        let own = with_entries("", PROJECT_COMMAND, SettingsScope::Project, &[EventKind::Stop]).unwrap();
        let superseded = |text: &str| is_superseded("Stop", &[settings("{}", false), settings(text, false)], true);
        assert!(superseded(&own) && superseded(&format!("\u{feff}{own}")));
        assert!(!is_superseded("PreToolUse", &[settings(own.clone(), false)], true), "it has no entry for this event");
        for text in [
            "",
            "{",
            "{\"hooks\": {}}",
            "{\"modegate\": 1}",
            "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"bell\"}]}]}}",
        ] {
            assert!(!superseded(text), "{text}");
        }
        assert!(superseded(r#"{"hooks": {"Stop": [{"hooks": [{"command": "nice modegate hook || true"}]}]}}"#));
    }

    /// The entry may be a repository's way to switch the others off.
    #[test]
    fn an_entry_of_a_project_counts_only_if_it_decides() {
        let superseded = |text: &str| {
            let file = HostSettings { scope: SettingsScope::Project, ..settings(text, false) };
            is_superseded("PreToolUse", &[file], true)
        };
        let own = with_entries("", PROJECT_COMMAND, SettingsScope::Project, &[EventKind::PreToolUse]).unwrap();
        assert!(superseded(&own));
        let plain = |entry: &str| format!(r#"{{"hooks": {{"PreToolUse": [{{"hooks": [{entry}]}}]}}}}"#);
        for entry in [
            // The program may not be on PATH.
            r#"{"type": "command", "command": "modegate hook"}"#,
            r#"{"type": "command", "command": "modegate", "args": ["hook"]}"#,
            r#"{"type": "command", "command": "true || modegate hook"}"#,
            r#"{"type": "command", "command": "modegate hook --project /nowhere"}"#,
            r#"{"type": "command", "command": "./fake/modegate hook"}"#,
            r#"{"type": "command", "command": "modegate", "args": ["hook", "--project", "/nowhere"]}"#,
            r#"{"type": "prompt", "command": "modegate hook"}"#,
            r#"{"type": "command", "command": "modegate hook", "if": "Bash(nothing)"}"#,
            r#"{"type": "command", "command": "modegate hook", "async": true}"#,
            r#"{"type": "command", "command": "modegate hook", "timeout": 0.001}"#,
        ] {
            assert!(!superseded(&plain(entry)), "{entry}");
        }
        assert!(!superseded(&own.replace("[ -x \\\"$p\\\" ]", "[ -x /none ]")), "{own}");
        let by_copy =
            |program: &str| plain(&format!(r#"{{"type": "command", "command": "{program}", "args": ["hook"]}}"#));
        assert!(superseded(&by_copy("/state/bin/modegate")) && !superseded(&by_copy("/other/bin/modegate")));
        let filtered = own.replacen(r#""hooks": ["#, r#""matcher": "Nothing", "hooks": ["#, 1);
        assert!(filtered != own && !superseded(&filtered), "{filtered}");
        assert!(!superseded(&format!("\u{feff}{own}")), "not every host reads it");
        for odd in [r#""permissions": "x", "#, r#""model": 5, "#] {
            assert!(!superseded(&own.replacen('{', &format!("{{{odd}"), 1)), "{odd}");
        }
    }

    #[test]
    fn entries_that_are_switched_off_answer_nothing() {
        let own =
            settings(with_entries("", PROJECT_COMMAND, SettingsScope::Project, &[EventKind::Stop]).unwrap(), false);
        for text in [r#"{"disableAllHooks": true}"#, r#"{"\u0064isableAllHooks": true}"#] {
            let off = HostSettings { scope: SettingsScope::Local, ..settings(text, false) };
            assert!(!is_superseded("Stop", &[own.clone(), off.clone()], true), "{text}");
            assert!(is_superseded("Stop", &[settings(own.text.clone(), true), off], true), "{text}");
        }
    }

    #[test]
    fn only_managed_entries_count_where_only_they_run() {
        let own =
            settings(with_entries("", PROJECT_COMMAND, SettingsScope::Project, &[EventKind::Stop]).unwrap(), false);
        let only = settings(r#"{"allowManagedHooksOnly": true}"#, true);
        assert!(!is_superseded("Stop", &[own.clone(), only.clone()], true));
        assert!(
            is_superseded("Stop", &[own.clone(), settings(only.text.clone(), false)], true),
            "not an administrator's"
        );
        assert!(is_superseded("Stop", &[only, settings(own.text, true)], true));
    }

    #[test]
    fn of_two_fallback_entries_that_of_the_settings_answers() {
        let managed = settings(plugin_hooks(&[EventKind::Stop]), true);
        assert!(is_superseded("Stop", std::slice::from_ref(&managed), true));
        assert!(!is_superseded("Stop", &[managed], false), "an entry does not make way for itself");
    }

    #[test]
    fn an_entry_that_was_copied_into_settings_becomes_an_ordinary_one() {
        let copied = plugin_hooks(&[EventKind::Stop]);
        let installed = with_entries(&copied, PROJECT_COMMAND, SettingsScope::Project, &[EventKind::Stop]).unwrap();
        assert!(!installed.contains(FALLBACK_FLAG), "{installed}");
    }

    #[test]
    fn the_plugin_is_known_by_its_name() {
        assert!(enables_plugin(r#"{"enabledPlugins": {"modegate@acme": true}}"#));
        for text in
            ["", "{}", r#"{"enabledPlugins": {"modegate@acme": false}}"#, r#"{"enabledPlugins": {"x@modegate": true}}"#]
        {
            assert!(!enables_plugin(text), "{text}");
        }
    }
}
