//! `entries`: modegate's own hook entries.

use super::prelude::*;

/// Passes when the tool call leaves modegate's hook entries in the host's settings files unchanged.
///
/// ```yaml
/// check: { entries: unchanged }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookEntriesCheck;

impl CheckKind for HookEntriesCheck {
    fn from_node(reader: &mut TreeReader, node: &Node) -> Self {
        let _: Option<()> = reader.word(node, &[("unchanged", ())]);
        Self
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        Ok(match scope.facts.hook_entries()? {
            None => Outcome::passes("the hook entries stay as they are"),
            Some(file) => Outcome::fails(format!("it changes modegate's hook entries in `{file}`")),
        })
    }
}
