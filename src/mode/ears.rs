//! Which events a mode hears while it is not active, told without reading the mode.

use super::{BASE, Gate, Mode};
use crate::check::Check;
use crate::event::{Event, Kind};
use serde::{Deserialize, Serialize};

/// A set of events; more than all of them there is only the start of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Ears(u64);

/// The start of an agent, which is rarer than the calls of all tools.
const AGENT: u64 = 1 << 63;

impl Ears {
    /// The events that a mode hears while it is not active.
    #[must_use]
    pub fn of(mode: &Mode) -> Self {
        let gates = mode.gates.iter().filter(|gate| gate.always || mode.name == BASE);
        let heard = gates.flat_map(|gate| &gate.on).fold(0, |set, trigger| set | set_of(&trigger.on.kinds()));
        let agent = mode.phases.iter().flat_map(|phase| &phase.before).any(|gate: &Gate| gate.always);
        Self(heard | memory(mode) | if agent { AGENT } else { 0 })
    }

    /// Whether `event` is among them.
    #[must_use]
    pub fn hear(self, event: &Event) -> bool {
        let kind = event.kind.map_or(0, |kind| 1 << kind as u32);
        let agent = if event.kind == Some(Kind::PreToolUse) && event.spawned().is_some() { AGENT } else { 0 };
        self.0 & (kind | agent) != 0
    }
}

/// The events that a mode which always stands must remember for its checks.
fn memory(mode: &Mode) -> u64 {
    let mut heard = 0;
    if mode.name == BASE || mode.all_gates().any(|(_, gate)| gate.always) {
        mode.checks(&mut |check| match check {
            Check::Observed(_) => heard |= set_of(&[Kind::PostToolUse, Kind::PostToolUseFailure]),
            Check::Ran(_) => heard |= set_of(&[Kind::SubagentStop]),
            _ => {}
        });
    }
    heard
}

fn set_of(kinds: &[Kind]) -> u64 {
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
            let heard = catalogue.modes.iter().filter(|mode| Ears::of(mode).hear(&event));
            heard.map(|mode| mode.name.clone()).collect::<Vec<_>>()
        };
        assert!(heard(json!({"hook_event_name": "PreToolUse", "tool_name": "Read"})).is_empty());
        assert_eq!(heard(json!({"hook_event_name": "PreToolUse", "tool_name": "Agent"})), ["code-review"]);
        assert!(heard(json!({"hook_event_name": "SubagentStop"})).is_empty());
    }
}
