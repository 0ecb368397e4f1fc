//! `find`: it finds paths below its operands, limited by tests, and runs actions on them.

use super::Effect;
use super::find_expression::{FindAction, FindExpression, Selection};
use super::target_path::TargetPath;
use super::walker::Walker;
use super::xargs::replaced;
use crate::shell::word::ShellWord;

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
        for action in FindExpression::actions(tests, starts) {
            match action {
                FindAction::Save(file) => self.write(file),
                FindAction::Print(selection) => printed.push(selection),
                FindAction::Delete(Selection::Globs(none)) if none.is_empty() => {}
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
        let mut lines = ShellWord::default();
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
        lines
    }

    /// Records that what is selected is removed.
    fn found_removed(&mut self, start: &ShellWord, selection: &Selection) {
        if selection.has_start(start) {
            return self.start_removed(start);
        }
        // Limited by tests, an unknown folder is as harmless as in `rm "$file"`.
        if !is_unknown(start) {
            self.change(Effect::Remove, &selection.below(start), true);
        }
    }

    /// Records that a starting path is removed with everything below it.
    fn start_removed(&mut self, start: &ShellWord) {
        if is_unknown(start) {
            self.note(Effect::Remove, TargetPath::Anywhere, true);
        } else {
            self.change(Effect::Remove, start, true);
        }
    }

    /// Runs a command on what is selected.
    fn found_given_to(&mut self, command: &[ShellWord], start: &ShellWord, selection: &Selection, input: &ShellWord) {
        let removes = command.iter().any(|word| word.is("rm") || word.prefix().ends_with("/rm"));
        if removes && selection.has_start(start) {
            self.start_removed(start);
        }
        let found = if is_unknown(start) { ShellWord::unknown() } else { selection.below(start) };
        let words: Vec<ShellWord> = command.iter().map(|word| replaced(word, "{}", &found)).collect();
        self.aside(|walker| walker.run(&words, input));
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
