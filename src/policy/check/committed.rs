//! `committed`: HEAD has a file's present content.

use super::file;
use super::prelude::*;
use crate::facts::CommitState;

/// Passes when HEAD has the present content of the newest file, and the index agrees.
///
/// ```yaml
/// check: { committed: report }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommittedCheck {
    pub of: String,
}

impl CheckKind for CommittedCheck {
    fn from_node(reader: &mut TreeReader, node: &Node) -> Self {
        Self { of: reader.artifact(node) }
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let path = file::newest(&self.of, scope)?;
        let named = || scope.display_path(&path);
        let problem = match scope.facts.committed(path.clone())? {
            CommitState::Committed => return Ok(Outcome::passes(format!("`{path}` is committed"))),
            CommitState::Ignored => {
                let remedy = format!("add it with `git add -f` and commit {}", named());
                return Ok(Outcome::fails(format!("git ignores `{}`", named())).remedied(remedy));
            }
            CommitState::Untracked => "is untracked",
            CommitState::Staged => "is staged, not committed",
            CommitState::Modified => "has changes that are not committed",
            CommitState::Missing => "is gone",
        };
        Ok(Outcome::fails(format!("`{}` {problem}", named())).remedied(format!("commit {}", named())))
    }

    fn artifact(&self) -> Option<&str> {
        Some(&self.of)
    }

    fn expectation(&self, scope: &Scope<'_>) -> Option<String> {
        let scope = scope.shared();
        Some(format!("`{}` is committed to git", scope.describe_artifact(&self.of)))
    }
}
