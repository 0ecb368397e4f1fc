//! `clean`: nothing is uncommitted.

use super::{CheckKind, Scope};
use crate::verdict::Outcome;
use crate::yaml::{Node, NodeValue, TreeReader};
use serde::{Deserialize, Serialize};

/// How many changes a message names.
const NAMED: usize = 3;

/// Passes when git has no uncommitted change under the paths: staged, unstaged, untracked, deleted and renamed files
/// count. With `moved`, HEAD must also differ from HEAD when the mode was activated.
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

impl CheckKind for CleanCheck {
    fn read(reader: &mut TreeReader, node: &Node) -> Self {
        if !matches!(node.value, NodeValue::Map(_)) {
            return Self { paths: reader.templates(node), moved: false };
        }
        let fields = reader.fields(node, "`clean`", &["paths", "moved"]);
        let paths = fields.read(reader, "paths", TreeReader::templates);
        let moved = fields.read(reader, "moved", TreeReader::boolean).unwrap_or(false);
        Self { paths: paths.unwrap_or_else(|| vec![".".to_owned()]), moved }
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let paths = scope.expand_all(&self.paths).map_err(Outcome::unknown)?;
        let places = paths.join(", ");
        match scope.facts.changes(paths) {
            Ok(changes) if changes.is_empty() => self.head_moved(&places, scope),
            Ok(changes) => {
                let named = changes.iter().take(NAMED).map(|change| format!("{} ({})", change.path, change.kind));
                let more = if changes.len() > NAMED { ", and more" } else { "" };
                let named = named.collect::<Vec<_>>().join(", ");
                let saw = format!("uncommitted under {places}: {named}{more}");
                Ok(Outcome::fails(saw).remedied("commit these changes"))
            }
            Err(unknown) => Err(Outcome::unknown(unknown)),
        }
    }

    fn expectation(&self, scope: &Scope<'_>) -> Option<String> {
        let paths = scope.expand_all(&self.paths).unwrap_or_else(|_| self.paths.clone());
        let moved = if self.moved { ", with a new commit" } else { "" };
        Some(format!("nothing is uncommitted under {}{moved}", paths.join(", ")))
    }
}

impl CleanCheck {
    fn head_moved(&self, places: &str, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let clean = format!("nothing is uncommitted under {places}");
        if !self.moved {
            return Ok(Outcome::passes(clean));
        }
        let before = scope.mode_state().and_then(|state| state.head.clone());
        let before = before.ok_or_else(|| Outcome::unknown("HEAD at the start of the mode is not known"))?;
        let now = scope.facts.head().map_err(Outcome::unknown)?;
        if now.unwrap_or_default() == before {
            let saw = format!("{clean}, but nothing was committed since the mode began");
            return Ok(Outcome::fails(saw).remedied("commit the work"));
        }
        Ok(Outcome::passes(format!("{clean}, and HEAD has moved")))
    }
}
