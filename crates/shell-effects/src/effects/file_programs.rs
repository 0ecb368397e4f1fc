//! Programs that change the files in their arguments.

use super::Effect::{self, Mode, Write};
use super::args::Args;
use super::code_calls::{strings_in_calls, suspect};
use super::inline_code::guessed;
use super::shell_state::user_name;
use super::target_path::TargetPath;
use super::walker::Walker;
use crate::programs::{EDITS, has_trait};
use crate::sed_script;
use crate::word::ShellWord;
pub(super) fn run(walker: &mut Walker<'_>, name: &str, rest: &[ShellWord], input: &ShellWord) {
    match name {
        "chmod" | "gchmod" | "chattr" | "chflags" => changed(walker, Mode, rest),
        "chown" | "chgrp" | "gchown" => changed(walker, Effect::Own, rest),
        "sed" | "gsed" => sed(walker, rest),
        _ if has_trait(name, EDITS) => {
            editor(walker, rest, input);
        }
        _ if walker.context.protected.is_program(name) => {
            let options = walker.context.protected.report_options;
            walker.change_all(Write, Args::new(rest, options).values(options), false);
        }
        _ => {}
    }
}

/// Records a change of an unknown path below a folder.
pub(super) fn below(walker: &mut Walker<'_>, effect: Effect, folder: &ShellWord) {
    let target = walker.target(&folder.child(&ShellWord::unknown()));
    walker.note(effect, target, true);
}

/// `chmod 600 x`, `chown me x`: the first operand is the mode or owner.
fn changed(walker: &mut Walker<'_>, effect: Effect, rest: &[ShellWord]) {
    let is_mode = |word: &&ShellWord| {
        let text = word.prefix();
        effect == Effect::Mode
            && text.len() > 1
            && text.starts_with('-')
            && text.chars().skip(1).all(|c| "rwxXst".contains(c))
    };
    // `chmod -w x`: the mode looks like an option.
    let mode = rest.iter().find(is_mode).is_some_and(|word| !word.is("-R"));
    let args = Args::new(rest, "--from --reference");
    let named = mode || args.has("--reference");
    // `sudo chown -R $USER ~/.npm` repairs what a program left to root.
    let owner = args.operands.first().filter(|_| effect == Effect::Own && !named).and_then(ShellWord::text);
    let is_user = owner.is_some_and(|owner| owner.split([':', '.']).next() == Some(user_name(walker.context)));
    let home = format!("{}/", walker.context.home);
    for file in args.operands.iter().skip(usize::from(!named)) {
        let target = walker.target(file);
        let is_in_home = matches!(&target, TargetPath::Known { path, glob: false } if path.starts_with(&home));
        if !(is_user && is_in_home && walker.followed(&target).is_none()) {
            walker.change(effect, file, args.has("-R --recursive"));
        }
    }
}

/// `vim -c '!command'`, `vim '+!command'`, `ed x <<< '!command'`, `emacs --eval '(shell-command "…")'`.
fn editor(walker: &mut Walker<'_>, rest: &[ShellWord], input: &ShellWord) {
    const CODE: &str = "-c --cmd --eval -eval --execute";
    let args = Args::new(rest, "-c -S -u -p --cmd --eval -eval --execute");
    walker.change_all(Write, &args.operands, false);
    for script in args.values(CODE).map(|script| script.filled("")) {
        strings_in_calls(walker, "vim", &script);
        suspect(walker, "vim", &script);
    }
    let given = args.values(CODE).chain(&args.operands).map(|script| script.filled(""));
    for script in given.chain(input.text()) {
        let lines = script.lines().filter_map(|line| line.trim_start_matches(['+', ':']).strip_prefix('!'));
        lines.for_each(|line| guessed(walker, line));
    }
}

fn sed(walker: &mut Walker<'_>, rest: &[ShellWord]) {
    let args = Args::new(rest, "-e -f -l --expression --file --line-length");
    let scripted = args.has("-e -f --expression --file");
    let skip = usize::from(!scripted);
    let scripts = args.values("-e --expression").chain(args.operands.iter().take(skip));
    for script in scripts.map(|script| script.filled("")) {
        if let Some(line) = sed_script::started_line(&script) {
            guessed(walker, line);
        }
    }
    if args.has("-i --in-place -I") {
        walker.change_all(Write, args.operands.iter().skip(skip), false);
    }
}
