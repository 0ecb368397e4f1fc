//! Turns the records of one agent into hook events.

mod messages;

use super::SubagentInfo;
use super::pending_calls::PendingCalls;
use super::skipped::SkippedRecords;
use crate::host::transcript::{LenientText, TranscriptRecord};
use jiff::Timestamp;
use serde_json::{Map, Value};

/// An event of one agent, before the events of all agents are put in order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AgentEvent {
    pub payload: Map<String, Value>,
    pub written: RecordTime,
    /// How often the agent was called again before.
    pub run: usize,
}

/// When and where a record was written.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct RecordTime {
    pub at: Option<String>,
    /// Milliseconds; never less than those of the event before.
    pub time: i64,
    pub line: usize,
}

/// A message that may be the last of its turn.
#[derive(Debug)]
struct PossibleStop {
    time: RecordTime,
    /// Whether the record has a stop reason.
    explicit: bool,
    /// The API error that ended the turn.
    failure: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum ProcessState {
    #[default]
    New,
    Running,
    /// The host's process has ended.
    Ended,
}

/// The assistant's current message; the host writes one record per block.
#[derive(Debug, Default)]
struct AssistantMessage {
    id: Option<String>,
    text: String,
    has_calls: bool,
}

/// The records of one agent so far.
#[derive(Debug, Default)]
pub(super) struct AgentTimeline {
    pub context: EventContext,
    pub events: Vec<Option<AgentEvent>>,
    /// The prompt that a subagent was started with.
    pub first_prompt: Option<String>,
    /// Whether the file starts with records of another session.
    pub resumed: bool,
    pub skipped: SkippedRecords,
    calls: PendingCalls,
    possible_stop: Option<PossibleStop>,
    message: AssistantMessage,
    now: RecordTime,
    state: ProcessState,
    prompted: bool,
    /// Whether a stop hook has made the agent continue.
    stop_hook_active: bool,
    run: usize,
}

impl AgentTimeline {
    pub(super) fn new(context: EventContext) -> Self {
        Self { context, ..Self::default() }
    }

    pub(super) fn agent_id(&self) -> Option<&str> {
        self.context.agent.as_ref().map(|agent| agent.id.as_str())
    }

    pub(super) fn record(&mut self, record: &TranscriptRecord<'_>, line: usize) {
        let at = record.timestamp.as_deref();
        let time = at.and_then(|at| at.parse::<Timestamp>().ok()).map(Timestamp::as_millisecond);
        // A clock that goes backwards must not change the order.
        let time = time.unwrap_or(self.now.time).max(self.now.time);
        self.now = RecordTime { at: at.map(str::to_owned).or(self.now.at.take()), time, line };
        self.context.update(record);
        if self.is_subagent() {
            self.context.update_prompt(record);
        }
        if self.state != ProcessState::Running {
            self.start();
        }
        match record.kind.as_deref() {
            Some("user") => self.user(record),
            Some("assistant") => self.assistant(record),
            Some("system") => self.system(record),
            Some("attachment") => self.attachment(record),
            _ => {}
        }
    }

    pub(super) fn bookkeeping(&mut self, record: &TranscriptRecord<'_>) {
        match record.kind.as_deref() {
            // Written when the host's process ends; what follows belongs to another process.
            Some("cost-state") if !self.is_subagent() && self.state == ProcessState::Running => {
                self.stop_if_complete();
                self.state = ProcessState::Ended;
            }
            Some("permission-mode") => {
                self.context.permission_mode = record.permission_mode.as_deref().map(str::to_owned);
            }
            _ => {}
        }
    }

    pub(super) fn finish(&mut self) {
        self.stop_if_complete();
        self.drop_calls();
    }

    pub(super) fn set_agent_type(&mut self, kind: &str) {
        let Some(agent) = self.context.agent.as_mut().filter(|agent| agent.kind.is_none()) else { return };
        agent.kind = Some(kind.to_owned());
        for event in self.events.iter_mut().flatten() {
            event.payload.insert("agent_type".to_owned(), kind.into());
        }
    }

    /// Adds the stop of an agent whose progress does not show it, at the end of its call.
    pub(super) fn stop_with(&mut self, message: Option<&str>, written: &RecordTime) {
        let mut event = self.context.event("SubagentStop");
        event.insert("stop_hook_active".to_owned(), self.stop_hook_active.into());
        event.extend(message.map(|message| ("last_assistant_message".to_owned(), message.into())));
        self.push_at(event, RecordTime { time: written.time.max(self.now.time), ..written.clone() });
    }

