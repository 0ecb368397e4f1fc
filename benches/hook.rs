//! Measures the hook as ratios to an empty process and to `git status`, all measured in one run.
//!
//! `cargo bench` measures the host's build; `MODEGATE=path/to/modegate cargo bench` another one, such as the
//! static binary. `cargo bench -- quick` skips the large repositories.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench prints, and stops where it cannot go on"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 300;
const GIT_ROUNDS: usize = 40;

fn main() {
    let quick = std::env::args().any(|word| word == "quick");
    let folder = std::env::temp_dir().join(format!("modegate-bench-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    // A fresh copy: runs of the same file in blocks vary too much.
    let binary = folder.join("modegate");
    let given =
        std::env::var_os("MODEGATE").map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_modegate")), PathBuf::from);
    fs::copy(given, &binary).unwrap();
    hooks(&folder, &binary);
    launcher(&folder, &binary);
    gates(&folder, &binary);
    let sizes: &[usize] = if quick { &[1_000] } else { &[1_000, 20_000, 100_000] };
    for size in sizes {
        git(&folder, &binary, *size);
    }
    fs::remove_dir_all(&folder).unwrap();
}

/// Events of a project against an empty process.
fn hooks(folder: &Path, binary: &Path) {
    let project = Project::new(folder, "hooks", binary);
    project.write(".claude/modes/bench.yaml", MODE);
    project.write("project/research/research_s_010126.md", "# Research\n");
    project.write("project/marked.md", "---\nmarked_by: someone\n---\n# Text\n");
    let idle = project.event(
        "idle",
        r#""session_id":"idle","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"/x"}"#,
    );
    let plan = project
        .event("plan", r#""session_id":"s","prompt_id":"p","hook_event_name":"UserPromptSubmit","prompt":"/plan x""#);
    let bench = project
        .event("bench", r#""session_id":"s","prompt_id":"p","hook_event_name":"UserPromptSubmit","prompt":"/bench""#);
    project.hook(&plan);
    project.hook(&bench);
    // The compiled modes are only kept once their sources are old enough.
    std::thread::sleep(Duration::from_millis(2_100));
    project.hook(&idle);
    let busy = project.event(
        "busy",
        r#""session_id":"s","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"/x"}"#,
    );
    let start = project.event("start", r#""session_id":"s","hook_event_name":"PreToolUse","tool_name":"Agent","tool_input":{"subagent_type":"strategic-planner"}"#);
    let marked = project.event("marked", r#""session_id":"s","hook_event_name":"PreToolUse","tool_name":"Agent","tool_input":{"subagent_type":"marked-agent"}"#);
    // Without a prompt's id every /plan activates the mode again and writes the state.
    let state = project.event("state", r#""session_id":"t","hook_event_name":"UserPromptSubmit","prompt":"/plan x""#);
    let mut comparison = Comparison::new();
    comparison.add("/bin/true", 0.0, Command::new("/bin/true"), None);
    comparison.add("no gate matches, no mode active", 1.0, project.command(), Some(&idle));
    comparison.add("no gate matches, a mode active", 1.0, project.command(), Some(&busy));
    comparison.add("a gated start with file checks", 1.3, project.command(), Some(&start));
    comparison.add("a gated start with frontmatter", 1.5, project.command(), Some(&marked));
    comparison.add("a state move", 2.5, project.command(), Some(&state));
    comparison.run(ROUNDS, "x /bin/true");
}

/// The shell line of the settings that finds the program, with an empty program in its place.
fn launcher(folder: &Path, binary: &Path) {
    let project = folder.join("launcher");
    fs::create_dir_all(&project).unwrap();
    let install = Command::new(binary).arg("--project").arg(&project).arg("install").stdout(Stdio::null()).status();
    assert!(install.unwrap().success());
    let settings = fs::read_to_string(project.join(".claude/settings.json")).unwrap();
    let settings: serde_json::Value = serde_json::from_str(&settings).unwrap();
    let line = settings.pointer("/hooks/Stop/0/hooks/0/command").and_then(serde_json::Value::as_str).unwrap();
    let empty = project.join(".claude/hooks/modegate");
    fs::copy("/bin/true", &empty).unwrap();
    let mut comparison = Comparison::new();
    comparison.add("an empty program", 0.0, Command::new(&empty), None);
    for shell in ["dash", "bash"] {
        let mut command = Command::new(shell);
        command.args(["-c", line]).env("CLAUDE_PROJECT_DIR", &project);
        comparison.add(&format!("the line of the settings, {shell}"), 2.2, command, None);
    }
    comparison.run(ROUNDS, "x an empty program");
}

/// Measures the base mode: no gates, the shipped gates, many that do not match, and one that runs a program.
fn gates(folder: &Path, binary: &Path) {
    let with = |name: &str, files: &[(&str, String)]| {
        let project = Project::new(folder, name, binary);
        for (path, text) in files {
            project.write(path, text);
        }
        project
    };
    let rule = |index: usize| {
        let kinds =
            ["calls: deploy", "command: { matches: \"^deploy-[a-z]+", "touches: { effects: [write], paths: [gen"];
        let close = ["", "$\" }", "/x] }"];
        let at = index % kinds.len();
        let number = if at == 2 { format!("{index}") } else { String::new() };
        let kind = kinds.get(at).unwrap();
        let close = close.get(at).unwrap();
        format!("  - {{ id: rule-{index}, on: PreToolUse(Bash), if: {{ {kind}{number}{close} }}, deny: No. }}\n")
    };
    let many = format!("mode: base\ngates:\n{}", (0..200).map(rule).collect::<String>());
    let runs = "mode: base\ngates:\n  - { id: runs, on: PreToolUse(Bash), check: { run: \"true\" } }\n".to_owned();
    let projects = [
        (
            "a shell command, no gate at all",
            1.0,
            with("none", &[(".claude/modegate.yaml", "disable: [base]\n".to_owned())]),
        ),
        ("a shell command, the shipped gates", 1.5, with("ship", &[])),
        ("a shell command, 200 rules that do not match", 3.0, with("many", &[(".claude/modes/base.yaml", many)])),
        ("a shell command, one gate that runs `true`", 4.0, with("runs", &[(".claude/modes/base.yaml", runs)])),
    ];
    let fields = r#""session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"cd x && cargo test --all 2>&1 | tail -5"}"#;
    let events: Vec<PathBuf> = projects.iter().map(|(_, _, project)| project.event("bash", fields)).collect();
    std::thread::sleep(Duration::from_millis(2_100));
    let mut comparison = Comparison::new();
    comparison.add("/bin/true", 0.0, Command::new("/bin/true"), None);
    for ((name, goal, project), event) in projects.iter().zip(&events) {
        project.hook(event);
        comparison.add(name, *goal, project.command(), Some(event));
    }
    let mut shell = Command::new("sh");
    shell.args(["-c", "true"]);
    comparison.add("sh -c true", 0.0, shell, None);
    comparison.run(ROUNDS, "x /bin/true");
}

/// Git checks against git itself.
fn git(folder: &Path, binary: &Path, size: usize) {
    let project = Project::new(folder, &format!("git-{size}"), binary);
    project.write(".gitignore", "node_modules\n.claude\n");
    for index in 0..size {
        // Ten files per folder, thirty folders per parent.
        let top = if index % 2 == 0 { "src" } else { "lib" };
        project.write(&format!("{top}/d{}/e{}/f{index}.rs", index / 600, index / 20), "x\n");
    }
    (0..200).for_each(|index| project.write(&format!("node_modules/m{index}/index.js"), "x\n"));
    project.git(&["init", "-q"]);
    project.git(&["add", "-A"]);
    project.git(&["-c", "user.name=b", "-c", "user.email=b@example.com", "commit", "-qm", "all"]);
    project.git(&["status"]);
    project.write(".claude/modes/bench.yaml", MODE);
    let bench = project
        .event("bench", r#""session_id":"s","prompt_id":"p","hook_event_name":"UserPromptSubmit","prompt":"/bench""#);
    project.hook(&bench);
    std::thread::sleep(Duration::from_millis(2_100));
    project.hook(&bench);
    let clean = project.event("clean", r#""session_id":"s","hook_event_name":"PreToolUse","tool_name":"Agent","tool_input":{"subagent_type":"clean-agent"}"#);
    let committed = project.event("committed", r#""session_id":"s","hook_event_name":"PreToolUse","tool_name":"Agent","tool_input":{"subagent_type":"committed-agent"}"#);
    let one = if size > 1_000 { if size > 20_000 { 0.15 } else { 0.25 } } else { 0.45 };
    for (path, goal, event) in [("src", 0.6, &clean), ("src/d0/e0/f0.rs", one, &committed)] {
        let mut comparison = Comparison::new();
        let mut status = Command::new("git");
        status.current_dir(&project.home).args(["status", "--porcelain", "--", path]);
        comparison.add(&format!("git status --porcelain -- {path} ({size} files)"), 0.0, status, None);
        comparison.add(
            if path == "src" { "clean src" } else { "committed of one file" },
            goal,
            project.command(),
            Some(event),
        );
        comparison.run(GIT_ROUNDS, "x git status");
    }
}

const MODE: &str = "mode: bench
commands: [/bench]
phases:
  - phase: marked
    agent: marked-agent
    before:
      - check: { frontmatter: { of: project/marked.md, has: { marked_by: someone } } }
  - phase: clean
    agent: clean-agent
    before:
      - check: { clean: src }
  - phase: committed
    agent: committed-agent
    before:
      - check: { committed: src/d0/e0/f0.rs }
";

struct Project {
    home: PathBuf,
    binary: PathBuf,
}

impl Project {
    fn new(folder: &Path, name: &str, binary: &Path) -> Self {
        let project = Self { home: folder.join(name), binary: binary.to_owned() };
        fs::create_dir_all(project.home.join(".claude/hooks")).unwrap();
        project
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn git(&self, arguments: &[&str]) {
        let done = Command::new("git").current_dir(&self.home).args(arguments).stdout(Stdio::null()).status().unwrap();
        assert!(done.success());
    }

    /// Writes an event to a file, as the host would send it.
    fn event(&self, name: &str, fields: &str) -> PathBuf {
        let path = self.home.join(".claude").join(format!("{name}.json"));
        fs::write(&path, format!("{{\"transcript_path\":\"/x\",\"cwd\":\"{}\",{fields}}}\n", self.home.display()))
            .unwrap();
        path
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command.arg("hook").env("CLAUDE_PROJECT_DIR", &self.home).current_dir(&self.home);
        command
    }

    fn hook(&self, event: &Path) {
        let status = self.command().stdin(fs::File::open(event).unwrap()).stdout(Stdio::null()).status().unwrap();
        assert!(status.success());
    }
}

/// Programs that run in turn, so that other load affects all of them equally.
struct Comparison(Vec<Entry>);

struct Entry {
    name: String,
    goal: f64,
    command: Command,
    input: Option<PathBuf>,
    times: Vec<Duration>,
}

impl Comparison {
    fn new() -> Self {
        Self(Vec::new())
    }

    fn add(&mut self, name: &str, goal: f64, mut command: Command, input: Option<&Path>) {
        command.stdout(Stdio::null()).stderr(Stdio::null());
        self.0.push(Entry {
            name: name.to_owned(),
            goal,
            command,
            input: input.map(Path::to_owned),
            times: Vec::new(),
        });
    }

    /// Runs all entries in turn; the first is the baseline.
    fn run(mut self, rounds: usize, unit: &str) {
        for _ in 0..rounds {
            for entry in &mut self.0 {
                let input = entry.input.as_ref().map_or_else(Stdio::null, |path| fs::File::open(path).unwrap().into());
                entry.command.stdin(input);
                let begun = Instant::now();
                entry.command.status().unwrap();
                entry.times.push(begun.elapsed());
            }
        }
        let measure = self.0.first_mut().unwrap().median();
        for entry in &mut self.0 {
            let median = entry.median();
            let ratio = median.as_secs_f64() / measure.as_secs_f64();
            let goal = if entry.goal > 0.0 { format!("goal {:.2}", entry.goal) } else { String::new() };
            println!("{:<48} {:>8.2} ms  {ratio:>6.2} {unit}  {goal}", entry.name, median.as_secs_f64() * 1e3);
        }
        println!();
    }
}

impl Entry {
    fn median(&mut self) -> Duration {
        self.times.sort_unstable();
        self.times.get(self.times.len() / 2).copied().unwrap_or_default()
    }
}
