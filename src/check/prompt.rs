//! `prompt`: what the user, or the parent of an agent, wrote.

use super::{Scope, TextPattern};
use crate::facts::EventText;
use crate::verdict::Outcome;
use crate::yaml::{Node, TreeReader};
use serde::{Deserialize, Serialize};

/// Holds when the prompt of this event has all that is asked for; for a call of `Agent` it is the
/// agent's prompt.
///
/// ```yaml
/// check: { prompt: { contains: login, matches: "MS-\\d+" } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptCheck(pub TextPattern);

impl PromptCheck {
    pub(super) fn read(reader: &mut TreeReader, node: &Node) -> Self {
        Self(TextPattern::read(reader, node, "`prompt`"))
    }

    pub(super) fn evaluate(&self, scope: &Scope<'_>) -> Outcome {
        self.0.ask(scope, EventText::Prompt, "prompt")
    }
}
