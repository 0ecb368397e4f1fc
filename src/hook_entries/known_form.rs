//! Whether the host uses all of a settings file, as far as its form tells.
//!
//! The host drops a file, or its hooks, for a single value of the wrong type. So every setting must be known here and have a
//! value that the host takes; of a file with another one, nothing is certain.

use crate::event::EventKind;
use crate::printable::is_name;
use serde_json::Value;

/// Whether the host takes a value.
type ValueForm = fn(&Value) -> bool;

/// Settings that a project may have; those with many parts are left out.
const SETTINGS: &[(&str, ValueForm)] = &[
    ("$schema", |value| value == "https://json.schemastore.org/claude-code-settings.json"),
    ("allowedHttpHookUrls", is_texts),
    ("alwaysThinkingEnabled", Value::is_boolean),
    ("attribution", |value| has_only(value, &[("commit", Value::is_string), ("pr", Value::is_string)])),
    ("autoMemoryEnabled", Value::is_boolean),
    ("cleanupPeriodDays", |value| value.as_u64().is_some_and(|days| days > 0)),
    ("companyAnnouncements", is_texts),
    ("disableAllHooks", Value::is_boolean),
    ("disabledMcpjsonServers", is_texts),
    ("enableAllProjectMcpServers", Value::is_boolean),
    ("enabledMcpjsonServers", is_texts),
    ("enabledPlugins", is_plugins),
    ("env", is_variables),
    ("extraKnownMarketplaces", is_marketplaces),
    ("hooks", is_hooks),
    ("httpHookAllowedEnvVars", is_texts),
    ("includeCoAuthoredBy", Value::is_boolean),
    ("includeGitInstructions", Value::is_boolean),
    ("language", Value::is_string),
    ("model", Value::is_string),
    ("outputStyle", Value::is_string),
    ("permissions", is_permissions),
    ("plansDirectory", Value::is_string),
    ("prefersReducedMotion", Value::is_boolean),
    ("respectGitignore", Value::is_boolean),
    ("showThinkingSummaries", Value::is_boolean),
    ("showTurnDuration", Value::is_boolean),
    ("spinnerTipsEnabled", Value::is_boolean),
    ("statusLine", is_status_line),
];

/// The fields of a hook entry that runs a command or asks a model.
const ENTRY: &[(&str, ValueForm)] = &[
    ("type", Value::is_string),
    ("args", is_texts),
    ("async", Value::is_boolean),
    ("command", Value::is_string),
    ("if", Value::is_string),
    ("model", Value::is_string),
    ("once", Value::is_boolean),
    ("prompt", Value::is_string),
    ("statusMessage", Value::is_string),
    ("timeout", |value| value.as_f64().is_some_and(|seconds| seconds > 0.0)),
];

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
pub(super) fn dropped_for(settings: &Value) -> Option<(&'static str, &'static str)> {
    let value = |name: &str| name.split('.').try_fold(settings, |value, part| value.get(part));
    let odd = TYPES.iter().find(|(name, _, has_form)| value(name).is_some_and(|value| !has_form(value)));
    odd.map(|(name, wanted, _)| (*name, *wanted))
}

fn is_mode(value: &Value) -> bool {
    const MODES: [&str; 6] = ["acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan"];
    value.as_str().is_some_and(|mode| MODES.contains(&mode))
}

/// Whether the host uses all of a file with this content.
pub(super) fn is_known(settings: &Value) -> bool {
    has_only(settings, SETTINGS)
}

/// Whether a value is an object with no other fields than these, each in its form.
fn has_only(value: &Value, fields: &[(&str, ValueForm)]) -> bool {
    let is_known =
        |(name, value): (&String, &Value)| fields.iter().any(|(known, has_form)| known == name && has_form(value));
    value.as_object().is_some_and(|object| object.iter().all(is_known))
}

fn has_values(value: &Value, has_form: ValueForm) -> bool {
    value.as_object().is_some_and(|object| object.values().all(has_form))
}

fn is_list(value: &Value, has_form: ValueForm) -> bool {
    value.as_array().is_some_and(|list| list.iter().all(has_form))
}

fn is_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

fn is_texts(value: &Value) -> bool {
    is_list(value, is_text)
}

fn has_text(value: &Value, name: &str) -> bool {
    value.get(name).is_some_and(is_text)
}

fn is_variables(value: &Value) -> bool {
    let is_variable = |name: &String| is_name(name) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    has_values(value, Value::is_string) && value.as_object().is_some_and(|set| set.keys().all(is_variable))
}

fn is_hooks(value: &Value) -> bool {
    let is_event = |(name, groups): (&String, &Value)| EventKind::named(name).is_some() && is_list(groups, is_group);
    value.as_object().is_some_and(|events| events.iter().all(is_event))
}

fn is_group(value: &Value) -> bool {
    let entries: ValueForm = |value| is_list(value, is_entry);
    has_only(value, &[("matcher", Value::is_string), ("hooks", entries)]) && value.get("hooks").is_some()
}

fn is_entry(value: &Value) -> bool {
    let needed = match value.get("type").and_then(Value::as_str) {
        Some("command") => "command",
        Some("prompt" | "agent") => "prompt",
        _ => return false,
    };
    has_text(value, needed) && has_only(value, ENTRY)
}

fn is_permissions(value: &Value) -> bool {
    let rules: ValueForm = |value| is_list(value, is_rule);
    let mode: ValueForm =
        |value| matches!(value.as_str(), Some("acceptEdits" | "bypassPermissions" | "default" | "plan"));
    let fields = [("allow", rules), ("deny", rules), ("ask", rules)];
    let others = [("additionalDirectories", is_texts as ValueForm), ("defaultMode", mode)];
    has_only(value, &[fields.as_slice(), &others].concat())
}

