//! Context files: each file of `.claude/context` that is named after an event is an implicit gate of the base mode.

use super::{Engine, Intent};
use crate::facts::ContextText;
use crate::facts::session::BASE_NAMESPACE;
use crate::facts::verdict::{Finding, Outcome, Verdict};
use crate::host::event::{EventKind, tool_names};
use crate::host::ids::without_plugin;
use crate::host::paths::PLUGIN_CONTEXT;
use crate::policy::mode::BASE;

/// The folders of context files, in the order of their precedence: the project's, then a plugin's.
const FOLDERS: [&str; 6] = ["", "slash-command/", "skill/", "plugin/", "plugin/slash-command/", "plugin/skill/"];

/// The host takes 10,000 characters of context; the rest is left for gates.
const ROOM: usize = 9_000;

impl Engine<'_> {
    pub(super) fn add_context_files(&mut self, kind: EventKind) {
        if self.catalogue.contexts.is_empty() {
            return;
        }
        for stem in self.file_stems(kind) {
            let Some(file) = self.context_file(&stem) else { continue };
            if !self.was_added_for_prompt(&file) {
                self.add_context_file(&stem, &file);
            }
        }
    }

    /// Returns the file of that name in the first folder that has it.
    fn context_file(&self, stem: &str) -> Option<String> {
        let named = FOLDERS.iter().map(|folder| format!("{folder}{stem}.md"));
        named.into_iter().find(|file| self.catalogue.contexts.contains(file))
    }

    fn add_context_file(&mut self, stem: &str, file: &str) {
        let path = match file.strip_prefix(PLUGIN_CONTEXT) {
            Some(file) => format!("$CLAUDE_PLUGIN_ROOT/context/{file}"),
            None => format!(".claude/context/{file}"),
        };
        let outcome = match self.facts.context(file.to_owned()) {
            Ok(ContextText { text, .. }) if text.is_empty() => Outcome::passes(format!("`{path}` is empty")),
            Ok(ContextText { text, whole }) => {
                let as_much_as_fits = self.as_much_as_fits(&text);
                let whole = whole && as_much_as_fits.len() == text.len();
                let rest = if whole { String::new() } else { format!("\n\n[The rest is in {path}.]") };
                self.add_or_defer(format!("{as_much_as_fits}{rest}"));
                Outcome::passes(format!("`{path}` was added"))
            }
            Err(unknown) => Outcome::unknown(unknown),
        };
        self.findings.push(Finding {
            mode: BASE.to_owned(),
            phase: None,
            gate: format!("context/{stem}").into(),
            verdict: Verdict::Pass,
            reason: String::new(),
            outcome,
            unmet: false,
        });
    }

    /// Adds context, at a stop as a note: context there would make the agent run again.
    pub(super) fn add_or_defer(&mut self, text: String) {
        match self.event.kind {
            Some(kind) if kind.row().context => self.context.push(text),
            Some(kind) if kind.is_stop() => self.intents.push(Intent::AddNote(text)),
            _ => {}
        }
    }

    /// Returns as much of a text as fits after the context so far; the host counts UTF-16 units.
    fn as_much_as_fits<'t>(&self, text: &'t str) -> &'t str {
        let used: usize = self.context.iter().map(|text| text.encode_utf16().count()).sum();
        let mut room = ROOM.saturating_sub(used);
        let end = text.char_indices().find(|(_, c)| {
            let fits = c.len_utf16() <= room;
            room = room.saturating_sub(c.len_utf16());
            !fits
        });
        end.and_then(|(at, _)| text.get(..at)).unwrap_or(text)
    }

    /// Whether a file was added for this prompt: a typed command arrives as two events.
    fn was_added_for_prompt(&mut self, file: &str) -> bool {
        if self.event.command().is_none() {
            return false;
        }
        let file = format!("context/{file}");
        let added = self.after.mode_state(BASE_NAMESPACE).and_then(|state| state.notified.get(&file));
        let is_added = self.is_same_prompt(added.map(String::as_str));
        if let Some(mark) = self.prompt_mark().map(str::to_owned) {
            self.after.base_mut().notified.insert(file, mark);
        }
        is_added
    }

    /// Returns the file names of this event, without the ending.
    fn file_stems(&self, kind: EventKind) -> Vec<String> {
        let mut file_stems: Vec<String> = Vec::new();
        let mut named =
            |name: Option<&str>, stage: &str| file_stems.extend(name.into_iter().flat_map(|name| forms(name, stage)));
        let agent = self.who.as_deref().or_else(|| self.event.text("agent_type"));
        match kind {
            EventKind::SessionStart => named(Some("session"), "start"),
            EventKind::SessionEnd => named(Some("session"), "end"),
            EventKind::UserPromptSubmit if !self.event.is_machine_prompt() => named(Some("prompt"), "submit"),
            EventKind::Notification => named(Some("notification"), "receive"),
            EventKind::PreToolUse => named(self.tool_with_file("pre"), "pre"),
            EventKind::PostToolUse => {
                named(self.tool_with_file("post"), "post");
                named(self.event.skill(), "end");
            }
            EventKind::SubagentStart => named(agent, "start"),
            EventKind::SubagentStop => named(agent, "end"),
            EventKind::Stop => {
                named(Some("agent"), "stop");
                self.active().flat_map(|mode| &mode.commands).for_each(|command| named(Some(command), "end"));
            }
            _ => {}
        }
        named(self.event.command().map(|call| call.name), "start");
        file_stems.dedup();
        file_stems
    }

    /// Returns the name of the tool that has a file: the one received, else another name of the same tool.
    fn tool_with_file(&self, stage: &str) -> Option<&str> {
        let received = self.event.text("tool_name")?;
        let has_file = |name: &&str| forms(name, stage).iter().any(|stem| self.context_file(stem).is_some());
        Some(received).filter(has_file).or_else(|| tool_names(received).find(has_file))
    }
}

/// Returns the file names of a name, lower case and as written; none for a name that could lead out of the folder.
fn forms(name: &str, stage: &str) -> Vec<String> {
    let name = without_plugin(name);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.is_empty() || !name.chars().all(plain) {
        return Vec::new();
    }
    let mut forms = vec![format!("{}-{stage}", name.to_lowercase())];
    if name.chars().any(|c| c.is_ascii_uppercase()) {
        forms.push(format!("{name}-{stage}"));
    }
    forms
}
