//! A walk through a command line, in the order in which the shell would run it.

use super::state::State;
use super::target::{Target, absolute};
use super::{Deed, Effects, Ground, Touch};
use crate::shell::expand::{self, World};
use crate::shell::parse::parse;
use crate::shell::syntax::{Command, Flow, Group, Join, Kind, Redirect, Tree, Unreadable};
use crate::shell::word::{self, Word};
use std::rc::Rc;

/// How many commands a line may come to.
const STEPS: usize = 3_000;
/// Devices that anyone may write to.
const HARMLESS: [&str; 7] = ["null", "stdout", "stderr", "tty", "zero", "full", "stdin"];
/// How deep commands may run commands.
const DEPTH: usize = 30;

pub(super) struct Walk<'a> {
    pub ground: &'a Ground,
    pub state: State,
    pub effects: Effects,
    /// The command under way, for messages.
    pub by: String,
    steps: usize,
    depth: usize,
    /// What `<(…)` prints, by the number of its descriptor from 63 down.
    pub processes: Vec<Word>,
}

impl<'a> Walk<'a> {
    pub fn new(ground: &'a Ground) -> Self {
        Self {
            ground,
            state: State::new(ground),
            effects: Effects::default(),
            by: String::new(),
            steps: STEPS,
            depth: DEPTH,
            processes: Vec::new(),
        }
    }

    /// Walks a text of commands that reads `input`; gives what it prints.
    pub fn text(&mut self, text: &str, input: &Word) -> Word {
        match parse(text) {
            Ok(tree) => self.deeper(|walk| walk.tree(&tree, input)),
            Err(unreadable) => self.give_up(unreadable),
        }
    }

    pub fn deeper(&mut self, walk: impl FnOnce(&mut Self) -> Word) -> Word {
        let Some(depth) = self.depth.checked_sub(1) else {
            return self.give_up(Unreadable::new("commands run commands too deeply", 1));
        };
        let outer = std::mem::replace(&mut self.depth, depth);
        let printed = walk(self);
        self.depth = outer;
        printed
    }

    /// Walks what leaves nothing behind in the shell.
    pub fn aside(&mut self, walk: impl FnOnce(&mut Self) -> Word) -> Word {
        let outer = self.state.clone();
        let by = self.by.clone();
        let printed = walk(self);
        let links = std::mem::take(&mut self.state.links);
        self.state = State { links, ..outer };
        self.by = by;
        printed
    }

    pub fn give_up(&mut self, unreadable: Unreadable) -> Word {
        self.effects.unreadable.get_or_insert(unreadable);
        Word::unknown()
    }

    pub fn step(&mut self) -> bool {
        self.steps(1)
    }

    /// Counts work; not when there has been too much.
    pub fn steps(&mut self, count: usize) -> bool {
        let Some(steps) = self.steps.checked_sub(count) else {
            self.steps = 0;
            self.give_up(Unreadable::new(format!("more than {STEPS} commands"), 1));
            return false;
        };
        self.steps = steps;
        true
    }

    pub fn tree(&mut self, tree: &Tree, input: &Word) -> Word {
        match tree {
            Tree::Command(command) => self.command(command, input),
            Tree::Pipeline(parts) => {
                let mut flowing = input.clone();
                for part in parts.iter().take(STEPS + 1) {
                    flowing = self.aside(|walk| walk.tree(part, &flowing));
                }
                flowing
            }
            Tree::List(items) => self.list(items, input),
            Tree::Group(group) => self.group(group, input),
            Tree::Function { name, body } => {
                self.effects.bomb |= starts_itself(body, name, false) > 0;
                self.state.functions.insert(name.clone(), Rc::new((**body).clone()));
                Word::default()
            }
        }
    }

