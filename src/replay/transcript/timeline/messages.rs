//! The messages of the user and of the assistant, tool calls and their results, and the end of a turn.

use super::super::message_text::{UserMessage, tool_response};
use super::super::pending_calls::PendingCall;
use super::super::skipped::SkipReason;
use super::{AgentTimeline, AssistantMessage, PossibleStop, RecordTime};
use crate::host::transcript::{ContentBlock, TranscriptRecord};
use serde_json::Value;

impl AgentTimeline {
    pub(super) fn user(&mut self, record: &TranscriptRecord<'_>) {
        let mut results = record.tool_results().peekable();
        if results.peek().is_some() {
            self.context.update_prompt(record);
            results.for_each(|result| self.tool_result(result, record));
        } else if record.is_compact_summary.0 {
            self.compact_summary(record);
        } else if let Some(text) = record.text().filter(|_| !record.is_visible_in_transcript_only.0) {
            // A message from another agent is marked as the host's, but calls a subagent again.
            let from_agent = self.is_subagent() && record.has_origin();
            let message = match record.is_meta.0 {
                true if from_agent => UserMessage::Prompt(text.into_owned()),
                true => UserMessage::from_host(&text),
                false => UserMessage::from_text(&text),
            };
            self.user_message(message, record);
        }
    }

    fn user_message(&mut self, message: UserMessage, record: &TranscriptRecord<'_>) {
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
                self.drop_calls();
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
                self.begin_turn(record);
                self.prompt(&text);
            }
            UserMessage::Command { name, args } => {
                self.begin_turn(record);
                let prompt = format!("/{name} {args}").trim_end().to_owned();
                self.prompt(&prompt);
                if !self.is_subagent() {
                    let fields = [
                        ("expansion_type", "slash_command".into()),
                        ("command_name", name.into()),
                        ("command_args", args.into()),
                        ("prompt", prompt.into()),
                    ];
                    self.push_event("UserPromptExpansion", fields);
                }
            }
        }
    }

    fn begin_turn(&mut self, record: &TranscriptRecord<'_>) {
        self.stop();
        self.drop_calls();
        self.context.update_prompt(record);
    }

    fn prompt(&mut self, text: &str) {
        self.stop_hook_active = false;
        self.prompted = true;
        if !self.is_subagent() {
            return self.push_event("UserPromptSubmit", [("prompt", text.into())]);
        }
        self.first_prompt.get_or_insert_with(|| text.to_owned());
        let last = self.events.iter().rev().flatten().next();
        if last.is_some_and(|event| event.payload.get("hook_event_name").is_some_and(|name| name == "SubagentStop")) {
            self.run += 1;
            self.push(self.context.event("SubagentStart"));
        }
    }

    /// A message that was queued while the model worked.
    pub(super) fn attachment(&mut self, record: &TranscriptRecord<'_>) {
        if self.is_subagent() {
            return;
        }
        if let Some(UserMessage::Prompt(text)) = record.queued_text().map(|text| UserMessage::from_text(&text)) {
            self.prompt(&text);
        }
    }

    /// The summary of a compaction shows which prompt the compaction belongs to.
    fn compact_summary(&mut self, record: &TranscriptRecord<'_>) {
        let Some(id) = record.prompt_id.as_deref() else { return };
        for event in self.events.iter_mut().rev().take(3).flatten().map(|event| &mut event.payload) {
            let name = event.get("hook_event_name").and_then(Value::as_str).unwrap_or_default();
            if name.ends_with("Compact") || event.get("source").is_some_and(|source| source == "compact") {
                event.insert("prompt_id".to_owned(), id.into());
            }
        }
    }
}

impl AgentTimeline {
    pub(super) fn assistant(&mut self, record: &TranscriptRecord<'_>) {
        let text = record.text().unwrap_or_default();
        if record.message.model.as_deref() == Some("<synthetic>") && text == "No response requested." {
            return;
        }
        self.continue_message(record);
        if !self.message.text.is_empty() && !text.is_empty() {
            self.message.text.push('\n');
        }
        self.message.text.push_str(&text);
        for tool_use in record.tool_uses() {
            self.message.has_calls = true;
            let (id, tool) = (tool_use.id.or_empty().to_owned(), tool_use.name.or_empty().to_owned());
            let line = self.now.line;
            match tool_use.input() {
                Some(input) => self.calls.queued.push_back(PendingCall { id, tool, input, line, started: None }),
                None => self.skipped.note(SkipReason::NotJson, line),
            }
        }
        self.start_calls();
        let reason = record.message.stop_reason.as_deref();
        let continues = self.message.has_calls || matches!(reason, Some("tool_use" | "pause_turn"));
        let failure = record.is_api_error_message.0.then(|| record.error.as_deref().unwrap_or("unknown").to_owned());
        self.possible_stop =
            (!continues).then(|| PossibleStop { time: self.now.clone(), explicit: reason.is_some(), failure });
    }

