//! What a text of the event is asked for: words, a beginning, or a regular expression.

use super::Scope;
use crate::facts::{Answer, EventText, Question, TextQuery, unknown};
use crate::verdict::Outcome;
use crate::yaml::{Node, NodeValue, TreeReader};
use serde::{Deserialize, Serialize};

/// What a text must have; everything given must be there.
///
/// ```yaml
/// check: { prompt: login }
/// check: { prompt: { contains: [login, page], starts: fix, matches: "bug #\\d+" } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TextPattern {
    /// Words, ignoring case.
    pub contains: Vec<String>,
    /// How it begins; one of them is enough.
    pub starts: Vec<String>,
    /// Regular expressions.
    pub matches: Vec<String>,
}

impl TextPattern {
    pub(super) fn read(reader: &mut TreeReader, node: &Node, what: &str) -> Self {
        if !matches!(node.value, NodeValue::Map(_)) {
            return Self { contains: reader.texts(node), ..Self::default() };
        }
        let fields = reader.fields(node, what, &["contains", "starts", "matches"]);
        let matches = fields.read(reader, "matches", patterns).unwrap_or_default();
        let contains = fields.read(reader, "contains", TreeReader::texts).unwrap_or_default();
        let starts = fields.read(reader, "starts", TreeReader::texts).unwrap_or_default();
        Self { contains, starts, matches }
    }

    /// Asks a text of the event for it; `subject` is what that text is called.
    pub(super) fn ask(&self, scope: &Scope<'_>, of: EventText, subject: &str) -> Outcome {
        match scope.facts.ask(Question::EventText { of, wanted: self.wanted() }) {
            Answer::NoText => Outcome::fails(format!("there is no {subject}")),
            Answer::Text { missing, .. } if missing.is_empty() => Outcome::passes(format!("the {subject} has it")),
            Answer::Text { missing, .. } => Outcome::fails(format!("the {subject} has no {}", missing.join(", no "))),
            other => Outcome::unknown(unknown(other)),
        }
    }

    fn wanted(&self) -> TextQuery {
        let Self { contains, starts, matches } = self.clone();
        TextQuery { sections: Vec::new(), contains, matches, starts }
    }
}

/// Regular expressions that compile.
pub(super) fn patterns(reader: &mut TreeReader, node: &Node) -> Vec<String> {
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
