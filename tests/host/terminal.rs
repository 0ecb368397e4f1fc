//! A real Claude Code in a terminal, as a person uses it.
//!
//! tmux is the terminal: it needs no other program and no crate, and gives the screen as text. Without tmux, cases
//! marked with [`crate::Case::in_terminal`] are skipped.
//!
//! ```ignore
//! let session = Session::new(&project).variable("NAME", "1").arguments(&["--model", "haiku"]);
//! let terminal = session.open(client, script);   // returns when the prompt is ready
//! terminal.enter("/plan a login page");          // types it and presses Enter
//! terminal.wait_for_text("Research report not found.");
//! terminal.wait_until("the agent stops", |ran| ran.exits("SubagentStop") == [0]);
//! let ran = terminal.finish();                   // hooks from the journal, requests, screen
//! ```
//!
//! Nothing sleeps for a fixed time: every wait has a condition and a limit, and fails with the screen, the hooks and
//! the requests. A terminal does not report what hooks answered, so `ClientRun::hooks` is read from the journals of
//! all sessions in the project: only hooks of modegate are in it, and a block has exit code 2.

use crate::client::{Client, ClientRun, Hook, Session};
use crate::model::{Model, Script};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Longer than any wait takes on a slow machine.
const LIMIT: Duration = Duration::from_mins(1);

/// So large that nothing scrolls away or wraps early.
const SIZE: [&str; 4] = ["-x", "200", "-y", "120"];

/// A client that waits for a person's input.
pub struct Terminal<'a> {
    session: Session<'a>,
    model: Model,
    /// The socket of its tmux, which serves no other terminal.
    socket: PathBuf,
    /// The client whose background sessions are ended with the terminal.
    daemon: Option<PathBuf>,
}

impl<'a> Session<'a> {
    /// Starts the client in a terminal, and waits until a prompt can be typed.
    pub fn open(self, client: &Client, script: Script) -> Terminal<'a> {
        static COUNT: AtomicUsize = AtomicUsize::new(1);
        let name = format!("../tmux-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let model = Model::start(script, &self.project.home());
        // Such suggestions come from requests that look like the agent's own.
        let session = self.variable("CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION", "false");
        let terminal = Terminal { socket: session.project.home().join(name), session, model, daemon: None };
        terminal.accept_dialogs();
        terminal.start(client);
        terminal.wait("the prompt is ready", || terminal.is_ready());
        terminal
    }
}

