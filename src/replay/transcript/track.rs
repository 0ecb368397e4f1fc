//! One agent's records, read in order: what hooks would have heard of it.

mod hear;
mod turn;

use super::calls::PendingCalls;
use super::record::TranscriptRecord;
use super::setting::EventContext;
use super::skipped::SkippedRecords;
use jiff::Timestamp;
use serde_json::{Map, Value};

/// An event of one agent, before those of all agents are put in order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AgentEvent {
    pub event: Map<String, Value>,
    pub at: Option<String>,
    /// Milliseconds; never less than those of the step before.
    pub time: i64,
    pub line: usize,
    /// How often the agent had been called again.
    pub run: usize,
}

/// When a record was written, as far as it says so.
#[derive(Debug, Clone, Default)]
struct RecordTime {
    at: Option<String>,
    time: i64,
    line: usize,
}

/// A message that may be the last of its turn.
#[derive(Debug)]
struct PossibleStop {
    moment: RecordTime,
    text: String,
    /// Whether the model said that it is.
    explicit: bool,
    /// The host's error in the message's place.
    failure: Option<String>,
}

/// How far a track has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum ProcessState {
    /// Nothing has happened.
    #[default]
    New,
    /// It goes on.
    Going,
    /// The host's process has ended.
    Over,
}

/// The records of one agent so far.
#[derive(Debug, Default)]
pub(super) struct AgentTimeline {
    pub setting: EventContext,
    pub steps: Vec<Option<AgentEvent>>,
    /// What a subagent was first told.
    pub opening: Option<String>,
    /// Whether records of another session stand before its own.
    pub resumed: bool,
    calls: PendingCalls,
    closing: Option<PossibleStop>,
    message: AssistantMessage,
    now: RecordTime,
    stage: ProcessState,
    prompted: bool,
    /// Whether a stop hook has made the turn go on.
    continuing: bool,
    run: usize,
}

/// The assistant's message at hand; the host writes a line for each of its blocks.
#[derive(Debug, Default)]
struct AssistantMessage {
    id: Option<String>,
    text: String,
    calls: bool,
}

impl AgentTimeline {
    /// The track of an agent about which nothing is known but where it is.
    pub(super) fn new(setting: EventContext) -> Self {
        Self { setting, ..Self::default() }
    }

    /// Takes a record of the conversation.
    pub(super) fn take(&mut self, record: &TranscriptRecord, line: usize, skipped: &mut SkippedRecords) {
        self.look_around(record, line);
        if self.is_sub() {
            self.setting.prompt_id(record);
        }
        if self.stage != ProcessState::Going {
            self.begin();
        }
        match record.kind() {
            Some("user") => self.user(record, skipped),
            Some("assistant") => self.assistant(record),
            Some("system") => self.system(record),
            Some("attachment") => self.attachment(record),
            _ => {}
        }
    }

    /// Takes a record of the host's bookkeeping.
    pub(super) fn take_silent(&mut self, record: &TranscriptRecord) {
        match record.kind() {
            // Written when the host's process ends: whatever follows is another one's.
            Some("cost-state") if !self.is_sub() && self.stage == ProcessState::Going => {
                self.close();
                self.stage = ProcessState::Over;
            }
            Some("permission-mode") => self.setting.mode = record.text("permissionMode").map(str::to_owned),
            _ => {}
        }
    }

    /// There are no more records.
    pub(super) fn end(&mut self, skipped: &mut SkippedRecords) {
        self.close();
        self.give_up(skipped);
    }

    /// The type of the agent becomes known.
    pub(super) fn name(&mut self, kind: &str) {
        for step in self.steps.iter_mut().flatten() {
            step.event.insert("agent_type".to_owned(), kind.into());
        }
        if let Some(agent) = &mut self.setting.agent {
            agent.kind = Some(kind.to_owned());
        }
    }

    fn look_around(&mut self, record: &TranscriptRecord, line: usize) {
        let at = record.text("timestamp");
        let time = at.and_then(|at| at.parse::<Timestamp>().ok()).map(Timestamp::as_millisecond);
        // A clock that goes backwards must not change the order.
        let time = time.unwrap_or(self.now.time).max(self.now.time);
        self.now = RecordTime { at: at.map(str::to_owned).or(self.now.at.take()), time, line };
        self.setting.look_around(record);
    }

    /// Whether this is a subagent's.
    fn is_sub(&self) -> bool {
        self.setting.agent.is_some()
    }

    fn begin(&mut self) {
        let again = self.stage == ProcessState::Over || self.resumed;
        self.stage = ProcessState::Going;
        if self.is_sub() {
            let event = self.setting.event("SubagentStart");
            return self.push(event);
        }
        self.setting.prompt = None;
        let mut event = self.setting.event("SessionStart");
        event.insert("source".to_owned(), if again { "resume" } else { "startup" }.into());
        self.push(event);
    }

    fn system(&mut self, record: &TranscriptRecord) {
        match record.text("subtype") {
            Some("stop_hook_summary" | "turn_duration") => self.close(),
            Some("compact_boundary") => {
                self.close();
                self.compacted(record);
            }
            _ => {}
        }
    }

    fn compacted(&mut self, record: &TranscriptRecord) {
        // A subagent's compaction is told of too, but nothing was seen of how.
        if self.is_sub() {
            return;
        }
        let trigger = record.at("/compactMetadata/trigger").cloned();
        // Whether a prompt of its own has caused it shows only in the summary.
        let prompt = self.setting.prompt.take();
        for (name, field, value) in [
            ("PreCompact", "trigger", trigger.clone()),
            ("SessionStart", "source", Some("compact".into())),
            ("PostCompact", "trigger", trigger),
        ] {
            let mut event = self.setting.event(name);
            event.extend(value.map(|value| (field.to_owned(), value)));
            self.push(event);
        }
        self.setting.prompt = prompt;
    }

    fn push(&mut self, event: Map<String, Value>) {
        self.push_on(event, self.now.line);
    }

    fn push_on(&mut self, event: Map<String, Value>, line: usize) {
        let RecordTime { at, time, .. } = self.now.clone();
        self.steps.push(Some(AgentEvent { event, at, time, line, run: self.run }));
    }
}
