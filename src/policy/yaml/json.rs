//! Reads JSON into a tree.

use super::positions::Positions;
use super::{FileProblem, Location, Node, NodeValue};
use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

/// Reads a JSON document, comments allowed.
pub fn parse(text: &str) -> Result<Node, FileProblem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let positions = Positions::new(text);
    let tree = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default()).map_err(|error| {
        FileProblem::at(
            positions.location(error.range().start, error.range().start + 1),
            format!("not JSON: {}", error.kind()),
        )
    })?;
    match tree.value {
        Some(value) => Ok(node(&positions, &value)),
        None => Ok(Node { location: Location::START, value: NodeValue::Map(Vec::new()) }),
    }
}

fn node(positions: &Positions<'_>, value: &Value<'_>) -> Node {
    let at = |start: usize, end: usize| positions.location(start, end);
    let scalar = |text: &str, plain: bool| NodeValue::Scalar { text: text.to_owned(), plain };
    let yaml = match value {
        Value::StringLit(string) => scalar(&string.value, false),
        Value::NumberLit(number) => scalar(number.value, true),
        Value::BooleanLit(truth) => scalar(if truth.value { "true" } else { "false" }, true),
        Value::NullKeyword(_) => scalar("null", true),
        Value::Array(array) => NodeValue::List(array.elements.iter().map(|element| node(positions, element)).collect()),
        Value::Object(object) => {
            let entry = |property: &jsonc_parser::ast::ObjectProp<'_>| {
                let range = property.name.range();
                let name = Node { location: at(range.start, range.end), value: scalar(property.name.as_str(), false) };
                (name, node(positions, &property.value))
            };
            NodeValue::Map(object.properties.iter().map(entry).collect())
        }
    };
    let range = value.range();
    Node { location: at(range.start, range.end), value: yaml }
}