impl Terminal<'_> {
    /// Ends the client's background sessions, too, when the terminal is closed.
    pub fn with_background_sessions(mut self, client: &Client) -> Self {
        self.daemon = Some(client.binary.clone());
        self
    }

    /// Types a line and presses Enter.
    pub fn enter(&self, line: &str) {
        self.type_text(line);
        self.press("Enter");
    }

    /// Types text and waits until the client shows it.
    pub fn type_text(&self, text: &str) {
        let shown = || squeezed(&self.screen()).matches(&squeezed(text)).count();
        let before = shown();
        self.tmux(&["send-keys", "-l", "--", text]);
        self.wait(&format!("{text:?} is typed"), || shown() > before);
    }

    /// Presses a key, by tmux's name for it: `Enter`, `Escape`, `BTab`, `C-c`.
    pub fn press(&self, key: &str) {
        self.tmux(&["send-keys", key]);
    }

    /// Waits until a text is on the screen.
    #[track_caller]
    pub fn wait_for_text(&self, text: &str) {
        self.wait(&format!("the screen shows {text:?}"), || self.shows(text));
    }

    /// Waits until a condition is true.
    #[track_caller]
    pub fn wait_until(&self, what: &str, is_true: impl Fn(&ClientRun) -> bool) {
        self.wait(what, || is_true(&self.record()));
    }

    /// Whether a text is on the screen, wherever its lines break.
    pub fn shows(&self, text: &str) -> bool {
        squeezed(&self.screen()).contains(&squeezed(text))
    }

    /// What is on the screen.
    pub fn screen(&self) -> String {
        let screen = self.tmux(&["capture-pane", "-p"]);
        screen.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    }

    /// What has happened so far.
    pub fn record(&self) -> ClientRun {
        ClientRun {
            exit: None,
            stderr: String::new(),
            screen: self.screen(),
            events: Vec::new(),
            hooks: self.hooks(),
            requests: self.model.requests(),
            id: self.session.id.clone(),
        }
    }

    /// Ends the client and returns what has happened.
    pub fn finish(self) -> ClientRun {
        self.record()
    }

    /// Answers in advance what the client asks a person at its first start.
    fn accept_dialogs(&self) {
        let path = self.session.project.home().join("../.claude.json");
        // An earlier session may have written it.
        let mut settings: Value =
            serde_json::from_slice(&std::fs::read(&path).unwrap_or_default()).unwrap_or(json!({}));
        for key in ["hasCompletedOnboarding", "bypassPermissionsModeAccepted"] {
            settings[key] = true.into();
        }
        settings["theme"] = "dark".into();
        settings["customApiKeyResponses"] = json!({"approved": ["dummy"], "rejected": []});
        for folder in [self.session.project.home(), self.session.folder.canonicalize().unwrap()] {
            settings["projects"][&*folder.to_string_lossy()]["hasTrustDialogAccepted"] = true.into();
        }
        std::fs::write(path, settings.to_string()).unwrap();
    }

    fn start(&self, client: &Client) {
        let mut command = self.session.command("tmux", &self.model);
        // A client that has ended leaves its last screen.
        let config = self.socket.with_extension("conf");
        std::fs::write(&config, "set -g remain-on-exit on\n").unwrap();
        command.args(["-S".as_ref(), self.socket.as_os_str(), "-f".as_ref(), config.as_os_str()]);
        command.args(["new-session", "-d"]).args(SIZE);
        // With these variables, the client would put teammates into other panes.
        command
            .args(["env", "-u", "TMUX", "-u", "TMUX_PANE"])
            .arg(&client.binary)
            .args(self.session.client_arguments());
        let output = command.output().unwrap();
        assert!(output.status.success(), "tmux: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let output = Command::new("tmux").arg("-S").arg(&self.socket).args(arguments).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Whether the input box is there; the line below it names the permission mode.
    fn is_ready(&self) -> bool {
        let screen = self.screen();
        screen.rsplit_once('❯').is_some_and(|(_, below)| below.contains("bypass permissions on"))
    }

    #[track_caller]
    fn wait(&self, what: &str, is_true: impl Fn() -> bool) {
        let begun = Instant::now();
        while !is_true() {
            assert!(begun.elapsed() < LIMIT, "waited {LIMIT:?} until {what}\n{}", self.record().summary());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// What modegate answered, in all sessions of the project.
    fn hooks(&self) -> Vec<Hook> {
        let folder = self.session.project.home().join(".claude/hooks/sessions");
        let files = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|file| file.path());
        let texts = files.filter_map(|path| std::fs::read_to_string(path).ok()).collect::<String>();
        let mut lines: Vec<Value> = texts.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        lines.sort_by_key(|line| line["at"].as_str().unwrap_or_default().to_owned());
        lines.iter().map(Hook::from_journal).collect()
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        if let Some(client) = &self.daemon {
            let _ = self.session.command(client, &self.model).args(["daemon", "stop", "--any"]).output();
        }
        let client = self.tmux(&["display-message", "-p", "#{pane_pid}"]);
        self.tmux(&["kill-server"]);
        // It writes to the project until it has ended.
        let signal =
            |name| Command::new("kill").args([name, client.trim()]).output().is_ok_and(|done| done.status.success());
        let begun = Instant::now();
        while signal("-0") {
            if begun.elapsed() > Duration::from_secs(5) {
                signal("-9");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// A text without its white space and without the lines around boxes.
fn squeezed(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_whitespace() && !"│⎿─".contains(*letter)).collect()
}
