//! Options with which a test command runs no test, or hides that one failed.

/// Options of any program.
const FLAGS: &str = "--no-run --help -h --list --listTests --list-tests --listenvs --version --collect-only --collectonly \
    --co --dry-run --just-print --setup-plan --setup-only --markers --fixtures --fixtures-per-test \
    --cache-show --show --showConfig --clearCache --notest --no-run-tests --script-shell";

/// Options that mean something else for other programs.
const OWN_FLAGS: [(&str, &str); 27] = [
    ("make", "--touch --ignore-errors --question --eval"),
    ("just", "-n -l -s --evaluate"),
    ("task", "-n -l --dry --summary"),
    ("mise", "-n"),
    ("go", "-c -list -n"),
    ("ctest", "-N --show-only --print-labels"),
    ("gradle", "-m"),
    ("mvn", "-DskipTests -Dmaven.test.skip -Dmaven.test.failure.ignore -DtestFailureIgnore -fn --fail-never"),
    ("dotnet", "-t"),
    ("tox", "-l -n"),
    ("nox", "-l --install-only"),
    ("vitest", "list -v"),
    ("pytest", "-V"),
    ("py.test", "-V"),
    ("jest", "-v --init"),
    ("mocha", "-V"),
    ("cargo", "-V"),
    ("rspec", "-v --init"),
    ("phpunit", "--list-suites"),
    ("prove", "-V -D --dry"),
    ("bats", "-v -c --count"),
    ("rake", "-n -T -P"),
    ("turbo", "--dry --graph"),
    ("nx", "--graph"),
    ("lerna", "--no-bail"),
    ("bazel", "--nobuild"),
    ("swift", "list"),
];

/// Whether words make a command do something other than its work.
pub fn does_other_work(words: &[String]) -> bool {
    let program = words.first().and_then(|word| word.rsplit('/').next()).unwrap_or_default();
    // `gradlew` and `mvnw` are the project's own `gradle` and `mvn`.
    let program = if ["gradlew", "mvnw"].contains(&program) { program.trim_end_matches('w') } else { program };
    let words = words.get(1..).unwrap_or_default();
    let is_flag = |word: &String, flag: &str| {
        word.strip_prefix(flag).is_some_and(|rest| rest.is_empty() || rest.starts_with('=') && rest != "=false")
    };
    let has = |flags: &str| flags.split_whitespace().any(|flag| words.iter().any(|word| is_flag(word, flag)));
    let own = OWN_FLAGS.iter().any(|(own, flags)| *own == program && has(flags));
    let excludes = |pair: &[String]| {
        matches!(pair, [option, task] if ["-x", "--exclude-task"].contains(&option.as_str())
            && task.rsplit(':').next() == Some("test"))
    };
    let skips = program == "gradle" && words.windows(2).any(excludes);
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
