//! Measures replay as ratios to reading the same bytes (`wc -l`) and to `jq -c .`, all measured in one run.
//!
//! `cargo bench --bench replay` measures the host's build; `MODEGATE=path/to/modegate` another one. `-- quick` takes a
//! tenth of the corpus. The corpus is real: sessions are played through the hook, and their journals copied until it is
//! large enough.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a bench prints, and stops where it cannot go on"
)]

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Sessions to play, and events per session (roughly).
const SESSIONS: usize = 24;
const TURNS: usize = 60;
const ROUNDS: usize = 5;

fn main() {
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
    contest(&binary, &whole);
    growth(&binary, &half, &whole);
    fs::remove_dir_all(&folder).unwrap();
}

/// All programs read the same files in turn; the fastest round counts.
fn contest(binary: &Path, corpus: &Corpus) {
    let mut wc = Command::new("wc");
    wc.arg("-l").args(&corpus.files);
    let mut jq = Command::new("jq");
    jq.args(["-c", "."]).args(&corpus.files);
    let replay = |threads: &str| {
        let mut command = Command::new(binary);
        command.args(["replay", "--threads", threads]).arg(&corpus.folder);
        command
    };
    let mut entrants =
        [("wc -l", wc), ("replay, 1 thread", replay("1")), ("replay, 2 threads", replay("2")), ("jq -c .", jq)];
    let mut best = [Duration::MAX; 4];
    for round in 0..ROUNDS {
        for (entrant, best) in entrants.iter_mut().zip(&mut best) {
            // One round of jq takes longer than all others together.
            if entrant.0.starts_with("jq") && round > 1 {
                continue;
            }
            *best = (*best).min(timed(&mut entrant.1));
        }
    }
    let [reading, .., jq] = best;
    println!("{:<20} {:>10} {:>10} {:>14}", "", "seconds", "x wc -l", "jq takes, x");
    for ((name, _), time) in entrants.iter().zip(best) {
        let ratio = |a: Duration, b: Duration| a.as_secs_f64() / b.as_secs_f64();
        println!("{name:<20} {:>10.2} {:>10.1} {:>14.1}", time.as_secs_f64(), ratio(time, reading), ratio(jq, time));
    }
}

/// Twice the corpus should take twice the time, and no more memory.
fn growth(binary: &Path, half: &Corpus, whole: &Corpus) {
    let run = |corpus: &Corpus| {
        let mut command = Command::new(binary);
        command.args(["replay", "--threads", "2"]).arg(&corpus.folder);
        (0..3).map(|_| watched(&mut command)).min().unwrap()
    };
    let (small, large) = (run(half), run(whole));
    let time = large.0.as_secs_f64() / small.0.as_secs_f64();
    let size = whole.size as f64 / half.size as f64;
    println!("a corpus {size:.2} x as large takes {time:.2} x the time");
    println!(
        "peak memory: {} MB for {} MB, {} MB for {} MB",
        small.1 >> 10,
        half.size >> 20,
        large.1 >> 10,
        whole.size >> 20
    );
}

fn timed(command: &mut Command) -> Duration {
    let begun = Instant::now();
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(status.success(), "{command:?}");
    begun.elapsed()
}

/// Runs a program; returns its time and peak memory in KB.
fn watched(command: &mut Command) -> (Duration, u64) {
    let begun = Instant::now();
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        peak = peak.max(kilobytes.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(2));
    }
    (begun.elapsed(), peak)
}

struct Corpus {
    folder: PathBuf,
    files: Vec<PathBuf>,
    size: u64,
    lines: usize,
}

impl Corpus {
    /// Copies of the journals, until they reach the wanted size.
    fn grown(folder: &Path, journals: &[PathBuf], size: u64) -> Self {
        let mut corpus = Self { folder: folder.to_owned(), files: Vec::new(), size: 0, lines: 0 };
        let texts: Vec<Vec<u8>> = journals.iter().map(|path| fs::read(path).unwrap()).collect();
        for (number, text) in texts.iter().cycle().enumerate() {
            if corpus.size >= size {
                break;
            }
            let path = folder.join(format!("{}/session-{number}.jsonl", number / 100));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            corpus.size += text.len() as u64;
            corpus.lines += memchr::memchr_iter(b'\n', text).count();
            corpus.files.push(path);
        }
        corpus
    }
}

/// Plays sessions in a project and returns their journals.
fn played(home: &Path) -> Vec<PathBuf> {
    fs::create_dir_all(home.join("project/plans")).unwrap();
    fs::create_dir_all(home.join("project/research")).unwrap();
    fs::write(home.join("project/research/research_x_010126.md"), "# Research\n").unwrap();
    (0..SESSIONS).for_each(|session| play(home, &format!("5e55-{session:04}-a1b2-c3d4e5f6"), session));
    let folder = home.join(".claude/hooks/sessions");
    let mut journals: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    journals.sort();
    journals
}

/// A typical session: a prompt, a planner that is blocked once, many tool calls.
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
    event("SubagentStop", planner.clone());
    let day = modegate::internals::now().date;
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
