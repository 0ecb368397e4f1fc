//! Counts the hook's instructions with callgrind; other load on the machine does not affect the counts.
//!
//! `tests/instructions` builds a static binary and runs this with `check`: it compares the cases with
//! `benches/instructions.txt` and fails if one takes over 10 % more. `update` writes that file, and `growth` also measures how
//! events grow. `MODEGATE=path` measures another binary.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::panic,
    reason = "a bench prints, and stops where it cannot go on"
)]

#[path = "support/project.rs"]
#[expect(dead_code, reason = "each bench uses its part")]
mod project;

use project::{MODE, Project, RUNNING_RULE, events, many_rules};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const BASELINE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/instructions.txt");

/// How much more a case may take than the baseline.
const TOLERANCE: f64 = 0.1;

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let has = |word: &str| words.iter().any(|given| given == word);
    if Command::new("valgrind").arg("--version").stdout(Stdio::null()).status().is_err() {
        println!("valgrind is not installed; nothing was counted");
        return;
    }
    // Always the same path: its length is part of what is counted.
    let folder = std::env::temp_dir().join("modegate-instructions");
    let _: std::io::Result<()> = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let binary = folder.join("modegate");
    let given =
        std::env::var_os("MODEGATE").map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_modegate")), PathBuf::from);
    fs::copy(given, &binary).unwrap();
    let cases = cases(&folder, &binary);
    let passed = compare(&cases, has("update"));
    if has("growth") {
        growth(&folder, &binary);
    }
    fs::remove_dir_all(&folder).unwrap();
    if has("check") && !passed {
        std::process::exit(1);
    }
}

/// The cases that are compared with the baseline.
fn cases(folder: &Path, binary: &Path) -> Vec<(&'static str, u64)> {
    let hooks = Project::new(folder, "hooks", binary);
    hooks.write(".claude/modes/bench.yaml", MODE);
    hooks.write("project/research/research_s_010126.md", "# Research\n");
    hooks.settle();
    hooks.hook(&hooks.event("plan", events::PLAN));
    let shell = |name: &str, rules: Option<&str>| {
        let project = Project::new(folder, name, binary);
        if let Some(rules) = rules {
            project.write(".claude/modes/base.yaml", rules);
        }
        project.settle();
        counted(&project, events::SHELL)
    };
    vec![
        ("no gate matches, no mode active", counted(&hooks, events::IDLE)),
        ("no gate matches, a mode active", counted(&hooks, events::BUSY)),
        ("gated start", counted(&hooks, events::START)),
        ("state move", counted(&hooks, events::MOVE)),
        ("shell command, built-in rules", shell("builtin", None)),
        ("shell command, 200 own rules", shell("rules", Some(&many_rules()))),
        ("shell command, one gate runs `true`", shell("runs", Some(RUNNING_RULE))),
    ]
}

/// Prints the cases next to the baseline; `false` if one takes too many instructions.
fn compare(cases: &[(&str, u64)], update: bool) -> bool {
    let compiler = Command::new("rustc").arg("--version").output().unwrap().stdout;
    let compiler = String::from_utf8(compiler).unwrap();
    let baseline = fs::read_to_string(BASELINE).unwrap_or_default();
    let is_comparable = baseline.lines().next() == Some(compiler.trim());
    let mut passed = true;
    let mut text = format!("{}\n", compiler.trim());
    println!("{:<44} {:>12} {:>12}", "instructions", "now", "baseline");
    for (name, count) in cases {
        let known = baseline.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
        let change = known.map(|known| *count as f64 / known as f64 - 1.0);
        let is_over = change.is_some_and(|change| change > TOLERANCE);
        passed &= !is_over;
        let change = change.map_or_else(String::new, |change| format!("{:+.1} %", change * 100.0));
        let known = known.map_or_else(String::new, |known| known.to_string());
        println!("{name:<44} {count:>12} {known:>12} {change:>9}{}", if is_over { "  too many" } else { "" });
        writeln!(text, "{name:<44} {count}").unwrap();
    }
    if update {
        fs::write(BASELINE, text).unwrap();
        println!("written to benches/instructions.txt");
    } else if !is_comparable {
        println!("the baseline was made with another compiler, so nothing is compared");
    }
    passed || !is_comparable
}

