//! `--live`: one event of each kind through the installed command line, exactly as the host sends it.

use super::super::screen::{self, TextStyle, styled};
use super::Diagnostic;
use super::context::{DoctorContext, SettingsFile};
use crate::event::{EventKind, TABLE};
use crate::hook_entries::HookEntry;
use crate::journal_files;
use crate::process;
use serde::Serialize;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Longer than a person waits.
const LONGEST: Duration = Duration::from_secs(10);

/// Slower is felt at each tool call.
const SLOW: Duration = Duration::from_millis(500);

/// One event sent, and what came back.
#[derive(Debug, Clone, Serialize)]
pub(super) struct SentEvent {
    event: String,
    file: String,
    exit: Option<i32>,
    stdout: String,
    stderr: String,
    ms: f64,
    wrong: Option<String>,
}

impl SentEvent {
    pub(super) fn tell(&self) {
        let exit = self.exit.map_or("-".to_owned(), |exit| exit.to_string());
        let said = if self.stdout.is_empty() { "silence" } else { self.stdout.trim() };
        let said: String = said.chars().take(90).collect();
        let (word, colour) = if self.wrong.is_some() { ("wrong", TextStyle::Red) } else { ("sent", TextStyle::Green) };
        let word = styled(colour, &format!("{word:<8}"));
        screen::print_line(format!(
            "  {word} {:<20} exit {exit:<3} {:>7.1} ms  {}",
            self.event,
            self.ms,
            styled(TextStyle::Dim, &said)
        ));
    }
}

/// Sends an event to each of our entries. The session is the doctor's own, and leaves nothing behind.
pub(super) fn send_events(context: &DoctorContext) -> Vec<SentEvent> {
    let session = format!("modegate-doctor-{}", std::process::id());
    let places = context.target.places();
    let mut send_events = Vec::new();
    for (file, handler) in context.ours() {
        let one = tried(context, file, &handler, &session);
        let late = one.exit.is_none() && one.ms > 1e3;
        send_events.push(one);
        // One that hangs will hang again, and a person waits.
        if late {
            break;
        }
    }
    // Every event leaves its line: a program that answers without one is not ours, or not alive.
    let lines = journal_files::lines(&places.journal(&session)).len();
    if context.catalogue.settings.journal && places.hooks().is_dir() && lines < send_events.len() {
        let silent = send_events.iter_mut().filter(|one| one.wrong.is_none());
        silent.for_each(|one| one.wrong = Some("it left no line in the journal".to_owned()));
    }
    let _: std::io::Result<()> = std::fs::remove_file(places.journal(&session));
    let _: std::io::Result<()> = std::fs::remove_dir(places.sessions());
    send_events
}

pub(super) fn diagnostics(send_events: &[SentEvent]) -> Vec<Diagnostic> {
    let wrong = send_events.iter().filter_map(|one| Some((one, one.wrong.as_ref()?)));
    let mut diagnostics: Vec<Diagnostic> = wrong
        .map(|(one, why)| {
            let what = format!("`{}`, {}: {why}", one.file, one.event);
            Diagnostic::problem("hook-fails", what, "run `modegate install`")
        })
        .collect();
    let slowest = send_events.iter().max_by(|left, right| left.ms.total_cmp(&right.ms));
    if let Some(slow) = slowest.filter(|slowest| slowest.ms > SLOW.as_secs_f64() * 1e3) {
        let what = format!("{} took {:.0} ms", slow.event, slow.ms);
        diagnostics.push(Diagnostic::note("hook-slow", what, "see `modegate why` for what was asked"));
    }
    if diagnostics.is_empty() && !send_events.is_empty() {
        diagnostics.push(Diagnostic::fine(
            "live",
            format!("{} events sent, each answered as it should be", send_events.len()),
        ));
    }
    diagnostics
}

