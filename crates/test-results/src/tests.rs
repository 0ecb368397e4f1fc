//! Runs of each runner, whole and behind filters.

use super::*;
use shell_effects::{ExecContext, effects};

/// Checks what the output of a command line with one run shows.
#[track_caller]
fn check(line: &str, command: &str, output: &str, expected: &str) {
    let effects = effects(line, &ExecContext::default());
    let runs: Vec<&ProgramCall> = effects.calls.iter().filter(|call| call.matches(command)).collect();
    let result = read(&effects.calls, &runs, &LineOutput { text: output.to_owned(), ..LineOutput::default() });
    let word = match &result {
        OutputResult::Passed => "passed",
        OutputResult::Failed => "failed",
        OutputResult::Empty => "empty",
        OutputResult::Misused => "misused",
        OutputResult::Unreadable(why) => why,
    };
    assert_eq!(word, expected, "{line}\n{output}");
}

const CARGO_OK: &str = "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s";
const CARGO_NONE: &str =
    "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s";
const CARGO_FAILED: &str = "test result: FAILED. 11 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out";
const PART: &str = "only a part of the summary is seen";
const NOTHING: &str = "no summary of the tests is seen";

#[test]
fn every_pattern_compiles() {
    let reader = SummaryReader::for_any();
    assert!(reader.has_result(CARGO_OK) && !reader.has_result("exit code: 0") && !reader.has_result("--- done ---"));
}

#[test]
fn the_table_is_sorted() {
    assert!(programs::PROGRAMS.is_sorted_by_key(|program| program.name));
}

#[test]
fn a_filter_must_not_hide_a_failure() {
    let two = format!("{CARGO_OK}\n{CARGO_FAILED}");
    check("cargo test 2>&1 | tail -5", "cargo test", CARGO_OK, "passed");
    check("cargo test 2>&1 | tail -20", "cargo test", &two, "failed");
    check("cargo test 2>&1 | head -3", "cargo test", CARGO_OK, PART);
    check("cargo test 2>&1 | head -30", "cargo test", CARGO_OK, "passed");
    check("cargo test 2>&1 | grep 'test result'", "cargo test", CARGO_OK, "passed");
    check("cargo test 2>&1 | grep 'test result: ok'", "cargo test", CARGO_OK, PART);
    check("cargo test 2>&1 | grep -E '^test result|FAILED'", "cargo test", &two, "failed");
    check("cargo test 2>&1 | grep -v FAILED", "cargo test", CARGO_OK, PART);
    check("cargo test 2>&1 | grep panicked", "cargo test", "", NOTHING);
    check("cargo test 2>&1 | grep -c ok", "cargo test", "12", "`grep` changes what is printed");
    check("cargo test 2>&1 | wc -l", "cargo test", "12", "`wc` changes what is printed");
    check(
        "cargo test 2>&1 | tee log.txt | grep -n 'test result' | tail -2",
        "cargo test",
        &format!("7:{CARGO_OK}"),
        "passed",
    );
}

#[test]
fn a_last_part_without_tests_does_not_hide_those_before_it() {
    check("cargo test 2>&1 | tail -3", "cargo test", CARGO_NONE, "passed");
    check("cargo test 2>&1", "cargo test", CARGO_NONE, "empty");
    let filtered = CARGO_NONE.replace("0 filtered", "7 filtered");
    check("cargo test nothing 2>&1 | tail -3", "cargo test", &filtered, "empty");
}

