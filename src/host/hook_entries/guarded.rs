//! The part of a settings file that decides whether and how modegate's hooks are called.

use super::edit::without_setting;
use super::host_schema::check_schema;
use super::plugin::PLUGIN_PREFIX;
use super::{
    HookEntry, PROJECT_VARIABLE, SettingsError, SettingsScope, entries_in, settings_value, with_entries,
    without_entries,
};
use crate::host::event::EventKind;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub const DISABLING: &str = "disableAllHooks";

/// Variables that lead programs, or modegate's own files, elsewhere.
const VARIABLES: [&str; 9] = [
    "PATH",
    "HOME",
    "XDG_STATE_HOME",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_PROJECT_DIR",
    "BASH_ENV",
    "ENV",
    "LD_PRELOAD",
    "DYLD_INSERT_LIBRARIES",
];

/// Modegate's entries in a settings file, and the settings that can switch hooks off or redirect them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GuardedSettings {
    /// The entries of each event, as texts.
    entries: BTreeMap<String, BTreeSet<String>>,
    order: Vec<String>,
    program: Option<String>,
    pub others: BTreeMap<String, String>,
}

impl GuardedSettings {
    /// Reads a settings file; the error says why the host ignores it. An empty text is an empty file.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        without_entries(text)?;
        let settings = settings_value(text);
        check_schema(&settings)?;
        let mut guarded = Self { others: others(&settings), ..Self::default() };
        for entry in entries_in(&settings).into_iter().filter(HookEntry::is_ours) {
            guarded.program.get_or_insert_with(|| entry.program(PROJECT_VARIABLE));
            if !guarded.entries.contains_key(entry.event) {
                guarded.order.push(entry.event.to_owned());
            }
            let text = format!("{:?} {}", entry.matcher, entry.entry);
            guarded.entries.entry(entry.event.to_owned()).or_default().insert(text);
        }
        Ok(guarded)
    }

    pub fn has_entries(&self) -> bool {
        !self.entries.is_empty()
    }

    pub fn has_entries_of(&self, other: &Self) -> bool {
        let has = |(event, texts): (&String, &BTreeSet<String>)| {
            self.entries.get(event).is_some_and(|own| texts.is_subset(own))
        };
        other.entries.iter().all(has)
    }

    /// Whether an entry runs the project's script where the program is missing.
    pub fn runs_script(&self) -> bool {
        self.entries.values().flatten().any(|entry| entry.contains("$p.sh"))
    }

    pub fn disables_hooks(&self) -> bool {
        self.others.get(DISABLING).is_some_and(|value| value == "true")
    }

    /// The settings `text` without the setting that switches all hooks off; `None` if it cannot be removed.
    pub fn without_disabling(text: &str) -> Option<String> {
        let enabled = without_setting(text, DISABLING).ok()?;
        (!Self::parse(&enabled).ok()?.disables_hooks()).then_some(enabled)
    }

    /// The settings `text` with these entries; `None` unless they can be restored exactly.
    pub fn put_back(&self, text: &str) -> Option<String> {
        let events: Vec<EventKind> = self.order.iter().filter_map(|name| EventKind::named(name)).collect();
        let restored =
            with_entries(&without_entries(text).ok()?, self.program.as_ref()?, SettingsScope::Project, &events).ok()?;
        let result = Self::parse(&restored).ok()?;
        (result.entries == self.entries && result.others == Self::parse(text).ok()?.others).then_some(restored)
    }
}

/// The settings that can switch hooks off, redirect them, or run other programs.
pub(super) fn others(settings: &Value) -> BTreeMap<String, String> {
    let own = [DISABLING, "statusLine"].into_iter();
    let own = own.filter_map(|name| Some((name.to_owned(), settings.get(name)?.to_string())));
    let variables = settings.get("env").and_then(Value::as_object).into_iter().flatten();
    let is_guarded = |name: &str| VARIABLES.contains(&name) || name.starts_with("MODEGATE_");
    let variables = variables.filter(|(name, _)| is_guarded(name));
    let variables = variables.map(|(name, value)| (format!("env.{name}"), value.to_string()));
    let plugins = settings.get("enabledPlugins").and_then(Value::as_object).into_iter().flatten();
    let plugins = plugins.filter(|(name, _)| name.starts_with(PLUGIN_PREFIX));
    let plugins = plugins.map(|(name, value)| (format!("enabledPlugins.{name}"), value.to_string()));
    own.chain(variables).chain(plugins).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::hook_entries::PROJECT_COMMAND;

    const EVENTS: [EventKind; 2] = [EventKind::PreToolUse, EventKind::Stop];

    #[test]
    fn entries_are_put_back_and_the_rest_stays() {
        let others = "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"bell\"}]}]\n  }\n}\n";
        let installed = with_entries(others, PROJECT_COMMAND, SettingsScope::Project, &EVENTS).unwrap();
        let known = GuardedSettings::parse(&installed).unwrap();
        assert_eq!(known.put_back(others).as_deref(), Some(installed.as_str()));
        let shortened = installed.replace("\"timeout\": 150", "\"timeout\": 1");
        assert_ne!(shortened, installed);
        assert!(!GuardedSettings::parse(&shortened).unwrap().has_entries_of(&known));
        // A list on one line gets a line break where the weakened entry was.
        let json = |text: &str| serde_json::from_str::<Value>(text).unwrap().to_string();
        assert_eq!(json(&known.put_back(&shortened).unwrap()), json(&installed));
        assert_eq!(known.put_back("{\u{201c}hooks\u{201d}: {}}"), None);
    }

    #[test]
    fn entries_in_a_form_of_the_user_are_not_replaced() {
        let installed =
            with_entries("", PROJECT_COMMAND, SettingsScope::Project, &EVENTS).unwrap().replace("150", "300");
        assert_eq!(GuardedSettings::parse(&installed).unwrap().put_back("{}"), None);
    }

    #[test]
    fn what_the_host_ignores_is_an_error() {
        for text in
            ["[]", "{\"hooks\": []}", "{\"hooks\": {\"Stop\": {}}}", "{\"hooks\": {\"PreToolUse\": [{}]}}", "{,}"]
        {
            assert!(GuardedSettings::parse(text).is_err(), "{text}");
        }
        for text in ["", "{}", "{\"hooks\": {}}", "{\"hooks\": {\"Stop\": []}}"] {
            assert_eq!(GuardedSettings::parse(text), Ok(GuardedSettings::default()), "{text}");
        }
    }

    #[test]
    fn hooks_are_switched_on_and_the_rest_stays() {
        for (text, enabled) in [
            ("{\n  \"model\": \"opus\",\n  \"disableAllHooks\": true\n}\n", Some("{\n  \"model\": \"opus\"\n}\n")),
            ("{\"disableAllHooks\": false, \"disable\\u0041llHooks\": true}", Some("{}")),
            ("{\"disableAllHooks\": true", None),
        ] {
            assert_eq!(GuardedSettings::without_disabling(text).as_deref(), enabled, "{text}");
        }
    }

    #[test]
    fn settings_that_redirect_hooks_are_listed() {
        let text = r#"{"disableAllHooks": true, "env": {"PATH": "/x", "MODEGATE_TRUST": "1", "CI": "1"}, "enabledPlugins": {"x@acme": true, "modegate@acme": true}}"#;
        let names: Vec<String> = GuardedSettings::parse(text).unwrap().others.into_keys().collect();
        assert_eq!(names, ["disableAllHooks", "enabledPlugins.modegate@acme", "env.MODEGATE_TRUST", "env.PATH"]);
    }
}
