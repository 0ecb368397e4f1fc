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

#[path = "support/project.rs"]
mod project;

use project::{MODE, Project, RUNNING_RULE, events, many_rules};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 300;
const GIT_ROUNDS: usize = 40;

fn main() {
    #[cfg(unix)]
    if std::env::args_os().next().is_none_or(|program| !Path::new(&program).ends_with("claude")) {
        return below_a_host();
    }
    let quick = std::env::args().any(|word| word == "quick");
    let folder = std::env::temp_dir().join(format!("modegate-bench-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    // A fresh copy: runs of the same file in blocks vary too much.
    let binary = folder.join("modegate");
    let given =
        std::env::var_os("MODEGATE").map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_modegate")), PathBuf::from);
    fs::copy(given, &binary).unwrap();
    hooks(&folder, &binary);
    scripts(&folder, &binary);
    launcher(&folder, &binary);
    gates(&folder, &binary);
    let sizes: &[usize] = if quick { &[1_000] } else { &[1_000, 20_000, 100_000] };
    for size in sizes {
        git(&folder, &binary, *size);
    }
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

/// Events of a project against an empty process.
fn hooks(folder: &Path, binary: &Path) {
    let project = Project::new(folder, "hooks", binary);
    project.write(".claude/modes/bench.yaml", MODE);
    project.write("project/research/research_s_010126.md", "# Research\n");
    project.write("project/marked.md", "---\nmarked_by: someone\n---\n# Text\n");
    project.settle();
    project.hook(&project.event("plan", events::PLAN));
    project.hook(&project.event("bench", events::BENCH));
    let mut comparison = Comparison::new();
    comparison.add("/bin/true", 0.0, Command::new("/bin/true"), None);
    let rows = [
        ("no gate matches, no mode active", 0.5, events::IDLE),
        ("no gate matches, a mode active", 0.55, events::BUSY),
        ("a state move", 1.5, events::MOVE),
    ];
    for (name, goal, fields) in rows {
        let event = project.event(name, fields);
        comparison.add(name, goal, project.command(), Some(&event));
    }
    for (name, fields) in
        [("a gated start with file checks", events::START), ("a gated start with frontmatter", events::MARKED)]
    {
        comparison.add_start(name, 0.8, &project, fields);
    }
    let installed = installed(folder, binary);
    let event = installed.event("busy", events::BUSY);
    comparison.add("a mode active, hook entries in the settings", 0.0, installed.command(), Some(&event));
    comparison.run(ROUNDS, "x /bin/true");
}

/// A project with the settings that `install` writes, which every event looks into, and an active mode.
fn installed(folder: &Path, binary: &Path) -> Project {
    let project = Project::new(folder, "installed", binary);
    assert!(project.plain().arg("install").stdout(Stdio::null()).status().unwrap().success());
    project.settle();
    project.hook(&project.event("plan", events::PLAN));
    project
}

/// Hooks in other languages that only read the event, where the languages are installed.
fn scripts(folder: &Path, binary: &Path) {
    let project = Project::new(folder, "scripts", binary);
    project.settle();
    let event = project.event("event", events::IDLE);
    let mut comparison = Comparison::new();
    comparison.add("/bin/true", 0.0, Command::new("/bin/true"), None);
    comparison.add("modegate, no gate matches", 0.0, project.command(), Some(&event));
    let python = ["python3", "-c", "import json, sys; json.load(sys.stdin)"];
    let node = ["node", "-e", "JSON.parse(require('fs').readFileSync(0, 'utf8'))"];
    for [program, flag, code] in [python, node] {
        let mut command = Command::new(program);
        command.args([flag, code]);
        if command.stdin(fs::File::open(&event).unwrap()).status().is_ok() {
            comparison.add(&format!("{program}, reading the event only"), 0.0, command, Some(&event));
        }
    }
    comparison.run(GIT_ROUNDS, "x /bin/true");
}

/// The shell line of the settings that finds the program, with an empty program in its place.
fn launcher(folder: &Path, binary: &Path) {
    let project = folder.join("launcher");
    fs::create_dir_all(&project).unwrap();
    let mut install = Command::new(binary);
    install.arg("--project").arg(&project).arg("install").env("MODEGATE_STATE_DIR", folder.join("state"));
    assert!(install.stdout(Stdio::null()).status().unwrap().success());
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
    let with = |name: &str, rules: &str| {
        let project = Project::new(folder, name, binary);
        if !rules.is_empty() {
            project.write(".claude/modes/base.yaml", rules);
        }
        project
    };
    let none = with("none", "");
    none.write_user_settings("disable: [base]\n");
    let projects = [
        ("a shell command, no gate at all", 0.5, none),
        ("a shell command, the shipped gates", 1.0, with("ship", "")),
        ("a shell command, 200 rules that do not match", 1.3, with("many", &many_rules())),
        ("a shell command, one gate that runs `true`", 2.2, with("runs", RUNNING_RULE)),
    ];
    let mut comparison = Comparison::new();
    comparison.add("/bin/true", 0.0, Command::new("/bin/true"), None);
    for (name, goal, project) in &projects {
        project.settle();
        let event = project.event("bash", events::SHELL);
        project.hook(&event);
        comparison.add(name, *goal, project.command(), Some(&event));
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
    for arguments in [
        &["init", "-q"][..],
        &["add", "-A"],
        &["-c", "user.name=b", "-c", "user.email=b@example.com", "commit", "-qm", "all"],
        &["status"],
    ] {
        let git = Command::new("git").current_dir(&project.home).args(arguments).stdout(Stdio::null()).status();
        assert!(git.unwrap().success());
    }
    project.write(".claude/modes/bench.yaml", MODE);
    project.settle();
    project.hook(&project.event("bench", events::BENCH));
    let one = if size > 1_000 { if size > 20_000 { 0.1 } else { 0.2 } } else { 0.4 };
    for (path, goal, event) in [("src", 0.6, events::CLEAN), ("src/d0/e0/f0.rs", one, events::COMMITTED)] {
        let mut comparison = Comparison::new();
        let mut status = Command::new("git");
        status.current_dir(&project.home).args(["status", "--porcelain", "--", path]);
        comparison.add(&format!("git status --porcelain -- {path} ({size} files)"), 0.0, status, None);
        comparison.add_start(if path == "src" { "clean src" } else { "committed of one file" }, goal, &project, event);
        comparison.run(GIT_ROUNDS, "x git status");
    }
}

/// Programs that take turns, so that other load affects all of them equally.
struct Comparison(Vec<Entry>);

struct Entry {
    name: String,
    goal: f64,
    command: Command,
    input: Option<PathBuf>,
    /// An event that is sent afterwards, and not timed.
    undo: Option<PathBuf>,
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
            undo: None,
            times: Vec::new(),
        });
    }

    /// Adds the start of an agent; its call is over before it is made again.
    fn add_start(&mut self, name: &str, goal: f64, project: &Project, fields: &str) {
        const CALL: &str = r#""tool_use_id":"toolu_1""#;
        const OVER: &str = r#""session_id":"s","hook_event_name":"PostToolUseFailure","tool_name":"Agent","tool_input":{},"error":"x""#;
        let start = project.event(name, &format!("{fields},{CALL}"));
        self.add(name, goal, project.command(), Some(&start));
        self.0.last_mut().unwrap().undo = Some(project.event("over", &format!("{OVER},{CALL}")));
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
                if let Some(undo) = &entry.undo {
                    entry.command.stdin(fs::File::open(undo).unwrap()).status().unwrap();
                }
            }
        }
        let measure = self.0.first_mut().unwrap().median();
        for entry in &mut self.0 {
            let median = entry.median();
            let ratio = median.as_secs_f64() / measure.as_secs_f64();
            let missed = if ratio > entry.goal { "  missed" } else { "" };
            let goal = if entry.goal > 0.0 { format!("goal {:.2}{missed}", entry.goal) } else { String::new() };
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
