//! `agent`: which agent acts.

use super::prelude::*;
use crate::host::event::name;

/// Passes when the agent that acts is one of these; `main` is the main agent. For the start of an agent it is the one
/// that starts. A teammate counts by its type, not by its name.
///
/// ```yaml
/// check: { agent: main|strategic-planner }
/// check: { agent: "!code-reviewer" }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentCheck(pub Vec<String>);

impl CheckKind for AgentCheck {
    fn from_node(reader: &mut TreeReader, node: &Node) -> Self {
        Self(super::names(reader, node))
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let own = scope.event.text("agent_type").filter(|name| !name.is_empty());
        let agent = scope.starting.or_else(|| scope.event.spawned()).or(own).unwrap_or("main");
        Ok(Outcome::when(name::selected(&self.0, agent), format!("the agent is {agent}")))
    }
}
