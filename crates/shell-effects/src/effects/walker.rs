//! Walks a command line in the order in which the shell would run it.

use super::expansion;
use super::find::FoundPaths;
use super::scripts::{ScriptLimits, is_test};
use super::sending;
use super::shell_state::ShellState;
use super::status_source::is_exit;
use super::target_path::TargetPath;
use super::{CallOutput, DiskView, Effect, Exclusion, ExecContext, LineEffects, NoDisk, StatusSource};
use crate::has_name;
use crate::parse::{parse, readable};
use crate::syntax::{
    CommandTree, CompoundCommand, CompoundKind, Connector, RedirectKind, Redirection, SimpleCommand, Unreadable,
};
use crate::word::{self, ShellWord};
use crate::work::WorkBudget;
use std::rc::Rc;

/// The most commands that are walked per line.
const STEPS: usize = 3_000;
/// How many arguments a loop takes with `shift`.
const MOST_SHIFTS: usize = 20;
const DECLARING: [&str; 5] = ["export", "declare", "local", "readonly", "typeset"];
/// The deepest nesting of commands that run commands.
const DEPTH: usize = 30;

pub(super) struct Walker<'a> {
    pub context: &'a ExecContext,
    pub disk: &'a dyn DiskView,
    pub state: ShellState,
    pub effects: LineEffects,
    /// The current command, for messages.
    pub by: String,
    /// What the exit status of the line says about the current command.
    pub own: StatusSource,
    /// Where the current command's output goes.
    pub output: CallOutput,
    /// The number of the current simple command.
    pub command: usize,
    /// Whether the current command reads from a pipe.
    pub piped: bool,
    /// What the current command does not affect.
    pub excludes: Exclusion,
    /// Why later commands may mean something else.
    pub redefined: Option<String>,
    /// The files whose content the current pipe and the substitutions of the current command read.
    pub reads: Vec<ShellWord>,
    /// Variables with the content of files.
    pub variable_reads: Vec<(String, Vec<ShellWord>)>,
    /// Whether the current command is in `$(…)`.
    pub is_substituted: bool,
    /// What the last `find` printed, for a program after it in the pipe.
    pub found: Option<Rc<FoundPaths>>,
    pub budget: Rc<WorkBudget>,
    /// What is left for reading scripts.
    pub scripts: ScriptLimits,
    /// In a script, how many conditions the current command depends on.
    pub conditions: Option<usize>,
    commands: usize,
    steps: usize,
    depth: usize,
}

impl<'a> Walker<'a> {
    pub fn new(context: &'a ExecContext, disk: &'a dyn DiskView) -> Self {
        Self {
            context,
            disk,
            state: ShellState::new(context),
            effects: LineEffects::default(),
            by: String::new(),
            own: StatusSource { success: true, failure: true },
            output: CallOutput::Shown(Vec::new()),
            command: 0,
            piped: false,
            excludes: Exclusion::Nothing,
            redefined: None,
            reads: Vec::new(),
            variable_reads: Vec::new(),
            is_substituted: false,
            found: None,
            budget: Rc::default(),
            scripts: ScriptLimits::default(),
            conditions: None,
            commands: 0,
            steps: STEPS,
            depth: DEPTH,
        }
    }

