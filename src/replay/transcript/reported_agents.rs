//! Subagents without a transcript of their own, from the progress that the transcript of their caller reports.
//!
//! Progress shows the agent's calls and their results, but not its last message, which is the result of its own call.

use super::SubagentInfo;
use super::merge::{ended_call, text_at};
use super::skipped::{RecordKey, record_key};
use super::timeline::{AgentEvent, AgentTimeline, EventContext};
use crate::host::transcript::{MessageContent, TranscriptRecord};
use std::collections::HashSet;

/// The agents whose records are inside the progress records of one file.
#[derive(Debug, Default)]
pub(super) struct ReportedAgents {
    pub timelines: Vec<AgentTimeline>,
    seen: HashSet<RecordKey>,
}

impl ReportedAgents {
    /// Adds the record of an agent that was started by `call`; `caller` is the context of the file's own agent.
    pub(super) fn record(
        &mut self,
        record: &TranscriptRecord<'_>,
        call: Option<&str>,
        caller: &EventContext,
        line: usize,
    ) {
        let Some(id) = record.agent_id.as_deref() else { return };
        if record_key(record).is_some_and(|key| !self.seen.insert(key)) {
            return;
        }
        let is_agent = |timeline: &AgentTimeline| timeline.agent_id() == Some(id);
        let at = self.timelines.iter().position(is_agent).unwrap_or_else(|| {
            let call = call.map(str::to_owned);
            let agent = Some(SubagentInfo { id: id.to_owned(), kind: None, call });
            let context = EventContext { agent, agent_transcript: None, ..caller.clone() };
            self.timelines.push(AgentTimeline::new(context));
            self.timelines.len() - 1
        });
        if let Some(timeline) = self.timelines.get_mut(at) {
            timeline.record(record, line);
        }
    }
}

/// Adds the agents that have no transcript of their own, with their stops.
pub(super) fn add_missing(timelines: &mut Vec<(usize, AgentTimeline)>, reported: Vec<(usize, AgentTimeline)>) {
    let written = timelines.len();
    for (file, timeline) in reported {
        let id = timeline.agent_id().map(str::to_owned);
        if !timelines.iter().any(|(_, known)| known.agent_id() == id.as_deref()) {
            timelines.push((file, timeline));
        }
    }
    let ends: Vec<Option<AgentEvent>> =
        timelines.iter().skip(written).map(|(_, timeline)| end_of_call(timeline, timelines)).collect();
    for ((_, timeline), end) in timelines.iter_mut().skip(written).zip(ends) {
        let Some(end) = end.filter(|_| !has_stopped(timeline)) else { continue };
        let content = end.payload.get("tool_response").and_then(|response| response.get("content"));
        let content = content.and_then(MessageContent::from_value);
        let message = content.as_ref().and_then(MessageContent::text);
        timeline.stop_with(message.as_deref(), &end.written);
    }
}

fn has_stopped(timeline: &AgentTimeline) -> bool {
    let last = timeline.events.iter().rev().flatten().next();
    last.is_some_and(|event| text_at(&event.payload, "/hook_event_name") == Some("SubagentStop"))
}

/// The event that ends the call that started an agent, unless the agent runs on in the background.
fn end_of_call(timeline: &AgentTimeline, timelines: &[(usize, AgentTimeline)]) -> Option<AgentEvent> {
    let call = timeline.context.agent.as_ref()?.call.as_deref()?;
    let mut events = timelines.iter().flat_map(|(_, timeline)| timeline.events.iter().flatten());
    let ends = |event: &&AgentEvent| ended_call(&event.payload) == Some(call);
    let ended = events.find(ends)?;
    (text_at(&ended.payload, "/hook_event_name") == Some("PostToolUse")).then(|| ended.clone())
}
