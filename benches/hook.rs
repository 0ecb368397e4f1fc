//! Measures events as ratios to an empty process, all measured in one run, and prints each row with its goal.
//!
//! `cargo bench --bench hook` measures the build of this machine; `MODEGATE=path/to/modegate` another one, such as the static
//! program of a release.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench prints, and stops where it cannot go on"
)]

#[path = "support/project.rs"]
#[expect(dead_code, reason = "each bench uses its part")]
mod project;

use project::{Project, events};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 300;

/// An event with its goals: as the host runs the committed entry, and the program alone.
const EVENTS: [(&str, &str, f64, f64); 3] = [
    ("no gate", events::BUSY, 1.6, 0.85),
    ("shell command", events::SHELL, 2.0, 1.3),
    ("refused start", events::START, 2.0, 1.25),
];

fn main() {
    #[cfg(unix)]
    if std::env::args_os().next().is_none_or(|program| !Path::new(&program).ends_with("claude")) {
        return below_a_host();
    }
    let folder = std::env::temp_dir().join(format!("modegate-bench-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let given =
        std::env::var_os("MODEGATE").map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_modegate")), PathBuf::from);
    let project = Project::new(&folder, "hooks", &given);
    assert!(project.plain().arg("install").stdout(Stdio::null()).status().unwrap().success());
    project.settle();
    project.hook(&project.event("plan", events::PLAN));
    let line = entry_line(&project);
    let mut entries = vec![Entry::new("/bin/true", 0.0, Command::new("/bin/true"), None)];
    for (name, fields, as_entry, alone) in EVENTS {
        let event = project.event(name, fields);
        // The installed copy: runs of a file in another place vary.
        let mut program = Command::new(project.home.join(".claude/hooks/modegate"));
        project.prepare(&mut program);
        program.arg("hook");
        entries.push(Entry::new(&format!("{name}, the program alone"), alone, program, Some(&event)));
        for shell in ["dash", "bash"] {
            let mut command = Command::new(shell);
            project.prepare(&mut command);
            command.args(["-c", &line]);
            entries.push(Entry::new(
                &format!("{name}, the committed entry in {shell}"),
                as_entry,
                command,
                Some(&event),
            ));
        }
    }
    let mut python = Command::new("python3");
    python.args(["-c", "import json, sys; json.load(sys.stdin)"]);
    let event = project.event("python", events::BUSY);
    entries.push(Entry::new("a Python hook that only reads the event", 0.0, python, Some(&event)));
    compare(entries);
    fs::remove_dir_all(&folder).unwrap();
}

/// Runs the bench again in a process called `claude`: the hook looks at the processes up to the host.
#[cfg(unix)]
fn below_a_host() {
    let folder = std::env::temp_dir().join(format!("modegate-bench-host-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let host = folder.join("claude");
    // A link, because a program in a temporary folder does not count as the host.
    std::os::unix::fs::symlink(std::env::current_exe().unwrap(), &host).unwrap();
    let status = Command::new(&host).args(std::env::args_os().skip(1)).status().unwrap();
    fs::remove_dir_all(&folder).unwrap();
    assert!(status.success(), "{status}");
}

/// The line that the host runs before each tool call.
fn entry_line(project: &Project) -> String {
    let settings = fs::read_to_string(project.home.join(".claude/settings.json")).unwrap();
    let settings: serde_json::Value = serde_json::from_str(&settings).unwrap();
    settings.pointer("/hooks/PreToolUse/0/hooks/0/command").and_then(serde_json::Value::as_str).unwrap().to_owned()
}

/// A program that takes its turn, with what it reads.
struct Entry {
    name: String,
    goal: f64,
    command: Command,
    input: Option<PathBuf>,
    times: Vec<Duration>,
}

impl Entry {
    fn new(name: &str, goal: f64, mut command: Command, input: Option<&Path>) -> Self {
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Self { name: name.to_owned(), goal, command, input: input.map(Path::to_owned), times: Vec::new() }
    }

    fn run(&mut self) {
        let input = self.input.as_ref().map_or_else(Stdio::null, |path| fs::File::open(path).unwrap().into());
        self.command.stdin(input);
        let begun = Instant::now();
        self.command.status().unwrap();
        self.times.push(begun.elapsed());
    }

    fn median(&mut self) -> Duration {
        self.times.sort_unstable();
        self.times.get(self.times.len() / 2).copied().unwrap_or_default()
    }
}

/// Runs the entries in turns, so that other load affects all of them equally; the first is the unit.
fn compare(mut entries: Vec<Entry>) {
    for _ in 0..ROUNDS {
        entries.iter_mut().for_each(Entry::run);
    }
    let unit = entries.first_mut().unwrap().median();
    for entry in &mut entries {
        let median = entry.median();
        let ratio = median.as_secs_f64() / unit.as_secs_f64();
        let missed = if ratio > entry.goal { "  missed" } else { "" };
        let goal = if entry.goal > 0.0 { format!("goal {:.2}{missed}", entry.goal) } else { String::new() };
        println!("{:<48} {:>8.2} ms  {ratio:>6.2} x /bin/true  {goal}", entry.name, median.as_secs_f64() * 1e3);
    }
}
