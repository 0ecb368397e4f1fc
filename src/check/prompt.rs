//! `prompt`: what the user, or the parent of an agent, wrote.

use super::{Pattern, Scope};
use crate::facts::Said;
use crate::verdict::Outcome;
use crate::yaml::{Node, Reader};
use serde::{Deserialize, Serialize};

/// Holds when the prompt of this event has all that is asked for; for a call of `Agent` it is the
/// agent's prompt.
///
/// ```yaml
/// check: { prompt: { contains: login, matches: "MS-\\d+" } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt(pub Pattern);

impl Prompt {
    pub(super) fn read(reader: &mut Reader, node: &Node) -> Self {
        Self(Pattern::read(reader, node, "`prompt`"))
    }

    pub(super) fn evaluate(&self, scope: &Scope<'_>) -> Outcome {
        self.0.ask(scope, Said::Prompt, "prompt")
    }
}
