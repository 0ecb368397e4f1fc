//! What a text is asked for: words, a beginning, or a regular expression.

use crate::yaml::{Node, Reader, Yaml};
use serde::{Deserialize, Serialize};

/// What a text must have; everything given must be there.
///
/// ```yaml
/// check: { prompt: login }
/// check: { prompt: { contains: [login, page], starts: fix, matches: "bug #\\d+" } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Pattern {
    /// Words, ignoring case.
    pub contains: Vec<String>,
    /// How it begins; one of them is enough.
    pub starts: Vec<String>,
    /// Regular expressions.
    pub matches: Vec<String>,
}

impl Pattern {
    pub(super) fn read(reader: &mut Reader, node: &Node, what: &str) -> Self {
        if !matches!(node.value, Yaml::Map(_)) {
            return Self { contains: reader.texts(node), ..Self::default() };
        }
        let fields = reader.fields(node, what, &["contains", "starts", "matches"]);
        let matches = fields.read(reader, "matches", patterns).unwrap_or_default();
        let contains = fields.read(reader, "contains", Reader::texts).unwrap_or_default();
        let starts = fields.read(reader, "starts", Reader::texts).unwrap_or_default();
        Self { contains, starts, matches }
    }

    /// What `text` lacks, each as a phrase.
    pub(super) fn missing(&self, text: &str) -> Result<Vec<String>, String> {
        let lower = text.to_lowercase();
        let mut missing: Vec<String> = Vec::new();
        let lacks = self.contains.iter().filter(|word| !lower.contains(&word.to_lowercase()));
        missing.extend(lacks.map(|word| format!("text `{word}`")));
        if !self.starts.is_empty() && !self.starts.iter().any(|start| text.trim_start().starts_with(start.as_str())) {
            missing.push(format!("a beginning `{}`", self.starts.join("` or `")));
        }
        for pattern in &self.matches {
            if !compiled(pattern)?.is_match(text) {
                missing.push(format!("pattern `{pattern}`"));
            }
        }
        Ok(missing)
    }
}

/// Regular expressions that compile.
pub(super) fn patterns(reader: &mut Reader, node: &Node) -> Vec<String> {
    reader.each(node, |reader, node| {
        let pattern = reader.text(node);
        if let Err(why) = compiled(&pattern) {
            reader.problem(node, why);
        }
        pattern
    })
}

fn compiled(pattern: &str) -> Result<regex::Regex, String> {
    let built = regex::RegexBuilder::new(pattern).size_limit(1 << 20).build();
    built.map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => format!("pattern `{pattern}` is too large"),
        _ => format!("pattern `{pattern}` is not a regular expression"),
    })
}
