//! A scenario on a stage of its own: a project in a temporary folder, played through the hook.

use super::super::hook::{HookAnswer, answer_with_offset};
use super::collector::ResultCollector;
use super::inputs::ReplayInput;
use super::line_reader::{LineReader, RawLine, too_long};
use super::mode_source::ModeSource;
use crate::engine::Decided;
use crate::event::Event;
use crate::live;
use crate::mode::{Catalogue, Mode};
use crate::paths::ProjectPaths;
use crate::replay::entry::StreamLine;
use crate::replay::expectation::Expectation;
use crate::replay::redecision::Comparison;
use crate::replay::result::CaseLocation;
use crate::replay::scenario::{Scenario, ScenarioContext, ScenarioStep, StepOutput};
use crate::session::Session;
use crate::store::StateStore;
use crate::verdict::Decision;
use jiff::{SignedDuration, Timestamp};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// Plays a scenario.
pub(super) fn replay(input: &ReplayInput, modes: &ModeSource, shell: bool, collector: &mut ResultCollector) {
    let file = input.main().to_string_lossy().into_owned();
    if let Err(why) = play(input.main(), modes, shell, collector) {
        collector.unmet(&file, 0, why);
    }
}

fn play(path: &Path, modes: &ModeSource, shell: bool, collector: &mut ResultCollector) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("it cannot be read: {error}"))?;
    let scenario = Scenario::parse(&text)?;
    if scenario.runs_programs() && !shell {
        return Err(NEEDS_SHELL.to_owned());
    }
    if !collector.has(&scenario.session) {
        // Another part plays it, and counts.
        collector.expect(None);
        return Ok(());
    }
    let folder = tempfile::tempdir().map_err(|error| format!("no folder to play in: {error}"))?;
    let mut stage = ScenarioRunner::new(folder.path(), path, &scenario, shell)?;
    stage.lay_out(&scenario, modes)?;
    if let Some(stream) = &scenario.stream {
        return stage.stream(&path.with_file_name(stream), &scenario.steps, collector);
    }
    for (number, step) in (1..).zip(&scenario.steps) {
        stage.step(number, step, collector).map_err(|why| format!("step {number}: {why}"))?;
    }
    Ok(())
}

/// A scenario may be anybody's: its files are not to run programs unasked, nor are the gates that it brings.
const NEEDS_SHELL: &str = "it runs programs of its own; let it with `--shell` if you trust it";

struct ScenarioRunner<'a> {
    shell: bool,
    home: PathBuf,
    user: PathBuf,
    file: String,
    scenario: &'a Scenario,
    setting: ScenarioContext,
    /// How far the scenario's time is ahead of ours.
    ahead: SignedDuration,
}

impl<'a> ScenarioRunner<'a> {
    fn new(folder: &Path, path: &Path, scenario: &'a Scenario, shell: bool) -> Result<Self, String> {
        let folder = folder.canonicalize().map_err(|error| error.to_string())?;
        let home = folder.join("app");
        std::fs::create_dir_all(&home).map_err(|error| error.to_string())?;
        let ahead = scenario.clock.as_deref().map_or(Ok(SignedDuration::ZERO), set_to)?;
        let setting = ScenarioContext {
            home: home.to_string_lossy().into_owned(),
            session: scenario.session.clone(),
            date: live::ahead(ahead).date,
            prompts: 0,
        };
        let file = path.to_string_lossy().into_owned();
        Ok(Self { shell, home, user: folder, file, scenario, setting, ahead })
    }

    /// Puts the files there: those of the modes that are asked for, then the scenario's own.
    fn lay_out(&self, scenario: &Scenario, modes: &ModeSource) -> Result<(), String> {
        for (path, text) in modes.files() {
            self.write(&path, &text)?;
        }
        for (path, text) in &scenario.files {
            self.write(path, text)?;
        }
        if scenario.git {
            self.git(&["init", "-q", "-b", "main"])?;
            self.commit("start")?;
        }
        Ok(())
    }

