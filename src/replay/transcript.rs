//! Rebuilds hook events from the host's session transcripts.
//!
//! The format belongs to the host and changes between versions. Records that cannot be used are counted with a
//! reason, and fields that cannot be known are left out of an event.
//!
//! A session has a main file and one file per subagent. Each is read line by line into a [`TranscriptFile`];
//! [`rebuild`] puts the events of all files in order.

mod merge;
mod message_text;
mod pending_calls;
mod reported_agents;
mod skipped;
#[cfg(test)]
mod tests;
mod timeline;

pub(crate) use skipped::{RecordKey, record_key};
pub use skipped::{SkipReason, SkippedRecords, TranscriptPosition};

use crate::host::transcript::{AgentMetadata, MessageContent, TranscriptRecord};
use reported_agents::ReportedAgents;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use timeline::{AgentTimeline, EventContext};

/// Record types that never lead to a hook event.
#[rustfmt::skip]
const BOOKKEEPING: [&str; 22] = [
    "agent-name", "agent-setting", "ai-title", "api-request", "api-request-blob", "api-request-shape", "atis-latch",
    "bridge-session", "cost-state", "custom-title", "file-history-delta", "file-history-snapshot", "last-prompt", "mode",
    "permission-mode", "pr-link", "progress", "queue-operation", "summary", "tag", "tools-used", "worktree-state",
];

pub(super) fn is_bookkeeping(kind: &str) -> bool {
    BOOKKEEPING.contains(&kind)
}

/// A subagent, as described by its file name and metadata.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SubagentInfo {
    /// The agent's id.
    pub id: String,
    /// The agent's type.
    pub kind: Option<String>,
    /// The id of the tool call that started it.
    pub call: Option<String>,
}

impl SubagentInfo {
    /// The agent whose transcript is at `path` (`…/agent-<id>.jsonl`), with the content of `agent-<id>.meta.json` if
    /// there is one; `None` for a main transcript.
    pub fn of(path: &str, metadata: Option<&[u8]>) -> Option<Self> {
        let id = file_stem(path).strip_prefix("agent-")?.to_owned();
        let metadata = metadata.map(AgentMetadata::parse).unwrap_or_default();
        Some(Self { id, kind: metadata.agent_type, call: metadata.tool_use_id })
    }
}

/// One transcript file of a session.
#[derive(Debug, Default)]
pub struct TranscriptFile {
    /// The file's own agent, then the agents whose records are interleaved with its own.
    timelines: Vec<AgentTimeline>,
    /// The timeline of each interleaved record, by its uuid.
    owners: HashMap<String, usize>,
    uuids: HashSet<String>,
    /// The records so far.
    seen: HashSet<RecordKey>,
    /// The agents whose records are inside its progress records.
    reported: ReportedAgents,
    /// Records that belong to the transcript from which this one was resumed.
    copied: HashSet<RecordKey>,
    skipped: SkippedRecords,
    lines: usize,
}

impl TranscriptFile {
    /// The main transcript of a session, at the path that the host would report.
    pub fn main(path: &str) -> Self {
        Self::new(path, None, None)
    }

    /// The transcript of a subagent of the session whose main transcript is at `main`.
    pub fn of_agent(main: &str, path: &str, agent: SubagentInfo) -> Self {
        Self::new(main, Some(agent), Some(path.to_owned()))
    }

    fn new(main: &str, agent: Option<SubagentInfo>, agent_transcript: Option<String>) -> Self {
        let (session, transcript) = (session_id(main), Some(main.to_owned()));
        let context = EventContext { agent, session, transcript, agent_transcript, ..EventContext::default() };
        Self { timelines: vec![AgentTimeline::new(context)], ..Self::default() }
    }

    /// Skips the records with these keys as copies.
    pub(crate) fn without_copies(self, copied: HashSet<RecordKey>) -> Self {
        Self { copied, ..self }
    }

    /// Reads the next line.
    pub fn line(&mut self, line: &[u8]) {
        self.lines += 1;
        if line.trim_ascii().is_empty() {
            return;
        }
        let parsed = TranscriptRecord::parse(line).ok_or(SkipReason::NotJson);
        if let Err(reason) = parsed.and_then(|record| self.record(&record)) {
            self.skipped.note(reason, self.lines);
        }
    }

