//! `transcript`: what was written in the conversation.

use super::pattern;
use super::prelude::*;
use crate::facts::EventText;

/// Passes when the conversation has everything asked for; with `last`, only the latest message of the assistant
/// counts. At a subagent's stop the conversation is the subagent's.
///
/// ```yaml
/// check: { transcript: { last: true, contains: [risks, next steps] } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranscriptCheck {
    pub last: bool,
    pub pattern: TextPattern,
}

impl CheckKind for TranscriptCheck {
    fn from_node(reader: &mut TreeReader, node: &Node) -> Self {
        if !node.is_map() {
            return Self { last: false, pattern: TextPattern::words(reader, node) };
        }
        let fields = reader.fields(node, "`transcript`", &["last", "contains", "matches"]);
        let last = fields.flag(reader, "last");
        Self { last, pattern: TextPattern::read_fields(reader, &fields) }
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        // The host's file lags behind: at a stop, the event itself has the latest message.
        if self.last && scope.event.text("last_assistant_message").is_some() {
            return self.pattern.ask(scope, EventText::Message, "last message");
        }
        let path = scope.event.text("agent_transcript_path").or_else(|| scope.event.text("transcript_path"));
        let path = path.ok_or_else(|| Outcome::unknown("the event names no transcript"))?.to_owned();
        let subject = if self.last { "last message" } else { "conversation" };
        let findings = scope.facts.transcript(path, self.last, self.pattern.query())?;
        Ok(pattern::found(&findings, subject))
    }
}
