//! Measures a replay of journals: the time and the memory that 300 MB take, and how both grow.
//!
//! `cargo bench --bench replay` measures the host's build; `MODEGATE=path/to/modegate` another one. `-- quick` takes a
//! tenth of the corpus. Sessions are played through the hook; their journals are copied until the corpus is large enough,
//! each copy with a session id of its own. Bash measures the time. `-- corpus DIR` writes 96 MB of journals to DIR and
//! measures nothing.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench prints, and stops where it cannot go on"
)]

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Sessions to play, and events per session (roughly).
const SESSIONS: usize = 24;
const TURNS: usize = 60;
const ROUNDS: usize = 3;

fn main() {
    let mut words = std::env::args();
    if words.any(|word| word == "corpus") {
        return write_corpus(Path::new(&words.next().unwrap()));
    }
    let quick = std::env::args().any(|word| word == "quick");
    let size: u64 = if quick { 30_000_000 } else { 300_000_000 };
    let folder = std::env::temp_dir().join(format!("modegate-bench-replay-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let binary = folder.join("modegate");
    let given =
        std::env::var_os("MODEGATE").map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_modegate")), PathBuf::from);
    fs::copy(given, &binary).unwrap();
    let journals = played(&folder.join("project"));
    let whole = Corpus::grown(&folder.join("whole"), &journals, size);
    let half = Corpus::grown(&folder.join("half"), &journals, size / 2);
    println!("{} MB in {} journals, {} lines", whole.size / 1_000_000, whole.files.len(), whole.lines);
    let (small, large) = (measured(&binary, &half.folder), measured(&binary, &whole.folder));
    println!("processor time: {:.2} s (goal: 4 s for 300 MB), by the clock: {:.2} s", large.processor, large.clock);
    println!("peak memory: {} MB, of half the corpus: {} MB", large.kilobytes / 1024, small.kilobytes / 1024);
    println!("a corpus twice as large takes {:.2} x the processor time", large.processor / small.processor);
    println!(
        "one line that is hard to decide: {:.2} s (goal: 1 s)",
        hard_line(&binary, &folder.join("line")).processor
    );
    fs::remove_dir_all(&folder).unwrap();
}

fn write_corpus(folder: &Path) {
    let home = folder.join("project");
    let corpus = Corpus::grown(&folder.join("journals"), &played(&home), 96_000_000);
    fs::remove_dir_all(home).unwrap();
    println!("{} MB in {} journals, {} lines", corpus.size / 1_000_000, corpus.files.len(), corpus.lines);
}

/// A line that answers no question, with a command line that takes long to analyze.
fn hard_line(binary: &Path, folder: &Path) -> Measured {
    fs::create_dir_all(folder).unwrap();
    let line = json!({
        "v": 1, "at": "2026-11-17T10:00:00Z", "event": {
            "session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/home/ann/app", "tool_name": "Bash",
            "transcript_path": "/home/ann/.claude/projects/-home-ann-app/s.jsonl",
            "tool_input": {"command": "find . -exec ".repeat(700)},
        },
        "before": {"id": "s"}, "modes": "", "decision": {"verdict": "pass"}, "us": 1,
    });
    fs::write(folder.join("line.jsonl"), format!("{line}\n")).unwrap();
    measured(binary, folder)
}

/// What a replay takes: seconds, and its peak memory.
#[derive(Clone, Copy)]
struct Measured {
    processor: f64,
    clock: f64,
    kilobytes: u64,
}

/// Replays a folder with one thread; the fastest round counts.
fn measured(binary: &Path, folder: &Path) -> Measured {
    let words = [binary.to_str().unwrap(), "replay", "--threads", "1", folder.to_str().unwrap()];
    let rounds = (0..ROUNDS).map(|_| spent(&words));
    let (processor, clock) = rounds.reduce(|best, round| if round < best { round } else { best }).unwrap();
    Measured { processor, clock, kilobytes: peak_memory(&words) }
}

/// Runs a program with bash, which reports its processor time; returns that and the time by the clock.
fn spent(words: &[&str]) -> (f64, f64) {
    let mut command = Command::new("bash");
    command.args(["-c", "TIMEFORMAT='%3R %3U %3S'; time \"$@\" >/dev/null 2>/dev/null", "bash"]).args(words);
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success() || words.iter().any(|word| word.ends_with("line")), "{words:?}");
    let text = String::from_utf8(output.stderr).unwrap();
    let seconds: Vec<f64> = text.split_whitespace().map(|number| number.parse().unwrap()).collect();
    let [clock, user, system] = seconds.try_into().unwrap();
    (user + system, clock)
}

/// Runs a program; returns its peak memory in KB.
fn peak_memory(words: &[&str]) -> u64 {
    let [program, arguments @ ..] = words else { return 0 };
    let mut child = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let text = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        peak = peak.max(kilobytes.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(1));
    }
    peak
}

