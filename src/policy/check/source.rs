//! `source`: where the event comes from.

use super::prelude::*;
use crate::host::event::name;

/// Passes when the event's source (for `SessionStart`: `startup`, `resume`, `fork`, `clear`, `compact`) is one of these.
/// For events without a source, the field that their trigger matches counts.
///
/// ```yaml
/// check: { source: startup|resume }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceCheck(pub Vec<String>);

impl CheckKind for SourceCheck {
    fn from_node(reader: &mut TreeReader, node: &Node) -> Self {
        Self(super::names(reader, node))
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let source = scope.event.text("source").or_else(|| scope.event.subject());
        let source = source.ok_or_else(|| Outcome::fails("the event has no source"))?;
        Ok(Outcome::when(name::selected(&self.0, source), format!("the source is {source}")))
    }
}
