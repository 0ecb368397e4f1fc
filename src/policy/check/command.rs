//! `command`: the shell command that the tool runs.

use super::calls::CallsCheck;
use super::prelude::*;
use crate::facts::EventText;

/// Passes when the command line runs one of the given programs, as `calls` does; with a mapping, when the text of
/// the line matches.
///
/// ```yaml
/// check: { command: [git push, npm publish] }
/// check: { command: { matches: "--force\\b" } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommandCheck {
    Calls(CallsCheck),
    Text(TextPattern),
}

impl CheckKind for CommandCheck {
    fn from_node(reader: &mut TreeReader, node: &Node) -> Self {
        if node.is_map() {
            return Self::Text(TextPattern::read(reader, node, "`command`"));
        }
        Self::Calls(CallsCheck::from_node(reader, node))
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        match self {
            Self::Calls(calls) => calls.evaluate(scope),
            Self::Text(pattern) => pattern.ask(scope, EventText::Command, "command"),
        }
    }
}
