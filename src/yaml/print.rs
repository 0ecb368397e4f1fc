//! Prints a tree as YAML.

use super::{Node, NodeValue};
use std::fmt::Write as _;

impl Node {
    /// The node as YAML for people.
    #[must_use]
    pub fn to_yaml(&self) -> String {
        let mut text = String::new();
        block(&mut text, self, 0);
        text
    }
}

fn block(text: &mut String, node: &Node, depth: usize) {
    let pad = "  ".repeat(depth);
    match &node.value {
        NodeValue::Map(entries) => {
            for (name, value) in entries {
                let name = name.text().unwrap_or_default();
                let _ = write!(text, "{pad}{}:", scalar(name, false));
                below(text, value, depth);
            }
        }
        NodeValue::List(items) => {
            for item in items {
                let mut inner = String::new();
                block(&mut inner, item, depth + 1);
                let inner = inner.trim_start();
                let _ = writeln!(text, "{pad}- {}", inner.trim_end());
            }
        }
        NodeValue::Scalar { text: own, plain } => {
            let _ = writeln!(text, "{pad}{}", scalar(own, *plain));
        }
    }
}

/// A value after its key: on the same line if it is short.
fn below(text: &mut String, value: &Node, depth: usize) {
    match &value.value {
        NodeValue::Scalar { text: own, plain: false } if is_block(own) => {
            let pad = "  ".repeat(depth + 1);
            let keep = if own.ends_with('\n') { "|" } else { "|-" };
            let _ = writeln!(text, " {keep}");
            for line in own.trim_end_matches('\n').split('\n') {
                let _ = writeln!(text, "{}", format!("{pad}{line}").trim_end());
            }
        }
        NodeValue::Scalar { text: own, plain } => {
            let _ = writeln!(text, " {}", scalar(own, *plain));
        }
        NodeValue::List(items) if items.iter().all(|item| item.text().is_some()) => {
            let words: Vec<String> = items.iter().map(|item| scalar(item.text().unwrap_or_default(), false)).collect();
            let _ = writeln!(text, " [{}]", words.join(", "));
        }
        NodeValue::Map(entries) if entries.is_empty() => text.push_str(" {}\n"),
        _ => {
            text.push('\n');
            block(text, value, depth + 1);
        }
    }
}

/// Whether a text can be written as a block without changing it.
fn is_block(text: &str) -> bool {
    let lines = text.strip_suffix('\n').unwrap_or(text);
    let odd =
        |c: char| c.is_control() && !matches!(c, '\n' | '\t') || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}');
    text.contains('\n')
        && !text.starts_with([' ', '\t', '\n'])
        && !lines.ends_with('\n')
        && !text.contains(odd)
        && !lines.split('\n').any(|line| line.trim_end() != line)
}

/// A scalar, quoted where YAML would read it as something else.
fn scalar(text: &str, plain: bool) -> String {
    let simple = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/' | '.');
    let safe = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '.')
        && text.chars().all(|c| simple(c) || c == ' ');
    let word = matches!(text, "true" | "false" | "null" | "yes" | "no" | "on" | "off");
    if plain || safe && !word && text.trim() == text {
        return text.to_owned();
    }
    // A JSON string is a YAML string.
    serde_json::Value::from(text).to_string()
}
