//! User records: prompts, commands, tool results, and what the host writes in the user's name.

use super::super::skipped::SkippedRecords;
use super::super::user_message::UserMessage;
use super::AgentTimeline;
use crate::transcript::{MessageContent, TranscriptRecord};
use serde_json::Value;

impl AgentTimeline {
    pub(super) fn user(&mut self, record: &TranscriptRecord, skipped: &mut SkippedRecords) {
        let mut results = record.tool_results().peekable();
        if results.peek().is_some() {
            self.context.update_prompt(record);
            results.for_each(|result| self.tool_result(result, record, skipped));
        } else if record.is_compact_summary.0 {
            self.compact_summary(record);
        } else if let Some(text) = record.text().filter(|_| !record.is_visible_in_transcript_only.0) {
            // A message from another agent is marked as the host's, but calls a subagent again.
            let from_agent = self.is_subagent() && record.origin.get("kind").is_some_and(|kind| !kind.is_null());
            let message = match record.is_meta.0 {
                true if from_agent => UserMessage::Prompt(text),
                true => UserMessage::of_meta(&text),
                false => UserMessage::of(&text),
            };
            self.user_message(message, record, skipped);
        }
    }

    fn user_message(&mut self, message: UserMessage, record: &TranscriptRecord, skipped: &mut SkippedRecords) {
        match message {
            UserMessage::HostNote => {
                // A note may belong to a later prompt, for which no hook ran.
                let prompt = record.prompt_id.as_deref();
                if prompt.is_some() && prompt != self.context.prompt_id.as_deref() {
                    self.stop();
                    self.context.update_prompt(record);
                }
            }
            UserMessage::Interrupt => {
                // An interrupted agent has no stop event.
                self.possible_stop = None;
                self.drop_calls(skipped);
            }
            UserMessage::StopHookFeedback => {
                self.stop();
                self.stop_hook_active = true;
            }
            UserMessage::LocalCommand(name) => {
                self.stop();
                if let Some(Some(first)) = self.events.first_mut().filter(|_| name == "clear" && !self.prompted) {
                    first.payload.insert("source".to_owned(), "clear".into());
                }
            }
            UserMessage::Prompt(text) => {
                self.turn_ends(record, skipped);
                self.prompt(&text);
            }
            UserMessage::Command { name, args } => {
                self.turn_ends(record, skipped);
                let prompt = format!("/{name} {args}").trim_end().to_owned();
                self.prompt(&prompt);
                if !self.is_subagent() {
                    let fields = [
                        ("expansion_type", "slash_command".into()),
                        ("command_name", name.into()),
                        ("command_args", args.into()),
                        ("prompt", prompt.into()),
                    ];
                    self.push_with("UserPromptExpansion", fields);
                }
            }
        }
    }

    fn turn_ends(&mut self, record: &TranscriptRecord, skipped: &mut SkippedRecords) {
        self.stop();
        self.drop_calls(skipped);
        self.context.update_prompt(record);
    }

    fn prompt(&mut self, text: &str) {
        self.stop_hook_active = false;
        self.prompted = true;
        if !self.is_subagent() {
            return self.push_with("UserPromptSubmit", [("prompt", text.into())]);
        }
        self.first_prompt.get_or_insert_with(|| text.to_owned());
        let last = self.events.iter().rev().flatten().next();
        if last.is_some_and(|event| event.payload.get("hook_event_name").is_some_and(|name| name == "SubagentStop")) {
            self.run += 1;
            self.push(self.context.event("SubagentStart"));
        }
    }

    /// A message that was queued while the model worked.
    pub(super) fn attachment(&mut self, record: &TranscriptRecord) {
        let field = |name: &str| record.attachment.get(name);
        if self.is_subagent() || field("type").is_none_or(|kind| kind != "queued_command") {
            return;
        }
        let text = field("prompt").and_then(|prompt| MessageContent::from(prompt.clone()).text());
        if let Some(UserMessage::Prompt(text)) = text.map(|text| UserMessage::of(&text)) {
            self.prompt(&text);
        }
    }

    /// The summary of a compaction shows which prompt the compaction belongs to.
    fn compact_summary(&mut self, record: &TranscriptRecord) {
        let Some(id) = record.prompt_id.as_deref() else { return };
        for event in self.events.iter_mut().rev().take(3).flatten().map(|event| &mut event.payload) {
            let name = event.get("hook_event_name").and_then(Value::as_str).unwrap_or_default();
            if name.ends_with("Compact") || event.get("source").is_some_and(|source| source == "compact") {
                event.insert("prompt_id".to_owned(), id.into());
            }
        }
    }
}
