//! A real Claude Code in a project, against a scripted model; nothing leaves loopback.

use crate::model::{Model, Request, Script, words};
use crate::project::Project;
use serde_json::Value;
use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Longer than any session of the suite takes on a slow machine.
const LIMIT: Duration = Duration::from_mins(2);

/// The client's binary.
pub struct Client {
    /// Where it is.
    pub binary: PathBuf,
    /// What it says of itself, as three numbers.
    pub version: Version,
}

/// A version as numbers, to compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl Version {
    /// A version as it is written: `2.1.325`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split('.').map(|number| number.parse().ok());
        let version = Self(numbers.next()??, numbers.next()??, numbers.next()??);
        numbers.next().is_none().then_some(version)
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// What a hook answered, as the client reports it.
#[derive(Debug, Clone)]
pub struct Hook {
    /// The event and its matcher's word, as `PreToolUse:Agent`.
    pub name: String,
    /// Its exit code.
    pub exit: i64,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// What the client makes of it: success, error or cancelled.
    pub outcome: String,
}

/// A finished session.
#[derive(Debug)]
pub struct ClientRun {
    /// The client's exit code; none if it was killed.
    pub exit: Option<i32>,
    /// The client's standard error.
    pub stderr: String,
    /// What the person sees in a terminal; empty with `-p`.
    pub screen: String,
    /// Everything it reported.
    pub events: Vec<Value>,
    /// What the hooks answered, in the order in which they ended.
    pub hooks: Vec<Hook>,
    /// What the model was asked.
    pub requests: Vec<Request>,
    /// The session's id.
    pub id: String,
}

/// A session to run, with `-p` ([`Session::run`]) or in a terminal ([`Session::open`]).
pub struct Session<'a> {
    pub(crate) project: &'a Project,
    pub(crate) folder: PathBuf,
    /// Its id, known before it begins: files have it in their names.
    pub id: String,
    path: Option<PathBuf>,
    is_resumed: bool,
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
}

impl<'a> Session<'a> {
    /// A new session in a project.
    pub fn new(project: &'a Project) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(1);
        let id = format!("00000000-0000-4000-8000-{:012}", COUNT.fetch_add(1, Ordering::Relaxed));
        let (arguments, variables) = (Vec::new(), Vec::new());
        Self { project, folder: project.home(), id, path: None, is_resumed: false, arguments, variables }
    }

    /// An earlier session, resumed under its own id.
    pub fn resume(project: &'a Project, id: &str) -> Self {
        Self { id: id.to_owned(), is_resumed: true, ..Self::new(project) }
    }

    /// Started in a folder of the project.
    pub fn within(mut self, folder: &str) -> Self {
        self.folder.push(folder);
        self
    }

    /// With a folder before all others on PATH.
    pub fn on_path(mut self, folder: &str) -> Self {
        self.path = Some(self.project.home().join(folder));
        self
    }

    /// With more arguments for the client.
    pub fn arguments(mut self, arguments: &[&str]) -> Self {
        self.arguments.extend(arguments.iter().map(|argument| (*argument).to_owned()));
        self
    }

    /// With an environment variable.
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A file of this session: `{session}` in the path is its id.
    pub fn file(&self, path: &str) -> PathBuf {
        self.project.home().join(path.replace("{session}", &self.id))
    }

    /// Runs the client with `-p` to its end.
    pub fn run(self, client: &Client, prompt: &str, script: Script) -> ClientRun {
        let model = Model::start(script, &self.project.home());
        let notes = tempfile::tempdir().unwrap();
        let (out, err) = (notes.path().join("stdout"), notes.path().join("stderr"));
        let printing = ["-p", prompt, "--output-format", "stream-json", "--verbose", "--include-hook-events"];
        let session = self.arguments(&printing);
        let mut command = session.command(&client.binary, &model);
        command.args(session.client_arguments());
        // Into files: a grandchild that lives on may hold a pipe open for ever.
        command.stdin(Stdio::null()).stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap());
        let status = wait(&mut command, LIMIT);
        let read = |path: &Path| String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
        let events: Vec<Value> = read(&out).lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let hooks = events.iter().filter(|event| event["subtype"] == "hook_response").map(Hook::read).collect();
        let exit = status.and_then(|status| status.code());
        let (stderr, screen, requests) = (read(&err), String::new(), model.requests());
        let ran = ClientRun { exit, stderr, screen, events, hooks, requests, id: session.id };
        assert!(status.is_some(), "the client was killed after {LIMIT:?}\n{}", ran.summary());
        ran
    }

    /// A program in the session's folder and environment.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>, model: &Model) -> Command {
        let mut command = self.project.plain(program);
        command.current_dir(&self.folder).env("ANTHROPIC_BASE_URL", model.address()).env("ANTHROPIC_API_KEY", "dummy");
        command.envs([("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"), ("DISABLE_TELEMETRY", "1")]);
        command.envs([("DISABLE_AUTOUPDATER", "1"), ("CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL", "1")]);
        // A client that runs as root skips permissions only if a variable says that it runs in a sandbox.
        command.env("IS_SANDBOX", "1");
        if let Some(folder) = &self.path {
            let rest = std::env::var_os("PATH").unwrap_or_default();
            let all = std::iter::once(folder.clone()).chain(std::env::split_paths(&rest));
            command.env("PATH", std::env::join_paths(all).unwrap());
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// The arguments that both ways to run the client have in common.
    pub(crate) fn client_arguments(&self) -> Vec<String> {
        let has = |name: &str| self.arguments.iter().any(|argument| argument == name);
        let mut first = match self.is_resumed {
            // It names no session.
            true if has("--continue") => Vec::new(),
            true => vec!["--resume".to_owned(), self.id.clone()],
            false => vec!["--session-id".to_owned(), self.id.clone()],
        };
        // It would override a permission mode.
        if !has("--permission-mode") {
            first.push("--dangerously-skip-permissions".to_owned());
        }
        first.into_iter().chain(self.arguments.iter().cloned()).collect()
    }
}

