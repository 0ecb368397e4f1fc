//! Splits the words of a program into options and operands.

use crate::has_name;
use crate::programs::Program;
use crate::word::ShellWord;

/// The arguments of a program.
#[derive(Debug, Default)]
pub(super) struct Args {
    /// Options by their names: `-r`, `--force`.
    flags: Vec<String>,
    values: Vec<(String, ShellWord)>,
    pub operands: Vec<ShellWord>,
}

impl Args {
    /// Reads a program's words, its name left out. `valued` names the options that take a value, separated by spaces.
    pub fn new(words: &[ShellWord], valued: &str) -> Self {
        let mut args = Self::default();
        let mut rest = words;
        while let Some((word, after)) = rest.split_first() {
            rest = after;
            if word.is("--") {
                args.operands.extend_from_slice(after);
                break;
            }
            if !args.option(word, &mut rest, valued) {
                args.operands.push(word.clone());
            }
        }
        args
    }

    /// Reads the words of a program of the table.
    pub fn of_program(name: &str, words: &[ShellWord]) -> Self {
        Self::new(words, Program::named(name).map_or("", |program| program.valued))
    }

    /// Reads the options before a program's first operand; gives the words from there on.
    pub fn leading<'a>(words: &'a [ShellWord], valued: &str) -> (Self, &'a [ShellWord]) {
        let mut args = Self::default();
        let mut rest = words;
        while let Some((word, after)) = rest.split_first() {
            if word.is("--") {
                return (args, after);
            }
            let mut next = after;
            if !args.option(word, &mut next, valued) {
                break;
            }
            rest = next;
        }
        (args, rest)
    }

    /// Reads the options between two operands, too; gives the words from the second one on.
    pub fn more<'a>(&mut self, words: &'a [ShellWord], valued: &str) -> &'a [ShellWord] {
        let (own, rest) = Self::leading(words, valued);
        self.flags.extend(own.flags);
        self.values.extend(own.values);
        rest
    }

    fn option(&mut self, word: &ShellWord, rest: &mut &[ShellWord], valued: &str) -> bool {
        let text = word.prefix();
        if !text.starts_with('-') || text == "-" {
            return false;
        }
        let mut next = || {
            let (first, after) = rest.split_first()?;
            *rest = after;
            Some(first.clone())
        };
        if text.starts_with("--") || has_name(valued, &text) {
            let (name, value) = match text.split_once('=') {
                Some((name, _)) => (name, word.after(&format!("{name}="))),
                None if has_name(valued, &text) => (text.as_str(), next()),
                None => (text.as_str(), None),
            };
            self.flags.push(name.to_owned());
            self.values.extend(value.map(|value| (name.to_owned(), value)));
            return true;
        }
        let mut seen = "-".to_owned();
        for c in text.chars().skip(1) {
            let name = format!("-{c}");
            seen.push(c);
            self.flags.push(name.clone());
            if has_name(valued, &name) {
                let own = word.after(&seen).filter(|own| !own.pieces().is_empty());
                self.values.extend(own.or_else(&mut next).map(|value| (name, value)));
                break;
            }
        }
        true
    }

    /// The options, as written.
    pub fn flags(&self) -> impl Iterator<Item = &str> {
        self.flags.iter().map(String::as_str)
    }

    /// Whether one of these options was given; long ones may be shortened.
    pub fn has(&self, names: &str) -> bool {
        self.flags.iter().any(|flag| names.split(' ').any(|name| is(flag, name)))
    }

    /// The value of one of these options.
    pub fn value<'a>(&'a self, names: &'a str) -> Option<&'a ShellWord> {
        self.values(names).next()
    }

    pub fn values<'a>(&'a self, names: &'a str) -> impl Iterator<Item = &'a ShellWord> {
        self.values.iter().filter(|(flag, _)| names.split(' ').any(|name| is(flag, name))).map(|(_, value)| value)
    }

    /// The values of these options, none of which is shortened.
    pub fn exact_values<'a>(&'a self, names: &'a str) -> impl Iterator<Item = &'a ShellWord> {
        self.values.iter().filter(|(flag, _)| has_name(names, flag)).map(|(_, value)| value)
    }
}

fn is(flag: &str, name: &str) -> bool {
    flag == name || flag.len() > 2 && flag.starts_with("--") && name.starts_with(flag)
}
