//! Other commands on the line of a test run.

use super::programs::PROGRAMS;
use super::summary::SummaryReader;
use shell_effects::{CallOutput, ProgramCall, ShellWord};

/// Words that begin commands which print no text that could be taken for a test summary.
const QUIET: &str = ". : [ biome black cd chmod cp declare eslint exit export flake8 gofmt golangci-lint isort kill ln local \
    mkdir mv mypy popd prettier pushd pyright rm ruff rustfmt set shopt sleep source test touch true tsc ulimit umask unset wait";

/// The first other command that may print something that looks like a result.
pub(super) fn speaker<'a>(calls: &'a [ProgramCall], runs: &[usize]) -> Option<&'a ProgramCall> {
    // A wrapper prints what the last program of its command prints.
    let is_last = |at: usize, call: &ProgramCall| !calls.iter().skip(at + 1).any(|other| other.command == call.command);
    let mut others = calls.iter().enumerate().filter(|(_, call)| !runs.contains(&call.command));
    others.find(|(at, call)| is_last(*at, call) && !is_quiet(call)).map(|(_, call)| call)
}

fn is_quiet(call: &ProgramCall) -> bool {
    let name = call.words.first().map(|name| name.filled("…")).unwrap_or_default();
    match name.rsplit('/').next().unwrap_or_default() {
        // Its output becomes a word of another command, which is checked itself.
        _ if call.output == CallOutput::Captured => true,
        "echo" | "printf" => call.words.iter().all(|word| word.text().is_some()) && is_harmless(&call.words),
        // What it runs is walked on its own.
        "bash" | "sh" | "zsh" => call.words.iter().any(is_script_option),
        "git" if call.matches("git status") || call.matches("git log") || call.matches("git diff") => {
            is_brief(&call.words)
        }
        _ if super::is_filter(&call.words) => call.piped,
        _ if QUIET.split(' ').any(|word| call.matches(word)) => true,
        _ => PROGRAMS.iter().any(|program| {
            let mut commands = program.quiet.split(", ").filter(|command| !command.is_empty());
            commands.any(|command| call.matches(&format!("{} {command}", program.name)))
        }),
    }
}

/// Whether every line has a prefix of git's: a state, a hash or a file.
fn is_brief(words: &[ShellWord]) -> bool {
    let has =
        |options: &[&str]| words.iter().any(|word| options.iter().any(|option| word.prefix().starts_with(option)));
    has(&["-s", "--short", "--porcelain", "--oneline", "--stat"]) && !has(&["--format", "--pretty"])
}

fn is_script_option(word: &ShellWord) -> bool {
    let text = word.prefix();
    text.starts_with('-') && !text.starts_with("--") && text.ends_with('c')
}

/// Whether no line of the text is a sign of any runner.
fn is_harmless(words: &[ShellWord]) -> bool {
    let text = words.iter().skip(1).map(|word| word.filled("")).collect::<Vec<_>>().join(" ");
    let text = text.replace("\\n", "\n").replace("\\t", "\t").replace("%s", " ");
    !SummaryReader::for_any().has_result(&text) && !text.contains(['\\', '%'])
}
