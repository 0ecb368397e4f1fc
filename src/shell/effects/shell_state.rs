//! The state of the shell between commands.

use super::ExecContext;
use super::target_path::absolute;
use crate::shell::syntax::CommandTree;
use crate::shell::word::ShellWord;
use std::collections::HashMap;
use std::rc::Rc;

/// The state of the simulated shell.
#[derive(Clone)]
pub(super) struct ShellState {
    /// The current folder, if it is known.
    pub folder: Option<String>,
    pub previous: Option<String>,
    /// Other possible current folders, if an unchecked `cd` fails.
    pub elsewhere: Vec<Option<String>>,
    /// Whether a failure ends the line (`set -e`).
    pub strict: bool,
    /// Whether a pipeline fails with any of its commands.
    pub pipefail: bool,
    pub pushed: Vec<Option<String>>,
    /// Variables that the line sets; `None` if the value is unknown.
    pub variables: HashMap<String, Option<Vec<ShellWord>>>,
    pub functions: HashMap<String, Rc<CommandTree>>,
    pub aliases: HashMap<String, String>,
    /// Links that the line creates, with their targets.
    pub links: Vec<(String, String)>,
    /// Copies that the line creates, with their originals.
    pub copies: Vec<(String, String)>,
    /// Known content of files that the line writes.
    pub written: Vec<(String, ShellWord)>,
    /// Whether `*` matches hidden files.
    pub dotglob: bool,
}

impl ShellState {
    pub fn new(context: &ExecContext) -> Self {
        let known = |text: &str| Some(vec![ShellWord::new(text)]);
        let name = context.home.rsplit('/').next().unwrap_or_default();
        let variables = [
            ("HOME", known(&context.home)),
            ("CLAUDE_PROJECT_DIR", known(&context.project)),
            ("USER", known(name)),
            ("LOGNAME", known(name)),
            ("IFS", known(" \t\n")),
            ("@", Some(Vec::new())),
            ("*", Some(Vec::new())),
            ("#", known("0")),
            // Any number; what counts is that it is one.
            ("?", known("0")),
            ("PIPESTATUS", known("0")),
        ];
        Self {
            folder: absolute(&context.cwd, None),
            previous: None,
            elsewhere: Vec::new(),
            strict: false,
            pipefail: false,
            pushed: Vec::new(),
            variables: variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            functions: HashMap::new(),
            aliases: HashMap::new(),
            links: Vec::new(),
            copies: Vec::new(),
            written: Vec::new(),
            dotglob: false,
        }
    }

    pub fn variable(&self, name: &str) -> Option<Vec<ShellWord>> {
        let folder = |folder: &Option<String>| folder.as_ref().map(|folder| vec![ShellWord::new(folder.as_str())]);
        match self.variables.get(name) {
            Some(value) => value.clone(),
            None if name == "PWD" => folder(&self.folder),
            None if name == "OLDPWD" => folder(&self.previous),
            None if name != "0" && name.parse::<usize>().is_ok() => Some(Vec::new()),
            None => None,
        }
    }

    pub fn set(&mut self, name: &str, value: Option<Vec<ShellWord>>) {
        self.variables.insert(name.to_owned(), value);
    }

    /// Sets `$1`, `$2`, … and `$@`.
    pub fn give(&mut self, words: &[ShellWord]) {
        for (at, word) in words.iter().enumerate() {
            self.set(&(at + 1).to_string(), Some(vec![word.clone()]));
        }
        self.set("@", Some(words.to_vec()));
        self.set("*", Some(words.to_vec()));
        self.set("#", Some(vec![ShellWord::new(words.len().to_string())]));
    }

    /// Changes the current folder; the folder may not exist.
    pub fn enter(&mut self, folder: Option<String>) {
        self.previous = std::mem::replace(&mut self.folder, folder);
        if !self.strict && self.elsewhere.len() < 4 && !self.elsewhere.contains(&self.previous) {
            self.elsewhere.push(self.previous.clone());
        }
    }

    /// Merges the state of another branch.
    pub fn merge(&mut self, other: &Self) {
        for folder in other.elsewhere.iter().chain([&other.folder]) {
            if *folder != self.folder && !self.elsewhere.contains(folder) {
                self.elsewhere.push(folder.clone());
            }
        }
        for (name, value) in &other.variables {
            if self.variables.get(name) != Some(value) {
                // A variable that only one branch sets keeps that value.
                let known = if self.variables.contains_key(name) { None } else { value.clone() };
                self.variables.insert(name.clone(), known);
            }
        }
        self.functions.extend(other.functions.iter().map(|(name, body)| (name.clone(), Rc::clone(body))));
        self.aliases.extend(other.aliases.clone());
        self.links.extend(other.links.iter().filter(|link| !self.links.contains(link)).cloned().collect::<Vec<_>>());
        self.dotglob |= other.dotglob;
    }
}
