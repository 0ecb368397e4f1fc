//! Edits the syntax tree of a settings file.

use super::entry::mentions_hook_call;
use super::launcher;
use super::{HookEntry, SettingsScope, TIMEOUT};
use crate::host::event::EventKind;
use base::printable::is_name;
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use jsonc_parser::json;
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    #[error("{reason}, so Claude Code ignores the whole file")]
    Syntax {
        reason: String,
        /// Line and column, from 1.
        place: (usize, usize),
    },
    /// The top level, or `hooks`, is not an object.
    #[error("{0} is not a JSON object")]
    NotAnObject(&'static str),
    #[error("`hooks.{0}` is not a list")]
    NotAList(String),
    /// A setting has a value for which the host drops the file.
    #[error("`{setting}` is not {wanted}, so Claude Code ignores the whole file")]
    WrongType { setting: &'static str, wanted: &'static str },
    #[error("the file cannot be edited without breaking it")]
    NotEditable,
    #[error("the key `{0}` appears twice")]
    DuplicateKey(String),
}

impl SettingsError {
    pub fn place(&self) -> Option<(usize, usize)> {
        match self {
            Self::Syntax { place, .. } => Some(*place),
            _ => None,
        }
    }

    /// The place as text to put behind the message; empty without one.
    pub fn position(&self) -> String {
        self.place().map(|(line, column)| format!(" (line {line}, column {column})")).unwrap_or_default()
    }
}

/// The text with one entry per event that calls `program`; an empty text is an empty file.
///
/// Existing entries of modegate keep their place, their arguments and their other keys; only their command is
/// updated. A project's file may come from others: its entries count only if they are certain to call modegate for every
/// event.
pub fn with_entries(
    text: &str,
    program: &str,
    scope: SettingsScope,
    events: &[EventKind],
) -> Result<String, SettingsError> {
    let (mark, root) = document(text)?;
    let hooks = match root.object_value_or_set().get("hooks") {
        None => root.object_value_or_set().object_value_or_set("hooks"),
        Some(hooks) => hooks.object_value().ok_or(SettingsError::NotAnObject("`hooks`"))?,
    };
    for kind in events {
        let name = kind.name();
        let groups = match hooks.get(name) {
            None => hooks.array_value_or_set(name),
            Some(groups) => groups.array_value().ok_or_else(|| SettingsError::NotAList(name.to_owned()))?,
        };
        if scope.is_of_project() {
            remove_entries(&groups, |group, entry| !is_unrestricted(group, entry, *kind));
        }
        match ours(&groups).first() {
            None if !scope.is_of_project() && has_custom_call(&groups) => {}
            None => drop(groups.append(group(program, *kind))),
            Some(entry) => set_command(entry, program, *kind),
        }
        let mut is_first = true;
        remove_entries(&groups, |_, _| !std::mem::take(&mut is_first));
    }
    let others = hooks.properties().into_iter().filter(|event| {
        let name = event.decoded_name();
        !events.iter().any(|kind| name.as_deref() == Some(kind.name()))
    });
    for event in others {
        clear(event);
    }
    finished(mark, &root)
}

/// The text without modegate's entries, and without the groups and keys they leave empty.
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
    finished(mark, &root)
}

/// Whether a settings file that can be edited has entries of modegate.
pub fn has_entries(text: &str) -> bool {
    without_entries(text).is_ok_and(|without| without != text)
}

/// The text without a setting of the top level, however often it has it.
pub(super) fn without_setting(text: &str, name: &str) -> Result<String, SettingsError> {
    let (mark, root) = document(text)?;
    let properties = root.object_value().into_iter().flat_map(|settings| settings.properties());
    for property in properties.filter(|own| own.decoded_name().as_deref() == Some(name)).collect::<Vec<_>>() {
        property.remove();
    }
    finished(mark, &root)
}