fn tried(context: &DoctorContext, file: &SettingsFile, handler: &HookEntry<'_>, session: &str) -> SentEvent {
    let home = &context.target.home;
    let event = sample(handler.event, home, session);
    let begun = Instant::now();
    let input = format!("{event}\n").into_bytes();
    let ran = command(handler, file, home).map(|mut command| process::run(&mut command, Some(input), begun + LONGEST));
    let ms = begun.elapsed().as_secs_f64() * 1e3;
    let mut one = SentEvent {
        event: handler.event.to_owned(),
        file: file.name.clone(),
        exit: None,
        stdout: String::new(),
        stderr: String::new(),
        ms,
        wrong: None,
    };
    match ran {
        None => one.wrong = Some("the entry has no command".to_owned()),
        Some(Err(error)) => one.wrong = Some(format!("it cannot be started: {error}")),
        Some(Ok(ended)) => {
            let is_late = ended.is_none();
            if let Some(ended) = ended {
                (one.exit, one.stdout, one.stderr) = (ended.code, ended.stdout, ended.stderr);
            }
            one.wrong = wrong(&one, is_late);
        }
    }
    one
}

/// What is wrong with an answer, as the host would see it.
fn wrong(one: &SentEvent, is_late: bool) -> Option<String> {
    match one.exit {
        None if is_late => return Some(format!("no answer within {} s", LONGEST.as_secs())),
        None => return Some("a signal ended it".to_owned()),
        Some(0 | 2) => {}
        Some(exit) => {
            let said = one.stderr.lines().next().unwrap_or_default();
            return Some(format!("exit code {exit}: the host lets the event through ({said})"));
        }
    }
    let is_json =
        one.stdout.trim().is_empty() || serde_json::from_str::<Value>(&one.stdout).is_ok_and(|said| said.is_object());
    (!is_json).then(|| "its answer is not one JSON object".to_owned())
}

/// The entry's command line, in exec form or for a shell, with what the host sets.
fn command(handler: &HookEntry<'_>, file: &SettingsFile, home: &Path) -> Option<Command> {
    let folder = home.to_string_lossy();
    let line = handler.command()?;
    let root = file.plugin().map(|root| root.to_string_lossy().into_owned()).unwrap_or_default();
    let filled = |text: &str| text.replace("${CLAUDE_PROJECT_DIR}", &folder).replace("${CLAUDE_PLUGIN_ROOT}", &root);
    let mut command = if let Some(args) = handler.args() {
        let mut command = Command::new(filled(line));
        command.args(args.iter().map(|word| filled(word)));
        command
    } else if cfg!(windows) {
        let mut command = Command::new("cmd");
        command.args(["/C", line]);
        command
    } else {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        command
    };
    command.current_dir(home).env("CLAUDE_PROJECT_DIR", home).env("CLAUDECODE", "1");
    Some(command)
}

/// An event of a kind with the fields that the host sends.
fn sample(event: &str, home: &Path, session: &str) -> Value {
    let mut fields = json!({
        "session_id": session, "transcript_path": home.join("none.jsonl").to_string_lossy(), "cwd": home.to_string_lossy(), "hook_event_name": event,
    });
    let kind = TABLE.iter().find(|row| row.name == event).map(|row| row.kind);
    let tool = json!({"tool_name": "Read", "tool_input": {"file_path": home.join("README.md").to_string_lossy()}, "tool_use_id": "toolu_doctor"});
    let own = match kind {
        Some(EventKind::SessionStart) => json!({"file": "startup"}),
        Some(EventKind::UserPromptSubmit) => json!({"prompt": "modegate doctor"}),
        Some(EventKind::UserPromptExpansion) => {
            json!({"expansion_type": "slash_command", "command_name": "modegate-doctor", "command_args": "", "prompt": "/modegate-doctor"})
        }
        Some(EventKind::PreToolUse | EventKind::PostToolUse | EventKind::PostToolUseFailure) => tool,
        Some(EventKind::SubagentStart | EventKind::SubagentStop) => {
            json!({"agent_id": "doctor", "agent_type": "modegate-doctor"})
        }
        _ => json!({}),
    };
    if let (Some(fields), Value::Object(own)) = (fields.as_object_mut(), own) {
        fields.extend(own);
        let more = match kind {
            Some(EventKind::PostToolUse) => json!({"tool_response": {"type": "text"}}),
            Some(EventKind::PostToolUseFailure) => json!({"error": "none"}),
            Some(EventKind::Stop | EventKind::SubagentStop) => json!({"stop_hook_active": false}),
            _ => json!({}),
        };
        fields.extend(more.as_object().cloned().unwrap_or_default());
    }
    fields
}
