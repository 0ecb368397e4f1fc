//! `clean`: nothing is uncommitted.

use super::Scope;
use crate::facts::{Answer, Question, unknown};
use crate::verdict::Outcome;
use crate::yaml::{Node, NodeValue, TreeReader};
use serde::{Deserialize, Serialize};

/// How many changes are named in a message.
const NAMED: usize = 3;

/// Holds when git has no uncommitted change under the paths: staged, unstaged, untracked, deleted and
/// renamed ones count. With `moved`, HEAD must also be another than when the mode was activated.
///
/// ```yaml
/// check: { clean: src }
/// check: { clean: { paths: ["{code}"], moved: true } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CleanCheck {
    /// Paths in the project; `.` is all of it.
    pub paths: Vec<String>,
    /// Whether HEAD must have moved since activation.
    pub moved: bool,
}

impl CleanCheck {
    pub(super) fn read(reader: &mut TreeReader, node: &Node) -> Self {
        if !matches!(node.value, NodeValue::Map(_)) {
            return Self { paths: reader.templates(node), moved: false };
        }
        let fields = reader.fields(node, "`clean`", &["paths", "moved"]);
        let paths = fields.read(reader, "paths", TreeReader::templates);
        let moved = fields.read(reader, "moved", TreeReader::boolean).unwrap_or(false);
        Self { paths: paths.unwrap_or_else(|| vec![".".to_owned()]), moved }
    }

    pub(super) fn evaluate(&self, scope: &Scope<'_>) -> Outcome {
        let paths = match scope.expand_all(&self.paths) {
            Ok(paths) => paths,
            Err(why) => return Outcome::unknown(why),
        };
        let places = paths.join(", ");
        match scope.facts.ask(Question::Changes(paths)) {
            Answer::Changes(changes) if changes.is_empty() => self.moved(&places, scope),
            Answer::Changes(changes) => {
                let named = changes.iter().take(NAMED).map(|change| format!("{} ({})", change.path, change.kind));
                let more = if changes.len() > NAMED { ", and more" } else { "" };
                let named = named.collect::<Vec<_>>().join(", ");
                Outcome::fails(format!("uncommitted under {places}: {named}{more}")).remedied("commit these changes")
            }
            other => Outcome::unknown(unknown(other)),
        }
    }

    fn moved(&self, places: &str, scope: &Scope<'_>) -> Outcome {
        let clean = format!("nothing is uncommitted under {places}");
        if !self.moved {
            return Outcome::passes(clean);
        }
        let Some(before) = scope.mode_state().and_then(|state| state.head.clone()) else {
            return Outcome::unknown("which commit HEAD was at the start is not known");
        };
        match scope.facts.head() {
            Ok(now) if now.clone().unwrap_or_default() != before => {
                Outcome::passes(format!("{clean}, and HEAD has moved"))
            }
            Ok(_) => Outcome::fails(format!("{clean}, but nothing was committed since the mode began"))
                .remedied("commit the work"),
            Err(why) => Outcome::unknown(why),
        }
    }

    pub(super) fn expectation(&self, scope: &Scope<'_>) -> String {
        let paths = scope.expand_all(&self.paths).unwrap_or_else(|_| self.paths.clone());
        let moved = if self.moved { ", with a new commit" } else { "" };
        format!("nothing is uncommitted under {}{moved}", paths.join(", "))
    }
}
