//! `calls`: a program that the command line runs.

use super::{CheckKind, Scope};
use crate::verdict::Outcome;
use crate::yaml::{Node, TreeReader};
use serde::{Deserialize, Serialize};

/// Passes when the command line runs a program with these first words, directly or behind `sudo`, `env`, `bash -c`,
/// `xargs` and the like. The program's folder and options between the words do not count.
///
/// ```yaml
/// check: { not: { calls: [git push, npm publish] } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallsCheck(pub Vec<String>);

impl CheckKind for CallsCheck {
    fn read(reader: &mut TreeReader, node: &Node) -> Self {
        Self(reader.templates(node))
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let wanted = scope.expand_all(&self.0).map_err(Outcome::unknown)?;
        Ok(match scope.facts.calls(wanted.clone()).map_err(Outcome::unknown)? {
            Some(call) => Outcome::passes(format!("it runs `{call}`")),
            None => Outcome::fails(format!("it runs none of `{}`", wanted.join("`, `"))),
        })
    }
}
