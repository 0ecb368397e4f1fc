//! Modes, phases and gates, as written in YAML.

mod broken_file;
mod catalogue;
mod embedded;
mod event_filter;
pub mod imported;
mod lint;
mod named_programs;
mod project_trust;
mod read;
mod user_only;

pub use broken_file::{BrokenFile, FileKind};
pub use catalogue::{
    Catalogue, HOOKS, ModeOrigin, PLUGIN_GATES, ProjectSources, SETTINGS, USER_HOOKS, embedded_mode, import,
};
pub use embedded::EMBEDDED;
pub use event_filter::EventFilter;
pub use named_programs::{NamedProgram, replaced_hooks};
pub use project_trust::{ProjectTrust, TrustState};
pub use read::{MOST_GATES, read, read_node};
pub use user_only::USER_SETTINGS;

use crate::host::event::Trigger;
use crate::host::event::command::same_command;
use crate::host::ids::{AgentName, GateId};
use crate::policy::check::{Check, Definitions};
pub use crate::policy::settings::Level;

use crate::facts::verdict::Verdict;
use crate::policy::yaml::Location;
use serde::{Deserialize, Serialize};

/// The mode that is always active.
pub const BASE: &str = "base";

/// A mode: a workflow that a command activates.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Mode {
    pub name: String,
    pub about: String,
    /// The commands that activate it, without the slash.
    pub commands: Vec<String>,
    /// Its key in `cache.json`.
    pub namespace: String,
    /// The context for the model at activation.
    pub say: String,
    /// The context for the parent when the mode is complete.
    pub end: String,
    pub definitions: Definitions,
    /// Whether workers of other phases are blocked.
    pub strict: bool,
    /// The level of its gates that have no other.
    pub level: Option<Level>,
    /// How often its gates block the same stop, unless they have another number.
    pub patience: Option<u32>,
    /// Gates for its activation.
    pub before: Vec<Gate>,
    pub phases: Vec<Phase>,
    pub gates: Vec<Gate>,
}

/// A phase: the part of one worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    pub name: String,
    pub worker: Worker,
    /// Gates for the worker's start.
    pub before: Vec<Gate>,
    /// Gates for the worker's stop.
    pub after: Vec<Gate>,
    /// Whether the main agent's stop is blocked until the phase is done.
    pub blocks_stop: bool,
    /// The check that enters a detour from the phases of `from`.
    pub when: Option<Check>,
    /// The phases from which a detour is entered.
    pub from: Vec<String>,
    pub location: Location,
}

/// Who works in a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Worker {
    /// A subagent under any of these names; the first is its main one.
    Agent(Vec<AgentName>),
    Main,
    Mode(String),
}

/// A gate: a check that an event must pass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// Its id, a short statement such as `plan-is-written`.
    pub id: GateId,
    /// The events it matches; gates of a phase match their worker, and a gate without triggers is reached from others.
    pub on: Vec<Trigger>,
    /// The check that decides whether the gate applies.
    pub condition: Option<Check>,
    /// Its level.
    pub level: Option<Level>,
    /// Whether it is active also while the mode is not.
    pub always: bool,
    /// Where it is in its file.
    pub location: Location,
    /// The check.
    pub check: Check,
    /// The message when the check does not pass.
    pub message: String,
    /// The action when the check passes.
    pub pass: Action,
    /// The action when it fails.
    pub fail: Action,
    /// The action when the result is unknown.
    pub unknown: Action,
    /// How often it blocks the same stop while nothing changes.
    pub patience: Option<u32>,
    /// The time limit of its check, in seconds.
    pub timeout: Option<u32>,
    /// Whether it runs only once.
    pub once: Option<Once>,
    /// The context for the model when the check passes.
    pub context: Option<String>,
    /// Changes to the tool's input when the check passes, as a JSON object.
    pub rewrite: Option<String>,
}

impl Gate {
    /// Whether it is there to rewrite the tool's input.
    pub fn rewrites(&self) -> bool {
        self.rewrite.is_some() || self.check.rewrites()
    }
}

/// What a gate does after its check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    Verdict(Verdict),
    /// Another gate of the mode decides.
    Gate(GateId),
}

/// How often a gate runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Once {
    Session,
    Day,
}

impl Mode {
    pub fn activated_by(&self, command: &str) -> bool {
        self.commands.iter().any(|own| same_command(own, command))
    }

    /// The phase of that name, with its index.
    pub fn phase(&self, name: &str) -> Option<(usize, &Phase)> {
        self.phases.iter().enumerate().find(|(_, phase)| phase.name == name)
    }

    pub fn first(&self) -> Option<&Phase> {
        self.phases.iter().find(|phase| phase.when.is_none())
    }

    /// The phase after `index`, skipping detours.
    pub fn next(&self, index: usize) -> Option<&Phase> {
        self.phases.iter().skip(index + 1).find(|phase| phase.when.is_none())
    }

    /// Every gate with its phase, if it has one.
    pub fn all_gates(&self) -> impl Iterator<Item = (Option<&Phase>, &Gate)> {
        let phased = self
            .phases
            .iter()
            .flat_map(|phase| phase.before.iter().chain(&phase.after).map(move |gate| (Some(phase), gate)));
        self.before.iter().map(|gate| (None, gate)).chain(phased).chain(self.gates.iter().map(|gate| (None, gate)))
    }

    fn all_gates_mut(&mut self) -> impl Iterator<Item = &mut Gate> {
        let phased = self.phases.iter_mut().flat_map(|phase| phase.before.iter_mut().chain(&mut phase.after));
        self.before.iter_mut().chain(phased).chain(&mut self.gates)
    }

    /// Whether one of its checks asks a program or a server.
    pub fn has_steps(&self) -> bool {
        let mut has = false;
        self.checks(&mut |check| has |= check.has_steps());
        has
    }

    /// Allows these environment variables, and no others, in the headers of its `http` checks.
    fn allow_env(&mut self, names: &[String]) {
        let allow = |check: &mut Check| check.change_steps(&|step| step.env = names.to_vec());
        for phase in &mut self.phases {
            phase.when.iter_mut().for_each(allow);
        }
        for gate in self.all_gates_mut() {
            gate.condition.iter_mut().chain([&mut gate.check]).for_each(allow);
        }
    }

    /// Visits every check, including parts of composed ones and those of detours.
    pub fn checks<'a>(&'a self, visit: &mut dyn FnMut(&'a Check)) {
        self.all_gates().for_each(|(_, gate)| gate.check.walk(visit));
        self.all_gates().filter_map(|(_, gate)| gate.condition.as_ref()).for_each(|check| check.walk(visit));
        self.phases.iter().filter_map(|phase| phase.when.as_ref()).for_each(|check| check.walk(visit));
    }
}

impl Worker {
    /// Whether this is the subagent of that name.
    pub fn is_agent(&self, name: &str) -> bool {
        matches!(self, Self::Agent(names) if names.iter().any(|own| own.is(name)))
    }

    /// The main name of a subagent.
    pub fn agent(&self) -> Option<&str> {
        if let Self::Agent(names) = self { names.first().map(AgentName::as_str) } else { None }
    }

    pub fn is_mode(&self, name: &str) -> bool {
        matches!(self, Self::Mode(own) if own == name)
    }
}

impl std::fmt::Display for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Agent(names) => f.write_str(names.first().map_or("", AgentName::as_str)),
            Self::Main => f.write_str("the main agent"),
            Self::Mode(name) => write!(f, "{name} mode"),
        }
    }
}
