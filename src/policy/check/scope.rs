//! The definitions of a mode, and their values in an event.

use crate::facts::session::{ModeState, Session};
use crate::facts::{Facts, Unknown};
use crate::host::event::Event;
use crate::host::paths::safe_name;
use crate::policy::yaml::{Node, TreeReader};
use base::printable::one_line;
use base::template::variable;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The folder of milestones.
const PROJECT: &str = "project";

/// More alternatives than any reasonable variable has.
const ALTERNATIVES: usize = 256;

/// The variables that every mode has.
pub const BUILTIN_VARIABLES: [&str; 3] = ["session", "date", "milestone"];

/// The names that a mode's globs and lists can use.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Definitions {
    pub artifacts: BTreeMap<String, Artifact>,
    pub variables: BTreeMap<String, Vec<String>>,
}

/// Files that a mode refers to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Artifact {
    /// The globs; a match of any of them is enough.
    pub globs: Vec<String>,
    /// The path of a new file, if it is not the first glob.
    pub new: Option<String>,
}

impl Artifact {
    /// Reads a glob, a list of them, or `{ any: [...], new: ... }`.
    pub fn read(reader: &mut TreeReader, node: &Node) -> Self {
        if !node.is_map() {
            return Self { globs: reader.templates(node), new: None };
        }
        let fields = reader.fields(node, "an artifact", &["any", "new"]);
        let globs = fields.templates(reader, "any");
        if globs.is_empty() {
            fields.missing(reader, node, "an artifact needs `any`, a glob or a list of them");
        }
        Self { globs, new: fields.read(reader, "new", TreeReader::template) }
    }
}

/// An agent that works in a phase at the same time as others, and must write its own files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParallelAgent<'a> {
    pub id: &'a str,
    /// Its number among them, from 1.
    pub number: u32,
}

/// Everything a check may look at.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    pub event: &'a Event,
    /// The session before the event.
    pub session: &'a Session,
    /// The namespace of the gate's mode.
    pub namespace: &'a str,
    /// The definitions of that mode.
    pub definitions: &'a Definitions,
    pub facts: &'a Facts<'a>,
    /// The tool's input, if a gate has changed it.
    pub input: Option<&'a Value>,
    /// The agent whose own files count, if others work in its phase at the same time.
    pub parallel: Option<ParallelAgent<'a>>,
    /// The agent whose start is gated.
    pub starting: Option<&'a str>,
}

