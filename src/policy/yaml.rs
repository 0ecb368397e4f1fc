//! Documents as trees whose nodes know their line and column, so that an error can point at a word.
//!
//! YAML, JSON and TOML are read into the same tree.

pub mod json;
mod positions;
mod reader;
pub mod toml;

pub use reader::{FileProblem, MOST_PROBLEMS, MappingFields, TreeReader, did_you_mean, nearest, suggestion};

use base::template;
use saphyr_parser::{Event, Parser, ScalarStyle, Span};
use serde::{Deserialize, Serialize};

/// Deeper than any reasonable mode file.
const DEPTH: usize = 64;

/// A part of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Location {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// How many characters it has.
    pub width: usize,
}

impl Location {
    /// The first character of a file.
    pub const START: Self = Self { line: 1, column: 1, width: 1 };
}

/// A node of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    pub location: Location,
    pub value: NodeValue,
}

#[derive(Debug, Clone, PartialEq)]
pub enum NodeValue {
    /// A scalar; `plain` when it was not quoted, so that it may be a number, a boolean or null.
    Scalar {
        text: String,
        /// Whether it was written without quotes.
        plain: bool,
    },
    List(Vec<Node>),
    /// A mapping, in the order of the file.
    Map(Vec<(Node, Node)>),
}

impl Node {
    /// Reads one document; an empty one is an empty mapping.
    pub fn parse(text: &str) -> Result<Self, FileProblem> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut tree = TreeBuilder::default();
        let mut documents = 0;
        for item in Parser::new_from_str(text) {
            let (event, span) = item.map_err(|error| syntax_error(text, &error))?;
            documents += usize::from(matches!(event, Event::DocumentStart(_)));
            if documents > 1 {
                return Err(FileProblem::at(placed(span), "a file has one document; a second one begins here"));
            }
            tree.take(event, span)?;
        }
        Ok(tree.root.unwrap_or(Self { location: Location::START, value: NodeValue::Map(Vec::new()) }))
    }

    /// The text of a scalar.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            NodeValue::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    pub fn is_map(&self) -> bool {
        matches!(self.value, NodeValue::Map(_))
    }

    /// The entries of a mapping; none for another node.
    pub fn entries(&self) -> &[(Self, Self)] {
        if let NodeValue::Map(entries) = &self.value { entries } else { &[] }
    }

    /// The value of a key of a mapping.
    pub fn get(&self, name: &str) -> Option<&Self> {
        self.entries().iter().find(|(key, _)| key.text() == Some(name)).map(|(_, value)| value)
    }

    /// Whether it is null or empty.
    pub fn is_null(&self) -> bool {
        matches!(&self.value, NodeValue::Scalar { text, plain: true } if matches!(text.as_str(), "" | "~" | "null"))
    }

    /// The node as JSON, with YAML's plain scalars typed.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            NodeValue::Scalar { text, plain: true } => typed(text),
            NodeValue::Scalar { text, plain: false } => text.as_str().into(),
            NodeValue::List(items) => items.iter().map(Node::to_json).collect(),
            NodeValue::Map(entries) => {
                let entries =
                    entries.iter().map(|(key, value)| (key.text().unwrap_or_default().to_owned(), value.to_json()));
                serde_json::Value::Object(entries.collect())
            }
        }
    }

    /// What it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self.value {
            NodeValue::Scalar { .. } => "text",
            NodeValue::List(_) => "a list",
            NodeValue::Map(_) => "a mapping",
        }
    }
}

fn typed(text: &str) -> serde_json::Value {
    match text {
        "" | "~" | "null" => serde_json::Value::Null,
        "true" => true.into(),
        "false" => false.into(),
        _ => match (text.parse::<i64>(), text.parse::<f64>()) {
            (Ok(number), _) => number.into(),
            (_, Ok(number)) if text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) => number.into(),
            _ => text.into(),
        },
    }
}

/// Builds the tree from the parser's events, without recursion.
#[derive(Default)]
struct TreeBuilder {
    /// Lists and mappings that have not ended, each with the key that waits for its value.
    open: Vec<(Node, Option<Node>)>,
    root: Option<Node>,
}