/// Waits for a command, but not for ever.
fn wait(command: &mut Command, limit: Duration) -> Option<ExitStatus> {
    let mut child = command.spawn().unwrap();
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        if begun.elapsed() > limit {
            child.kill().unwrap();
            child.wait().unwrap();
            return None;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl Client {
    /// The client at a path.
    pub fn at(binary: PathBuf) -> Self {
        let output = Command::new(&binary).arg("--version").stdin(Stdio::null()).output();
        let output = output.unwrap_or_else(|error| panic!("{} does not run: {error}", binary.display()));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let version = text.split_whitespace().next().and_then(Version::parse);
        Self { binary, version: version.unwrap_or_else(|| panic!("not a version: {text}")) }
    }

    /// Runs a prompt in a project.
    pub fn run(&self, project: &Project, prompt: &str, script: Script) -> ClientRun {
        Session::new(project).run(self, prompt, script)
    }
}

impl Hook {
    fn read(event: &Value) -> Self {
        let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
        Self {
            name: text("hook_name"),
            exit: event["exit_code"].as_i64().unwrap_or(-1),
            stdout: text("stdout"),
            stderr: text("stderr"),
            outcome: text("outcome"),
        }
    }

    /// What a line of modegate's journal says about its hook.
    pub(crate) fn from_journal(line: &Value) -> Self {
        let event = &line["event"];
        let subject = ["tool_name", "agent_type", "source"].into_iter().find_map(|key| event[key].as_str());
        let name = event["hook_event_name"].as_str().unwrap_or_default();
        let decision = &line["decision"];
        let is_block = matches!(decision["verdict"].as_str(), Some("block" | "stop"));
        Self {
            name: subject.map_or_else(|| name.to_owned(), |subject| format!("{name}:{subject}")),
            exit: if is_block { 2 } else { 0 },
            stdout: words(&decision["context"]),
            stderr: words(&decision["reason"]),
            outcome: if is_block { "error" } else { "success" }.to_owned(),
        }
    }
}

impl ClientRun {
    /// What hooks answered at an event; `PreToolUse` is every tool's, `PreToolUse:Agent` one's.
    pub fn at(&self, name: &str) -> Vec<&Hook> {
        let is_meant = |hook: &&Hook| hook.name == name || hook.name.split(':').next() == Some(name);
        self.hooks.iter().filter(is_meant).collect()
    }

    /// Exit codes of hooks at an event.
    pub fn exits(&self, name: &str) -> Vec<i64> {
        self.at(name).iter().map(|hook| hook.exit).collect()
    }

    /// The requests of a conversation.
    pub fn asked(&self, who: &str) -> Vec<&Request> {
        self.requests.iter().filter(|request| request.who == who && request.has_tools()).collect()
    }

    /// Everything an agent has read up to its last turn.
    pub fn text_read_by(&self, who: &str) -> String {
        let longest = self.asked(who).into_iter().max_by_key(|request| request.answered());
        longest.map(Request::text).unwrap_or_default()
    }

    /// The text the person reads at the end.
    pub fn result(&self) -> String {
        let last = self.events.iter().rev().find(|event| event["type"] == "result");
        last.and_then(|event| event["result"].as_str()).unwrap_or_default().to_owned()
    }

    /// Why a prompt was blocked, as its hook reports it; up to 2.1.145 the result is empty then.
    pub fn prompt_block(&self) -> &str {
        let prompts = self.hooks.iter().filter(|hook| hook.name.starts_with("UserPrompt"));
        prompts.filter(|hook| hook.exit == 2).map(|hook| hook.stderr.as_str()).next().unwrap_or_default()
    }

    /// A summary of the session for failure messages.
    pub fn summary(&self) -> String {
        let hooks = self.hooks.iter().map(|hook| {
            format!("  {} {} {} {} {}", hook.name, hook.exit, hook.outcome, hook.stdout.trim(), hook.stderr.trim())
        });
        let asked = self.requests.iter().map(|request| format!("  {} {}", request.who, request.answered()));
        format!(
            "exit {:?}\nhooks:\n{}\nmodel:\n{}\n{}{}",
            self.exit,
            hooks.collect::<Vec<_>>().join("\n"),
            asked.collect::<Vec<_>>().join("\n"),
            self.stderr,
            self.screen
        )
    }

    /// Fails with the whole session unless `passed`.
    #[track_caller]
    pub fn check(&self, passed: bool, what: &str) {
        assert!(passed, "{what}\n{}", self.summary());
    }

    /// Fails unless an agent has read a text.
    #[track_caller]
    pub fn must_read(&self, who: &str, what: &str) {
        self.check(
            self.text_read_by(who).contains(what),
            &format!("{who} did not read {what:?}, but:\n{}", self.text_read_by(who)),
        );
    }
}
