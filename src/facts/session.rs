//! The state of a session in each mode, as `cache.json` keeps it.

use crate::host::ids::{AgentId, AgentName, GateId, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The namespace of the base mode, which has the state that belongs to no other mode.
pub const BASE_NAMESPACE: &str = "base_mode";

/// The state of modes, by namespace. An event copies a session several times, and changes few of its modes.
pub type SessionModes = BTreeMap<String, Arc<ModeState>>;

/// One session: its modes, and the other values of the state file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Session {
    /// Its id; empty when the host did not send one.
    pub id: SessionId,
    /// The state of its modes, by namespace.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub modes: SessionModes,
    /// Values that scripts have set for all sessions, by namespace.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, Map<String, Value>>,
}

/// The state of one mode in a session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ModeState {
    /// Whether the mode is active.
    pub is_active: bool,
    /// The phase it is in, or was in when it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// When it was activated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activated_at: Option<String>,
    /// The prompt that activated it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<String>,
    /// The commit of HEAD at activation; empty before the first commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// The files that were uncommitted at activation, with fingerprints of their contents.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub baseline: BTreeMap<String, String>,
    /// The phases that are done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub done: Vec<String>,
    /// The phases that a person has skipped.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
    /// The phase to go back to after a detour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<DetourOrigin>,
    /// How the mode ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<ModeEnding>,
    /// Counts the things seen; orders `seen`.
    #[serde(skip_serializing_if = "is_default")]
    pub tick: u64,
    /// The tick at which the current phase began.
    #[serde(skip_serializing_if = "is_default")]
    pub since: u64,
    /// When something was last seen (`edit`, `test:passed`, `ran:agent`), as a tick.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub seen: BTreeMap<String, u64>,
    /// The latest run of a command whose result could not be read, by the command.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub unread: BTreeMap<String, UnreadRun>,
    /// How often a gate has blocked an agent's stop, by `gate@agent`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub blocks: BTreeMap<String, BlockCount>,
    /// Gates that gave in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unmet: Vec<UnmetGate>,
    /// Notes that wait for an event whose reply reaches the main agent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Messages to the user that wait for the same event.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<String>,
    /// The period in which a gate with `once` last fired, by gate.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub notified: BTreeMap<String, String>,
    /// The sessions that this one was forked from, the nearest first; only in the base mode.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forked_from: Vec<SessionId>,
    /// Whether the session is a fork whose parent is not known yet; only in the base mode.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fork_pending: bool,
    /// Agents in flight that work in one of its phases, by id.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<AgentId, AgentRecord>,
    /// Starts that it has allowed and that have not happened yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub admitted: Vec<AdmittedStart>,
    /// The highest number that an agent got in a phase where several worked at the same time.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parallel: BTreeMap<String, u32>,
    /// Phases whose evidence is there while other agents still work in them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<String>,
    /// All other keys.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl ModeState {
    /// What `cache.json` shows of it: what people and scripts ask for, not what only gates and agents need. Most tool calls
    /// change only the rest.
    pub(crate) fn shown(&self) -> Self {
        Self {
            baseline: BTreeMap::new(),
            tick: 0,
            since: 0,
            seen: BTreeMap::new(),
            unread: BTreeMap::new(),
            blocks: BTreeMap::new(),
            notes: Vec::new(),
            messages: Vec::new(),
            notified: BTreeMap::new(),
            admitted: Vec::new(),
            ..self.clone()
        }
    }
}

/// The phase in which a detour began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DetourOrigin {
    pub phase: String,
    /// The tick at which that phase began.
    pub since: u64,
}

/// A run of a command whose result could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreadRun {
    /// The command without filters, as it should be run.
    pub run: String,
    /// What was seen, as a clause.
    pub saw: String,
}

/// How a mode ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModeEnding {
    /// Its last phase was done.
    Complete,
    /// A person left it.
    Left,
}

/// How often a gate has blocked one agent on the same facts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BlockCount {
    pub count: u32,
    /// The fingerprint of what was seen.
    pub facts: String,
}

/// A gate that gave in: it allowed a stop after its patience was used up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnmetGate {
    pub gate: GateId,
    /// The agent that was allowed to stop.
    pub agent: AgentName,
    pub at: String,
}

