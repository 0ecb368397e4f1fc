//! `tool`: the tool that is called.

use super::prelude::*;
use crate::host::event::name;

/// Passes when the tool is one of these: names, globs, `/regex/`, and `!` for all others.
///
/// ```yaml
/// check: { tool: Write|Edit|mcp__github__* }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCheck(pub Vec<String>);

impl CheckKind for ToolCheck {
    fn from_node(reader: &mut TreeReader, node: &Node) -> Self {
        let names = super::names(reader, node);
        super::warn_unknown_tools(reader, node, &names);
        Self(names)
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let tool = scope.event.tool().ok_or_else(|| Outcome::fails("the event has no tool"))?;
        Ok(Outcome::when(name::selected(&self.0, tool), format!("the tool is {tool}")))
    }
}
