//! `state`: a value in the state of a mode.

use super::prelude::*;
use serde_json::Value;

/// Passes when every value of the state is one of those given. The session's own values come first, then those that
/// scripts have set with `modegate cache set`.
///
/// ```yaml
/// check: { state: { code_mode.current_phase: commit } }
/// check: { state: { plan_mode.is_active: true } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateCheck(pub Vec<ExpectedState>);

/// The values that a key of the state may have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpectedState {
    pub namespace: String,
    pub key: String,
    /// The accepted values, as JSON.
    pub values: Vec<String>,
}

impl CheckKind for StateCheck {
    fn from_node(reader: &mut TreeReader, node: &Node) -> Self {
        let json = |reader: &mut TreeReader, node: &Node| reader.each(node, |_, node| node.to_json().to_string());
        let mut expected = Vec::new();
        for (name, values) in reader.map(node, json) {
            match name.split_once('.') {
                Some((namespace, key)) => {
                    expected.push(ExpectedState { namespace: namespace.to_owned(), key: key.to_owned(), values });
                }
                None => reader.problem(node, format!("`{name}` lacks a namespace; write `code_mode.current_phase`")),
            }
        }
        Self(expected)
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let mut saw = Vec::new();
        let mut passes = true;
        for ExpectedState { namespace, key, values } in &self.0 {
            let value = scope.session.value(namespace, key).unwrap_or(Value::Null);
            passes &= values.contains(&value.to_string());
            saw.push(described(namespace, key, &value));
        }
        Ok(Outcome::when(passes, saw.join(", ")))
    }
}

/// Describes a value of the state: what belongs to a mode in its words, anything else by its key.
fn described(namespace: &str, key: &str, value: &Value) -> String {
    let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match (mode_name(namespace), key) {
        (Some(mode), "is_active") if *value == true => format!("{mode} is active"),
        (Some(mode), "is_active") => format!("{mode} is not active"),
        // A mode that has ended has no phase.
        (Some(mode), "phase" | "current_phase") if value.is_null() => format!("{mode} is not active"),
        (Some(mode), "phase" | "current_phase") => format!("{mode} is in phase {shown}"),
        _ if value.is_null() => format!("`{namespace}.{key}` is not set"),
        _ => format!("`{namespace}.{key}` is `{shown}`"),
    }
}

/// The words for the mode of a namespace, such as `code mode` for `code_mode`.
fn mode_name(namespace: &str) -> Option<String> {
    let (name, kind) = namespace.rsplit_once('_').filter(|(_, kind)| matches!(*kind, "mode" | "flow"))?;
    Some(format!("{} {kind}", name.replace('_', "-")))
}
