//! `mentions`: protected paths in the input of any tool.

use super::prelude::*;
use super::touches::query_in;
use crate::facts::ProtectedPaths;

/// Passes when the input of the tool call names one of these paths and the call does more than read.
///
/// Where the path begins does not count: `.claude/modes/**` is also `/srv/app/.claude/modes/plan.yaml`, and `\` is `/`. Of
/// command lines only the commands count that do more than read; of editors the path, not the text; of other tools every
/// short text that is not for people. Commit messages, and tools whose name says that they read, never count.
///
/// ```yaml
/// check: { not: { mentions: [".claude/modes/**", .claude/modegate.yaml] } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MentionsCheck {
    query: ProtectedPaths,
    has_variables: bool,
}

impl CheckKind for MentionsCheck {
    fn from_node(reader: &mut TreeReader, node: &Node) -> Self {
        let mut query = ProtectedPaths::default();
        query.paths = reader.templates(node).into_iter().collect();
        Self { has_variables: query.has_variables(), query: query.with_digest() }
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let query = query_in(scope, &self.query, self.has_variables)?;
        Ok(match scope.facts.mentions(query)? {
            Some(path) => Outcome::passes(format!(
                "it names `{path}`, which tools may only read (with Read, Grep, `cat`, `jq` and the like)"
            )),
            None => Outcome::fails("it names none of these paths, or only reads"),
        })
    }
}
