//! What a session has done so far, from its journal.

use super::Line;
use crate::event::Event;
use crate::facts::History;
use std::path::Path;

/// What the journal at `path` tells of a session in the project at `home`.
#[must_use]
pub fn history(path: &Path, home: &Path) -> History {
    let mut story = Story { history: History::default(), home };
    for line in &super::lines(path) {
        story.take(line);
    }
    story.history
}

struct Story<'a> {
    history: History,
    home: &'a Path,
}

impl Story<'_> {
    fn take(&mut self, line: &Line) {
        self.history.started_at.get_or_insert_with(|| line.at.clone());
        let Ok(event) = Event::from_value(line.event.clone()) else { return };
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
        let shown = path.strip_prefix(self.home).unwrap_or(path).to_string_lossy().into_owned();
        if !self.history.edited_files.contains(&shown) {
            self.history.edited_files.push(shown);
        }
        let extension = path.extension().map(|end| end.to_string_lossy().into_owned());
        if let Some(extension) = extension.filter(|end| !self.history.file_extensions.contains(end)) {
            self.history.file_extensions.push(extension);
        }
    }
}
