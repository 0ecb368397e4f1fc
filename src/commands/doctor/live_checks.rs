//! `--live`: sends one event of each kind through the installed hook entries, as the host does.

use super::super::screen::{self, TextStyle, styled};
use super::context::{DoctorContext, SettingsFile};
use super::program_checks::EntryProgram;
use super::{Diagnostic, INSTALL, note, ok, problem};
use crate::host::hook_entries::HookEntry;
use crate::state::journal_files;
use base::process::{self, ProcessOutput, SHOWN_OUTPUT};
use serde::Serialize;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// How long the answer to an event may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// Above this the user notices every tool call.
const SLOW: Duration = Duration::from_millis(500);

#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct SentEvent {
    event: String,
    file: String,
    exit: Option<i32>,
    stdout: String,
    stderr: String,
    ms: f64,
    error: Option<String>,
}

impl SentEvent {
    fn unsent(entry: &HookEntry<'_>, file: &SettingsFile) -> Self {
        let error = Some("it was not run: its program or its line is not as `modegate install` writes it".to_owned());
        Self { event: entry.event.to_owned(), file: file.name.clone(), error, ..Self::default() }
    }

    pub(super) fn print(&self) {
        let exit = self.exit.map_or("-".to_owned(), |exit| exit.to_string());
        let reply = if self.stdout.is_empty() { "no output" } else { self.stdout.trim() };
        let reply = screen::truncated(reply, 90.min(screen::width().saturating_sub(52)));
        let (word, style) = if self.error.is_some() { ("failed", TextStyle::Red) } else { ("sent", TextStyle::Green) };
        let word = styled(style, &format!("{word:<8}"));
        let reply = styled(TextStyle::Dim, &reply);
        screen::print_line(format!("  {word} {:<20} exit {exit:<3} {:>7.1} ms  {reply}", self.event, self.ms));
    }
}

/// Sends an event to each of modegate's entries, in a separate session that is removed afterwards.
pub(super) fn send_events(context: &DoctorContext) -> Vec<SentEvent> {
    let session = format!("modegate-doctor-{}", std::process::id());
    let places = context.target.state_places();
    let mut sent = Vec::new();
    for (file, entry) in context.ours() {
        // A missing program is reported by its own check.
        let programs = EntryProgram::of_entry(&entry, file, &context.target.home);
        let Some(program) = programs.path else { continue };
        let may_run = programs.of_project.iter().chain([&program]).all(|program| context.may_run(program));
        if !may_run || !context.may_run_line(file, &entry) {
            sent.push(SentEvent::unsent(&entry, file));
            continue;
        }
        // It would answer nothing and write no journal line.
        if context.is_superseded(file, &entry) {
            continue;
        }
        let answer = send(context, file, &entry, &session);
        let hangs = answer.exit.is_none() && answer.ms > 1e3;
        sent.push(answer);
        // The next one would hang too.
        if hangs {
            break;
        }
    }
    // Every event leaves a journal line; a program that answers without one is not a working modegate.
    let lines = journal_files::lines(&places.journal(&session)).len();
    if context.catalogue.settings.journal && places.hooks().is_dir() && lines < sent.len() {
        let unrecorded = sent.iter_mut().filter(|answer| answer.error.is_none());
        unrecorded.for_each(|answer| answer.error = Some("it wrote no journal line".to_owned()));
    }
    let _: std::io::Result<()> = std::fs::remove_file(places.journal(&session));
    let _: std::io::Result<()> = std::fs::remove_dir(places.sessions());
    sent
}

pub(super) fn run(sent: &[SentEvent]) -> Vec<Diagnostic> {
    let failed = sent.iter().filter_map(|answer| Some((answer, answer.error.as_ref()?)));
    let mut diagnostics: Vec<Diagnostic> = failed
        .map(|(answer, error)| {
            let message = format!("the hook in `{}` fails, {error}", answer.file);
            problem("hook-fails", message, INSTALL).about(answer.event.as_str())
        })
        .collect();
    let slowest = sent.iter().max_by(|left, right| left.ms.total_cmp(&right.ms));
    if let Some(slow) = slowest.filter(|slowest| slowest.ms > SLOW.as_secs_f64() * 1e3) {
        let message = format!("{} took {:.0} ms", slow.event, slow.ms);
        diagnostics.push(note("hook-slow", message, "run `modegate why` to see what was asked"));
    }
    if diagnostics.is_empty() && !sent.is_empty() {
        diagnostics.push(ok("live", format!("{} events sent and answered correctly", sent.len())));
    }
    diagnostics
}

