//! `variable`: a variable has a certain value.

use super::prelude::*;

/// Passes when each of these variables has the value, alone or among others: a switch that projects set in their
/// settings.
///
/// ```yaml
/// check: { variable: { review: uncommitted } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariableCheck(pub Vec<(String, String)>);

impl CheckKind for VariableCheck {
    fn from_node(reader: &mut TreeReader, node: &Node) -> Self {
        Self(reader.map(node, TreeReader::text))
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let values = |name: &str| scope.definitions.variables.get(name).cloned().unwrap_or_default();
        let other = self.0.iter().find(|(name, wanted)| !values(name).contains(wanted));
        let shown = |(name, wanted): &(String, String)| format!("`{name}` is `{wanted}`");
        Ok(match other {
            None => Outcome::passes(self.0.iter().map(shown).collect::<Vec<_>>().join(", ")),
            Some((name, wanted)) => Outcome::fails(format!("the variable `{name}` is not `{wanted}`")),
        })
    }
}
