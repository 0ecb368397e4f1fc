//! The modes as the report draws them.

use crate::mode::{BASE, Catalogue, Gate, Mode, Phase, Worker};
use serde::Serialize;

/// A mode as boxes and arrows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagram {
    name: String,
    about: String,
    commands: Vec<String>,
    strict: bool,
    phases: Vec<Stop>,
    gates: Vec<Guard>,
}

/// A phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Stop {
    name: String,
    worker: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    detour: bool,
    before: Vec<Guard>,
    after: Vec<Guard>,
}

/// A gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Guard {
    id: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    on: String,
    says: String,
}

/// The modes of a catalogue.
#[must_use]
pub fn diagrams(catalogue: &Catalogue) -> Vec<Diagram> {
    catalogue.modes.iter().map(diagram).collect()
}

fn diagram(mode: &Mode) -> Diagram {
    Diagram {
        name: mode.name.clone(),
        about: mode.about.clone(),
        commands: mode.commands.iter().map(|command| format!("/{command}")).collect(),
        strict: mode.strict,
        phases: mode.phases.iter().map(stop).collect(),
        gates: if mode.name == BASE { Vec::new() } else { mode.before.iter().chain(&mode.gates).map(guard).collect() },
    }
}

fn stop(phase: &Phase) -> Stop {
    let worker = match &phase.worker {
        Worker::Main => "main".to_owned(),
        Worker::Mode(name) => format!("mode {name}"),
        Worker::Agent(names) => names.first().map(ToString::to_string).unwrap_or_default(),
    };
    let guards = |gates: &[Gate]| gates.iter().map(guard).collect();
    let detour = phase.when.is_some();
    Stop { name: phase.name.clone(), worker, detour, before: guards(&phase.before), after: guards(&phase.after) }
}

fn guard(gate: &Gate) -> Guard {
    let on: Vec<String> = gate.on.iter().map(ToString::to_string).collect();
    Guard { id: gate.id.to_string(), on: on.join(", "), says: gate.message.clone() }
}
