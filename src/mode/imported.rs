//! Imports gates from other formats: `.claude/gates.json` and `.claude/hooks.toml`.
//!
//! Each file is converted to the tree of a native `base` mode in which every node keeps its location in the imported
//! file, and is then read like any other mode.

mod gates;
mod hooks;

use crate::yaml::{FileProblem, Location, Node, NodeValue};

/// The content of an imported file.
#[derive(Debug, Clone, PartialEq)]
pub enum ImportedFile {
    /// Gates, as a native mode, with warnings about parts that are not used.
    Mode {
        /// The native mode.
        node: Node,
        /// What is wrong with the rest.
        warnings: Vec<FileProblem>,
    },
    /// A file of the same name in another format.
    Other,
}

/// Converts a file, by the extension of its name; no gate gets one of the ids that are `taken`.
///
/// Gates and events that a `gates.json` lacks come from `defaults`.
pub fn parse(
    file: &str,
    text: &str,
    defaults: Option<&str>,
    taken: &[String],
) -> Result<ImportedFile, Vec<FileProblem>> {
    let is_toml = file.rsplit('.').next() == Some("toml");
    if is_toml { hooks::parse(file, text, taken) } else { gates::parse(text, defaults, taken) }
}

/// Builds nodes with a given location.
#[derive(Clone, Copy)]
struct NodeBuilder(Location);

impl NodeBuilder {
    fn at(node: &Node) -> Self {
        Self(node.location)
    }

    fn text(self, text: impl Into<String>) -> Node {
        Node { location: self.0, value: NodeValue::Scalar { text: text.into(), plain: false } }
    }

    fn word(self, text: impl Into<String>) -> Node {
        Node { location: self.0, value: NodeValue::Scalar { text: text.into(), plain: true } }
    }

    fn list(self, items: Vec<Node>) -> Node {
        Node { location: self.0, value: NodeValue::List(items) }
    }

    fn map(self, entries: Vec<(&str, Node)>) -> Node {
        let entries = entries.into_iter().map(|(name, value)| (self.text(name), value)).collect();
        Node { location: self.0, value: NodeValue::Map(entries) }
    }
}

/// A native base mode with these gates.
fn base(at: NodeBuilder, gates: Vec<Node>) -> Node {
    at.map(vec![("mode", at.text("base")), ("extends", at.text("builtin")), ("gates", at.list(gates))])
}

/// A native base mode with the gates of two.
pub(super) fn joined(first: &Node, second: &Node) -> Node {
    let list = |node: &Node| match field(node, "gates").map(|gates| &gates.value) {
        Some(NodeValue::List(gates)) => gates.clone(),
        _ => Vec::new(),
    };
    base(NodeBuilder::at(first), [list(first), list(second)].concat())
}

/// The entries of a mapping.
fn entries(node: Option<&Node>) -> &[(Node, Node)] {
    match node.map(|node| &node.value) {
        Some(NodeValue::Map(entries)) => entries,
        _ => &[],
    }
}

/// The value of a key.
fn field<'a>(node: &'a Node, name: &str) -> Option<&'a Node> {
    entries(Some(node)).iter().find(|(key, _)| key.text() == Some(name)).map(|(_, value)| value)
}

/// The texts of a list, or one text.
fn texts(node: Option<&Node>) -> Vec<String> {
    match node.map(|node| &node.value) {
        Some(NodeValue::List(items)) => items.iter().filter_map(Node::text).map(str::to_owned).collect(),
        Some(NodeValue::Scalar { text, .. }) => vec![text.clone()],
        _ => Vec::new(),
    }
}
