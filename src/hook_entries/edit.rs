//! Putting our entries into a settings file, and taking them out.

use super::TIMEOUT;
use super::entry::{arguments, is_hook_call, mentions_hook_call};
use crate::event::EventKind;
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use jsonc_parser::json;
use serde_json::Value;

/// Why a settings file is left as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError {
    /// Line and column, from 1, where that can be said.
    pub place: Option<(usize, usize)>,
    /// What is wrong.
    pub why: String,
}

impl SettingsError {
    fn new(why: impl Into<String>) -> Self {
        Self { place: None, why: why.into() }
    }
}

/// The text with one entry of ours an event, calling `command`; the empty text is an empty file.
///
/// Entries that are there already stay where and as they are; one that calls modegate elsewhere is led here.
pub fn with_entries(text: &str, command: &str, events: &[EventKind]) -> Result<String, SettingsError> {
    let (mark, root) = document(text)?;
    let hooks = match root.object_value_or_set().get("hooks") {
        None => root.object_value_or_set().object_value_or_set("hooks"),
        Some(hooks) => hooks.object_value().ok_or_else(|| SettingsError::new("`hooks` is not an object"))?,
    };
    for kind in events {
        let name = kind.name();
        let groups = match hooks.get(name) {
            None => hooks.array_value_or_set(name),
            Some(groups) => {
                groups.array_value().ok_or_else(|| SettingsError::new(format!("`hooks.{name}` is not a list")))?
            }
        };
        match ours(&groups).first() {
            None if mentioned(&groups) => {}
            None => drop(groups.append(group(command, *kind))),
            Some(entry) => lead(entry, command),
        }
        take_out(&groups, 1);
    }
    let others = hooks.properties().into_iter().filter(|event| {
        let name = event.decoded_name();
        !events.iter().any(|kind| name.as_deref() == Some(kind.name()))
    });
    for event in others {
        clear(event);
    }
    Ok(format!("{mark}{root}"))
}

/// The text without any entry of ours, and without what only they had filled.
pub fn without_entries(text: &str) -> Result<String, SettingsError> {
    let (mark, root) = document(text)?;
    let Some(settings) = root.object_value() else { return Ok(text.to_owned()) };
    let Some(hooks) = settings.object_value("hooks") else { return Ok(text.to_owned()) };
    let mut any = false;
    for event in hooks.properties() {
        any |= clear(event);
    }
    if any
        && hooks.properties().is_empty()
        && let Some(hooks) = settings.get("hooks")
    {
        hooks.remove();
    }
    Ok(format!("{mark}{root}"))
}

/// Takes our entries out of an event, and the event out of the file if it had nothing else; tells whether any was.
fn clear(event: CstObjectProp) -> bool {
    let Some(groups) = event.array_value() else { return false };
    let had = take_out(&groups, 0);
    if had && groups.elements().is_empty() {
        event.remove();
    }
    had
}

/// The file as a tree that keeps every space, behind its byte order mark.
fn document(text: &str) -> Result<(&str, CstRootNode), SettingsError> {
    let (mark, text) = text.strip_prefix('\u{feff}').map_or(("", text), |rest| ("\u{feff}", rest));
    if !text.trim().is_empty() {
        // As strict as the host, which passes over a file with a comment or a trailing comma in silence.
        let value: Value = serde_json::from_str(text).map_err(|error| broken(&error, text))?;
        if !value.is_object() {
            return Err(SettingsError::new("it is JSON, but not an object"));
        }
    }
    let odd = |_| SettingsError::new("it is not JSON");
    let root = CstRootNode::parse(text, &ParseOptions::default()).map_err(odd)?;
    let twice = |object: &CstObject, name: &str| {
        let named = object.properties().into_iter().filter(|own| own.decoded_name().as_deref() == Some(name));
        named.count() > 1
    };
    if let Some(settings) = root.object_value() {
        if twice(&settings, "hooks") {
            return Err(SettingsError::new("the key `hooks` is there twice"));
        }
        let hooks = settings.object_value("hooks");
        let names = hooks.iter().flat_map(CstObject::properties).filter_map(|event| event.decoded_name());
        if let Some(name) = names.collect::<Vec<_>>().iter().find(|name| hooks.as_ref().is_some_and(|h| twice(h, name)))
        {
            return Err(SettingsError::new(format!("the key `hooks.{name}` is there twice")));
        }
    }
    Ok((mark, root))
}

