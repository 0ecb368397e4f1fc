//! Measures replay as ratios to reading the same bytes (`wc -l`) and to `jq -c .`, all measured in one run, and prints
//! each row with its goal.
//!
//! `cargo bench --bench replay` measures the host's build; `MODEGATE=path/to/modegate` another one. `-- quick` takes a
//! tenth of the corpus. Sessions are played through the hook; their journals are copied until the corpus is large enough,
//! each copy with a session id of its own. Processor time is that of the fastest round; bash measures it. `-- corpus DIR`
//! writes 96 MB of journals to DIR and measures nothing.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a bench prints, and stops where it cannot go on"
)]

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Sessions to play, and events per session (roughly).
const SESSIONS: usize = 24;
const TURNS: usize = 60;
const ROUNDS: usize = 5;

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
    let mut goals = Goals::default();
    contest(&binary, &whole, &mut goals);
    one_journal(&binary, &whole, &folder.join("one"), &mut goals);
    one_line(&binary, &folder.join("line"), &mut goals);
    growth(&binary, &half, &whole, &mut goals);
    goals.print();
    fs::remove_dir_all(&folder).unwrap();
}

fn write_corpus(folder: &Path) {
    let home = folder.join("project");
    let corpus = Corpus::grown(&folder.join("journals"), &played(&home), 96_000_000);
    fs::remove_dir_all(home).unwrap();
    println!("{} MB in {} journals, {} lines", corpus.size / 1_000_000, corpus.files.len(), corpus.lines);
}

/// The rows with a goal.
#[derive(Default)]
struct Goals {
    table: String,
    missed: Vec<String>,
}

impl Goals {
    fn at_least(&mut self, what: &str, measured: f64, goal: f64) {
        self.row(what, measured, &format!(">= {goal}"), measured >= goal);
    }

    fn at_most(&mut self, what: &str, measured: f64, goal: f64) {
        self.row(what, measured, &format!("<= {goal}"), measured <= goal);
    }

    fn row(&mut self, what: &str, measured: f64, goal: &str, is_met: bool) {
        let word = if is_met { "" } else { "MISSED" };
        writeln!(self.table, "{what:<52} {measured:>8.1} {goal:>9} {word}").unwrap();
        if !is_met {
            self.missed.push(what.to_owned());
        }
    }

    fn print(&self) {
        println!("\n{:<52} {:>8} {:>9}\n{}", "", "measured", "goal", self.table);
        match self.missed.as_slice() {
            [] => println!("every goal is met"),
            missed => println!("missed: {}", missed.join("; ")),
        }
    }
}

/// All programs read the same files in turn; the fastest round counts.
fn contest(binary: &Path, corpus: &Corpus, goals: &mut Goals) {
    let files: Vec<String> = corpus.files.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    let program = |words: &[&str], files: &[String]| -> Vec<String> {
        words.iter().map(ToString::to_string).chain(files.iter().cloned()).collect()
    };
    let entrants = [
        ("wc -l", program(&["wc", "-l"], &files), ROUNDS),
        ("replay, 1 process", replay(binary, &corpus.folder, &["--threads", "1"]), ROUNDS),
        ("replay, 2 workers", replay(binary, &corpus.folder, &["--threads", "2"]), ROUNDS),
        ("replay --strict, 1 process", replay(binary, &corpus.folder, &["--threads", "1", "--strict"]), 2),
        ("replay --strict, 2 workers", replay(binary, &corpus.folder, &["--threads", "2", "--strict"]), 2),
        ("jq -c .", program(&["jq", "-c", "."], &files), 2),
    ];
    let mut best = [Spent::MOST; 6];
    for round in 0..ROUNDS {
        for ((_, words, _), best) in entrants.iter().zip(&mut best).filter(|((.., rounds), _)| round < *rounds) {
            *best = best.least(spent(words));
        }
    }
    let [reading, one, two, strict, strict_two, jq] = best;
    println!("{:<28} {:>10} {:>10} {:>10} {:>12}", "", "processor", "clock", "x wc -l", "jq takes, x");
    for ((name, ..), Spent { processor, clock }) in entrants.iter().zip(best) {
        let (wc, jq) = (processor / reading.processor, jq.processor / processor);
        println!("{name:<28} {processor:>9.3}s {clock:>9.3}s {wc:>10.1} {jq:>12.1}");
    }
    goals.at_least("1 process: faster than jq, processor time", jq.processor / one.processor, 20.0);
    goals.at_most("1 process: x wc -l, processor time", one.processor / reading.processor, 3.5);
    goals.at_least("2 workers: faster than jq, by the clock", jq.clock / two.clock, 35.0);
    goals.at_least("--strict: 2 workers faster than 1 process, by the clock", strict.clock / strict_two.clock, 1.5);
}

