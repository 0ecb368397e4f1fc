//! The programs and servers that a file names, whether or not a gate reaches them.

use super::imported;
use crate::policy::yaml::{Node, NodeValue, json, toml};

/// A program or a server that a file names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum NamedProgram {
    Command(String),
    Url(String),
}

/// Every program and server that a mode or gates file names.
///
/// A file that cannot be used alone may be used together with another, such as a plugin's.
pub fn named_programs(file: &str, text: &str) -> Vec<NamedProgram> {
    let (node, keys) = match file.rsplit('.').next() {
        Some("json") => (json::parse(text), IMPORTED_KEYS),
        Some("toml") => (toml::parse(text), IMPORTED_KEYS),
        _ => (Node::parse(text), MODE_KEYS),
    };
    let mut found = Vec::new();
    if let Ok(node) = node {
        collect(&node, keys, &mut found);
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The names of the hooks that two files have in common; those of the project's replace the user's.
pub fn replaced_hooks(user: &str, project: &str) -> Vec<String> {
    let (user, mut own) = (imported::hook_names(user), imported::hook_names(project));
    own.retain(|name| user.contains(name));
    own
}

/// The keys of a program and of a server; a check may also have them in a mapping, under the keys of other files.
type ProgramKeys = [&'static str; 2];

const MODE_KEYS: ProgramKeys = ["run", "http"];

const IMPORTED_KEYS: ProgramKeys = ["command", "url"];

fn collect(node: &Node, keys: ProgramKeys, found: &mut Vec<NamedProgram>) {
    let NodeValue::Map(entries) = &node.value else {
        if let NodeValue::List(items) = &node.value {
            for item in items {
                collect(item, keys, found);
            }
        }
        return;
    };
    for (key, value) in entries {
        let at = keys.iter().position(|own| key.text() == Some(own));
        let inner = at.and_then(|at| IMPORTED_KEYS.get(at)).and_then(|name| value.get(name));
        let text = value.text().or_else(|| inner?.text()).map(str::to_owned);
        match (at, text) {
            (Some(0), Some(text)) => found.push(NamedProgram::Command(text)),
            (Some(_), Some(text)) => found.push(NamedProgram::Url(text)),
            _ => collect(value, keys, found),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_and_servers_are_found_wherever_they_are() {
        let command = |text: &str| NamedProgram::Command(text.to_owned());
        let url = |text: &str| NamedProgram::Url(text.to_owned());
        for (file, text, expected) in [
            ("a.yaml", "gates: [{ check: { all: [{ run: a }, { not: { run: { command: b } } }] } }]", vec!["a", "b"]),
            ("a.yaml", "gates: [{ check: { command: touch } }]", vec![]),
            ("a.yaml", "gates: [", vec![]),
            ("a.json", r#"{"gates": {"a": {"command": "a", "on_fail": "x"}}}"#, vec!["a"]),
            ("a.toml", "[[hooks]]\n[hooks.shell]\ncommand = \"a\"\n", vec!["a"]),
        ] {
            assert_eq!(named_programs(file, text), expected.into_iter().map(command).collect::<Vec<_>>(), "{text}");
        }
        let text = "gates: [{ if: { http: { url: u } }, check: { http: v } }]";
        assert_eq!(named_programs("a.yaml", text), [url("u"), url("v")]);
    }
}
