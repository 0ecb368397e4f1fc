//! Options with which a test command runs no test, or hides that one failed.

/// Options of any program.
const FLAGS: [&str; 25] = [
    "--no-run",
    "--help",
    "-h",
    "--list",
    "--listTests",
    "--list-tests",
    "--listenvs",
    "--version",
    "--collect-only",
    "--collectonly",
    "--co",
    "--dry-run",
    "--just-print",
    "--setup-plan",
    "--setup-only",
    "--markers",
    "--fixtures",
    "--fixtures-per-test",
    "--cache-show",
    "--show",
    "--showConfig",
    "--clearCache",
    "--notest",
    "--no-run-tests",
    "--script-shell",
];

/// Options that mean something else for other programs.
const OWN_FLAGS: [(&str, &str); 59] = [
    ("make", "--touch"),
    ("make", "--ignore-errors"),
    ("make", "--question"),
    ("just", "-n"),
    ("just", "-l"),
    ("just", "-s"),
    ("task", "-n"),
    ("task", "-l"),
    ("task", "--dry"),
    ("mise", "-n"),
    ("go", "-c"),
    ("go", "-list"),
    ("ctest", "-N"),
    ("ctest", "--show-only"),
    ("gradle", "-m"),
    ("mvn", "-DskipTests"),
    ("mvn", "-Dmaven.test.skip=true"),
    ("mvn", "-Dmaven.test.failure.ignore=true"),
    ("mvn", "-fn"),
    ("dotnet", "-t"),
    ("tox", "-l"),
    ("tox", "-n"),
    ("nox", "-l"),
    ("vitest", "list"),
    ("pytest", "-V"),
    ("py.test", "-V"),
    ("jest", "-v"),
    ("jest", "--init"),
    ("vitest", "-v"),
    ("mocha", "-V"),
    ("cargo", "-V"),
    ("rspec", "-v"),
    ("rspec", "--init"),
    ("phpunit", "--list-suites"),
    ("prove", "-V"),
    ("prove", "-D"),
    ("prove", "--dry"),
    ("bats", "-v"),
    ("bats", "-c"),
    ("bats", "--count"),
    ("go", "-n"),
    ("rake", "-n"),
    ("rake", "-T"),
    ("rake", "-P"),
    ("just", "--evaluate"),
    ("task", "--summary"),
    ("turbo", "--dry"),
    ("turbo", "--graph"),
    ("nx", "--graph"),
    ("lerna", "--no-bail"),
    ("bazel", "--nobuild"),
    ("ctest", "--print-labels"),
    ("swift", "list"),
    ("nox", "--install-only"),
    ("make", "--eval"),
    ("mvn", "--fail-never"),
    ("mvn", "-DskipTests=true"),
    ("mvn", "-Dmaven.test.skip"),
    ("mvn", "-DtestFailureIgnore=true"),
];

/// Whether words make a command do something other than its work.
pub fn does_other_work(words: &[String]) -> bool {
    let program = words.first().and_then(|word| word.rsplit('/').next()).unwrap_or_default();
    // `gradlew` and `mvnw` are the project's own `gradle` and `mvn`.
    let program = if ["gradlew", "mvnw"].contains(&program) { program.trim_end_matches('w') } else { program };
    let words = words.get(1..).unwrap_or_default();
    let is_flag = |word: &String, flag: &str| word == flag || word.split('=').next() == Some(flag);
    let own = OWN_FLAGS.iter().any(|(own, flag)| *own == program && words.iter().any(|word| is_flag(word, flag)));
    let excludes = |pair: &[String]| {
        matches!(pair, [option, task] if ["-x", "--exclude-task"].contains(&option.as_str())
            && task.rsplit(':').next() == Some("test"))
    };
    let skips = program == "gradle" && words.windows(2).any(excludes);
    let make = ["make", "gmake"].contains(&program) && words.iter().any(|word| makes_nothing(word));
    own || skips || make || words.iter().any(|word| FLAGS.iter().any(|flag| is_flag(word, flag)))
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