impl TreeBuilder {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), FileProblem> {
        let location = placed(span);
        match event {
            Event::Scalar(text, style, ..) => {
                let value = NodeValue::Scalar { text: text.into_owned(), plain: style == ScalarStyle::Plain };
                self.put(Node { location, value })
            }
            Event::SequenceStart(..) => self.open(location, NodeValue::List(Vec::new())),
            Event::MappingStart(..) => self.open(location, NodeValue::Map(Vec::new())),
            Event::SequenceEnd | Event::MappingEnd => self.open.pop().map_or(Ok(()), |(node, _)| self.put(node)),
            Event::Alias(_) => {
                Err(FileProblem::at(location, "anchors and aliases are not supported; write the value out"))
            }
            _ => Ok(()),
        }
    }

    fn open(&mut self, location: Location, value: NodeValue) -> Result<(), FileProblem> {
        if self.open.len() >= DEPTH {
            return Err(FileProblem::at(location, format!("nests deeper than {DEPTH} levels")));
        }
        self.open.push((Node { location, value }, None));
        Ok(())
    }

    fn put(&mut self, node: Node) -> Result<(), FileProblem> {
        let Some((parent, key)) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match &mut parent.value {
            NodeValue::Scalar { .. } => {}
            NodeValue::List(items) => items.push(node),
            NodeValue::Map(entries) => match key.take() {
                None if node.text().is_none() => {
                    return Err(FileProblem::at(node.location, format!("a key is text, not {}", node.kind())));
                }
                None => *key = Some(node),
                Some(key) => entries.push((key, node)),
            },
        }
        Ok(())
    }
}

/// A parser's error, with a hint for the mistakes that people make most.
fn syntax_error(text: &str, error: &saphyr_parser::ScanError) -> FileProblem {
    let location = marked(*error.marker());
    let lines = text.lines().skip(location.line.saturating_sub(1));
    let hint = lines.take(2).find_map(syntax_hint);
    FileProblem { hint, ..FileProblem::at(location, error.info()) }
}

/// What is probably wrong with a line that does not parse.
fn syntax_hint(line: &str) -> Option<String> {
    let margin = line.chars().take_while(|c| c.is_whitespace());
    if margin.into_iter().any(|c| c == '\t') {
        return Some("indent with spaces: YAML does not allow tabs".to_owned());
    }
    let (_, value) = line.split_once(": ").or_else(|| line.split_once("- "))?;
    let quoted = |value: &str| format!("quote it: \"{}\"", value.trim().replace('"', "\\\""));
    let variable = template::variable(line).filter(|(before, ..)| before.trim_end().ends_with([':', '-', '[', ',']));
    if let Some((_, name, after)) = variable.filter(|(.., after)| after.starts_with(|c: char| !" ,]}".contains(c))) {
        let after = after.split([' ', ',', ']', '}']).next().unwrap_or_default();
        return Some(quoted(&format!("{{{name}}}{after}")));
    }
    let plain = !value.trim_start().starts_with(['"', '\'', '{', '[', '|', '>']);
    (plain && value.contains(": ")).then(|| quoted(value))
}

fn placed(span: Span) -> Location {
    let same_line = span.start.line() == span.end.line();
    let width = if same_line { span.end.col().saturating_sub(span.start.col()) } else { 1 };
    Location { width: width.max(1), ..marked(span.start) }
}

fn marked(marker: saphyr_parser::Marker) -> Location {
    Location { line: marker.line(), column: marker.col() + 1, width: 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_has_its_position() {
        let node = Node::parse("a: 1\nb:\n  - { c: d }\n").expect("yaml");
        let NodeValue::Map(entries) = &node.value else { panic!("a map") };
        assert_eq!(entries[1].0.location, Location { line: 2, column: 1, width: 1 });
        assert_eq!(node.to_json(), serde_json::json!({"a": 1, "b": [{"c": "d"}]}));
    }

    #[test]
    fn aliases_and_deep_nesting_are_rejected() {
        let bomb = Node::parse("a: &a [x]\nb: *a\n").expect_err("an alias");
        assert_eq!(bomb.location.line, 2);
        let deep = Node::parse(&"[".repeat(100)).expect_err("deep");
        assert!(deep.message.contains("deeper than 64"), "{}", deep.message);
        assert!(Node::parse("a: [1\n").is_err());
        assert!(Node::parse("a: 1\n---\nb: 2\n").is_err());
    }

    #[test]
    fn an_empty_document_is_an_empty_mapping() {
        assert_eq!(Node::parse("").expect("yaml").value, NodeValue::Map(Vec::new()));
    }
}
