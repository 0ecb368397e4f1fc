//! Masks secrets, folders and names in a recording.
//!
//! A text is masked by the same word wherever it occurs in the session and in the modes. Texts that were equal stay
//! equal, so the session is decided as before.

mod identity;
mod secrets;

pub(crate) use identity::MachineIdentity;

use crate::state::journal::shortened;
use identity::IdentityMask;
use redact::MASK;
use redact::walk::{JsonRewriter, rewrite};
use secrets::KnownSecrets;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MaskLevel {
    /// Secrets, folders, names and email addresses; long prompts are cut.
    Full,
    /// Only secrets and folders.
    SecretsAndPaths,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub(crate) struct MaskCounts {
    pub(crate) secrets: usize,
    pub(crate) paths: usize,
    /// Names of the user and the machine.
    pub(crate) names: usize,
    pub(crate) mails: usize,
    pub(crate) cut: usize,
}

impl MaskCounts {
    pub(super) fn add(&mut self, other: Self) {
        self.secrets += other.secrets;
        self.paths += other.paths;
        self.names += other.names;
        self.mails += other.mails;
        self.cut += other.cut;
    }
}

/// Masks one recording. It learns all secrets before it masks the first line.
pub(super) struct RecordingMasker {
    pub(super) secrets: KnownSecrets,
    identity: IdentityMask,
    /// The number that replaces each content hash: a short content could be guessed from its hash.
    hashes: BTreeMap<String, usize>,
}

impl RecordingMasker {
    pub(super) fn new(identity: &MachineIdentity) -> Self {
        Self { secrets: KnownSecrets::default(), identity: IdentityMask::new(identity), hashes: BTreeMap::new() }
    }

    pub(super) fn mask_source(&self, text: &str, counts: &mut MaskCounts) -> String {
        let text = self.secrets.mask_source(text, counts);
        self.identity.mask(&text, MaskLevel::Full, counts)
    }

    pub(super) fn mask_line(&mut self, line: &Value, level: MaskLevel, counts: &mut MaskCounts) -> Value {
        let short_secrets = KnownSecrets::short_secrets(line);
        rewrite(line, "", true, &mut LineMasker { masker: self, short_secrets, level, counts })
    }

    /// The number that replaces a hash, in the form of a hash.
    fn hash_number(&mut self, hash: &str) -> String {
        let next = self.hashes.len() + 1;
        let number = *self.hashes.entry(hash.to_owned()).or_insert(next);
        format!("{number:064x}")
    }
}

struct LineMasker<'a> {
    masker: &'a mut RecordingMasker,
    /// Secrets of this line that are too short to be searched for in other lines.
    short_secrets: Vec<String>,
    level: MaskLevel,
    counts: &'a mut MaskCounts,
}

impl JsonRewriter for LineMasker<'_> {
    /// Whether the names of fields show which values are secret.
    type WalkState = bool;

    fn whole(&mut self, value: &Value, key: &str, by_name: bool) -> Option<Value> {
        match value {
            Value::String(hash) if key == "sha256" => Some(self.masker.hash_number(hash).into()),
            Value::Number(_) if by_name && secrets::is_secret_number(key, value) => {
                self.counts.secrets += 1;
                Some(MASK.into())
            }
            Value::Array(_) => secrets::secret_pair(value, by_name)
                .map(|(name, text)| Value::Array(vec![self.mask_text(name).into(), self.text(text, name, true)])),
            _ => None,
        }
    }

    fn text(&mut self, text: &str, key: &str, by_name: bool) -> Value {
        let text = self.masker.secrets.mask_field(text, key, by_name, self.counts);
        let text = self.mask_text(&text);
        // Cut only now: half a secret would not be recognized.
        let is_prompt = matches!(key, "prompt" | "user_prompt") && self.level == MaskLevel::Full;
        let Some(short) = shortened(&text).filter(|_| is_prompt) else { return text.into() };
        self.counts.cut += 1;
        self.mask_beginning(short).into()
    }

    fn name(&mut self, name: &str, _: bool) -> String {
        self.mask_text(name)
    }

    fn field<'a>(&self, key: &'a str, name: &'a str, by_name: bool) -> (&'a str, bool) {
        secrets::field_scope(key, name, by_name)
    }
}

