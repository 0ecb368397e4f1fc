//! Learns the secrets of a whole recording, then masks them everywhere in it.

use super::{MaskCounts, anywhere, replace, replace_ranges, whole_word};
use crate::policy::mode::EMBEDDED;
use redact::walk::{JsonRewriter, rewrite};
use redact::{MASK, find_export_secrets, is_placeholder, is_secret_export_name, secret_part};
use serde_json::Value;
use std::collections::BTreeSet;

/// Replaces a secret of a mode file: a plain word in YAML, JSON and TOML alike.
const SOURCE_MASK: &str = "masked";

/// Shorter secrets are searched for only in the line they were found in.
const SHORT: usize = 6;

#[derive(Default)]
pub(crate) struct KnownSecrets {
    /// Secrets of mode files and settings, the longest first.
    sources: Vec<String>,
    /// Secrets of lines, the longest first.
    lines: Vec<String>,
}

impl KnownSecrets {
    pub(crate) fn learn_source(&mut self, text: &str) {
        let tree = serde_json::from_str(text).ok().or_else(|| serde_yaml::from_str(text).ok());
        let mut collector = SecretCollector::default();
        collector.search(text);
        if let Some(tree) = tree {
            rewrite(&tree, "", true, &mut collector);
        }
        let mut found = collector.found;
        found.retain(|secret| secret.len() > 2 && !is_public(secret));
        add(&mut self.sources, found);
    }

    pub(crate) fn learn_line(&mut self, line: &Value) {
        let mut found = secrets_of(line);
        found.retain(|secret| is_secret_everywhere(secret));
        add(&mut self.lines, found);
    }

    /// The secrets of a line that are too short, or too common, to be searched for in other lines.
    pub(super) fn short_secrets(line: &Value) -> Vec<String> {
        let mut found = secrets_of(line);
        found.retain(|secret| secret.len() > 2 && !is_secret_everywhere(secret) && !is_public(secret));
        let mut secrets = Vec::new();
        add(&mut secrets, found);
        secrets
    }

    pub(super) fn mask_source(&self, text: &str, counts: &mut MaskCounts) -> String {
        let text = mask_known(text, &self.sources, SOURCE_MASK, counts);
        let text = mask_known(&text, &self.lines, SOURCE_MASK, counts);
        mask_found(&text, SOURCE_MASK, counts)
    }

    pub(super) fn mask_text(&self, text: &str, short_secrets: &[String], counts: &mut MaskCounts) -> String {
        let text = mask_known(text, &self.sources, SOURCE_MASK, counts);
        let text = mask_known(&text, &self.lines, MASK, counts);
        let text = mask_found(&text, MASK, counts);
        short_secrets.iter().fold(text, |text, secret| replace(&text, secret, MASK, whole_word, &mut counts.secrets))
    }

    /// Masks a text whose name shows that it is secret.
    pub(super) fn mask_field(&self, text: &str, key: &str, by_name: bool, counts: &mut MaskCounts) -> String {
        let secret = secret_part(text);
        // A secret of a mode file gets the mask of the mode file.
        if !by_name || !is_secret_field(key, text) || self.sources.iter().any(|known| known == secret) {
            return text.to_owned();
        }
        counts.secrets += 1;
        text.replace(secret, MASK)
    }

    /// Whether a masked line still contains a known secret.
    pub(crate) fn occur_in(&self, line: &str) -> bool {
        let has_word = |word: &str| {
            let mut count = 0;
            replace(line, word, "", whole_word, &mut count);
            count > 0
        };
        let found = |text: &str| if is_number(text) { has_word(text) } else { line.contains(text) };
        let mut secrets = self.lines.iter().chain(&self.sources).filter(|secret| secret.len() >= SHORT);
        secrets.any(|secret| found(secret) || found(&json_escaped(secret)))
    }
}

fn mask_found(text: &str, mask: &str, counts: &mut MaskCounts) -> String {
    let found = find_export_secrets(text).into_iter().filter(|range| {
        let secret = text.get(range.clone()).unwrap_or_default();
        !is_placeholder(secret) && !is_public(secret)
    });
    replace_ranges(text, found, mask, &mut counts.secrets)
}

fn secrets_of(line: &Value) -> BTreeSet<String> {
    let mut collector = SecretCollector::default();
    rewrite(line, "", true, &mut collector);
    collector.found
}

