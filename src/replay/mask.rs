//! What of a recording stays on the machine: secrets, folders, names.
//!
//! A text that is masked is masked wherever it occurs in the session and in the modes, by the same word. So what was
//! compared with one another still is the same, and the session is decided again as it was.

mod names;
mod secrets;

pub use names::MachineIdentity;

use crate::redact::shortened;
use names::IdentityMask;
use secrets::KnownSecrets;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// How much is masked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaskLevel {
    /// All there is.
    Full,
    /// Secrets and folders; names, addresses and long prompts stay.
    SecretsAndPaths,
}

/// How often something was masked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct MaskCounts {
    /// Secrets.
    pub secrets: usize,
    /// Folders of the user.
    pub paths: usize,
    /// Names of the user and the machine.
    pub names: usize,
    /// Addresses of mail.
    pub mails: usize,
    /// Prompts that were cut.
    pub cut: usize,
}

impl MaskCounts {
    /// Adds another.
    pub fn add(&mut self, other: Self) {
        self.secrets += other.secrets;
        self.paths += other.paths;
        self.names += other.names;
        self.mails += other.mails;
        self.cut += other.cut;
    }
}

/// All that is masked in one recording.
pub struct RecordingMasker {
    secrets: KnownSecrets,
    names: IdentityMask,
    /// Hashes of contents by the number that stands for each: a short content could be guessed from its hash.
    hashes: BTreeMap<String, usize>,
}

impl RecordingMasker {
    /// Masks for whoever recorded it; nothing is known to be secret yet.
    #[must_use]
    pub fn new(identity: &MachineIdentity) -> Self {
        Self { secrets: KnownSecrets::default(), names: IdentityMask::new(identity), hashes: BTreeMap::new() }
    }

    /// Learns the secrets of a mode file or the settings.
    pub fn learn_source(&mut self, text: &str) {
        self.secrets.learn_source(text);
    }

    /// Learns the secrets of a line.
    pub fn learn(&mut self, line: &Value) {
        self.secrets.learn(line);
    }

    /// The text of a source with everything masked.
    #[must_use]
    pub fn source(&self, text: &str, tally: &mut MaskCounts) -> String {
        let text = self.secrets.in_source(text, tally);
        self.names.masked(&text, MaskLevel::Full, tally)
    }

    /// A line with everything masked.
    #[must_use]
    pub fn line(&mut self, line: &Value, depth: MaskLevel, tally: &mut MaskCounts) -> Value {
        let own = self.secrets.short_ones(line);
        LineMasker { masks: self, own, depth, tally }.value(line, "", true)
    }

    /// Whether a written line still has a text that is known to be secret.
    #[must_use]
    pub fn leaks(&self, written: &str) -> bool {
        self.secrets.occur_in(written)
    }

    /// The number that stands for a hash, in the form of one.
    fn number(&mut self, hash: &str) -> String {
        let next = self.hashes.len() + 1;
        let number = *self.hashes.entry(hash.to_owned()).or_insert(next);
        format!("{number:064x}")
    }
}

/// One walk through a line.
struct LineMasker<'a> {
    masks: &'a mut RecordingMasker,
    /// Secrets of this line that are too short to be looked for in others.
    own: Vec<String>,
    depth: MaskLevel,
    tally: &'a mut MaskCounts,
}

