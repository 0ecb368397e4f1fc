//! Modes, phases and gates, as the YAML says them.

mod broken_file;
mod catalogue;
mod embedded;
mod event_filter;
pub mod imported;
mod lint;
mod read;

pub use broken_file::{BrokenFile, FileKind};
pub use catalogue::{Catalogue, ModeOrigin, ProjectSources, SETTINGS};
pub use embedded::EMBEDDED;
pub use event_filter::EventFilter;
pub use read::{GATE, MODE, PHASE, read, read_node};

use crate::check::{Check, Definitions};
use crate::event::Trigger;
use crate::event::command::same_command;
use crate::ids::{AgentName, GateId};
pub use crate::settings::Level;

use crate::verdict::Verdict;
use crate::yaml::Location;
use serde::{Deserialize, Serialize};

/// The mode that always stands.
pub const BASE: &str = "base";

/// A mode: a workflow that a command activates.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Mode {
    /// Its name.
    pub name: String,
    /// What it is for, in a sentence.
    pub about: String,
    /// The commands that activate it, without the slash.
    pub commands: Vec<String>,
    /// its key in `cache.json`.
    pub namespace: String,
    /// What the model is told at activation.
    pub say: String,
    /// What the parent is told when the mode is complete.
    pub end: String,
    /// Its artifacts and variables.
    pub definitions: Definitions,
    /// Whether workers of other phases are refused.
    pub strict: bool,
    /// How much its gates may do, unless they say otherwise.
    pub level: Option<Level>,
    /// How often its gates hold an agent back, unless they say otherwise.
    pub patience: Option<u32>,
    /// What must hold before it is activated.
    pub before: Vec<Gate>,
    /// Its phases, in order.
    pub phases: Vec<Phase>,
    /// Its other gates.
    pub gates: Vec<Gate>,
}

/// A phase: one worker's part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// Who works.
    pub worker: Worker,
    /// What must hold before the worker starts.
    pub before: Vec<Gate>,
    /// What must hold before the worker stops.
    pub after: Vec<Gate>,
    /// Whether the main agent's stop is held back.
    pub hold: bool,
    /// A detour is entered when this holds, from the phases of `from`.
    pub when: Option<Check>,
    /// The phases from which a detour is entered.
    pub from: Vec<String>,
    /// Where it stands in its file.
    pub location: Location,
}

/// Who works in a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Worker {
    /// A subagent, under any of these names; the first is its own.
    Agent(Vec<AgentName>),
    /// The main agent itself.
    Main,
    /// Another mode, by name.
    Mode(String),
}

/// A gate: a check in an event's way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// Its name, a sentence that should hold.
    pub id: GateId,
    /// Which events it hears; a phase's gates hear their worker, and a gate without any is reached from others.
    pub on: Vec<Trigger>,
    /// What must hold for it to have a say at all.
    pub condition: Option<Check>,
    /// What it asks.
    pub check: Check,
    /// What it says when the check does not hold.
    pub message: String,
    /// What follows when the check holds.
    pub pass: Action,
    /// What follows when it fails.
    pub fail: Action,
    /// What follows when it cannot be told.
    pub unknown: Action,
    /// How much it may do.
    pub level: Option<Level>,
    /// How often it holds one agent back on the same facts.
    pub patience: Option<u32>,
    /// How long its check may take, in seconds.
    pub timeout: Option<u32>,
    /// Whether it speaks only once.
    pub once: Option<Once>,
    /// Whether it stands also while the mode is inactive.
    pub always: bool,
    /// What the model is told when the check holds.
    pub context: Option<String>,
    /// What the tool's input is given when the check holds, as a JSON object.
    pub rewrite: Option<String>,
    /// Where it stands in its file.
    pub location: Location,
}

/// What follows from a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// A verdict.
    Verdict(Verdict),
    /// Another gate of the mode decides.
    Gate(GateId),
}

/// How often a gate speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Once {
    /// Once a session.
    Session,
    /// Once a day.
    Day,
}

impl Mode {
    /// Whether `command` activates this mode.
    #[must_use]
    pub fn activated_by(&self, command: &str) -> bool {
        self.commands.iter().any(|own| same_command(own, command))
    }

    /// The phase of that name, with its index.
    #[must_use]
    pub fn phase(&self, name: &str) -> Option<(usize, &Phase)> {
        self.phases.iter().enumerate().find(|(_, phase)| phase.name == name)
    }

    /// The first phase.
    #[must_use]
    pub fn first(&self) -> Option<&Phase> {
        self.phases.iter().find(|phase| phase.when.is_none())
    }

    /// The phase after `index`; detours are not on the way.
    #[must_use]
    pub fn next(&self, index: usize) -> Option<&Phase> {
        self.phases.iter().skip(index + 1).find(|phase| phase.when.is_none())
    }

    /// Every gate with the phase it belongs to.
    pub fn all_gates(&self) -> impl Iterator<Item = (Option<&Phase>, &Gate)> {
        let phased = self
            .phases
            .iter()
            .flat_map(|phase| phase.before.iter().chain(&phase.after).map(move |gate| (Some(phase), gate)));
        self.before.iter().map(|gate| (None, gate)).chain(phased).chain(self.gates.iter().map(|gate| (None, gate)))
    }

    /// Whether one of its gates asks a program or a server.
    #[must_use]
    pub fn has_steps(&self) -> bool {
        let given = |gate: &Gate| gate.condition.as_ref().is_some_and(Check::has_steps);
        let when = self.phases.iter().filter_map(|phase| phase.when.as_ref());
        self.all_gates().any(|(_, gate)| gate.check.has_steps() || given(gate))
            || when.into_iter().any(Check::has_steps)
    }

    /// Lets the headers of its web steps have these variables.
    fn allow_env(&mut self, names: &[String]) {
        let phased = self.phases.iter_mut().flat_map(|phase| phase.before.iter_mut().chain(phase.after.iter_mut()));
        for gate in self.before.iter_mut().chain(phased).chain(self.gates.iter_mut()) {
            gate.check.change_steps(&|step| step.env.extend_from_slice(names));
        }
    }

    /// Every check, composed ones and detours' included.
    pub fn checks<'a>(&'a self, visit: &mut dyn FnMut(&'a Check)) {
        self.all_gates().for_each(|(_, gate)| gate.check.walk(visit));
        self.all_gates().filter_map(|(_, gate)| gate.condition.as_ref()).for_each(|check| check.walk(visit));
        self.phases.iter().filter_map(|phase| phase.when.as_ref()).for_each(|check| check.walk(visit));
    }
}

impl Worker {
    /// Whether this is the subagent of that name.
    #[must_use]
    pub fn is_agent(&self, name: &str) -> bool {
        matches!(self, Self::Agent(names) if names.iter().any(|own| own.is(name)))
    }

    /// Whether this is the mode of that name.
    #[must_use]
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
