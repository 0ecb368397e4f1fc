//! `.claude/modegate.yaml`: a project's settings.

pub mod switch;

use crate::facts::verdict::Verdict;
use crate::policy::yaml::{FileProblem, MappingFields, Node, NodeValue, TreeReader};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How often a gate blocks the same stop by default; below the host's limit.
const PATIENCE: u32 = 3;

/// After eight blocks in a row the host silently allows an agent to stop.
const HOST_LIMIT: u32 = 8;

const KEYS: [&str; 8] = ["level", "levels", "patience", "variables", "env", "disable", "journal", "sessions"];

/// A project's settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The level of gates that have no other.
    pub level: Option<Level>,
    /// The levels of modes and gates, by name.
    pub levels: BTreeMap<String, Level>,
    /// How often a gate blocks the same stop.
    pub patience: Option<u32>,
    /// Variables for every mode.
    pub variables: BTreeMap<String, Vec<String>>,
    /// Environment variables that may be used in the headers of `http` checks.
    pub env: Vec<String>,
    /// Modes that are disabled.
    pub disable: Vec<String>,
    /// Whether the journal is written.
    pub journal: bool,
    /// The size limit of a session's journal, in megabytes.
    pub megabytes: u32,
    /// After how many days a session's state is removed.
    pub days: u32,
}

/// How much a gate may do; later ones are weaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Whatever it decides.
    Enforce,
    /// At most warn.
    Warn,
    /// Nothing, but its findings are recorded.
    Observe,
    /// Nothing: it is not evaluated.
    Off,
}

impl Level {
    /// The words for it.
    pub const WORDS: [(&'static str, Self); 4] =
        [("enforce", Self::Enforce), ("warn", Self::Warn), ("observe", Self::Observe), ("off", Self::Off)];

    /// The word for it.
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, level)| *level == self).map_or("", |(word, _)| word)
    }

    /// Limits a verdict to what this level allows.
    pub fn cap(self, verdict: Verdict) -> Verdict {
        match self {
            Self::Enforce => verdict,
            Self::Warn => verdict.min(Verdict::Warn),
            Self::Observe => verdict.min(Verdict::Observe),
            Self::Off => Verdict::Pass,
        }
    }
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
    pub fn read(text: &str) -> Result<Self, Vec<FileProblem>> {
        Self::read_over(text, &Self::default())
    }

    /// Reads the settings' YAML; what it leaves out is as in `below`.
    pub fn read_over(text: &str, below: &Self) -> Result<Self, Vec<FileProblem>> {
        let node = Node::parse(text).map_err(|problem| vec![problem])?;
        let mut reader = TreeReader::default();
        let settings = Self::from_node(&mut reader, &node, &KEYS, below);
        if reader.problems.is_empty() { Ok(settings) } else { Err(reader.problems) }
    }

    /// Reads the user's own file for one project: settings for all projects, and below `projects` those of single ones.
    pub fn read_user(text: &str, is_project: impl Fn(&str) -> bool) -> Result<Self, Vec<FileProblem>> {
        let node = Node::parse(text).map_err(|problem| vec![problem])?;
        let mut reader = TreeReader::default();
        let allowed: Vec<&str> = KEYS.into_iter().chain(["projects"]).collect();
        let mut settings = Self::from_node(&mut reader, &node, &allowed, &Self::default());
        let all = settings.clone();
        let own = |reader: &mut TreeReader, node: &Node| Self::from_node(reader, node, &KEYS, &all);
        let projects = MappingFields::of(&node).read(&mut reader, "projects", |reader, node| reader.map(node, own));
        if let Some((_, own)) = projects.into_iter().flatten().find(|(path, _)| is_project(path)) {
            settings = own;
        }
        if reader.problems.is_empty() { Ok(settings) } else { Err(reader.problems) }
    }

    fn from_node(reader: &mut TreeReader, node: &Node, keys: &[&str], below: &Self) -> Self {
        let fields = reader.fields(node, "the settings file", keys);
        let level = |reader: &mut TreeReader, node: &Node| reader.word(node, &Level::WORDS);
        let levels = fields.read(reader, "levels", |reader, node| reader.map(node, level)).unwrap_or_default();
        let levels = levels.into_iter().filter_map(|(name, level)| Some((name, level?)));
        let variables = fields.read(reader, "variables", |reader, node| reader.map(node, TreeReader::texts));
        let journal = fields.read(reader, "journal", |reader, node| journal(reader, node, below));
        let (journal, megabytes) = journal.unwrap_or((below.journal, below.megabytes));
        let mut list = |name: &str, below: &[String]| {
            let new: Vec<String> =
                fields.texts(reader, name).into_iter().filter(|name| !below.contains(name)).collect();
            [below, new.as_slice()].concat()
        };
        let (env, disable) = (list("env", &below.env), list("disable", &below.disable));
        Self {
            level: fields.word(reader, "level", &Level::WORDS).or(below.level),
            levels: below.levels.clone().into_iter().chain(levels).collect(),
            patience: fields.read(reader, "patience", TreeReader::number).or(below.patience),
            variables: below.variables.clone().into_iter().chain(variables.unwrap_or_default()).collect(),
            env,
            disable,
            journal,
            megabytes,
            days: fields.read(reader, "sessions", |reader, node| days(reader, node, below.days)).unwrap_or(below.days),
        }
    }

    /// The nodes that name modes and gates.
    pub fn names(node: &Node) -> Vec<&Node> {
        let mut names = Vec::new();
        names.extend(node.get("levels").into_iter().flat_map(Node::entries).map(|(name, _)| name));
        match node.get("disable") {
            Some(Node { value: NodeValue::List(modes), .. }) => names.extend(modes),
            other => names.extend(other),
        }
        names
    }

    /// The level of a gate: its own counts before its mode's before the project's, and the settings before a mode file.
    pub fn level(&self, mode: (&str, Option<Level>), gate: (&str, Option<Level>)) -> Level {
        let own = |name: &str| self.levels.get(name).copied();
        own(gate.0).or(gate.1).or_else(|| own(mode.0)).or(mode.1).or(self.level).unwrap_or(Level::Enforce)
    }

    /// Whether the settings enforce this gate by name: then it blocks where it would only warn.
    pub fn enforces(&self, gate: &str) -> bool {
        self.levels.get(gate) == Some(&Level::Enforce)
    }

    /// How often a gate blocks the same stop while nothing changes.
    pub fn patience(&self, mode: Option<u32>, gate: Option<u32>) -> u32 {
        gate.or(mode).or(self.patience).unwrap_or(PATIENCE).min(HOST_LIMIT)
    }
}

