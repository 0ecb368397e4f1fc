//! Whether a tool would change modegate's hook entries in a settings file.

use super::tool_effects::Links;
use crate::event::Event;
use crate::hook_entries::{HookEntry, entries_in};
use crate::paths::lexical;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The settings file in which the tool would change our hook entries.
pub(super) fn changed(event: &Event, home: &Path, cwd: &Path) -> Result<Option<String>, String> {
    let read = |path: &Path| Ok(std::fs::read_to_string(path).unwrap_or_default());
    changed_of(event, &settings(home), cwd, Links::Followed, read)
}

/// The same for given settings files, which `read` reads.
///
/// # Errors
///
/// A clause that says why it cannot be told.
pub fn changed_of(
    event: &Event,
    settings: &[PathBuf],
    cwd: &Path,
    links: Links,
    read: impl Fn(&Path) -> Result<String, String>,
) -> Result<Option<String>, String> {
    let Some(path) = event.path() else { return Ok(None) };
    let path = links.real(&lexical(&cwd.join(path)));
    if !settings.iter().any(|own| links.real(own) == path) {
        return Ok(None);
    }
    let before = read(&path)?;
    let after = after(event, &before).ok_or("what it writes to the settings cannot be told")?;
    Ok((own(&before) != own(&after)).then(|| path.to_string_lossy().into_owned()))
}

fn settings(home: &Path) -> Vec<PathBuf> {
    let folder = home.join(".claude");
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let user = variable("CLAUDE_CONFIG_DIR").or_else(|| variable("HOME").map(|home| home.join(".claude")));
    let own = [folder.join("settings.json"), folder.join("settings.local.json")];
    own.into_iter().chain(user.map(|user| user.join("settings.json"))).collect()
}

/// The file as the tool would leave it.
fn after(event: &Event, before: &str) -> Option<String> {
    if let Some(content) = event.input("content").or_else(|| event.input("file_text")) {
        return Some(content.to_owned());
    }
    let input = event.fields.get("tool_input")?;
    let edits = match input.get("edits").and_then(Value::as_array) {
        Some(edits) => edits.iter().collect(),
        None => vec![input],
    };
    let mut text = before.to_owned();
    for edit in edits {
        let part = |name: &str| edit.get(name).and_then(Value::as_str);
        let (old, new) = (part("old_string")?, part("new_string")?);
        let all = edit.get("replace_all").and_then(Value::as_bool) == Some(true);
        text = if all { text.replace(old, new) } else { text.replacen(old, new, 1) };
    }
    Some(text)
}

/// Our entries of a settings file, with their events; none if the file does not parse.
fn own(text: &str) -> Vec<String> {
    let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default();
    let own = entries_in(&value).into_iter().filter(HookEntry::is_ours);
    let mut own: Vec<String> =
        own.map(|handler| format!("{} {:?} {}", handler.event, handler.matcher, handler.entry)).collect();
    let off = value.get("disableAllHooks").and_then(Value::as_bool) == Some(true);
    own.extend(off.then(|| "disableAllHooks".to_owned()));
    own.sort();
    own
}
