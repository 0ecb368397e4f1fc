//! Collects what a session has done, event by event.

use crate::facts::SessionHistory;
use crate::host::event::Event;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Default)]
pub struct HistoryBuilder {
    pub history: SessionHistory,
    seen: HashSet<String>,
    home: PathBuf,
}

impl HistoryBuilder {
    /// Only journal lines with one of these words change the history.
    pub const EVENTS: [&str; 4] = ["\"PostToolUse\"", "\"UserPromptSubmit\"", "\"UserPromptExpansion\"", "\"Skill\""];

    pub fn new(home: &Path) -> Self {
        Self { home: home.to_owned(), ..Self::default() }
    }

    pub fn add(&mut self, event: &Event) {
        let name = event.text("hook_event_name");
        if name == Some("UserPromptSubmit") && !event.is_machine_prompt() {
            (self.history.active_command, self.history.active_skill) = (None, None);
        }
        if let Some(call) = event.command() {
            self.history.active_command = Some(call.name.to_owned());
        }
        if let Some(skill) = event.skill() {
            self.history.active_skill = Some(skill.to_owned());
        }
        if name == Some("PostToolUse") {
            event.edited().into_iter().for_each(|file| self.add_edit(file));
        }
    }

    fn add_edit(&mut self, file: &str) {
        let path = Path::new(file);
        let shown = path.strip_prefix(&self.home).unwrap_or(path).to_string_lossy().into_owned();
        if self.seen.insert(shown.clone()) {
            self.history.edited_files.push(shown);
        }
        let extension = path.extension().map(|end| end.to_string_lossy().into_owned());
        if let Some(extension) = extension.filter(|end| !self.history.file_extensions.contains(end)) {
            self.history.file_extensions.push(extension);
        }
    }
}
