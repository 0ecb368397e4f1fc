//! `transcript`: what was said in the conversation.

use super::{Pattern, Scope, pattern};
use crate::facts::{Answer, Question, Wanted, unknown};
use crate::verdict::Outcome;
use crate::yaml::{Node, Reader, Yaml};
use serde::{Deserialize, Serialize};

/// Holds when the conversation has all that is asked for; with `last`, only the latest message of the
/// assistant counts. At a subagent's stop the conversation is the subagent's.
///
/// ```yaml
/// check: { transcript: { last: true, contains: [risks, next steps] } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transcript {
    /// Whether only the latest message of the assistant counts.
    pub last: bool,
    /// Words, ignoring case.
    pub contains: Vec<String>,
    /// Regular expressions.
    pub matches: Vec<String>,
}

impl Transcript {
    pub(super) fn read(reader: &mut Reader, node: &Node) -> Self {
        if !matches!(node.value, Yaml::Map(_)) {
            return Self { last: false, contains: reader.texts(node), matches: Vec::new() };
        }
        let fields = reader.fields(node, "`transcript`", &["last", "contains", "matches"]);
        Self {
            last: fields.read(reader, "last", Reader::boolean).unwrap_or(false),
            contains: fields.read(reader, "contains", Reader::texts).unwrap_or_default(),
            matches: fields.read(reader, "matches", pattern::patterns).unwrap_or_default(),
        }
    }

    pub(super) fn evaluate(&self, scope: &Scope<'_>) -> Outcome {
        let said = match self.missing(scope) {
            Ok(missing) if missing.is_empty() => return Outcome::holds("the conversation has it"),
            Ok(missing) => format!("has no {}", missing.join(", no ")),
            Err(why) => return Outcome::unknown(why),
        };
        let subject = if self.last { "your last message" } else { "the conversation" };
        Outcome::fails(format!("{subject} {said}"))
    }

    fn missing(&self, scope: &Scope<'_>) -> Result<Vec<String>, String> {
        // The host's file lags behind: at a stop, the event itself has the latest message.
        if let Some(message) = scope.event.text("last_assistant_message").filter(|_| self.last) {
            let pattern =
                Pattern { contains: self.contains.clone(), matches: self.matches.clone(), starts: Vec::new() };
            return pattern.missing(message);
        }
        let path = scope.event.text("agent_transcript_path").or_else(|| scope.event.text("transcript_path"));
        let path = path.ok_or("the event names no transcript")?.to_owned();
        let wanted = Wanted { sections: Vec::new(), contains: self.contains.clone(), matches: self.matches.clone() };
        match scope.facts.ask(Question::Transcript { path, last: self.last, wanted }) {
            Answer::Text { missing, .. } => Ok(missing),
            other => Err(unknown(other)),
        }
    }
}
