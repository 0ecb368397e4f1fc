//! Command lines that `git` runs: `rebase --exec`, `bisect run`, editors, pagers, aliases.

use super::args::Args;
use super::inline_code::guessed;
use super::walker::Walker;
use crate::shell::has_name;
use crate::shell::word::ShellWord;

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
            walker.unowned_aside(|walker| walker.run(words, input));
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

fn setting(walker: &mut Walker<'_>, name: &str, value: &str) {
    let name = name.to_lowercase();
    match value.strip_prefix('!') {
        Some(line) if name.starts_with("alias.") => guessed(walker, line),
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
    }
}
