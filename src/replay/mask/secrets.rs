//! The secrets of a recording: learnt from all of it, then masked in all of it.

mod seen;

use super::MaskCounts;
use crate::mode::EMBEDDED;
use crate::redact::MASK;
use crate::redact::export::{is_placeholder, is_secret_export_name, secret_part};
use seen::SecretCache;
use serde_json::Value;
use std::collections::BTreeSet;

/// What stands for a secret of a mode file: a plain word, which is one in YAML, JSON and TOML alike.
const WORD: &str = "masked";

/// Shorter texts are looked for only in the line they were found in.
const SHORT: usize = 6;

/// Texts that are known to be secret.
#[derive(Default)]
pub(super) struct KnownSecrets {
    /// What was found in which text.
    seen: SecretCache,
    /// Those of mode files and settings, the longest first.
    sources: Vec<String>,
    /// Those of the lines, the longest first.
    lines: Vec<String>,
}

impl KnownSecrets {
    pub(super) fn learn_source(&mut self, text: &str) {
        let mut found = self.seen.text(text);
        if let Some(tree) = tree(text) {
            found.extend(self.seen.tree(&tree));
        }
        found.retain(|secret| secret.len() > 2 && !is_known(secret));
        add(&mut self.sources, found);
    }

    pub(super) fn learn(&mut self, line: &Value) {
        let mut found = self.seen.tree(line);
        found.retain(|secret| travels(secret));
        add(&mut self.lines, found);
    }

    /// The secrets of a line that are too short, or too common, to be looked for anywhere else.
    pub(super) fn short_ones(&self, line: &Value) -> Vec<String> {
        let mut found = self.seen.tree(line);
        found.retain(|secret| secret.len() > 2 && !travels(secret) && !is_known(secret));
        let mut own = Vec::new();
        add(&mut own, found);
        own
    }

    /// The text of a mode file or the settings.
    pub(super) fn in_source(&self, text: &str, tally: &mut MaskCounts) -> String {
        let text = replaced(text, &self.sources, WORD, tally);
        let text = replaced(&text, &self.lines, WORD, tally);
        self.in_place(&text, WORD, tally)
    }

    /// A text of a line.
    pub(super) fn in_text(&self, text: &str, own: &[String], tally: &mut MaskCounts) -> String {
        let text = replaced(text, &self.sources, WORD, tally);
        let text = replaced(&text, &self.lines, MASK, tally);
        let mut text = self.in_place(&text, MASK, tally);
        for secret in own {
            text = whole_words(&text, secret, MASK, tally);
        }
        text
    }

    /// A text that stands under a key, which may tell that it is secret.
    pub(super) fn in_field(&self, text: &str, key: &str, by_key: bool, tally: &mut MaskCounts) -> String {
        if !by_key || !hides(key, text) {
            return text.to_owned();
        }
        let secret = secret_part(text);
        // What a mode file says has its own word there.
        if self.sources.iter().any(|known| known == secret) {
            return text.to_owned();
        }
        tally.secrets += 1;
        text.replace(secret, MASK)
    }

    pub(super) fn occur_in(&self, written: &str) -> bool {
        self.lines.iter().chain(&self.sources).filter(|secret| secret.len() >= SHORT).any(|secret| {
            let found = |text: &str| if is_number(text) { has_word(written, text) } else { written.contains(text) };
            found(secret) || found(&escaped(secret))
        })
    }

    /// Masks what is recognised in this very text.
    fn in_place(&self, text: &str, mask: &str, tally: &mut MaskCounts) -> String {
        let mut masked = String::with_capacity(text.len());
        let mut done = 0;
        for range in self.seen.ranges(text) {
            let secret = text.get(range.clone()).unwrap_or_default();
            if is_placeholder(secret) || is_known(secret) {
                continue;
            }
            masked.push_str(text.get(done..range.start).unwrap_or_default());
            masked.push_str(mask);
            done = range.end;
            tally.secrets += 1;
        }
        masked.push_str(text.get(done..).unwrap_or_default());
        masked
    }
}

/// Whether the text under a key is secret.
pub(super) fn hides(key: &str, text: &str) -> bool {
    !text.trim().is_empty() && is_secret_export_name(key) && !is_placeholder(secret_part(text))
}

/// Whether the number under a key is secret; a small one counts something.
pub(super) fn hides_number(key: &str, value: &Value) -> bool {
    is_secret_export_name(key) && value.as_u64().is_none_or(|number| number > 999)
}

/// Whether everything in the object under a key is secret.
pub(super) fn is_hoard(key: &str) -> bool {
    let plain = key.to_ascii_lowercase();
    ["secrets", "credentials", "passwords", "cookies", "tokens"].contains(&plain.as_str())
}

fn add(list: &mut Vec<String>, found: BTreeSet<String>) {
    for secret in found {
        let escaped = escaped(&secret);
        for form in [escaped, secret] {
            if !list.contains(&form) {
                list.push(form);
            }
        }
    }
    list.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
}

/// The text as it stands inside a JSON string.
fn escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text).to_owned()
}

/// The file as a tree; what is neither JSON nor YAML is only read as a text.
fn tree(text: &str) -> Option<Value> {
    let yaml = || serde_yaml::from_str::<Value>(text).ok();
    serde_json::from_str(text).ok().or_else(yaml)
}

/// Whether a text is so much of a secret that it is one wherever it occurs.
fn travels(secret: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| secret.bytes().any(|byte| kind(&byte));
    let odd = has(u8::is_ascii_digit) || has(u8::is_ascii_punctuation);
    secret.len() >= SHORT && (odd || secret.len() >= 12) && !is_known(secret)
}

/// Whether a text is a part of the modes that ship, or a word of their language: everybody knows it.
fn is_known(secret: &str) -> bool {
    const LANGUAGE: [&str; 9] = ["off", "warn", "observe", "enforce", "block", "ask", "deny", "true", "false"];
    LANGUAGE.contains(&secret) || EMBEDDED.iter().any(|(_, text)| text.contains(secret))
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn replaced(text: &str, secrets: &[String], mask: &str, tally: &mut MaskCounts) -> String {
    let mut text = text.to_owned();
    for secret in secrets {
        if secret.len() < SHORT || is_number(secret) {
            text = whole_words(&text, secret, mask, tally);
        } else if text.contains(secret.as_str()) {
            tally.secrets += text.matches(secret.as_str()).count();
            text = text.replace(secret.as_str(), mask);
        }
    }
    text
}

/// Replaces a text where it is not a part of a longer word.
fn whole_words(text: &str, word: &str, mask: &str, tally: &mut MaskCounts) -> String {
    let mut masked = String::new();
    let mut done = 0;
    for (at, _) in text.match_indices(word) {
        if at >= done && is_whole(text, at, word) {
            masked.push_str(text.get(done..at).unwrap_or_default());
            masked.push_str(mask);
            done = at + word.len();
            tally.secrets += 1;
        }
    }
    masked.push_str(text.get(done..).unwrap_or_default());
    masked
}

fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| is_whole(text, at, word))
}

fn is_whole(text: &str, at: usize, word: &str) -> bool {
    let before = text.get(..at).and_then(|text| text.chars().next_back());
    let after = text.get(at + word.len()..).and_then(|text| text.chars().next());
    [before, after].into_iter().flatten().all(|c| !c.is_alphanumeric() && c != '_')
}
