//! Runs a scenario through the hook, in a project in a temporary folder.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use crate::engine::Decided;
use crate::facts::session::Session;
use crate::facts::verdict::Decision;
use crate::hook::{HookAnswer, answer_in};
use crate::host::event::Event;
use crate::host::paths::ProjectPaths;
use crate::policy::mode::Mode;
use crate::replay::collector::ResultCollector;
use crate::replay::inputs::ReplayInput;
use crate::replay::mode_source::{ModeSource, ResolvedModes};
use crate::replay::redecision::Comparison;
use crate::replay::result::CaseLocation;
use crate::replay::scenario::{Scenario, ScenarioContext, ScenarioError, ScenarioStep, StepOutput};
use crate::replay::stream::read_events;
use crate::state::store::StateStore;
use crate::state::user_folder::project_paths_in;
use crate::world;
use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

pub(crate) fn replay(input: &ReplayInput, source: &ModeSource, shell: bool, collector: &mut ResultCollector) {
    if let Err(why) = run(input.main(), source, shell, collector) {
        collector.settle();
        collector.unmet(&input.main().to_string_lossy(), 0, why);
    }
}

fn run(path: &Path, source: &ModeSource, shell: bool, collector: &mut ResultCollector) -> Result<(), ScenarioError> {
    let scenario = Scenario::parse(&base::disk::read_text(path, base::disk::SMALL)?)?;
    if scenario.runs_programs() && !shell {
        return Err(ScenarioError::NeedsShell);
    }
    if !collector.has(&scenario.session) {
        // Another shard runs it.
        collector.file = None;
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let mut runner = ScenarioRunner::new(folder.path(), path, &scenario, shell)?;
    runner.create_project(&scenario, source)?;
    if let Some(stream) = &scenario.stream {
        return runner.stream(&path.with_file_name(stream), &scenario.steps, collector);
    }
    for (number, step) in (1..).zip(&scenario.steps) {
        runner.step(number, step, collector).map_err(|why| ScenarioError::Step(number, Box::new(why)))?;
    }
    Ok(())
}

struct ScenarioRunner {
    /// Whether the scenario and its gates may run programs.
    shell: bool,
    project: ProjectPaths,
    user: PathBuf,
    file: Arc<str>,
    context: ScenarioContext,
    /// How far the clock of the scenario is ahead.
    offset: SignedDuration,
}

impl ScenarioRunner {
    fn new(folder: &Path, path: &Path, scenario: &Scenario, shell: bool) -> Result<Self, ScenarioError> {
        let user = folder.canonicalize()?;
        let home = user.join("app");
        std::fs::create_dir_all(&home)?;
        let mut offset = SignedDuration::ZERO;
        if let Some(clock) = &scenario.clock {
            let at: Timestamp = clock.parse().map_err(|_| ScenarioError::Clock(clock.clone()))?;
            offset = at.duration_since(Timestamp::now());
        }
        let context = ScenarioContext {
            home: home.to_string_lossy().into_owned(),
            session: scenario.session.clone(),
            date: world::ahead(offset).date,
            prompts: 0,
        };
        let file = path.to_string_lossy().into();
        Ok(Self { shell, project: project_paths_in(home, &user.join("state")), user, file, context, offset })
    }

    /// Writes the mode files, then the files of the scenario.
    fn create_project(&self, scenario: &Scenario, source: &ModeSource) -> Result<(), ScenarioError> {
        for (path, text) in source.files(Path::new(&*self.file)).into_iter().chain(scenario.files.clone()) {
            self.write(&path, &text)?;
        }
        if let (Some(text), Some(path)) = (&scenario.user_settings, &self.project.user_settings) {
            let written = base::disk::write(path, text.as_bytes(), base::disk::LinkPolicy::Replace);
            written.map_err(|error| ScenarioError::Write(path.display().to_string(), error))?;
        }
        if scenario.git {
            self.git(&["init", "-q", "-b", "main"])?;
            self.commit("start")?;
        }
        // Whoever replays a scenario has chosen its files.
        crate::state::trust::renew(&self.project);
        Ok(())
    }

    fn stream(
        &mut self,
        path: &Path,
        steps: &[ScenarioStep],
        collector: &mut ResultCollector,
    ) -> Result<(), ScenarioError> {
        if !path.is_file() {
            return Err(ScenarioError::NotEvents(path.display().to_string()));
        }
        let mut waiting = steps.iter().peekable();
        read_events(path, collector, |collector, number, _, bytes| {
            while let Some(step) = waiting.next_if(|step| step.line.unwrap_or_default() <= number) {
                self.change_project(step)?;
            }
            let text = self.context.filled(&String::from_utf8_lossy(bytes));
            let text = text.replace("{user}", &self.user.to_string_lossy());
            let answer = self.answer(text.as_bytes())?;
            self.report(number, text.as_bytes(), answer, None, collector);
            Ok::<(), ScenarioError>(())
        })?;
        waiting.next().map_or(Ok(()), |step| Err(ScenarioError::PastEnd(step.line.unwrap_or_default())))
    }

    fn step(&mut self, number: u64, step: &ScenarioStep, collector: &mut ResultCollector) -> Result<(), ScenarioError> {
        self.change_project(step)?;
        if let Some(words) = &step.command {
            return self.command(words, step);
        }
        let Some(event) = step.event(&mut self.context) else {
            return self.check(step, "", &HookAnswer::default(), 0);
        };
        let bytes = event.to_string().into_bytes();
        let answer = self.answer(&bytes)?;
        let kind = event.get("hook_event_name").and_then(serde_json::Value::as_str).unwrap_or_default();
        let checked = self.check(step, kind, &answer, i32::from(answer.reply.exit));
        let met = (step.has_expectations() && checked.is_ok()).then_some(true);
        self.report(number, &bytes, answer, met, collector);
        checked
    }

    fn answer(&self, bytes: &[u8]) -> Result<HookAnswer, ScenarioError> {
        let has_programs = || crate::state::mode_cache::read(&self.project).modes.iter().any(Mode::has_steps);
        if !self.shell && has_programs() {
            return Err(ScenarioError::NeedsShell);
        }
        Ok(answer_in(bytes, &self.project, self.offset))
    }

    fn change_project(&mut self, step: &ScenarioStep) -> Result<(), ScenarioError> {
        if let Some(wait) = &step.wait {
            self.offset = self.offset.saturating_add(duration(wait)?);
            self.context.date = world::ahead(self.offset).date;
        }
        for (path, text) in step.write.iter().flatten() {
            self.write(path, text)?;
        }
        if let Some(line) = &step.shell {
            let line = self.context.filled(line);
            execute(self.program("sh").args(["-c", &line]), &line)?;
        }
        crate::state::trust::renew(&self.project);
        step.commit.as_ref().map_or(Ok(()), |message| self.commit(message))
    }

    fn write(&self, path: &str, text: &str) -> Result<(), ScenarioError> {
        let full = self.project.home.join(self.context.filled(path));
        if !crate::host::paths::lexical(&full).starts_with(&self.project.home) {
            return Err(ScenarioError::Outside(path.to_owned()));
        }
        if !self.shell && full.iter().any(|part| part.eq_ignore_ascii_case(".git")) {
            return Err(ScenarioError::GitFile(path.to_owned()));
        }
        let written = full.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| {
            std::fs::write(&full, text)?;
            if self.offset.is_zero() {
                return Ok(());
            }
            let now = Timestamp::now();
            let modified = now.checked_add(self.offset).unwrap_or(now);
            std::fs::OpenOptions::new().write(true).open(&full)?.set_modified(modified.into())
        });
        written.map_err(|error| ScenarioError::Write(path.to_owned(), error))
    }

    fn commit(&self, message: &str) -> Result<(), ScenarioError> {
        self.git(&["add", "-A"])?;
        self.git(&["commit", "-q", "--allow-empty", "-m", message])
    }

    fn git(&self, words: &[&str]) -> Result<(), ScenarioError> {
        execute(self.program("git").args(words), &format!("git {}", words.join(" ")))
    }

    /// A program with an environment of its own, without the settings of this machine.
    fn program(&self, name: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(name);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", &self.user);
        command.envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_AUTHOR_NAME", "t"), ("GIT_AUTHOR_EMAIL", "t@example.com")]);
        command.envs([("GIT_COMMITTER_NAME", "t"), ("GIT_COMMITTER_EMAIL", "t@example.com")]);
        command.env("CLAUDE_PROJECT_DIR", &self.project.home).current_dir(&self.project.home);
        command.env("MODEGATE_STATE_DIR", self.user.join("state"));
        command
    }

    fn command(&self, words: &[String], step: &ScenarioStep) -> Result<(), ScenarioError> {
        let output = self.program(std::env::current_exe()?).args(words).output()?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let reply = crate::hook::Reply { stdout: text(&output.stdout), stderr: text(&output.stderr), exit: 0 };
        self.check(step, "", &HookAnswer { reply, ..HookAnswer::default() }, output.status.code().unwrap_or(-1))
    }

    fn check(&self, step: &ScenarioStep, kind: &str, answer: &HookAnswer, exit: i32) -> Result<(), ScenarioError> {
        let session = StateStore::new(self.project.clone(), u32::MAX).read(&self.context.session).session;
        let state = |namespace: &str, key: &str| {
            let state = session.mode_state(namespace).and_then(|state| serde_json::to_value(state).ok());
            state.and_then(|state| state.get(key).cloned()).unwrap_or_default()
        };
        let findings = answer.decided.as_ref().map(|decided| decided.findings.as_slice()).unwrap_or_default();
        let (stdout, stderr) = (answer.reply.stdout.as_str(), answer.reply.stderr.as_str());
        let output = StepOutput { kind, stdout, stderr, exit, findings, state: &state };
        step.unmet(&output, &self.context).map_or(Ok(()), |what| Err(ScenarioError::Unmet(what)))
    }

    /// Reports an event; `met` tells whether the expectations of its step are met.
    fn report(&self, line: u64, bytes: &[u8], answer: HookAnswer, met: Option<bool>, collector: &mut ResultCollector) {
        let Ok(event) = Event::parse(bytes) else { return };
        let mut decided = answer.decided.unwrap_or_else(|| Decided {
            session: Session { id: self.context.session.as_str().into(), ..Session::default() },
            ..Decided::default()
        });
        // The folder differs in every run, and expectations must not.
        let Decision { reason, context, messages, moves, .. } = &mut decided.decision;
        for text in [reason].into_iter().chain(context).chain(messages).chain(moves) {
            *text = text.replace(&self.context.home, "{home}");
        }
        let catalogue = crate::state::mode_cache::read(&self.project);
        let (hash, name) = (catalogue.hash.clone(), "the modes of the scenario".to_owned());
        let modes = Arc::new(ResolvedModes { catalogue, hash, name });
        let location = CaseLocation { file: Arc::clone(&self.file), line, at: Some(world::ahead(self.offset).at) };
        collector.case(location, Comparison::new(event, decided, answer.asked), &modes, met);
    }
}

fn execute(command: &mut Command, what: &str) -> Result<(), ScenarioError> {
    let output = command.output().map_err(|error| ScenarioError::Program(what.to_owned(), error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(ScenarioError::Program(what.to_owned(), stderr.trim().to_owned()))
}

fn duration(text: &str) -> Result<SignedDuration, ScenarioError> {
    let span = text.parse::<Span>().and_then(|span| span.to_duration(SpanRelativeTo::days_are_24_hours()));
    span.ok().filter(|duration| !duration.is_negative()).ok_or_else(|| ScenarioError::Wait(text.to_owned()))
}