#[test]
fn a_printed_summary_is_not_a_run() {
    check(
        &format!("echo '{CARGO_OK}'; cargo test | tail -1"),
        "cargo test",
        CARGO_OK,
        "`echo` on the same line may print a result of its own",
    );
    check(
        "cat log; cargo test | tail -1",
        "cargo test",
        CARGO_OK,
        "`cat` on the same line may print a result of its own",
    );
    check("cargo test | cat log", "cargo test", CARGO_OK, "`cat` changes what is printed");
    check("cargo test | sed 's/FAILED/ok/'", "cargo test", CARGO_OK, "`sed` changes what is printed");
    check(
        "X=$(<log); cargo test | tail -1; echo \"$X\"",
        "cargo test",
        CARGO_OK,
        "`echo` on the same line may print a result of its own",
    );
    check("PATH=/tmp/fake:$PATH cargo test | tail -1", "cargo test", CARGO_OK, "it sets PATH");
    let commit = "git add -A && git commit -m \"$(cat <<'EOF'\nSubject\n\nBody\nEOF\n)\"";
    check(&format!("cargo test 2>&1 | tail -1 && {commit}"), "cargo test", CARGO_OK, "passed");
    check("make test | tail -0 && git commit -m x", "make test", "[main 1a2b3c4] 12 passed in 0.3s", NOTHING);
    check(
        "cargo test | tail -0; echo \"$(cat log)\"",
        "cargo test",
        CARGO_OK,
        "`echo` on the same line may print a result of its own",
    );
    check("alias x=y; cargo test | tail -1", "cargo test", CARGO_OK, "it defines an alias");
    check("cargo test > log; tail -1 log", "cargo test", CARGO_OK, "passed");
    check(
        "cargo test > log 2>&1; echo \"exit $?\"; grep 'test result' log | tail -3",
        "cargo test",
        CARGO_OK,
        "passed",
    );
    check("cargo test >> log; tail -1 log", "cargo test", CARGO_OK, "its output is not shown");
    check("cargo test > log; cp fake log; tail -1 log", "cargo test", CARGO_OK, "`cp` changes what is printed");
    check("cargo test > log; tail -1 other", "cargo test", CARGO_OK, "its output is not shown");
    check("cargo test | tail -1; echo \"exit: $? ${PIPESTATUS[0]}\"", "cargo test", CARGO_OK, "passed");
    check("cd app && PATH=\"$HOME/.cargo/bin:$PATH\" cargo test 2>&1 | tail -1", "cargo test", CARGO_OK, "passed");
    check("cargo build 2>&1 | tail -3 && cargo test 2>&1 | tail -3", "cargo test", CARGO_OK, "passed");
    check("cargo test -p a | tail -1; cargo test -p b | tail -1", "cargo test", CARGO_OK, PART);
}