impl LineMasker<'_> {
    fn mask_text(&mut self, text: &str) -> String {
        let text = self.masker.secrets.mask_text(text, &self.short_secrets, self.counts);
        let text = self.masker.identity.mask(&text, self.level, self.counts);
        self.mask_beginning(text)
    }

    /// If only the beginning of a text was kept: drops its last word, which may be half a secret, and masks its hash.
    fn mask_beginning(&mut self, text: String) -> String {
        const SIGN: &str = " bytes, sha256 ";
        let Some((head, hash)) = text.strip_suffix(']').and_then(|text| text.rsplit_once(SIGN)) else { return text };
        let Some((head, size)) = head.rsplit_once("… [").filter(|_| hash.len() == 64) else { return text };
        let whole = head.rfind(char::is_whitespace).and_then(|end| head.get(..end)).unwrap_or_default();
        format!("{whole}… [{size}{SIGN}{}]", self.masker.hash_number(hash))
    }
}

/// Decides from the characters before and after a match whether it is replaced.
type MatchBoundary = fn(&str, Option<char>, Option<char>) -> bool;

fn anywhere(_: &str, _: Option<char>, _: Option<char>) -> bool {
    true
}

fn whole_word(_: &str, before: Option<char>, after: Option<char>) -> bool {
    [before, after].into_iter().flatten().all(|c| !c.is_alphanumeric() && c != '_')
}

/// Replaces `from` by `to` where the boundary allows it.
fn replace(text: &str, from: &str, to: &str, boundary: MatchBoundary, count: &mut usize) -> String {
    let ranges = text.match_indices(from).map(|(at, _)| at..at + from.len()).filter(|range| {
        let (before, after) = (text.get(..range.start).unwrap_or_default(), text.get(range.end..).unwrap_or_default());
        boundary(from, before.chars().next_back(), after.chars().next())
    });
    replace_ranges(text, ranges, to, count)
}

fn replace_ranges(text: &str, ranges: impl Iterator<Item = Range<usize>>, to: &str, count: &mut usize) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut done = 0;
    for range in ranges {
        replaced.push_str(text.get(done..range.start).unwrap_or_default());
        replaced.push_str(to);
        done = range.end;
        *count += 1;
    }
    replaced.push_str(text.get(done..).unwrap_or_default());
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn masks() -> RecordingMasker {
        RecordingMasker::new(&MachineIdentity {
            projects: vec!["/home/ann/dev/app".into()],
            homes: vec!["/home/ann".into()],
            user: Some("ann".into()),
            host: Some("laptop7".into()),
        })
    }

    fn masked(line: &Value) -> Value {
        let mut masks = masks();
        masks.secrets.learn_line(line);
        masks.mask_line(line, MaskLevel::Full, &mut MaskCounts::default())
    }

    #[test]
    fn a_secret_is_masked_wherever_it_occurs() {
        let line = json!({"event": {"command": "deploy --token hunter2x"}, "findings": [{"saw": "it says hunter2x!"}]});
        let expected =
            json!({"event": {"command": "deploy --token [masked]"}, "findings": [{"saw": "it says [masked]!"}]});
        assert_eq!(masked(&line), expected);
    }

    #[test]
    fn folders_and_names_are_replaced_by_neutral_ones() {
        let line = json!({"cwd": "/home/ann/dev/app/src", "path": "/home/ann/.claude/projects/-home-ann-dev-app/x.jsonl",
            "prompt": "ann on laptop7 wrote to ann@corp.io about /Users/bob/x"});
        let expected = json!({"cwd": "/home/user/project/src",
            "path": "/home/user/.claude/projects/-home-user-project/x.jsonl",
            "prompt": "user on host wrote to user@example.com about /Users/user/x"});
        assert_eq!(masked(&line), expected);
    }

    #[test]
    fn equal_hashes_become_equal_numbers() {
        let line = json!({"a": {"size": 3, "sha256": "ab"}, "b": {"size": 3, "sha256": "ab"}, "c": {"sha256": "cd"}});
        let value = masked(&line);
        assert_eq!(value["a"], value["b"]);
        assert_eq!(value["c"]["sha256"], format!("{:064x}", 2));
    }

    #[test]
    fn a_long_prompt_is_cut_after_a_whole_word() {
        let line =
            json!({"prompt": format!("{} the password is fakeHalf12345 {}", "x".repeat(236), "word ".repeat(500))});
        let text = masked(&line)["prompt"].as_str().unwrap().to_owned();
        assert!(!text.contains("fake") && text.contains("… [") && text.len() < 400, "{text}");
        let again = masked(&json!({"message": text}));
        assert!(again["message"].as_str().unwrap().contains(" bytes, sha256 0"), "{again}");
    }

    #[test]
    fn a_header_in_a_list_is_masked() {
        let line = json!({"headers": [["X-Api-Key", "a b c"], ["Accept", "text/plain"]]});
        assert_eq!(masked(&line), json!({"headers": [["X-Api-Key", "[masked]"], ["Accept", "text/plain"]]}));
    }
}