impl LineMasker<'_> {
    fn value(&mut self, value: &Value, key: &str, by_key: bool) -> Value {
        match value {
            Value::String(text) => self.string(text, key, by_key).into(),
            Value::Array(items) => self.list(items, key, by_key),
            Value::Object(fields) => self.object(fields, key, by_key).into(),
            Value::Number(_) if by_key && secrets::hides_number(key, value) => {
                self.tally.secrets += 1;
                crate::redact::MASK.into()
            }
            other => other.clone(),
        }
    }

    /// A list; one of a secret's name and its value is a header or the like.
    fn list(&mut self, items: &[Value], key: &str, by_key: bool) -> Value {
        if let [Value::String(name), Value::String(text)] = items
            && by_key
            && secrets::hides(name, text)
        {
            let name = self.text(name);
            return Value::Array(vec![name.into(), self.string(text, name_of(items), true).into()]);
        }
        items.iter().map(|item| self.value(item, key, by_key)).collect()
    }

    fn object(&mut self, fields: &Map<String, Value>, key: &str, by_key: bool) -> Map<String, Value> {
        let sized = fields.contains_key("sha256");
        let mut masked = Map::new();
        for (name, value) in fields {
            // Gates and things seen have names of their own there.
            let by_key = by_key && !matches!(name.as_str(), "notified" | "seen" | "blocks");
            let value = match value {
                Value::String(hash) if sized && name == "sha256" => self.masks.number(hash).into(),
                // All that is in a secret object goes by the object's name.
                _ if by_key && secrets::is_hoard(key) => self.value(value, key, by_key),
                _ => self.value(value, name, by_key),
            };
            masked.insert(self.text(name), value);
        }
        masked
    }

    fn string(&mut self, text: &str, key: &str, by_key: bool) -> String {
        let text = self.masks.secrets.in_field(text, key, by_key, self.tally);
        let text = self.text(&text);
        // Cut last: half a secret would not be recognised.
        let cut = matches!(key, "prompt" | "user_prompt") && self.depth == MaskLevel::Full;
        match shortened(&text).filter(|_| cut) {
            Some(short) => {
                self.tally.cut += 1;
                self.headed(short)
            }
            None => text,
        }
    }

    fn text(&mut self, text: &str) -> String {
        let text = self.masks.secrets.in_text(text, &self.own, self.tally);
        let text = self.masks.names.masked(&text, self.depth, self.tally);
        self.headed(text)
    }

    /// The beginning of a long text without its last word, which may be half a secret, and with a number for its hash.
    fn headed(&mut self, text: String) -> String {
        const SIGN: &str = " bytes, sha256 ";
        let Some((head, hash)) = text.strip_suffix(']').and_then(|text| text.rsplit_once(SIGN)) else { return text };
        let Some((head, size)) = head.rsplit_once("… [").filter(|_| hash.len() == 64) else { return text };
        let whole = head.rfind(char::is_whitespace).and_then(|end| head.get(..end)).unwrap_or_default();
        format!("{whole}… [{size}{SIGN}{}]", self.masks.number(hash))
    }
}

fn name_of(items: &[Value]) -> &str {
    items.first().and_then(Value::as_str).unwrap_or_default()
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
        masks.learn(line);
        masks.line(line, MaskLevel::Full, &mut MaskCounts::default())
    }

    #[test]
    fn a_secret_is_masked_wherever_it_occurs() {
        let line = json!({"event": {"command": "deploy --token hunter2x"}, "findings": [{"saw": "it says hunter2x!"}]});
        let expected =
            json!({"event": {"command": "deploy --token [masked]"}, "findings": [{"saw": "it says [masked]!"}]});
        assert_eq!(masked(&line), expected);
    }

    #[test]
    fn folders_and_names_become_those_of_anyone() {
        let line = json!({"cwd": "/home/ann/dev/app/src", "path": "/home/ann/.claude/projects/-home-ann-dev-app/x.jsonl",
            "prompt": "ann on laptop7 wrote to ann@corp.io about /Users/bob/x"});
        let expected = json!({"cwd": "/home/user/project/src",
            "path": "/home/user/.claude/projects/-home-user-project/x.jsonl",
            "prompt": "user on host wrote to user@example.com about /Users/user/x"});
        assert_eq!(masked(&line), expected);
    }

    #[test]
    fn a_hash_becomes_a_number() {
        let line = json!({"a": {"size": 3, "sha256": "ab"}, "b": {"size": 3, "sha256": "ab"}, "c": {"sha256": "cd"}});
        let value = masked(&line);
        assert_eq!(value["a"], value["b"]);
        assert_eq!(value["c"]["sha256"], format!("{:064x}", 2));
    }

    #[test]
    fn a_long_prompt_ends_with_a_whole_word() {
        let line =
            json!({"prompt": format!("{} the password is fakeHalf12345 {}", "x".repeat(236), "word ".repeat(500))});
        let text = masked(&line)["prompt"].as_str().unwrap().to_owned();
        assert!(!text.contains("fake") && text.contains("… [") && text.len() < 400, "{text}");
        let again = masked(&json!({"message": text}));
        assert!(again["message"].as_str().unwrap().contains(" bytes, sha256 0"), "{again}");
    }

    #[test]
    fn headers_are_pairs() {
        let line = json!({"headers": [["X-Api-Key", "a b c"], ["Accept", "text/plain"]]});
        assert_eq!(masked(&line), json!({"headers": [["X-Api-Key", "[masked]"], ["Accept", "text/plain"]]}));
    }
}