/// A command line, the command in it, an output and its result.
const TABLE: &[(&str, &str, &str, &str)] = &[
    ("pytest -q", "pytest", "5 passed in 0.12s", "passed"),
    ("pytest", "pytest", "=== 1 failed, 4 passed, 2 warnings in 1.20s ===", "failed"),
    ("pytest", "pytest", "========= 3 passed, 1 skipped in 61.20s (0:01:01) =========", "passed"),
    ("pytest -k x", "pytest", "=== 5 deselected in 0.01s ===", "empty"),
    ("pytest", "pytest", "=== no tests ran in 0.01s ===", "empty"),
    ("pytest", "pytest", "=== 2 errors in 0.10s ===", "failed"),
    (
        "pytest --bad",
        "pytest",
        "ERROR: usage: pytest [options]\npytest: error: unrecognized arguments: --bad",
        "misused",
    ),
    ("python -m unittest", "python -m unittest", "Ran 3 tests in 0.001s\n\nOK", "passed"),
    ("python -m unittest", "python -m unittest", "Ran 3 tests in 0.001s\n\nFAILED (failures=1)", "failed"),
    ("python -m unittest", "python -m unittest", "Ran 3 tests in 0.001s", PART),
    ("go test ./...", "go test", "ok  \ta/b\t0.012s\n?   \ta/c\t[no test files]", "passed"),
    ("go test ./...", "go test", "ok  \ta/b\t0.012s\nFAIL\ta/c [build failed]\nFAIL", "failed"),
    ("go test ./... -run X", "go test", "ok  \ta/b\t0.012s [no tests to run]", "empty"),
    ("npx jest", "jest", "Test Suites: 2 passed, 2 total\nTests:       5 passed, 5 total", "passed"),
    ("npx jest", "jest", "Test Suites: 1 failed, 1 passed, 2 total\nTests:       5 passed, 5 total", "failed"),
    ("npx jest | grep Tests:", "jest", "Tests:       5 passed, 5 total", PART),
    ("npx vitest run", "vitest", " Test Files  2 passed (2)\n      Tests  12 passed | 1 skipped (13)", "passed"),
    ("npx vitest run", "vitest", " Test Files  1 failed | 1 passed (2)\n      Tests  12 passed (12)", "failed"),
    ("npx mocha", "mocha", "  12 passing (34ms)", "passed"),
    ("npx mocha", "mocha", "  11 passing (34ms)\n  1 failing", "failed"),
    ("npx mocha | grep passing", "mocha", "  11 passing (34ms)", PART),
    ("bun test", "bun test", " 5 pass\n 0 fail\nRan 5 tests across 1 file. [20.00ms]", "passed"),
    ("bun test", "bun test", " 5 pass\n 1 fail", "failed"),
    ("deno test", "deno test", "ok | 5 passed | 0 failed (20ms)", "passed"),
    ("deno test", "deno test", "FAILED | 4 passed | 1 failed (20ms)", "failed"),
    (
        "npx playwright test",
        "playwright test",
        "Running 4 tests using 2 workers\n  ✓  1 a.spec.ts:3:1 › title\n\n  4 passed (5.1s)",
        "passed",
    ),
    ("npx playwright test | tail -1", "playwright test", "  4 passed (5.1s)", PART),
    (
        "npx playwright test",
        "playwright test",
        "  1 failed\n    [chromium] › a.spec.ts:3:1 › title\n  3 passed (5.1s)",
        "failed",
    ),
    ("node --test", "node --test", "# tests 3\n# pass 3\n# fail 0", "passed"),
    ("node --test", "node --test", "ℹ tests 3\nℹ pass 2\nℹ fail 1", "failed"),
    ("bundle exec rspec", "rspec", "12 examples, 0 failures, 1 pending", "passed"),
    ("bundle exec rspec", "rspec", "12 examples, 1 failure", "failed"),
    ("rspec", "rspec", "0 examples, 0 failures", "empty"),
    ("bin/rails test", "rails test", "10 runs, 24 assertions, 0 failures, 0 errors, 0 skips", "passed"),
    ("bin/rails test", "rails test", "10 runs, 24 assertions, 0 failures, 1 errors, 0 skips", "failed"),
    ("vendor/bin/phpunit", "phpunit", "OK (12 tests, 30 assertions)", "passed"),
    ("vendor/bin/phpunit", "phpunit", "FAILURES!\nTests: 12, Assertions: 30, Failures: 1.", "failed"),
    ("mvn test", "mvn test", "[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS", "passed"),
    (
        "mvn test",
        "mvn test",
        "[ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 0\n[INFO] BUILD FAILURE",
        "failed",
    ),
    ("mvn test | tail -3", "mvn test", "[INFO] BUILD SUCCESS", NOTHING),
    ("./gradlew test", "gradlew test", "BUILD SUCCESSFUL in 3s", "passed"),
    ("./gradlew test", "gradlew test", "12 tests completed, 1 failed\n\nBUILD FAILED in 3s", "failed"),
    ("dotnet test", "dotnet test", "Passed!  - Failed:     0, Passed:    12, Skipped:     0, Total:    12", "passed"),
    (
        "dotnet test | tail -2",
        "dotnet test",
        "Passed!  - Failed:     0, Passed:    12, Skipped:     0, Total:    12",
        PART,
    ),
    ("ctest", "ctest", "100% tests passed, 0 tests failed out of 12", "passed"),
    ("ctest", "ctest", "92% tests passed, 1 tests failed out of 12", "failed"),
    ("swift test", "swift test", "Executed 12 tests, with 0 failures (0 unexpected) in 0.1 (0.1) seconds", "passed"),
    ("swift test", "swift test", "Executed 12 tests, with 1 failure (0 unexpected) in 0.1 (0.1) seconds", "failed"),
    ("flutter test", "flutter test", "00:03 +12: All tests passed!", "passed"),
    ("flutter test", "flutter test", "00:03 +11 -1: Some tests failed.", "failed"),
    ("mix test", "mix test", "1 doctest, 12 tests, 0 failures", "passed"),
    ("mix test", "mix test", "12 tests, 2 failures", "failed"),
    ("cargo nextest run", "cargo nextest", "     Summary [   0.123s] 12 tests run: 12 passed, 0 skipped", "passed"),
    (
        "cargo nextest run",
        "cargo nextest",
        "     Summary [   0.123s] 12 tests run: 11 passed, 1 failed, 0 skipped",
        "failed",
    ),
    ("make test", "make test", "\u{1b}[32m5 passed\u{1b}[0m in 0.12s", "passed"),
    ("make test", "make test", "=== 1 failed in 0.12s ===\nmake: *** [Makefile:2: test] Error 1", "failed"),
    ("make test", "make test", "make: *** No rule to make target 'test'.  Stop.", "misused"),
    ("make test", "make test", "make: 'test' is up to date.", "empty"),
    ("make test", "make test", "make: Nothing to be done for 'test'.", "empty"),
    ("make test", "make test", "make[1]: Nothing to be done for 'all'.\n5 passed in 0.12s", "passed"),
    ("npx mocha no", "mocha", "Error: No test files found: \"no\"", "empty"),
    ("bun test no", "bun test", "The following filters did not match any test files:", "empty"),
    ("pnpm --filter no test", "pnpm test", "No projects matched the filters in \"/x\"", "empty"),
    ("turbo run test --filter=no", "turbo run test", " Tasks:    0 successful, 0 total", "empty"),
    (
        "mise run test",
        "mise run test",
        "[test] $ cargo test\n[test] test result: ok. 3 passed; 0 failed; 0 ignored",
        "passed",
    ),
    ("npm test", "npm test", "npm error Missing script: \"test\"", "misused"),
    (
        "pnpm -r test",
        "pnpm test",
        "packages/a test:  Test Files  1 passed (1)\npackages/a test:       Tests  2 passed (2)",
        "passed",
    ),
];

