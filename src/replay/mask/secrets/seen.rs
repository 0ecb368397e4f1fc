//! What is found in texts; each is looked at once, for a session says the same many times.

use super::{hides, hides_number, is_hoard};
use crate::redact::MASK;
use crate::redact::export::{find_export_secrets, is_placeholder, secret_part};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// Texts that were looked at, and where their secrets lie.
#[derive(Default)]
pub(super) struct SecretCache(RefCell<HashMap<String, Vec<Range<usize>>>>);

impl SecretCache {
    /// Where the secrets of a text lie.
    pub(super) fn ranges(&self, text: &str) -> Vec<Range<usize>> {
        if let Some(found) = self.0.borrow().get(text) {
            return found.clone();
        }
        let found = find_export_secrets(text);
        self.0.borrow_mut().insert(text.to_owned(), found.clone());
        found
    }

    /// The secrets of a text.
    pub(super) fn text(&self, text: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        self.in_text(text, &mut found);
        found
    }

    /// The secrets of a tree.
    pub(super) fn tree(&self, value: &Value) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        self.in_tree(value, "", true, &mut found);
        found
    }

    fn in_text(&self, text: &str, found: &mut BTreeSet<String>) {
        for range in self.ranges(text) {
            learn(text.get(range).unwrap_or_default(), found);
        }
    }

    fn in_tree(&self, value: &Value, key: &str, by_key: bool, found: &mut BTreeSet<String>) {
        match value {
            Value::String(text) => {
                if by_key && hides(key, text) {
                    learn(secret_part(text), found);
                }
                self.in_text(text, found);
            }
            Value::Array(items) => {
                if let [Value::String(name), Value::String(text)] = items.as_slice()
                    && by_key
                    && hides(name, text)
                {
                    learn(secret_part(text), found);
                }
                for item in items {
                    self.in_tree(item, key, by_key, found);
                }
            }
            Value::Object(fields) => {
                for (name, value) in fields {
                    // Gates and things seen have names of their own there.
                    let by_key = by_key && !matches!(name.as_str(), "notified" | "seen" | "blocks");
                    let under = if is_hoard(key) { key } else { name };
                    self.in_text(name, found);
                    self.in_tree(value, under, by_key, found);
                }
            }
            Value::Number(number) if by_key && hides_number(key, value) => {
                found.insert(number.to_string());
            }
            _ => {}
        }
    }
}

/// A secret, and the lines of one that has several: somebody may have shown only a part of it.
fn learn(secret: &str, found: &mut BTreeSet<String>) {
    const LINE: usize = 20;
    if is_placeholder(secret) || secret.contains(MASK) {
        return;
    }
    found.insert(secret.to_owned());
    let lines = secret.split('\n').flat_map(|line| line.split("\\n")).map(str::trim);
    found.extend(lines.filter(|line| line.len() >= LINE && !line.starts_with("-----")).map(str::to_owned));
}
