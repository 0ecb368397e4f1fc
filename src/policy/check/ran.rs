//! `ran`: an agent ran in this session and was allowed to stop.

use super::prelude::*;
use crate::host::ids::same_agent;

/// Passes when each of these agents has run since the mode was activated, and was allowed to stop.
///
/// ```yaml
/// check: { ran: security-auditor }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RanCheck(pub Vec<String>);

impl CheckKind for RanCheck {
    fn from_node(reader: &mut TreeReader, node: &Node) -> Self {
        Self(reader.texts(node))
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let ran = |agent: &String| scope.mode_state().is_some_and(|state| state.seen_at(&mark(agent)).is_some());
        Ok(match self.0.iter().find(|agent| !ran(agent)) {
            None => Outcome::passes(format!("`{}` ran", self.0.join("`, `"))),
            Some(agent) => Outcome::fails(format!("`{agent}` has not run to its end")).remedied(format!("run {agent}")),
        })
    }

    fn expectation(&self, _: &Scope<'_>) -> Option<String> {
        Some(format!("{} ran", self.0.join(", ")))
    }
}

impl RanCheck {
    /// The name under which a run of `agent` is noted, if this check asks for it.
    pub fn mark(&self, agent: &str) -> Option<String> {
        self.0.iter().find(|wanted| same_agent(wanted, agent)).map(|wanted| mark(wanted))
    }
}

fn mark(agent: &str) -> String {
    format!("ran:{agent}")
}
