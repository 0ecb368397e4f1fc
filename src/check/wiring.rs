//! `wiring`: modegate's own hook entries.

use super::Scope;
use crate::facts::{Answer, Question, unknown};
use crate::verdict::Outcome;
use crate::yaml::{Node, TreeReader};
use serde::{Deserialize, Serialize};

/// Holds when the tool leaves modegate's hook entries in the host's settings files as they are; `kept` is the only word.
///
/// ```yaml
/// check: { wiring: kept }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WiringCheck;

impl WiringCheck {
    pub(super) fn read(reader: &mut TreeReader, node: &Node) -> Self {
        let _: Option<()> = reader.word(node, &[("kept", ())]);
        Self
    }

    pub(super) fn evaluate(scope: &Scope<'_>) -> Outcome {
        match scope.facts.ask(Question::HookEntries) {
            Answer::HookEntries(None) => Outcome::passes("the hook entries stay as they are"),
            Answer::HookEntries(Some(file)) => {
                Outcome::fails(format!("it changes modegate's hook entries in `{file}`"))
            }
            other => Outcome::unknown(unknown(other)),
        }
    }
}