/// The text of an edited file, which must be JSON for the host: the editor also reads what is not.
fn finished(mark: &str, root: &CstRootNode) -> Result<String, SettingsError> {
    let text = root.to_string();
    let is_json = is_blank(&text) || serde_json::from_str::<Value>(&text).is_ok_and(|value| value.is_object());
    if is_json { Ok(format!("{mark}{text}")) } else { Err(SettingsError::NotEditable) }
}

/// Whether a text has only what JSON calls whitespace.
fn is_blank(text: &str) -> bool {
    text.chars().all(|c| matches!(c, ' ' | '\t' | '\n' | '\r'))
}

/// Removes modegate's entries from an event, and the event if it is empty then; returns whether there were any.
fn clear(event: CstObjectProp) -> bool {
    let Some(groups) = event.array_value() else { return false };
    let had = remove_entries(&groups, |_, _| true);
    if had && groups.elements().is_empty() {
        event.remove();
    }
    had
}

/// The byte order mark, and the syntax tree of the rest with all whitespace.
fn document(text: &str) -> Result<(&str, CstRootNode), SettingsError> {
    let (mark, text) = text.strip_prefix('\u{feff}').map_or(("", text), |rest| ("\u{feff}", rest));
    if !is_blank(text) {
        // As strict as the host, which silently ignores a file with a comment or a trailing comma.
        let value: Value = serde_json::from_str(text).map_err(|error| syntax_error(&error, text))?;
        if !value.is_object() {
            return Err(SettingsError::NotAnObject("the file"));
        }
    }
    let invalid = |_| SettingsError::NotAnObject("the file");
    let root = CstRootNode::parse(text, &ParseOptions::default()).map_err(invalid)?;
    let twice = |object: &CstObject, name: &str| {
        let named = object.properties().into_iter().filter(|own| own.decoded_name().as_deref() == Some(name));
        named.count() > 1
    };
    if let Some(settings) = root.object_value() {
        if twice(&settings, "hooks") {
            return Err(SettingsError::DuplicateKey("hooks".to_owned()));
        }
        let hooks = settings.object_value("hooks");
        let names = hooks.iter().flat_map(CstObject::properties).filter_map(|event| event.decoded_name());
        if let Some(name) = names.collect::<Vec<_>>().iter().find(|name| hooks.as_ref().is_some_and(|h| twice(h, name)))
        {
            return Err(SettingsError::DuplicateKey(format!("hooks.{}", quoted(name))));
        }
    }
    Ok((mark, root))
}

/// The name of an event as an error quotes it: the model may read the error.
pub(super) fn quoted(event: &str) -> &str {
    if is_name(event) { event } else { "…" }
}

fn syntax_error(error: &serde_json::Error, text: &str) -> SettingsError {
    // Outside a string, JSON has no slash.
    let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
    let is_comment = line.as_bytes().get(error.column().saturating_sub(1)) == Some(&b'/');
    let message = error.to_string();
    let reason = if is_comment {
        "comments are not allowed in JSON"
    } else {
        message.split(" at line ").next().unwrap_or_default()
    };
    SettingsError::Syntax { reason: reason.to_owned(), place: (error.line(), error.column()) }
}

fn ours(groups: &CstArray) -> Vec<CstObject> {
    groups.elements().iter().filter_map(entries).flat_map(|entries| own(&entries)).collect()
}

fn entries(group: &CstNode) -> Option<CstArray> {
    group.as_object()?.array_value("hooks")
}

fn own(entries: &CstArray) -> Vec<CstObject> {
    entries.elements().iter().filter_map(CstNode::as_object).filter(is_ours).collect()
}

/// An entry as the host reads it.
fn value(object: &CstObject) -> Value {
    serde_json::from_str(&object.to_string()).unwrap_or_default()
}

/// Whether the user calls modegate in their own shell line.
fn has_custom_call(groups: &CstArray) -> bool {
    let entries =
        groups.elements().iter().filter_map(entries).flat_map(|entries| entries.elements()).collect::<Vec<_>>();
    let entries = entries.iter().filter_map(CstNode::as_object).map(|entry| value(&entry));
    entries.filter_map(|entry| Some(entry.get("command")?.as_str()?.to_owned())).any(|line| mentions_hook_call(&line))
}

