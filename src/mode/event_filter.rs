//! Which events a mode hears while it is not active, told without reading the mode.

use super::{BASE, Gate, Mode};
use crate::check::Check;
use crate::event::{Event, EventKind, Trigger, TriggerEvent, name};
use serde::{Deserialize, Serialize};

/// A set of events; of the calls of tools only those of some tools, where that can be said.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EventFilter {
    kinds: u64,
    /// The tools whose calls are heard; empty for all.
    tools: Vec<String>,
}

/// The start of an agent, which is rarer than the calls of all tools.
const AGENT: u64 = 1 << 63;

impl EventFilter {
    /// The events that a mode hears while it is not active.
    #[must_use]
    pub fn of(mode: &Mode) -> Self {
        let gates = || mode.gates.iter().filter(|gate| gate.always || mode.name == BASE);
        let triggers: Vec<&Trigger> = gates().flat_map(|gate| &gate.on).collect();
        let heard = triggers.iter().fold(0, |set, trigger| set | set_of(&trigger.event.kinds()));
        let agent = mode.phases.iter().flat_map(|phase| &phase.before).any(|gate: &Gate| gate.always);
        let kinds = heard | memory(mode) | if agent { AGENT } else { 0 };
        Self { kinds, tools: tools(&triggers) }
    }

    /// Whether `event` is among them.
    #[must_use]
    pub fn matches(&self, event: &Event) -> bool {
        let calls = event.kind == Some(EventKind::PreToolUse);
        let agent = if calls && event.spawned().is_some() { AGENT } else { 0 };
        let kind = event.kind.map_or(0, |kind| 1 << kind as u32);
        let deaf =
            calls && !self.tools.is_empty() && !event.tool().is_some_and(|tool| name::selected(&self.tools, tool));
        self.kinds & (if deaf { 0 } else { kind } | agent) != 0
    }
}

/// The tools that all gates together hear the calls of; none where one of them hears any, or all but some.
fn tools(triggers: &[&Trigger]) -> Vec<String> {
    let mut tools: Vec<String> = Vec::new();
    for trigger in triggers.iter().filter(|trigger| trigger.event.kinds().contains(&EventKind::PreToolUse)) {
        let open = trigger.event != TriggerEvent::Event(EventKind::PreToolUse) || trigger.names.is_empty();
        if open || trigger.names.iter().any(|name| name.starts_with('!')) {
            return Vec::new();
        }
        let new: Vec<String> = trigger.names.iter().filter(|name| !tools.contains(name)).cloned().collect();
        tools.extend(new);
    }
    tools
}

/// The events that a mode which always stands must remember for its checks.
fn memory(mode: &Mode) -> u64 {
    let mut heard = 0;
    if mode.name == BASE || mode.all_gates().any(|(_, gate)| gate.always) {
        mode.checks(&mut |check| match check {
            Check::Observed(_) => heard |= set_of(&[EventKind::PostToolUse, EventKind::PostToolUseFailure]),
            Check::Ran(_) => heard |= set_of(&[EventKind::SubagentStop]),
            _ => {}
        });
    }
    heard
}

fn set_of(kinds: &[EventKind]) -> u64 {
    kinds.iter().fold(0, |set, kind| set | 1 << *kind as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mode::Catalogue;
    use serde_json::json;

    #[test]
    fn an_idle_project_hears_agents_start_and_little_else() {
        let catalogue = Catalogue::compose(None, &[]);
        let heard = |event: serde_json::Value| {
            let event = Event::from_value(event).expect("an event");
            let heard = catalogue.modes.iter().filter(|mode| EventFilter::of(mode).matches(&event));
            heard.map(|mode| mode.name.clone()).collect::<Vec<_>>()
        };
        assert!(heard(json!({"hook_event_name": "PreToolUse", "tool_name": "Read"})).is_empty());
        assert_eq!(heard(json!({"hook_event_name": "PreToolUse", "tool_name": "Bash"})), ["base"]);
        assert_eq!(heard(json!({"hook_event_name": "PreToolUse", "tool_name": "mcp__files__write"})), ["base"]);
        assert_eq!(heard(json!({"hook_event_name": "PreToolUse", "tool_name": "Agent"})), ["code-review"]);
        assert!(heard(json!({"hook_event_name": "SubagentStop"})).is_empty());
    }
}
