//! The host's schema of settings: for which values it drops a whole file, or all of its hooks.

use super::SettingsError;
use super::edit::quoted;
use crate::host::event::EventKind;
use serde_json::Value;

type ValueForm = fn(&Value) -> bool;

/// Settings for which the host drops the whole file if the value has another type, as measured with 2.1.325.
const TYPES: &[(&str, &str, ValueForm)] = &[
    ("$schema", "text", Value::is_string),
    ("alwaysThinkingEnabled", "true or false", Value::is_boolean),
    ("attribution", "an object", Value::is_object),
    ("cleanupPeriodDays", "a number above 0", |value| value.as_f64().is_some_and(|days| days > 0.0)),
    ("disableAllHooks", "true or false", Value::is_boolean),
    ("enableAllProjectMcpServers", "true or false", Value::is_boolean),
    ("enabledPlugins", "an object", Value::is_object),
    ("env", "an object", Value::is_object),
    ("includeCoAuthoredBy", "true or false", Value::is_boolean),
    ("language", "text", Value::is_string),
    ("model", "text", Value::is_string),
    ("outputStyle", "text", Value::is_string),
    ("permissions", "an object", Value::is_object),
    ("permissions.additionalDirectories", "a list", Value::is_array),
    ("permissions.allow", "a list", Value::is_array),
    ("permissions.ask", "a list", Value::is_array),
    ("permissions.defaultMode", "a permission mode", is_mode),
    ("permissions.deny", "a list", Value::is_array),
    ("plansDirectory", "text", Value::is_string),
    ("respectGitignore", "true or false", Value::is_boolean),
    ("spinnerTipsEnabled", "true or false", Value::is_boolean),
    ("statusLine", "an object with the type `command`", |value| {
        value.get("type").is_some_and(|kind| kind == "command")
    }),
];

/// The first setting for which the host drops the whole file, and the type that it must have.
fn dropped_for(settings: &Value) -> Option<(&'static str, &'static str)> {
    let value = |name: &str| name.split('.').try_fold(settings, |value, part| value.get(part));
    let odd = TYPES.iter().find(|(name, _, has_form)| value(name).is_some_and(|value| !has_form(value)));
    odd.map(|(name, wanted, _)| (*name, *wanted))
}

fn is_mode(value: &Value) -> bool {
    const MODES: [&str; 6] = ["acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan"];
    value.as_str().is_some_and(|mode| MODES.contains(&mode))
}

/// Checks what makes the host ignore all hooks of a file.
pub(super) fn check_schema(settings: &Value) -> Result<(), SettingsError> {
    if let Some((setting, wanted)) = dropped_for(settings) {
        return Err(SettingsError::WrongType { setting, wanted });
    }
    let Some(hooks) = settings.get("hooks") else { return Ok(()) };
    let hooks = hooks.as_object().ok_or(SettingsError::NotAnObject("`hooks`"))?;
    for (event, groups) in hooks {
        let groups = groups.as_array().ok_or_else(|| SettingsError::NotAList(quoted(event).to_owned()))?;
        let has_entries = |group: &Value| group.get("hooks").is_some_and(Value::is_array);
        let odd = groups.iter().position(|group| !has_entries(group));
        if let Some(at) = odd.filter(|_| matches!(event.as_str(), "PreToolUse" | "PermissionRequest")) {
            return Err(SettingsError::NotAList(format!("{event}[{at}].hooks")));
        }
    }
    Ok(())
}

/// Whether the host is certain to run the hooks of a file: it knows their events, and no entry is malformed.
pub(super) fn is_used(settings: &Value) -> bool {
    let mut events = settings.get("hooks").and_then(Value::as_object).into_iter().flatten();
    let is_fine = |(event, groups): (&String, &Value)| EventKind::named(event).is_some() && malformed(groups).is_none();
    check_schema(settings).is_ok() && events.all(is_fine)
}

pub fn malformed(groups: &Value) -> Option<&'static str> {
    let Some(groups) = groups.as_array() else { return Some("it is not a list") };
    groups.iter().find_map(|group| {
        if group.get("matcher").is_some_and(|matcher| !matcher.is_string()) {
            return Some("a `matcher` is not text");
        }
        let Some(entries) = group.get("hooks").and_then(Value::as_array) else {
            return Some("a group has no list `hooks`");
        };
        entries.iter().find_map(|entry| {
            let text = |name: &str| entry.get(name).and_then(Value::as_str);
            let bad_timeout = |time: &Value| time.as_f64().is_none_or(|time| time <= 0.0);
            match text("type") {
                None => Some("an entry has no `type`"),
                Some("command") if text("command").is_none() => Some("a `command` entry has no `command`"),
                _ if entry.get("args").is_some_and(|args| !args.is_array()) => Some("`args` is not a list"),
                _ if entry.get("timeout").is_some_and(bad_timeout) => Some("a `timeout` is not a number of seconds"),
                _ => None,
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_wrong_type_drops_the_file() {
        let dropped = |settings: Value| dropped_for(&settings).map(|(name, _)| name);
        assert_eq!(dropped(json!({"model": 7})), Some("model"));
        assert_eq!(dropped(json!({"env": null})), Some("env"));
        assert_eq!(dropped(json!({"permissions": {"allow": "x"}})), Some("permissions.allow"));
        assert_eq!(dropped(json!({"permissions": {"defaultMode": "x"}})), Some("permissions.defaultMode"));
        assert_eq!(dropped(json!({"statusLine": {"type": "x"}})), Some("statusLine"));
        // The host leaves out the part, or does not know the setting.
        for settings in [json!({"permissions": {"allow": [1]}}), json!({"env": {"X": [1]}}), json!({"new": {"a": 1}})] {
            assert_eq!(dropped(settings), None);
        }
    }
}
