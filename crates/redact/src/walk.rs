//! The walk over a JSON value that the journal and the export share.

use serde_json::{Map, Value};

/// Rewrites the parts of a JSON value.
pub trait JsonRewriter {
    /// What a value inherits from its surroundings.
    type WalkState: Copy;

    /// Replaces a value as a whole, if it must not be walked.
    fn whole(&mut self, value: &Value, key: &str, scope: Self::WalkState) -> Option<Value>;

    /// Rewrites a text at `key`.
    fn text(&mut self, text: &str, key: &str, scope: Self::WalkState) -> Value;

    /// Rewrites the name of a field.
    fn name(&mut self, name: &str, scope: Self::WalkState) -> String;

    /// The key and scope of the field `name` of the object at `key`.
    fn field<'a>(&self, key: &'a str, name: &'a str, scope: Self::WalkState) -> (&'a str, Self::WalkState);

    /// The scope of the items of a list, which share its key.
    fn item(&self, scope: Self::WalkState) -> Self::WalkState {
        scope
    }
}

/// Rewrites `value`, which is at `key`.
pub fn rewrite<R: JsonRewriter>(value: &Value, key: &str, scope: R::WalkState, rewriter: &mut R) -> Value {
    if let Some(replacement) = rewriter.whole(value, key, scope) {
        return replacement;
    }
    match value {
        Value::String(text) => rewriter.text(text, key, scope),
        Value::Array(items) => items.iter().map(|item| rewrite(item, key, rewriter.item(scope), rewriter)).collect(),
        Value::Object(fields) => rewrite_fields(fields, key, scope, rewriter),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Rewrites the fields of an object, which is at `key`.
pub fn rewrite_fields<R: JsonRewriter>(
    fields: &Map<String, Value>,
    key: &str,
    scope: R::WalkState,
    rewriter: &mut R,
) -> Value {
    let field = |(name, value): (&String, &Value)| {
        let (key, inner) = rewriter.field(key, name, scope);
        (rewriter.name(name, scope), rewrite(value, key, inner, rewriter))
    };
    Value::Object(fields.iter().map(field).collect::<Map<String, Value>>())
}