    /// A walker for another machine, with what is left of this one's limits.
    pub fn on_another_machine<'c>(&self, context: &'c ExecContext) -> Walker<'c> {
        let own = StatusSource::default();
        let (by, budget) = (self.by.clone(), Rc::clone(&self.budget));
        Walker { own, by, budget, steps: self.steps, depth: self.depth, ..Walker::new(context, &NoDisk) }
    }

    /// Counts the work of a walker for another machine.
    pub fn spend(&mut self, other: &Walker<'_>) {
        self.steps = other.steps;
    }

    /// Walks a script with this standard input and returns its output.
    pub fn text(&mut self, text: &str, input: &ShellWord) -> ShellWord {
        let (tree, unreadable) = readable(text, &self.budget);
        let printed = tree.map_or_else(ShellWord::unknown, |tree| self.nested(|walker| walker.tree(&tree, input)));
        match unreadable {
            Some(unreadable) => self.give_up(unreadable),
            None => printed,
        }
    }

    pub fn nested(&mut self, walk: impl FnOnce(&mut Self) -> ShellWord) -> ShellWord {
        let Some(depth) = self.depth.checked_sub(1) else {
            return self.give_up(Unreadable::TooDeep);
        };
        let outer = std::mem::replace(&mut self.depth, depth);
        let printed = walk(self);
        self.depth = outer;
        printed
    }

    /// Walks commands that run in a subshell.
    pub fn in_subshell(&mut self, walk: impl FnOnce(&mut Self) -> ShellWord) -> ShellWord {
        let outer = self.copied_state();
        let by = self.by.clone();
        let printed = walk(self);
        let disk = std::mem::take(&mut self.state.disk);
        self.state = ShellState { disk, ..outer };
        self.by = by;
        printed
    }

    /// A copy of the state, without the changes on disk.
    fn copied_state(&mut self) -> ShellState {
        self.budget.spend(self.state.cost());
        let disk = std::mem::take(&mut self.state.disk);
        let copy = self.state.clone();
        self.state.disk = disk;
        copy
    }

    /// Walks commands whose status does not affect the line's.
    pub fn ignoring_status<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        let outer = (std::mem::take(&mut self.own), std::mem::take(&mut self.output));
        let result = walk(self);
        (self.own, self.output) = outer;
        result
    }

    /// Does the same in a subshell.
    pub fn in_ignored_subshell(&mut self, walk: impl FnOnce(&mut Self) -> ShellWord) -> ShellWord {
        self.ignoring_status(|walker| walker.in_subshell(walk))
    }

    pub fn give_up(&mut self, unreadable: Unreadable) -> ShellWord {
        self.effects.unreadable.get_or_insert(unreadable);
        ShellWord::unknown()
    }

    /// Counts work and returns false when the limit is reached.
    pub fn steps(&mut self, count: usize) -> bool {
        let Some(steps) = self.steps.checked_sub(count) else {
            self.steps = 0;
            self.give_up(Unreadable::TooManyCommands(STEPS));
            return false;
        };
        self.steps = steps;
        if self.budget.is_used_up() {
            self.give_up(Unreadable::TooMuchWork);
        }
        !self.budget.is_used_up()
    }

    pub fn tree(&mut self, tree: &CommandTree, input: &ShellWord) -> ShellWord {
        match tree {
            CommandTree::Command(command) => self.command(command, input),
            CommandTree::Pipeline(parts) => {
                let (outer, shown, piped) = (self.own, self.output.clone(), self.piped);
                let mut flowing = input.clone();
                for (at, part) in parts.iter().enumerate().take(STEPS + 1) {
                    self.own = outer.of_stage(parts, at, self.state.pipefail);
                    self.output = shown.of_stage(parts.get(at + 1..).unwrap_or_default(), self);
                    self.piped = piped || at > 0;
                    flowing = self.in_subshell(|walker| walker.tree(part, &flowing));
                }
                (self.own, self.output, self.piped) = (outer, shown, piped);
                flowing
            }
            CommandTree::List(items) => self.list(items, input),
            CommandTree::Compound(group) => self.group(group, input),
            CommandTree::Function { name, body } => {
                self.effects.bomb |= starts_itself(body, name, false) > 0;
                self.mark_redefined(format!("it defines the function `{name}`"));
                self.state.define(name, Rc::new((**body).clone()));
                ShellWord::default()
            }
        }
    }

    fn list(&mut self, items: &[(CommandTree, Connector)], input: &ShellWord) -> ShellWord {
        let mut printed = ShellWord::default();
        let outer = self.own;
        let mut is_tested = false;
        let mut missing: Option<TargetPath> = None;
        for (at, (item, join)) in items.iter().enumerate().take(STEPS + 1) {
            let before = self.effects.changes.len();
            self.own = outer.of_item(items, at, self.state.strict);
            let other_folders = self.state.other_folders.clone();
            let own = match join {
                Connector::Background => {
                    let shown = std::mem::take(&mut self.output);
                    let printed = self.in_subshell(|walker| walker.tree(item, input));
                    self.output = shown;
                    printed
                }
                Connector::And | Connector::Or | Connector::Then => {
                    self.on_condition(is_tested, |walker| walker.with_own_reads(|walker| walker.tree(item, input)))
                }
            };
            is_tested = matches!(join, Connector::And | Connector::Or) && (is_tested || is_test(item));
            if let Some(file) = missing.take() {
                self.only_created(before, &file);
            }
            missing = self.tested_file(item).filter(|_| *join == Connector::Or);
            printed.extend(&own);
            // After `cd x &&` and `cd x || exit` the folder is certain.
            let leaves = items.get(at + 1).is_some_and(|(next, _)| is_exit(next));
            if *join == Connector::And || *join == Connector::Or && leaves {
                self.state.other_folders = other_folders;
            }
        }
        self.own = outer;
        printed
    }

    /// The file in `test -f file`, `[ -e file ]`.
    fn tested_file(&mut self, tree: &CommandTree) -> Option<TargetPath> {
        let CommandTree::Command(command) = tree else { return None };
        let [program, test, file, ..] = command.words.as_slice() else { return None };
        let is_test = has_name("test [ [[", program) && has_name("-f -e -s", test);
        match expansion::fields(file, self).as_slice() {
            [file] if is_test => Some(self.target(file)),
            _ => None,
        }
    }

    /// Records that the writes after the first `before` changes happen only if the file does not exist.
    fn only_created(&mut self, before: usize, file: &TargetPath) {
        let changes = self.effects.changes.get_mut(before..).unwrap_or_default();
        for change in changes.iter_mut().filter(|change| change.effect == Effect::Write && change.target == *file) {
            change.excludes = Exclusion::Existing;
        }
    }

    fn group(&mut self, group: &CompoundCommand, input: &ShellWord) -> ShellWord {
        if !self.steps(1) {
            return ShellWord::unknown();
        }
        let words: Vec<ShellWord> = group.words.iter().flat_map(|raw| expansion::fields(raw, self)).collect();
        let by = self.by.clone();
        self.by = if by.is_empty() { "a group of commands".to_owned() } else { by };
        let fed = self.redirects(&group.redirects);
        let input = fed.input.as_ref().unwrap_or(input);
        let redirected = self.output.redirected(&group.redirects, fed.away.as_ref());
        let shown = std::mem::replace(&mut self.output, redirected);
        let printed = match group.kind {
            CompoundKind::Subshell => self.in_subshell(|walker| walker.all(&group.parts, input)),
            CompoundKind::Block => self.all(&group.parts, input),
            CompoundKind::Not => self.ignoring_status(|walker| walker.all(&group.parts, input)),
            CompoundKind::Branch => self.ignoring_status(|walker| {
                // The `then` branch runs in the folder that the condition entered; the `else` branch may not.
                let mut parts = group.parts.iter();
                let before = walker.reads.len();
                if group.words.is_empty()
                    && let Some(condition) = parts.next()
                {
                    walker.tree(condition, input);
                }
                // The branches do not get what the condition reads.
                walker.reads.truncate(before);
                for part in parts {
                    let before = walker.copied_state();
                    walker.on_condition(true, |walker| walker.tree(part, input));
                    walker.state.merge(&before);
                }
                ShellWord::unknown()
            }),
            CompoundKind::Loop => self.ignoring_status(|walker| walker.looped(group, &words, input)),
        };
        self.output = shown;
        self.keep(fed, printed)
    }

    /// Returns the output that is not redirected to a file.
    fn keep(&mut self, fed: RedirectEffect, printed: ShellWord) -> ShellWord {
        let Some(file) = fed.away else { return printed };
        self.wrote(&file, printed);
        ShellWord::default()
    }

    fn looped(&mut self, group: &CompoundCommand, words: &[ShellWord], input: &ShellWord) -> ShellWord {
        let Some(name) = &group.variable else {
            let before = self.copied_state();
            for rest in self.unread(group, input) {
                self.all(&group.parts, &rest);
            }
            // `while [ $# -gt 0 ]; do rm "$1"; shift; done`
            let shifts = group.parts.iter().any(|part| runs(part, "shift"));
            let left = self.variable("@").map_or(0, |words| words.len()).min(MOST_SHIFTS);
            for _ in 0..if shifts { left } else { 0 } {
                self.all(&group.parts, input);
            }
            self.state.merge(&before);
            return ShellWord::unknown();
        };
        let mut printed = ShellWord::default();
        for word in words {
            self.state.set(name, Some(vec![word.clone()]));
            printed.extend(&self.all(&group.parts, input));
        }
        printed
    }

    /// The input of each round of a loop: one that reads has a line less in each.
    fn unread(&self, group: &CompoundCommand, input: &ShellWord) -> Vec<ShellWord> {
        let is_end = |c: char| c == '\n' || c == '\0';
        let lines = input.split(is_end);
        if lines.len() < 2 || !group.parts.iter().any(|part| runs(part, "read")) {
            return vec![input.clone()];
        }
        let mut rounds: Vec<ShellWord> = Vec::new();
        for line in lines.iter().rev() {
            let mut rest = line.clone();
            if let Some(after) = rounds.last().filter(|after| self.budget.spend(line.cost() + after.cost())) {
                rest.push(if input.has_text('\0') { "\0" } else { "\n" });
                rest.extend(after);
            }
            rounds.push(rest);
        }
        rounds.reverse();
        rounds
    }

    fn all(&mut self, parts: &[CommandTree], input: &ShellWord) -> ShellWord {
        let mut printed = ShellWord::default();
        for part in parts {
            printed.extend(&self.with_own_reads(|walker| walker.tree(part, input)));
        }
        printed
    }

    fn command(&mut self, command: &SimpleCommand, input: &ShellWord) -> ShellWord {
        if !self.steps(1) {
            return ShellWord::unknown();
        }
        let found = self.found.take();
        let words: Vec<ShellWord> = command.words.iter().flat_map(|raw| expansion::fields(raw, self)).collect();
        // `rm $(find . -type f)`
        let substituted = std::mem::replace(&mut self.found, found);
        self.read_variables(&command.words);
        self.by = word::shown(&words);
        let by = self.by.clone();
        let fed = self.redirects(&command.redirects);
        let input = fed.input.as_ref().unwrap_or(input);
        let restores = !words.is_empty() && !command.assignments.is_empty();
        let kept = restores.then(|| self.state.variables.clone());
        let names = command.assignments.iter().filter_map(|raw| raw.split_once('='));
        for assignment in &command.assignments {
            self.assign(assignment);
        }
        self.by = by;
        self.commands += 1;
        let outer = std::mem::replace(&mut self.command, self.commands);
        let redirected = self.output.redirected(&command.redirects, fed.away.as_ref());
        let shown = std::mem::replace(&mut self.output, redirected);
        // `$(<file)` is the file's content.
        let printed = match substituted {
            _ if words.is_empty() => fed.input.clone().unwrap_or_default(),
            Some(found) => self.given(&found, |walker| walker.run(&words, input)),
            None => self.run(&words, input),
        };
        (self.command, self.output) = (outer, shown);
        if command.redirects.iter().any(sending::to_another_machine) {
            self.send(&[], false);
        }
        // `IFS= read x` keeps the new value of `x`.
        if let Some(kept) = kept {
            names.for_each(|(name, _)| self.state.set_back(name.trim_end_matches('+'), &kept));
        }
        // Values of declarations are not split and may be arrays, so they are assigned again as such.
        let declares = command.words.first().filter(|name| DECLARING.contains(&name.as_str()));
        if declares.is_some() {
            for raw in command.words.iter().skip(1) {
                self.assign(raw);
            }
        }
        self.state.last_words = Some(Rc::new(words));
        self.keep(fed, printed)
    }

    /// `X=a`, `X+=a`, `X=(a b)`.
    pub fn assign(&mut self, raw: &str) {
        // `export "X=a b"`
        if raw.starts_with(['"', '\'']) {
            let word = expansion::single(raw, self);
            if let Some((name, _)) = word.prefix().split_once('=') {
                self.state.set(name, word.after(&format!("{name}=")).map(|value| vec![value]));
            }
            return;
        }
        let Some((name, value)) = raw.split_once('=') else { return };
        let (name, adds) = name.strip_suffix('+').map_or((name, false), |name| (name, true));
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if let Some(inner) = value.strip_prefix('(').and_then(|value| value.strip_suffix(')')) {
            // The elements of an array are the words of a command.
            let mut words = match parse(&format!(": {inner}"), &self.budget) {
                Ok(CommandTree::Command(command)) => {
                    let elements = command.words.iter().skip(1).map(|raw| without_key(raw));
                    elements.flat_map(|raw| expansion::fields(raw, self)).collect()
                }
                _ => vec![ShellWord::unknown()],
            };
            if adds {
                words.splice(0..0, self.variable(name).unwrap_or_default());
            }
            return self.state.set(name, Some(words));
        }
        let (raw, before) = (value, self.reads.len());
        let value = expansion::single(raw, self);
        self.variable_read(name, raw, before);
        if let Some((name, index)) = name.strip_suffix(']').and_then(|name| name.split_once('[')) {
            let mut words = self.variable(name).unwrap_or_default();
            match index.parse::<usize>().ok().and_then(|at| words.get_mut(at)) {
                Some(element) => *element = value,
                None => words.push(value),
            }
            return self.state.set(name, Some(words));
        }
        if !name.chars().all(is_name) {
            return;
        }
        let mut whole = ShellWord::default();
        if adds {
            whole =
                self.variable(name).map_or_else(ShellWord::unknown, |words| words.first().cloned().unwrap_or_default());
        }
        whole.extend(&value);
        self.assigned(name, &whole);
        self.state.set(name, Some(vec![whole]));
    }

    fn redirects(&mut self, redirects: &[Redirection]) -> RedirectEffect {
        let mut fed = RedirectEffect { input: None, away: None };
        for redirect in redirects {
            let number = redirect.target.trim_end_matches('-').parse::<u32>().is_ok();
            let read = match redirect.kind {
                RedirectKind::Document { quoted: true } => ShellWord::new(redirect.target.as_str()),
                RedirectKind::Document { quoted: false } => expansion::document(&redirect.target, self),
                RedirectKind::Here => expansion::single(&redirect.target, self),
                RedirectKind::Duplicate if number || redirect.target == "-" => continue,
                RedirectKind::Read => {
                    let target = expansion::single(&redirect.target, self);
                    self.has_read(std::slice::from_ref(&target));
                    self.content(&target).unwrap_or_else(ShellWord::unknown)
                }
                RedirectKind::Write | RedirectKind::Duplicate => {
                    let target = expansion::single(&redirect.target, self);
                    self.write(&target);
                    if redirect.main {
                        fed.away = Some(target).filter(|target| !target.filled("").starts_with("/dev/"));
                    }
                    continue;
                }
            };
            if redirect.main {
                fed.input = Some(read);
            }
        }
        fed
    }
}