    /// Continues the current message, or begins the next one.
    fn continue_message(&mut self, record: &TranscriptRecord<'_>) {
        let id = record.message.id.as_deref();
        if id.is_some() && id == self.message.id.as_deref() {
            return;
        }
        // Without a stop reason, or after an error, the model went on with its turn.
        if self.possible_stop.as_ref().is_some_and(|stop| stop.explicit && stop.failure.is_none()) {
            self.stop();
        }
        self.possible_stop = None;
        self.message = AssistantMessage { id: id.map(str::to_owned), ..AssistantMessage::default() };
    }

    fn start_calls(&mut self) {
        while let Some(call) = self.calls.next() {
            self.start_call(call);
        }
    }

    fn start_call(&mut self, mut call: PendingCall) {
        call.started = Some(self.events.len());
        let event = self.context.tool_event("PreToolUse", call.tool.clone(), call.input.clone(), call.id.clone());
        self.push_at(event, RecordTime { line: call.line, ..self.now.clone() });
        self.calls.running.push(call);
    }

    fn tool_result(&mut self, result: &ContentBlock<'_>, record: &TranscriptRecord<'_>) {
        let id = result.tool_use_id.or_empty();
        if result.is_stopped_by_user() {
            // The running call is over, and a queued one never starts.
            return match self.calls.withdraw(id) {
                Some(call) => self.skipped.note(SkipReason::NotStarted, call.line),
                None if self.calls.end(id).is_none() => self.skipped.note(SkipReason::NoCall, self.now.line),
                None => {}
            };
        }
        for call in self.calls.overdue(id) {
            self.start_call(call);
        }
        let Some(call) = self.calls.end(id) else { return self.skipped.note(SkipReason::NoCall, self.now.line) };
        if result.is_error.0 && result.result_text().starts_with("<tool_use_error>") {
            // Only the result shows that no hook ran for the call.
            if let Some(event) = call.started.and_then(|at| self.events.get_mut(at)) {
                *event = None;
            }
            self.skipped.note(SkipReason::Rejected, call.line);
        } else if !record.is_denied(result) {
            self.end_call(call, result, record);
        }
        self.start_calls();
    }

    fn end_call(&mut self, call: PendingCall, result: &ContentBlock<'_>, record: &TranscriptRecord<'_>) {
        let (name, outcome) = if result.is_error.0 {
            ("PostToolUseFailure", Some(("error", result.result_text().into())))
        } else {
            let response = record.tool_response().or_else(|| tool_response(&call, || result.result_text()));
            ("PostToolUse", response.map(|response| ("tool_response", response)))
        };
        let mut event = self.context.tool_event(name, call.tool, call.input, call.id);
        event.extend(outcome.map(|(name, value)| (name.to_owned(), value)));
        self.push(event);
    }

    /// Drops the calls that have not started by the end of a turn.
    pub(super) fn drop_calls(&mut self) {
        for call in self.calls.clear() {
            self.skipped.note(SkipReason::NotStarted, call.line);
        }
    }

    /// Ends the turn where the file or the host's process ends, which may be in the middle of a message.
    pub(super) fn stop_if_complete(&mut self) {
        if self.possible_stop.as_ref().is_some_and(|stop| !self.message.text.is_empty() || stop.explicit) {
            self.stop();
        }
    }

    /// Ends the turn if its last message can be the final one.
    ///
    /// The host asks for the next message only after all calls, so open ones have lost their results: to a compaction,
    /// or to an API error. Without ids, a text may belong to the message of the call before it.
    pub(super) fn stop(&mut self) {
        let Some(stop) = self.possible_stop.take() else { return };
        if self.calls.are_open() && self.message.id.is_none() {
            return;
        }
        self.calls.running.clear();
        let name = match (self.is_subagent(), &stop.failure) {
            (true, _) => "SubagentStop",
            (false, Some(_)) => "StopFailure",
            (false, None) => "Stop",
        };
        let mut event = self.context.event(name);
        match stop.failure.filter(|_| name == "StopFailure") {
            Some(error) => event.insert("error".to_owned(), error.into()),
            None => event.insert("stop_hook_active".to_owned(), self.stop_hook_active.into()),
        };
        let transcript = self.context.agent_transcript.clone().filter(|_| name == "SubagentStop");
        event.extend(transcript.map(|path| ("agent_transcript_path".to_owned(), path.into())));
        event.insert("last_assistant_message".to_owned(), self.message.text.as_str().into());
        self.push_at(event, stop.time);
    }
}
