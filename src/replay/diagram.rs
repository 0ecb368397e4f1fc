//! Modes as the HTML report draws them.

use crate::mode::{BASE, Catalogue, Gate, Mode, Phase, Worker};
use serde_json::{Value, json};

/// Converts the modes of a catalogue to boxes and arrows.
pub(crate) fn diagrams(catalogue: &Catalogue) -> Vec<Value> {
    catalogue.modes.iter().map(diagram).collect()
}

fn diagram(mode: &Mode) -> Value {
    let own = mode.before.iter().chain(&mode.gates).filter(|_| mode.name != BASE);
    json!({
        "name": mode.name,
        "about": mode.about,
        "commands": mode.commands.iter().map(|command| format!("/{command}")).collect::<Vec<_>>(),
        "strict": mode.strict,
        "phases": mode.phases.iter().map(phase_diagram).collect::<Vec<_>>(),
        "gates": gate_diagrams(own),
    })
}

fn phase_diagram(phase: &Phase) -> Value {
    let worker = match &phase.worker {
        Worker::Main => "main".to_owned(),
        Worker::Mode(name) => format!("mode {name}"),
        Worker::Agent(names) => names.first().map(ToString::to_string).unwrap_or_default(),
    };
    json!({
        "name": phase.name,
        "worker": worker,
        "detour": phase.when.is_some(),
        "before": gate_diagrams(&phase.before),
        "after": gate_diagrams(&phase.after),
    })
}

fn gate_diagrams<'a>(gates: impl IntoIterator<Item = &'a Gate>) -> Vec<Value> {
    let diagram = |gate: &Gate| {
        let on: Vec<String> = gate.on.iter().map(ToString::to_string).collect();
        json!({"id": gate.id, "on": on.join(", "), "says": gate.message})
    };
    gates.into_iter().map(diagram).collect()
}