fn send(context: &DoctorContext, file: &SettingsFile, entry: &HookEntry<'_>, session: &str) -> SentEvent {
    let home = &context.target.home;
    let input = format!("{}\n", sample(entry.event, home, session)).into_bytes();
    let begun = Instant::now();
    let ran = command(entry, file, home)
        .map(|mut command| process::run(&mut command, Some(input), begun + ANSWER_TIMEOUT, SHOWN_OUTPUT));
    let ms = begun.elapsed().as_secs_f64() * 1e3;
    let error = match &ran {
        None => Some("the entry has no command".to_owned()),
        Some(Err(error)) => Some(format!("it cannot be started: {error}")),
        Some(Ok(None)) => Some(format!("no answer within {} s", ANSWER_TIMEOUT.as_secs())),
        Some(Ok(Some(output))) => answer_error(output),
    };
    let output = ran.and_then(Result::ok).flatten();
    let (exit, stdout, stderr) =
        output.map(|output| (output.code, output.stdout_text(), output.stderr_text())).unwrap_or_default();
    SentEvent { event: entry.event.to_owned(), file: file.name.clone(), exit, stdout, stderr, ms, error }
}

fn answer_error(output: &ProcessOutput) -> Option<String> {
    match output.code {
        None => return Some("it was ended by a signal".to_owned()),
        Some(0 | 2) => {}
        Some(exit) => {
            let errors = output.stderr_text();
            let stderr = errors.lines().next().unwrap_or_default();
            return Some(format!("exit code {exit}, so Claude Code lets the event through ({stderr})"));
        }
    }
    let is_json = output.stdout.trim_ascii().is_empty()
        || serde_json::from_str::<Value>(&output.stdout_text()).is_ok_and(|reply| reply.is_object());
    (!is_json).then(|| "its answer is not a JSON object".to_owned())
}

/// The command of an entry, with the environment that the host sets.
fn command(entry: &HookEntry<'_>, file: &SettingsFile, home: &Path) -> Option<Command> {
    let folder = home.to_string_lossy();
    let line = entry.command()?;
    let root = file.plugin().map(|root| root.to_string_lossy().into_owned()).unwrap_or_default();
    let filled = |text: &str| text.replace("${CLAUDE_PROJECT_DIR}", &folder).replace("${CLAUDE_PLUGIN_ROOT}", &root);
    let mut command;
    if let Some(args) = entry.args() {
        command = Command::new(filled(line));
        command.args(args.iter().map(|word| filled(word)));
    } else {
        let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
        command = Command::new(shell);
        command.args([flag, line]);
    }
    command.current_dir(home).env("CLAUDE_PROJECT_DIR", home).env("CLAUDECODE", "1");
    Some(command)
}

/// A sample event. The host sends only some of these fields with each; the others are not looked at.
fn sample(event: &str, home: &Path, session: &str) -> Value {
    let path = |name: &str| home.join(name).to_string_lossy().into_owned();
    let mut sample = json!({
        "session_id": session, "transcript_path": path("none.jsonl"), "cwd": home.to_string_lossy(),
        "hook_event_name": event, "source": "startup", "prompt": "modegate doctor", "stop_hook_active": false,
        "expansion_type": "slash_command", "command_name": "modegate-doctor", "command_args": "",
    });
    let own = match event {
        "SubagentStart" | "SubagentStop" => json!({"agent_id": "doctor", "agent_type": "modegate-doctor"}),
        "PreToolUse" | "PostToolUse" | "PostToolUseFailure" => json!({
            "tool_name": "Read", "tool_input": {"file_path": path("README.md")}, "tool_use_id": "toolu_doctor",
            "tool_response": {"type": "text"}, "error": "none",
        }),
        _ => return sample,
    };
    if let (Some(fields), Value::Object(own)) = (sample.as_object_mut(), own) {
        fields.extend(own);
    }
    sample
}
