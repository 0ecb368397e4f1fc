//! Projects in temporary folders, and running the binary in them.

use modegate::JournalLine;
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// A project in a temporary folder, which is removed at the end of the test.
pub struct Project {
    folder: tempfile::TempDir,
}

/// The exit code and output of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandOutput {
    pub exit: i32,
    pub stdout: String,
    pub stderr: String,
}

#[allow(dead_code, reason = "each test binary uses its part")]
impl CommandOutput {
    /// The standard output as JSON; null if it is empty.
    pub fn json(&self) -> Value {
        if self.stdout.is_empty() { Value::Null } else { serde_json::from_str(&self.stdout).expect("one JSON object") }
    }
}

#[allow(dead_code, reason = "each test binary uses its part")]
impl Project {
    /// An empty project; its name has a space and a letter outside ASCII, as real ones do.
    pub fn new() -> Self {
        Self::named("modegate ä")
    }

    /// An empty project in a folder with this prefix.
    pub fn named(prefix: &str) -> Self {
        let project = Self { folder: tempfile::Builder::new().prefix(prefix).tempdir().unwrap() };
        std::fs::create_dir_all(project.home()).unwrap();
        project
    }

    /// A project in which modegate is set up.
    pub fn installed() -> Self {
        let project = Self::new();
        std::fs::create_dir_all(project.home().join(".claude/hooks")).unwrap();
        project
    }

    /// The project's folder.
    pub fn home(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("app")
    }

    /// The home of the user.
    pub fn user(&self) -> &Path {
        self.folder.path()
    }

    /// The project's folder in the user's state folder.
    pub fn own(&self) -> PathBuf {
        let digest = base::digest::sha256(self.home().as_os_str().as_encoded_bytes());
        let state = self.folder.path().canonicalize().unwrap().join(".local/state/modegate/projects");
        state.join(format!("app-{}", &digest[..16]))
    }

    /// The file with the state of a session.
    pub fn state_file(&self, session: &str) -> PathBuf {
        self.own().join(format!("sessions/{session}.json"))
    }

    /// Writes a file; `{date}` in its path is replaced by today's date.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.home().join(path.replace("{date}", &today()));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Reads a file.
    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.home().join(path)).unwrap_or_default()
    }

    /// Runs git in the project.
    pub fn git(&self, arguments: &[&str]) {
        self.git_in(&self.home(), arguments);
    }

    /// Runs git in a folder.
    pub fn git_in(&self, folder: &Path, arguments: &[&str]) {
        let done = self.plain("git").current_dir(folder).args(arguments).output().unwrap();
        assert!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    /// The changes that `git status` lists.
    pub fn listed(&self) -> String {
        let mut git = self.plain("git");
        let done = git.current_dir(self.home()).args(["status", "--porcelain", "-uall"]).output().unwrap();
        String::from_utf8(done.stdout).unwrap()
    }

    /// Runs a shell line in the project.
    pub fn shell(&self, line: &str) {
        let done = self.plain("sh").current_dir(self.home()).args(["-c", line]).output().unwrap();
        assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
    }

    /// A command without the environment and settings of this machine.
    pub fn plain(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", self.folder.path());
        // A project whose settings set `HOME` would otherwise have its state in the home of whoever runs the tests.
        command.env("MODEGATE_STATE_DIR", self.folder.path().join(".local/state/modegate"));
        command.env("MODEGATE_LISTED_HOME", self.folder.path()).env("MODEGATE_TERMINAL", "1");
        command.envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_AUTHOR_NAME", "t"), ("GIT_AUTHOR_EMAIL", "t@example.com")]);
        command.envs([("GIT_COMMITTER_NAME", "t"), ("GIT_COMMITTER_EMAIL", "t@example.com"), ("NO_COLOR", "1")]);
        // The projects of tests have modes of their own; tests about trust remove the variable.
        command.env("MODEGATE_TRUST", "1");
        command
    }

    /// A command that runs the binary in the project.
    pub fn modegate(&self) -> Command {
        let mut command = self.plain(env!("CARGO_BIN_EXE_modegate"));
        command.current_dir(self.home()).env("CLAUDE_PROJECT_DIR", self.home());
        command
    }

    /// Runs the binary.
    pub fn run(&self, arguments: &[&str]) -> CommandOutput {
        run_command(self.modegate().args(arguments), b"")
    }

    /// Sends bytes through the hook.
    pub fn hook_bytes(&self, bytes: &[u8]) -> CommandOutput {
        run_command(self.modegate().arg("hook"), bytes)
    }

    /// Sends an event through the hook.
    pub fn hook(&self, event: &Value) -> CommandOutput {
        self.hook_bytes(event.to_string().as_bytes())
    }

    /// The readable lines of a session's journal.
    pub fn journal(&self, session: &str) -> Vec<JournalLine> {
        let text = self.read(&format!(".claude/hooks/sessions/{session}.jsonl"));
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The state, as JSON.
    pub fn cache(&self) -> Value {
        serde_json::from_str(&self.read(".claude/hooks/cache.json")).unwrap_or_default()
    }
}

/// Today as `MMDDYY`, as in the names of files.
pub fn today() -> String {
    jiff::Zoned::now().strftime("%m%d%y").to_string()
}

/// After this time a command is taken to hang and is killed, which fails its test.
const HANGS: Duration = Duration::from_mins(15);

/// Runs a command with `input` on standard input.
pub fn run_command(command: &mut Command, input: &[u8]) -> CommandOutput {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let id = child.id().to_string();
    let (done, running) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        if running.recv_timeout(HANGS) == Err(RecvTimeoutError::Timeout) {
            let _: std::io::Result<_> = Command::new("kill").args(["-9", &id]).status();
        }
    });
    // A command need not read its input.
    let _: std::io::Result<()> = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    drop(done);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    CommandOutput {
        exit: output.status.code().unwrap_or(-1),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    }
}
