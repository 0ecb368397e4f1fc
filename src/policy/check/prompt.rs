//! `prompt`: what the user, or the parent of an agent, wrote.

use super::prelude::*;
use crate::facts::EventText;

/// Passes when the event's prompt has everything asked for; for a call of `Agent` it is the agent's prompt.
///
/// ```yaml
/// check: { prompt: { contains: login, matches: "MS-\\d+" } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptCheck(pub TextPattern);

impl CheckKind for PromptCheck {
    fn from_node(reader: &mut TreeReader, node: &Node) -> Self {
        Self(TextPattern::read(reader, node, "`prompt`"))
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        self.0.ask(scope, EventText::Prompt, "prompt")
    }
}
