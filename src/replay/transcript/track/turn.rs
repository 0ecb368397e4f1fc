//! The assistant's turn: its messages, the calls in them, and its end.

use super::super::calls::PendingCall;
use super::super::record::{ToolResult, TranscriptRecord, is};
use super::super::response;
use super::super::skipped::{SkipReason, SkippedRecords};
use super::{AgentTimeline, AssistantMessage, PossibleStop};
use serde_json::{Value, json};

impl AgentTimeline {
    pub(super) fn assistant(&mut self, record: &TranscriptRecord) {
        let said = record.said().unwrap_or_default();
        let synthetic = record.at("/message/model").is_some_and(|model| model == "<synthetic>");
        if synthetic && said == "No response requested." {
            return;
        }
        self.turn_to(record);
        join(&mut self.message.text, &said);
        for block in record.blocks().iter().filter(|block| is(block, "tool_use")) {
            self.called(block);
        }
        self.start_calls();
        let reason = record.at("/message/stop_reason").and_then(Value::as_str);
        let goes_on = self.message.calls || matches!(reason, Some("tool_use" | "pause_turn"));
        let failure = record.is("isApiErrorMessage").then(|| record.text("error").unwrap_or("unknown").to_owned());
        self.closing = (!goes_on).then(|| PossibleStop {
            moment: self.now.clone(),
            text: self.message.text.clone(),
            explicit: reason.is_some(),
            failure,
        });
    }

    /// Goes on with a message, or begins the next one.
    fn turn_to(&mut self, record: &TranscriptRecord) {
        let id = record.at("/message/id").and_then(Value::as_str).map(str::to_owned);
        if id.is_some() && id == self.message.id {
            return;
        }
        // What the model did not call its end was none: it went on.
        if self.closing.as_ref().is_some_and(|closing| closing.explicit && closing.failure.is_none()) {
            self.close();
        }
        self.closing = None;
        self.message = AssistantMessage { id, ..AssistantMessage::default() };
    }

    fn called(&mut self, block: &Value) {
        let text = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let input = block.get("input").cloned().unwrap_or_else(|| json!({}));
        self.message.calls = true;
        self.calls.add(PendingCall { id: text("id"), tool: text("name"), input, line: self.now.line, begun: None });
    }

    fn start_calls(&mut self) {
        while let Some(call) = self.calls.next() {
            let call = self.start(call);
            self.calls.run(call);
        }
    }

    fn start(&mut self, mut call: PendingCall) -> PendingCall {
        let event = self.setting.of_call("PreToolUse", &call);
        call.begun = Some(self.steps.len());
        self.push_on(event, call.line);
        call
    }

    pub(super) fn answered(&mut self, answer: &ToolResult, record: &TranscriptRecord, skipped: &mut SkippedRecords) {
        if TranscriptRecord::is_broken_off(answer) {
            return self.broken_off(answer, skipped);
        }
        for call in self.calls.overdue(&answer.id) {
            let call = self.start(call);
            self.calls.run(call);
        }
        let Some(call) = self.calls.end(&answer.id) else { return skipped.note(SkipReason::NoCall, self.now.line) };
        if answer.error && answer.text.starts_with("<tool_use_error>") {
            // Only now it shows that no hook heard of it.
            if let Some(step) = call.begun.and_then(|at| self.steps.get_mut(at)) {
                *step = None;
            }
            skipped.note(SkipReason::Refused, call.line);
        } else if !record.is_denied(answer) {
            self.ended(&call, answer, record);
        }
        self.start_calls();
    }

    /// What was under way is over, and what waited behind it never begins.
    fn broken_off(&mut self, answer: &ToolResult, skipped: &mut SkippedRecords) {
        if let Some(call) = self.calls.withdraw(&answer.id) {
            skipped.note(SkipReason::NotBegun, call.line);
        } else if self.calls.end(&answer.id).is_none() {
            skipped.note(SkipReason::NoCall, self.now.line);
        }
    }

    fn ended(&mut self, call: &PendingCall, answer: &ToolResult, record: &TranscriptRecord) {
        let name = if answer.error { "PostToolUseFailure" } else { "PostToolUse" };
        let mut event = self.setting.of_call(name, call);
        if answer.error {
            event.insert("error".to_owned(), answer.text.clone().into());
        } else {
            let response = record.response().cloned().or_else(|| response::of(call, &answer.text));
            event.extend(response.map(|response| ("tool_response".to_owned(), response)));
        }
        self.push(event);
    }

    /// What was called and not begun never will be.
    pub(super) fn give_up(&mut self, skipped: &mut SkippedRecords) {
        for call in self.calls.clear() {
            skipped.note(SkipReason::NotBegun, call.line);
        }
    }

    /// The turn is over, if a message has closed it.
    pub(super) fn close(&mut self) {
        let Some(closing) = self.closing.take() else { return };
        let kind = match (&self.setting.agent, &closing.failure) {
            (Some(_), _) => "SubagentStop",
            (None, Some(_)) => "StopFailure",
            (None, None) => "Stop",
        };
        if self.calls.are_open() || closing.text.is_empty() && !closing.explicit {
            return;
        }
        let mut event = self.setting.event(kind);
        match closing.failure.filter(|_| kind == "StopFailure") {
            Some(error) => drop(event.insert("error".to_owned(), error.into())),
            None => drop(event.insert("stop_hook_active".to_owned(), self.continuing.into())),
        }
        if kind == "SubagentStop" {
            event.extend(self.setting.own.clone().map(|path| ("agent_transcript_path".to_owned(), path.into())));
        }
        event.insert("last_assistant_message".to_owned(), closing.text.into());
        let now = std::mem::replace(&mut self.now, closing.moment);
        self.push(event);
        self.now = now;
    }
}

/// Adds a part to a text, on a line of its own.
fn join(text: &mut String, part: &str) {
    if !text.is_empty() && !part.is_empty() {
        text.push('\n');
    }
    text.push_str(part);
}
