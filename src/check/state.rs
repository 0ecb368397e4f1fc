//! `state`: another mode's namespace says something.

use super::Scope;
use crate::verdict::Outcome;
use crate::yaml::{Node, TreeReader};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Holds when every value of the state is one of those given; the session's own come first, then what
/// scripts have set with `modegate cache set`.
///
/// ```yaml
/// check: { state: { code_mode.current_phase: commit } }
/// check: { state: { plan_mode.is_active: true } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateCheck(pub Vec<ExpectedState>);

/// One value of the state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpectedState {
    /// The namespace.
    pub namespace: String,
    /// The key in it.
    pub key: String,
    /// The values that will do, as JSON.
    pub values: Vec<String>,
}

impl StateCheck {
    pub(super) fn read(reader: &mut TreeReader, node: &Node) -> Self {
        let json = |reader: &mut TreeReader, node: &Node| reader.each(node, |_, node| node.to_json().to_string());
        let pairs = reader.map(node, json);
        let mut wanted = Vec::new();
        for (name, values) in pairs {
            match name.split_once('.') {
                Some((namespace, key)) => {
                    wanted.push(ExpectedState { namespace: namespace.to_owned(), key: key.to_owned(), values });
                }
                None => {
                    reader.problem(node, format!("`{name}` is no namespace and key, like `code_mode.current_phase`"));
                }
            }
        }
        Self(wanted)
    }

    pub(super) fn evaluate(&self, scope: &Scope<'_>) -> Outcome {
        let mut saw = Vec::new();
        let mut holds = true;
        for ExpectedState { namespace, key, values } in &self.0 {
            let value = scope.session.value(namespace, key).unwrap_or(Value::Null);
            holds &= values.contains(&value.to_string());
            let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let shown = if value.is_null() { "not set".to_owned() } else { format!("`{shown}`") };
            saw.push(format!("`{namespace}.{key}` is {shown}"));
        }
        Outcome::when(holds, saw.join(", "))
    }
}
