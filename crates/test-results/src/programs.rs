//! The programs that run tests: one row per program.
//!
//! In a pattern, `<n>` is a number and `<some>` a number above zero. Patterns are matched against single lines without
//! colors and without the space around them.

/// What a line of output shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineMeaning {
    /// A test failed, or the tests did not compile.
    Failed,
    /// The run failed, perhaps before the tests were started.
    Aborted,
    Passed,
    /// The rest of the run was fine too; without it, `Passed` is not enough.
    Whole,
    /// A part of the run had no tests.
    Part,
    Empty,
    /// Every test was skipped, if the first number of the line is the sum of the others.
    Skipped,
    /// A part of the run had no tests; the summary of the whole run does not show it.
    Idle,
    /// A part of the run had tests.
    Ran,
    /// The command was called in a way in which it runs no test.
    Misused,
    /// A program, a package, a network or a container is missing; this counts only if the command line failed.
    NotStarted,
}

/// Where a runner prints its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SummaryLayout {
    /// One summary at the end, which is about the whole run.
    Final,
    /// One summary per part; a failure is also shown at the end.
    Parts,
    /// One summary per part; nothing at the end is about the whole run.
    EachPart,
    /// One summary at the end, with failures listed before it.
    Listed,
}

/// The output of some commands.
pub(super) struct Summary {
    /// The commands that print it; other commands may print anything.
    pub commands: &'static [&'static str],
    pub layout: SummaryLayout,
    /// A line of every failing run that has no passing summary; a filter that drops it may hide a failure.
    pub failing: Option<&'static str>,
    pub signs: &'static [LineSign],
}

/// The meaning of the lines that match a pattern.
pub(super) type LineSign = (LineMeaning, &'static str);

/// A program that runs tests, or other programs that do.
pub(super) struct TestProgram {
    pub name: &'static str,
    /// The options with a value that may come before its first operand, if that decides what it does.
    pub first_operand: Option<&'static str>,
    /// Words with which it runs no test, or hides that one failed.
    pub idle: &'static str,
    /// Options that name a program to run the tests with.
    pub starters: &'static str,
    /// Sub-commands that print nothing that could be taken for a summary.
    pub quiet: &'static str,
    /// Lines that count for every command: the program may be started by another one.
    pub signs: &'static [LineSign],
    pub summaries: &'static [Summary],
}

const PROGRAM: TestProgram =
    TestProgram { name: "", first_operand: None, idle: "", starters: "", quiet: "", signs: &[], summaries: &[] };

pub(super) fn test_program(name: &str) -> Option<&'static TestProgram> {
    PROGRAMS.binary_search_by_key(&name, |program| program.name).ok().and_then(|at| PROGRAMS.get(at))
}

pub(super) fn summaries() -> impl Iterator<Item = &'static Summary> {
    PROGRAMS.iter().flat_map(|program| program.summaries)
}

/// One row per program: its options, lines that count for any command, and the summaries of its commands. A summary has its
/// commands, its layout, a line of a failing run, and the meanings of its lines.
macro_rules! programs {
    ($(
        $name:literal { $($field:ident: $value:expr),* $(,)? }
        $(any { $($any:ident $any_sign:literal)+ })?
        $([$($command:literal),+] $layout:ident $(failing $failing:literal)? { $($meaning:ident $sign:literal)+ })*
    )+) => {
        #[expect(clippy::needless_update, reason = "a row may give every field")]
        pub(super) static PROGRAMS: &[TestProgram] = &[$(TestProgram {
            name: $name,
            $($field: $value,)*
            signs: &[$($((LineMeaning::$any, $any_sign)),+)?],
            summaries: &[$(Summary {
                commands: &[$($command),+],
                layout: SummaryLayout::$layout,
                failing: [$(Some($failing),)? None][0],
                signs: &[$((LineMeaning::$meaning, $sign)),+],
            }),*],
            ..PROGRAM
        }),+];
    };
}

