//! The order of the gates of all events: each event keeps its own.

use super::{EventGates, GatesFile, NextStep, texts};
use crate::policy::mode::read::ACTIONS;
use crate::policy::yaml::Node;

/// A gate at its place among the gates of the base mode.
pub(super) struct PlacedGate<'a> {
    pub(super) name: &'a str,
    pub(super) id: String,
    /// Its triggers; none for a gate that others lead to.
    pub(super) on: Vec<Node>,
    /// Whether keywords select the prompts it is for.
    pub(super) prompts: bool,
}

/// Orders the gates so that each event runs its own in the order of its list, then those that only gates lead to.
///
/// A gate that two events want at different places, or for which keywords count at one of them only, is placed twice.
pub(super) fn place<'a>(file: &GatesFile<'a>, lists: Vec<EventGates<'a>>) -> Vec<PlacedGate<'a>> {
    let mut order: Vec<PlacedGate<'a>> = Vec::new();
    for EventGates { event, prompts, trigger, names } in lists {
        let mut next = 0;
        for name in names {
            let prompts = prompts && has_keywords(file, name);
            let is_same = |one: &PlacedGate<'_>| one.name == name && one.prompts == prompts;
            let later = order.iter_mut().enumerate().skip(next).find(|(_, one)| is_same(one));
            if let Some((at, one)) = later {
                one.on.push(trigger.clone());
                next = at + 1;
            } else {
                let id = id(file, &order, name, event);
                order.insert(next, PlacedGate { name, id, on: vec![trigger.clone()], prompts });
                next += 1;
            }
        }
    }
    let mut at = 0;
    while let Some(one) = order.get(at) {
        for target in targets(file, one.name) {
            if !order.iter().any(|one| one.name == target && !one.prompts) {
                let id = id(file, &order, target, "chained");
                order.push(PlacedGate { name: target, id, on: Vec::new(), prompts: false });
            }
        }
        at += 1;
    }
    order
}

/// A free id: the name of the gate, unless another gate has it or it is a native action.
fn id(file: &GatesFile<'_>, order: &[PlacedGate<'_>], name: &str, event: &str) -> String {
    let is_action = ACTIONS.iter().any(|(word, _)| *word == name);
    let plain = if is_action { format!("{name}-gate") } else { name.to_owned() };
    let is_taken = |id: &String| {
        order.iter().any(|one| one.id == *id) || id != name && file.gate(id).is_some() || file.taken.contains(id)
    };
    let for_event = format!("{plain}@{event}");
    let mut others = (2..).map(|number| format!("{for_event}-{number}"));
    let first = [plain, for_event.clone()].into_iter().find(|id| !is_taken(id));
    first.or_else(|| others.find(|id| !is_taken(id))).unwrap_or(for_event)
}

fn has_keywords(file: &GatesFile<'_>, name: &str) -> bool {
    file.gate(name).is_some_and(|(_, gate)| !texts(gate.get("keywords")).is_empty())
}

/// The gates that a gate leads to; of a built-in gate only `on_pass` counts.
fn targets<'a>(file: &GatesFile<'a>, name: &str) -> Vec<&'a str> {
    let Some((_, gate)) = file.gate(name) else { return Vec::new() };
    let keys = if file.is_built_in(name) { ["on_pass"].as_slice() } else { ["on_pass", "on_fail"].as_slice() };
    let steps = keys.iter().filter_map(|key| gate.get(key)).map(|action| file.next_step(action));
    let gates = steps.filter_map(|step| match step {
        NextStep::Gate(name) => Some(name),
        NextStep::Verdict(_) => None,
    });
    gates.filter(|name| file.gate(name).is_some() && !file.is_idle(name, 0)).collect()
}
