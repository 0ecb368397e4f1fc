//! `--live`: one event of each kind through the installed command line, exactly as the host sends it.

use super::super::screen::{self, Colour, paint};
use super::Report;
use super::ground::{Ground, Source};
use crate::event::{Kind, TABLE};
use crate::wiring::Handler;
use serde::Serialize;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Longer than a person waits.
const LONGEST: Duration = Duration::from_secs(20);

/// Slower is felt at each tool call.
const SLOW: Duration = Duration::from_millis(500);

/// One event sent, and what came back.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Try {
    event: String,
    file: String,
    exit: Option<i32>,
    stdout: String,
    stderr: String,
    ms: f64,
    wrong: Option<String>,
}

impl Try {
    pub(super) fn tell(&self) {
        let exit = self.exit.map_or("-".to_owned(), |exit| exit.to_string());
        let said = if self.stdout.is_empty() { "silence" } else { self.stdout.trim() };
        let said: String = said.chars().take(90).collect();
        let (word, colour) = if self.wrong.is_some() { ("wrong", Colour::Red) } else { ("sent", Colour::Green) };
        let word = paint(colour, &format!("{word:<8}"));
        screen::say(format!(
            "  {word} {:<20} exit {exit:<3} {:>7.1} ms  {}",
            self.event,
            self.ms,
            paint(Colour::Dim, &said)
        ));
    }
}

/// Sends an event to each of our entries. The session is the doctor's own, and leaves nothing behind.
pub(super) fn tries(ground: &Ground) -> Vec<Try> {
    let session = format!("modegate-doctor-{}", std::process::id());
    let tried = ground.ours().iter().map(|(source, handler)| tried(ground, source, handler, &session)).collect();
    let places = ground.site.places();
    let _: std::io::Result<()> = std::fs::remove_file(places.journal(&session));
    let _: std::io::Result<()> = std::fs::remove_dir(places.sessions());
    tried
}

pub(super) fn reports(tries: &[Try]) -> Vec<Report> {
    let wrong = tries.iter().filter_map(|one| Some((one, one.wrong.as_ref()?)));
    let mut reports: Vec<Report> = wrong
        .map(|(one, why)| {
            let what = format!("`{}`, {}: {why}", one.file, one.event);
            Report::problem("hook-fails", what, "run `modegate install`")
        })
        .collect();
    let slowest = tries.iter().max_by(|left, right| left.ms.total_cmp(&right.ms));
    if let Some(slow) = slowest.filter(|slowest| slowest.ms > SLOW.as_secs_f64() * 1e3) {
        let what = format!("{} took {:.0} ms", slow.event, slow.ms);
        reports.push(Report::note("hook-slow", what, "see `modegate why` for what was asked"));
    }
    if reports.is_empty() && !tries.is_empty() {
        reports.push(Report::fine("live", format!("{} events sent, each answered as it should be", tries.len())));
    }
    reports
}

fn tried(ground: &Ground, source: &Source, handler: &Handler<'_>, session: &str) -> Try {
    let home = &ground.site.home;
    let event = sample(handler.event, home, session);
    let begun = Instant::now();
    let ran = command(handler, home).map(|mut command| run(&mut command, format!("{event}\n").as_bytes()));
    let ms = begun.elapsed().as_secs_f64() * 1e3;
    let mut one = Try {
        event: handler.event.to_owned(),
        file: source.name.clone(),
        exit: None,
        stdout: String::new(),
        stderr: String::new(),
        ms,
        wrong: None,
    };
    match ran {
        None => one.wrong = Some("the entry has no command".to_owned()),
        Some(Err(error)) => one.wrong = Some(format!("it cannot be started: {error}")),
        Some(Ok((status, stdout, stderr))) => {
            one.exit = status.and_then(|status| status.code());
            (one.stdout, one.stderr) = (stdout, stderr);
            one.wrong = wrong(&one);
        }
    }
    one
}

/// What is wrong with an answer, as the host would see it.
fn wrong(one: &Try) -> Option<String> {
    match one.exit {
        None => return Some(format!("no answer within {} s", LONGEST.as_secs())),
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
fn command(handler: &Handler<'_>, home: &Path) -> Option<Command> {
    let folder = home.to_string_lossy();
    let line = handler.command()?;
    let filled = |text: &str| text.replace("${CLAUDE_PROJECT_DIR}", &folder);
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
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Some(command)
}

type Ran = (Option<ExitStatus>, String, String);

/// Runs a command, and kills it when it takes too long.
fn run(command: &mut Command, input: &[u8]) -> std::io::Result<Ran> {
    let mut child = command.spawn()?;
    let (out, err) = (reader(child.stdout.take()), reader(child.stderr.take()));
    // A program that does not read its input is found out by its answer.
    let _: Option<std::io::Result<()>> = child.stdin.take().map(|mut stdin| stdin.write_all(input));
    let status = wait(&mut child)?;
    let text = |thread: std::thread::JoinHandle<Vec<u8>>| {
        String::from_utf8_lossy(&thread.join().unwrap_or_default()).into_owned()
    };
    // Who was killed may have left children that hold the pipes open.
    if status.is_none() {
        return Ok((None, String::new(), String::new()));
    }
    Ok((status, text(out), text(err)))
}

fn reader(pipe: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _: Option<std::io::Result<usize>> = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
        bytes
    })
}

fn wait(child: &mut Child) -> std::io::Result<Option<ExitStatus>> {
    let from = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if from.elapsed() > LONGEST {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// An event of a kind with the fields that the host sends.
fn sample(event: &str, home: &Path, session: &str) -> Value {
    let mut fields = json!({
        "session_id": session, "transcript_path": home.join("none.jsonl"), "cwd": home, "hook_event_name": event,
    });
    let kind = TABLE.iter().find(|row| row.name == event).map(|row| row.kind);
    let tool = json!({"tool_name": "Read", "tool_input": {"file_path": home.join("README.md")}, "tool_use_id": "toolu_doctor"});
    let own = match kind {
        Some(Kind::SessionStart) => json!({"source": "startup"}),
        Some(Kind::UserPromptSubmit) => json!({"prompt": "modegate doctor"}),
        Some(Kind::UserPromptExpansion) => {
            json!({"expansion_type": "slash_command", "command_name": "modegate-doctor", "command_args": "", "prompt": "/modegate-doctor"})
        }
        Some(Kind::PreToolUse | Kind::PostToolUse | Kind::PostToolUseFailure) => tool,
        Some(Kind::SubagentStart | Kind::SubagentStop) => {
            json!({"agent_id": "doctor", "agent_type": "modegate-doctor"})
        }
        _ => json!({}),
    };
    if let (Some(fields), Value::Object(own)) = (fields.as_object_mut(), own) {
        fields.extend(own);
        let more = match kind {
            Some(Kind::PostToolUse) => json!({"tool_response": {"type": "text"}}),
            Some(Kind::PostToolUseFailure) => json!({"error": "none"}),
            Some(Kind::Stop | Kind::SubagentStop) => json!({"stop_hook_active": false}),
            _ => json!({}),
        };
        fields.extend(more.as_object().cloned().unwrap_or_default());
    }
    fields
}