struct Corpus {
    folder: PathBuf,
    files: Vec<PathBuf>,
    size: u64,
    lines: usize,
}

impl Corpus {
    /// Copies the journals, each copy as a session of its own, until they reach the given size.
    fn grown(folder: &Path, journals: &[PathBuf], size: u64) -> Self {
        let mut corpus = Self { folder: folder.to_owned(), files: Vec::new(), size: 0, lines: 0 };
        let texts: Vec<String> = journals.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
        for (number, (played, text)) in texts.iter().enumerate().cycle().enumerate() {
            if corpus.size >= size {
                break;
            }
            let path = folder.join(format!("{}/session-{number}.jsonl", number / 100));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let text = text.replace(&session_id(played), &session_id(number));
            fs::write(&path, &text).unwrap();
            corpus.size += text.len() as u64;
            corpus.lines += text.lines().count();
            corpus.files.push(path);
        }
        corpus
    }
}

fn session_id(number: usize) -> String {
    format!("5e55-{number:04}-a1b2-c3d4e5f6")
}

/// Plays sessions in a project and returns their journals.
fn played(home: &Path) -> Vec<PathBuf> {
    fs::create_dir_all(home.join("project/plans")).unwrap();
    fs::create_dir_all(home.join("project/research")).unwrap();
    fs::write(home.join("project/research/research_x_010126.md"), "# Research\n").unwrap();
    (0..SESSIONS).for_each(|session| play(home, &session_id(session), session));
    let folder = home.join(".claude/hooks/sessions");
    let mut journals: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    journals.sort();
    journals
}

/// A typical session: a prompt, a planner, many tool calls.
fn play(home: &Path, session: &str, seed: usize) {
    let event = |kind: &str, more: Value| {
        let mut event = json!({
            "session_id": session, "transcript_path": format!("/home/ann/.claude/projects/-home-ann-app/{session}.jsonl"),
            "cwd": home, "prompt_id": "23d7f57d-6e63-45f1-9217-c7395a4c98a9", "permission_mode": "default",
            "hook_event_name": kind,
        });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let _ = modegate::answer(event.to_string().as_bytes(), Some(home));
    };
    event("SessionStart", json!({"source": "startup"}));
    event("UserPromptSubmit", json!({"prompt": format!("/plan feature {seed}, with everything that belongs to it")}));
    let planner = json!({"agent_id": "a7154de3fc719065c", "agent_type": "strategic-planner"});
    let spawn = json!({"tool_name": "Agent", "tool_input": {"subagent_type": "strategic-planner", "prompt": "Plan it.", "description": "Plan"}});
    event("PreToolUse", spawn.clone());
    event("SubagentStart", planner.clone());
    for turn in 0..TURNS {
        tools(&event, seed * TURNS + turn);
    }
    let day = jiff::Zoned::now().strftime("%m%d%y");
    fs::write(home.join(format!("project/plans/plan_{session}_{day}.md")), "# Plan\n").unwrap();
    event("SubagentStop", planner);
    event("PostToolUse", spawn);
    event("Stop", json!({"stop_hook_active": false, "last_assistant_message": "The plan is written."}));
}

fn tools(event: &impl Fn(&str, Value), seed: usize) {
    let lines =
        ["cargo test --workspace 2>&1 | tail -20", "git status --short", "rg -n 'fn main' src | head", "ls -la"];
    let line = lines.get(seed % lines.len()).unwrap();
    let path = format!("/home/ann/app/src/module_{}/part_{seed}.rs", seed % 7);
    let text = "let value = compute(input)?;\n".repeat(20 + seed % 30);
    let calls = [
        ("Read", json!({"file_path": path}), json!({"file": {"content": text, "numLines": 40}})),
        ("Grep", json!({"pattern": "fn main", "path": "src"}), json!({"mode": "content", "content": text})),
        ("Edit", json!({"file_path": path, "old_string": "a", "new_string": text}), json!({"filePath": path})),
        (
            "Bash",
            json!({"command": line, "description": "Look"}),
            json!({"stdout": text, "stderr": "", "interrupted": false}),
        ),
    ];
    for (tool, input, response) in calls {
        let id = format!("toolu_015R8tPjv7FUHuW6MDJj{seed:04}");
        event("PreToolUse", json!({"tool_name": tool, "tool_input": input, "tool_use_id": id}));
        let after = json!({"tool_name": tool, "tool_input": input, "tool_use_id": id, "tool_response": response});
        event("PostToolUse", after);
    }
}
