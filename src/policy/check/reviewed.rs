//! `reviewed`: a review names the present state of the code.

use super::file;
use super::prelude::*;
use crate::facts::{BASELINE_NOTES, Frontmatter, Unknown};
use crate::host::paths::hash;
use serde_json::Value;

const KEY: &str = "reviewed";

/// Passes when the newest review has `reviewed: STATE` in its frontmatter, and the code is in that state: a commit if
/// nothing is uncommitted under `code`, else the uncommitted changes. A change after the review makes it fail.
///
/// ```yaml
/// check: { reviewed: { of: review, code: ["{code}"] } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewedCheck {
    pub of: String,
    /// The paths of the code, as in `clean`.
    pub code: Vec<String>,
}

impl CheckKind for ReviewedCheck {
    fn from_node(reader: &mut TreeReader, node: &Node) -> Self {
        let fields = reader.fields(node, "`reviewed`", &["of", "code"]);
        let of = fields.artifact(reader, node, "`reviewed`");
        let code = fields.read(reader, "code", TreeReader::templates).unwrap_or_else(|| vec![".".to_owned()]);
        Self { of, code }
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let state = self.state(scope)?;
        let path = file::newest(&self.of, scope)?;
        let found = scope.facts.frontmatter(path.clone(), vec![KEY.to_owned()])?;
        let path = scope.display_path(&path);
        let named = if let Frontmatter::Keys(keys) = &found { keys.get(KEY).and_then(Value::as_str) } else { None };
        let saw = match named {
            Some(named) if named == state => return Ok(Outcome::passes(format!("`{path}` is a review of {state}"))),
            Some(named) => format!("`{path}` is a review of {named}, and the code is now {state}"),
            None => format!("`{path}` has no `{KEY}` in its frontmatter"),
        };
        let remedy = format!("review the code as it is now and put `{KEY}: {state}` in the frontmatter of {path}");
        Ok(Outcome::fails(saw).remedied(remedy))
    }

    fn artifact(&self) -> Option<&str> {
        Some(&self.of)
    }

    fn expectation(&self, scope: &Scope<'_>) -> Option<String> {
        let state = self.state(scope).unwrap_or_else(|_| "the state of the code".to_owned());
        Some(format!("the frontmatter of `{}` has `{KEY}: {state}`", scope.describe_artifact(&self.of)))
    }
}

impl ReviewedCheck {
    /// A word for the present state of the code.
    fn state(&self, scope: &Scope<'_>) -> Result<String, Unknown> {
        let mut changes = scope.facts.baseline(scope.expand_all(&self.code)?)?;
        changes.retain(|path, _| !path.starts_with(BASELINE_NOTES));
        let head = scope.facts.head()?.unwrap_or_default();
        if changes.is_empty() {
            return Ok(format!("commit-{}", head.get(..12).unwrap_or("none")));
        }
        let parts: Vec<String> = changes.iter().map(|(path, content)| format!("{path} {content}")).collect();
        Ok(format!("changes-{:016x}", hash(format!("{head}\n{}", parts.join("\n")).as_bytes())))
    }
}
