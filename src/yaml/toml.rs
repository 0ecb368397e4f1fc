//! Reads TOML into a tree.

use super::json::location;
use super::{FileProblem, Node, NodeValue};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub fn parse(text: &str) -> Result<Node, FileProblem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let table = DeTable::parse(text).map_err(|error| {
        let span = error.span().unwrap_or(0..1);
        FileProblem::at(location(text, span.start, span.end), format!("not TOML: {}", error.message()))
    })?;
    let span = table.span();
    Ok(Node { location: location(text, span.start, span.end), value: mapping(text, table.get_ref()) })
}

fn mapping(text: &str, table: &DeTable<'_>) -> NodeValue {
    let entry = |(name, value): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
        let span = name.span();
        let key = NodeValue::Scalar { text: name.get_ref().to_string(), plain: false };
        (Node { location: location(text, span.start, span.end), value: key }, node(text, value))
    };
    NodeValue::Map(table.iter().map(entry).collect())
}

fn node(text: &str, value: &Spanned<DeValue<'_>>) -> Node {
    let scalar = |text: String, plain: bool| NodeValue::Scalar { text, plain };
    let yaml = match value.get_ref() {
        DeValue::String(string) => scalar(string.to_string(), false),
        DeValue::Integer(number) => scalar(number.as_str().to_owned(), true),
        DeValue::Float(number) => scalar(number.as_str().to_owned(), true),
        DeValue::Boolean(truth) => scalar(truth.to_string(), true),
        DeValue::Datetime(time) => scalar(time.to_string(), false),
        DeValue::Array(items) => NodeValue::List(items.iter().map(|item| node(text, item)).collect()),
        DeValue::Table(table) => mapping(text, table),
    };
    let span = value.span();
    Node { location: location(text, span.start, span.end), value: yaml }
}