#[test]
fn each_runner_is_read() {
    for (line, command, output, expected) in TABLE {
        check(line, command, output, expected);
    }
}

/// Checks what the error of a failed line shows.
#[track_caller]
fn check_error(line: &str, error: &str, expected: &OutputResult) {
    let effects = effects(line, &ExecContext::default());
    let runs: Vec<&ProgramCall> = effects.calls.iter().collect();
    let output =
        LineOutput { text: format!("Exit code 1\n{error}"), ending: OutputEnding::Failure, ..LineOutput::default() };
    let runs = runs.get(runs.len() - 1..).unwrap();
    assert_eq!(read(&effects.calls, runs, &output), *expected, "{line}\n{error}");
}

#[test]
fn tests_that_were_not_started_have_not_failed() {
    for (line, error) in [
        ("npm test", "> a@1.0.0 test\n> jest\n\nsh: 1: jest: not found"),
        ("pnpm test", "sh: 1: vitest: not found\n ELIFECYCLE  Test failed. See above for more details."),
        ("yarn test", "/bin/sh: jest: command not found\nerror Command failed with exit code 127."),
        ("npx jest", "npm error code EAI_AGAIN\nnpm error errno EAI_AGAIN"),
        ("npm test", "npm error code ENOENT\nnpm error enoent Could not read package.json"),
        ("cargo test", "    Updating crates.io index\nerror: failed to download from `https://crates.io`"),
        ("make test", "make: pytest: No such file or directory\nmake: *** [Makefile:2: test] Error 127"),
        ("uv run pytest", "error: Failed to spawn: `pytest`\n  Caused by: No such file or directory (os error 2)"),
        ("bundle exec rspec", "Could not locate Gemfile or .bundle/ directory"),
        ("go test ./...", "go: cannot find main module, but found .git/config"),
        ("mvn test", "[ERROR] Failed: Could not resolve dependencies for project\n[INFO] BUILD FAILURE"),
        ("./gradlew test", "* What went wrong:\nCould not resolve all files\nBUILD FAILED in 2s"),
        ("mix test", "** (Mix) Could not find a Mix.Project"),
        ("python -m pytest", "/usr/bin/python3: No module named pytest"),
        ("pytest --rootdir=no", "ERROR: Directory '/x/no' not found. Check your '--rootdir' option."),
        ("pytest -p no", "ImportError: Error importing plugin \"no\": No module named 'no'"),
        ("pytest > /no/log", "/bin/bash: line 1: /no/log: No such file or directory"),
        ("cargo test --features no", "error: the package 'x' does not contain this feature: no"),
        ("make -C no test", "make: *** no: No such file or directory.  Stop."),
        ("phpunit no", "Test file \"no\" not found"),
        ("mvn test -Dtest=No", "[ERROR] No tests matching pattern \"No\" were executed!\n[INFO] BUILD FAILURE"),
        ("mix test no", "** (Mix) Paths given to \"mix test\" did not match any directory/file: no"),
        ("tox -e no", "ROOT: HandledError| provided environments not found in configuration file: no"),
        ("nox -s no", "nox > Error while collecting sessions: Sessions not found: no"),
        ("bazel test //no", "ERROR: Skipping '//no': no such package 'no': BUILD file not found"),
        (
            "python -m unittest no",
            "ERROR: no (unittest.loader._FailedTest.no)\nImportError: Failed to import test module: no\n\
             ModuleNotFoundError: No module named 'no'\n\nRan 1 test in 0.000s\n\nFAILED (errors=1)",
        ),
        (
            "python -m unittest tests.a.B.no",
            "ERROR: no (unittest.loader._FailedTest.no)\nAttributeError: type object 'B' has no attribute 'no'\n\n\
             Ran 1 test in 0.000s\n\nFAILED (errors=1)",
        ),
        ("sudo pytest", "sudo: a password is required"),
        (
            "go test ./...",
            "pattern ./...: directory prefix . does not contain main module or its selected dependencies",
        ),
        ("./gradlew test", "Directory '/x' does not contain a Gradle build.\nBUILD FAILED in 1s"),
        ("bazel test //...", "ERROR: No test targets were found, yet testing was requested"),
        ("tox -e no", "ERROR: unknown environment no"),
        (
            "rspec spec/no_spec.rb",
            "An error occurred while loading ./spec/no_spec.rb.\nLoadError:\n  cannot load such file -- /x/spec/no_spec.rb\n\
             0 examples, 0 failures, 1 error occurred outside of examples",
        ),
        ("docker run no pytest", "docker: Error response from daemon: pull access denied for no"),
    ] {
        check_error(line, error, &OutputResult::Misused);
    }
}

