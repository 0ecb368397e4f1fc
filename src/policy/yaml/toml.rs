//! Reads TOML into a tree.

use super::positions::Positions;
use super::{FileProblem, Node, NodeValue};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub fn parse(text: &str) -> Result<Node, FileProblem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let positions = Positions::new(text);
    let table = DeTable::parse(text).map_err(|error| {
        let span = error.span().unwrap_or(0..1);
        FileProblem::at(positions.location(span.start, span.end), format!("not TOML: {}", error.message()))
    })?;
    let span = table.span();
    Ok(Node { location: positions.location(span.start, span.end), value: mapping(&positions, table.get_ref()) })
}

fn mapping(positions: &Positions<'_>, table: &DeTable<'_>) -> NodeValue {
    let entry = |(name, value): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
        let span = name.span();
        let key = NodeValue::Scalar { text: name.get_ref().to_string(), plain: false };
        (Node { location: positions.location(span.start, span.end), value: key }, node(positions, value))
    };
    NodeValue::Map(table.iter().map(entry).collect())
}

fn node(positions: &Positions<'_>, value: &Spanned<DeValue<'_>>) -> Node {
    let scalar = |text: String, plain: bool| NodeValue::Scalar { text, plain };
    let yaml = match value.get_ref() {
        DeValue::String(string) => scalar(string.to_string(), false),
        DeValue::Integer(number) => scalar(number.as_str().to_owned(), true),
        DeValue::Float(number) => scalar(number.as_str().to_owned(), true),
        DeValue::Boolean(truth) => scalar(truth.to_string(), true),
        DeValue::Datetime(time) => scalar(time.to_string(), false),
        DeValue::Array(items) => NodeValue::List(items.iter().map(|item| node(positions, item)).collect()),
        DeValue::Table(table) => mapping(positions, table),
    };
    let span = value.span();
    Node { location: positions.location(span.start, span.end), value: yaml }
}
