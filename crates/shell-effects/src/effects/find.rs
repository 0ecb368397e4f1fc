//! `find`: it finds paths below its operands, limited by tests, and runs actions on them.

use super::find_expression::{FindAction, Selection, actions, excluded_by};
use super::target_path::TargetPath;
use super::walker::Walker;
use super::{Effect, Exclusion, ProgramCall};
use crate::has_name;
use crate::word::ShellWord;
use std::rc::Rc;

/// What `find` printed.
pub(super) struct FoundPaths {
    lines: ShellWord,
    starts: Vec<ShellWord>,
    selection: Selection,
    excludes: Exclusion,
}

impl Walker<'_> {
    pub fn find(&mut self, rest: &[ShellWord], input: &ShellWord) -> ShellWord {
        let rest = without_options(rest);
        let begins = |word: &ShellWord| {
            let text = word.prefix();
            text.starts_with('-') && text.len() > 1 || text == "(" || text == "!"
        };
        let split = rest.iter().position(begins).unwrap_or(rest.len());
        let (starts, tests) = rest.split_at_checked(split).unwrap_or((rest, &[]));
        let here = [ShellWord::new(".")];
        let starts = if starts.is_empty() { here.as_slice() } else { starts };
        let mut printed: Vec<Selection> = Vec::new();
        let exclusion = excluded_by(tests, starts, self);
        let outer = std::mem::replace(&mut self.excludes, exclusion);
        for action in actions(tests) {
            match action {
                FindAction::Save(file) => self.write(file),
                FindAction::Print(selection) => printed.push(selection),
                FindAction::Delete(selection) => {
                    for start in starts {
                        self.found_removed(start, &selection);
                    }
                }
                FindAction::Execute(selection, command) => {
                    for start in starts {
                        self.found_given_to(command, start, &selection, input);
                    }
                    printed.push(selection);
                }
            }
        }
        let excludes = std::mem::replace(&mut self.excludes, outer);
        let mut lines = ShellWord::default();
        let selection = printed.iter().cloned().reduce(Selection::or);
        for (at, start) in starts.iter().enumerate() {
            let found = match printed.as_slice() {
                [one] => one.below(start),
                _ => Selection::Part.below(start),
            };
            if at > 0 {
                lines.push("\n");
            }
            lines.extend(&found);
        }
        self.found = selection.map(|selection| {
            Rc::new(FoundPaths { lines: lines.clone(), starts: starts.to_vec(), selection, excludes })
        });
        lines
    }

    /// What a program lists of the current folder, as if `find` had found it; ignored files are not among it.
    pub fn listed(&mut self, selection: Selection) -> ShellWord {
        let start = ShellWord::new(".");
        let lines = selection.below(&start);
        let excludes = Exclusion::Ignored;
        self.found = Some(Rc::new(FoundPaths { lines: lines.clone(), starts: vec![start], selection, excludes }));
        lines
    }

    /// Records that what is selected is removed.
    fn found_removed(&mut self, start: &ShellWord, selection: &Selection) {
        let is_start = selection.has_start(start);
        match selection {
            Selection::Globs(none) if none.is_empty() => {}
            _ if is_start && is_unknown(start) => self.note(Effect::Remove, TargetPath::Anywhere, true),
            _ if is_start => self.change(Effect::Remove, start, true),
            // Limited by tests, an unknown folder is as harmless as in `rm "$file"`.
            _ if is_unknown(start) => {}
            _ => self.change(Effect::Remove, &selection.below(start), true),
        }
    }

    /// Records that everything found is removed, or that its permissions change, if `rm` or `chmod` got it.
    fn found_passed(
        &mut self,
        calls: usize,
        changes: usize,
        start: &ShellWord,
        selection: &Selection,
        given: &ShellWord,
    ) {
        if self.has_since(Effect::Remove, calls, changes, given) {
            self.found_removed(start, selection);
        }
        if *selection == Selection::All && !is_unknown(start) && self.has_since(Effect::Mode, calls, changes, given) {
            self.change(Effect::Mode, start, true);
        }
    }

    /// Runs a command on what is selected.
    fn found_given_to(&mut self, command: &[ShellWord], start: &ShellWord, selection: &Selection, input: &ShellWord) {
        let found = if is_unknown(start) { ShellWord::unknown() } else { selection.below(start) };
        let words = self.given_place(command, "{}", &found);
        if command.first().is_some_and(|program| program.is("{}")) && !matches!(selection, Selection::Globs(_)) {
            self.found_started(start, &words, input);
        }
        let (calls, changes) = (self.effects.calls.len(), self.effects.changes.len());
        self.in_subshell(|walker| walker.run(&words, input));
        self.found_passed(calls, changes, start, selection, &found);
    }

    /// Runs the protected program if it is below a starting path, since every file there is run.
    fn found_started(&mut self, start: &ShellWord, words: &[ShellWord], input: &ShellWord) {
        let protected = self.context.protected;
        let places = protected.files.iter().filter(|(file, _)| file.rsplit('/').next() == Some(protected.program));
        for place in places.flat_map(|(file, _)| {
            [protected.program.to_owned(), (*file).to_owned(), format!("{}/{file}", protected.folder)]
        }) {
            let program = start.child(&ShellWord::new(place));
            if let TargetPath::Known { path, glob: false } = self.target(&program)
                && self.disk.exists(&path)
            {
                let words = [&[program], words.get(1..).unwrap_or_default()].concat();
                self.in_ignored_subshell(|walker| walker.run(&words, input));
            }
        }
    }

    /// Walks a program that reads `input`. If `find` printed that and the program passes it to `rm`, it counts as deleted by
    /// `find` itself.
    pub fn given_found(&mut self, input: &ShellWord, walk: impl FnOnce(&mut Self) -> ShellWord) -> ShellWord {
        match self.found.clone().filter(|found| found.lines == *input) {
            Some(found) => self.given(&found, walk),
            None => walk(self),
        }
    }

    /// Walks a program that gets what `find` printed.
    pub fn given(&mut self, found: &FoundPaths, walk: impl FnOnce(&mut Self) -> ShellWord) -> ShellWord {
        let (calls, changes) = (self.effects.calls.len(), self.effects.changes.len());
        let outer = std::mem::replace(&mut self.excludes, found.excludes);
        let printed = walk(self);
        for start in &found.starts {
            self.found_passed(calls, changes, start, &found.selection, &found.selection.below(start));
        }
        self.excludes = outer;
        printed
    }

    /// Whether `rm` or `chmod` was called on a path since there were this many calls and changes.
    fn has_since(&self, effect: Effect, calls: usize, changes: usize, path: &ShellWord) -> bool {
        let removes = |call: &ProgramCall| {
            let name = call.words.first().map(ShellWord::prefix).unwrap_or_default();
            has_name("rm grm unlink shred chmod", name.rsplit('/').next().unwrap_or_default())
        };
        if !self.effects.calls.iter().skip(calls).any(removes) {
            return false;
        }
        let target = self.target(path);
        let changes = self.effects.changes.get(changes..).unwrap_or_default();
        self.budget.spend(changes.len());
        changes.iter().any(|change| change.effect == effect && change.target == target)
    }
}

/// Whether nothing is known of a starting path. If it is empty, `find` fails.
fn is_unknown(start: &ShellWord) -> bool {
    start.filled("").is_empty()
}

/// The words after the options that come before the starting paths.
fn without_options(mut rest: &[ShellWord]) -> &[ShellWord] {
    const PLAIN: [&str; 8] = ["-H", "-L", "-P", "-E", "-X", "-s", "-x", "--"];
    while let Some((word, after)) = rest.split_first() {
        let text = word.text().unwrap_or_default();
        rest = match text.as_str() {
            "-D" => after.get(1..).unwrap_or_default(),
            option if PLAIN.contains(&option) || option.starts_with("-O") => after,
            _ => break,
        };
    }
    rest
}