    fn list(&mut self, items: &[(Tree, Join)], input: &Word) -> Word {
        let mut printed = Word::default();
        for (at, (item, join)) in items.iter().enumerate().take(STEPS + 1) {
            let elsewhere = self.state.elsewhere.clone();
            let own = match join {
                Join::Background => self.aside(|walk| walk.tree(item, input)),
                Join::And | Join::Or | Join::Then => self.tree(item, input),
            };
            printed.extend(&own);
            // After `cd x &&` and `cd x || exit` the folder is the one that was asked for.
            let leaves = items.get(at + 1).is_some_and(|(next, _)| is_exit(next));
            if *join == Join::And || *join == Join::Or && leaves {
                self.state.elsewhere = elsewhere;
            }
        }
        printed
    }

    fn group(&mut self, group: &Group, input: &Word) -> Word {
        if !self.step() {
            return Word::unknown();
        }
        let words: Vec<Word> = group.words.iter().flat_map(|raw| expand::fields(raw, self)).collect();
        let by = self.by.clone();
        self.by = if by.is_empty() { "a group of commands".to_owned() } else { by };
        let fed = self.redirects(&group.redirects);
        let input = fed.input.as_ref().unwrap_or(input);
        let printed = match group.kind {
            Kind::Subshell => self.aside(|walk| walk.all(&group.parts, input)),
            Kind::Block | Kind::Not => self.all(&group.parts, input),
            Kind::Branch => {
                // What follows `then` runs where the condition has gone to, and `else` perhaps not.
                let mut parts = group.parts.iter();
                if group.words.is_empty()
                    && let Some(condition) = parts.next()
                {
                    self.tree(condition, input);
                }
                for part in parts {
                    let before = self.state.clone();
                    self.tree(part, input);
                    self.state.merge(&before);
                }
                Word::unknown()
            }
            Kind::Loop => self.looped(group, &words, input),
        };
        if fed.away { Word::default() } else { printed }
    }

    fn looped(&mut self, group: &Group, words: &[Word], input: &Word) -> Word {
        let Some(name) = &group.variable else {
            let before = self.state.clone();
            self.all(&group.parts, input);
            self.state.merge(&before);
            return Word::unknown();
        };
        let mut printed = Word::default();
        for word in words {
            self.state.set(name, Some(vec![word.clone()]));
            printed.extend(&self.all(&group.parts, input));
        }
        printed
    }

    fn all(&mut self, parts: &[Tree], input: &Word) -> Word {
        let mut printed = Word::default();
        for part in parts {
            printed.extend(&self.tree(part, input));
        }
        printed
    }

    fn command(&mut self, command: &Command, input: &Word) -> Word {
        if !self.step() {
            return Word::unknown();
        }
        let words: Vec<Word> = command.words.iter().flat_map(|raw| expand::fields(raw, self)).collect();
        self.by = word::shown(&words);
        let by = self.by.clone();
        let fed = self.redirects(&command.redirects);
        let input = fed.input.as_ref().unwrap_or(input);
        let kept = (!words.is_empty()).then(|| self.state.variables.clone());
        for assignment in &command.assignments {
            self.assign(assignment);
        }
        let changed = kept.filter(|_| !command.assignments.is_empty());
        self.by = by;
        let printed = if words.is_empty() { Word::default() } else { self.run(&words, input) };
        if let Some(kept) = changed {
            self.state.variables = kept;
        }
        if fed.away { Word::default() } else { printed }
    }

    /// `X=a`, `X+=a`, `X=(a b)`.
    pub fn assign(&mut self, raw: &str) {
        let Some((name, value)) = raw.split_once('=') else { return };
        let (name, adds) = name.strip_suffix('+').map_or((name, false), |name| (name, true));
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if let Some(inner) = value.strip_prefix('(').and_then(|value| value.strip_suffix(')')) {
            // The elements of an array are the words of a command.
            let mut words = match parse(&format!(": {inner}")) {
                Ok(Tree::Command(command)) => {
                    command.words.iter().skip(1).flat_map(|raw| expand::fields(raw, self)).collect()
                }
                _ => vec![Word::unknown()],
            };
            if adds {
                words.splice(0..0, self.state.variable(name).unwrap_or_default());
            }
            return self.state.set(name, Some(words));
        }
        let value = expand::single(value, self);
        if !name.chars().all(is_name) {
            return;
        }
        let mut whole = Word::default();
        if adds {
            whole = self
                .state
                .variable(name)
                .map_or_else(Word::unknown, |words| words.first().cloned().unwrap_or_default());
        }
        whole.extend(&value);
        self.state.set(name, Some(vec![whole]));
    }

