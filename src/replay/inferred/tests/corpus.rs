//! Generates command lines with test runs, what they print and their real result.
//!
//! The shapes and their shares are those of 1,816 test runs in real sessions; the text is made up. Filters are run by a
//! real shell, so that what is cut off is what would be.

#![expect(clippy::disallowed_methods, reason = "a test reads fixtures")]

use serde_json::{Value, json};
use std::io::Write as _;
use std::process::{Command, Stdio};

/// The real result of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    Passed,
    Failed,
    /// No test ran.
    Nothing,
}

/// One command line with its event.
pub struct Sample {
    pub event: Value,
    pub truth: Truth,
    /// The shape of the line, for the table.
    pub shape: &'static str,
    /// Whether the command was in the list before wrappers and pipes were understood.
    pub listed: bool,
    /// Whether the exit code of the line is the command's own.
    pub own: bool,
}

/// Numbers that look random and are always the same.
pub struct Dice(u64);

impl Dice {
    pub fn new() -> Self {
        Self(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        let at = self.below(of.len());
        &of[at]
    }

    /// Picks by weight.
    fn weighted<'a, T>(&mut self, of: &'a [(usize, T)]) -> &'a T {
        let mut at = self.below(of.iter().map(|(weight, _)| weight).sum());
        for (weight, one) in of {
            if at < *weight {
                return one;
            }
            at -= weight;
        }
        &of[0].1
    }
}

/// The runner behind a command, which decides what is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runner {
    Cargo,
    Pytest,
    Go,
    Jest,
    Vitest,
    Flutter,
    Playwright,
    Bun,
}