fn journal(reader: &mut TreeReader, node: &Node, below: &Settings) -> (bool, u32) {
    if node.text().is_some() {
        return (reader.boolean(node), below.megabytes);
    }
    let fields = reader.fields(node, "`journal`", &["record", "megabytes"]);
    let record = fields.read(reader, "record", TreeReader::boolean).unwrap_or(below.journal);
    (record, fields.read(reader, "megabytes", TreeReader::number).unwrap_or(below.megabytes))
}

fn days(reader: &mut TreeReader, node: &Node, below: u32) -> u32 {
    let fields = reader.fields(node, "`sessions`", &["days"]);
    fields.read(reader, "days", TreeReader::number).unwrap_or(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_specific_level_counts() {
        let settings =
            Settings::read("level: observe\nlevels: { plan: warn, plan-is-written: enforce }\n").expect("settings");
        assert_eq!(settings.level(("plan", None), ("plan-is-written", None)), Level::Enforce);
        assert_eq!(settings.level(("plan", Some(Level::Enforce)), ("other", None)), Level::Warn);
        assert_eq!(settings.level(("code", None), ("other", None)), Level::Observe);
        assert_eq!(settings.level(("code", None), ("other", Some(Level::Warn))), Level::Warn);
    }

    #[test]
    fn a_misspelled_key_is_reported_with_its_location() {
        let problems = Settings::read("patience: 2\nlevls: {}\n").expect_err("a problem");
        assert_eq!(problems[0].location.line, 2);
        assert_eq!(problems[0].message, "the settings file has no key `levls`, did you mean `levels`?");
    }

    #[test]
    fn a_project_of_the_users_file_has_settings_of_its_own() {
        let text = "level: warn\nenv: [A]\nprojects:\n  /p: { level: off, levels: { g: observe }, env: [B] }\n";
        let settings = Settings::read_user(text, |path| path == "/p").expect("settings");
        assert_eq!((settings.level, settings.env), (Some(Level::Off), vec!["A".to_owned(), "B".to_owned()]));
        let others = Settings::read_user(text, |path| path == "/q").expect("settings");
        assert_eq!((others.level, others.levels.len()), (Some(Level::Warn), 0));
        assert!(Settings::read_user("projects: { /q: { levl: off } }", |_| false).is_err());
        let project = Settings::read_over("levels: { h: warn }\n", &settings_of("level: off\nlevels: { g: warn }\n"));
        assert_eq!(project.map(|settings| (settings.level, settings.levels.len())), Ok((Some(Level::Off), 2)));
    }

    fn settings_of(text: &str) -> Settings {
        Settings::read(text).expect("settings")
    }

    #[test]
    fn patience_stays_below_the_hosts_limit() {
        assert_eq!(Settings::default().patience(None, None), 3);
        assert_eq!(Settings::default().patience(None, Some(50)), 8);
    }
}