#[test]
fn tests_that_do_not_compile_or_fail_have_failed() {
    for (line, error) in [
        ("mvn test", "[ERROR] COMPILATION ERROR\n[INFO] BUILD FAILURE"),
        ("./gradlew test", "> Task :compileTestJava FAILED\nBUILD FAILED in 2s"),
        ("mix test", "** (CompileError) test/x_test.exs:3: undefined function"),
        ("npm test", "sh: 1: lint: not found\nTests:       1 failed, 2 passed, 3 total"),
        ("make test", "1 failed in 0.1s\nmake: *** [Makefile:2: test] Error 1"),
        ("cargo test", "error: expected `;`\nerror: could not compile `x` (lib test) due to 1 previous error"),
        ("make test", "tests/run.sh: line 3: app: command not found\n1 failed in 0.1s"),
        (
            "python -m unittest tests.test_a",
            "ERROR: test_a (unittest.loader._FailedTest.test_a)\nImportError: Failed to import test module: test_a\n\
             ModuleNotFoundError: No module named 'app'\n\nRan 1 test in 0.000s\n\nFAILED (errors=1)",
        ),
        (
            "rspec",
            "An error occurred while loading ./spec/a_spec.rb.\nLoadError:\n  cannot load such file -- /x/lib/a\n\
             0 examples, 0 failures, 1 error occurred outside of examples",
        ),
        ("go test ./...", "a_test.go:4: no required module provides package b\nFAIL\ta [setup failed]"),
    ] {
        check_error(line, error, &OutputResult::Failed);
    }
    // A run that passed may print anything.
    check("npm test", "npm test", "sh: 1: lint: not found\n12 passing", "passed");
}

