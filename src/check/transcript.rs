//! `transcript`: what was said in the conversation.

use super::{Scope, TextPattern, pattern};
use crate::facts::{Answer, EventText, Question, TextQuery, unknown};
use crate::verdict::Outcome;
use crate::yaml::{Node, NodeValue, TreeReader};
use serde::{Deserialize, Serialize};

/// Holds when the conversation has all that is asked for; with `last`, only the latest message of the
/// assistant counts. At a subagent's stop the conversation is the subagent's.
///
/// ```yaml
/// check: { transcript: { last: true, contains: [risks, next steps] } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranscriptCheck {
    /// Whether only the latest message of the assistant counts.
    pub last: bool,
    /// Words, ignoring case.
    pub contains: Vec<String>,
    /// Regular expressions.
    pub matches: Vec<String>,
}

impl TranscriptCheck {
    pub(super) fn read(reader: &mut TreeReader, node: &Node) -> Self {
        if !matches!(node.value, NodeValue::Map(_)) {
            return Self { last: false, contains: reader.texts(node), matches: Vec::new() };
        }
        let fields = reader.fields(node, "`transcript`", &["last", "contains", "matches"]);
        Self {
            last: fields.read(reader, "last", TreeReader::boolean).unwrap_or(false),
            contains: fields.read(reader, "contains", TreeReader::texts).unwrap_or_default(),
            matches: fields.read(reader, "matches", pattern::patterns).unwrap_or_default(),
        }
    }

    pub(super) fn evaluate(&self, scope: &Scope<'_>) -> Outcome {
        // The host's file lags behind: at a stop, the event itself has the latest message.
        if self.last && scope.event.text("last_assistant_message").is_some() {
            let Self { contains, matches, .. } = self.clone();
            return TextPattern { contains, matches, starts: Vec::new() }.ask(
                scope,
                EventText::Message,
                "last message",
            );
        }
        let path = scope.event.text("agent_transcript_path").or_else(|| scope.event.text("transcript_path"));
        let Some(path) = path.map(str::to_owned) else { return Outcome::unknown("the event names no transcript") };
        let Self { contains, matches, .. } = self.clone();
        let wanted = TextQuery { contains, matches, ..TextQuery::default() };
        let subject = if self.last { "last message" } else { "conversation" };
        match scope.facts.ask(Question::Transcript { path, last: self.last, wanted }) {
            Answer::Text { missing, .. } if missing.is_empty() => Outcome::passes(format!("the {subject} has it")),
            Answer::Text { missing, .. } => Outcome::fails(format!("the {subject} has no {}", missing.join(", no "))),
            other => Outcome::unknown(unknown(other)),
        }
    }
}
