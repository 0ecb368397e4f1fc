//! What can be wrong with a mode that reads well: words that name nothing, chains without an end.

use super::{Action, Gate, Mode, Worker};
use crate::check::Check;
use crate::yaml::{Node, Place, Problem, Reader, nearest};

/// Variables that every mode has.
const BUILTIN: [&str; 3] = ["session", "date", "milestone"];

/// Notes every problem of `mode`.
pub(super) fn lint(reader: &mut Reader, node: &Node, mode: &Mode, known: &[&str]) {
    names(reader, node, mode);
    let mut ids: Vec<&str> = Vec::new();
    for (phase, gate) in mode.all_gates() {
        let mut say =
            |message: String| reader.problems.push(Problem { path: gate.id.clone(), message, place: gate.place });
        if ids.contains(&gate.id.as_str()) {
            say(format!("two gates are called `{}`", gate.id));
        }
        ids.push(&gate.id);
        if phase.is_some() && !gate.on.is_empty() {
            say("a phase's gate hears its worker; `on` belongs to a gate under `gates`".to_owned());
        }
        gate.check.walk(&mut |check| words(check, mode, known).into_iter().for_each(&mut say));
        if let Some(problem) = chain(mode, gate) {
            say(problem);
        }
    }
    mode.gates.iter().filter(|gate| gate.on.is_empty() && !is_target(mode, gate)).for_each(|gate| {
        let message = "this gate is never heard: it needs `on`, or another gate that leads to it".to_owned();
        reader.problems.push(Problem { path: gate.id.clone(), message, place: gate.place });
    });
}

fn names(reader: &mut Reader, node: &Node, mode: &Mode) {
    let mut at = |place: Place, path: &str, message: String| {
        reader.problems.push(Problem { path: path.to_owned(), message, place });
    };
    let plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    if !plain(&mode.name) {
        at(node.place, "mode", format!("`{}` is no name: letters, digits, `-` and `_`", mode.name));
    }
    for (index, phase) in mode.phases.iter().enumerate() {
        let path = format!("phases[{index}]");
        if mode.phases.iter().take(index).any(|other| other.name == phase.name) {
            at(node.place, &path, format!("two phases are called `{}`", phase.name));
        }
        for name in &phase.from {
            if mode.phase(name).is_none() {
                at(node.place, &path, format!("`from` names `{name}`, which is no phase"));
            }
        }
        if phase.when.is_none() && !phase.from.is_empty() {
            at(node.place, &path, "`from` belongs to a detour, which has `when`".to_owned());
        }
        if phase.hold && phase.worker != Worker::Main {
            at(node.place, &path, "`hold: stop` belongs to a phase of the main agent".to_owned());
        }
    }
    if !mode.phases.is_empty() && mode.first().is_none() {
        at(node.place, "phases", "every phase is a detour, so none is the first".to_owned());
    }
}

/// Words in a check that name nothing.
fn words(check: &Check, mode: &Mode, known: &[&str]) -> Vec<String> {
    let mut artifacts: Vec<&str> = Vec::new();
    let mut texts: Vec<&str> = Vec::new();
    match check {
        Check::File(file) => {
            artifacts.push(&file.of);
            artifacts.extend(file.newer_than.as_deref());
        }
        Check::Frontmatter(check) => artifacts.push(&check.of),
        Check::Text(check) => artifacts.push(&check.of),
        Check::Committed(check) => artifacts.push(&check.of),
        Check::Clean(check) => texts.extend(check.paths.iter().map(String::as_str)),
        Check::Observed(check) => texts.extend(check.command.iter().map(String::as_str)),
        Check::Path(check) => texts.extend(check.0.iter().map(String::as_str)),
        _ => {}
    }
    let mut problems: Vec<String> = artifacts.iter().filter_map(|name| artifact(name, mode)).collect();
    let globs = mode
        .words
        .artifacts
        .values()
        .flat_map(|artifact| artifact.globs.iter().chain(&artifact.new))
        .map(String::as_str);
    let texts = texts.into_iter().chain(artifacts).chain(globs);
    problems.extend(texts.filter_map(|text| variable(text, mode, known)));
    problems.dedup();
    problems
}

/// A word that is no artifact and looks like no glob either.
fn artifact(name: &str, mode: &Mode) -> Option<String> {
    if name.is_empty() || mode.words.artifacts.contains_key(name) || name.contains(['/', '.', '*', '{']) {
        return None;
    }
    let known: Vec<&str> = mode.words.artifacts.keys().map(String::as_str).collect();
    Some(match nearest(name, &known) {
        Some(near) => format!("unknown artifact `{name}`, did you mean `{near}`?"),
        None => format!("unknown artifact `{name}`; declare it under `artifacts`, or give a glob with a `/`"),
    })
}

fn variable(text: &str, mode: &Mode, known: &[&str]) -> Option<String> {
    let mut rest = text;
    while let Some((_, name, after)) = crate::check::variable(rest) {
        let own = mode.words.variables.keys().map(String::as_str);
        let all: Vec<&str> = BUILTIN.into_iter().chain(own).chain(known.iter().copied()).collect();
        if !all.contains(&name) {
            let near = nearest(name, &all).map(|near| format!(", did you mean `{{{near}}}`?"));
            return Some(format!(
                "unknown variable `{{{name}}}`{}",
                near.unwrap_or_else(|| "; declare it under `variables`".to_owned())
            ));
        }
        rest = after;
    }
    None
}

fn targets(gate: &Gate) -> impl Iterator<Item = &str> {
    [&gate.pass, &gate.fail, &gate.unknown].into_iter().filter_map(|action| match action {
        Action::Gate(id) => Some(id.as_str()),
        Action::Verdict(_) => None,
    })
}

fn is_target(mode: &Mode, gate: &Gate) -> bool {
    mode.all_gates().any(|(_, other)| targets(other).any(|id| id == gate.id))
}

/// A gate that is led to but does not exist, or that leads back to itself.
fn chain(mode: &Mode, gate: &Gate) -> Option<String> {
    let mut open: Vec<&str> = targets(gate).collect();
    let mut seen: Vec<&str> = Vec::new();
    while let Some(id) = open.pop() {
        if id == gate.id {
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
