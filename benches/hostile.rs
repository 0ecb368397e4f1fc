//! Measures the slowest decisions: command lines built to take long, and those of `fixtures/bypasses` and `fuzz/seeds`.
//!
//! `cargo bench --bench hostile` prints the distribution of the processor time of the whole hook, and the slowest lines.
//! `MODEGATE=path/to/modegate` measures another build.

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
use std::time::{Duration, Instant};

/// Pieces that are repeated, with what closes each.
const PIECES: [(&str, &str); 78] = [
    ("x", ""),
    ("x ", ""),
    ("/", ""),
    ("../", ""),
    ("a/../", ""),
    ("(", ")"),
    ("( ", " )"),
    ("$(", ")"),
    ("`", "`"),
    ("$(`", ""),
    ("\"`", ""),
    ("`$(", ""),
    ("`\"$(", ""),
    ("{ ", "; }"),
    ("${x:-", "}"),
    ("${x/a/", "}"),
    ("$((1+", "))"),
    ("\"$(", ")\""),
    ("<(", ")"),
    ("if a; then ", "; fi"),
    ("a=(", ")"),
    ("[[ ( ", " ) ]]"),
    ("while a; do ", "; done"),
    ("case x in a) ", ";; esac"),
    ("eval '", "'"),
    ("eval ", ""),
    ("f() ", ""),
    ("sudo ", ""),
    ("env ", ""),
    ("! ", ""),
    ("bash -c ", ""),
    ("{a,", "}"),
    ("{a,b}", ""),
    ("{1..9}", ""),
    ("{a..z}", ""),
    ("\\", ""),
    ("'", ""),
    ("\"", ""),
    ("$", ""),
    ("$x", ""),
    ("$'\\x41'", ""),
    ("<<E ", ""),
    ("<<E\n", ""),
    ("x|", ""),
    ("x&&", ""),
    ("x||", ""),
    ("x;", ""),
    ("x\n", ""),
    ("x&", ""),
    (">", ""),
    ("> f ", ""),
    ("2>&1 ", ""),
    ("<<< a ", ""),
    ("*", ""),
    ("?", ""),
    ("[a-z]", ""),
    ("~", ""),
    ("#", ""),
    ("# x\n", ""),
    ("é", ""),
    ("xargs ", ""),
    ("find . -exec ", ""),
    ("cd a; ", ""),
    ("cd a || ", ""),
    ("a=$a$a; ", ""),
    ("a+=x; ", ""),
    ("set -- \"$@\" a b c; ", ""),
    ("x=(\"${x[@]}\" \"${x[@]}\" a); ", ""),
    ("for i in 1 2 3; do ", "; done"),
    ("f() { f; f; }; f; ", ""),
    ("rm a; ", ""),
    ("ln -s a b; ", ""),
    ("mv a b; ", ""),
    ("git add a; ", ""),
    ("sed -i s/a/b/ f; ", ""),
    ("python3 -c 'open(\"a\")'; ", ""),
    ("curl -d @a b; ", ""),
    ("alias a='b c'; a ", ""),
];

/// Commands before the pieces.
const HEADS: [&str; 6] = ["", "rm -rf ", "echo ", "python3 -c '", "cat <<'E'\n", "node -e \""];

/// The sizes of the lines, in bytes; what takes exponential time takes it in short lines.
const SIZES: [usize; 6] = [60, 240, 4_000, 32_000, 60_000, 1_000_000];

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let hook = HookProcess::new(folder.path());
    let mut lines = fixtures();
    lines.extend(crafted());
    for size in SIZES {
        let made = PIECES.iter().flat_map(|piece| HEADS.iter().map(move |head| (head, piece)));
        lines.extend(made.map(|(head, (open, close))| {
            let times = (size / (open.len() + close.len())).max(1);
            format!("{head}{}rm{}", open.repeat(times), close.repeat(times))
        }));
    }
    let mut times: Vec<(Duration, usize, String)> = Vec::new();
    for line in lines {
        let begin: String = line.chars().take(60).collect();
        times.push((hook.time(&line), line.len(), begin));
    }
    times.sort();
    println!("{} lines", times.len());
    for (name, share) in [("median", 500), ("90 %", 900), ("99 %", 990), ("99.9 %", 999), ("longest", 1000)] {
        let at = (times.len() * share / 1000).min(times.len() - 1);
        println!("{name}: {} ms", times.get(at).unwrap().0.as_millis());
    }
    let over = times.iter().filter(|(time, ..)| *time > Duration::from_millis(200)).count();
    println!("over 200 ms: {over}");
    for (time, size, begin) in times.iter().rev().take(20) {
        println!("{:>6} ms, {size} bytes: {begin:?}", time.as_millis());
    }
}

/// Lines that once took seconds or minutes: many folders that the line may be in, and many values.
fn crafted() -> Vec<String> {
    let branches: Vec<String> = (0..1400).map(|number| format!("a) cd b{number};; ")).collect();
    vec![
        format!("case x in {} esac; rm {}; rm -rf ~", branches.concat(), "x/y ".repeat(4000)),
        format!("git {}status", "-C a ".repeat(12_000)),
        format!("awk {}'{{print a;{}}}'", "-v a=b ".repeat(4000), "a ".repeat(8000)),
    ]
}

/// The command lines of `fixtures/bypasses` and of `fuzz/seeds/shell`.
fn fixtures() -> Vec<String> {
    let files = |folder: &str| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path())
    };
    let seeds = files("fuzz/seeds/shell").map(|path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned());
    let files = files("fixtures/bypasses").filter(|path| path.extension().is_some_and(|end| end == "yaml"));
    let cases = files.flat_map(|path| {
        let cases: Vec<Value> = serde_yaml::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        cases
    });
    cases.filter_map(|case| Some(case.get("run")?.as_str()?.to_owned())).chain(seeds).collect()
}

/// The hook in a project.
struct HookProcess {
    binary: PathBuf,
    folder: PathBuf,
}

impl HookProcess {
    fn new(folder: &Path) -> Self {
        let given = std::env::var_os("MODEGATE");
        let binary = given.map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_modegate")), PathBuf::from);
        fs::create_dir_all(folder.join("project/.claude/hooks")).unwrap();
        Self { binary, folder: folder.to_owned() }
    }

    /// The time that the hook takes for a command line: processor time where the system reports it, else wall-clock time.
    fn time(&self, line: &str) -> Duration {
        let project = self.folder.join("project");
        let event = json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "cwd": project, "tool_name": "Bash",
            "tool_input": {"command": line},
        });
        fs::write(self.folder.join("event"), event.to_string()).unwrap();
        let mut command = Command::new(&self.binary);
        command.arg("hook").env_clear().env("HOME", &self.folder).env("CLAUDE_PROJECT_DIR", &project);
        command.current_dir(&project).stdin(fs::File::open(self.folder.join("event")).unwrap());
        let (before, begun) = (children(), Instant::now());
        command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        let by_clock = begun.elapsed();
        children().zip(before).map_or(by_clock, |(after, before)| after.saturating_sub(before))
    }
}

/// The processor time of all children so far, in steps of 10 ms.
fn children() -> Option<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit(") ").next()?.split(' ').collect();
    let ticks = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some(Duration::from_millis((ticks(13)? + ticks(14)?) * 10))
}
