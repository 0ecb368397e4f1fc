//! The state of the shell between commands.

use super::ExecContext;
use super::target_path::absolute;
use crate::syntax::CommandTree;
use crate::word::ShellWord;
use std::collections::HashMap;
use std::rc::Rc;

/// The most folders that may be the current one; every change is one in each of them.
const MOST_FOLDERS: usize = 16;
/// The most of them that are there because a `cd` may have failed.
const MOST_FAILED: usize = 4;

/// The values of variables; the state is copied for each subshell, so they are shared until one changes.
pub(super) type Variables = Rc<HashMap<String, Option<Rc<Vec<ShellWord>>>>>;

/// What the line changes on disk, as far as later commands of the line depend on it.
#[derive(Clone, Default)]
pub(super) struct DiskState {
    /// Links that the line creates, with their targets.
    pub links: Vec<(String, String)>,
    /// Copies that the line creates, with their originals.
    pub copies: Vec<(String, String)>,
    /// Known content of files that the line writes.
    pub written: Vec<(String, ShellWord)>,
}

/// The state of the simulated shell.
#[derive(Clone)]
pub(super) struct ShellState {
    /// The current folder, if it is known.
    pub folder: Option<String>,
    pub previous: Option<String>,
    /// Other possible current folders, if an unchecked `cd` fails.
    pub other_folders: Vec<Option<String>>,
    /// Whether a failure ends the line (`set -e`).
    pub strict: bool,
    /// Whether a pipeline fails with any of its commands.
    pub pipefail: bool,
    pub pushed: Vec<Option<String>>,
    /// Variables that the line sets; `None` if the value is unknown.
    pub variables: Variables,
    /// The words of the last simple command, the last of which is `$_`; `None` if they are unknown.
    pub last_words: Option<Rc<Vec<ShellWord>>>,
    pub functions: Rc<HashMap<String, Rc<CommandTree>>>,
    /// What the line changes on disk; a subshell's changes remain.
    pub disk: DiskState,
}

/// The user's name, from the name of the home.
pub(super) fn user_name(context: &ExecContext) -> &str {
    context.home.rsplit('/').next().unwrap_or_default()
}

impl ShellState {
    pub fn new(context: &ExecContext) -> Self {
        let known = |text: &str| Some(Rc::new(vec![ShellWord::new(text)]));
        let name = user_name(context);
        let variables = [
            ("HOME", known(&context.home)),
            (context.protected.project_variable, known(&context.project)),
            ("USER", known(name)),
            ("LOGNAME", known(name)),
            ("SHELL", known("/bin/bash")),
            ("BASH", known("/bin/bash")),
            ("IFS", known(" \t\n")),
            ("@", Some(Rc::default())),
            ("*", Some(Rc::default())),
            ("#", known("0")),
            // The value does not matter, as long as it is a number.
            ("?", known("0")),
            ("PIPESTATUS", known("0")),
        ];
        Self {
            folder: absolute(&context.cwd, None),
            previous: None,
            other_folders: Vec::new(),
            strict: false,
            pipefail: false,
            pushed: Vec::new(),
            variables: Rc::new(variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
            last_words: None,
            functions: Rc::default(),
            disk: DiskState::default(),
        }
    }

    pub fn variable(&self, name: &str) -> Option<Rc<Vec<ShellWord>>> {
        let folder =
            |folder: &Option<String>| folder.as_ref().map(|folder| Rc::new(vec![ShellWord::new(folder.as_str())]));
        match self.variables.get(name) {
            Some(value) => value.clone(),
            None if name == "_" => {
                self.last_words.as_ref().map(|words| Rc::new(words.last().cloned().into_iter().collect()))
            }
            None if name == "PWD" => folder(&self.folder),
            None if name == "OLDPWD" => folder(&self.previous),
            None if name != "0" && name.parse::<usize>().is_ok() => Some(Rc::default()),
            None => None,
        }
    }

    pub fn set(&mut self, name: &str, value: Option<Vec<ShellWord>>) {
        if name == "_" {
            // Until the end of the next command.
            return self.last_words = value.map(Rc::new);
        }
        Rc::make_mut(&mut self.variables).insert(name.to_owned(), value.map(Rc::new));
    }

    /// Gives a variable the value that it has in `other`.
    pub fn set_back(&mut self, name: &str, other: &Variables) {
        let variables = Rc::make_mut(&mut self.variables);
        match other.get(name) {
            Some(value) => drop(variables.insert(name.to_owned(), value.clone())),
            None => drop(variables.remove(name)),
        }
    }

    pub fn define(&mut self, name: &str, body: Rc<CommandTree>) {
        Rc::make_mut(&mut self.functions).insert(name.to_owned(), body);
    }

    /// The work of copying it.
    pub fn cost(&self) -> usize {
        4 + self.variables.len() + self.functions.len()
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
        if !self.strict && self.other_folders.len() < MOST_FAILED && !self.other_folders.contains(&self.previous) {
            self.other_folders.push(self.previous.clone());
        }
    }

    /// Merges the state of another branch.
    pub fn merge(&mut self, other: &Self) {
        for folder in other.other_folders.iter().chain([&other.folder]) {
            // Beyond the limit, the folder is unknown.
            let folder = if self.other_folders.len() < MOST_FOLDERS { folder } else { &None };
            if *folder != self.folder && !self.other_folders.contains(folder) {
                self.other_folders.push(folder.clone());
            }
        }
        if !Rc::ptr_eq(&self.variables, &other.variables) {
            let own = Rc::make_mut(&mut self.variables);
            for (name, value) in other.variables.as_ref() {
                if own.get(name) != Some(value) {
                    // A variable that only one branch sets keeps that value.
                    let known = if own.contains_key(name) { None } else { value.clone() };
                    own.insert(name.clone(), known);
                }
            }
        }
        if !Rc::ptr_eq(&self.functions, &other.functions) {
            let theirs = other.functions.iter().map(|(name, body)| (name.clone(), Rc::clone(body)));
            Rc::make_mut(&mut self.functions).extend(theirs);
        }
    }
}
