//! Reads a tree into types and collects every problem.

use super::{Location, Node, NodeValue};
use base::template;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileProblem {
    /// Where in the document, as `phases[0].before[0].check`.
    pub path: String,
    /// What is wrong, in a clause.
    pub message: String,
    pub location: Location,
    #[serde(default)]
    pub hint: Option<String>,
}

impl FileProblem {
    /// A problem outside any path.
    pub fn at(location: Location, message: impl Into<String>) -> Self {
        Self { path: String::new(), message: message.into(), location, hint: None }
    }
}

/// The most problems of a file that are looked for: nobody reads more, and a repository can have thousands.
pub const MOST_PROBLEMS: usize = 100;

/// Words of earlier versions, with the word that is used now.
const RENAMED: [(&str, &str); 3] = [("deeds", "effects"), ("hold", "block"), ("wiring", "entries")];

/// Collects problems while a tree is read.
#[derive(Debug, Default)]
pub struct TreeReader {
    path: String,
    /// The artifacts that may be used.
    pub artifacts: Vec<String>,
    /// The variables that may be used.
    pub variables: Vec<String>,
    pub problems: Vec<FileProblem>,
    /// Problems that do not make the document unusable.
    pub warnings: Vec<FileProblem>,
}

impl TreeReader {
    pub fn problem(&mut self, node: &Node, message: impl Into<String>) {
        self.problems.push(FileProblem { path: self.path.clone(), ..FileProblem::at(node.location, message) });
    }

    /// Reports a problem with `node`, and what to do about it.
    pub fn hinted(&mut self, node: &Node, message: impl Into<String>, hint: impl Into<String>) {
        self.problem(node, message);
        if let Some(problem) = self.problems.last_mut() {
            problem.hint = Some(hint.into());
        }
    }

    /// Reports a problem that does not make the document unusable.
    pub fn warning(&mut self, node: &Node, message: impl Into<String>) {
        self.warnings.push(FileProblem { path: self.path.clone(), ..FileProblem::at(node.location, message) });
    }

    /// Reads something one step further down: a key or `[index]`.
    pub fn within<T>(&mut self, step: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        if !self.path.is_empty() && !step.starts_with('[') {
            self.path.push('.');
        }
        self.path.push_str(step);
        let value = read(self);
        self.path.truncate(length);
        value
    }