    fn redirects(&mut self, redirects: &[Redirect]) -> Fed {
        let mut fed = Fed { input: None, away: false };
        for redirect in redirects {
            let number = redirect.target.trim_end_matches('-').parse::<u32>().is_ok();
            match redirect.flow {
                Flow::Document { quoted: true } => fed.input = Some(Word::new(redirect.target.as_str())),
                Flow::Document { quoted: false } => fed.input = Some(expand::document(&redirect.target, self)),
                Flow::Here => fed.input = Some(expand::single(&redirect.target, self)),
                Flow::Duplicate if number || redirect.target == "-" => {}
                Flow::Read => {
                    let target = expand::single(&redirect.target, self);
                    fed.input = Some(self.process(&target).unwrap_or_else(Word::unknown));
                }
                Flow::Write | Flow::Duplicate => {
                    let target = expand::single(&redirect.target, self);
                    self.write(&target);
                    // `2> log` leaves what is printed where it was, but a guess too many does no harm.
                    fed.away = !target.filled("").starts_with("/dev/");
                }
            }
        }
        fed
    }

    /// What is read from a descriptor of `<(…)`.
    pub fn process(&self, word: &Word) -> Option<Word> {
        let number: usize = word.text()?.strip_prefix("/dev/fd/")?.parse().ok()?;
        self.processes.get(63_usize.checked_sub(number)?).cloned()
    }

    pub fn write(&mut self, word: &Word) {
        self.touch(Deed::Write, word, false);
    }

    /// Notes a change of what a word names.
    pub fn touch(&mut self, deed: Deed, word: &Word, recursive: bool) {
        if word.pieces().is_empty() {
            return;
        }
        let target = self.target(word);
        let bare = match &target {
            Target::Known { path, .. } => path.as_str(),
            Target::Below { prefix, .. } => prefix.as_str(),
            Target::Unknown { .. } => "",
        };
        let deed = match bare.strip_prefix("/dev/") {
            Some(name) if HARMLESS.contains(&name) || name.starts_with("fd/") || name.starts_with("tcp/") => return,
            Some(name) if deed == Deed::Write && !name.starts_with("shm/") => Deed::Device,
            _ => deed,
        };
        if let Some(through) = self.followed(&target) {
            self.note(deed, through, recursive);
        }
        self.note(deed, target, recursive);
        if word.prefix().starts_with('/') {
            return;
        }
        for folder in self.state.elsewhere.clone() {
            let folder = std::mem::replace(&mut self.state.folder, folder);
            let target = self.target(word);
            self.state.folder = folder;
            self.add(Touch { deed, target, recursive, sure: false, by: self.by.clone() });
        }
    }

    pub fn note(&mut self, deed: Deed, target: Target, recursive: bool) {
        self.add(Touch { deed, target, recursive, sure: true, by: self.by.clone() });
    }

    fn add(&mut self, touch: Touch) {
        let same = |known: &Touch| known.deed == touch.deed && known.target == touch.target && known.by == touch.by;
        // Only what is said twice in one breath.
        if !self.effects.touches.iter().rev().take(20).any(same) {
            self.effects.touches.push(touch);
        }
    }

    pub fn target(&self, word: &Word) -> Target {
        let folder = self.state.folder.as_deref();
        let bare = Some(word.filled("")).filter(|bare| !bare.is_empty()).and_then(|bare| absolute(&bare, folder));
        if let Some(text) = word.text() {
            let Some(path) = absolute(&text, folder) else { return Target::Unknown { bare: None } };
            return if word.has_glob() && self.state.dotglob {
                let prefix = path.split(['*', '?', '[']).next().unwrap_or_default().to_owned();
                Target::Below { prefix, bare: path }
            } else {
                Target::Known { path, glob: word.has_glob() }
            };
        }
        let prefix = word.prefix();
        let (above, begun) = prefix.rsplit_once('/').map_or(("", prefix.as_str()), |(above, begun)| (above, begun));
        let above = if prefix.starts_with('/') { format!("/{above}") } else { format!("./{above}") };
        match (absolute(&above, folder), bare) {
            (Some(above), Some(bare)) if !prefix.is_empty() => {
                Target::Below { prefix: format!("{}/{begun}", above.trim_end_matches('/')), bare }
            }
            (_, bare) => Target::Unknown { bare },
        }
    }