    /// Plays a stream, and what happens between its events.
    fn stream(&mut self, path: &Path, steps: &[ScenarioStep], collector: &mut ResultCollector) -> Result<(), String> {
        let wrong = |error: std::io::Error| format!("`{}` cannot be read: {error}", path.display());
        if !path.is_file() {
            return Err(format!("`{}` is no file of events", path.display()));
        }
        let mut lines = LineReader::open(path).map_err(wrong)?;
        let mut waiting = steps.iter().peekable();
        let mut held: Option<PendingExpectation> = None;
        while let Some(piece) = lines.next().map_err(wrong)? {
            let (number, bytes) = match piece {
                RawLine::Line { number, bytes, .. } => (number, bytes),
                RawLine::TooLong { number, size } => {
                    collector.problem(&path.to_string_lossy(), number, too_long(size));
                    continue;
                }
            };
            let sent = serde_json::from_slice::<StreamLine<'_>>(bytes).unwrap_or_default();
            let own = sent.expect.map(|raw| Expectation::read(raw.get())).transpose().unwrap_or_else(|why| {
                collector.unmet(&path.to_string_lossy(), number, why);
                None
            });
            if sent.hook_event_name.is_none() && sent.expect.is_some() {
                if let Some(held) = &mut held {
                    held.expected = own;
                }
                continue;
            }
            self.tell(held.take(), None, collector);
            while let Some(step) = waiting.next_if(|step| step.line.unwrap_or_default() <= number) {
                self.happens(step)?;
            }
            let text = String::from_utf8_lossy(bytes);
            let user = self.user.to_string_lossy();
            let text = self.setting.filled(&text).replace("{user}", &user);
            let bytes = text.as_bytes();
            if let Err(why) = Event::parse(bytes) {
                collector.problem(&path.to_string_lossy(), number, why);
                continue;
            }
            let answered = self.answer(bytes)?;
            held = self.held(number, bytes, answered, own);
        }
        self.tell(held, None, collector);
        match waiting.next() {
            Some(step) => Err(format!("the stream has no line {}", step.line.unwrap_or_default())),
            None => Ok(()),
        }
    }

    fn step(&mut self, number: u64, step: &ScenarioStep, collector: &mut ResultCollector) -> Result<(), String> {
        self.happens(step)?;
        if let Some(words) = &step.command {
            return self.command(words, step);
        }
        let Some(event) = step.event(&mut self.setting) else { return self.resolved(step, "", &HookAnswer::default()) };
        let bytes = event.to_string().into_bytes();
        let answered = self.answer(&bytes)?;
        let kind = event.get("hook_event_name").and_then(serde_json::Value::as_str).unwrap_or_default();
        let compared = self.resolved(step, kind, &answered);
        let met = (step.demands() && compared.is_ok()).then_some(true);
        self.tell(self.held(number, &bytes, answered, None), met, collector);
        compared
    }

    fn answer(&self, bytes: &[u8]) -> Result<HookAnswer, String> {
        let places = ProjectPaths { home: self.home.clone() };
        let steps = || crate::mode_cache::read(&places).modes.iter().any(Mode::has_steps);
        if !self.shell && steps() {
            return Err(NEEDS_SHELL.to_owned());
        }
        Ok(answer_with_offset(bytes, Some(&self.home), self.ahead))
    }

    /// What happens to the world.
    fn happens(&mut self, step: &ScenarioStep) -> Result<(), String> {
        if let Some(wait) = &step.wait {
            self.wait(wait)?;
        }
        for (path, text) in step.write.iter().flatten() {
            self.write(path, text)?;
        }
        if let Some(line) = &step.shell {
            let line = self.setting.filled(line);
            Self::run(self.program("sh").args(["-c", &line]), &line)?;
        }
        step.commit.as_ref().map_or(Ok(()), |message| self.commit(message))
    }

    fn wait(&mut self, span: &str) -> Result<(), String> {
        let parsed: Result<SignedDuration, _> = span.parse();
        let parsed = parsed.ok().or_else(|| {
            let days = span.trim().trim_end_matches(['s', ' ']).strip_suffix("day")?.trim().parse::<i64>().ok()?;
            Some(SignedDuration::from_hours(days.checked_mul(24)?))
        });
        let waited = parsed.filter(|span| !span.is_negative());
        let waited = waited.ok_or_else(|| format!("`wait: {span}` is no time to wait, such as `90m` or `2 days`"))?;
        self.ahead = self.ahead.saturating_add(waited);
        self.setting.date = live::ahead(self.ahead).date;
        Ok(())
    }

    fn write(&self, path: &str, text: &str) -> Result<(), String> {
        let wrong = |error: std::io::Error| format!("`{path}` cannot be written: {error}");
        let full = self.home.join(self.setting.filled(path));
        if !crate::paths::lexical(&full).starts_with(&self.home) {
            return Err(format!("`{path}` is outside the scenario's project"));
        }
        // What git is told there it runs: filters, hooks and watchers.
        let of_git = |part: &std::ffi::OsStr| part.eq_ignore_ascii_case(".git");
        if !self.shell && full.iter().any(of_git) {
            return Err(format!("`{path}` is git's own, and what stands there is run; let it with `--shell`"));
        }
        full.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(wrong)?;
        std::fs::write(&full, text).map_err(wrong)?;
        if !self.ahead.is_zero() {
            let file = std::fs::OpenOptions::new().write(true).open(&full).map_err(wrong)?;
            file.set_modified(now_ahead(self.ahead)).map_err(wrong)?;
        }
        Ok(())
    }

    fn commit(&self, message: &str) -> Result<(), String> {
        self.git(&["add", "-A"])?;
        self.git(&["commit", "-q", "--allow-empty", "-m", message])
    }

