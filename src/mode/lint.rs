//! What can be wrong with a mode that reads well: words that name nothing, chains without an end.

use super::{Action, Gate, Mode, Worker};
use crate::yaml::{Diagnostic, Location, Node, TreeReader};

/// Notes every problem of `mode`.
pub(super) fn lint(reader: &mut TreeReader, node: &Node, mode: &Mode) {
    names(reader, node, mode);
    doubles(reader, mode);
    for (phase, gate) in mode.all_gates() {
        let mut say = |message: String| {
            reader.problems.push(Diagnostic { path: gate.id.to_string(), message, location: gate.location })
        };
        let free = mode.gates.iter().any(|own| std::ptr::eq(own, gate));
        if !free && !gate.on.is_empty() {
            say("a gate of `before` or `after` hears its worker; `on` belongs to a gate under `gates`".to_owned());
        }
        if gate.always && phase.is_some_and(|phase| phase.after.iter().any(|own| std::ptr::eq(own, gate))) {
            say("`scope: always` belongs to a start: without the mode there is no phase that could end".to_owned());
        }
        if let Some(problem) = chain(mode, gate) {
            say(problem);
        }
    }
    mode.gates.iter().filter(|gate| gate.on.is_empty() && !is_target(mode, gate)).for_each(|gate| {
        let message = "this gate is never heard: it needs `on`, or another gate that leads to it".to_owned();
        reader.problems.push(Diagnostic { path: gate.id.to_string(), message, location: gate.location });
    });
}

/// Notes gates that are called alike; in a file that extends a mode, the later would quietly replace the earlier.
pub(super) fn doubles(reader: &mut TreeReader, mode: &Mode) {
    let mut ids: Vec<&str> = Vec::new();
    for (_, gate) in mode.all_gates() {
        if ids.contains(&gate.id.as_str()) {
            let message = format!("two gates are called `{}`", gate.id);
            reader.problems.push(Diagnostic { path: gate.id.to_string(), message, location: gate.location });
        }
        ids.push(&gate.id);
    }
}

fn names(reader: &mut TreeReader, node: &Node, mode: &Mode) {
    let mut at = |location: Location, path: &str, message: String| {
        reader.problems.push(Diagnostic { path: path.to_owned(), message, location });
    };
    let plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    if !plain(&mode.name) {
        at(node.location, "mode", format!("`{}` is no name: letters, digits, `-` and `_`", mode.name));
    }
    for (index, phase) in mode.phases.iter().enumerate() {
        let path = format!("phases[{index}]");
        if mode.phases.iter().take(index).any(|other| other.name == phase.name) {
            at(phase.location, &path, format!("two phases are called `{}`", phase.name));
        }
        for name in &phase.from {
            if mode.phase(name).is_none() {
                at(phase.location, &path, format!("`from` names `{name}`, which is no phase"));
            }
        }
        if phase.when.is_none() != phase.from.is_empty() {
            at(phase.location, &path, "a detour has both: `when` it is entered, and `from` which phases".to_owned());
        }
        if matches!(phase.worker, Worker::Mode(_)) && !phase.after.is_empty() {
            at(
                node.location,
                &path,
                "a step is done when its mode is complete; its checks belong into that mode".to_owned(),
            );
        }
        if phase.worker == Worker::Main && !phase.before.is_empty() {
            at(
                phase.location,
                &path,
                "the main agent does not start: `before` belongs to an agent or a mode".to_owned(),
            );
        }
        if phase.worker.is_mode(&mode.name) {
            at(phase.location, &path, "a mode cannot be its own step".to_owned());
        }
        if phase.hold && phase.worker != Worker::Main {
            at(phase.location, &path, "`hold: stop` belongs to a phase of the main agent".to_owned());
        }
    }
    if let Some(odd) = mode.commands.iter().find(|command| command.is_empty() || command.contains(char::is_whitespace))
    {
        at(node.location, "commands", format!("`/{odd}` is no command: one word without spaces"));
    }
    if ["version", "revision"].contains(&mode.namespace.as_str()) {
        at(node.location, "namespace", format!("`{}` is modegate's own", mode.namespace));
    }
    if !mode.phases.is_empty() && mode.first().is_none() {
        at(node.location, "phases", "every phase is a detour, so none is the first".to_owned());
    }
}

fn targets(gate: &Gate) -> impl Iterator<Item = &str> {
    [&gate.pass, &gate.fail, &gate.unknown].into_iter().filter_map(|action| match action {
        Action::Gate(id) => Some(id.as_str()),
        Action::Verdict(_) => None,
    })
}

fn is_target(mode: &Mode, gate: &Gate) -> bool {
    mode.all_gates().any(|(_, other)| targets(other).any(|id| gate.id == id))
}

/// A gate that is led to but does not exist, or that leads back to itself.
fn chain(mode: &Mode, gate: &Gate) -> Option<String> {
    let mut open: Vec<&str> = targets(gate).collect();
    let mut seen: Vec<&str> = Vec::new();
    while let Some(id) = open.pop() {
        if gate.id == id {
            return Some(format!("`{id}` leads back to itself"));
        }
        if seen.contains(&id) {
            continue;
        }
        seen.push(id);
        match mode.all_gates().find(|(_, other)| other.id == id) {
            Some((_, next)) => open.extend(targets(next)),
            None => {
                return Some(format!(
                    "`{id}` is neither an action (continue, warn, ask, block, stop) nor a gate of this mode"
                ));
            }
        }
    }
    None
}
