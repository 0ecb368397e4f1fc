//! `calls`: a program that the command line would run, in whatever disguise.

use super::Scope;
use crate::facts::{Answer, Question, unknown};
use crate::verdict::Outcome;
use crate::yaml::{Node, TreeReader};
use serde::{Deserialize, Serialize};

/// Holds when the command line runs a program with these first words, also behind `sudo`, `env`, `bash -c`, `xargs` and
/// the like, and by whatever path it is called. Options between the words do not count.
///
/// ```yaml
/// check: { not: { calls: [git push, npm publish] } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallsCheck(pub Vec<String>);

impl CallsCheck {
    pub(super) fn read(reader: &mut TreeReader, node: &Node) -> Self {
        Self(reader.templates(node))
    }

    pub(super) fn evaluate(&self, scope: &Scope<'_>) -> Outcome {
        let wanted = match scope.expand_all(&self.0) {
            Ok(wanted) => wanted,
            Err(why) => return Outcome::unknown(why),
        };
        match scope.facts.ask(Question::Calls(wanted.clone())) {
            Answer::Calls(Some(call)) => Outcome::passes(format!("it runs `{call}`")),
            Answer::Calls(None) => Outcome::fails(format!("it runs none of `{}`", wanted.join("`, `"))),
            other => Outcome::unknown(unknown(other)),
        }
    }
}