programs! {
    "" {}
    any {
        Misused r"(?i-u)no test specified|no such option|unrecogni[sz]ed arguments"
        Misused r"(?i-u)^(error:? )?(unknown|unrecogni[sz]ed|invalid|unexpected) (option|argument|flag|subcommand|command)"
        Misused r"(?i-u)no such service"
        NotStarted r"^([^ \t]*/)?(ba|da|z)?sh: .*(not found|No such file or directory|Permission denied)$"
        NotStarted r"^([^ \t]*/)?(ba|da|z)?sh: .*(Is a directory|ambiguous redirect|Directory nonexistent)$"
        NotStarted r"sudo: a (password|terminal) is required|is not in the sudoers file"
        NotStarted r"Failed to change working directory to|only supported from within a workspace"
        NotStarted r"No test configuration file found|No pubspec\.yaml file found|Could not find Package\.swift"
    }
    "ava" {}
    ["ava"] Final {
        Failed r"^<some> (tests? failed|uncaught exceptions?|unhandled rejections?)"
        Passed r"^<some> tests? passed$"
    }
    "bats" { idle: "-v -c --count" }
    "bazel" { idle: "--nobuild", starters: "--run_under" }
    any { NotStarted r"No test targets were found, yet testing was requested" }
    ["bazel test"] Final {
        Failed r"^Executed <n> out of <n> tests?: .*fails?"
        Misused r"^ERROR: .*no such (package|target)"
        Passed r"^Executed <n> out of <n> tests?: <some> tests? pass(es)?\.?$"
    }
    "bun" { first_operand: Some("--cwd --filter -F --env-file --config -c"), quiet: "install" }
    any {
        Failed r#"^error: script "[^"]*" (exited with|was terminated)"#
        Misused r"(?i-u)script not found"
    }
    ["bun test"] Final {
        Failed r"^<some> (fail|errors?)$"
        Passed r"^<some> pass$"
        Whole r"^0 fail$"
        Empty r"^(Ran 0 tests|0 pass$|No tests found)"
        Empty r"regex .* matched 0 tests|^The following filters did not match"
    }
    "cargo" { first_operand: Some("-Z --config -C --color"), idle: "-V", quiet: "build, check, clippy, fmt, clean" }
    any {
        NotStarted r"error: failed to (get `|download|load manifest|select a version)|error: no matching package"
        NotStarted r"cannot be built because it requires rustc|error: toolchain '|error: rustup could not choose"
    }
    ["cargo test", "cargo t"] Parts failing "test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out" {
        Failed r"^test result: FAILED\."
        Failed r"^error: (test failed|doctest failed|<n> targets? failed|could not compile|could not document)"
        Passed r"^test result: ok\. <some> passed; 0 failed;"
        Part r"^test result: ok\. 0 passed; 0 failed;.* 0 filtered out"
        Empty r"^test result: ok\. 0 passed; 0 failed;.* <some> filtered out"
        Misused r"^error: "
    }
    ["cargo nextest"] Final {
        Failed r"^Summary \[.*\] .*tests? run:.*\b<some> (failed|timed out|exec failed|errored)"
        Failed r"^error: (test run failed|could not compile)"
        Passed r"^Summary \[.*\] +<some>(/<n>)? tests? run: <some> passed"
        Empty r"^Summary \[.*\] +0 tests? run"
        Empty r"^error: no tests to run"
        Misused r"^error: "
    }
    "ctest" { idle: "-N --show-only --print-labels" }
    ["ctest"] Final {
        Failed r"^<n>% tests passed, <some> tests failed out of <n>"
        Passed r"^100% tests passed, 0 tests failed out of <some>"
        Empty r"^(No tests were found|100% tests passed, 0 tests failed out of 0)"
    }
    "cypress" {}
    any { NotStarted r"Cypress binary is missing" }
    "deno" {}
    ["deno test"] Final {
        Failed r"^FAILED \| <n> passed"
        Failed r"^error: Test failed"
        Passed r"^ok \| <some> passed"
        Empty r"^ok \| 0 passed"
        Empty r"^error: No test modules found"
    }
    "docker" { quiet: "compose up" }
    any {
        Misused r"(?i-u)cannot connect to the docker daemon|no such container|is not running$"
        NotStarted r"permission denied while trying to connect to the Docker|no configuration file provided"
        NotStarted r"pull access denied|docker: Error response from daemon"
    }
    "dotnet" { idle: "-t" }
    any { NotStarted r"You must install or update \.NET" }
    ["dotnet test"] EachPart failing "Failed!  - Failed:     1, Passed:     4, Skipped:     0, Total:     5" {
        Failed r"^Failed! +- Failed: +<n>"
        Failed r"^(Test Run Failed\.|Build FAILED)"
        Failed r"^Test summary: total: <n>, failed: <some>"
        Passed r"^Passed! +- Failed: +0, Passed: +<some>"
        Passed r"^Test summary: total: <n>, failed: 0, succeeded: <some>"
        Empty r"^(No test is available|No test matches)"
        Empty r"^(Passed|Skipped)! +- Failed: +0, Passed: +0,"
        Empty r"^Test summary: total: <n>, failed: 0, succeeded: 0"
        Misused r"^MSBUILD : error"
    }
    "flutter" {}
    ["flutter test", "dart test"] Final {
        Failed r"^[0-9:]+ \+<n>( ~<n>)?( -<n>)?: Some tests failed\."
        Passed r"^[0-9:]+ \+<some>( ~<n>)?: All tests passed!"
        Empty r"^[0-9:]+ \+0( ~<n>)?: All tests (skipped|passed)|^No tests (ran|match|found)"
    }
    "ginkgo" {}
    ["ginkgo"] Parts failing "FAIL! -- 4 Passed | 1 Failed | 0 Pending | 0 Skipped" {
        Failed r"^FAIL! -- "
        Passed r"^SUCCESS! -- <some> Passed \| 0 Failed"
        Empty r"^SUCCESS! -- 0 Passed \| 0 Failed"
    }
    "git" { quiet: "add, commit, push, stash, checkout, switch, restore, pull, fetch" }
    "go" { first_operand: Some("-C"), idle: "-c -list -n", starters: "-exec --exec -toolexec", quiet: "build, vet, fmt, mod, generate" }
    any {
        NotStarted r"go: cannot find main module|does not contain main module|dial tcp: lookup|: directory not found"
    }
    ["go test"] Parts failing "FAIL\texample.com/a/b\t0.012s" {
        Failed r"^FAIL([ \t]+[^0-9 \t]|$)"
        Failed r"^--- FAIL:"
        Passed r"^ok\s+\S+\s+(\(cached\)|[0-9.]+s)(\s+coverage:.*)?$"
        Part r"^\?\s+\S+\s+\[no test files\]$"
        Empty r"^ok\s+\S+\s+(\(cached\)|[0-9.]+s).*\[no tests to run\]"
        Misused r"^(flag provided but not defined:|go: go\.mod file not found|no Go files in)"
        Misused r"matched no packages|^go: (warning: )?.*no packages to test"
    }
    "gotestsum" {}
    ["gotestsum"] Final {
        Failed r"^DONE .*<some> (failures?|errors?)"
        Passed r"^DONE <some> tests?(, <n> skipped)? in "
        Skipped r"^DONE <some> tests?, <some> skipped in "
        Empty r"^DONE 0 tests?"
    }
    "gradle" { idle: "-m -v" }
    any { NotStarted r"does not contain a Gradle build" }
    ["gradle", "gradlew"] Final {
        Aborted r"^BUILD FAILED"
        Failed r"^<n> tests? completed, <some> failed"
        Passed r"^BUILD SUCCESSFUL in "
        Idle r"^> Task :\S*[tT]ests? (NO-SOURCE|SKIPPED)$"
        Ran r"^> Task :(\S+:)?(t|\S+T)ests?( UP-TO-DATE| FROM-CACHE)?$"
        Misused r"^Task '.*' not found|^> (Unknown command-line option|No tests found for given includes)"
    }
    "jest" { idle: "-v --init" }
    any { NotStarted r"node_modules/jest/bin/jest\.js'" }
    ["jest", "react-scripts test", "craco test"] Final {
        Failed r"^(Test Suites|Tests): .*<some> failed,.* total"
        Failed r"^Jest: .*threshold"
        Passed r"^Tests: +(.*, )?<some> passed, <n> total$"
        Whole r"^Test Suites: +(<n> (skipped|todo), )*<some> passed, "
        Empty r"^Tests: +(<n> (skipped|todo), )*(0|<n>) total$"
        Empty r"^No tests found"
        Misused r"^(● Validation Error|● Unrecognized CLI Parameter|Unrecognized CLI Parameter)"
    }
    "just" { idle: "-n -l -s --evaluate --summary" }
    any {
        Failed r"^error: Recipe .* failed"
        Misused r"(?i-u)does not contain recipe|justfile does not contain"
        NotStarted r"No justfile found"
    }
    "lerna" { idle: "--no-bail" }
    "make" { idle: "--touch --ignore-errors --question --eval" }
    any {
        Failed r"^g?make(\[<n>\])?: \*\*\* \[.*\] (Error <n>|Fehler <n>)"
        // A file or folder has the name of the target.
        Empty r"^g?make(\[<n>\])?: ('(tests?|check)(-\S+)?' is up to date|Nothing to be done for '(tests?|check)(-\S+)?')"
        Misused r"^g?make(\[<n>\])?: \*\*\* (No (rule to make target|targets)|\S+: No such file or directory)"
        NotStarted r"\] Error 127|\*\*\* missing separator"
    }
    "mise" { idle: "-n" }
    any { Failed r"^(\[\S+\] )?(mise )?ERROR task failed" }
    "mix" {}
    any { NotStarted r"\(Mix\) Could not find a Mix\.Project|Can't continue due to errors on dependencies" }
    ["mix test"] Final {
        Failed r"^(<n> (doctests?|propert(y|ies)), )*<n> tests?, <some> failures?"
        Failed r"^\*\* \((CompileError|SyntaxError|TokenMissingError)"
        Aborted r"^\*\* \(Mix\)"
        Misused r"did not match any directory/file"
        Passed r"^(<n> (doctests?|propert(y|ies)), )*<some> tests?, 0 failures"
        Skipped r"^<some> tests?, 0 failures(, <some> (excluded|skipped|invalid))+( \(.*\))?$"
        Empty r"^(0 tests?, 0 failures|There are no tests to run)"
    }
    "mocha" { idle: "-V" }
    ["mocha"] Parts failing "  1 failing" {
        Failed r"^<some> failing$"
        Empty r"^Error: No test files found"
        Passed r"^<some> passing( \([0-9.]+(ms|s|m|h)\))?$"
        Empty r"^0 passing( \([0-9.]+(ms|s|m|h)\))?$"
    }
    "mvn" { idle: "-DskipTests -Dmaven.test.skip -Dmaven.test.failure.ignore -DtestFailureIgnore -fn --fail-never -v" }
    any {
        NotStarted r"JAVA_HOME (environment variable )?is not (set|defined)|there is no POM in this directory"
        NotStarted r"Could not resolve (dependencies|all)|could not be resolved|java\.net\.UnknownHostException"
    }
    ["mvn", "mvnw"] Final {
        Aborted r"^(\[[A-Z]+\] )?BUILD FAILURE"
        Failed r"^(\[[A-Z]+\] )?Tests run: <n>, (Failures: <some>|Failures: <n>, Errors: <some>)"
        Passed r"^(\[[A-Z]+\] )?Tests run: <some>, Failures: 0, Errors: 0"
        Skipped r"^(\[[A-Z]+\] )?Tests run: <some>, Failures: 0, Errors: 0, Skipped: <some>(,|$)"
        Whole r"^(\[[A-Z]+\] )?BUILD SUCCESS"
        Empty r"^(\[[A-Z]+\] )?(No tests to run|Tests are skipped)"
        Misused r"Unknown lifecycle phase|^Unrecognized option|Could not find goal"
        Misused r"No tests (matching pattern .* )?were executed|Could not find the selected project"
    }
    "node" {
        first_operand: Some(
            "-r --require --import --loader --experimental-loader --env-file -C --conditions --test-reporter \
             --test-reporter-destination --test-name-pattern --test-concurrency --test-timeout",
        ),
        idle: "-v -c --check",
    }
    ["node --test"] Final {
        Failed r"^[#ℹ] (fail|cancelled) <some>$"
        Passed r"^[#ℹ] pass <some>$"
        Whole r"^[#ℹ] fail 0$"
        Empty r"^[#ℹ] (tests|pass) 0$"
    }
    "nox" { idle: "-l --install-only" }
    any { NotStarted r"Failed to load Noxfile" }
    ["nox"] Parts failing "nox > Session tests failed." {
        Failed r"^nox > Session \S+ failed"
        Misused r"^nox > Error while collecting sessions"
        Passed r"^nox > Session \S+ was successful"
    }
    "npm" {
        first_operand: Some("--prefix -w --workspace -C --loglevel --userconfig --registry --cache --script-shell"),
        quiet: "install, ci, run build, run lint",
    }
    any {
        Failed r"^(npm (ERR!|error) (Test failed|Lifecycle script .* failed|code ELIFECYCLE|command failed)|ELIFECYCLE\b)"
        Misused r"^npm error No workspaces found|could not determine executable to run"
        Misused r"(?i-u)missing script"
        NotStarted r"(error|ERR!) code (E404|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENOENT|EJSONPARSE|ERESOLVE)"
    }
    "nx" { idle: "--graph" }
    any {
        Failed r"^(NX +)?Ran targets? .* (with errors|but failed)|^NX +Running target .* failed"
        Empty r"^(NX +)?No tasks were run"
    }
    "pest" {}
    ["pest", "php artisan test"] Final {
        Failed r"^Tests: +(.*, )?<some> failed\b.*\(<n> assertions?\)"
        Passed r"^Tests: +(<n> [a-z]+, )*<some> passed \(<n> assertions?\)"
        Empty r"^Tests: +(<n> (skipped|todos?|incomplete),? )+\(0 assertions\)"
        Empty r"^No tests found"
    }
    "phpunit" {
        idle: "--list-suites --list-groups --list-test-files --check-version --atleast-version --generate-configuration",
    }
    any { NotStarted r"Could not open input file" }
    ["phpunit"] Final {
        Failed r"^(FAILURES|ERRORS)!$"
        Failed r"^Tests: <n>, Assertions: <n>, .*(Errors|Failures): <some>"
        Passed r"^OK \(<some> tests?, <n> assertions?\)$"
        Passed r"^OK, but "
        Skipped r"^Tests: <some>, Assertions: 0, (Incomplete: <n>, )?Skipped: <some>\.$"
        Empty r"^No tests (executed|found)"
        Misused r#"^(Test file "|Cannot open file)"#
    }
    "pip" { quiet: "install" }
    "playwright" {}
    any { NotStarted r"Cannot find module '@playwright/test'" }
    ["playwright test"] Listed failing "  1 failed" {
        Failed r"^<some> (failed|interrupted|did not run|flaky.*failed)$"
        Failed r"^<some> errors? (was|were) not a part of any test"
        Passed r"^<some> passed( \([0-9.]+(ms|s|m|h)\))?$"
        Empty r"^(Error: No tests found|<some> skipped$)"
    }
    "pnpm" {
        first_operand: Some("--filter -F --filter-prod -C --dir --loglevel --reporter --workspace-concurrency"),
        quiet: "install",
    }
    any {
        Empty r"^No projects matched the filters"
        Misused r"No package found with name|EFILTER No packages remain"
        Misused r"(?i-u)ERR_PNPM_NO_SCRIPT"
        NotStarted r"ERR_PNPM_NO_IMPORTER_MANIFEST_FOUND|package\.json exists, but node_modules missing"
    }
    "prove" { idle: "-V -D --dry", starters: "-e --exec" }
    ["prove", "bats"] Final {
        Failed r"^Result: FAIL|^not ok <n>"
        Passed r"^Result: PASS$"
        Empty r"^(Result: NOTESTS|1\.\.0)\b"
        Skipped r"^<some> tests?, 0 failures, <some> skipped"
    }
    "py.test" { idle: "-V" }
    "pytest" { idle: "-V" }
    any { NotStarted r"INTERNALERROR>" }
    ["pytest", "py.test", "python -m pytest"] Final {
        Failed r"^(=+ )?(.*, )?<some> (failed|errors?)\b.* in [0-9.]+s( \([0-9:]+\))?( =+)?$"
        Failed r"^(FAILED|ERROR) \S+\.py(::| - |$)"
        Failed r"^!+ (Interrupted: <n> errors? during collection|stopping after <n> failures?) !+$"
        Passed r"^(=+ )?(.*, )?<some> (passed|xfailed|xpassed)\b.* in [0-9.]+s( \([0-9:]+\))?( =+)?$"
        Empty r"^(=+ )?(no tests ran|<n> (skipped|deselected|warnings?)).* in [0-9.]+s( \([0-9:]+\))?( =+)?$"
        Empty r"^(=+ )?no tests collected"
        Misused r"^ERROR: |^ImportError: Error importing plugin"
        Misused r"^(\S*pytest(\.py)?|__main__\.py): error:"
        Misused r"No module named '?pytest('?$|\.__main__)"
    }
    "python" { first_operand: Some("-W -X"), idle: "-V" }
    any {
        NotStarted r"Command not found: pytest|Poetry could not find a pyproject\.toml|could not be found within PATH"
        NotStarted r"ImportError: Start directory is not importable"
    }
    ["python -m unittest", "python manage.py test", "manage.py test"] Final {
        Failed r"^FAILED \((failures|errors|unexpected successes|skipped|expected failures)="
        Passed r"^Ran <some> tests? in [0-9.]+s$"
        Whole r"^OK( \(.*\))?$"
        Skipped r"^OK \(skipped=<some>\)$"
        Empty r"^(Ran 0 tests? in|NO TESTS RAN)"
    }
    "rails" {}
    ["rails test", "rake test"] Final {
        Failed r"^<n> (runs|tests), <n> assertions, (<some> failures|<n> failures, <some> errors)"
        Passed r"^<some> (runs|tests), <n> assertions, 0 failures, 0 errors"
        Skipped r"^<some> (runs|tests), 0 assertions, 0 failures, 0 errors, <some> skips"
        Empty r"^0 (runs|tests), 0 assertions"
    }
    "rake" { idle: "-n -T -P --tasks" }
    "rspec" { idle: "-v --init" }
    any { NotStarted r"Could not locate Gemfile|in locally installed gems|bundler: command not found" }
    ["rspec", "cabal test", "stack test", "jasmine"] Final {
        Failed r"^<n> (examples?|specs?), <some> failures?"
        Failed r"^<n> examples?, .*<some> errors? occurred outside"
        Passed r"^<some> (examples?|specs?), 0 failures?(, <n> pending( specs?)?)?$"
        Skipped r"^<some> (examples?|specs?), 0 failures?, <some> pending( specs?)?$"
        Empty r"^(0 (examples?|specs?), 0 failures?|No specs found)"
    }
    "sbt" {}
    ["sbt test"] Parts failing "[error] Failed: Total 5, Failed 1, Errors 0, Passed 4" {
        Failed r"^\[error\] (Failed: Total|\(.*\) sbt\.TestsFailedException)"
        Passed r"^\[info\] Passed: Total <some>"
        Empty r"^\[info\] (Passed: Total 0|No tests (were executed|to run))"
    }
    "swift" { idle: "list" }
    ["swift test", "xcodebuild"] Parts failing "Executed 5 tests, with 1 failure (0 unexpected) in 0.1 (0.1) seconds" {
        Failed r"^Executed <n> tests?, with (<n> tests? skipped and )?<some> failures?"
        Failed r"^\S? ?Test run with <n> tests? .*failed after"
        Failed r"^(error: (fatalError|Exited with)|\*\* TEST FAILED \*\*)"
        Passed r"^Executed <some> tests?, with (<n> tests? skipped and )?0 failures"
        Skipped r"^Executed <some> tests?, with <some> tests? skipped and 0 failures"
        Passed r"^\S? ?Test run with <some> tests? .*passed after"
        Passed r"^\*\* TEST SUCCEEDED \*\*"
        Part r"^Executed 0 tests?, with 0 failures"
        Empty r"No matching test cases were run"
        Misused r"^xcodebuild: error:"
        Part r"^\S? ?Test run with 0 tests? .*passed after"
    }
    "task" { idle: "-n -l --dry --summary" }
    any {
        Failed r"^task: Failed to run task"
        Misused r#"(?i-u)no tasks? (named|matching)? ?[ -~]*found|task "?[!-~]+"? (does not exist|not found)"#
    }
    "tox" { idle: "-l -n --showconfig list config" }
    any { NotStarted r"No tox\.ini or setup\.cfg|ERROR: unknown environment" }
    ["tox"] Final {
        Failed r"^evaluation failed :\("
        Misused r"HandledError\|"
        Passed r"^congratulations :\)"
        Idle r"^\S+: SKIP\b"
        Ran r"^\S+: OK\b"
    }
    "turbo" { idle: "--dry --graph" }
    any {
        Failed r"^(ERROR +run failed|Failed: +\S+#\S+)"
        Empty r"^(Tasks: +0 successful, 0 total|No tasks were (executed|run))"
    }
    "uv" { quiet: "sync" }
    any { NotStarted r"error: Failed to (spawn|fetch)|No solution found when resolving dependencies" }
    "vitest" { idle: "list -v" }
    ["vitest"] Final {
        Failed r"^(Test Files|Tests) +.*<some> failed"
        Failed r"^(Type )?Errors +<some> errors?"
        Passed r"^Tests +(.* )?<some> passed.*\(<n>\)$"
        Whole r"^Test Files +(.* )?<some> passed.*\(<n>\)$"
        Empty r"^(Test Files|Tests) +(no tests|<n> (skipped|todo))"
        Empty r"^No test (files|suite) found"
        Misused r"^CACError:"
    }
    "xcodebuild" { idle: "-dry-run -n -enumerate-tests -showdestinations" }
    "yarn" { first_operand: Some("--cwd"), quiet: "install" }
    any {
        Failed r"^error Command failed with exit code"
        Misused r#"^error Command "[^"]*" not found|^Unknown workspace"#
        NotStarted r"Couldn't find a (script named|package\.json)|failed with exit code 127"
    }
}
