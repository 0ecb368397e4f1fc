//! `message`: the message of a commit that the command line would make.

use super::pattern::complete;
use super::prelude::*;
use crate::facts::EventText;

/// Passes when the message of every `git commit` in the command line has everything asked for: `contains`, `starts` and
/// `matches` as in `prompt`, `min_chars` as in `text`.
///
/// The message comes from `-m`, a here-document or a file. Several `-m` are joined by an empty line.
///
/// ```yaml
/// check: { message: { matches: '\A(feat|fix|docs)(\(.+\))?: ' } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageCheck {
    pub pattern: TextPattern,
    pub min_chars: u32,
}

impl CheckKind for MessageCheck {
    fn from_node(reader: &mut TreeReader, node: &Node) -> Self {
        if !node.is_map() {
            return Self { pattern: TextPattern::words(reader, node), min_chars: 0 };
        }
        let fields = reader.fields(node, "`message`", &["contains", "starts", "matches", "min_chars"]);
        let pattern = TextPattern::read_fields(reader, &fields);
        let min_chars = fields.read(reader, "min_chars", TreeReader::number).unwrap_or(0);
        if min_chars == 0 && pattern == TextPattern::default() {
            fields.missing(reader, node, "`message` needs one of `contains`, `starts`, `matches` and `min_chars`");
        }
        Self { pattern, min_chars }
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let found = scope.facts.event_text(EventText::Commit, self.pattern.query())?;
        Ok(match found {
            Some(findings) => complete(&findings, self.min_chars, "commit message"),
            None => Outcome::fails("the command line makes no commit"),
        })
    }
}
