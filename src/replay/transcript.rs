//! The host's transcript of a session, turned back into the events that hooks would have heard.
//!
//! The format is the host's own and changes. So it is read without demands: what cannot be used is counted
//! with its reason, and what cannot be known is left out of an event.
//!
//! A session is one main file, and one more for each subagent. Each is a [`TranscriptFile`] that is given its lines;
//! [`rebuild`] puts the events of all parts in order.
//!
//! ```
//! use modegate::replay::transcript::{SubagentInfo, TranscriptFile, rebuild};
//! let main = "/home/ann/.claude/projects/-home-ann-app/s1.jsonl";
//! let mut part = TranscriptFile::main(main);
//! part.line(br#"{"type": "user", "cwd": "/home/ann/app", "message": {"content": "/plan x"}}"#);
//! let path = "/home/ann/.claude/projects/-home-ann-app/s1/subagents/agent-a1.jsonl";
//! let card = br#"{"agentType": "planner", "toolUseId": "toolu_1"}"#;
//! let agents = SubagentInfo::of(path, Some(card)).map(|agent| TranscriptFile::of_agent(main, path, agent));
//! let retold = rebuild(std::iter::once(part).chain(agents).collect());
//! assert_eq!(retold.events[1].event["prompt"], "/plan x");
//! assert_eq!(retold.skipped.count(), 0);
//! ```

mod background;
mod calls;
mod merge;
mod record;
mod response;
mod said;
mod setting;
mod skipped;
mod track;

pub use skipped::{SkipCount, SkipReason, SkippedRecords, TranscriptPosition};

use merge::TimelineOfFile;
use record::TranscriptRecord;
use serde_json::Value;
use setting::EventContext;
use std::collections::{HashMap, HashSet};
use track::AgentTimeline;

/// A subagent, as its file's name and its card tell it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SubagentInfo {
    /// Its id.
    pub id: String,
    /// Its type.
    pub kind: Option<String>,
    /// The id of the tool call that it came from.
    pub call: Option<String>,
}

impl SubagentInfo {
    /// The agent whose transcript has this path (`…/agent-<id>.jsonl`), with its card (`agent-<id>.meta.json`) if
    /// there is one; `None` for the path of a main transcript.
    #[must_use]
    pub fn of(path: &str, card: Option<&[u8]>) -> Option<Self> {
        let id = stem(path).strip_prefix("agent-")?.to_owned();
        let card: Value = card.and_then(|card| serde_json::from_slice(card).ok()).unwrap_or_default();
        let text = |name: &str| card.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        Some(Self { id, kind: text("agentType").map(str::to_owned), call: text("toolUseId").map(str::to_owned) })
    }
}

/// One file of a session's transcript.
#[derive(Debug)]
pub struct TranscriptFile {
    /// The file's own agent first, then those whose records stand between its own.
    tracks: Vec<AgentTimeline>,
    /// Which track a record belongs to, by the id that others name as their parent.
    owners: HashMap<String, usize>,
    seen: HashSet<String>,
    skipped: SkippedRecords,
    lines: usize,
}

impl TranscriptFile {
    /// The main transcript of a session, at the path that the host would name.
    #[must_use]
    pub fn main(path: &str) -> Self {
        let session = Some(stem(path)).filter(|name| is_uuid(name)).map(str::to_owned);
        Self::new(EventContext { session, transcript: Some(path.to_owned()), ..EventContext::default() })
    }

    /// The transcript of a subagent of the session whose main transcript is at `main`.
    #[must_use]
    pub fn of_agent(main: &str, path: &str, agent: SubagentInfo) -> Self {
        let session = Some(stem(main)).filter(|name| is_uuid(name)).map(str::to_owned);
        let (agent, transcript, own) = (Some(agent), Some(main.to_owned()), Some(path.to_owned()));
        Self::new(EventContext { agent, session, transcript, own, ..EventContext::default() })
    }

    fn new(setting: EventContext) -> Self {
        Self {
            tracks: vec![AgentTimeline::new(setting)],
            owners: HashMap::new(),
            seen: HashSet::new(),
            skipped: SkippedRecords::default(),
            lines: 0,
        }
    }

    /// Takes the next line.
    pub fn line(&mut self, line: &[u8]) {
        self.lines += 1;
        if line.trim_ascii().is_empty() {
            return;
        }
        let taken = match TranscriptRecord::read(line) {
            Ok(record) => self.record(&record),
            Err(too_long) => Err(if too_long { SkipReason::TooLong } else { SkipReason::NotJson }),
        };
        if let Err(reason) = taken {
            self.skipped.note(reason, self.lines);
        }
    }

