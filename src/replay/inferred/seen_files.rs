//! What a session has shown of files.

use crate::shell::{Effect, FileEffect};
use std::collections::BTreeMap;

/// Files by their absolute paths; nothing is known about any other.
#[derive(Debug, Default)]
pub(super) struct SeenFiles(BTreeMap<String, SeenFile>);

/// What is known of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SeenFile {
    pub state: SeenContent,
    /// When it was changed, as far as the session shows, in milliseconds.
    pub modified: i64,
    /// Who wrote what it has.
    pub writer: Option<String>,
}

/// How a file was last seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SeenContent {
    /// With this content.
    Full(String),
    /// There, with some content.
    There,
    /// Not there.
    Gone,
}

impl SeenFiles {
    /// What is known of a file.
    pub(super) fn get(&self, path: &str) -> Option<&SeenFile> {
        self.0.get(path)
    }

    /// Every file of which something is known.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, &SeenFile)> {
        self.0.iter().map(|(path, known)| (path.as_str(), known))
    }

    /// A file's content.
    pub(super) fn content(&self, path: &str) -> Option<&str> {
        match &self.0.get(path)?.state {
            SeenContent::Full(content) => Some(content),
            _ => None,
        }
    }

    /// A file was written.
    pub(super) fn wrote(&mut self, path: String, content: Option<String>, now: i64, writer: Option<String>) {
        let state = content.map_or(SeenContent::There, SeenContent::Full);
        self.0.insert(path, SeenFile { state, modified: now, writer });
    }

    /// A file was read as a whole. What it was before, by whom, stays if it has not changed.
    pub(super) fn saw(&mut self, path: String, content: String, now: i64) {
        // Some hosts show a file without the end of its last line.
        let same =
            self.content(&path).is_some_and(|known| known.trim_end_matches('\n') == content.trim_end_matches('\n'));
        if !same {
            self.0.insert(path, SeenFile { state: SeenContent::Full(content), modified: now, writer: None });
        }
    }

    /// A file was read in part.
    pub(super) fn met(&mut self, path: String, now: i64) {
        let there = SeenFile { state: SeenContent::There, modified: now, writer: None };
        let known = self.0.entry(path).or_insert_with(|| there.clone());
        if known.state == SeenContent::Gone {
            *known = there;
        }
    }

    /// A file is not there.
    pub(super) fn gone(&mut self, path: String) {
        self.0.insert(path, SeenFile { state: SeenContent::Gone, modified: 0, writer: None });
    }

    /// Nothing is known of a file any more.
    pub(super) fn forget(&mut self, path: &str) {
        self.0.remove(path);
    }

    /// Nothing is known of any file any more.
    pub(super) fn forget_all(&mut self) {
        self.0.clear();
    }

    /// Of what is touched, or may be, nothing is known any more.
    pub(super) fn touched(&mut self, touches: &[FileEffect]) {
        let changes = |touch: &&FileEffect| !matches!(touch.effect, Effect::Mode | Effect::Own);
        self.0.retain(|path, _| touches.iter().filter(changes).all(|touch| touch.hits(path).is_none()));
    }
}
