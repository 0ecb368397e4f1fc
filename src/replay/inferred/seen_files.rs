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

impl SeenFiles {
    pub(super) fn content(&self, path: &str) -> Option<&str> {
        match &self.0.get(path)?.state {
            SeenContent::Full(content) => Some(content),
            _ => None,
        }
    }

    pub(super) fn wrote(&mut self, path: String, content: Option<String>, now: i64, writer: Option<String>) {
        let state = content.map_or(SeenContent::There, SeenContent::Full);
        self.0.insert(path, SeenFile { state, modified: now, writer });
    }

    /// Notes that a file was read completely; its writer stays if the content is the same.
    pub(super) fn saw(&mut self, path: String, content: String, now: i64) {
        // Some hosts show a file without its last newline.
        let same =
            self.content(&path).is_some_and(|known| known.trim_end_matches('\n') == content.trim_end_matches('\n'));
        if !same {
            self.0.insert(path, SeenFile { state: SeenContent::Full(content), modified: now, writer: None });
        }
    }

    /// Notes that a file was read in part.
    pub(super) fn met(&mut self, path: String, now: i64) {
        let there = SeenFile { state: SeenContent::There, modified: now, writer: None };
        let known = self.0.entry(path).or_insert_with(|| there.clone());
        if known.state == SeenContent::Gone {
            *known = there;
        }
    }

    pub(super) fn gone(&mut self, path: String) {
        self.0.insert(path, SeenFile { state: SeenContent::Gone, modified: 0, writer: None });
    }

    /// Forgets files that a command may change.
    pub(super) fn touched(&mut self, touches: &[FileEffect]) {
        let changes = |change: &&FileEffect| !matches!(change.effect, Effect::Mode | Effect::Own | Effect::Send);
        self.0.retain(|path, _| touches.iter().filter(changes).all(|change| change.hits(path).is_none()));
    }
}

/// The content after a tool call where that is certain; `before` is the known content.
pub(super) fn content(event: &Event, before: Option<&str>) -> Option<String> {
    let response = event.response().unwrap_or(&Value::Null);
    match event.tool()? {
        "Write" => text(response, "/content").or_else(|| event.input("content")).map(str::to_owned),
        "NotebookEdit" => text(response, "/updated_file").map(str::to_owned),
        "Edit" | "MultiEdit" => {
            // The user changed the edit before it was made.
            let changed = response.get("userModified").and_then(Value::as_bool) == Some(true);
            let original = text(response, "/originalFile").or_else(|| text(response, "/originalFileContents"));
            // An edit that replaces nothing creates the file.
            let created = (event.input("old_string") == Some("")).then_some("");
            let before = original.or(before).or(created)?;
            event.edits().into_iter().try_fold(before.to_owned(), |text, edit| edited(&text, edit)).filter(|_| !changed)
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
    let line_goes = new.is_empty() && !old.ends_with('\n') && before.contains(&format!("{old}\n"));
    if !before.contains(old) || line_goes {
        return None;
    }
    let all = edit.get("replace_all").and_then(Value::as_bool) == Some(true);
    Some(if all { before.replace(old, new) } else { before.replacen(old, new, 1) })
}

/// The content of a file that was read completely.
pub(super) fn read(event: &Event) -> Option<String> {
    let file = event.response()?.get("file")?;
    let number = |name: &str| file.get(name).and_then(Value::as_u64);
    let whole =
        number("startLine") == Some(1) && number("numLines").is_some() && number("numLines") == number("totalLines");
    text(file, "/content").filter(|_| whole).map(str::to_owned)
}

/// The files that a command changed according to the host; for a new one with its content.
pub(super) fn by_shell(event: &Event) -> Vec<(String, Option<String>)> {
    let diff = event.response().and_then(|response| response.get("bashEditDiff"));
    let files = diff.and_then(|diff| diff.get("files")?.as_array()).map(Vec::as_slice).unwrap_or_default();
    let made = |path: &str| files.iter().find(|file| text(file, "/filePath") == Some(path)).and_then(created);
    let deleted = |path: &str| {
        let gone = |file: &&Value| file.get("deleted").and_then(Value::as_bool) == Some(true);
        files.iter().filter(gone).any(|file| text(file, "/filePath") == Some(path))
    };
    let changed = event.edited().into_iter().filter(|path| !deleted(path));
    changed.map(|path| (path.to_owned(), made(path))).collect()
}

/// The content of a file that did not exist before: the lines of its only hunk.
fn created(file: &Value) -> Option<String> {
    let fresh = file.get("created").and_then(Value::as_bool) == Some(true);
    let [hunk] = file.get("hunks").filter(|_| fresh)?.as_array()?.as_slice() else { return None };
    let lines: Option<Vec<&str>> =
        hunk.get("lines")?.as_array()?.iter().map(|line| line.as_str()?.strip_prefix('+')).collect();
    let lines =
        lines.filter(|lines| hunk.get("newLines").and_then(Value::as_u64) == u64::try_from(lines.len()).ok())?;
    Some(lines.into_iter().flat_map(|line| [line, "\n"]).collect())
}