    fn git(&self, words: &[&str]) -> Result<(), String> {
        Self::run(self.program("git").args(words), &format!("git {}", words.join(" ")))
    }

    /// A program with an environment of its own: nothing of the machine's settings reaches it.
    fn program(&self, name: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(name);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", &self.user);
        command.envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_AUTHOR_NAME", "t"), ("GIT_AUTHOR_EMAIL", "t@example.com")]);
        command.envs([("GIT_COMMITTER_NAME", "t"), ("GIT_COMMITTER_EMAIL", "t@example.com")]);
        command.env("CLAUDE_PROJECT_DIR", &self.home).current_dir(&self.home);
        command
    }

    fn run(command: &mut Command, what: &str) -> Result<(), String> {
        let done = command.output().map_err(|error| format!("`{what}` does not run: {error}"))?;
        let complaint = String::from_utf8_lossy(&done.stderr);
        if done.status.success() { Ok(()) } else { Err(format!("`{what}` fails: {}", complaint.trim())) }
    }

    fn command(&self, words: &[String], step: &ScenarioStep) -> Result<(), String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let done = self.program(program).args(words).output().map_err(|error| error.to_string())?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let reply = crate::reply::Reply { stdout: text(&done.stdout), stderr: text(&done.stderr), exit: 0 };
        self.judge_exit(step, "", &HookAnswer { reply, ..HookAnswer::default() }, done.status.code().unwrap_or(-1))
    }

    fn resolved(&self, step: &ScenarioStep, kind: &str, answered: &HookAnswer) -> Result<(), String> {
        self.judge_exit(step, kind, answered, i32::from(answered.reply.exit))
    }

    fn judge_exit(&self, step: &ScenarioStep, kind: &str, answered: &HookAnswer, exit: i32) -> Result<(), String> {
        let places = ProjectPaths { home: self.home.clone() };
        let session = StateStore::new(places, u32::MAX).read().session(&self.setting.session);
        let state = |namespace: &str, key: &str| {
            let standing = session.mode_state(namespace).and_then(|standing| serde_json::to_value(standing).ok());
            standing.and_then(|standing| standing.get(key).cloned()).unwrap_or_default()
        };
        let findings = answered.decided.as_ref().map(|decided| decided.findings.as_slice()).unwrap_or_default();
        let (stdout, stderr) = (answered.reply.stdout.as_str(), answered.reply.stderr.as_str());
        let came = StepOutput { kind, stdout, stderr, exit, findings, state: &state };
        step.unmet(&came, &self.setting).map_or(Ok(()), Err)
    }

    /// The stage is another one each time: what is expected must not name it.
    fn settle(&self, decision: &mut Decision) {
        let Decision { reason, context, messages, moves, .. } = decision;
        for text in [reason].into_iter().chain(context).chain(messages).chain(moves) {
            *text = text.replace(&self.setting.home, "{home}");
        }
    }

    /// What came of an event, with the modes as they stood.
    fn held(
        &self,
        line: u64,
        bytes: &[u8],
        answered: HookAnswer,
        expected: Option<Expectation>,
    ) -> Option<PendingExpectation> {
        let event = Event::parse(bytes).ok()?;
        let silent = || Decided {
            decision: Decision::default(),
            findings: Vec::new(),
            session: Session { id: self.scenario.session.as_str().into(), ..Session::default() },
            who: None,
        };
        let mut decided = answered.decided.unwrap_or_else(silent);
        self.settle(&mut decided.decision);
        let compared = Comparison::new(event, decided, answered.asked);
        let catalogue = crate::mode_cache::read(&ProjectPaths { home: self.home.clone() });
        Some(PendingExpectation { line, at: live::ahead(self.ahead).at, compared, catalogue, expected })
    }

    /// Tells of an event; `met` tells whether the step's own demands are.
    fn tell(&self, held: Option<PendingExpectation>, met: Option<bool>, collector: &mut ResultCollector) {
        let Some(PendingExpectation { line, at, compared, catalogue, expected }) = held else { return };
        let place = CaseLocation { file: &self.file, line, at: Some(&at) };
        collector.compared(place, compared, &catalogue, expected, met);
    }
}

/// An event that was compared, and waits for what is expected of it.
struct PendingExpectation {
    line: u64,
    at: String,
    compared: Comparison,
    catalogue: Catalogue,
    expected: Option<Expectation>,
}

/// How far a clock is ahead that shows this time.
fn set_to(clock: &str) -> Result<SignedDuration, String> {
    let at: Timestamp =
        clock.parse().map_err(|_| format!("`clock: {clock}` is no time, such as 2026-03-01T12:00:00Z"))?;
    Ok(at.duration_since(Timestamp::now()))
}

fn now_ahead(ahead: SignedDuration) -> SystemTime {
    let now = Timestamp::now();
    now.checked_add(ahead).unwrap_or(now).into()
}
