//! `.claude/modegate.yaml`: what a project wants otherwise.

pub mod switch;

use crate::mode::Level;
use crate::yaml::{Diagnostic, Node, NodeValue, TreeReader};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Below the host's own limit of eight.
const PATIENCE: u32 = 3;

/// After eight refusals in a row the host lets an agent stop without telling anyone.
const HOST_LIMIT: u32 = 8;

/// A project's settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// How much gates may do, unless said otherwise.
    pub level: Option<Level>,
    /// How much the gates of a mode, or one gate, may do, by name.
    pub levels: BTreeMap<String, Level>,
    /// How often a gate holds an agent back.
    pub patience: Option<u32>,
    /// Variables for every mode.
    pub variables: BTreeMap<String, Vec<String>>,
    /// Variables of the environment that headers of web steps may have.
    pub env: Vec<String>,
    /// Modes that are switched off.
    pub disable: Vec<String>,
    /// Whether the journal is written.
    pub journal: bool,
    /// How many megabytes the journal of a session may have.
    pub megabytes: u32,
    /// After how many days a session's state goes.
    pub days: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            level: None,
            levels: BTreeMap::new(),
            patience: None,
            variables: BTreeMap::new(),
            env: Vec::new(),
            disable: Vec::new(),
            journal: true,
            megabytes: 16,
            days: 30,
        }
    }
}

impl Settings {
    /// Reads the settings' YAML.
    pub fn read(text: &str) -> Result<Self, Vec<Diagnostic>> {
        let node = Node::parse(text).map_err(|problem| vec![problem])?;
        let mut reader = TreeReader::default();
        let settings = Self::from_node(&mut reader, &node);
        if reader.problems.is_empty() { Ok(settings) } else { Err(reader.problems) }
    }

    fn from_node(reader: &mut TreeReader, node: &Node) -> Self {
        const KEYS: [&str; 8] = ["level", "levels", "patience", "variables", "env", "disable", "journal", "sessions"];
        let default = Self::default();
        let fields = reader.fields(node, "the settings", &KEYS);
        let level = |reader: &mut TreeReader, node: &Node| reader.word(node, &Level::WORDS);
        let levels = fields.read(reader, "levels", |reader, node| reader.map(node, level)).unwrap_or_default();
        let variables = fields.read(reader, "variables", |reader, node| reader.map(node, TreeReader::texts));
        let (journal, megabytes) =
            fields.read(reader, "journal", journal).unwrap_or((default.journal, default.megabytes));
        Self {
            level: fields.read(reader, "level", level).flatten(),
            levels: levels.into_iter().filter_map(|(name, level)| Some((name, level?))).collect(),
            patience: fields.read(reader, "patience", TreeReader::number),
            variables: variables.unwrap_or_default().into_iter().collect(),
            env: fields.read(reader, "env", TreeReader::texts).unwrap_or_default(),
            disable: fields.read(reader, "disable", TreeReader::texts).unwrap_or_default(),
            journal,
            megabytes,
            days: fields.read(reader, "sessions", days).unwrap_or(default.days),
        }
    }

    /// The names of modes and gates in the settings' YAML.
    #[must_use]
    pub fn names(node: &Node) -> Vec<&Node> {
        let fields = TreeReader::default().fields(node, "", &[]);
        let mut names = Vec::new();
        if let Some(NodeValue::Map(levels)) = fields.get("levels").map(|levels| &levels.value) {
            names.extend(levels.iter().map(|(name, _)| name));
        }
        match fields.get("disable") {
            Some(Node { value: NodeValue::List(modes), .. }) => names.extend(modes),
            other => names.extend(other),
        }
        names
    }

    /// How much a gate may do: the nearest word counts, a gate's before a mode's before the project's, and the
    /// project's settings before a mode file.
    #[must_use]
    pub fn level(&self, mode: (&str, Option<Level>), gate: (&str, Option<Level>)) -> Level {
        let own = |name: &str| self.levels.get(name).copied();
        own(gate.0).or(gate.1).or_else(|| own(mode.0)).or(mode.1).or(self.level).unwrap_or(Level::Enforce)
    }

    /// Whether a person has said that this very gate is to be enforced: then it blocks what it would only warn of.
    #[must_use]
    pub fn enforces(&self, gate: &str) -> bool {
        self.levels.get(gate) == Some(&Level::Enforce)
    }

    /// How often a gate holds an agent back on the same facts.
    #[must_use]
    pub fn patience(&self, mode: Option<u32>, gate: Option<u32>) -> u32 {
        gate.or(mode).or(self.patience).unwrap_or(PATIENCE).min(HOST_LIMIT)
    }
}

fn journal(reader: &mut TreeReader, node: &Node) -> (bool, u32) {
    let default = Settings::default();
    if node.text().is_some() {
        return (reader.boolean(node), default.megabytes);
    }
    let fields = reader.fields(node, "`journal`", &["record", "megabytes"]);
    let record = fields.read(reader, "record", TreeReader::boolean).unwrap_or(default.journal);
    (record, fields.read(reader, "megabytes", TreeReader::number).unwrap_or(default.megabytes))
}

fn days(reader: &mut TreeReader, node: &Node) -> u32 {
    let fields = reader.fields(node, "`sessions`", &["days"]);
    fields.read(reader, "days", TreeReader::number).unwrap_or(Settings::default().days)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_counts() {
        let settings =
            Settings::read("level: observe\nlevels: { plan: warn, plan-is-written: enforce }\n").expect("settings");
        assert_eq!(settings.level(("plan", None), ("plan-is-written", None)), Level::Enforce);
        assert_eq!(settings.level(("plan", Some(Level::Enforce)), ("other", None)), Level::Warn);
        assert_eq!(settings.level(("code", None), ("other", None)), Level::Observe);
        assert_eq!(settings.level(("code", None), ("other", Some(Level::Warn))), Level::Warn);
    }

    #[test]
    fn a_misspelt_key_is_named_with_its_place() {
        let problems = Settings::read("patience: 2\nlevls: {}\n").expect_err("a problem");
        assert_eq!(problems[0].place.line, 2);
        assert_eq!(problems[0].message, "the settings has no key `levls`, did you mean `levels`?");
    }

    #[test]
    fn patience_stays_below_the_hosts_limit() {
        assert_eq!(Settings::default().patience(None, None), 3);
        assert_eq!(Settings::default().patience(None, Some(50)), 8);
    }
}