    /// A mapping with these keys and no others.
    pub fn fields<'n>(&mut self, node: &'n Node, what: &str, allowed: &[&str]) -> MappingFields<'n> {
        let NodeValue::Map(entries) = &node.value else {
            self.problem(node, format!("{what} is a mapping, not {}", node.kind()));
            return MappingFields { node, is_sound: false };
        };
        self.report_duplicates(entries);
        let mut is_sound = true;
        for (key, value) in entries {
            let name = key.text().unwrap_or_default();
            if allowed.contains(&name) {
                continue;
            }
            is_sound = false;
            if self.problems.len() >= MOST_PROBLEMS {
                break;
            }
            let message = suggestion(&format!("{what} has no key"), name, allowed);
            if entries.len() == 1 && value.is_null() {
                self.hinted(key, message, format!("quote it to use a variable: \"{{{name}}}\""));
            } else {
                self.problem(key, message);
            }
        }
        MappingFields { node, is_sound }
    }

    fn report_duplicates(&mut self, entries: &[(Node, Node)]) {
        let mut seen: HashSet<&str> = HashSet::new();
        for (key, _) in entries {
            let name = key.text().unwrap_or_default();
            if !seen.insert(name) && self.problems.len() < MOST_PROBLEMS {
                self.problem(key, format!("duplicate key `{name}`"));
            }
        }
    }

    pub fn text(&mut self, node: &Node) -> String {
        match node.text() {
            Some(text) if !node.is_null() && !text.trim().is_empty() => return text.trim().to_owned(),
            Some(_) => self.problem(node, "expected text, found nothing"),
            None => match &node.value {
                NodeValue::Map(entries) if entries.iter().all(|(_, value)| value.is_null()) => {
                    let names: Vec<&str> = entries.iter().filter_map(|(key, _)| key.text()).collect();
                    let hint = format!("quote it to use a variable: \"{{{}}}\"", names.join(","));
                    self.hinted(node, "expected text, found a mapping", hint);
                }
                _ => self.problem(node, format!("expected text, found {}", node.kind())),
            },
        }
        String::new()
    }

    /// A text or a list of texts, at least one.
    pub fn texts(&mut self, node: &Node) -> Vec<String> {
        self.some(node, Self::text)
    }

    /// One thing or a list of things, at least one.
    fn some<T>(&mut self, node: &Node, read: impl FnMut(&mut Self, &Node) -> T) -> Vec<T> {
        let things = self.each(node, read);
        if things.is_empty() {
            self.problem(node, "the list is empty");
        }
        things
    }

    /// A text that may use variables.
    pub fn template(&mut self, node: &Node) -> String {
        let text = self.text(node);
        let known: Vec<&str> = self.variables.iter().map(String::as_str).collect();
        if let Some(name) = template::variables(&text).find(|name| !known.contains(name)) {
            let near = nearest(name, &known).map(|near| format!(", did you mean `{{{near}}}`?"));
            let near = near.unwrap_or_else(|| "; declare it under `variables`".to_owned());
            self.problem(node, format!("unknown variable `{{{name}}}`{near}"));
        }
        text
    }

    /// A text or a list of texts that may use variables.
    pub fn templates(&mut self, node: &Node) -> Vec<String> {
        self.some(node, Self::template)
    }

    /// The name of an artifact, or a glob.
    pub fn artifact(&mut self, node: &Node) -> String {
        let text = self.template(node);
        let is_glob = text.is_empty() || text.contains(['/', '.', '*', '{']);
        if text.starts_with('/') || text.split('/').any(|part| part == "..") {
            self.problem(node, format!("`{text}` leaves the project"));
        }
        if !is_glob && !self.artifacts.contains(&text) {
            let known: Vec<&str> = self.artifacts.iter().map(String::as_str).collect();
            let message = match nearest(&text, &known) {
                Some(near) => format!("unknown artifact `{text}`, did you mean `{near}`?"),
                None => format!("unknown artifact `{text}`; declare it under `artifacts`, or give a glob with a `/`"),
            };
            self.problem(node, message);
        }
        text
    }

    pub fn each<T>(&mut self, node: &Node, mut read: impl FnMut(&mut Self, &Node) -> T) -> Vec<T> {
        match &node.value {
            NodeValue::List(items) => {
                let items = items.iter().enumerate();
                items.map(|(index, item)| self.within(&format!("[{index}]"), |reader| read(reader, item))).collect()
            }
            _ => vec![read(self, node)],
        }
    }

    pub fn list<T>(&mut self, node: &Node, read: impl FnMut(&mut Self, &Node) -> T) -> Vec<T> {
        match &node.value {
            NodeValue::List(_) => self.each(node, read),
            _ if node.is_null() => Vec::new(),
            _ => {
                self.problem(node, format!("expected a list, found {}", node.kind()));
                Vec::new()
            }
        }
    }

    /// A mapping from names to anything.
    pub fn map<T>(&mut self, node: &Node, mut read: impl FnMut(&mut Self, &Node) -> T) -> Vec<(String, T)> {
        let NodeValue::Map(entries) = &node.value else {
            self.problem(node, format!("expected a mapping, found {}", node.kind()));
            return Vec::new();
        };
        self.report_duplicates(entries);
        let named = |(key, value): &(Node, Node)| {
            let name = key.text().unwrap_or_default().to_owned();
            let value = self.within(&name, |reader| read(reader, value));
            (name, value)
        };
        entries.iter().map(named).collect()
    }

    pub fn number(&mut self, node: &Node) -> u32 {
        node.text().and_then(|text| text.parse().ok()).unwrap_or_else(|| {
            self.problem(node, format!("expected a whole number, found {}", shown(node)));
            0
        })
    }

    /// `true` or `false`.
    pub fn boolean(&mut self, node: &Node) -> bool {
        match node.text() {
            Some("true" | "yes" | "on") => true,
            Some("false" | "no" | "off") => false,
            _ => {
                self.problem(node, format!("expected true or false, found {}", shown(node)));
                false
            }
        }
    }

    /// One of a few words.
    pub fn word<T: Copy>(&mut self, node: &Node, words: &[(&str, T)]) -> Option<T> {
        let text = node.text().unwrap_or_default();
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        if found.is_none() {
            let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.problem(node, suggestion("unknown word", text, &names));
        }
        found
    }
}

