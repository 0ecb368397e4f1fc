//! Whether a tool call changes modegate's hook entries in a settings file.

use super::{GuardedSettings, HookEntry, entries_in, guarded, settings_value};
use crate::host::event::Event;
use serde_json::Value;

/// The largest file of settings whose change is predicted, in bytes.
const LARGEST: usize = 1024 * 1024;

/// A tool call whose input does not show what it makes of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("its change to the settings cannot be predicted")]
pub(crate) struct UnpredictableEdit;

/// Whether a tool call changes our entries in a settings file with the text `before`.
pub(crate) fn changes_entries(event: &Event, before: &str) -> Result<bool, UnpredictableEdit> {
    let after = after(event, before).ok_or(UnpredictableEdit)?;
    let (own_before, own_after) = (own(before), own(&after));
    // The host drops a file that it cannot use, with the entries in it.
    let is_dropped = || !own_after.is_empty() && GuardedSettings::parse(&after).is_err();
    Ok(own_before != own_after || is_dropped())
}

fn after(event: &Event, before: &str) -> Option<String> {
    if let Some(content) = event.input("content").or_else(|| event.input("file_text")) {
        return Some(content.to_owned());
    }
    event.fields.get("tool_input")?;
    let mut text = before.to_owned();
    for edit in event.edits() {
        let part = |name: &str| edit.get(name).and_then(Value::as_str);
        let (old, new) = (part("old_string")?, part("new_string")?);
        let all = edit.get("replace_all").and_then(Value::as_bool) == Some(true);
        let times = if all { text.matches(old).count() } else { 1 };
        // The host would not read so large a file as settings.
        if text.len().saturating_add(times.saturating_mul(new.len())) > LARGEST {
            return None;
        }
        text = if all { text.replace(old, new) } else { text.replacen(old, new, 1) };
    }
    Some(text)
}

/// Our entries of a settings file, with their events; none if the file does not parse.
fn own(text: &str) -> Vec<String> {
    let value = settings_value(text);
    let own = entries_in(&value).into_iter().filter(HookEntry::is_ours);
    let mut own: Vec<String> =
        own.map(|handler| format!("{} {:?} {}", handler.event, handler.matcher, handler.entry)).collect();
    let off = value.get("disableAllHooks").and_then(Value::as_bool) == Some(true);
    own.extend(off.then(|| "disableAllHooks".to_owned()));
    // People do extend `PATH`; its change is reported at the next prompt.
    let variables = guarded::others(&value).into_iter();
    let is_guarded = |name: &str| name.starts_with("env.") || name.starts_with("enabledPlugins.");
    let variables = variables.filter(|(name, _)| is_guarded(name) && name != "env.PATH");
    own.extend(variables.map(|(name, value)| format!("{name}={value}")));
    own.sort_unstable();
    own
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_line_of_the_plugin_counts_as_an_entry() {
        let before = r#"{"model": "opus", "enabledPlugins": {"modegate@acme": true, "x@acme": true}}"#;
        let change = |old: &str, new: &str| {
            let input = json!({"file_path": ".claude/settings.json", "old_string": old, "new_string": new});
            let event =
                json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Edit", "tool_input": input});
            changes_entries(&Event::parse(event.to_string().as_bytes()).unwrap(), before)
        };
        assert_eq!(change("\"modegate@acme\": true", "\"modegate@acme\": false"), Ok(true));
        assert_eq!(change("\"modegate@acme\": true, ", ""), Ok(true));
        assert_eq!(change("\"x@acme\": true", "\"x@acme\": false"), Ok(false));
        assert_eq!(change("opus", "haiku"), Ok(false));
        assert_eq!(change("\"model\": \"opus\"", "\"hooks\": {\"Stop\": 5}"), Ok(true));
    }
}
