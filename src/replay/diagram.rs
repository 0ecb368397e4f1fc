//! Modes as the HTML report draws them.

use crate::mode::{BASE, Catalogue, Gate, Mode, Phase, Worker};
use serde::Serialize;

/// A mode as boxes and arrows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ModeDiagram {
    name: String,
    about: String,
    commands: Vec<String>,
    strict: bool,
    phases: Vec<PhaseDiagram>,
    gates: Vec<GateDiagram>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct PhaseDiagram {
    name: String,
    worker: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    detour: bool,
    before: Vec<GateDiagram>,
    after: Vec<GateDiagram>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct GateDiagram {
    id: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    on: String,
    says: String,
}

/// Converts the modes of a catalogue.
pub(crate) fn diagrams(catalogue: &Catalogue) -> Vec<ModeDiagram> {
    catalogue.modes.iter().map(diagram).collect()
}

fn diagram(mode: &Mode) -> ModeDiagram {
    ModeDiagram {
        name: mode.name.clone(),
        about: mode.about.clone(),
        commands: mode.commands.iter().map(|command| format!("/{command}")).collect(),
        strict: mode.strict,
        phases: mode.phases.iter().map(phase_diagram).collect(),
        gates: if mode.name == BASE {
            Vec::new()
        } else {
            mode.before.iter().chain(&mode.gates).map(gate_diagram).collect()
        },
    }
}

fn phase_diagram(phase: &Phase) -> PhaseDiagram {
    let worker = match &phase.worker {
        Worker::Main => "main".to_owned(),
        Worker::Mode(name) => format!("mode {name}"),
        Worker::Agent(names) => names.first().map(ToString::to_string).unwrap_or_default(),
    };
    let gate_diagrams = |gates: &[Gate]| gates.iter().map(gate_diagram).collect();
    let detour = phase.when.is_some();
    PhaseDiagram {
        name: phase.name.clone(),
        worker,
        detour,
        before: gate_diagrams(&phase.before),
        after: gate_diagrams(&phase.after),
    }
}

fn gate_diagram(gate: &Gate) -> GateDiagram {
    let on: Vec<String> = gate.on.iter().map(ToString::to_string).collect();
    GateDiagram { id: gate.id.to_string(), on: on.join(", "), says: gate.message.clone() }
}