/// One journal is divided among the workers.
fn one_journal(binary: &Path, corpus: &Corpus, folder: &Path, goals: &mut Goals) {
    fs::create_dir_all(folder).unwrap();
    let text: Vec<u8> = corpus.files.iter().flat_map(|path| fs::read(path).unwrap()).collect();
    fs::write(folder.join("one.jsonl"), text).unwrap();
    let run = |workers: &str| {
        let words = replay(binary, folder, &["--threads", workers]);
        (0..ROUNDS).map(|_| spent(&words)).fold(Spent::MOST, Spent::least)
    };
    let (one, two) = (run("1"), run("2"));
    goals.at_least("one journal: 2 workers faster than 1 process, by the clock", one.clock / two.clock, 1.6);
    goals.at_most("one journal: processor time of 2 workers, x 1 process", two.processor / one.processor, 1.3);
}

/// A line that answers no question, with a command line that takes long to analyze.
fn one_line(binary: &Path, folder: &Path, goals: &mut Goals) {
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
    let spent = spent(&replay(binary, folder, &["--threads", "1"]));
    goals.at_most("one line that is hard to decide: seconds", spent.processor, 1.0);
}

/// Twice the corpus should take twice the time, and no more memory.
fn growth(binary: &Path, half: &Corpus, whole: &Corpus, goals: &mut Goals) {
    let run = |corpus: &Corpus| {
        let words = replay(binary, &corpus.folder, &["--threads", "2"]);
        let time = (0..3).map(|_| spent(&words)).fold(Spent::MOST, Spent::least);
        (time.processor, watched(&words) as f64 / 1024.0)
    };
    let (small, large) = (run(half), run(whole));
    let size = whole.size as f64 / half.size as f64;
    println!("a corpus {size:.2} x as large takes {:.2} x the processor time", large.0 / small.0);
    goals.at_most("peak memory in MB, 2 workers, all processes", large.1, 32.0);
    goals.at_most("peak memory, x that of half the corpus", large.1 / small.1, 1.2);
}

fn replay(binary: &Path, folder: &Path, options: &[&str]) -> Vec<String> {
    let binary = binary.to_string_lossy().into_owned();
    let options = options.iter().map(ToString::to_string);
    [binary, "replay".to_owned()].into_iter().chain(options).chain([folder.to_string_lossy().into_owned()]).collect()
}

/// The time that a program takes, in seconds.
#[derive(Clone, Copy)]
struct Spent {
    processor: f64,
    clock: f64,
}

impl Spent {
    const MOST: Self = Self { processor: f64::MAX, clock: f64::MAX };

    fn least(self, other: Self) -> Self {
        Self { processor: self.processor.min(other.processor), clock: self.clock.min(other.clock) }
    }
}

/// Runs a program with bash, which reports the processor time of its children.
fn spent(words: &[String]) -> Spent {
    let mut command = Command::new("bash");
    command.args(["-c", "TIMEFORMAT='%3R %3U %3S'; time \"$@\" >/dev/null 2>/dev/null", "bash"]).args(words);
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success() || words.iter().any(|word| word.ends_with("line")), "{words:?}");
    let text = String::from_utf8(output.stderr).unwrap();
    let seconds: Vec<f64> = text.split_whitespace().map(|number| number.parse().unwrap()).collect();
    let [clock, user, system] = seconds.try_into().unwrap();
    Spent { processor: user + system, clock }
}

/// Runs a program; returns the peak memory of it and its children in KB.
fn watched(words: &[String]) -> u64 {
    let [program, arguments @ ..] = words else { return 0 };
    let mut child = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let id = child.id();
    let mut peaks: BTreeMap<u32, u64> = BTreeMap::new();
    while child.try_wait().unwrap().is_none() {
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
        for process in children.split_whitespace().filter_map(|id| id.parse().ok()).chain([id]) {
            let text = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0);
            let peak = peaks.entry(process).or_default();
            *peak = kilobytes.max(*peak);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    peaks.values().sum()
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
