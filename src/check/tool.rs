//! `tool`: the tool that is called.

use super::Scope;
use crate::event::alias;
use crate::verdict::Outcome;
use crate::yaml::{Node, Reader};
use serde::{Deserialize, Serialize};

/// Holds when the tool is one of these; a trailing `*` stands for any ending.
///
/// ```yaml
/// check: { tool: Write|Edit|mcp__github__* }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool(pub Vec<String>);

impl Tool {
    pub(super) fn read(reader: &mut Reader, node: &Node) -> Self {
        let names = reader.texts(node);
        Self(names.iter().flat_map(|names| names.split('|')).map(|name| alias(name.trim()).to_owned()).collect())
    }

    pub(super) fn evaluate(&self, scope: &Scope<'_>) -> Outcome {
        let Some(tool) = scope.event.tool() else { return Outcome::fails("the event has no tool") };
        let fits = |name: &String| name.strip_suffix('*').map_or(tool == name, |prefix| tool.starts_with(prefix));
        Outcome::when(self.0.iter().any(fits), format!("the tool is {tool}"))
    }
}
