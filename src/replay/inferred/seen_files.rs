//! The files that a session has shown, and their content after a tool call.

use super::text;
use crate::host::event::Event;
use serde_json::Value;
use shell_effects::{Effect, FileEffect};
use std::collections::BTreeMap;

/// Files by their absolute paths; nothing is known about any other.
#[derive(Debug, Default)]
pub(super) struct SeenFiles(pub(super) BTreeMap<String, SeenFile>);

/// A file as it was last seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SeenFile {
    pub state: SeenContent,
    /// The time of the last known change in milliseconds.
    pub modified: i64,
    /// The agent that wrote the content.
    pub writer: Option<String>,
}

/// The content of a file when it was last seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SeenContent {
    /// This content.
    Full(String),
    /// Some content.
    There,
    /// The file does not exist.
    Gone,
}

impl SeenFile {
    pub(super) fn new(state: SeenContent, modified: i64, writer: Option<String>) -> Self {
        Self { state, modified, writer }
    }
}

impl From<Option<String>> for SeenContent {
    fn from(content: Option<String>) -> Self {
        content.map_or(Self::There, Self::Full)
    }
}

impl SeenFiles {
    pub(super) fn content(&self, path: &str) -> Option<&str> {
        match &self.0.get(path)?.state {
            SeenContent::Full(content) => Some(content),
            _ => None,
        }
    }

    /// Adds a file that was read, completely or in part; its writer stays if the content may be the same.
    pub(super) fn add_read(&mut self, path: String, content: Option<String>, now: i64) {
        let is_same = match (self.0.get(&path).map(|known| &known.state), &content) {
            // Some hosts show a file without its last newline.
            (Some(SeenContent::Full(known)), Some(new)) => known.trim_end_matches('\n') == new.trim_end_matches('\n'),
            (Some(known), None) => *known != SeenContent::Gone,
            _ => false,
        };
        if !is_same {
            self.0.insert(path, SeenFile::new(content.into(), now, None));
        }
    }

    pub(super) fn forget_changed(&mut self, changes: &[FileEffect]) {
        let changes: Vec<&FileEffect> = changes.iter().filter(|change| changes_content(change)).collect();
        self.0.retain(|path, _| changes.iter().all(|change| change.hits(path).is_none()));
    }
}

fn changes_content(change: &FileEffect) -> bool {
    !matches!(change.effect, Effect::Mode | Effect::Own | Effect::Send)
}

/// The content after a tool call where that is certain; `before` is the known content.
pub(super) fn written_content(event: &Event, before: Option<&str>) -> Option<String> {
    let response = event.response().unwrap_or(&Value::Null);
    match event.tool()? {
        "Write" => text(response, "/content").or_else(|| event.input("content")).map(str::to_owned),
        "NotebookEdit" => text(response, "/updated_file").map(str::to_owned),
        "Edit" | "MultiEdit" => {
            // The user changed the edit before it was made.
            let is_changed = is_set(response, "userModified");
            let original = text(response, "/originalFile").or_else(|| text(response, "/originalFileContents"));
            // An edit that replaces nothing creates the file.
            let created = (event.input("old_string") == Some("")).then_some("");
            let before = original.or(before).or(created)?;
            event
                .edits()
                .into_iter()
                .try_fold(before.to_owned(), |text, edit| edited(&text, edit))
                .filter(|_| !is_changed)
        }
        _ => None,
    }
}

/// A text after one edit; `None` where the host may have done something else.
fn edited(before: &str, edit: &Value) -> Option<String> {
    let (old, new) = (text(edit, "/old_string")?, text(edit, "/new_string")?);
    if old.is_empty() {
        return before.is_empty().then(|| new.to_owned());
    }
    // The host removes the newline with the last text of a line.
    let removes_line = new.is_empty() && !old.ends_with('\n') && before.contains(&format!("{old}\n"));
    if !before.contains(old) || removes_line {
        return None;
    }
    Some(if is_set(edit, "replace_all") { before.replace(old, new) } else { before.replacen(old, new, 1) })
}

/// The content of a file that was read completely.
pub(super) fn read_content(event: &Event) -> Option<String> {
    let file = event.response()?.get("file")?;
    let number = |name: &str| file.get(name).and_then(Value::as_u64);
    let lines = number("numLines").filter(|_| number("startLine") == Some(1));
    text(file, "/content").filter(|_| lines.is_some() && lines == number("totalLines")).map(str::to_owned)
}

/// The files that a command changed according to the host; for a new one with its content.
pub(super) fn changed_by_command(event: &Event) -> Vec<(String, Option<String>)> {
    let diff = event.response().and_then(|response| response.get("bashEditDiff"));
    let files = diff.and_then(|diff| diff.get("files")?.as_array()).map(Vec::as_slice).unwrap_or_default();
    let is_of = |file: &Value, path: &str| text(file, "/filePath") == Some(path);
    let is_deleted = |path: &str| files.iter().any(|file| is_of(file, path) && is_set(file, "deleted"));
    let content = |path: &str| files.iter().find(|file| is_of(file, path)).and_then(created_content);
    let changed = event.edited().into_iter().filter(|path| !is_deleted(path));
    changed.map(|path| (path.to_owned(), content(path))).collect()
}

fn is_set(value: &Value, name: &str) -> bool {
    value.get(name).and_then(Value::as_bool) == Some(true)
}

/// The content of a file that did not exist before: the lines of its only hunk.
fn created_content(file: &Value) -> Option<String> {
    let [hunk] = file.get("hunks").filter(|_| is_set(file, "created"))?.as_array()?.as_slice() else { return None };
    let lines: Option<Vec<&str>> =
        hunk.get("lines")?.as_array()?.iter().map(|line| line.as_str()?.strip_prefix('+')).collect();
    let lines =
        lines.filter(|lines| hunk.get("newLines").and_then(Value::as_u64) == u64::try_from(lines.len()).ok())?;
    Some(lines.into_iter().flat_map(|line| [line, "\n"]).collect())
}
