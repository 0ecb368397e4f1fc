//! Unknown programs that may run their arguments: `foo git push`, `$SUDO -n rm x`, `$PYTHON -c '…'`, `$X -rf x`.

use super::args::Args;
use super::walker::Walker;
use super::{ProgramCall, inline_code};
use crate::has_name;
use crate::programs::{KEEPS, has_trait};
use crate::word::ShellWord;

/// Options with a value of programs that run others.
const VALUED: &str = "-u -g -C -D -h -p --user --group --chdir";

/// Words between an unknown program and what it runs.
const BETWEEN: &str = "run exec x with --";

impl ProgramCall {
    /// The call that it makes of its arguments, if it is an unknown program that runs them.
    pub fn possible_call(&self) -> Option<Self> {
        let name = self.words.first().and_then(ShellWord::text)?;
        if has_trait(name.rsplit('/').next().unwrap_or_default(), KEEPS) {
            return None;
        }
        let is_between = |word: &str| word.starts_with('-') || has_name(BETWEEN, word);
        let between = self.words.iter().skip(1).take_while(|word| is_between(&word.filled("…"))).count();
        let rest = self.words.get(1 + between..).filter(|rest| !rest.is_empty())?;
        Some(Self { words: rest.to_vec(), ..self.clone() })
    }
}

impl Walker<'_> {
    /// Walks the arguments of an unknown program as those of the programs that they suit.
    pub fn unnamed(&mut self, rest: &[ShellWord], input: &ShellWord) {
        let Some(first) = rest.first() else { return };
        let option = first.prefix();
        if !option.starts_with('-') {
            // It may be empty or run the rest: `$SUDO rm x`.
            self.ignoring_status(|walker| walker.run(rest, input));
            return;
        }
        // All of this is guessed, so errors in it do not count.
        let unreadable = self.effects.unreadable.clone();
        let is_code = |letters: &str, code: char| {
            !letters.starts_with("--") && letters.ends_with(code) && letters.chars().skip(1).all(char::is_alphabetic)
        };
        if is_code(&option, 'c')
            && let Some(code) = rest.get(1)
        {
            self.in_ignored_subshell(|walker| walker.code(code, input));
        }
        for (letter, interpreter) in [('c', "python"), ('e', "node"), ('r', "php")] {
            if is_code(&option, letter) {
                self.in_ignored_subshell(|walker| {
                    inline_code::run(walker, interpreter, rest, input);
                    ShellWord::unknown()
                });
            }
        }
        let args = Args::new(rest, "");
        if args.has("-r -R --recursive") && args.has("-f --force") {
            self.in_ignored_subshell(|walker| walker.run(&[&[ShellWord::new("rm")], rest].concat(), input));
        } else {
            let (_, command) = Args::leading(rest, VALUED);
            if !command.is_empty() {
                self.in_ignored_subshell(|walker| walker.run(command, input));
            }
        }
        self.effects.unreadable = unreadable;
    }
}