impl Scope<'_> {
    /// The same for evidence that agents share, such as a marker in a document.
    pub fn shared(&self) -> Self {
        Self { parallel: None, ..*self }
    }

    pub fn mode_state(&self) -> Option<&ModeState> {
        self.session.mode_state(self.namespace)
    }

    /// The globs of an artifact, or the glob itself, with variables filled in.
    pub fn globs(&self, name: &str) -> Result<Vec<String>, Unknown> {
        match self.definitions.artifacts.get(name) {
            Some(artifact) => self.expand_all(&artifact.globs),
            None => self.expand(name),
        }
    }

    /// The values of several texts with variables.
    pub fn expand_all<T: AsRef<str>>(&self, texts: impl IntoIterator<Item = T>) -> Result<Vec<String>, Unknown> {
        let mut all = Vec::new();
        for text in texts {
            all.extend(self.expand(text.as_ref())?);
        }
        Ok(all)
    }

    /// The values of a text with variables, in order.
    pub fn expand(&self, text: &str) -> Result<Vec<String>, Unknown> {
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
                return Err(format!("`{text}` has more than {ALTERNATIVES} values").into());
            }
            // The last pushed is taken first, so the first value must go last.
            open.extend(values.iter().rev().map(|value| (format!("{head}{before}{value}"), after.to_owned())));
        }
        Ok(done)
    }

    /// The path of a new file of an artifact; `None` if its glob is too open.
    pub fn expected(&self, name: &str) -> Option<String> {
        Some(self.new_path(name)?.replace('*', &self.facts.clock().date))
    }

    /// The path of a parallel agent's own file; the first agent has the usual path. `None` if its name is fixed.
    pub fn own_path(&self, name: &str) -> Option<String> {
        let ParallelAgent { number, .. } = self.parallel?;
        let path = self.new_path(name).filter(|path| path.contains('*'))?;
        let date = self.facts.clock().date;
        let own = if number > 1 { format!("{date}-{number}") } else { date };
        Some(path.replace('*', &own))
    }

    /// Whether a path is a parallel agent's own, whatever the date was when it was named.
    pub fn is_own_path(&self, name: &str, path: &str) -> bool {
        let Some(ParallelAgent { number, .. }) = self.parallel.filter(|agent| agent.number > 1) else { return false };
        let own = |glob: &String| fast_glob::glob_match(glob.replace('*', &format!("*-{number}")), path);
        self.globs(name).is_ok_and(|globs| globs.iter().any(own))
    }

    /// The path of a new file of an artifact, with at most one `*`.
    fn new_path(&self, name: &str) -> Option<String> {
        let new = self.definitions.artifacts.get(name).and_then(|artifact| artifact.new.as_deref());
        let globs = new.map_or_else(|| self.globs(name), |new| self.expand(new));
        let glob = globs.ok()?.into_iter().next()?;
        let open = glob.contains(['?', '[', '{']) || glob.contains("**") || glob.matches('*').count() > 1;
        (!open).then_some(glob)
    }

    /// The file of an artifact in messages: the existing file, else the path of a new one, else its glob.
    pub fn describe_artifact(&self, name: &str) -> String {
        if let Some(own) = self.own_path(name) {
            return self.display_path(&own);
        }
        // Work that began before midnight continues in its file.
        let there = || self.globs(name).ok().and_then(|globs| self.facts.files(globs).ok())?.into_iter().next();
        if let Some(file) = there() {
            // A name must add no line to what the model reads.
            return one_line(&self.display_path(&file.path)).into_owned();
        }
        let glob = || self.globs(name).ok().and_then(|globs| globs.into_iter().next());
        let like = || glob().map(|glob| format!("a file like {}", self.display_path(&glob)));
        let new = self.expected(name).map(|path| self.display_path(&path));
        new.or_else(like).unwrap_or_else(|| name.to_owned())
    }

    /// The path of a project file in messages: absolute if its path does not reach it from the working directory.
    pub fn display_path(&self, path: &str) -> String {
        let may_be_unreachable = self.event.cwd().is_some() && !path.starts_with('/');
        let absolute = may_be_unreachable.then(|| self.facts.location(path.to_owned()).ok().flatten()).flatten();
        absolute.unwrap_or_else(|| path.to_owned())
    }

    /// The file of another worktree that an artifact without a file has there.
    pub fn in_other_worktree(&self, name: &str) -> Option<String> {
        let globs = self.globs(name).ok()?;
        let is_missing = self.facts.files(globs.clone()).ok()?.iter().all(|file| file.size == 0);
        let found = is_missing.then(|| self.facts.in_other_worktrees(globs).ok())?;
        found?.into_iter().next().map(|file| file.path)
    }

    fn value(&self, name: &str) -> Result<Vec<String>, Unknown> {
        match name {
            "session" => {
                // What was written before a fork is still evidence; new files have the session's own id.
                let ids = std::iter::once(&self.session.id).chain(self.session.ancestors());
                Ok(ids.map(|id| safe_name(id).into_owned()).collect())
            }
            "date" => Ok(vec![self.facts.clock().date]),
            "milestone" => self.milestone(),
            _ => match self.definitions.variables.get(name) {
                Some(values) => Ok(values.clone()),
                None => Err(format!("`{{{name}}}` is not a variable").into()),
            },
        }
    }

    fn milestone(&self) -> Result<Vec<String>, Unknown> {
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
