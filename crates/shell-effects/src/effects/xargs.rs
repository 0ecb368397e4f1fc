//! `xargs` and `parallel`, which run commands with words from standard input.

use super::args::Args;
use super::walker::Walker;
use super::wrappers::joined;
use crate::programs::{SHELL, has_trait};
use crate::readers::base;
use crate::word::ShellWord;

impl Walker<'_> {
    pub fn xargs(&mut self, rest: &[ShellWord], input: &ShellWord) -> ShellWord {
        const VALUED: &str = "-I -n -P -L -d -E -a -s -R -J --replace --max-args --delimiter --arg-file --max-procs";
        let (args, rest) = Args::leading(rest, VALUED);
        let file = args.value("-a --arg-file").map(|file| self.content(file).unwrap_or_else(ShellWord::unknown));
        let input = file.as_ref().unwrap_or(input);
        let given = match input.text().filter(|_| args.has("-0 --null -d --delimiter") && !input.has_glob()) {
            // Blanks belong to the words.
            Some(text) => text.split(['\n', '\0']).filter(|one| !one.is_empty()).map(ShellWord::new).collect(),
            None => given(input),
        };
        let place = args.value("-I --replace -J").and_then(ShellWord::text);
        let place = place.or_else(|| args.has("-i --replace").then(|| "{}".to_owned()));
        let Some(place) = place else {
            let words: Vec<ShellWord> = rest.iter().chain(&given).cloned().collect();
            return self.in_subshell(|walker| walker.run(&words, &ShellWord::unknown()));
        };
        let lines: Vec<ShellWord> = match input.text() {
            Some(text) if !input.has_glob() => {
                let lines = text.split(['\n', '\0']).filter(|line| !line.is_empty());
                lines.map(|line| ShellWord::new(line.trim_start())).collect()
            }
            _ => given,
        };
        for one in &lines {
            let words = self.given_place(rest, &place, one);
            self.in_subshell(|walker| walker.run(&words, &ShellWord::unknown()));
        }
        ShellWord::unknown()
    }

    /// The words of a command in which a placeholder stands for `one`. In a script for a shell it becomes a variable: several
    /// paths, or an unknown one, would not be read again as they are.
    pub fn given_place(&mut self, words: &[ShellWord], place: &str, one: &ShellWord) -> Vec<ShellWord> {
        const FOUND: &str = "_found";
        let is_shell = |word: &ShellWord| word.text().is_some_and(|text| has_trait(base(&text), SHELL));
        let script = words.iter().any(is_shell).then(|| words.iter().position(|word| word.is("-c"))).flatten();
        let is_script =
            |at: usize| script.is_some_and(|option| at == option + 1) && (one.has_glob() || one.text().is_none());
        if script.is_some() {
            self.state.set(FOUND, Some(vec![one.clone()]));
        }
        let variable = ShellWord::new(format!("${{{FOUND}}}"));
        let given =
            |(at, word)| if is_script(at) { replaced(word, place, &variable) } else { replaced(word, place, one) };
        words.iter().enumerate().map(given).collect()
    }

    pub fn parallel(&mut self, rest: &[ShellWord], input: &ShellWord) -> ShellWord {
        let (_, rest) = Args::leading(rest, "-j --jobs -I -N -n -P -a --colsep -C");
        let split = rest.iter().position(|word| word.prefix().starts_with(":::")).unwrap_or(rest.len());
        let (command, given_here) = rest.split_at_checked(split).unwrap_or((rest, &[]));
        let here: Vec<ShellWord> =
            given_here.iter().filter(|word| !word.prefix().starts_with(":::")).cloned().collect();
        let all = if here.is_empty() { given(input) } else { here };
        if command.is_empty() {
            // Each line is a command.
            return self.in_subshell(|walker| walker.code(input, &ShellWord::unknown()));
        }
        for one in &all {
            let words = with_found(command, one);
            // The words are joined to a command line.
            self.in_subshell(|walker| walker.script(&joined(&words), &words, &ShellWord::unknown()));
        }
        ShellWord::unknown()
    }
}

/// Splits standard input into words.
fn given(input: &ShellWord) -> Vec<ShellWord> {
    match input.text() {
        // A glob may expand to any number of words.
        Some(_) if input.has_glob() => input.split(|c| c == '\n' || c == '\0'),
        Some(text) => {
            let bare = |text: &str| ShellWord::new(text.trim_matches(['\'', '"']));
            text.split(|c: char| c.is_whitespace() || c == '\0').filter(|text| !text.is_empty()).map(bare).collect()
        }
        None if input.filled("").trim().is_empty() => vec![ShellWord::unknown()],
        None => input.split(|c| c == '\n' || c == '\0'),
    }
}

/// The words of a command with `one` in the place of `{}`, or at their end.
pub(super) fn with_found(command: &[ShellWord], one: &ShellWord) -> Vec<ShellWord> {
    let has_place = command.iter().any(|word| word.filled("").contains("{}"));
    let words = command.iter().map(|word| replaced(word, "{}", one));
    words.chain((!has_place).then(|| one.clone())).collect()
}

/// Replaces a placeholder in a word.
fn replaced(word: &ShellWord, place: &str, by: &ShellWord) -> ShellWord {
    let Some(text) = word.text() else { return word.clone() };
    let mut whole = ShellWord::default();
    for (at, part) in text.split(place).enumerate() {
        if at > 0 {
            whole.extend(by);
        }
        whole.push(part);
    }
    whole
}
