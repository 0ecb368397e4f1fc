//! Which events an inactive mode needs to see, known without loading the mode.

use super::{BASE, Gate, Mode};
use crate::host::event::{Event, EventKind, Trigger, TriggerEvent, name};
use crate::policy::check::Check;
use serde::{Deserialize, Serialize};

/// A set of events, narrowed to some tools for `PreToolUse` where possible.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EventFilter<'a> {
    kinds: u64,
    /// The names of each trigger's tools, one of which must select a call; empty for all.
    #[serde(borrow)]
    tools: Vec<Vec<&'a str>>,
}

/// The bit for the start of an agent, which is rarer than tool calls in general.
const AGENT: u64 = 1 << 63;

impl<'a> EventFilter<'a> {
    /// The events that a mode needs to see while it is not active.
    pub fn of_mode(mode: &'a Mode) -> Self {
        let gates = || mode.gates.iter().filter(|gate| gate.always || mode.name == BASE);
        let triggers: Vec<&'a Trigger> = gates().flat_map(|gate| gate.on.iter()).collect();
        let matched = triggers.iter().fold(0, |set, trigger| set | set_of(&trigger.event.kinds()));
        let agent = mode.phases.iter().flat_map(|phase| &phase.before).any(|gate: &Gate| gate.always);
        let kinds = matched | memory(mode) | if agent { AGENT } else { 0 };
        Self { kinds, tools: tools(&triggers) }
    }

    pub fn matches(&self, event: &Event) -> bool {
        let calls = event.kind == Some(EventKind::PreToolUse);
        let starts = calls && matches!(event.tool(), Some("Agent" | "SendMessage"));
        let agent = if starts || event.kind == Some(EventKind::SubagentStart) { AGENT } else { 0 };
        let kind = event.kind.map_or(0, |kind| 1 << kind as u32);
        let is_selected = |tool: &str| self.tools.iter().any(|names| name::selected(names, tool));
        let other_tool = calls && !self.tools.is_empty() && !event.tool().is_some_and(is_selected);
        self.kinds & (if other_tool { 0 } else { kind } | agent) != 0
    }
}

/// The tools that each trigger names; empty if one of them matches any tool.
fn tools<'a>(triggers: &[&'a Trigger]) -> Vec<Vec<&'a str>> {
    let mut tools: Vec<Vec<&'a str>> = Vec::new();
    for trigger in triggers.iter().filter(|trigger| trigger.event.kinds().contains(&EventKind::PreToolUse)) {
        if trigger.event != TriggerEvent::Event(EventKind::PreToolUse) || trigger.names.is_empty() {
            return Vec::new();
        }
        let names = trigger.names.iter().map(String::as_str).collect();
        if !tools.contains(&names) {
            tools.push(names);
        }
    }
    tools
}

/// The events that an always active mode must see to remember them for its checks.
fn memory(mode: &Mode) -> u64 {
    let mut kinds = 0;
    if mode.name == BASE || mode.all_gates().any(|(_, gate)| gate.always) {
        mode.checks(&mut |check| match check {
            Check::Observed(_) => kinds |= set_of(&[EventKind::PostToolUse, EventKind::PostToolUseFailure]),
            Check::Ran(_) => kinds |= set_of(&[EventKind::SubagentStop]),
            _ => {}
        });
    }
    kinds
}

fn set_of(kinds: &[EventKind]) -> u64 {
    kinds.iter().fold(0, |set, kind| set | 1 << *kind as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::mode::Catalogue;
    use serde_json::json;

    #[test]
    fn an_idle_project_sees_agent_starts_and_little_else() {
        let catalogue = Catalogue::compose(None, &[]);
        let matching = |event: serde_json::Value| {
            let event = Event::from_value(event).expect("an event");
            let modes = catalogue.modes.iter().filter(|mode| EventFilter::of_mode(mode).matches(&event));
            modes.map(|mode| mode.name.clone()).collect::<Vec<_>>()
        };
        assert!(matching(json!({"hook_event_name": "PreToolUse", "tool_name": "Read"})).is_empty());
        assert_eq!(matching(json!({"hook_event_name": "PreToolUse", "tool_name": "Bash"})), ["base"]);
        assert_eq!(matching(json!({"hook_event_name": "PreToolUse", "tool_name": "mcp__files__write"})), ["base"]);
        assert_eq!(matching(json!({"hook_event_name": "PreToolUse", "tool_name": "Agent"})), ["code-review"]);
        assert_eq!(matching(json!({"hook_event_name": "SubagentStart"})), ["code-review"]);
        assert!(matching(json!({"hook_event_name": "SubagentStop"})).is_empty());
    }
}
