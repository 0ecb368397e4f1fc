//! `text`: a file's text has sections, words, a length.

use super::file;
use super::prelude::*;
use crate::facts::TextFindings;
use crate::facts::verdict::{Outcome, Truth};

/// Passes when the newest file's text, without its frontmatter, has everything asked for; with `newest: false` any of
/// the files is enough.
///
/// `sections` are headings with something below them, `contains` are words ignoring case, `matches` are regular
/// expressions, `min_chars` is the least length.
///
/// ```yaml
/// check: { text: { of: review, sections: [Summary], contains: findings, min_chars: 200 } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextCheck {
    pub of: String,
    pub min_chars: u32,
    pub pattern: TextPattern,
    pub newest: bool,
}

impl CheckKind for TextCheck {
    fn from_node(reader: &mut TreeReader, node: &Node) -> Self {
        let fields = reader.fields(node, "`text`", &["of", "sections", "contains", "min_chars", "matches", "newest"]);
        let text = Self {
            of: fields.artifact(reader, node, "`text`"),
            min_chars: fields.read(reader, "min_chars", TreeReader::number).unwrap_or(0),
            pattern: TextPattern::read_fields(reader, &fields),
            newest: fields.read(reader, "newest", TreeReader::boolean).unwrap_or(true),
        };
        if text.min_chars == 0 && text.pattern == TextPattern::default() {
            fields.missing(reader, node, "`text` needs one of `sections`, `contains`, `matches` and `min_chars`");
        }
        text
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let files = file::matching(&self.of, self.newest, scope)?;
        let mut outcomes: Vec<Outcome> = Vec::new();
        for file in files {
            let outcome = self.search(&file.path, scope);
            if outcome.truth == Truth::Passes {
                return Ok(outcome);
            }
            outcomes.push(outcome);
        }
        Ok(outcomes.swap_remove(0))
    }

    fn artifact(&self) -> Option<&str> {
        Some(&self.of)
    }

    fn expectation(&self, scope: &Scope<'_>) -> Option<String> {
        let TextPattern { sections, contains, matches, .. } = &self.pattern;
        let quoted = |noun: &str, words: &[String]| {
            let all = words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" and ");
            match (noun, words.len()) {
                (_, 0) => None,
                ("", _) => Some(all),
                (noun, 1) => Some(format!("the {noun} {all}")),
                (noun, _) => Some(format!("the {noun}s {all}")),
            }
        };
        let length = (self.min_chars > 0).then(|| format!("at least {} characters", self.min_chars));
        let parts = [quoted("section", sections), quoted("", contains), quoted("pattern", matches), length];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let called = scope.describe_artifact(&self.of);
        let called = if called.starts_with("a file like ") { called } else { format!("`{called}`") };
        Some(format!("{called} has {}", parts.join(", ")))
    }
}

impl TextCheck {
    fn search(&self, path: &str, scope: &Scope<'_>) -> Outcome {
        let TextFindings { chars, missing } = match scope.facts.text(path.to_owned(), self.pattern.query()) {
            Ok(findings) => findings,
            Err(unknown) => return Outcome::unknown(unknown),
        };
        let missing = (!missing.is_empty()).then(|| format!("has no {}", missing.join(", no ")));
        let short =
            (chars < self.min_chars as usize).then(|| format!("has {chars} characters, needs {}", self.min_chars));
        let lacks: Vec<String> = missing.into_iter().chain(short).collect();
        if lacks.is_empty() {
            return Outcome::passes(format!("`{path}` has everything required, in {chars} characters"));
        }
        let path = scope.display_path(path);
        Outcome::fails(format!("`{path}` {}", lacks.join(" and "))).remedied(format!("complete {path}"))
    }
}
