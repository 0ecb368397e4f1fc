//! A project for benches, with a home, a state folder and events of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A mode with a phase per kind of check.
pub const MODE: &str = "mode: bench
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

/// A folder with a project, and the binary that is measured.
pub struct Project {
    /// The project's folder.
    pub home: PathBuf,
    pub user: PathBuf,
    binary: PathBuf,
}

impl Project {
    /// An empty project below `folder` in which modegate is set up.
    pub fn new(folder: &Path, name: &str, binary: &Path) -> Self {
        let user = folder.join(name);
        let project = Self { home: user.join("app"), user, binary: binary.to_owned() };
        fs::create_dir_all(project.home.join(".claude/hooks")).unwrap();
        project
    }

    /// Writes a file of the project.
    pub fn write(&self, path: &str, text: &str) {
        write(&self.home.join(path), text);
    }

    /// Writes the user's own settings.
    pub fn write_user_settings(&self, text: &str) {
        write(&self.user.join(".claude/modegate.yaml"), text);
    }

    /// Trusts the project's files and waits until its modes are compiled, as in a project that has been used for a while.
    pub fn settle(&self) {
        let trusted = self.plain().args(["trust", "--yes"]).stdout(Stdio::null()).status().unwrap();
        assert!(trusted.success());
        // The compiled modes are only kept once their sources are old enough.
        std::thread::sleep(std::time::Duration::from_millis(2_100));
        let event = self.event(
            "settle",
            r#""session_id":"settle","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"/x"}"#,
        );
        self.hook(&event);
    }

    /// Writes an event to a file, as the host would send it.
    pub fn event(&self, name: &str, fields: &str) -> PathBuf {
        let path = self.user.join(format!("{name}.json"));
        fs::write(&path, format!("{{\"transcript_path\":\"/x\",\"cwd\":\"{}\",{fields}}}\n", self.home.display()))
            .unwrap();
        path
    }

    /// The binary in the project, with the host's environment and no variables of this machine.
    pub fn plain(&self) -> Command {
        let mut command = Command::new(&self.binary);
        self.prepare(&mut command);
        command
    }

    /// Gives a command the environment of the project.
    pub fn prepare(&self, command: &mut Command) {
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", &self.user).env("CLAUDE_PROJECT_DIR", &self.home).current_dir(&self.home);
    }

    /// The command that the host runs for an event.
    pub fn command(&self) -> Command {
        let mut command = self.plain();
        command.arg("hook");
        command
    }

    /// Sends an event that must be allowed.
    pub fn hook(&self, event: &Path) {
        let status = self.command().stdin(fs::File::open(event).unwrap()).stdout(Stdio::null()).status().unwrap();
        assert!(status.success());
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Two hundred rules for shell commands, none of which matches; every third one is of the same kind.
pub fn many_rules() -> String {
    let rule = |index: usize| {
        let check = match index % 3 {
            0 => "calls: deploy".to_owned(),
            1 => "command: { matches: \"^deploy-[a-z]+$\" }".to_owned(),
            _ => format!("touches: {{ effects: [write], paths: [gen{index}/x] }}"),
        };
        format!("  - {{ id: rule-{index}, on: PreToolUse(Bash), if: {{ {check} }}, deny: No. }}\n")
    };
    format!("mode: base\ngates:\n{}", (0..200).map(rule).collect::<String>())
}

/// A rule that runs a program for every shell command.
pub const RUNNING_RULE: &str = "mode: base
gates:
  - { id: runs, on: PreToolUse(Bash), check: { run: \"true\" } }
";

/// The fields of events.
pub mod events {
    pub const IDLE: &str =
        r#""session_id":"idle","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"/x"}"#;
    pub const BUSY: &str =
        r#""session_id":"s","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"/x"}"#;
    pub const PLAN: &str =
        r#""session_id":"s","prompt_id":"p","hook_event_name":"UserPromptSubmit","prompt":"/plan x""#;
    pub const BENCH: &str =
        r#""session_id":"s","prompt_id":"p","hook_event_name":"UserPromptSubmit","prompt":"/bench""#;
    pub const START: &str = r#""session_id":"s","hook_event_name":"PreToolUse","tool_name":"Agent","tool_input":{"subagent_type":"strategic-planner"}"#;
    pub const MARKED: &str = r#""session_id":"s","hook_event_name":"PreToolUse","tool_name":"Agent","tool_input":{"subagent_type":"marked-agent"}"#;
    pub const CLEAN: &str = r#""session_id":"s","hook_event_name":"PreToolUse","tool_name":"Agent","tool_input":{"subagent_type":"clean-agent"}"#;
    pub const COMMITTED: &str = r#""session_id":"s","hook_event_name":"PreToolUse","tool_name":"Agent","tool_input":{"subagent_type":"committed-agent"}"#;
    /// Without a prompt id, every /plan activates the mode again and writes the state.
    pub const MOVE: &str = r#""session_id":"t","hook_event_name":"UserPromptSubmit","prompt":"/plan x""#;
    pub const SHELL: &str = r#""session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"cd x && cargo test --all 2>&1 | tail -5"}"#;
}