/// Whether a value is a rule of a form that every host takes: some drop a file for a rule that they do not understand.
fn is_rule(value: &Value) -> bool {
    let Some(rule) = value.as_str() else { return false };
    let is_word =
        |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
    let Some((tool, specifier)) = rule.strip_suffix(')').and_then(|rule| rule.split_once('(')) else {
        let is_tool = rule.starts_with(|c: char| c.is_ascii_uppercase()) || rule.starts_with("mcp__");
        return is_tool && is_word(rule.strip_suffix("__*").unwrap_or(rule));
    };
    let is_plain =
        |text: &str| text.contains(|c| !matches!(c, '*' | '?')) && !text.contains(['(', ')']) && !text.contains(":*");
    match tool {
        "Bash" => is_plain(specifier.strip_suffix(":*").unwrap_or(specifier)),
        "Read" | "Edit" | "Write" => is_plain(specifier),
        "WebFetch" => specifier.strip_prefix("domain:").is_some_and(|domain| domain.split('.').all(is_word)),
        _ => false,
    }
}

fn is_status_line(value: &Value) -> bool {
    let fields: &[(&str, ValueForm)] =
        &[("type", |value| value == "command"), ("command", Value::is_string), ("padding", Value::is_u64)];
    has_only(value, fields) && has_text(value, "type") && has_text(value, "command")
}

fn is_plugins(value: &Value) -> bool {
    let is_plugin = |name: &String| is_name(name) && name.split('@').count() == 2;
    has_values(value, Value::is_boolean) && value.as_object().is_some_and(|plugins| plugins.keys().all(is_plugin))
}

fn is_marketplaces(value: &Value) -> bool {
    has_values(value, is_marketplace)
        && value.as_object().is_some_and(|markets| markets.keys().all(|name| is_name(name)))
}

/// Whether a value is a marketplace on GitHub; other sources have addresses that the host checks.
fn is_marketplace(value: &Value) -> bool {
    let repo: ValueForm = |repo| repo.as_str().is_some_and(|repo| is_name(repo) && repo.split('/').count() == 2);
    let fields = [("source", (|source| source == "github") as ValueForm), ("repo", repo)];
    let has_all = |source: &Value| has_text(source, "source") && has_text(source, "repo") && has_only(source, &fields);
    value.as_object().is_some_and(|market| market.len() == 1) && value.get("source").is_some_and(has_all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn usual_settings_are_known() {
        let settings = json!({
            "$schema": "https://json.schemastore.org/claude-code-settings.json",
            "model": "opus", "cleanupPeriodDays": 30, "includeCoAuthoredBy": false,
            "permissions": {"allow": ["Bash(npm run test:*)", "Edit", "mcp__github__get_issue", "WebFetch(domain:docs.rs)"], "deny": ["Read(./.env)"],
                "additionalDirectories": ["../docs"], "defaultMode": "acceptEdits"},
            "env": {"CI": "1"},
            "statusLine": {"type": "command", "command": "./line.sh", "padding": 0},
            "enabledPlugins": {"modegate@modegate": true},
            "extraKnownMarketplaces": {"modegate": {"source": {"source": "github", "repo": "a/b"}}},
            "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "bell", "timeout": 1.5}]}],
                "PostToolUse": [{"matcher": "Edit|Write", "hooks": [{"type": "prompt", "prompt": "ok?"}]}]},
        });
        assert!(is_known(&settings));
        assert!(is_known(&json!({})) && is_known(&json!({"hooks": {}})));
    }

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

    #[test]
    fn other_values_are_not_known() {
        let hooks = |groups: Value| json!({"hooks": {"Stop": groups}});
        let entry = |entry: Value| hooks(json!([{"hooks": [entry]}]));
        let rule = |rule: Value| json!({"permissions": {"allow": [rule]}});
        for settings in [
            json!(null),
            json!([]),
            json!({"hooks": []}),
            json!({"hooks": {"Bogus": []}}),
            hooks(json!({})),
            hooks(json!([{}])),
            hooks(json!([[]])),
            hooks(json!([{"matcher": 5, "hooks": []}])),
            hooks(json!([{"hooks": [], "more": 1}])),
            entry(json!({})),
            entry(json!("modegate hook")),
            entry(json!({"type": "bogus"})),
            entry(json!({"type": "command"})),
            entry(json!({"type": "command", "command": "x", "timeout": -1})),
            entry(json!({"type": "http", "url": "https://example.com"})),
            json!({"permissions": "x"}),
            json!({"permissions": {"allow": "x"}}),
            json!({"permissions": {"defaultMode": "x"}}),
            rule(json!(5)),
            rule(json!("Bash(")),
            rule(json!("Bash()")),
            rule(json!("Bash(*)")),
            rule(json!("bash")),
            rule(json!("mcp__a(b)")),
            rule(json!("Read(a:*)")),
            rule(json!("WebFetch(x)")),
            json!({"$schema": "x"}),
            json!({"enabledPlugins": {"x": true}}),
            json!({"cleanupPeriodDays": 0}),
            json!({"env": {"A": {}}}),
            json!({"env": {"A B": "1"}}),
            json!({"enabledMcpjsonServers": [""]}),
            entry(json!({"type": "command", "command": ""})),
            json!({"model": 5}),
            json!({"statusLine": {"type": "command"}}),
            json!({"extraKnownMarketplaces": {"a": {"source": {"source": "github"}}}}),
            json!({"unknown": 1}),
        ] {
            assert!(!is_known(&settings), "{settings}");
        }
    }
}