fn broken(error: &serde_json::Error, text: &str) -> SettingsError {
    let said = error.to_string();
    let why = said.split(" at line ").next().unwrap_or_default();
    let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default().trim_start();
    let comment = line.starts_with("//") || line.starts_with("/*");
    let why = if comment {
        "a comment, which JSON does not have and for which Claude Code passes over the whole file".to_owned()
    } else {
        format!("{why}, so Claude Code passes over the whole file")
    };
    SettingsError { place: Some((error.line(), error.column())), why }
}

/// The entries of an event that call modegate.
fn ours(groups: &CstArray) -> Vec<CstObject> {
    groups.elements().iter().filter_map(entries).flat_map(|entries| own(&entries)).collect()
}

fn entries(group: &CstNode) -> Option<CstArray> {
    group.as_object()?.array_value("hooks")
}

fn own(entries: &CstArray) -> Vec<CstObject> {
    entries.elements().iter().filter_map(CstNode::as_object).filter(is_ours).collect()
}

/// Whether somebody calls modegate in a way of their own.
fn mentioned(groups: &CstArray) -> bool {
    let entries =
        groups.elements().iter().filter_map(entries).flat_map(|entries| entries.elements()).collect::<Vec<_>>();
    let command = |entry: &CstNode| entry.as_object()?.get("command")?.value()?.as_string_lit()?.decoded_value().ok();
    entries.iter().filter_map(command).any(|line| mentions_hook_call(&line))
}

fn is_ours(entry: &CstObject) -> bool {
    let text = |node: CstNode| node.as_string_lit()?.decoded_value().ok();
    let command = entry.get("command").and_then(|own| text(own.value()?)).unwrap_or_default();
    let args: Option<Vec<String>> =
        entry.array_value("args").map(|args| args.elements().into_iter().filter_map(text).collect());
    let args: Option<Vec<&str>> = args.as_ref().map(|args| args.iter().map(String::as_str).collect());
    is_hook_call(&command, args.as_deref())
}

/// Lets an entry of ours call `command`; whatever else it says was somebody's wish.
fn lead(entry: &CstObject, command: &str) {
    let is_there =
        |own: &CstNode| own.as_string_lit().and_then(|text| text.decoded_value().ok()).as_deref() == Some(command);
    let Some(own) = entry.get("command") else { return };
    let line = own.value().and_then(|text| text.as_string_lit()?.decoded_value().ok()).unwrap_or_default();
    if !own.value().as_ref().is_some_and(is_there) {
        own.set_value(CstInputValue::String(command.to_owned()));
    }
    if entry.get("args").is_none() {
        let words = arguments(&line).into_iter().map(|word| CstInputValue::String(word.to_owned()));
        entry.insert(own.property_index() + 1, "args", CstInputValue::Array(words.collect()));
    }
}

/// Removes the entries of ours but the first `kept`, and the groups that had nothing else; tells whether any was.
fn take_out(groups: &CstArray, mut kept: usize) -> bool {
    let mut any = false;
    for group in groups.elements() {
        let Some(entries) = entries(&group) else { continue };
        let own = own(&entries);
        let stay = own.len().min(kept);
        kept -= stay;
        let had = own.len() > stay;
        own.into_iter().skip(stay).for_each(CstObject::remove);
        if had && entries.elements().is_empty() {
            group.remove();
        }
        any |= had;
    }
    any
}

/// Our entry for an event. A hook that cannot be started must not go unnoticed: then the host refuses what a person
/// typed to begin a mode, and says why; everything else goes on, for a colleague without the program has to work.
fn group(command: &str, kind: EventKind) -> CstInputValue {
    if kind == EventKind::UserPromptExpansion {
        return json!({"hooks": [{"type": "command", "command": command, "args": ["hook"], "timeout": TIMEOUT, "onFailure": "block"}]});
    }
    json!({"hooks": [{"type": "command", "command": command, "args": ["hook"], "timeout": TIMEOUT}]})
}
