//! Programs that run other programs.

use super::args::Args;
use super::inline_code::guessed;
use super::target_path::absolute;
use super::walker::Walker;
use super::{ProgramCall, builtins};
use crate::has_name;
use crate::programs::{SHELL, WINDOWS, has_trait};
use crate::syntax::{CommandTree, Unreadable};
use crate::word::{self, ShellWord, UNKNOWN};
use std::rc::Rc;

/// What `/bin/r? x` may run; shells come last, as they may run what the others write.
const GLOB_CANDIDATES: &str = "shred truncate perl python3 sed rm dd tee mv ln git find cp chown chmod sh bash";

impl Walker<'_> {
    /// Walks a command and returns its output.
    pub fn run(&mut self, words: &[ShellWord], input: &ShellWord) -> ShellWord {
        let size: usize = words.iter().map(ShellWord::cost).sum();
        self.budget.spend(size);
        if !self.steps(1 + size / 256) {
            return ShellWord::unknown();
        }
        self.nested(|walker| walker.dispatch(words, input))
    }

    fn dispatch(&mut self, words: &[ShellWord], input: &ShellWord) -> ShellWord {
        // `time -p -- x`
        let words = after_dashes(words);
        let Some((first, rest)) = words.split_first() else { return ShellWord::default() };
        // A link or copy that the line made is also walked under the original name.
        if let Some(origin) = self.origin(first) {
            self.in_ignored_subshell(|walker| walker.named(&[&[ShellWord::new(origin)], rest].concat(), input));
        }
        self.named(words, input)
    }

    fn named(&mut self, words: &[ShellWord], input: &ShellWord) -> ShellWord {
        let Some((first, rest)) = words.split_first() else { return ShellWord::default() };
        let Some(given) = first.text() else {
            self.effects.hidden.push(word::shown(words));
            self.called(words);
            self.unnamed(rest, input);
            return ShellWord::unknown();
        };
        if let Some(body) = self.state.functions.get(&given).map(Rc::clone) {
            return self.function(&given, body, rest, input);
        }
        let name = given.rsplit('/').next().unwrap_or_default();
        if first.has_glob() {
            self.effects.hidden.push(word::shown(words));
            for name in GLOB_CANDIDATES.split(' ').filter(|known| fast_glob::glob_match(name, known)) {
                self.in_ignored_subshell(|walker| walker.run(&[&[ShellWord::new(name)], rest].concat(), input));
            }
        }
        if given.contains('/') {
            match self.content(first) {
                Some(script) => drop(self.ignoring_status(|walker| walker.written_script(&script, rest, input))),
                None => self.program_on_disk(first, rest),
            }
        }
        self.called(words);
        self.sending(name, rest);
        self.project_scripts(name, rest, input);
        if name == "tmux" || name == "screen" {
            let lines = rest.iter().skip(1).filter_map(ShellWord::text);
            lines.for_each(|line| guessed(self, &line.replace("\\n", "\n")));
        }
        if let Some(printed) = self.known_program(name, rest, input) {
            return printed;
        }
        match name {
            _ if has_trait(name, SHELL) => self.shell(rest, input),
            _ if has_trait(name, WINDOWS) => self.windows_shell(rest, input),
            "eval" => {
                let rest = after_dashes(rest);
                for word in rest {
                    self.script_on_input("sh", word);
                }
                let printed = self.script(&joined(rest), rest, input);
                if rest.iter().any(|word| word.text().is_none()) {
                    self.mark_redefined("it evaluates unknown code");
                }
                printed
            }
            "su" => self.session_shell("su", rest, input),
            "runuser" => self.session_shell("runuser", rest, input),
            "script" => self.session_shell("script", rest, input),
            "nix-shell" | "sg" => self.session_shell("nix-shell", rest, input),
            "trap" => {
                let script = after_dashes(rest).first().filter(|script| !script.prefix().starts_with('-')).cloned();
                if script.is_some() {
                    self.mark_redefined("it sets a trap");
                }
                script.map_or_else(ShellWord::default, |script| {
                    self.in_ignored_subshell(|walker| walker.code(&script, input))
                })
            }
            "crontab" => self.crontab(rest, input),
            "at" | "batch" => self.ignoring_status(|walker| walker.code(input, &ShellWord::unknown())),
            "xargs" => self.ignoring_status(|walker| walker.given_found(input, |walker| walker.xargs(rest, input))),
            "parallel" => {
                self.ignoring_status(|walker| walker.given_found(input, |walker| walker.parallel(rest, input)))
            }
            "find" | "gfind" => self.ignoring_status(|walker| walker.find(rest, input)),
            "fd" | "fdfind" => self.ignoring_status(|walker| walker.fd(rest, input)),
            _ => self.builtin(name, rest, input).unwrap_or_else(|| builtins::run(self, name, rest, input)),
        }
    }

    /// Walks the lines of a table of `cron`, after their times.
    fn crontab(&mut self, rest: &[ShellWord], input: &ShellWord) -> ShellWord {
        let file = Args::new(rest, "-u").operands.first().filter(|file| !file.is("-")).cloned();
        let table = file.map_or_else(|| Some(input.clone()), |file| self.content(&file));
        let lines = table.into_iter().flat_map(|table| table.split(|c| c == '\n'));
        let is_time = |c: char| c.is_ascii_digit() || "*/,- \t".contains(c);
        let command = |line: &ShellWord| {
            let line = line.filled("");
            line.strip_prefix('@')
                .and_then(|line| line.split_once(' '))
                .map_or(line.as_str(), |(_, line)| line)
                .to_owned()
        };
        let lines: Vec<String> = lines.map(|line| command(&line).trim_start_matches(is_time).to_owned()).collect();
        self.in_ignored_subshell(|walker| walker.text(&lines.join("\n"), &ShellWord::unknown()))
    }

    fn called(&mut self, words: &[ShellWord]) {
        let (own, output) = match self.redefined {
            Some(_) => Default::default(),
            None => (self.own, self.output.clone()),
        };
        let (command, piped, redefined) = (self.command, self.piped, self.redefined.clone());
        self.effects.calls.push(ProgramCall { words: words.to_vec(), own, output, command, piped, redefined });
    }

    /// `su -c '…'`, `runuser -u x y`, `nix-shell --run '…'`.
    fn session_shell(&mut self, name: &'static str, rest: &[ShellWord], input: &ShellWord) -> ShellWord {
        let args = Args::of_program(name, rest);
        if let Some(script) = args.value("-c --command --run") {
            return self.code(script, input);
        }
        if args.has("-u --user") {
            return self.in_subshell(|walker| walker.run(&args.operands, input));
        }
        let operands = args.operands.iter().filter(|word| !word.is("-")).count();
        if operands > 1 && name != "nix-shell" || input.text().is_some() {
            self.give_up(Unreadable::NotFollowed(name));
        }
        ShellWord::unknown()
    }

    /// Walks a shell of another user, usually root; a login shell starts in that user's home.
    pub fn root_shell(&mut self, is_login: bool, arguments: &[ShellWord], input: &ShellWord) -> ShellWord {
        self.in_subshell(|walker| {
            if is_login {
                walker.enter(&ShellWord::new("/root"));
            }
            walker.shell(arguments, input)
        })
    }

    fn function(&mut self, name: &str, body: Rc<CommandTree>, rest: &[ShellWord], input: &ShellWord) -> ShellWord {
        let outer = self.state.variables.clone();
        self.state.give(rest);
        // A recursive function is walked once.
        Rc::make_mut(&mut self.state.functions).remove(name);
        let printed = self.ignoring_status(|walker| walker.tree(&body, input));
        self.state.define(name, body);
        let variables = Rc::make_mut(&mut self.state.variables);
        for name in ["@", "*", "#", "1", "2", "3", "4", "5", "6", "7", "8", "9"] {
            match outer.get(name) {
                Some(value) => drop(variables.insert(name.to_owned(), value.clone())),
                None => drop(variables.remove(name)),
            }
        }
        printed
    }

    /// Walks a script that the line has written.
    fn written_script(&mut self, script: &ShellWord, arguments: &[ShellWord], input: &ShellWord) -> ShellWord {
        self.in_subshell(|walker| {
            walker.state.give(arguments);
            walker.code(script, input)
        })
    }

    /// `cmd /c …`, `pwsh -Command …`.
    fn windows_shell(&mut self, rest: &[ShellWord], input: &ShellWord) -> ShellWord {
        let at = rest.iter().position(|word| has_name("/c /C -c -Command -command", &word.filled("")));
        let rest = at.and_then(|at| rest.get(at + 1..)).unwrap_or_default();
        self.in_ignored_subshell(|walker| walker.script(&joined(rest), rest, input))
    }

    /// `sh -c '…'`, `sh <<< '…'`, `sh file`.
    fn shell(&mut self, rest: &[ShellWord], input: &ShellWord) -> ShellWord {
        // `bash +x -c '…'`
        let is_unset = |word: &&ShellWord| word.prefix().starts_with('+') && !word.is("+o") && !word.is("+O");
        let rest = rest.get(rest.iter().take_while(is_unset).count()..).unwrap_or_default();
        let (args, rest) = Args::leading(rest, "-o -O +o --rcfile --init-file");
        self.in_subshell(|walker| {
            if args.has("-n") {
                walker.mark_redefined("the shell only reads its commands");
            }
            walker.shell_options(args.values("-O"));
            (walker.state.strict, walker.state.pipefail) = (false, false);
            for file in args.values("--rcfile --init-file") {
                match walker.content(file) {
                    Some(script) => drop(walker.written_script(&script, &[], &ShellWord::default())),
                    None => drop(walker.script_on_disk(file, "sh", &[])),
                }
            }
            if args.has("-c") {
                let script = rest.first().cloned().unwrap_or_default();
                walker.state.give(rest.get(2..).unwrap_or_default());
                walker.state.set("0", rest.get(1).map(|word| vec![word.clone()]));
                // `bash -c "$(cat x)"`
                walker.script_on_input("sh", &script);
                return walker.code(&script, input);
            }
            match rest.first().filter(|file| !args.has("-s") && !file.is("-") && !file.is("/dev/stdin")) {
                None => {
                    walker.script_on_input("sh", input);
                    walker.code(input, &ShellWord::unknown())
                }
                Some(file) => match walker.content(file) {
                    Some(script) => walker.written_script(&script, rest.get(1..).unwrap_or_default(), input),
                    None if args.has("-n") => ShellWord::unknown(),
                    // `bash <(cat x)`
                    None if file.text().is_none() => {
                        walker.script_on_input("sh", file);
                        ShellWord::unknown()
                    }
                    None => walker.script_on_disk(file, "sh", rest.get(1..).unwrap_or_default()),
                },
            }
        })
    }

    /// Walks a script that may be partly unknown.
    pub fn code(&mut self, script: &ShellWord, input: &ShellWord) -> ShellWord {
        self.script(&script.filled(UNKNOWN), std::slice::from_ref(script), input)
    }

    pub fn script(&mut self, text: &str, from: &[ShellWord], input: &ShellWord) -> ShellWord {
        let known = from.iter().all(|word| word.text().is_some());
        if !known {
            self.effects.hidden.push(self.by.clone());
        }
        if text.replace(UNKNOWN, "").trim().is_empty() {
            return ShellWord::unknown();
        }
        let by = self.by.clone();
        let printed = self.text(text, input);
        self.by = by;
        printed
    }

    /// Changes the current folder.
    pub fn enter(&mut self, folder: &ShellWord) {
        let text = folder.text().filter(|_| !folder.has_glob());
        let folder = text.and_then(|text| absolute(&text, self.state.folder.as_deref()));
        self.state.enter(folder);
    }
}

/// The words after a `--`, if they begin with one.
fn after_dashes(words: &[ShellWord]) -> &[ShellWord] {
    words.split_first().filter(|(first, _)| first.is("--")).map_or(words, |(_, rest)| rest)
}

/// Joins words to a script; unlike a [`ShellWord`], a script that is too long is an error.
pub(super) fn joined(words: &[ShellWord]) -> String {
    words.iter().map(|word| word.filled(UNKNOWN)).collect::<Vec<_>>().join(" ")
}

/// Quotes a word for the shell.
pub(super) fn quoted(word: &ShellWord) -> String {
    match word.text() {
        Some(text) if word.has_glob() => text,
        _ => format!("'{}'", word.filled(UNKNOWN).replace('\'', r"'\''")),
    }
}
