//! `agent`: who does it.

use super::Scope;
use crate::event::name;
use crate::verdict::Outcome;
use crate::yaml::{Node, TreeReader};
use serde::{Deserialize, Serialize};

/// Holds when the agent in whose work this happens is one of these; `main` is the main agent. For a call of `Agent`
/// it is the one that is called.
///
/// ```yaml
/// check: { agent: main|strategic-planner }
/// check: { agent: "!code-reviewer" }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentCheck(pub Vec<String>);

impl AgentCheck {
    pub(super) fn read(reader: &mut TreeReader, node: &Node) -> Self {
        Self(super::names(reader, node))
    }

    pub(super) fn evaluate(&self, scope: &Scope<'_>) -> Outcome {
        let own = scope.event.text("agent_type").filter(|name| !name.is_empty());
        let agent = scope.event.spawned().or(own).unwrap_or("main");
        Outcome::when(name::selected(&self.0, agent), format!("the agent is {agent}"))
    }
}
