//! `text`: a file's text has sections, words, a length.

use super::{Scope, file, pattern};
use crate::facts::{Answer, Question, TextQuery, unknown};
use crate::verdict::{Outcome, Truth};
use crate::yaml::{Node, NodeValue, TreeReader};
use serde::{Deserialize, Serialize};

/// Holds when the newest file's text, its frontmatter aside, has everything asked for; `newest: false` is
/// content with any of the files.
///
/// `sections` are headings with something below them, `contains` are words ignoring case, `matches`
/// are regular expressions, `min_chars` is the least length.
///
/// ```yaml
/// check: { text: { of: review, sections: [Summary], contains: findings, min_chars: 200 } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextCheck {
    /// The artifact, or a glob.
    pub of: String,
    /// The least length in characters.
    pub min_chars: u32,
    /// Headings.
    pub sections: Vec<String>,
    /// Words, ignoring case.
    pub contains: Vec<String>,
    /// Regular expressions.
    pub matches: Vec<String>,
    /// Whether only the newest match is judged.
    pub newest: bool,
}

impl TextCheck {
    pub(super) fn read(reader: &mut TreeReader, node: &Node) -> Self {
        let fields = reader.fields(node, "`text`", &["of", "sections", "contains", "min_chars", "matches", "newest"]);
        let of = fields.read(reader, "of", TreeReader::artifact);
        if of.is_none() && matches!(node.value, NodeValue::Map(_)) {
            reader.problem(node, "`text` needs `of`: an artifact or a glob");
        }
        let text = Self {
            of: of.unwrap_or_default(),
            min_chars: fields.read(reader, "min_chars", TreeReader::number).unwrap_or(0),
            sections: fields.read(reader, "sections", TreeReader::texts).unwrap_or_default(),
            contains: fields.read(reader, "contains", TreeReader::texts).unwrap_or_default(),
            matches: fields.read(reader, "matches", pattern::patterns).unwrap_or_default(),
            newest: fields.read(reader, "newest", TreeReader::boolean).unwrap_or(true),
        };
        if text.min_chars == 0 && text.sections.is_empty() && text.contains.is_empty() && text.matches.is_empty() {
            reader.problem(node, "`text` asks for nothing: give `sections`, `contains`, `matches` or `min_chars`");
        }
        text
    }

    pub(super) fn evaluate(&self, scope: &Scope<'_>) -> Outcome {
        let files = match file::matching(&self.of, scope) {
            Ok(files) => files,
            Err(outcome) => return outcome,
        };
        let judged = if self.newest { files.get(..1).unwrap_or(&files) } else { &files };
        let mut outcomes = judged.iter().map(|file| self.judge(&file.path, scope));
        let first = outcomes.next().unwrap_or_else(|| Outcome::unknown("there is no file"));
        if first.truth == Truth::Passes {
            first
        } else {
            outcomes.find(|other| other.truth == Truth::Passes).unwrap_or(first)
        }
    }

    /// One file's text.
    fn judge(&self, path: &str, scope: &Scope<'_>) -> Outcome {
        let Self { sections, contains, matches, .. } = self.clone();
        let wanted = TextQuery { sections, contains, matches, starts: Vec::new() };
        let (chars, missing) = match scope.facts.ask(Question::Text { path: path.to_owned(), wanted }) {
            Answer::Text { chars, missing } => (chars, missing),
            other => return Outcome::unknown(unknown(other)),
        };
        let mut lacks = Vec::new();
        if !missing.is_empty() {
            lacks.push(format!("has no {}", missing.join(", no ")));
        }
        if chars < self.min_chars as usize {
            lacks.push(format!("has {chars} characters, {} are wanted", self.min_chars));
        }
        match lacks.as_slice() {
            [] => Outcome::passes(format!("`{path}` has all that is asked for, in {chars} characters")),
            lacks => Outcome::fails(format!("`{path}` {}", lacks.join(" and "))).remedied(format!("complete {path}")),
        }
    }

    pub(super) fn expectation(&self, scope: &Scope<'_>) -> String {
        let quoted =
            |words: &[String]| words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" and ");
        let mut parts = Vec::new();
        if !self.sections.is_empty() {
            parts.push(format!("the sections {}", quoted(&self.sections)));
        }
        if !self.contains.is_empty() {
            parts.push(quoted(&self.contains));
        }
        if !self.matches.is_empty() {
            parts.push(format!("the patterns {}", quoted(&self.matches)));
        }
        if self.min_chars > 0 {
            parts.push(format!("at least {} characters", self.min_chars));
        }
        let called = scope.called(&self.of);
        let called = if called.starts_with("a file like ") { called } else { format!("`{called}`") };
        format!("{called} has {}", parts.join(", "))
    }
}
