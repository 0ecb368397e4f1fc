//! `path`: the file that the tool works on.

use super::Scope;
use crate::verdict::Outcome;
use crate::yaml::{Node, TreeReader};
use serde::{Deserialize, Serialize};

/// Holds when the tool's file matches one of the globs, relative to the project; what is outside the
/// project is compared by its whole path.
///
/// ```yaml
/// check: { path: ["src/**", "Cargo.toml"] }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathCheck(pub Vec<String>);

impl PathCheck {
    pub(super) fn read(reader: &mut TreeReader, node: &Node) -> Self {
        Self(reader.templates(node))
    }

    pub(super) fn evaluate(&self, scope: &Scope<'_>) -> Outcome {
        let Some(path) = scope.event.path() else { return Outcome::fails("the event has no file") };
        let globs = match scope.expand_all(&self.0) {
            Ok(globs) => globs,
            Err(why) => return Outcome::unknown(why),
        };
        let path = scope.facts.relative(path);
        let found = globs.iter().find(|glob| fast_glob::glob_match(glob.as_str(), path.as_str()));
        Outcome::when(
            found.is_some(),
            match found {
                Some(glob) => format!("`{path}` matches `{glob}`"),
                None => format!("`{path}` matches none of `{}`", globs.join("`, `")),
            },
        )
    }
}