/// A command, its runner, and whether it was in the former list.
type TestCommand = (&'static str, Runner, bool);

const COMMANDS: [(usize, TestCommand); 30] = [
    (430, ("mise run test", Runner::Vitest, false)),
    (180, ("mise run test", Runner::Go, false)),
    (120, ("mise run test:unit", Runner::Pytest, false)),
    (128, ("mise run test:e2e", Runner::Playwright, false)),
    (100, ("bun run test", Runner::Vitest, false)),
    (48, ("bun run test", Runner::Bun, false)),
    (8, ("flutter test", Runner::Flutter, false)),
    (8, ("yarn vitest run", Runner::Vitest, false)),
    (12, ("npx playwright test", Runner::Playwright, false)),
    (8, ("pnpm --filter web exec jest", Runner::Jest, false)),
    (6, ("make test-e2e", Runner::Playwright, false)),
    (6, ("bunx vitest run", Runner::Vitest, false)),
    (6, ("just check", Runner::Cargo, false)),
    (8, ("uv run --extra dev pytest -q", Runner::Pytest, false)),
    (6, ("python3.11 -m pytest", Runner::Pytest, false)),
    (8, ("mise exec -- go test ./...", Runner::Go, false)),
    (6, ("docker compose exec -T web pytest", Runner::Pytest, false)),
    (6, ("rtk cargo test", Runner::Cargo, false)),
    (150, ("cargo test", Runner::Cargo, true)),
    (40, ("cargo test -p core --lib", Runner::Cargo, true)),
    (120, ("npm test", Runner::Jest, true)),
    (40, ("npm run test:unit", Runner::Vitest, true)),
    (90, ("pytest tests/ -x", Runner::Pytest, true)),
    (60, ("python -m pytest -q", Runner::Pytest, true)),
    (90, ("go test ./...", Runner::Go, true)),
    (40, ("npx vitest run", Runner::Vitest, true)),
    (30, ("npx jest --ci", Runner::Jest, true)),
    (30, ("bun test", Runner::Bun, true)),
    (20, ("make test", Runner::Pytest, true)),
    (12, ("timeout 300 cargo test --workspace", Runner::Cargo, true)),
];

/// Filters behind a run, with the name of their shape.
const FILTERS: [(usize, (&str, &str)); 22] = [
    (90, ("piped to `tail`", "tail -5")),
    (140, ("piped to `tail`", "tail -10")),
    (200, ("piped to `tail`", "tail -20")),
    (150, ("piped to `tail`", "tail -30")),
    (90, ("piped to `tail`", "tail -50")),
    (40, ("piped to `tail`", "tail -n 15")),
    (20, ("piped to `tail`", "tail -100")),
    (13, ("piped to `tail`", "tee /tmp/test.log | tail -8")),
    (20, ("piped to `head`", "head -100")),
    (15, ("piped to `head`", "head -80")),
    (15, ("piped to `head`", "head -50")),
    (15, ("piped to `head`", "head -30")),
    (15, ("piped to `head`", "head -20")),
    (30, ("piped to `grep`", "grep -E 'passed|failed|error'")),
    (20, ("piped to `grep`", "grep -iE 'test|pass|fail|ok'")),
    (15, ("piped to `grep`", "grep -E '^(ok|FAIL|---)|Test|test result|passed|failed'")),
    (15, ("piped to `grep`", "grep -v '^$' | tail -20")),
    (12, ("piped to `grep`", "grep -E 'Tests|Test Files|Test Suites|test result|passed|ok|FAIL|pass|fail' | head -40")),
    (10, ("piped to `grep`", "grep -vE 'DEBUG|INFO' | tail -15")),
    (6, ("piped to `grep`", "grep -A 5 -E 'FAIL|failed|passed|ok|test result'")),
    (4, ("piped to `grep`", "grep FAILED")),
    (2, ("piped to `awk`", "awk '/pass/ { print $0 }'")),
];

/// What comes around a run that is not in a pipe.
const FRAMES: [(usize, (&str, &str, bool)); 8] = [
    (60, ("alone", "{run}", true)),
    (25, ("alone", "{run} 2>&1", true)),
    (6, ("redirected", "{run} > /dev/null 2>&1", true)),
    (
        10,
        (
            "with a commit",
            "{run} && git add -A && git commit -m \"$(cat <<'EOF'\nfix: the sum\n\nIt was wrong.\nEOF\n)\"",
            true,
        ),
    ),
    (6, ("hidden exit code", "{run}; echo \"exit: $?\"", false)),
    (4, ("hidden exit code", "{run} 2>&1 || true", false)),
    (4, ("hidden exit code", "{run} > /tmp/out.txt 2>&1; tail -40 /tmp/out.txt", false)),
    (3, ("hidden exit code", "{run} 2>&1; git status --short", false)),
];

/// Generates `count` samples.
pub fn samples(count: usize) -> Vec<Sample> {
    let mut dice = Dice::new();
    (0..count).map(|_| sample(&mut dice)).collect()
}

fn sample(dice: &mut Dice) -> Sample {
    let (command, runner, listed) = *dice.weighted(&COMMANDS);
    let truth = *dice.weighted(&[(75, Truth::Passed), (23, Truth::Failed), (2, Truth::Nothing)]);
    let prefix = *dice.pick(&[
        "",
        "",
        "",
        "cd app && ",
        "cd /w/p && CI=1 ",
        "RUST_BACKTRACE=1 ",
        "source .venv/bin/activate && ",
    ]);
    let run = format!("{prefix}{command}");
    let printed = output(dice, command, runner, truth);
    let piped = dice.below(1816) < 969;
    if piped {
        let (shape, filters) = *dice.weighted(&FILTERS);
        let line = format!("{run} 2>&1 | {filters}");
        let seen = filtered(&printed, filters);
        let mut response = json!({"stdout": seen.trim(), "stderr": "", "interrupted": false, "isImage": false});
        // The host calls `grep` without a match a success, and explains it.
        if filters.starts_with("grep") && !filters.contains('|') && seen.trim().is_empty() {
            response["returnCodeInterpretation"] = "No matches found".into();
        }
        return Sample { event: passed(&line, &response), truth, shape, listed, own: false };
    }
    let (shape, frame, own) = *dice.weighted(&FRAMES);
    let line = frame.replace("{run}", &run);
    let shown = if shape == "redirected" { "" } else { printed.trim() };
    let response = json!({"stdout": shown, "stderr": "", "interrupted": false, "isImage": false});
    let event = if own && truth == Truth::Failed {
        json!({"hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_input": {"command": line},
            "error": format!("Exit code 1\n{shown}"), "is_interrupt": false})
    } else {
        passed(&line, &response)
    };
    // The corpus has no redirected run without tests: nothing would show it.
    let truth = if shape == "redirected" && truth == Truth::Nothing { Truth::Passed } else { truth };
    Sample { event, truth, shape, listed, own }
}

fn passed(line: &str, response: &Value) -> Value {
    json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": line}, "tool_response": response})
}

/// Runs filters on a text.
fn filtered(text: &str, filters: &str) -> String {
    let mut shell = Command::new("sh");
    let shell = shell.args(["-c", &filters.replace("/tmp/test.log", "/dev/null")]);
    let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    // A filter may stop reading before the end.
    let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

fn output(dice: &mut Dice, command: &str, runner: Runner, truth: Truth) -> String {
    let mut lines: Vec<String> = Vec::new();
    if command.starts_with("mise run") {
        lines.push(format!("[{}] $ run", command.trim_start_matches("mise run ")));
    } else if command.starts_with("bun run") || command.starts_with("npm") {
        lines.push("$ run".to_owned());
    }
    lines.extend(printed(dice, runner, truth));
    if truth == Truth::Failed {
        match command {
            command if command.starts_with("mise run") => lines.push("[test] ERROR task failed".to_owned()),
            command if command.starts_with("bun run") => {
                lines.push("error: script \"test\" exited with code 1".to_owned());
            }
            command if command.starts_with("make") => lines.push("make: *** [Makefile:9: test] Error 1".to_owned()),
            command if command.starts_with("just") => {
                lines.push("error: Recipe `check` failed on line 4 with exit code 101".to_owned());
            }
            _ => {}
        }
    }
    lines.join("\n") + "\n"
}

/// The lines that a runner prints.
#[expect(clippy::too_many_lines, reason = "one arm per runner")]
fn printed(dice: &mut Dice, runner: Runner, truth: Truth) -> Vec<String> {
    let total = 2 + dice.below(40);
    let bad = if truth == Truth::Failed { 1 + dice.below(total.min(3)) } else { 0 };
    let good = total - bad;
    let coloured = |text: String| format!("\u{1b}[32m{text}\u{1b}[0m");
    let mut lines: Vec<String> = Vec::new();
    match (runner, truth) {
        (Runner::Cargo, Truth::Nothing) => lines.push(
            "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out; finished in 0.00s".to_owned(),
        ),
        (Runner::Cargo, _) => {
            lines.push("   Compiling core v0.1.0 (/w/p)".to_owned());
            lines.push(format!("running {total} tests"));
            for at in 0..total {
                lines.push(format!("test case_{at} ... {}", if at < bad { "FAILED" } else { "ok" }));
            }
            if bad > 0 {
                lines.extend(["", "failures:", "    case_0", ""].map(str::to_owned));
                lines.push(format!("test result: FAILED. {good} passed; {bad} failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s"));
                lines.extend(["", "error: test failed, to rerun pass `--lib`"].map(str::to_owned));
            } else {
                lines.push(String::new());
                lines.push(format!(
                    "test result: ok. {good} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s"
                ));
                lines.extend(["", "   Doc-tests core", "", "running 0 tests", ""].map(str::to_owned));
                lines.push(
                    "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s"
                        .to_owned(),
                );
                lines.push(String::new());
            }
        }
        (Runner::Pytest, Truth::Nothing) => lines.push("============ 7 deselected in 0.03s ============".to_owned()),
        (Runner::Pytest, _) => {
            lines.push("============ test session starts ============".to_owned());
            for at in 0..total.div_ceil(4) {
                lines.push(format!("tests/test_{at}.py {}", if at == 0 && bad > 0 { "..F." } else { "...." }));
            }
            if bad > 0 {
                lines.push("E       assert 3 == 4".to_owned());
                lines.push("FAILED tests/test_0.py::test_sum - assert 3 == 4".to_owned());
                lines.push(format!("============ {bad} failed, {good} passed in 0.41s ============"));
            } else {
                lines.push(coloured(format!("============ {good} passed in 0.41s ============")));
            }
        }
        (Runner::Go, Truth::Nothing) => lines.push("ok  \texample.com/a\t0.003s [no tests to run]".to_owned()),
        (Runner::Go, _) => {
            if bad > 0 {
                lines.extend(
                    ["--- FAIL: TestSum (0.00s)", "    sum_test.go:9: got 3", "FAIL", "FAIL\texample.com/a\t0.004s"]
                        .map(str::to_owned),
                );
            }
            for at in 0..total {
                lines.push(if at % 3 == 2 {
                    format!("?   \texample.com/p{at}\t[no test files]")
                } else {
                    format!("ok  \texample.com/p{at}\t0.0{at}s")
                });
            }
            lines.extend((bad > 0).then(|| "FAIL".to_owned()));
        }
        (Runner::Jest, Truth::Nothing) => lines.push("No tests found, exiting with code 0".to_owned()),
        (Runner::Jest, _) => {
            let suites = 1 + total / 5;
            for at in 0..suites {
                lines.push(format!("{} src/part{at}.test.ts", if at == 0 && bad > 0 { "FAIL" } else { "PASS" }));
            }
            lines.push(String::new());
            if bad > 0 {
                lines.push(format!("Test Suites: 1 failed, {suites} passed, {} total", suites + 1));
                lines.push(format!("Tests:       {bad} failed, {good} passed, {total} total"));
            } else {
                lines.push(format!("Test Suites: {suites} passed, {suites} total"));
                lines.push(format!("Tests:       {good} passed, {total} total"));
            }
            lines.extend(["Snapshots:   0 total", "Time:        1.204 s", "Ran all test suites."].map(str::to_owned));
        }
        (Runner::Vitest, Truth::Nothing) => lines.push("No test files found, exiting with code 0".to_owned()),
        (Runner::Vitest, _) => {
            let files = 1 + total / 5;
            for at in 0..files {
                lines.push(coloured(format!(" ✓ src/part{at}.test.ts (4 tests) 12ms")));
            }
            if bad > 0 {
                lines.extend(
                    [" FAIL  src/part9.test.ts > sum", "AssertionError: expected 3 to be 4", ""].map(str::to_owned),
                );
                lines.push(format!(" Test Files  1 failed | {files} passed ({})", files + 1));
                lines.push(format!("      Tests  {bad} failed | {good} passed ({total})"));
            } else {
                lines.push(format!(" Test Files  {files} passed ({files})"));
                lines.push(format!("      Tests  {good} passed ({total})"));
            }
            lines.extend(["   Start at  10:01:02", "   Duration  1.20s", ""].map(str::to_owned));
        }
        (Runner::Flutter, Truth::Nothing) => lines.push("No tests ran.".to_owned()),
        (Runner::Flutter, _) => {
            lines.extend((0..total).map(|at| format!("00:0{} +{at}: case {at}", at % 6)));
            lines.push(if bad > 0 {
                format!("00:09 +{good} -{bad}: Some tests failed.")
            } else {
                format!("00:09 +{good}: All tests passed!")
            });
        }
        (Runner::Playwright, Truth::Nothing) => lines.push("Error: No tests found".to_owned()),
        (Runner::Playwright, _) => {
            lines.push(format!("Running {total} tests using 2 workers"));
            lines.extend((bad..total).map(|at| format!("  ✓  {at} [chromium] › a.spec.ts:{at}:1 › case (1.0s)")));
            lines.push(String::new());
            if bad > 0 {
                lines.push(format!("  {bad} failed"));
                lines.extend((0..bad).map(|at| format!("    [chromium] › a.spec.ts:{at}:1 › case ────────")));
            }
            lines.push(format!("  {good} passed (5.2s)"));
        }
        (Runner::Bun, Truth::Nothing) => lines.push("Ran 0 tests across 0 files. [9.00ms]".to_owned()),
        (Runner::Bun, _) => {
            lines.push("bun test v1.2.0".to_owned());
            lines.extend(
                (0..total).map(|at| format!("({}) case {at} [0.10ms]", if at < bad { "fail" } else { "pass" })),
            );
            lines.extend([
                String::new(),
                format!(" {good} pass"),
                format!(" {bad} fail"),
                format!(" {total} expect() calls"),
            ]);
            lines.push(format!("Ran {total} tests across 2 files. [30.00ms]"));
        }
    }
    lines
}