    fn record(&mut self, record: &TranscriptRecord<'_>) -> Result<(), SkipReason> {
        let kind = record.kind.as_deref().ok_or(SkipReason::NoType)?;
        if let (Some((inner, call)), Some(timeline)) = (record.reported(), self.timelines.first()) {
            self.reported.record(&inner, call, &timeline.context, self.lines);
            return Ok(());
        }
        if is_bookkeeping(kind) {
            self.timelines.iter_mut().take(1).for_each(|timeline| timeline.bookkeeping(record));
            return Ok(());
        }
        if !matches!(kind, "user" | "assistant" | "system" | "attachment") {
            return Err(SkipReason::UnknownType(kind.to_owned()));
        }
        if matches!(kind, "user" | "assistant") && matches!(record.message.content, MessageContent::Missing) {
            return Err(SkipReason::NoMessage);
        }
        if record.uuid.as_deref().is_some_and(|uuid| !self.uuids.insert(uuid.to_owned())) {
            return Err(SkipReason::Repeated);
        }
        let key = record_key(record);
        let at = self.owner(record);
        let Some(timeline) = self.timelines.get_mut(at) else { return Ok(()) };
        if key.is_some_and(|key| self.copied.contains(&key)) {
            timeline.resumed = true;
            return Err(SkipReason::Copied);
        }
        // A resumed session may repeat its records under new ids.
        if key.is_some_and(|key| !self.seen.insert(key)) {
            return Err(SkipReason::Repeated);
        }
        let own_session = timeline.context.session.as_deref();
        let other_session = own_session.zip(record.session_id.as_deref()).is_some_and(|(own, other)| own != other);
        if other_session || record.is_forked() {
            timeline.resumed = true;
            return Err(SkipReason::Copied);
        }
        timeline.record(record, self.lines);
        Ok(())
    }

    /// The timeline that a record belongs to; older hosts write the records of subagents into the main file.
    fn owner(&mut self, record: &TranscriptRecord<'_>) -> usize {
        let in_main = self.timelines.first().is_some_and(|timeline| timeline.context.agent.is_none());
        if !record.is_sidechain.0 || !in_main {
            return 0;
        }
        let uuid = record.uuid.as_deref();
        let parent = record.parent_uuid.as_deref().and_then(|parent| self.owners.get(parent)).copied();
        let id = record.agent_id.as_deref();
        let known = id.and_then(|_| self.timelines.iter().position(|timeline| timeline.agent_id() == id));
        let at = known.or(parent).unwrap_or_else(|| {
            // An agent without an id is named after its first record.
            let id = id.or(uuid).unwrap_or("unnamed").to_owned();
            let main = self.timelines.first().map(|main| main.context.clone()).unwrap_or_default();
            let agent = Some(SubagentInfo { id, ..SubagentInfo::default() });
            let context = EventContext { agent, ..main };
            self.timelines.push(AgentTimeline::new(context));
            self.timelines.len() - 1
        });
        self.owners.extend(uuid.map(|uuid| (uuid.to_owned(), at)));
        at
    }
}

/// A hook event as the host would have sent it, as far as the transcript shows.
#[derive(Debug, Clone, PartialEq)]
pub struct RebuiltEvent {
    /// The event's payload.
    pub event: Value,
    /// When it happened, in UTC.
    pub at: Option<String>,
    /// The record that it was rebuilt from.
    pub position: TranscriptPosition,
}

/// The events of a session.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RebuiltSession {
    /// The events in the order in which they happened.
    pub events: Vec<RebuiltEvent>,
    /// Records that could not be used.
    pub skipped: SkippedRecords,
}

/// Rebuilds the events of a session from its transcript files, the main one first.
pub fn rebuild(files: Vec<TranscriptFile>) -> RebuiltSession {
    let mut skipped = SkippedRecords::default();
    let mut timelines = Vec::new();
    let mut reported = Vec::new();
    for (index, file) in files.into_iter().enumerate() {
        for mut timeline in file.timelines {
            timeline.finish();
            skipped.join(std::mem::take(&mut timeline.skipped), index);
            timelines.push((index, timeline));
        }
        for mut timeline in file.reported.timelines {
            timeline.finish();
            reported.push((index, timeline));
        }
        skipped.join(file.skipped, index);
    }
    reported_agents::add_missing(&mut timelines, reported);
    let mut background = merge::BackgroundTasks::default();
    let events = merge::ordered(timelines).into_iter().map(|(file, mut event)| {
        background.follow(&mut event.payload);
        let position = TranscriptPosition { file, line: event.written.line };
        RebuiltEvent { event: Value::Object(event.payload), at: event.written.at, position }
    });
    RebuiltSession { events: events.collect(), skipped }
}

fn file_stem(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.strip_suffix(".jsonl").unwrap_or(name)
}

/// The session id in a transcript's file name; a name without the form of an id was given by a person.
fn session_id(path: &str) -> Option<String> {
    let name = file_stem(path);
    let is_id = name.len() == 36 && name.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    is_id.then(|| name.to_owned())
}
