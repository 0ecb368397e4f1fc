//! Command lines that `git` runs: `rebase --exec`, `bisect run`, `submodule foreach`, editors, pagers, aliases.

use super::args::Args;
use super::git;
use super::inline_code::guessed;
use super::walker::Walker;
use super::wrappers::quoted;
use crate::has_name;
use crate::word::ShellWord;

/// Settings whose value is a command line, in lower case.
const SETTINGS: &str =
    "core.pager core.editor core.sshcommand core.fsmonitor core.askpass sequence.editor diff.external";
/// Variables whose value is a command line.
const VARIABLES: &str =
    "GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_SSH_COMMAND GIT_EXTERNAL_DIFF EDITOR VISUAL PAGER PROMPT_COMMAND";
/// Options whose value is a command line, by command.
const OPTIONS: [(&str, &str); 3] = [
    ("rebase", "-x --exec"),
    ("difftool", "-x --extcmd"),
    ("filter-branch", "--tree-filter --index-filter --env-filter --msg-filter --commit-filter --setup"),
];

/// Walks the command lines in the arguments of `git`; `global` are the options before the command.
pub(super) fn run(walker: &mut Walker<'_>, global: &Args, command: &str, rest: &[ShellWord], input: &ShellWord) {
    for set in global.values("-c").filter_map(ShellWord::text) {
        if let Some((name, value)) = set.split_once('=').filter(|(name, _)| !name.starts_with("alias.")) {
            setting(walker, name, value);
        }
    }
    if let Some((_, options)) = OPTIONS.iter().find(|(own, _)| *own == command) {
        let args = Args::new(rest, options);
        args.values(options).for_each(|line| guessed(walker, &line.filled("")));
    }
    match rest {
        [verb, words @ ..] if command == "bisect" && verb.is("run") => {
            walker.in_ignored_subshell(|walker| walker.run(words, input));
        }
        words if command == "submodule" => foreach(walker, words, input),
        words if command == "grep" => {
            // The value of `-O` is part of the same word.
            let valued: Vec<ShellWord> = words.iter().filter(|word| !word.is("-O")).cloned().collect();
            let args = Args::new(&valued, "-O -e -f -A -B -C -m");
            args.values("-O --open-files-in-pager").for_each(|line| guessed(walker, &line.filled("")));
        }
        words if command == "config" => {
            let operands = Args::new(words, "-f --file --blob --type --default --comment --value").operands;
            for pair in operands.windows(2) {
                if let [name, value] = pair {
                    setting(walker, &name.filled(""), &value.filled(""));
                }
            }
        }
        _ => {}
    }
}

/// `git submodule foreach 'line'`, in a folder below the root.
fn foreach(walker: &mut Walker<'_>, rest: &[ShellWord], input: &ShellWord) {
    let (_, rest) = Args::leading(rest, "");
    let Some((_, rest)) = rest.split_first().filter(|(verb, _)| verb.is("foreach")) else { return };
    let (_, words) = Args::leading(rest, "");
    walker.in_ignored_subshell(|walker| {
        let root = git::root(walker).or_else(|| walker.state.folder.clone());
        walker.state.set("toplevel", root.clone().map(|root| vec![ShellWord::new(root)]));
        walker.state.enter(root.map(|root| format!("{root}/submodule")));
        walker.state.other_folders.clear();
        match words {
            [line] => walker.code(line, input),
            words => walker.run(words, input),
        }
    });
}

/// Walks the value of an alias: a command line after `!`, or a command of git with its first arguments.
pub(super) fn alias(walker: &mut Walker<'_>, value: &ShellWord, rest: &[ShellWord], input: &ShellWord) -> ShellWord {
    let mut line = value.after("!").unwrap_or_else(|| {
        let mut line = ShellWord::new("git ");
        line.extend(value);
        line
    });
    for word in rest {
        line.push(" ");
        line.push(&quoted(word));
    }
    walker.code(&line, input)
}

fn setting(walker: &mut Walker<'_>, name: &str, value: &str) {
    let name = name.to_lowercase();
    match value.strip_prefix('!') {
        Some(line) if name.starts_with("alias.") => guessed(walker, line),
        None if name.starts_with("alias.") => guessed(walker, &format!("git {value}")),
        _ if has_name(SETTINGS, &name) => guessed(walker, value),
        _ => {}
    }
}

impl Walker<'_> {
    /// Walks the value of a variable that is a command, such as the name of an editor.
    pub fn command_assigned(&mut self, name: &str, value: &ShellWord) {
        if has_name(VARIABLES, name) {
            guessed(self, &value.filled(""));
        }
        // Bash reads this file before a script.
        if name == "BASH_ENV" {
            self.in_ignored_subshell(|walker| walker.sourced(value, &[], &ShellWord::unknown()));
        }
    }
}