/// Collects the secrets of a JSON value; the rewritten value is of no use.
#[derive(Default)]
struct SecretCollector {
    found: BTreeSet<String>,
}

impl SecretCollector {
    fn search(&mut self, text: &str) {
        for range in find_export_secrets(text) {
            self.add(text.get(range).unwrap_or_default());
        }
    }

    /// Adds a secret, and each line of a long one: a text may show only a part of it.
    fn add(&mut self, secret: &str) {
        const LINE: usize = 20;
        if is_placeholder(secret) || secret.contains(MASK) {
            return;
        }
        self.found.insert(secret.to_owned());
        let lines = secret.split('\n').flat_map(|line| line.split("\\n")).map(str::trim);
        self.found.extend(lines.filter(|line| line.len() >= LINE && !line.starts_with("-----")).map(str::to_owned));
    }
}

impl JsonRewriter for SecretCollector {
    /// Whether the names of fields show which values are secret.
    type WalkState = bool;

    fn whole(&mut self, value: &Value, key: &str, by_name: bool) -> Option<Value> {
        if by_name && value.is_number() && is_secret_number(key, value) {
            self.found.insert(value.to_string());
        }
        if let Some((_, text)) = secret_pair(value, by_name) {
            self.add(secret_part(text));
        }
        None
    }

    fn text(&mut self, text: &str, key: &str, by_name: bool) -> Value {
        if by_name && is_secret_field(key, text) {
            self.add(secret_part(text));
        }
        self.search(text);
        Value::Null
    }

    fn name(&mut self, name: &str, _: bool) -> String {
        self.search(name);
        String::new()
    }

    fn field<'a>(&self, key: &'a str, name: &'a str, by_name: bool) -> (&'a str, bool) {
        field_scope(key, name, by_name)
    }
}

/// The key that decides about a field, and whether the names inside it count.
pub(super) fn field_scope<'a>(key: &'a str, name: &'a str, by_name: bool) -> (&'a str, bool) {
    const CONTAINERS: [&str; 5] = ["secrets", "credentials", "passwords", "cookies", "tokens"];
    // The keys of these objects are names of gates and checks.
    let by_name = by_name && !matches!(name, "notified" | "seen" | "blocks");
    let in_container = by_name && CONTAINERS.contains(&key.to_ascii_lowercase().as_str());
    (if in_container { key } else { name }, by_name)
}

/// A list of a secret's name and its text, as headers are written.
pub(super) fn secret_pair(value: &Value, by_name: bool) -> Option<(&str, &str)> {
    let [Value::String(name), Value::String(text)] = value.as_array()?.as_slice() else { return None };
    (by_name && is_secret_field(name, text)).then_some((name, text))
}

fn is_secret_field(key: &str, text: &str) -> bool {
    !text.trim().is_empty() && is_secret_export_name(key) && !is_placeholder(secret_part(text))
}

/// Whether a number is secret because of its name; a small one is a count.
pub(super) fn is_secret_number(key: &str, value: &Value) -> bool {
    is_secret_export_name(key) && value.as_u64().is_none_or(|number| number > 999)
}

fn add(list: &mut Vec<String>, found: BTreeSet<String>) {
    for secret in found {
        for form in [json_escaped(&secret), secret] {
            if !list.contains(&form) {
                list.push(form);
            }
        }
    }
    list.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
}

fn json_escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text).to_owned()
}

/// Whether a text is distinctive enough to be a secret wherever it occurs.
fn is_secret_everywhere(secret: &str) -> bool {
    let is_distinctive = secret.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_punctuation());
    secret.len() >= SHORT && (is_distinctive || secret.len() >= 12) && !is_public(secret)
}

/// Whether a text is part of the embedded modes or a word of the mode language.
fn is_public(secret: &str) -> bool {
    const LANGUAGE: [&str; 9] = ["off", "warn", "observe", "enforce", "block", "ask", "deny", "true", "false"];
    LANGUAGE.contains(&secret) || EMBEDDED.iter().any(|(_, text)| text.contains(secret))
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn mask_known(text: &str, secrets: &[String], mask: &str, counts: &mut MaskCounts) -> String {
    let mut text = text.to_owned();
    for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
        if text.contains(secret.as_str()) {
            let boundary = if secret.len() < SHORT || is_number(secret) { whole_word } else { anywhere };
            text = replace(&text, secret, mask, boundary, &mut counts.secrets);
        }
    }
    text
}
