//! `committed`: HEAD has this very content.

use super::{Scope, file};
use crate::facts::{Answer, CommitState, Question, unknown};
use crate::verdict::Outcome;
use crate::yaml::{Node, TreeReader};
use serde::{Deserialize, Serialize};

/// Holds when HEAD has the newest file's very content, and the index agrees.
///
/// ```yaml
/// check: { committed: report }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommittedCheck {
    /// The artifact, or a glob.
    pub of: String,
}

impl CommittedCheck {
    pub(super) fn read(reader: &mut TreeReader, node: &Node) -> Self {
        Self { of: reader.artifact(node) }
    }

    pub(super) fn evaluate(&self, scope: &Scope<'_>) -> Outcome {
        let path = match file::matching(&self.of, scope) {
            Ok(files) => files.into_iter().next().map(|file| file.path).unwrap_or_default(),
            Err(outcome) => return outcome,
        };
        let remedy = format!("commit {path}");
        match scope.facts.ask(Question::Committed(path.clone())) {
            Answer::Committed(CommitState::Committed) => Outcome::passes(format!("`{path}` is committed")),
            Answer::Committed(CommitState::Ignored) => Outcome::fails(format!("git ignores `{path}`"))
                .remedied(format!("add it with `git add -f` and {remedy}")),
            Answer::Committed(other) => Outcome::fails(format!("`{path}` {}", said(other))).remedied(remedy),
            other => Outcome::unknown(unknown(other)),
        }
    }

    pub(super) fn expectation(&self, scope: &Scope<'_>) -> String {
        format!("`{}` is committed to git", scope.called(&self.of))
    }
}

fn said(commitment: CommitState) -> &'static str {
    match commitment {
        CommitState::Committed => "is committed",
        CommitState::Untracked => "is untracked",
        CommitState::Staged => "is staged, not committed",
        CommitState::Modified => "has changes that are not committed",
        CommitState::Missing => "is gone",
        CommitState::Ignored => "is ignored by git",
    }
}
