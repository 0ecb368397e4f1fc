//! `branch`: the branch that is checked out.

use super::prelude::*;
use crate::facts::CurrentBranch;

/// Passes when the checked-out branch has one of these names or globs; `**` in a glob also matches slashes.
///
/// `default: true` passes on the default branch: the one of `origin/HEAD`, else `init.defaultBranch`, `main` or `master`,
/// the first that exists. `detached: true` passes if no branch is checked out. All given keys must match.
///
/// ```yaml
/// check: { branch: ["feature/**", "fix/**"] }
/// check: { not: { branch: { default: true } } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchCheck {
    /// Names and globs; one of them is enough.
    pub names: Vec<String>,
    /// Whether it must be the default branch, or must not.
    pub default: Option<bool>,
    /// Whether HEAD must be detached, or must not.
    pub detached: Option<bool>,
}

impl CheckKind for BranchCheck {
    fn from_node(reader: &mut TreeReader, node: &Node) -> Self {
        if !node.is_map() {
            return Self { names: reader.templates(node), default: None, detached: None };
        }
        let fields = reader.fields(node, "`branch`", &["name", "default", "detached"]);
        let check = Self {
            names: fields.templates(reader, "name"),
            default: fields.read(reader, "default", TreeReader::boolean),
            detached: fields.read(reader, "detached", TreeReader::boolean),
        };
        if check.names.is_empty() && check.default.is_none() && check.detached.is_none() {
            fields.missing(reader, node, "`branch` needs one of `name`, `default` and `detached`");
        }
        check
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let names = scope.expand_all(&self.names)?;
        let current = scope.facts.branch()?;
        let Some(name) = &current.name else {
            let saw = "HEAD is detached";
            let passes = self.detached == Some(true) && names.is_empty() && self.default != Some(true);
            return Ok(Outcome::when(passes, saw));
        };
        if self.detached == Some(true) {
            return Ok(Outcome::fails(format!("the branch is `{name}`")));
        }
        if !names.is_empty() && !names.iter().any(|glob| fast_glob::glob_match(glob.as_str(), name.as_str())) {
            return Ok(Outcome::fails(format!("the branch is `{name}`, not `{}`", names.join("`, `"))));
        }
        match self.default {
            Some(wanted) => Self::compare_default(wanted, name, &current),
            None => Ok(Outcome::passes(format!("the branch is `{name}`"))),
        }
    }
}

impl BranchCheck {
    fn compare_default(wanted: bool, name: &str, current: &CurrentBranch) -> Result<Outcome, Outcome> {
        let is_default = match &current.default {
            Some(default) => default == name,
            // A first commit has to be made somewhere.
            None if current.unborn => false,
            None => return Err(Outcome::unknown("the default branch is not known")),
        };
        let saw = match (is_default, &current.default) {
            (true, _) => format!("the branch is `{name}`, the default branch"),
            (false, Some(default)) => format!("the branch is `{name}`, the default branch is `{default}`"),
            (false, None) => format!("the branch is `{name}`, without a commit"),
        };
        Ok(Outcome::when(is_default == wanted, saw))
    }
}
