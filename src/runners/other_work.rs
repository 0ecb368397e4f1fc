//! Options with which a test command runs no test, or hides that one failed.

/// Options of any program.
const FLAGS: &str = "--no-run --help -h --list --listTests --list-tests --listenvs --version --collect-only --co \
    --dry-run --just-print --setup-plan --setup-only --markers --fixtures --show";

/// Options that mean something else for other programs.
const OWN_FLAGS: [(&str, &str); 13] = [
    ("make", "--touch --ignore-errors --question"),
    ("just", "-n -l -s"),
    ("task", "-n -l --dry"),
    ("mise", "-n"),
    ("go", "-c -list"),
    ("ctest", "-N --show-only"),
    ("gradle", "-m"),
    ("gradlew", "-m"),
    ("mvn", "-DskipTests -Dmaven.test.skip=true -Dmaven.test.failure.ignore=true -fn"),
    ("dotnet", "-t"),
    ("tox", "-l -n"),
    ("nox", "-l"),
    ("vitest", "list"),
];

/// Whether words make a command do something other than its work.
pub fn does_other_work(words: &[String]) -> bool {
    let program = words.first().and_then(|word| word.rsplit('/').next()).unwrap_or_default();
    let words = words.get(1..).unwrap_or_default();
    let has = |flags: &str| flags.split_whitespace().any(|flag| words.iter().any(|word| word == flag));
    let own = OWN_FLAGS.iter().any(|(own, flags)| *own == program && has(flags));
    let skips = ["gradle", "gradlew"].contains(&program) && words.windows(2).any(|pair| pair == ["-x", "test"]);
    let make = ["make", "gmake"].contains(&program) && words.iter().any(|word| makes_nothing(word));
    own || skips || make || has(FLAGS)
}

/// Whether a word of `make` prints or touches instead of running, ignores errors, or replaces a program.
fn makes_nothing(word: &str) -> bool {
    if let Some((name, value)) = word.split_once('=') {
        let program = value.split_whitespace().next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
        return !name.starts_with('-') && (name == "SHELL" || ["true", ":", "echo", "exit"].contains(&program));
    }
    let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
    letters.chars().take_while(|c| !"CfIjloW".contains(*c)).any(|c| "nitq".contains(c))
}
