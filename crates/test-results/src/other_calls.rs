//! Other commands on the line of a test run.

use shell_effects::{CallOutput, ProgramCall, ShellWord};

/// Commands that print no text that could be taken for a test summary: programs, and the words that follow them.
const QUIET: [(&str, &str); 14] = [
    ("", "cd pushd popd set export unset source . true : sleep mkdir rm touch cp mv ln chmod wait test [ kill"),
    ("", "ulimit umask shopt local declare exit"),
    ("", "rustfmt gofmt golangci-lint tsc eslint prettier biome ruff black isort mypy pyright flake8"),
    ("git", "add commit push stash checkout switch restore pull fetch"),
    ("cargo", "build check clippy fmt clean"),
    ("go", "build vet fmt mod generate"),
    ("npm", "install ci"),
    ("npm run", "build lint"),
    ("pnpm", "install"),
    ("yarn", "install"),
    ("bun", "install"),
    ("docker compose", "up"),
    ("pip", "install"),
    ("uv", "sync"),
];

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
        _ => {
            let is_quiet = |program: &str, word: &str| call.matches(format!("{program} {word}").trim_start());
            QUIET.iter().any(|(program, words)| words.split(' ').any(|word| is_quiet(program, word)))
        }
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
    !super::has_sign(&text) && !text.contains(['\\', '%'])
}
