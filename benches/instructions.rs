//! Counts the hook's instructions with callgrind; other load on the machine does not affect the counts.
//!
//! `tests/instructions` builds a static binary and runs this with `check`: it compares the cases with
//! `benches/instructions.txt` and fails if one takes over 5 % more. `update` writes that file, and `growth` also measures how
//! events grow and draws `docs/images/growth.svg`. `MODEGATE=path` measures another binary.

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

const PLOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/images/growth.svg");

/// How much more a case may take than the baseline.
const TOLERANCE: f64 = 0.05;

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

/// What grows, at which sizes, and the instructions of an event at each size.
struct Growth {
    name: &'static str,
    sizes: [&'static str; 3],
    counts: [u64; 3],
}

/// How events grow with the number of modes and sessions and with the length of the journal.
fn growth(folder: &Path, binary: &Path) {
    let modes = [0, 43, 493].map(|extra| with_modes(folder, binary, extra));
    let sessions = [1, 1_000, 10_000].map(|count| with_sessions(folder, binary, count));
    let journals = [1, 1_000, 15_900].map(|size| with_journal(folder, binary, size));
    let (mode_sizes, session_sizes) = (["7 modes", "50", "500"], ["1 session", "1,000", "10,000"]);
    let rows = [
        Growth { name: "a quiet event", sizes: mode_sizes, counts: modes.map(|counts| counts.0) },
        Growth { name: "a prompt after a mode file changed", sizes: mode_sizes, counts: modes.map(|counts| counts.1) },
        Growth { name: "a quiet event", sizes: session_sizes, counts: sessions.map(|counts| counts.0) },
        Growth { name: "a state move", sizes: session_sizes, counts: sessions.map(|counts| counts.1) },
        Growth { name: "an agent's stop", sizes: ["journal of 1 KB", "1 MB", "16 MB"], counts: journals },
    ];
    println!();
    for Growth { name, sizes, counts } in &rows {
        let [first, second, third] = counts.map(|count| count as f64 / 1e6);
        let title = format!("{name}: {}", sizes.join(", "));
        println!("{title:<56} {first:>8.2} {second:>8.2} {third:>8.2} M  {:>6.2} x", third / first);
    }
    fs::write(PLOT, plot(&rows)).unwrap();
    println!("written to docs/images/growth.svg");
}

/// A plot of each row on its own scale from zero.
fn plot(rows: &[Growth]) -> String {
    const WIDTH: usize = 250;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} 190\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <title>Instructions of an event, in millions, as modes, sessions and journals grow</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        rows.len() * WIDTH
    );
    for (index, row) in rows.iter().enumerate() {
        let left = index * WIDTH + 30;
        let most = row.counts.iter().copied().max().unwrap_or(1) as f64;
        let points: Vec<(usize, f64)> = row
            .counts
            .iter()
            .enumerate()
            .map(|(at, count)| (left + at * 85, 150.0 - 100.0 * *count as f64 / most))
            .collect();
        let line: Vec<String> = points.iter().map(|(x, y)| format!("{x},{y:.0}")).collect();
        writeln!(svg, "<text x=\"{left}\" y=\"20\" font-weight=\"bold\">{}</text>", row.name).unwrap();
        writeln!(svg, "<path d=\"M{left} 150h175\" stroke=\"#999999\"/>").unwrap();
        writeln!(svg, "<polyline points=\"{}\" fill=\"none\" stroke=\"#2563eb\" stroke-width=\"2\"/>", line.join(" "))
            .unwrap();
        for ((x, y), (size, count)) in points.iter().zip(row.sizes.iter().zip(row.counts)) {
            let millions = count as f64 / 1e6;
            writeln!(svg, "<circle cx=\"{x}\" cy=\"{y:.0}\" r=\"3\" fill=\"#2563eb\"/>").unwrap();
            writeln!(svg, "<text x=\"{x}\" y=\"{:.0}\" text-anchor=\"middle\">{millions:.2}</text>", y - 8.0).unwrap();
            writeln!(svg, "<text x=\"{x}\" y=\"168\" text-anchor=\"middle\">{size}</text>").unwrap();
        }
    }
    svg + "</svg>\n"
}

fn with_modes(folder: &Path, binary: &Path, extra: usize) -> (u64, u64) {
    let project = Project::new(folder, &format!("modes{extra}"), binary);
    for index in 0..extra {
        let text =
            MODE.replace("mode: bench", &format!("mode: bench{index}")).replace("/bench", &format!("/bench{index}"));
        project.write(&format!(".claude/modes/bench{index}.yaml"), &text);
    }
    project.settle();
    let quiet = counted(&project, events::IDLE);
    if let Some(last) = extra.checked_sub(1) {
        project.write(&format!(".claude/modes/bench{last}.yaml"), &MODE.replace("bench", &format!("bench{last}")));
    } else {
        project.write(".claude/modegate.yaml", "patience: 3\n");
    }
    // Changes of a file in place are noticed with the next prompt.
    let prompt = r#""session_id":"idle","hook_event_name":"UserPromptSubmit","prompt":"hello""#;
    (quiet, counted(&project, prompt))
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
    project.write(".claude/modegate.yaml", "journal: { megabytes: 64 }\n");
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