    fn is_subagent(&self) -> bool {
        self.context.agent.is_some()
    }

    fn start(&mut self) {
        let again = self.state == ProcessState::Ended || self.resumed;
        self.state = ProcessState::Running;
        if self.is_subagent() {
            return self.push(self.context.event("SubagentStart"));
        }
        self.context.prompt_id = None;
        self.push_event("SessionStart", [("source", if again { "resume" } else { "startup" }.into())]);
    }

    fn system(&mut self, record: &TranscriptRecord<'_>) {
        match record.subtype.as_deref() {
            Some("stop_hook_summary" | "turn_duration") => self.stop(),
            Some("compact_boundary") => {
                self.stop();
                // A call whose result was compacted away is over.
                self.drop_calls();
                self.compacted(record);
            }
            _ => {}
        }
    }

    fn compacted(&mut self, record: &TranscriptRecord<'_>) {
        // Which events the compaction of a subagent causes is not known.
        if self.is_subagent() {
            return;
        }
        let trigger = || record.compact_trigger().map(|trigger| ("trigger", trigger));
        // Only the summary shows which prompt caused the compaction.
        let prompt = self.context.prompt_id.take();
        self.push_event("PreCompact", trigger());
        self.push_event("SessionStart", [("source", "compact".into())]);
        self.push_event("PostCompact", trigger());
        self.context.prompt_id = prompt;
    }

    fn push_event(&mut self, name: &str, fields: impl IntoIterator<Item = (&'static str, Value)>) {
        let mut event = self.context.event(name);
        event.extend(fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
        self.push(event);
    }

    fn push(&mut self, event: Map<String, Value>) {
        self.push_at(event, self.now.clone());
    }

    fn push_at(&mut self, payload: Map<String, Value>, written: RecordTime) {
        self.events.push(Some(AgentEvent { payload, written, run: self.run }));
    }
}

/// What is known about an agent's session and surroundings.
#[derive(Debug, Clone, Default)]
pub(super) struct EventContext {
    pub agent: Option<SubagentInfo>,
    pub session: Option<String>,
    /// The path of the session's main transcript.
    pub transcript: Option<String>,
    pub agent_transcript: Option<String>,
    pub cwd: Option<String>,
    pub prompt_id: Option<String>,
    pub permission_mode: Option<String>,
}

/// Events that carry the permission mode.
const WITH_PERMISSION_MODE: [&str; 7] = [
    "UserPromptSubmit",
    "UserPromptExpansion",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
    "SubagentStop",
];

/// The number of fields that most events have at most.
const MOST_FIELDS: usize = 14;

impl EventContext {
    pub(super) fn update(&mut self, record: &TranscriptRecord<'_>) {
        keep(&mut self.cwd, &record.cwd);
        keep(&mut self.permission_mode, &record.permission_mode);
        if self.session.is_none() {
            keep(&mut self.session, &record.session_id);
        }
    }

    pub(super) fn update_prompt(&mut self, record: &TranscriptRecord<'_>) {
        keep(&mut self.prompt_id, &record.prompt_id);
    }

    pub(super) fn tool_event(&self, name: &str, tool: String, input: Value, id: String) -> Map<String, Value> {
        let mut event = self.event(name);
        event.insert("tool_name".to_owned(), tool.into());
        event.insert("tool_input".to_owned(), input);
        event.insert("tool_use_id".to_owned(), id.into());
        event
    }

    /// An event with the shared fields.
    pub(super) fn event(&self, name: &str) -> Map<String, Value> {
        let agent = self.agent.as_ref();
        let permission_mode = self.permission_mode.clone().filter(|_| WITH_PERMISSION_MODE.contains(&name));
        let fields = [
            ("session_id", self.session.clone()),
            ("transcript_path", self.transcript.clone()),
            ("cwd", self.cwd.clone()),
            ("prompt_id", self.prompt_id.clone()),
            ("permission_mode", permission_mode),
            ("agent_id", agent.map(|agent| agent.id.clone())),
            ("agent_type", agent.and_then(|agent| agent.kind.clone())),
            ("hook_event_name", Some(name.to_owned())),
        ];
        let mut event = Map::with_capacity(MOST_FIELDS);
        event.extend(fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into()))));
        event
    }
}

fn keep(field: &mut Option<String>, value: &LenientText<'_>) {
    if let Some(text) = value.as_deref().filter(|text| field.as_deref() != Some(text)) {
        *field = Some(text.to_owned());
    }
}
