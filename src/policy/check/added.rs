//! `added`: what the command line would stage.

use super::prelude::*;
use crate::facts::StagingQuery;

/// Passes when a `git add` or `git commit` in the command line would stage everything (`all`: `-A`, `-u`, `.`,
/// `git commit -a`), ignored files (`forced`: `-f`), or a file that matches one of `paths`. All given keys must match.
///
/// ```yaml
/// check: { not: { added: all } }
/// check: { not: { added: { paths: ["**/.env", "dist/**"] } } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedCheck {
    pub all: bool,
    pub forced: bool,
    /// Globs of files; one of them is enough.
    pub paths: Vec<String>,
}

impl CheckKind for AddedCheck {
    fn from_node(reader: &mut TreeReader, node: &Node) -> Self {
        if !node.is_map() {
            let forced = reader.word(node, &[("all", false), ("forced", true)]).unwrap_or_default();
            return Self { all: !forced, forced, paths: Vec::new() };
        }
        let fields = reader.fields(node, "`added`", &["all", "forced", "paths"]);
        let check = Self {
            all: fields.flag(reader, "all"),
            forced: fields.flag(reader, "forced"),
            paths: fields.templates(reader, "paths"),
        };
        if !check.all && !check.forced && check.paths.is_empty() {
            fields.missing(reader, node, "`added` needs one of `all`, `forced` and `paths`");
        }
        check
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let paths = scope.expand_all(&self.paths)?;
        let query = StagingQuery { all: self.all, forced: self.forced, paths };
        let found = scope.facts.added(query.clone())?;
        Ok(match found {
            Some(found) => {
                let what = match &found.path {
                    Some(path) => format!("`{path}`"),
                    None if self.forced => "ignored files, too".to_owned(),
                    None => "everything".to_owned(),
                };
                Outcome::passes(format!("`{}` stages {what}", found.by))
            }
            None if !self.paths.is_empty() => {
                Outcome::fails(format!("it stages nothing that matches `{}`", query.paths.join("`, `")))
            }
            None if self.forced => Outcome::fails("it stages no ignored files"),
            None => Outcome::fails("it does not stage everything"),
        })
    }
}
