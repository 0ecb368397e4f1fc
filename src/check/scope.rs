//! The words of a mode and what they stand for in this event.

use crate::event::Event;
use crate::facts::Facts;
use crate::paths::safe_name;
use crate::session::{ModeState, Session};
use crate::template::variable;
use crate::yaml::{Node, NodeValue, TreeReader};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The folder that holds milestones.
const PROJECT: &str = "project";

/// More alternatives than any honest variable has.
const ALTERNATIVES: usize = 64;

/// The words that a mode's globs and lists are made of.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Definitions {
    /// Files by name.
    pub artifacts: BTreeMap<String, Artifact>,
    /// Own variables by name.
    pub variables: BTreeMap<String, Vec<String>>,
}

/// Files that a mode speaks of.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Artifact {
    /// The globs, any of which will do.
    pub globs: Vec<String>,
    /// Where a new one belongs, if that is not the first glob.
    pub new: Option<String>,
}

impl Artifact {
    /// Reads a glob, a list of them, or `{ any: [...], new: ... }`.
    pub fn read(reader: &mut TreeReader, node: &Node) -> Self {
        if !matches!(node.value, NodeValue::Map(_)) {
            return Self { globs: reader.templates(node), new: None };
        }
        let fields = reader.fields(node, "an artifact", &["any", "new"]);
        let globs = fields.read(reader, "any", TreeReader::templates).unwrap_or_default();
        if globs.is_empty() {
            reader.problem(node, "an artifact needs `any`, a glob or a list of them");
        }
        Self { globs, new: fields.read(reader, "new", TreeReader::template) }
    }
}

/// Everything a check may look at.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// The event.
    pub event: &'a Event,
    /// The session before it.
    pub session: &'a Session,
    /// The namespace of the mode that asks.
    pub namespace: &'a str,
    /// The words of that mode.
    pub definitions: &'a Definitions,
    /// The world.
    pub facts: &'a Facts<'a>,
    /// What the tool is given, if a gate has changed it.
    pub input: Option<&'a Value>,
}

impl Scope<'_> {
    /// The state of the mode that asks.
    #[must_use]
    pub fn mode_state(&self) -> Option<&ModeState> {
        self.session.mode_state(self.namespace)
    }

    /// The globs of an artifact, or of a glob given in its place, with every variable filled in.
    pub fn globs(&self, name: &str) -> Result<Vec<String>, String> {
        match self.definitions.artifacts.get(name) {
            Some(artifact) => self.expand_all(&artifact.globs),
            None => self.expand(name),
        }
    }

    /// Every value that `texts` stand for.
    pub fn expand_all(&self, texts: &[String]) -> Result<Vec<String>, String> {
        let mut all = Vec::new();
        for text in texts {
            all.extend(self.expand(text)?);
        }
        Ok(all)
    }

    /// Every value that a text with variables stands for, in order.
    pub fn expand(&self, text: &str) -> Result<Vec<String>, String> {
        if !text.contains('{') {
            return Ok(vec![text.to_owned()]);
        }
        let mut done = Vec::new();
        let mut open = vec![(String::new(), text.to_owned())];
        while let Some((head, tail)) = open.pop() {
            let Some((before, name, after)) = variable(&tail) else {
                done.push(head + &tail);
                continue;
            };
            let values = self.value(name)?;
            if done.len() + open.len() + values.len() > ALTERNATIVES {
                return Err(format!("`{text}` stands for more than {ALTERNATIVES} things"));
            }
            // The last pushed is taken first, so the first value must go last.
            open.extend(values.iter().rev().map(|value| (format!("{head}{before}{value}"), after.to_owned())));
        }
        Ok(done)
    }

    /// The path at which a new file of an artifact belongs, `None` when its glob is too open to say.
    #[must_use]
    pub fn expected(&self, name: &str) -> Option<String> {
        let new = self.definitions.artifacts.get(name).and_then(|artifact| artifact.new.as_deref());
        let globs = new.map_or_else(|| self.globs(name), |new| self.expand(new));
        let glob = globs.ok()?.into_iter().next()?;
        let open = glob.contains(['?', '[', '{']) || glob.contains("**") || glob.matches('*').count() > 1;
        (!open).then(|| glob.replace('*', &self.facts.clock().date))
    }

    /// What a file of an artifact is called when one is asked for: the one that is there, else where a new one
    /// belongs, else its glob.
    #[must_use]
    pub fn called(&self, name: &str) -> String {
        // Work that was begun before midnight goes on in its file.
        let there = || self.globs(name).ok().and_then(|globs| self.facts.files(globs).ok())?.into_iter().next();
        if let Some(file) = there() {
            return file.path;
        }
        let glob = || self.globs(name).ok().and_then(|globs| globs.into_iter().next());
        let like = || glob().map(|glob| format!("a file like {glob}"));
        self.expected(name).or_else(like).unwrap_or_else(|| name.to_owned())
    }

    fn value(&self, name: &str) -> Result<Vec<String>, String> {
        match name {
            "session" => Ok(vec![safe_name(&self.session.id)]),
            "date" => Ok(vec![self.facts.clock().date]),
            "milestone" => self.milestone(),
            _ => match self.definitions.variables.get(name) {
                Some(values) => Ok(values.clone()),
                None => Err(format!("`{{{name}}}` is no variable")),
            },
        }
    }

    fn milestone(&self) -> Result<Vec<String>, String> {
        Ok(match self.facts.milestone()? {
            None => vec![PROJECT.to_owned()],
            Some(milestone) if milestone.description.is_empty() => vec![format!("{PROJECT}/{}", milestone.id)],
            Some(milestone) => {
                let folder = |joint: char| format!("{PROJECT}/{}{joint}{}", milestone.id, milestone.description);
                vec![folder('_'), folder(':')]
            }
        })
    }
}
