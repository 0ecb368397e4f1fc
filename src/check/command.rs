//! `command`: the shell command that the tool runs.

use super::{CheckKind, Scope, TextPattern};
use crate::facts::EventText;
use crate::shell;
use crate::verdict::Outcome;
use crate::yaml::{Node, NodeValue, TreeReader};
use serde::{Deserialize, Serialize};

/// Holds when a command of the shell line begins with one of the given words; with a mapping, when the
/// whole line has what is asked for.
///
/// ```yaml
/// check: { command: [git push, npm publish] }
/// check: { command: { matches: "--force\\b" } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommandCheck {
    /// By its first words.
    Words(Vec<String>),
    /// By what the line has.
    Line(TextPattern),
}

impl CheckKind for CommandCheck {
    fn read(reader: &mut TreeReader, node: &Node) -> Self {
        match node.value {
            NodeValue::Map(_) => Self::Line(TextPattern::read(reader, node, "`command`")),
            _ => Self::Words(reader.templates(node)),
        }
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        match (self, scope.event.input("command")) {
            (Self::Line(pattern), _) => pattern.ask(scope, EventText::Command, "command"),
            (Self::Words(_), None) => Ok(Outcome::fails("there is no command")),
            (Self::Words(words), Some(line)) => Ok(begun(line, &scope.expand_all(words).map_err(Outcome::unknown)?)),
        }
    }
}

fn begun(line: &str, words: &[String]) -> Outcome {
    let runs = shell::commands(line);
    let found = words.iter().find(|wanted| runs.iter().any(|run| shell::begins_with(&run.words, wanted)));
    Outcome::when(
        found.is_some(),
        match found {
            Some(wanted) => format!("it runs `{wanted}`"),
            None => format!("it runs none of `{}`", words.join("`, `")),
        },
    )
}
