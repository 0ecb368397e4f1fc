//! What test runners print: one row per runner.
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
    Misused,
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

/// The output of one runner.
pub(super) struct RunnerGrammar {
    /// The commands that print it; other commands may print anything.
    pub commands: &'static [&'static str],
    pub layout: SummaryLayout,
    /// A line of every failing run that has no passing summary; a filter that drops it may hide a failure.
    pub failing: Option<&'static str>,
    pub signs: &'static [(LineMeaning, &'static str)],
}

/// One row per runner: its commands, its layout, a line of a failing run, and the meanings of its lines.
macro_rules! runners {
    ($([$($command:literal),+] $layout:ident $(failing $failing:literal)? { $($meaning:ident $sign:literal)+ })+) => {
        pub(super) static RUNNERS: &[RunnerGrammar] = &[$(RunnerGrammar {
            commands: &[$($command),+],
            layout: SummaryLayout::$layout,
            failing: [$(Some($failing),)? None][0],
            signs: &[$((LineMeaning::$meaning, $sign)),+],
        }),+];
    };
}

runners! {
    ["cargo test", "cargo t"] Parts
    failing "test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out" {
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
    ["python -m unittest", "python manage.py test", "manage.py test"] Final {
        Failed r"^FAILED \((failures|errors|unexpected successes|skipped|expected failures)="
        Passed r"^Ran <some> tests? in [0-9.]+s$"
        Whole r"^OK( \(.*\))?$"
        Skipped r"^OK \(skipped=<some>\)$"
        Empty r"^(Ran 0 tests? in|NO TESTS RAN)"
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
    ["gotestsum"] Final {
        Failed r"^DONE .*<some> (failures?|errors?)"
        Passed r"^DONE <some> tests?(, <n> skipped)? in "
        Skipped r"^DONE <some> tests?, <some> skipped in "
        Empty r"^DONE 0 tests?"
    }
    ["jest", "react-scripts test", "craco test"] Final {
        Failed r"^(Test Suites|Tests): .*<some> failed,.* total"
        Failed r"^Jest: .*threshold"
        Passed r"^Tests: +(.*, )?<some> passed, <n> total$"
        Whole r"^Test Suites: +(<n> (skipped|todo), )*<some> passed, "
        Empty r"^Tests: +(<n> (skipped|todo), )*(0|<n>) total$"
        Empty r"^No tests found"
        Misused r"^(● Validation Error|● Unrecognized CLI Parameter|Unrecognized CLI Parameter)"
    }
    ["vitest"] Final {
        Failed r"^(Test Files|Tests) +.*<some> failed"
        Failed r"^(Type )?Errors +<some> errors?"
        Passed r"^Tests +(.* )?<some> passed.*\(<n>\)$"
        Whole r"^Test Files +(.* )?<some> passed.*\(<n>\)$"
        Empty r"^(Test Files|Tests) +(no tests|<n> (skipped|todo))"
        Empty r"^No test (files|suite) found"
        Misused r"^CACError:"
    }
    ["mocha"] Parts failing "  1 failing" {
        Failed r"^<some> failing$"
        Empty r"^Error: No test files found"
        Passed r"^<some> passing( \([0-9.]+(ms|s|m|h)\))?$"
        Empty r"^0 passing( \([0-9.]+(ms|s|m|h)\))?$"
    }
    ["bun test"] Final {
        Failed r"^<some> (fail|errors?)$"
        Passed r"^<some> pass$"
        Whole r"^0 fail$"
        Empty r"^(Ran 0 tests|0 pass$|No tests found)"
        Empty r"regex .* matched 0 tests|^The following filters did not match"
    }
    ["deno test"] Final {
        Failed r"^FAILED \| <n> passed"
        Failed r"^error: Test failed"
        Passed r"^ok \| <some> passed"
        Empty r"^ok \| 0 passed"
        Empty r"^error: No test modules found"
    }
    ["playwright test"] Listed failing "  1 failed" {
        Failed r"^<some> (failed|interrupted|did not run|flaky.*failed)$"
        Failed r"^<some> errors? (was|were) not a part of any test"
        Passed r"^<some> passed( \([0-9.]+(ms|s|m|h)\))?$"
        Empty r"^(Error: No tests found|<some> skipped$)"
    }
    ["node --test"] Final {
        Failed r"^[#ℹ] (fail|cancelled) <some>$"
        Passed r"^[#ℹ] pass <some>$"
        Whole r"^[#ℹ] fail 0$"
        Empty r"^[#ℹ] (tests|pass) 0$"
    }
    ["ava"] Final {
        Failed r"^<some> (tests? failed|uncaught exceptions?|unhandled rejections?)"
        Passed r"^<some> tests? passed$"
    }
    ["rspec", "cabal test", "stack test", "jasmine"] Final {
        Failed r"^<n> (examples?|specs?), <some> failures?"
        Failed r"^<n> examples?, .*<some> errors? occurred outside"
        Passed r"^<some> (examples?|specs?), 0 failures?(, <n> pending( specs?)?)?$"
        Skipped r"^<some> (examples?|specs?), 0 failures?, <some> pending( specs?)?$"
        Empty r"^(0 (examples?|specs?), 0 failures?|No specs found)"
    }
    ["rails test", "rake test"] Final {
        Failed r"^<n> (runs|tests), <n> assertions, (<some> failures|<n> failures, <some> errors)"
        Passed r"^<some> (runs|tests), <n> assertions, 0 failures, 0 errors"
        Skipped r"^<some> (runs|tests), 0 assertions, 0 failures, 0 errors, <some> skips"
        Empty r"^0 (runs|tests), 0 assertions"
    }
    ["phpunit"] Final {
        Failed r"^(FAILURES|ERRORS)!$"
        Failed r"^Tests: <n>, Assertions: <n>, .*(Errors|Failures): <some>"
        Passed r"^OK \(<some> tests?, <n> assertions?\)$"
        Passed r"^OK, but "
        Skipped r"^Tests: <some>, Assertions: 0, (Incomplete: <n>, )?Skipped: <some>\.$"
        Empty r"^No tests (executed|found)"
        Misused r#"^(Test file "|Cannot open file)"#
    }
    ["pest", "php artisan test"] Final {
        Failed r"^Tests: +(.*, )?<some> failed\b.*\(<n> assertions?\)"
        Passed r"^Tests: +(<n> [a-z]+, )*<some> passed \(<n> assertions?\)"
        Empty r"^Tests: +(<n> (skipped|todos?|incomplete),? )+\(0 assertions\)"
        Empty r"^No tests found"
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
    ["gradle", "gradlew"] Final {
        Aborted r"^BUILD FAILED"
        Failed r"^<n> tests? completed, <some> failed"
        Passed r"^BUILD SUCCESSFUL in "
        Idle r"^> Task :\S*[tT]ests? (NO-SOURCE|SKIPPED)$"
        Ran r"^> Task :(\S+:)?(t|\S+T)ests?( UP-TO-DATE| FROM-CACHE)?$"
        Misused r"^Task '.*' not found|^> (Unknown command-line option|No tests found for given includes)"
    }
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
    ["ctest"] Final {
        Failed r"^<n>% tests passed, <some> tests failed out of <n>"
        Passed r"^100% tests passed, 0 tests failed out of <some>"
        Empty r"^(No tests were found|100% tests passed, 0 tests failed out of 0)"
    }
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
    ["flutter test", "dart test"] Final {
        Failed r"^[0-9:]+ \+<n>( ~<n>)?( -<n>)?: Some tests failed\."
        Passed r"^[0-9:]+ \+<some>( ~<n>)?: All tests passed!"
        Empty r"^[0-9:]+ \+0( ~<n>)?: All tests (skipped|passed)|^No tests (ran|match|found)"
    }
    ["mix test"] Final {
        Failed r"^(<n> (doctests?|propert(y|ies)), )*<n> tests?, <some> failures?"
        Failed r"^\*\* \((CompileError|SyntaxError|TokenMissingError)"
        Aborted r"^\*\* \(Mix\)"
        Misused r"did not match any directory/file"
        Passed r"^(<n> (doctests?|propert(y|ies)), )*<some> tests?, 0 failures"
        Skipped r"^<some> tests?, 0 failures(, <some> (excluded|skipped|invalid))+( \(.*\))?$"
        Empty r"^(0 tests?, 0 failures|There are no tests to run)"
    }
    ["tox"] Final {
        Failed r"^evaluation failed :\("
        Misused r"HandledError\|"
        Passed r"^congratulations :\)"
        Idle r"^\S+: SKIP\b"
        Ran r"^\S+: OK\b"
    }
    ["nox"] Parts failing "nox > Session tests failed." {
        Failed r"^nox > Session \S+ failed"
        Misused r"^nox > Error while collecting sessions"
        Passed r"^nox > Session \S+ was successful"
    }
    ["bazel test"] Final {
        Failed r"^Executed <n> out of <n> tests?: .*fails?"
        Misused r"^ERROR: .*no such (package|target)"
        Passed r"^Executed <n> out of <n> tests?: <some> tests? pass(es)?\.?$"
    }
    ["sbt test"] Parts failing "[error] Failed: Total 5, Failed 1, Errors 0, Passed 4" {
        Failed r"^\[error\] (Failed: Total|\(.*\) sbt\.TestsFailedException)"
        Passed r"^\[info\] Passed: Total <some>"
        Empty r"^\[info\] (Passed: Total 0|No tests (were executed|to run))"
    }
    ["prove", "bats"] Final {
        Failed r"^Result: FAIL|^not ok <n>"
        Passed r"^Result: PASS$"
        Empty r"^(Result: NOTESTS|1\.\.0)\b"
        Skipped r"^<some> tests?, 0 failures, <some> skipped"
    }
    ["ginkgo"] Parts failing "FAIL! -- 4 Passed | 1 Failed | 0 Pending | 0 Skipped" {
        Failed r"^FAIL! -- "
        Passed r"^SUCCESS! -- <some> Passed \| 0 Failed"
        Empty r"^SUCCESS! -- 0 Passed \| 0 Failed"
    }
}

use LineMeaning::{Empty, Failed, Misused};

/// What programs print that run other test runners.
pub(super) const WRAPPER_SIGNS: [(LineMeaning, &str); 20] = [
    (Failed, r"^g?make(\[<n>\])?: \*\*\* \[.*\] (Error <n>|Fehler <n>)"),
    (Failed, r"^error: Recipe .* failed"),
    (
        Failed,
        r"^(npm (ERR!|error) (Test failed|Lifecycle script .* failed|code ELIFECYCLE|command failed)|ELIFECYCLE\b)",
    ),
    (Failed, r"^error Command failed with exit code"),
    (Failed, r#"^error: script "[^"]*" (exited with|was terminated)"#),
    (Failed, r"^(\[\S+\] )?(mise )?ERROR task failed"),
    (Failed, r"^task: Failed to run task"),
    (Failed, r"^(ERROR +run failed|Failed: +\S+#\S+)"),
    (Failed, r"^(NX +)?Ran targets? .* (with errors|but failed)|^NX +Running target .* failed"),
    // A file or folder has the name of the target.
    (
        Empty,
        r"^g?make(\[<n>\])?: ('(tests?|check)(-\S+)?' is up to date|Nothing to be done for '(tests?|check)(-\S+)?')",
    ),
    (
        Empty,
        r"^(No projects matched the filters|Tasks: +0 successful, 0 total|No tasks were (executed|run)|(NX +)?No tasks were run)",
    ),
    (
        Misused,
        r"^npm error No workspaces found|No package found with name|^Unknown workspace|EFILTER No packages remain",
    ),
    (Misused, r"^g?make(\[<n>\])?: \*\*\* (No (rule to make target|targets)|\S+: No such file or directory)"),
    (Misused, r"(?i-u)missing script|no test specified|does not contain recipe|justfile does not contain"),
    (
        Misused,
        r"(?i-u)^(error:? )?(unknown|unrecogni[sz]ed|invalid|unexpected) (option|argument|flag|subcommand|command)",
    ),
    (Misused, r"(?i-u)no such option|unrecogni[sz]ed arguments|ERR_PNPM_NO_SCRIPT|script not found"),
    (Misused, r#"(?i-u)no tasks? (named|matching)? ?[ -~]*found|task "?[!-~]+"? (does not exist|not found)"#),
    (Misused, r#"^error Command "[^"]*" not found"#),
    (Misused, r"(?i-u)cannot connect to the docker daemon|no such container|is not running$|no such service"),
    (Misused, r"could not determine executable to run"),
];

/// Parts of lines with which the tests were not started: a program, a package, a network or a container was missing.
pub(super) const NOT_STARTED: [&str; 74] = [
    // npm, yarn, pnpm
    "error code E404",
    "error code ENOTFOUND",
    "error code EAI_AGAIN",
    "error code ECONNREFUSED",
    "error code ETIMEDOUT",
    "error code ENOENT",
    "error code EJSONPARSE",
    "error code ERESOLVE",
    "ERR! code E404",
    "ERR! code ENOTFOUND",
    "ERR! code EAI_AGAIN",
    "ERR! code ENOENT",
    "Couldn't find a script named",
    "Couldn't find a package.json",
    "ERR_PNPM_NO_IMPORTER_MANIFEST_FOUND",
    "package.json exists, but node_modules missing",
    "failed with exit code 127",
    // cargo
    "error: failed to get `",
    "error: failed to download",
    "error: failed to load manifest",
    "error: failed to select a version",
    "error: no matching package",
    "cannot be built because it requires rustc",
    "error: toolchain '",
    "error: rustup could not choose",
    // make
    "] Error 127",
    "*** missing separator",
    // Python
    "error: Failed to spawn",
    "error: Failed to fetch",
    "No solution found when resolving dependencies",
    "Command not found: pytest",
    "Poetry could not find a pyproject.toml",
    "could not be found within PATH",
    "No tox.ini or setup.cfg",
    "ERROR: unknown environment",
    "ImportError: Start directory is not importable",
    "Failed to load Noxfile",
    "INTERNALERROR>",
    // Ruby, PHP, Elixir
    "Could not locate Gemfile",
    "in locally installed gems",
    "bundler: command not found",
    "Could not open input file",
    "(Mix) Could not find a Mix.Project",
    "Can't continue due to errors on dependencies",
    // Go
    "go: cannot find main module",
    "does not contain main module",
    "dial tcp: lookup",
    ": directory not found",
    // Java, .NET
    "JAVA_HOME is not set",
    "JAVA_HOME environment variable is not defined",
    "there is no POM in this directory",
    "Could not resolve dependencies",
    "Could not resolve all",
    "could not be resolved",
    "java.net.UnknownHostException",
    "You must install or update .NET",
    "does not contain a Gradle build",
    // Containers
    "permission denied while trying to connect to the Docker",
    "no configuration file provided",
    "pull access denied",
    "docker: Error response from daemon",
    // Others
    "sudo: a password is required",
    "sudo: a terminal is required",
    "is not in the sudoers file",
    "No test targets were found, yet testing was requested",
    "No justfile found",
    "Failed to change working directory to",
    "No test configuration file found",
    "only supported from within a workspace",
    "Could not find Package.swift",
    "No pubspec.yaml file found",
    "Cypress binary is missing",
    "Cannot find module '@playwright/test'",
    "node_modules/jest/bin/jest.js'",
];
