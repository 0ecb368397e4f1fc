//! The options of programs that run tests.

/// A program that runs tests.
pub(super) struct RunnerProgram {
    name: &'static str,
    /// The options with a value that may come before its first operand, if that decides what it does.
    pub(super) first_operand: Option<&'static str>,
    /// Words with which it runs no test, or hides that one failed.
    pub(super) idle: &'static str,
    /// Options that name a program to run the tests with.
    pub(super) starters: &'static str,
}

/// The row of a program, by its name.
pub(super) fn runner_program(name: &str) -> Option<&'static RunnerProgram> {
    PROGRAMS.iter().find(|program| program.name == name)
}

const fn program(name: &'static str, idle: &'static str) -> RunnerProgram {
    RunnerProgram { name, first_operand: None, idle, starters: "" }
}

const PROGRAMS: [RunnerProgram; 34] = [
    program("bats", "-v -c --count"),
    RunnerProgram { starters: "--run_under", ..program("bazel", "--nobuild") },
    RunnerProgram { first_operand: Some("--cwd --filter -F --env-file --config -c"), ..program("bun", "") },
    RunnerProgram { first_operand: Some("-Z --config -C --color"), ..program("cargo", "-V") },
    program("ctest", "-N --show-only --print-labels"),
    program("dotnet", "-t"),
    RunnerProgram { first_operand: Some("-C"), starters: "-exec --exec -toolexec", ..program("go", "-c -list -n") },
    program("gradle", "-m -v"),
    program("jest", "-v --init"),
    program("just", "-n -l -s --evaluate --summary"),
    program("lerna", "--no-bail"),
    program("make", "--touch --ignore-errors --question --eval"),
    program("mise", "-n"),
    program("mocha", "-V"),
    program(
        "mvn",
        "-DskipTests -Dmaven.test.skip -Dmaven.test.failure.ignore -DtestFailureIgnore -fn \
         --fail-never -v",
    ),
    RunnerProgram {
        first_operand: Some(
            "-r --require --import --loader --experimental-loader --env-file -C --conditions \
             --test-reporter --test-reporter-destination --test-name-pattern --test-concurrency \
             --test-timeout",
        ),
        ..program("node", "-v -c --check")
    },
    program("nox", "-l --install-only"),
    RunnerProgram {
        first_operand: Some("--prefix -w --workspace -C --loglevel --userconfig --registry --cache --script-shell"),
        ..program("npm", "")
    },
    program("nx", "--graph"),
    program(
        "phpunit",
        "--list-suites --list-groups --list-test-files --check-version --atleast-version \
         --generate-configuration",
    ),
    RunnerProgram {
        first_operand: Some("--filter -F --filter-prod -C --dir --loglevel --reporter --workspace-concurrency"),
        ..program("pnpm", "")
    },
    RunnerProgram { starters: "-e --exec", ..program("prove", "-V -D --dry") },
    program("py.test", "-V"),
    program("pytest", "-V"),
    RunnerProgram { first_operand: Some("-W -X"), ..program("python", "-V") },
    program("rake", "-n -T -P --tasks"),
    program("rspec", "-v --init"),
    program("swift", "list"),
    program("task", "-n -l --dry --summary"),
    program("tox", "-l -n --showconfig list config"),
    program("turbo", "--dry --graph"),
    program("vitest", "list -v"),
    program("xcodebuild", "-dry-run -n -enumerate-tests -showdestinations"),
    RunnerProgram { first_operand: Some("--cwd"), ..program("yarn", "") },
];
