//! Reads JSON into a tree.

use super::{FileProblem, Location, Node, NodeValue};
use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

/// Reads a JSON document, comments allowed.
pub fn parse(text: &str) -> Result<Node, FileProblem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let tree = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default()).map_err(|error| {
        FileProblem::at(
            location(text, error.range().start, error.range().start + 1),
            format!("not JSON: {}", error.kind()),
        )
    })?;
    match tree.value {
        Some(value) => Ok(node(text, &value)),
        None => Ok(Node { location: Location::START, value: NodeValue::Map(Vec::new()) }),
    }
}

fn node(text: &str, value: &Value<'_>) -> Node {
    let at = |start: usize, end: usize| location(text, start, end);
    let scalar = |text: &str, plain: bool| NodeValue::Scalar { text: text.to_owned(), plain };
    let yaml = match value {
        Value::StringLit(string) => scalar(&string.value, false),
        Value::NumberLit(number) => scalar(number.value, true),
        Value::BooleanLit(truth) => scalar(if truth.value { "true" } else { "false" }, true),
        Value::NullKeyword(_) => scalar("null", true),
        Value::Array(array) => NodeValue::List(array.elements.iter().map(|element| node(text, element)).collect()),
        Value::Object(object) => {
            let entry = |property: &jsonc_parser::ast::ObjectProp<'_>| {
                let range = property.name.range();
                let name = Node { location: at(range.start, range.end), value: scalar(property.name.as_str(), false) };
                (name, node(text, &property.value))
            };
            NodeValue::Map(object.properties.iter().map(entry).collect())
        }
    };
    let range = value.range();
    Node { location: at(range.start, range.end), value: yaml }
}

pub(super) fn location(text: &str, start: usize, end: usize) -> Location {
    let before = text.get(..start).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
    let own = text.get(start..end).unwrap_or_default().lines().next().unwrap_or_default();
    Location { line: before.matches('\n').count() + 1, column, width: own.chars().count().max(1) }
}
