//! Imports gates from other formats: `.claude/gates.json` and `.claude/hooks.toml`.
//!
//! Each file is converted to the tree of a native `base` mode in which every node keeps its location in the imported
//! file, and is then read like any other mode.

mod gates;
mod hooks;

use crate::policy::yaml::{FileProblem, Location, Node, NodeValue, TreeReader};

/// The gates of a file as a native mode, with warnings about parts that are not used; `None` for a file of the same
/// name in another format.
pub type ImportResult = Result<Option<(Node, Vec<FileProblem>)>, Vec<FileProblem>>;

/// Converts a file, by the extension of its name; no gate gets one of the ids that are `taken`.
///
/// Gates and events that a `gates.json` lacks come from `defaults`.
pub fn parse(file: &str, text: &str, defaults: Option<&str>, taken: &[String]) -> ImportResult {
    let is_toml = file.rsplit('.').next() == Some("toml");
    if is_toml { hooks::parse(file, text, taken) } else { gates::parse(text, defaults, taken) }
}

#[derive(Clone, Copy)]
struct NodeBuilder(Location);

impl NodeBuilder {
    fn at(node: &Node) -> Self {
        Self(node.location)
    }

    fn node(self, value: NodeValue) -> Node {
        Node { location: self.0, value }
    }

    fn text(self, text: impl Into<String>) -> Node {
        self.node(NodeValue::Scalar { text: text.into(), plain: false })
    }

    fn word(self, text: impl Into<String>) -> Node {
        self.node(NodeValue::Scalar { text: text.into(), plain: true })
    }

    fn list(self, items: Vec<Node>) -> Node {
        self.node(NodeValue::List(items))
    }

    fn map(self, entries: Vec<(&str, Node)>) -> Node {
        self.node(NodeValue::Map(entries.into_iter().map(|(name, value)| (self.text(name), value)).collect()))
    }
}

pub(super) fn hook_names(text: &str) -> Vec<String> {
    let hooks = crate::policy::yaml::toml::parse(text).ok().and_then(|root| root.get("hooks").cloned());
    let Some(Node { value: NodeValue::List(hooks), .. }) = hooks else { return Vec::new() };
    hooks.iter().filter_map(|hook| hook.get("name")?.text().map(str::to_owned)).collect()
}

fn base(at: NodeBuilder, gates: Vec<Node>) -> Node {
    at.map(vec![("mode", at.text("base")), ("extends", at.text("builtin")), ("gates", at.list(gates))])
}

/// The result of a file with these gates, unless a problem makes it unusable.
fn finished(root: &Node, gates: Vec<Node>, found: TreeReader) -> ImportResult {
    if found.problems.is_empty() {
        return Ok(Some((base(NodeBuilder::at(root), gates), found.warnings)));
    }
    Err([found.problems, found.warnings].concat())
}

pub(super) fn joined(first: &Node, second: &Node) -> Node {
    let list = |node: &Node| match node.get("gates").map(|gates| &gates.value) {
        Some(NodeValue::List(gates)) => gates.clone(),
        _ => Vec::new(),
    };
    base(NodeBuilder::at(first), [list(first), list(second)].concat())
}

fn texts(node: Option<&Node>) -> Vec<String> {
    match node.map(|node| &node.value) {
        Some(NodeValue::List(items)) => items.iter().filter_map(Node::text).map(str::to_owned).collect(),
        Some(NodeValue::Scalar { text, .. }) => vec![text.clone()],
        _ => Vec::new(),
    }
}