#[test]
fn options_that_run_no_test_are_known() {
    let words = |line: &str| -> Vec<String> { line.split_whitespace().map(str::to_owned).collect() };
    for line in [
        "pytest -V",
        "pytest --collectonly",
        "jest -v",
        "jest --showConfig",
        "tox --notest",
        "./mvnw test -DskipTests",
        "mvn test -DskipTests=true",
        "gradle test -x :app:test",
        "bats --count tests",
        "turbo run test --dry=json",
        "swift test list",
        "npm test --script-shell=/bin/true",
        "go test -exec true ./...",
        "go test -exec=/bin/true ./...",
        "go test -exec ./own ./...",
        "prove --exec true t",
        "bazel test --run_under=true //...",
        "cargo test --config target.x.runner=\"true\"",
        "make test PYTEST=true",
        "make test TEST_RUNNER=true",
        "make test X=/bin/true",
        "make test MAKEFLAGS=-n",
        "make -v test",
        "python3.12 -V -m pytest",
    ] {
        assert!(does_other_work(&words(line)), "{line}");
    }
    for line in [
        "pytest -vv",
        "pytest --count=3",
        "go test -v -count=1 ./...",
        "go test -exec qemu-arm ./...",
        "prove -v t",
        "prove -e perl t",
        "npm test -- -v",
        "bats -r t",
        "make test PYTEST=pytest",
        "make test CI=true ENV=test DIR=./src",
    ] {
        assert!(!does_other_work(&words(line)), "{line}");
    }
}

/// Checks what a line that ended with exit code 0 shows.
#[track_caller]
fn check_success(line: &str, text: &str, expected: &OutputResult) {
    let effects = effects(line, &ExecContext::default());
    let runs: Vec<&ProgramCall> = effects.calls.iter().collect();
    let output = LineOutput { text: text.to_owned(), ending: OutputEnding::Success, ..LineOutput::default() };
    let runs = runs.get(runs.len() - 1..).unwrap();
    assert_eq!(read(&effects.calls, runs, &output), *expected, "{line}\n{text}");
}

#[test]
fn an_exit_code_of_0_does_not_outweigh_a_failure_at_the_end() {
    let pytest = "FAILED tests/a.py::test_a - assert 1 == 2\n=== 1 failed in 0.02s ===";
    for (line, text) in [
        ("make test", pytest),
        ("npm test", pytest),
        ("tox", &format!("{pytest}\n  py: OK (1.2 seconds)\n  congratulations :) (1.3 seconds)")),
        ("pytest", pytest),
        ("uv run pytest", pytest),
        ("npm test", "Test Suites: 1 failed, 1 total\nTests:       1 failed, 1 passed, 2 total"),
        ("npm test", "Test Suites: 1 failed, 1 passed, 2 total\nTests:       5 passed, 5 total"),
        ("npm test", "  1 passing (2ms)\n  1 failing"),
        ("make test", CARGO_FAILED),
        ("make test", "--- FAIL: TestA (0.00s)\nFAIL\nFAIL\tapp\t0.012s"),
        ("./gradlew test", "12 tests completed, 1 failed\nThere were failing tests.\n\nBUILD SUCCESSFUL in 3s"),
        ("npx playwright test", "  1 failed\n    [chromium] › a.spec.ts:3:1 › title\n  3 passed (5.1s)"),
        ("mvn test", "[ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS"),
    ] {
        check_success(line, text, &OutputResult::Failed);
    }
}

#[test]
fn a_run_that_passed_may_print_failures_before_its_summary() {
    for (line, text) in [
        ("make test", "worker: 3 failed, retrying\n5 passed in 0.12s"),
        ("make test", "=== 1 failed in 0.02s ===\n=== 1 passed in 0.02s ==="),
        ("npm test", "FAIL src/x.ts\nTest Suites: 2 passed, 2 total\nTests:       5 passed, 5 total"),
        ("make test", "    a_test.go:9: FAIL\nok  \tapp\t0.012s"),
        ("make test", &format!("{CARGO_FAILED}\n{CARGO_OK}\n{CARGO_NONE}")),
        ("npm test", "FAIL  expected\n  4 passed (5.1s)"),
    ] {
        check_success(line, text, &OutputResult::Passed);
    }
    for text in
        ["PASS 12\nFAIL 0", "checks that a failed login is reported\n0 failed", "FAIL: 0, the rest failed to fail"]
    {
        check_success("make test", text, &OutputResult::Unreadable(NOTHING.to_owned()));
    }
}