    fn record(&mut self, record: &TranscriptRecord) -> Result<(), SkipReason> {
        let kind = record.kind().ok_or(SkipReason::NoType)?;
        if record.is_silent() {
            self.tracks.iter_mut().take(1).for_each(|track| track.take_silent(record));
            return Ok(());
        }
        if !matches!(kind, "user" | "assistant" | "system" | "attachment") {
            return Err(SkipReason::UnknownType(kind.to_owned()));
        }
        if matches!(kind, "user" | "assistant") && !record.has_message() {
            return Err(SkipReason::NoMessage);
        }
        if record.text("uuid").is_some_and(|uuid| !self.seen.insert(uuid.to_owned())) {
            return Err(SkipReason::Repeated);
        }
        let at = self.owner(record);
        let Some(track) = self.tracks.get_mut(at) else { return Ok(()) };
        let foreign =
            track.setting.session.as_deref().zip(record.text("sessionId")).is_some_and(|(own, other)| own != other);
        if foreign || record.at("/forkedFrom").is_some() {
            track.resumed = true;
            return Err(SkipReason::Copied);
        }
        track.take(record, self.lines, &mut self.skipped);
        Ok(())
    }

    /// Which track a record belongs to. Older hosts wrote what subagents did into the main file.
    fn owner(&mut self, record: &TranscriptRecord) -> usize {
        let aside = record.is("isSidechain") && self.tracks.first().is_some_and(|track| track.setting.agent.is_none());
        let at = if aside { self.aside(record) } else { 0 };
        self.owners.extend(record.text("uuid").filter(|_| aside).map(|uuid| (uuid.to_owned(), at)));
        at
    }

    fn aside(&mut self, record: &TranscriptRecord) -> usize {
        let parent = record.text("parentUuid").and_then(|parent| self.owners.get(parent)).copied();
        let known = |id: &str| {
            self.tracks.iter().position(|track| track.setting.agent.as_ref().is_some_and(|agent| agent.id == id))
        };
        let id = record.text("agentId");
        id.and_then(known).or(parent).unwrap_or_else(|| {
            // Without a name of its own it goes by its first record.
            let id = id.or_else(|| record.text("uuid")).unwrap_or("unnamed").to_owned();
            let main = self.tracks.first().map(|main| main.setting.clone()).unwrap_or_default();
            self.tracks.push(AgentTimeline::new(EventContext {
                agent: Some(SubagentInfo { id, ..SubagentInfo::default() }),
                ..main
            }));
            self.tracks.len() - 1
        })
    }
}

/// An event as the host would have sent it, as far as that can be known.
#[derive(Debug, Clone, PartialEq)]
pub struct RebuiltEvent {
    /// The payload.
    pub event: Value,
    /// When it happened, in UTC.
    pub at: Option<String>,
    /// Where it comes from.
    pub place: TranscriptPosition,
}

/// A session, told again.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RebuiltSession {
    /// Its events, in the order in which they happened.
    pub events: Vec<RebuiltEvent>,
    /// What could not be used.
    pub skipped: SkippedRecords,
}

/// The events of a session from the parts of its transcript, the main one first.
#[must_use]
pub fn rebuild(parts: Vec<TranscriptFile>) -> RebuiltSession {
    let mut skipped = SkippedRecords::default();
    let mut tracks = Vec::new();
    for (part, mut file) in parts.into_iter().enumerate() {
        for mut track in file.tracks {
            track.end(&mut file.skipped);
            tracks.push(TimelineOfFile { part, track });
        }
        skipped.join(file.skipped, part);
    }
    let links = merge::link(&mut tracks);
    let mut background = background::BackgroundTasks::default();
    let events = merge::merge(tracks, &links).into_iter().map(|ordered| {
        let mut event = ordered.step.event;
        background.pass(&mut event);
        let place = TranscriptPosition { part: ordered.part, line: ordered.step.line };
        RebuiltEvent { event: Value::Object(event), at: ordered.step.at, place }
    });
    RebuiltSession { events: events.collect(), skipped }
}

/// The session that a line of a transcript belongs to: some hosts put the files of all agents into one folder.
#[must_use]
pub fn session_of(line: &[u8]) -> Option<String> {
    TranscriptRecord::read(line).ok()?.text("sessionId").map(str::to_owned)
}

/// A file's name without its ending.
fn stem(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.strip_suffix(".jsonl").unwrap_or(name)
}

/// Whether a name is an id of the host's: other names were given by people.
fn is_uuid(name: &str) -> bool {
    name.len() == 36 && name.chars().all(|c| c.is_ascii_hexdigit() || c == '-')
}
