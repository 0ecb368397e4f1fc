//! `source`: where the event comes from.

use super::Scope;
use crate::event::name;
use crate::verdict::Outcome;
use crate::yaml::{Node, TreeReader};
use serde::{Deserialize, Serialize};

/// Holds when the event's source (of a session: `startup`, `resume`, `clear`, `compact`) is one of these; of events
/// without one, what their matcher is compared with counts.
///
/// ```yaml
/// check: { source: startup|resume }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceCheck(pub Vec<String>);

impl SourceCheck {
    pub(super) fn read(reader: &mut TreeReader, node: &Node) -> Self {
        Self(super::names(reader, node))
    }

    pub(super) fn evaluate(&self, scope: &Scope<'_>) -> Outcome {
        match scope.event.text("source").or_else(|| scope.event.subject()) {
            Some(source) => Outcome::when(name::selected(&self.0, source), format!("the source is {source}")),
            None => Outcome::fails("the event has no source"),
        }
    }
}
