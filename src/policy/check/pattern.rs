//! What a text must have: sections, words, a beginning, or a regular expression.

use super::Scope;
use crate::facts::verdict::Outcome;
use crate::facts::{EventText, TextFindings, TextQuery};
use crate::policy::yaml::{MappingFields, Node, TreeReader};
use serde::{Deserialize, Serialize};

/// What a text must have, all of it.
///
/// ```yaml
/// check: { prompt: login }
/// check: { prompt: { contains: [login, page], starts: fix, matches: "bug #\\d+" } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TextPattern {
    /// Headings with a text below them.
    pub sections: Vec<String>,
    /// Words, ignoring case.
    pub contains: Vec<String>,
    /// Beginnings; one of them is enough.
    pub starts: Vec<String>,
    pub matches: Vec<String>,
}

impl TextPattern {
    pub(super) fn read(reader: &mut TreeReader, node: &Node, what: &str) -> Self {
        if !node.is_map() {
            return Self::words(reader, node);
        }
        let fields = reader.fields(node, what, &["contains", "starts", "matches"]);
        Self::read_fields(reader, &fields)
    }

    /// Reads words without a key: `prompt: login`.
    pub(super) fn words(reader: &mut TreeReader, node: &Node) -> Self {
        Self { contains: reader.texts(node), ..Self::default() }
    }

    /// Reads the keys of a pattern among those of a check.
    pub(super) fn read_fields(reader: &mut TreeReader, fields: &MappingFields<'_>) -> Self {
        Self {
            sections: fields.texts(reader, "sections"),
            contains: fields.texts(reader, "contains"),
            starts: fields.texts(reader, "starts"),
            matches: fields.read(reader, "matches", expressions).unwrap_or_default(),
        }
    }

    /// Looks for the pattern in a text of the event, which messages call `subject`.
    pub(super) fn ask(&self, scope: &Scope<'_>, of: EventText, subject: &str) -> Result<Outcome, Outcome> {
        match scope.facts.event_text(of, self.query())? {
            Some(findings) => Ok(found(&findings, subject)),
            None => Ok(Outcome::fails(format!("there is no {subject}"))),
        }
    }

    pub(super) fn query(&self) -> TextQuery {
        let Self { sections, contains, starts, matches } = self.clone();
        TextQuery { sections, contains, matches, starts }
    }
}

/// The outcome of a search in the text that messages call `subject`.
pub(super) fn found(findings: &TextFindings, subject: &str) -> Outcome {
    if findings.missing.is_empty() {
        return Outcome::passes(format!("the {subject} matches"));
    }
    Outcome::fails(format!("the {subject} has no {}", findings.missing.join(", no ")))
}

/// The outcome of a search that also asks for a length, in the text that messages call `subject`.
pub(super) fn complete(findings: &TextFindings, min_chars: u32, subject: &str) -> Outcome {
    if !findings.missing.is_empty() || findings.chars >= min_chars as usize {
        return found(findings, subject);
    }
    Outcome::fails(format!("the {subject} has {} characters, needs {min_chars}", findings.chars))
}

/// Reads regular expressions and reports those that do not compile.
fn expressions(reader: &mut TreeReader, node: &Node) -> Vec<String> {
    reader.each(node, |reader, node| {
        let pattern = reader.text(node);
        match regex::RegexBuilder::new(&pattern).size_limit(1 << 20).build() {
            Err(regex::Error::CompiledTooBig(_)) => reader.problem(node, format!("pattern `{pattern}` is too large")),
            Err(_) => reader.problem(node, format!("pattern `{pattern}` is not a regular expression")),
            Ok(_) => {}
        }
        pattern
    })
}