/// How events grow with the number of modes and sessions and with the length of the journal; the goal is 1.2.
fn growth(folder: &Path, binary: &Path) {
    let sessions = [1, 10_000].map(|count| with_sessions(folder, binary, count));
    let rows = [
        ("a quiet event, 7 modes → 50", [0, 43].map(|extra| with_modes(folder, binary, extra))),
        ("a quiet event, 1 session → 10,000", sessions.map(|(quiet, _)| quiet)),
        ("a state move, 1 session → 10,000", sessions.map(|(_, moved)| moved)),
        ("an agent's stop, journal of 1 KB → 256 MB", [1, 256_000].map(|size| with_journal(folder, binary, size))),
    ];
    println!();
    for (name, [small, large]) in rows {
        let [before, after] = [small, large].map(|count| count as f64 / 1e6);
        println!("{name:<44} {before:>8.2} {after:>8.2} M  {:>6.2} x", after / before);
    }
}

fn with_modes(folder: &Path, binary: &Path, extra: usize) -> u64 {
    let project = Project::new(folder, &format!("modes{extra}"), binary);
    for index in 0..extra {
        let text =
            MODE.replace("mode: bench", &format!("mode: bench{index}")).replace("/bench", &format!("/bench{index}"));
        project.write(&format!(".claude/modes/bench{index}.yaml"), &text);
    }
    project.settle();
    counted(&project, events::IDLE)
}

fn with_sessions(folder: &Path, binary: &Path, count: usize) -> (u64, u64) {
    let project = Project::new(folder, &format!("sessions{count}"), binary);
    project.settle();
    for index in 0..count {
        let fields = format!(r#""session_id":"s{index}","hook_event_name":"UserPromptSubmit","prompt":"/plan x""#);
        project.hook(&project.event("plan", &fields));
    }
    (counted(&project, events::IDLE), counted(&project, events::MOVE))
}

fn with_journal(folder: &Path, binary: &Path, kilobytes: usize) -> u64 {
    let project = Project::new(folder, &format!("journal{kilobytes}"), binary);
    project.write("project/research/research_s_010126.md", "# Research\n");
    project.write(".claude/modegate.yaml", "journal: { megabytes: 512 }\n");
    project.settle();
    project.hook(&project.event("plan", events::PLAN));
    project.hook(&project.event("start", events::START));
    let begun =
        r#""session_id":"s","hook_event_name":"SubagentStart","agent_id":"a1","agent_type":"strategic-planner""#;
    project.hook(&project.event("begun", begun));
    let edit = r#""session_id":"s","hook_event_name":"PostToolUse","tool_name":"Write","tool_input":{"file_path":"/x","content":"y"},"tool_response":{"filePath":"/x"}"#;
    project.hook(&project.event("edit", edit));
    project.hook(&project.event("busy", events::BUSY));
    let journal = project.home.join(".claude/hooks/sessions/s.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let tail = text.lines().rev().take(2).fold(String::new(), |tail, line| tail + line + "\n");
    let times = (kilobytes * 1_000).saturating_sub(text.len()) / tail.len();
    fs::write(&journal, text + &tail.repeat(times)).unwrap();
    // Only the journal knows the type of this agent.
    let stop = r#""session_id":"s","hook_event_name":"SubagentStop","agent_id":"a1","stop_hook_active":false"#;
    counted(&project, stop)
}

/// The number of instructions for one event when it is sent for the second time.
fn counted(project: &Project, fields: &str) -> u64 {
    let event = project.event("counted", fields);
    let output = project.command().stdin(fs::File::open(&event).unwrap()).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 2)), "{output:?}");
    // A shell of a process called `claude`, as in a session: the processes up to it are looked at.
    let host = project.user.join("claude");
    let _: std::io::Result<()> = std::os::unix::fs::symlink("/usr/bin/timeout", &host);
    let mut command = Command::new(host);
    project.prepare(&mut command);
    command
        .args(["600", "sh", "-c", "\"$@\"; exit $?", "sh", "valgrind"])
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(project.command().get_program())
        .arg("hook");
    let output = command.stdin(fs::File::open(&event).unwrap()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let collected = text.lines().find_map(|line| line.split("Collected : ").nth(1));
    collected.and_then(|count| count.trim().parse().ok()).unwrap_or_else(|| panic!("{text}"))
}
