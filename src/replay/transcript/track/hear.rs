//! What an agent hears: prompts, commands, tools' answers, and whatever else stands in the user's place.

use super::super::record::{TranscriptRecord, text_of};
use super::super::said::UserMessage;
use super::super::skipped::SkippedRecords;
use super::AgentTimeline;
use serde_json::Value;

impl AgentTimeline {
    pub(super) fn user(&mut self, record: &TranscriptRecord, skipped: &mut SkippedRecords) {
        let answers = record.answers();
        if !answers.is_empty() {
            self.setting.prompt_id(record);
            for answer in &answers {
                self.answered(answer, record, skipped);
            }
            return;
        }
        if record.is("isCompactSummary") {
            return self.summed_up(record);
        }
        if record.is("isVisibleInTranscriptOnly") {
            return;
        }
        let Some(text) = record.said() else { return };
        // Another agent's word is marked as the host's, and yet calls a subagent again.
        let called = self.is_sub() && record.at("/origin/kind").is_some();
        let said = match record.is("isMeta") {
            true if called => UserMessage::Prompt(text),
            true => UserMessage::of_meta(&text),
            false => UserMessage::of(&text),
        };
        self.hear(said, record, skipped);
    }

    fn hear(&mut self, said: UserMessage, record: &TranscriptRecord, skipped: &mut SkippedRecords) {
        if said == UserMessage::Note {
            return self.pass_by(record);
        }
        if said == UserMessage::Interrupt {
            // Whoever is interrupted does not stop by himself.
            self.closing = None;
            return self.give_up(skipped);
        }
        self.close();
        match said {
            UserMessage::Feedback => self.continuing = true,
            UserMessage::Local(name) if name == "clear" && !self.prompted => self.cleared(),
            UserMessage::Prompt(text) => {
                self.give_up(skipped);
                self.setting.prompt_id(record);
                self.prompted(&text);
            }
            UserMessage::Command { name, args } => {
                self.give_up(skipped);
                self.setting.prompt_id(record);
                let prompt = format!("/{name} {args}").trim_end().to_owned();
                self.prompted(&prompt);
                self.expanded(&name, &args, &prompt);
            }
            _ => {}
        }
    }

    /// A note may belong to another prompt, which no hook has heard of.
    fn pass_by(&mut self, record: &TranscriptRecord) {
        if record.text("promptId").is_some_and(|id| Some(id) != self.setting.prompt.as_deref()) {
            self.close();
            self.setting.prompt_id(record);
        }
    }

    fn cleared(&mut self) {
        if let Some(Some(first)) = self.steps.first_mut() {
            first.event.insert("source".to_owned(), "clear".into());
        }
    }

    fn prompted(&mut self, text: &str) {
        self.continuing = false;
        if self.is_sub() {
            self.opening.get_or_insert_with(|| text.to_owned());
            self.run_again();
        } else {
            let mut event = self.setting.event("UserPromptSubmit");
            event.insert("prompt".to_owned(), text.into());
            self.push(event);
        }
        self.prompted = true;
    }

    /// A subagent that has stopped begins again.
    fn run_again(&mut self) {
        let last = self.steps.iter().rev().flatten().next();
        let stopped =
            last.is_some_and(|step| step.event.get("hook_event_name").is_some_and(|name| name == "SubagentStop"));
        if stopped {
            self.run += 1;
            let event = self.setting.event("SubagentStart");
            self.push(event);
        }
    }

    fn expanded(&mut self, name: &str, args: &str, prompt: &str) {
        if self.is_sub() {
            return;
        }
        let mut event = self.setting.event("UserPromptExpansion");
        let fields =
            [("expansion_type", "slash_command"), ("command_name", name), ("command_args", args), ("prompt", prompt)];
        event.extend(fields.map(|(name, value)| (name.to_owned(), value.into())));
        self.push(event);
    }

    /// A message that was waiting while the model worked.
    pub(super) fn attachment(&mut self, record: &TranscriptRecord) {
        let queued = record.at("/attachment/type").is_some_and(|kind| kind == "queued_command");
        if !queued || self.is_sub() {
            return;
        }
        let text = match record.at("/attachment/prompt") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(blocks)) => blocks.iter().filter_map(text_of).collect::<Vec<_>>().join("\n"),
            _ => return,
        };
        if let UserMessage::Prompt(text) = UserMessage::of(&text) {
            self.prompted(&text);
        }
    }

    /// The summary tells to which prompt a compaction belongs.
    fn summed_up(&mut self, record: &TranscriptRecord) {
        let Some(id) = record.text("promptId") else { return };
        for step in self.steps.iter_mut().rev().take(3).flatten() {
            let event = &mut step.event;
            let compact =
                event.get("hook_event_name").and_then(Value::as_str).is_some_and(|name| name.ends_with("Compact"));
            if compact || event.get("source").is_some_and(|source| source == "compact") {
                event.insert("prompt_id".to_owned(), id.into());
            }
        }
    }
}
