//! `frontmatter`: a file's frontmatter has a marker.

use super::file;
use super::prelude::*;
use crate::facts::Frontmatter;
use crate::host::ids::{UNKNOWN_TEAMMATE, same_agent};
use base::printable::truncated;
use serde_json::{Map, Value};

/// Passes when the newest file's frontmatter has every key with exactly that value, or with a list that contains it.
/// With `by`, no other agent of this session may have written the file's present content.
///
/// ```yaml
/// check: { frontmatter: { of: report, has: { validated_by: research-consultant } } }
/// check: { frontmatter: { of: report, has: { status: [final] }, by: research-consultant } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrontmatterCheck {
    pub of: String,
    /// The values of each key, as JSON.
    pub has: Vec<(String, Vec<String>)>,
    pub by: Option<String>,
}

impl CheckKind for FrontmatterCheck {
    fn from_node(reader: &mut TreeReader, node: &Node) -> Self {
        let fields = reader.fields(node, "`frontmatter`", &["of", "has", "by"]);
        let of = fields.read(reader, "of", TreeReader::artifact);
        let has = fields.read(reader, "has", |reader, node| reader.map(node, scalars)).unwrap_or_default();
        if of.is_none() || has.is_empty() {
            fields.missing(
                reader,
                node,
                "`frontmatter` needs `of`, an artifact or a glob, and `has`, keys with their values",
            );
        }
        let by = fields.read(reader, "by", TreeReader::text);
        Self { of: of.unwrap_or_default(), has, by }
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let path = file::newest(&self.of, scope)?;
        let keys = self.has.iter().map(|(key, _)| key.clone()).collect();
        let found = scope.facts.frontmatter(path.clone(), keys)?;
        if self.first_problem(&path, &found).is_none() {
            return self.provenance(&path, scope);
        }
        let path = scope.display_path(&path);
        let remedy = format!("add `{}` to the frontmatter of {path}", self.wanted());
        Ok(Outcome::fails(self.first_problem(&path, &found).unwrap_or_default()).remedied(remedy))
    }

    fn artifact(&self) -> Option<&str> {
        Some(&self.of)
    }

    fn expectation(&self, scope: &Scope<'_>) -> Option<String> {
        let scope = scope.shared();
        let by = self.by.as_ref().map(|by| format!(", written by {by}")).unwrap_or_default();
        Some(format!("the frontmatter of `{}` has `{}`{by}", scope.describe_artifact(&self.of), self.wanted()))
    }
}

impl FrontmatterCheck {
    /// The first requirement that the frontmatter of the file at `path` does not meet.
    fn first_problem(&self, path: &str, found: &Frontmatter<Map<String, Value>>) -> Option<String> {
        let seen = match found {
            Frontmatter::Keys(seen) => seen,
            Frontmatter::Absent => return Some(format!("`{path}` has no frontmatter")),
            Frontmatter::Broken(why) => return Some(format!("the frontmatter of `{path}` {why}")),
        };
        self.has.iter().find_map(|(key, wanted)| match seen.get(key) {
            None => Some(format!("`{path}` has no `{key}` in its frontmatter")),
            Some(value) if !has(value, wanted) => Some(format!("`{path}` says `{key}: {}`", shown(value))),
            Some(_) => None,
        })
    }

    fn provenance(&self, path: &str, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let Some(by) = &self.by else { return Ok(Outcome::passes(format!("`{path}` says `{}`", self.wanted()))) };
        let writer = scope.facts.writer(path.to_owned())?;
        let is_right = |writer: &String| writer == UNKNOWN_TEAMMATE || same_agent(writer, by);
        let Some(writer) = writer else {
            // A person's edit, or one of an earlier session.
            let saw = format!("`{path}` says `{}`, and no other agent of this session wrote that", self.wanted());
            return Ok(Outcome::passes(saw));
        };
        if is_right(&writer) {
            return Ok(Outcome::passes(format!("`{path}` says `{}`, written by {by}", self.wanted())));
        }
        let path = scope.display_path(path);
        let saw = format!("`{path}` was last written by {}", file::named_writer(&writer));
        Ok(Outcome::fails(saw).remedied(format!("let {by} write {path}")))
    }

    fn wanted(&self) -> String {
        let text = |json: &String| serde_json::from_str(json).unwrap_or_else(|_| json.clone());
        let pair = |(key, values): &(String, Vec<String>)| {
            let values: Vec<String> = values.iter().map(text).collect();
            format!("{key}: {}", values.join(", "))
        };
        self.has.iter().map(pair).collect::<Vec<_>>().join("`, `")
    }
}

fn scalars(reader: &mut TreeReader, node: &Node) -> Vec<String> {
    reader.each(node, |reader, node| {
        let value = node.to_json();
        if value.is_null() || value.is_array() || value.is_object() {
            reader.problem(node, "expected text, a number, true or false");
        }
        value.to_string()
    })
}

/// Whether a value, or one in a list, is as wanted, compared by type and value.
fn has(value: &Value, wanted: &[String]) -> bool {
    let is = |value: &Value, wanted: &str| !value.is_object() && value.to_string().as_str() == wanted;
    wanted.iter().all(|wanted| match value {
        Value::Array(members) => members.iter().any(|member| is(member, wanted)),
        value => is(value, wanted),
    })
}

/// A value as a person would write it, cut where it gets long.
fn shown(value: &Value) -> String {
    truncated(&value.as_str().map_or_else(|| value.to_string(), str::to_owned), 80)
}
