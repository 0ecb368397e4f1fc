//! The files that a session has shown.

use crate::shell::{Effect, FileEffect};
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
    /// The content of a file, if it is known.
    pub(super) fn content(&self, path: &str) -> Option<&str> {
        match &self.0.get(path)?.state {
            SeenContent::Full(content) => Some(content),
            _ => None,
        }
    }

    /// Notes that a file was written.
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

    /// Notes that a file does not exist.
    pub(super) fn gone(&mut self, path: String) {
        self.0.insert(path, SeenFile { state: SeenContent::Gone, modified: 0, writer: None });
    }

    /// Forgets files that a command may change.
    pub(super) fn touched(&mut self, touches: &[FileEffect]) {
        let changes = |change: &&FileEffect| !matches!(change.effect, Effect::Mode | Effect::Own | Effect::Send);
        self.0.retain(|path, _| touches.iter().filter(changes).all(|change| change.hits(path).is_none()));
    }
}
