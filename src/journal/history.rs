//! What a session has done so far, from its journal.

use crate::event::Event;
use crate::facts::SessionHistory;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// What the journal at `path` tells of a session in the project at `home`.
#[must_use]
pub fn history(path: &Path, home: &Path) -> SessionHistory {
    let mut story = HistoryBuilder::new(home);
    for part in [super::aside(path), path.to_owned()] {
        let bytes = std::fs::read(part).unwrap_or_default();
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let first = story.history.started_at.is_none();
            let tells = TELLING.iter().any(|word| memchr::memmem::find(line, word.as_bytes()).is_some());
            if (first || tells)
                && let Ok(line) = serde_json::from_slice::<Told>(line)
            {
                let Told { at, event } = line;
                story.history.started_at.get_or_insert(at);
                if let Ok(event) = Event::from_value(event) {
                    story.hear(&event);
                }
            }
        }
    }
    story.history
}

/// Only lines with one of these words can tell anything.
const TELLING: [&str; 4] = ["\"PostToolUse\"", "\"UserPromptSubmit\"", "\"UserPromptExpansion\"", "\"Skill\""];

/// What is read of a line.
#[derive(Deserialize)]
struct Told {
    at: String,
    event: Value,
}

/// What a session has done, told event by event.
#[derive(Debug, Clone, Default)]
pub struct HistoryBuilder {
    /// So far.
    pub history: SessionHistory,
    seen: HashSet<String>,
    home: PathBuf,
}

impl HistoryBuilder {
    /// The story of a session in the project at `home`, nothing told yet.
    #[must_use]
    pub fn new(home: &Path) -> Self {
        Self { home: home.to_owned(), ..Self::default() }
    }

    /// Hears of an event.
    pub fn hear(&mut self, event: &Event) {
        let typed = event.text("hook_event_name") == Some("UserPromptSubmit") && !event.is_machine_prompt();
        if typed {
            (self.history.active_command, self.history.active_skill) = (None, None);
        }
        if let Some(call) = event.command() {
            self.history.active_command = Some(call.name.to_owned());
        }
        if let Some(skill) = event.skill() {
            self.history.active_skill = Some(skill.to_owned());
        }
        if event.text("hook_event_name") == Some("PostToolUse") {
            event.edited().into_iter().for_each(|file| self.edit(file));
        }
    }

    fn edit(&mut self, file: &str) {
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
