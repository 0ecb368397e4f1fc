//! `tool`: the tool that is called.

use super::Scope;
use crate::event::name;
use crate::verdict::Outcome;
use crate::yaml::{Node, TreeReader};
use serde::{Deserialize, Serialize};

/// Holds when the tool is one of these: names, globs, `/regex/`, and `!` for all others.
///
/// ```yaml
/// check: { tool: Write|Edit|mcp__github__* }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCheck(pub Vec<String>);

impl ToolCheck {
    pub(super) fn read(reader: &mut TreeReader, node: &Node) -> Self {
        Self(super::names(reader, node))
    }

    pub(super) fn evaluate(&self, scope: &Scope<'_>) -> Outcome {
        let Some(tool) = scope.event.tool() else { return Outcome::fails("the event has no tool") };
        Outcome::when(name::selected(&self.0, tool), format!("the tool is {tool}"))
    }
}