#[test]
fn a_run_with_skipped_tests_only_is_empty() {
    for (line, text) in [
        ("node --test", "# tests 1\n# pass 0\n# fail 0\n# skipped 1"),
        ("mix test", "1 test, 0 failures, 1 excluded"),
        ("mix test", "5 tests, 0 failures, 2 excluded, 3 skipped"),
        ("python -m unittest", "Ran 5 tests in 0.001s\n\nOK (skipped=5)"),
        ("mvn test", "[WARNING] Tests run: 5, Failures: 0, Errors: 0, Skipped: 5\n[INFO] BUILD SUCCESS"),
        (
            "mvn test",
            "[WARNING] Tests run: 5, Failures: 0, Errors: 0, Skipped: 5, Time elapsed: 0.1 s - in A\nBUILD SUCCESS",
        ),
        ("./gradlew test", "> Task :testClasses UP-TO-DATE\n> Task :test NO-SOURCE\n\nBUILD SUCCESSFUL in 1s"),
        ("ctest", "100% tests passed, 0 tests failed out of 0"),
        ("dotnet test", "Skipped! - Failed:     0, Passed:     0, Skipped:     5, Total:     5"),
        ("phpunit", "OK, but incomplete, skipped, or risky tests!\nTests: 5, Assertions: 0, Skipped: 5."),
        ("rspec", "5 examples, 0 failures, 5 pending"),
        ("bats tests", "1..0"),
        ("npx playwright test", "  5 skipped"),
        ("tox", "  py: SKIP (0.01 seconds)\n  congratulations :) (0.02 seconds)"),
    ] {
        check_success(line, text, &OutputResult::Empty);
    }
    for (line, text) in [
        ("mix test", "5 tests, 0 failures, 4 excluded"),
        ("python -m unittest", "Ran 5 tests in 0.001s\n\nOK (skipped=4)"),
        ("mvn test", "[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 4\n[INFO] BUILD SUCCESS"),
        ("./gradlew test", "> Task :a:test NO-SOURCE\n> Task :b:test UP-TO-DATE\n\nBUILD SUCCESSFUL in 1s"),
        ("./gradlew test", "BUILD SUCCESSFUL in 1s"),
        ("phpunit", "OK, but incomplete, skipped, or risky tests!\nTests: 5, Assertions: 3, Skipped: 2."),
        ("rspec", "5 examples, 0 failures, 4 pending"),
        ("npx playwright test", "  5 skipped\n  1 passed (2.0s)"),
        ("tox", "  lint: SKIP (0.01 seconds)\n  py: OK (1 seconds)\n  congratulations :) (0.02 seconds)"),
    ] {
        check_success(line, text, &OutputResult::Passed);
    }
}

/// The number of runs of `command` in a line.
fn runs_in(line: &str, command: &str) -> usize {
    runs_of(&effects(line, &ExecContext::default()).calls, &[command.to_owned()]).len()
}

#[test]
fn only_the_runner_itself_counts() {
    for (line, command) in [
        ("./pytest", "pytest"),
        ("/tmp/pytest -q", "pytest"),
        ("timeout 60 tests/pytest", "pytest"),
        ("./make test", "make test"),
        ("python -u own.py -m pytest", "python -m pytest"),
        ("python -c pass -m pytest", "python -m pytest"),
        ("node app.js --test", "node --test"),
        ("node -e 1 --test", "node --test"),
        ("cargo -q run test", "cargo test"),
        ("npm -s start test", "npm test"),
        ("env --version pytest", "pytest"),
        ("npx --help jest", "jest"),
    ] {
        assert_eq!(runs_in(line, command), 0, "{line}");
    }
    for (line, command) in [
        (".venv/bin/pytest", "pytest"),
        ("/usr/local/bin/pytest", "pytest"),
        ("$VENV/pytest", "pytest"),
        ("node_modules/.bin/jest", "jest"),
        ("vendor/phpunit/phpunit/phpunit", "phpunit"),
        ("./gradlew test", "gradlew test"),
        ("./manage.py test", "manage.py test"),
        ("./run-tests --fast", "run-tests"),
        ("tools/pytest", "tools/pytest"),
        ("python3.12 -W ignore -m pytest -q", "python -m pytest"),
        ("node --import tsx --test tests", "node --test"),
        ("cargo +nightly -q test", "cargo test"),
        ("cargo --config net.offline=true test", "cargo test"),
        ("npm --prefix web run test:unit", "npm run test"),
        ("pnpm --filter web test", "pnpm test"),
        ("go -C web test ./...", "go test"),
        ("npx jest --version-check", "jest"),
    ] {
        assert_eq!(runs_in(line, command), 1, "{line}");
    }
}
