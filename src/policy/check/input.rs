//! `input`: a field of the tool's input.

use super::pattern::complete;
use super::prelude::*;
use crate::facts::EventText;

/// Passes when a field of the tool's input has everything asked for: `sections`, `contains`, `matches` and `min_chars`
/// as in `text`, `starts` as in `prompt`. Without any of them, the field must only exist.
///
/// `field` names it by its path, with dots: `todos.0.content`. Numbers and booleans are compared as written,
/// lists and mappings as JSON.
///
/// ```yaml
/// check: { input: { field: plan, sections: [Tests], min_chars: 300 } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputCheck {
    pub field: String,
    pub pattern: TextPattern,
    pub min_chars: u32,
}

impl CheckKind for InputCheck {
    fn from_node(reader: &mut TreeReader, node: &Node) -> Self {
        let keys = ["field", "sections", "contains", "starts", "matches", "min_chars"];
        let fields = reader.fields(node, "`input`", &keys);
        let field = fields.read(reader, "field", TreeReader::text);
        if field.as_ref().is_none_or(String::is_empty) {
            fields.missing(reader, node, "`input` needs `field`: the name of a field of the tool's input");
        }
        Self {
            field: field.unwrap_or_default(),
            pattern: TextPattern::read_fields(reader, &fields),
            min_chars: fields.read(reader, "min_chars", TreeReader::number).unwrap_or(0),
        }
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let of = EventText::Input(self.field.clone());
        let found = scope.facts.event_text(of, self.pattern.query())?;
        Ok(match found {
            Some(findings) => complete(&findings, self.min_chars, &format!("input `{}`", self.field)),
            None => Outcome::fails(format!("the tool's input has no `{}`", self.field)),
        })
    }
}