/// An agent in flight that works in a phase of a mode.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentRecord {
    /// Its type; a teammate has another name.
    pub agent: AgentName,
    /// The tool call in which the main agent waits for it; `None` in the background.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// Whether the gates before its phase did not pass: then its tools are blocked until they do.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub start_blocked: bool,
    /// Whether the host does not list it among the background tasks under its id.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unlisted: bool,
    /// Its number among the agents that work or worked in its phase at the same time; 0 for one that was alone.
    #[serde(skip_serializing_if = "is_default")]
    pub number: u32,
}

/// A tool call that may start an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AdmittedStart {
    pub call: String,
    pub agent: AgentName,
    /// The name that the call gives the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The agent's id, if it ran before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<AgentId>,
    /// Whether another subagent makes the call.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub nested: bool,
}

impl AdmittedStart {
    /// The tool call in which the main agent waits for the agent that starts.
    pub fn awaited_call(self) -> Option<String> {
        Some(self.call).filter(|call| !call.is_empty() && self.id.is_none() && !self.nested)
    }
}

impl Session {
    /// The state of the mode with this namespace.
    pub fn mode_state(&self, namespace: &str) -> Option<&ModeState> {
        self.modes.get(namespace).map(Arc::as_ref)
    }

    /// Whether a mode is active.
    pub fn is_in_mode(&self) -> bool {
        self.modes.values().any(|state| state.is_active)
    }

    /// Whether the mode with this namespace is active.
    pub fn is_active(&self, namespace: &str) -> bool {
        self.mode_state(namespace).is_some_and(|state| state.is_active)
    }

    /// The sessions that this one was forked from, the nearest first.
    pub fn ancestors(&self) -> &[SessionId] {
        self.mode_state(BASE_NAMESPACE).map_or(&[], |base| base.forked_from.as_slice())
    }

    /// Whether the session is a fork whose parent is not known yet.
    pub fn is_pending_fork(&self) -> bool {
        self.mode_state(BASE_NAMESPACE).is_some_and(|base| base.fork_pending)
    }

    /// The state of the mode with this namespace, to change it.
    pub fn mode_state_mut(&mut self, namespace: &str) -> Option<&mut ModeState> {
        self.modes.get_mut(namespace).map(Arc::make_mut)
    }

    /// The state of the base mode.
    pub fn base_mut(&mut self) -> &mut ModeState {
        Arc::make_mut(self.modes.entry(BASE_NAMESPACE.to_owned()).or_default())
    }

    /// Whether the gates of a mode block the start of the agent with this id.
    pub fn is_start_blocked(&self, agent: &str) -> bool {
        self.modes.values().any(|state| state.blocks_start_of(agent))
    }

    /// A value of a namespace, such as `current_phase`; the session's own value comes first.
    pub fn value(&self, namespace: &str, key: &str) -> Option<Value> {
        let own = self.mode_state(namespace).and_then(|state| state.value(key));
        own.or_else(|| self.values.get(namespace)?.get(key).cloned())
    }
}

impl ModeState {
    /// Whether a phase is done or skipped.
    pub fn is_past(&self, phase: &str) -> bool {
        self.done.iter().chain(&self.skipped).any(|name| name == phase)
    }

    /// Whether its gates block the start of the agent with this id.
    pub fn blocks_start_of(&self, agent: &str) -> bool {
        self.agents.get(agent).is_some_and(|record| record.start_blocked)
    }

    /// The tick at which something was last seen.
    pub fn seen_at(&self, what: &str) -> Option<u64> {
        self.seen.get(what).copied()
    }

    /// Records that something was seen.
    pub fn see(&mut self, what: &str) {
        self.tick = self.tick.saturating_add(1);
        self.seen.insert(what.to_owned(), self.tick);
    }

    /// Enters a phase.
    pub fn enter(&mut self, phase: &str) {
        self.phase = Some(phase.to_owned());
        self.since = self.tick;
    }

    /// The state that a fork of the session begins with: the work so far, without what waits in the parent.
    pub fn for_fork(&self) -> Self {
        Self {
            blocks: BTreeMap::new(),
            notes: Vec::new(),
            messages: Vec::new(),
            forked_from: Vec::new(),
            fork_pending: false,
            agents: BTreeMap::new(),
            admitted: Vec::new(),
            ..self.clone()
        }
    }

    pub(crate) fn value(&self, key: &str) -> Option<Value> {
        // Scripts know it as `current_phase`; a mode that has ended has no current phase.
        let key = if key == "current_phase" { "phase" } else { key };
        if key == "phase" && !self.is_active {
            return None;
        }
        match serde_json::to_value(self) {
            Ok(Value::Object(mut map)) => map.shift_remove(key),
            _ => None,
        }
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