#[derive(Debug, Clone, Copy)]
pub struct MappingFields<'n> {
    node: &'n Node,
    /// Whether it is a mapping without unknown keys.
    is_sound: bool,
}

impl<'n> MappingFields<'n> {
    /// The entries of a mapping whose keys are checked elsewhere.
    pub fn of(node: &'n Node) -> Self {
        Self { node, is_sound: true }
    }

    pub fn get(&self, name: &str) -> Option<&'n Node> {
        self.node.get(name)
    }

    /// Reports a missing key, unless an unknown key, perhaps a misspelled one, is already reported.
    pub fn missing(&self, reader: &mut TreeReader, node: &Node, message: &str) {
        if self.is_sound {
            reader.problem(node, message);
        }
    }

    /// The value of a key that is `true` or `false`; `false` without the key.
    pub fn flag(&self, reader: &mut TreeReader, name: &str) -> bool {
        self.read(reader, name, TreeReader::boolean).unwrap_or(false)
    }

    /// The value of a key that is one of a few words.
    pub fn word<T: Copy>(&self, reader: &mut TreeReader, name: &str, words: &[(&str, T)]) -> Option<T> {
        self.read(reader, name, |reader, node| reader.word(node, words)).flatten()
    }

    /// The texts of a key; none without the key.
    pub fn texts(&self, reader: &mut TreeReader, name: &str) -> Vec<String> {
        self.read(reader, name, TreeReader::texts).unwrap_or_default()
    }

    /// The texts of a key, which may use variables; none without the key.
    pub fn templates(&self, reader: &mut TreeReader, name: &str) -> Vec<String> {
        self.read(reader, name, TreeReader::templates).unwrap_or_default()
    }

    /// The artifact or glob of `of`, which `what` needs.
    pub fn artifact(&self, reader: &mut TreeReader, node: &Node, what: &str) -> String {
        let of = self.read(reader, "of", TreeReader::artifact);
        of.unwrap_or_else(|| {
            self.missing(reader, node, &format!("{what} needs `of`: an artifact or a glob"));
            String::new()
        })
    }

    /// The value of a key, read one step further down.
    pub fn read<T>(
        &self,
        reader: &mut TreeReader,
        name: &str,
        read: impl FnOnce(&mut TreeReader, &'n Node) -> T,
    ) -> Option<T> {
        let node = self.get(name)?;
        Some(reader.within(name, |reader| read(reader, node)))
    }
}

fn shown(node: &Node) -> String {
    node.text().map_or_else(|| node.kind().to_owned(), |text| format!("`{text}`"))
}

/// Says that `word` is not among `allowed`: with the nearest of them, or with all.
pub fn suggestion(what: &str, word: &str, allowed: &[&str]) -> String {
    if let Some((_, new)) = RENAMED.iter().find(|(old, new)| *old == word && allowed.contains(new)) {
        return format!("{what} `{word}`; it is now called `{new}`");
    }
    match nearest(word, allowed) {
        Some(near) => format!("{what} `{word}`, did you mean `{near}`?"),
        None => format!("{what} `{word}`; expected one of: {}", allowed.join(", ")),
    }
}

/// The end of a message about an unknown word: the nearest of `allowed`, if any is near.
pub fn did_you_mean(word: &str, allowed: &[&str]) -> String {
    nearest(word, allowed).map(|near| format!(", did you mean `{near}`?")).unwrap_or_default()
}

/// The allowed word that is most similar to `word`, if any is similar.
pub fn nearest<'a>(word: &str, allowed: &[&'a str]) -> Option<&'a str> {
    let distance = |other: &&str| strsim::damerau_levenshtein(&word.to_lowercase(), &other.to_lowercase());
    let near = allowed.iter().copied().min_by_key(distance)?;
    let is_start = word.len() > 2 && near.starts_with(word) && distance(&near) <= 2;
    (is_start || distance(&near) <= 1 + word.len() / 5).then_some(near)
}