    /// What a path is through the links that the line has made itself.
    fn followed(&self, target: &Target) -> Option<Target> {
        let through = |path: &str| {
            self.state.links.iter().rev().find_map(|(from, to)| {
                let rest = path.strip_prefix(from.as_str())?;
                (rest.is_empty() || rest.starts_with('/')).then(|| format!("{to}{rest}"))
            })
        };
        match target {
            Target::Known { path, glob } => through(path).map(|path| Target::Known { path, glob: *glob }),
            Target::Below { prefix, bare } => through(prefix)
                .map(|prefix| Target::Below { prefix, bare: through(bare).unwrap_or_else(|| bare.clone()) }),
            Target::Unknown { .. } => None,
        }
    }
}

/// What redirections do to a command.
struct Fed {
    /// What it reads.
    input: Option<Word>,
    /// Whether what it prints goes elsewhere.
    away: bool,
}

impl World for Walk<'_> {
    fn variable(&self, name: &str) -> Option<Vec<Word>> {
        self.state.variable(name)
    }

    fn set(&mut self, name: &str, value: Vec<Word>) {
        self.state.set(name, Some(value));
    }

    fn printed(&mut self, command: &str) -> Word {
        let printed = self.aside(|walk| walk.text(command, &Word::unknown()));
        // The shell drops the line ends at the end.
        match printed.text() {
            Some(text) if !printed.has_glob() => Word::new(text.trim_end_matches('\n')),
            _ => printed,
        }
    }

    fn piped(&mut self, command: &str) -> Word {
        let printed = self.printed(command);
        self.processes.push(printed);
        Word::new(format!("/dev/fd/{}", 64_usize.saturating_sub(self.processes.len())))
    }

    fn home(&self, name: &str) -> Word {
        let home = self.ground.home.as_str();
        let above = home.rsplit_once('/').map_or("", |(above, _)| above);
        let folder = |folder: Option<&String>| folder.map_or_else(Word::unknown, |folder| Word::new(folder.as_str()));
        match name {
            "" => self.state.variable("HOME").and_then(|words| words.first().cloned()).unwrap_or_else(Word::unknown),
            "+" => folder(self.state.folder.as_ref()),
            "-" => folder(self.state.previous.as_ref()),
            "root" => Word::new("/root"),
            name => Word::new(format!("{above}/{name}")),
        }
    }

    fn lost(&mut self, raw: &str) {
        let begin: String = raw.chars().take(40).collect();
        self.give_up(Unreadable::new(format!("the end of `{begin}` is not to be found"), 1));
    }
}

fn is_exit(tree: &Tree) -> bool {
    let words = match tree {
        Tree::Command(command) => &command.words,
        Tree::Group(group) => return group.parts.last().is_some_and(is_exit),
        Tree::List(items) => return items.last().is_some_and(|(item, _)| is_exit(item)),
        _ => return false,
    };
    words.first().is_some_and(|word| ["exit", "return", "break", "continue"].contains(&word.as_str()))
}

/// How often a function's body starts the function in the background or a pipe.
fn starts_itself(tree: &Tree, name: &str, apart: bool) -> usize {
    match tree {
        Tree::Command(command) => usize::from(apart && command.words.first().is_some_and(|word| word == name)),
        Tree::Pipeline(parts) => parts.iter().map(|part| starts_itself(part, name, true)).sum(),
        Tree::List(items) => {
            items.iter().map(|(item, join)| starts_itself(item, name, apart || *join == Join::Background)).sum()
        }
        Tree::Group(group) => group.parts.iter().map(|part| starts_itself(part, name, apart)).sum(),
        Tree::Function { .. } => 0,
    }
}