fn is_ours(entry: &CstObject) -> bool {
    HookEntry { event: "", matcher: None, entry: &value(entry) }.is_ours()
}

/// Whether an entry of a group gets every event of its kind and decides it in the session's own project.
fn is_unrestricted(group: &CstNode, entry: &CstObject, kind: EventKind) -> bool {
    // Of two equal keys, the host uses the last, and the editor the first.
    let value = |object: &CstObject| {
        Some(value(object)).filter(|value| value.as_object().is_some_and(|own| own.len() == object.properties().len()))
    };
    let (Some(group), Some(entry)) = (group.as_object().as_ref().and_then(value), value(entry)) else { return false };
    let matcher = group.get("matcher").map(Value::as_str);
    let entry = HookEntry { event: kind.name(), matcher: matcher.flatten(), entry: &entry };
    matcher != Some(None) && entry.is_unrestricted() && entry.has_known_arguments()
}

/// Makes an entry call `program` in the present form; its other keys are the user's choice.
fn set_command(entry: &CstObject, program: &str, kind: EventKind) {
    let before = value(entry);
    let before = HookEntry { event: kind.name(), matcher: None, entry: &before };
    let (command, new_args) = launcher::call(program, &before.arguments(), kind);
    let Some(own) = entry.get("command") else { return };
    if before.command() != Some(&command) {
        own.set_value(CstInputValue::String(command));
    }
    match (entry.get("args"), new_args) {
        (Some(old), None) => {
            old.remove();
            // Written by an earlier version, with `args`: a missing program blocked typed commands.
            if kind == EventKind::UserPromptExpansion
                && let Some(failure) = entry.get("onFailure")
            {
                failure.remove();
            }
        }
        (None, Some(args)) => drop(entry.insert(own.property_index() + 1, "args", texts(args))),
        (Some(old), Some(new)) if before.args().is_none_or(|args| args != new) => old.set_value(texts(new)),
        _ => {}
    }
    if entry.get("timeout").is_none() {
        entry.append("timeout", CstInputValue::Number(TIMEOUT.to_string()));
    }
    if entry.get("statusMessage").is_none() {
        entry.append("statusMessage", CstInputValue::String(STATUS_MESSAGE.to_owned()));
    }
}

/// Removes the entries of modegate that `is_removed` picks, and groups left empty; returns whether there were any.
fn remove_entries(groups: &CstArray, mut is_removed: impl FnMut(&CstNode, &CstObject) -> bool) -> bool {
    let mut any = false;
    for group in groups.elements() {
        let Some(entries) = entries(&group) else { continue };
        let removed: Vec<CstObject> = own(&entries).into_iter().filter(|entry| is_removed(&group, entry)).collect();
        let had = !removed.is_empty();
        removed.into_iter().for_each(CstObject::remove);
        if had && entries.elements().is_empty() {
            group.remove();
        }
        any |= had;
    }
    any
}

fn group(program: &str, kind: EventKind) -> CstInputValue {
    let (command, args) = launcher::call(program, "hook", kind);
    let mut entry = vec![("type".to_owned(), json!("command")), ("command".to_owned(), json!(command))];
    entry.extend(args.map(|args| ("args".to_owned(), texts(args))));
    entry.extend([("timeout".to_owned(), json!(TIMEOUT)), ("statusMessage".to_owned(), json!(STATUS_MESSAGE))]);
    let entries = CstInputValue::Array(vec![CstInputValue::Object(entry)]);
    CstInputValue::Object(vec![("hooks".to_owned(), entries)])
}

fn texts(words: Vec<String>) -> CstInputValue {
    CstInputValue::Array(words.into_iter().map(CstInputValue::String).collect())
}

/// The name of the hook while it runs, and in what the model reads about a blocked stop, instead of the whole command.
const STATUS_MESSAGE: &str = "modegate";
