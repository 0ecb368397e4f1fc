//! Options with which a test command runs no test, or hides that one failed.

use super::programs::test_program;
use shell_effects::has_name;

/// Options of any program.
const FLAGS: &str = "--no-run --help -h --list --listTests --list-tests --listenvs --version --collect-only --collectonly \
    --co --dry-run --just-print --setup-plan --setup-only --markers --fixtures --fixtures-per-test \
    --cache-show --show --showConfig --clearCache --notest --no-run-tests --script-shell";

/// Programs that run nothing.
const NOTHING: &str = "true false : echo exit printf cat test env";

/// Variables of makefiles that name a program; another one with `true` is a switch.
const PROGRAM_VARIABLES: &str = "python python3 pytest node npm npx yarn jest vitest go cargo sh bash runner cmd";

/// Whether words make a command do something other than its work.
pub fn does_other_work(words: &[String]) -> bool {
    let program = words.first().and_then(|word| word.rsplit('/').next()).unwrap_or_default();
    // `python3.12`
    let program = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    // `gradlew` and `mvnw` are the project's own `gradle` and `mvn`.
    let program = if ["gradlew", "mvnw"].contains(&program) { program.trim_end_matches('w') } else { program };
    let words = words.get(1..).unwrap_or_default();
    let is_flag = |word: &String, flag: &str| {
        word.strip_prefix(flag).is_some_and(|rest| rest.is_empty() || rest.starts_with('=') && rest != "=false")
    };
    let has = |flags: &str| flags.split_whitespace().any(|flag| words.iter().any(|word| is_flag(word, flag)));
    let known = test_program(program);
    let own = known.is_some_and(|known| has(known.idle));
    let excludes = |pair: &[String]| {
        matches!(pair, [option, task] if ["-x", "--exclude-task"].contains(&option.as_str())
            && task.rsplit(':').next() == Some("test"))
    };
    let skips = program == "gradle" && words.windows(2).any(excludes);
    let make = ["make", "gmake"].contains(&program) && words.iter().any(|word| makes_nothing(word));
    let starts = known.is_some_and(|known| started_by(words, known.starters).any(runs_nothing));
    let runner = program == "cargo" && words.iter().any(|word| word.contains("target.") && word.contains("runner"));
    own || skips || make || starts || runner || has(FLAGS)
}

/// The values of these options.
fn started_by<'a>(words: &'a [String], options: &'a str) -> impl Iterator<Item = &'a str> {
    words.iter().zip(words.iter().skip(1).map(Some).chain([None])).filter_map(move |(word, next)| {
        let (option, value) = word.split_once('=').unzip();
        value.or(next.map(String::as_str)).filter(|_| has_name(options, option.unwrap_or(word)))
    })
}

/// Whether a command line does nothing, or runs a program of the project in place of one.
fn runs_nothing(line: &str) -> bool {
    let program = program_of(line);
    has_name(NOTHING, program.rsplit('/').next().unwrap_or_default()) || program.starts_with('.')
}

fn program_of(line: &str) -> &str {
    line.split_whitespace().next().unwrap_or_default()
}

/// Whether a word of `make` prints or touches instead of running, ignores errors, or replaces a program.
fn makes_nothing(word: &str) -> bool {
    if let Some((name, value)) = word.split_once('=') {
        let rules = ["SHELL", ".SHELLFLAGS", "MAKEFLAGS"].contains(&name);
        let program = program_of(value);
        let own = name.to_lowercase();
        let is_program = has_name(PROGRAM_VARIABLES, own.rsplit('_').next().unwrap_or_default());
        let replaced = [":", "echo", "exit"].contains(&program) || is_program && has_name(NOTHING, program);
        return !name.starts_with('-') && (rules || replaced || program.starts_with('/') && runs_nothing(value));
    }
    let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
    letters.chars().take_while(|c| !"CfIjloW".contains(*c)).any(|c| "nitqv".contains(c))
}
