//! Finds problems in a mode that is well-formed: unknown names, gates that lead in a circle, keys in the wrong place.

use super::{Action, Gate, Mode, Phase, Worker};
use crate::policy::yaml::{FileProblem, Node, TreeReader};
use std::collections::{HashMap, HashSet};

pub(super) fn lint(reader: &mut TreeReader, node: &Node, mode: &Mode) {
    for (index, phase) in mode.phases.iter().enumerate() {
        let problems = phase_problems(mode, index, phase).into_iter().map(|(message, hint)| FileProblem {
            path: format!("phases[{index}]"),
            hint: (!hint.is_empty()).then(|| hint.to_owned()),
            ..FileProblem::at(phase.location, message)
        });
        reader.problems.extend(problems);
    }
    if !mode.phases.is_empty() && mode.first().is_none() {
        let message = "every phase is a detour, so none is the first";
        reader.problems.push(FileProblem { path: "phases".to_owned(), ..FileProblem::at(node.location, message) });
    }
    duplicate_gates(reader, mode);
    let all = AllGates::of_mode(mode);
    for (phase, gate) in mode.all_gates() {
        let problems = gate_problems(mode, &all, phase, gate);
        reader.problems.extend(problems.into_iter().map(|message| gate_problem(gate, message)));
    }
}

/// Reports gates with the same id; in a file that extends a mode, the later one would silently replace the earlier.
pub(super) fn duplicate_gates(reader: &mut TreeReader, mode: &Mode) {
    let mut ids: HashSet<&str> = HashSet::new();
    for (_, gate) in mode.all_gates() {
        if !ids.insert(gate.id.as_str()) {
            reader.problems.push(gate_problem(gate, format!("two gates are called `{}`", gate.id)));
        }
    }
}

fn gate_problem(gate: &Gate, message: String) -> FileProblem {
    FileProblem { path: gate.id.to_string(), ..FileProblem::at(gate.location, message) }
}

/// The gates of a mode by their ids, and the ids that gates lead to.
struct AllGates<'m> {
    by_id: HashMap<&'m str, &'m Gate>,
    led_to: HashSet<&'m str>,
}

impl<'m> AllGates<'m> {
    fn of_mode(mode: &'m Mode) -> Self {
        let gates = || mode.all_gates().map(|(_, gate)| gate);
        let mut by_id = HashMap::new();
        for gate in gates() {
            by_id.entry(gate.id.as_str()).or_insert(gate);
        }
        Self { by_id, led_to: gates().flat_map(targets).collect() }
    }
}

fn gate_problems(mode: &Mode, all: &AllGates<'_>, phase: Option<&Phase>, gate: &Gate) -> Vec<String> {
    let among = |gates: &[Gate]| gates.iter().any(|own| std::ptr::eq(own, gate));
    let mut problems = Vec::new();
    if !among(&mode.gates) && !gate.on.is_empty() {
        problems.push("`on` is for gates under `gates`; a gate of `before` or `after` runs with its worker".to_owned());
    }
    if gate.always && phase.is_some_and(|phase| among(&phase.after)) {
        problems.push("`scope: always` is for starts: an inactive mode has no phase that could end".to_owned());
    }
    problems.extend(chain_problem(all, gate));
    if among(&mode.gates) && gate.on.is_empty() && !all.led_to.contains(gate.id.as_str()) {
        problems.push("this gate never runs: it needs `on`, or another gate that leads to it".to_owned());
    }
    problems
}

/// The problems of a phase, each with a hint that may be empty.
fn phase_problems(mode: &Mode, index: usize, phase: &Phase) -> Vec<(String, &'static str)> {
    let mut problems = Vec::new();
    if mode.phases.iter().take(index).any(|other| other.name == phase.name) && !phase.name.is_empty() {
        problems.push((format!("two phases are called `{}`", phase.name), ""));
    }
    for name in phase.from.iter().filter(|name| mode.phase(name).is_none()) {
        problems.push((format!("`from` names `{name}`, which is not a phase"), ""));
    }
    let is_main = phase.worker == Worker::Main;
    let is_step = matches!(phase.worker, Worker::Mode(_));
    let others = [
        (
            phase.when.is_none() != phase.from.is_empty(),
            "a detour needs both `when` and `from`",
            "`when` is the check that enters it, `from` the phases it is entered from",
        ),
        (
            is_step && !phase.after.is_empty(),
            "`after` is not for steps: a step is done when its mode is complete",
            "move these gates into that mode",
        ),
        (
            is_main && !phase.before.is_empty(),
            "`before` is never checked for `main`: the main agent does not start",
            "use `before` of the mode, or a gate under `gates` with `on`",
        ),
        (phase.worker.is_mode(&mode.name), "a mode cannot be its own step", ""),
        (phase.blocks_stop && !is_main, "`block: stop` is for phases with `main: true`", ""),
    ];
    let others = others.into_iter().filter(|(found, ..)| *found);
    problems.extend(others.map(|(_, message, hint)| (message.to_owned(), hint)));
    problems
}

fn targets(gate: &Gate) -> impl Iterator<Item = &str> {
    [&gate.pass, &gate.fail, &gate.unknown].into_iter().filter_map(|action| match action {
        Action::Gate(id) => Some(id.as_str()),
        Action::Verdict(_) => None,
    })
}

/// A gate that is led to but does not exist, or that leads back to itself.
fn chain_problem(all: &AllGates<'_>, gate: &Gate) -> Option<String> {
    let mut open: Vec<&str> = targets(gate).collect();
    let mut seen: HashSet<&str> = HashSet::new();
    while let Some(id) = open.pop() {
        if gate.id == id {
            return Some(format!("`{id}` leads back to itself"));
        }
        if !seen.insert(id) {
            continue;
        }
        let Some(next) = all.by_id.get(id) else {
            return Some(format!(
                "`{id}` is neither an action (continue, warn, ask, block, stop) nor a gate of this mode"
            ));
        };
        open.extend(targets(next));
    }
    None
}