/// The effect of redirections on a command.
struct RedirectEffect {
    /// Its standard input.
    input: Option<ShellWord>,
    /// The file that receives its output.
    away: Option<ShellWord>,
}

/// Whether a builtin is among commands: `read`, `while IFS= read`.
fn runs(tree: &CommandTree, name: &str) -> bool {
    match tree {
        CommandTree::Command(command) => command.words.iter().take(2).any(|word| word == name),
        CommandTree::Pipeline(parts) => parts.iter().any(|part| runs(part, name)),
        CommandTree::List(items) => items.iter().any(|(item, _)| runs(item, name)),
        CommandTree::Compound(group) => group.parts.iter().any(|part| runs(part, name)),
        CommandTree::Function { .. } => false,
    }
}

/// Counts how often a function starts itself in the background or in a pipe.
fn starts_itself(tree: &CommandTree, name: &str, apart: bool) -> usize {
    match tree {
        CommandTree::Command(command) => usize::from(apart && command.words.first().is_some_and(|word| word == name)),
        CommandTree::Pipeline(parts) => parts.iter().map(|part| starts_itself(part, name, true)).sum(),
        CommandTree::List(items) => {
            items.iter().map(|(item, join)| starts_itself(item, name, apart || *join == Connector::Background)).sum()
        }
        CommandTree::Compound(group) => group.parts.iter().map(|part| starts_itself(part, name, apart)).sum(),
        CommandTree::Function { .. } => 0,
    }
}

/// The value of an array's element: `[key]=value`.
fn without_key(raw: &str) -> &str {
    raw.strip_prefix('[').and_then(|raw| raw.split_once("]=")).map_or(raw, |(_, value)| value)
}
