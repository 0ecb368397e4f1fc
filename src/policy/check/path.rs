//! `path`: the file of the tool call.

use super::prelude::*;

/// Passes when the tool's file matches one of the globs, relative to the project. A file outside the project is
/// compared by its absolute path.
///
/// ```yaml
/// check: { path: ["src/**", "Cargo.toml"] }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathCheck(pub Vec<String>);

impl CheckKind for PathCheck {
    fn from_node(reader: &mut TreeReader, node: &Node) -> Self {
        Self(reader.templates(node))
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let path = scope.event.path().ok_or_else(|| Outcome::fails("the event has no file"))?;
        let globs = scope.expand_all(&self.0)?;
        let path = scope.facts.relative(path);
        let found = globs.iter().find(|glob| fast_glob::glob_match(glob.as_str(), path.as_str()));
        Ok(match found {
            Some(glob) => Outcome::passes(format!("`{path}` matches `{glob}`")),
            None => Outcome::fails(format!("`{path}` matches none of `{}`", globs.join("`, `"))),
        })
    }
}
