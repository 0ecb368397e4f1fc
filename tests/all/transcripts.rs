//! Sessions of the real host: what is rebuilt from their transcripts is what the hooks were told.

use modegate::replay::transcript::{Agent, Part, Reason, Retold, rebuild};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Events that a transcript does not show.
const HIDDEN: [&str; 7] = [
    "SessionEnd",
    "PostToolBatch",
    "CwdChanged",
    "InstructionsLoaded",
    "PermissionRequest",
    "PermissionDenied",
    "Notification",
];

/// Fields that a transcript does not have, or not always.
const LOST: [&str; 15] = [
    "effort",
    "duration_ms",
    "session_crons",
    "is_interrupt",
    "model",
    "command_source",
    "custom_instructions",
    "compact_summary",
    "session_title",
    "scratchpad_dir",
    "mcp_server",
    "seconds_since_last_response",
    "context_tokens",
    "prompt_cache_likely_expired",
    "estimated_cache_write_usd",
];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/transcripts").join(name)
}

fn lines(path: &Path) -> Vec<Vec<u8>> {
    std::fs::read(path).unwrap().split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

fn sorted(folder: &Path, end: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.to_string_lossy().ends_with(end));
    files.sort();
    files
}

/// The sessions of a fixture, each rebuilt.
fn stories(name: &str) -> Vec<Retold> {
    let files = sorted(&fixture(name), ".jsonl").into_iter().filter(|path| !path.ends_with("events.jsonl"));
    files.map(|path| story(&path)).collect()
}

fn story(path: &Path) -> Retold {
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    let main = format!("/home/ann/.claude/projects/-home-ann-app/{name}.jsonl");
    let mut part = Part::main(&main);
    for line in lines(path) {
        part.line(&line);
    }
    let mut parts = vec![part];
    for path in sorted(&path.with_extension("").join("subagents"), ".jsonl") {
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        let own = format!("/home/ann/.claude/projects/-home-ann-app/{name}/subagents/{file}");
        let card = std::fs::read(path.with_extension("meta.json")).ok();
        let mut part = Part::of_agent(&main, &own, Agent::of(&own, card.as_deref()).unwrap());
        for line in lines(&path) {
            part.line(&line);
        }
        parts.push(part);
    }
    rebuild(parts)
}

/// What the hooks were told, without what a transcript does not show.
fn told(name: &str) -> Vec<Map<String, Value>> {
    let events = lines(&fixture(name).join("events.jsonl")).into_iter().filter(|line| !line.is_empty());
    let events = events.map(|line| serde_json::from_slice::<Map<String, Value>>(&line).unwrap());
    // A fork of the host's own leaves no transcript.
    let fork = |event: &Map<String, Value>| event.get("agent_type").is_some_and(|kind| kind == "");
    events.filter(|event| !HIDDEN.contains(&event["hook_event_name"].as_str().unwrap()) && !fork(event)).collect()
}

fn rebuilt(name: &str) -> Vec<Map<String, Value>> {
    let mut stories = stories(name);
    // A session that was cleared goes on in another file.
    stories.sort_by_key(|story| story.events.first().and_then(|first| first.at.clone()));
    stories.into_iter().flat_map(|story| story.events).map(|event| event.event.as_object().unwrap().clone()).collect()
}

/// An event in a few words.
fn label(event: &Map<String, Value>) -> String {
    let text = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default();
    let agent = text("agent_id").get(..4).unwrap_or_default();
    let words = [text("hook_event_name"), text("tool_name"), text("tool_use_id"), text("source"), agent];
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn labels(events: &[Map<String, Value>]) -> Vec<String> {
    events.iter().map(label).collect()
}

/// Everything that was rebuilt of an event is as it was told; what is missing is named.
#[track_caller]
fn check_fields(told: &Map<String, Value>, rebuilt: &Map<String, Value>) {
    for (name, value) in rebuilt {
        let expected = told.get(name).unwrap_or(&Value::Null);
        assert_eq!(plain(value, told), plain(expected, told), "{name} of {}", label(told));
    }
    let in_agent = told.contains_key("agent_id");
    for name in told.keys().filter(|name| !LOST.contains(&name.as_str())) {
        // Of what tools answer a subagent, only words are kept; the mode is not told with every prompt.
        let may_lack = *name == "permission_mode" || in_agent && *name == "tool_response";
        assert!(may_lack || rebuilt.contains_key(name), "{name} of {} is missing", label(told));
    }
}

/// A value without what the host adds to a tool's input on its own.
fn plain(value: &Value, event: &Map<String, Value>) -> Value {
    let mut value = value.clone();
    if let (Some("Edit"), Some(input)) = (event.get("tool_name").and_then(Value::as_str), value.as_object_mut())
        && input.get("replace_all") == Some(&Value::Bool(false))
    {
        input.remove("replace_all");
    }
    value
}

/// The same with calls that begin, or end, side by side in the order of their ids: their hooks run together.
fn settled(mut events: Vec<Map<String, Value>>) -> Vec<Map<String, Value>> {
    let side = |event: &Map<String, Value>| (event["hook_event_name"].to_string(), event.get("agent_id").cloned());
    for run in events.chunk_by_mut(|left, right| side(left) == side(right)) {
        run.sort_by_key(label);
    }
    events
}

#[track_caller]
fn check(name: &str) {
    let (told, rebuilt) = (settled(told(name)), settled(rebuilt(name)));
    assert_eq!(labels(&rebuilt), labels(&told), "{name}");
    for (told, rebuilt) in told.iter().zip(&rebuilt) {
        check_fields(told, rebuilt);
    }
}

/// The same where hooks run at the same time: each agent's events are in order, and the fields of all are right.
#[track_caller]
fn check_each_agent(name: &str) {
    let each = |mut events: Vec<Map<String, Value>>| {
        events.sort_by_key(|event| event.get("agent_id").map(Value::to_string));
        settled(events)
    };
    let (told, rebuilt) = (each(told(name)), each(rebuilt(name)));
    assert_eq!(labels(&rebuilt), labels(&told), "{name}");
    for (told, rebuilt) in told.iter().zip(&rebuilt) {
        check_fields(told, rebuilt);
    }
}

#[test]
fn foreground_agents_lie_between_their_call_and_its_end() {
    check("foreground-agents");
    check("foreground-agents-2.1.198");
}
#[test]
fn t_background() {
    check_each_agent("background-agent");
}
#[test]
fn t_background250() {
    check_each_agent("background-agent-2.1.250");
}
#[test]
fn t_denied() {
    check("denied-and-blocked");
}
#[test]
fn t_denied250() {
    check("denied-and-blocked-2.1.250");
}
#[test]
fn t_parallel() {
    check_each_agent("parallel-and-nested-agents");
}
#[test]
fn t_resumed() {
    check("resumed-and-compacted");
}
#[test]
fn t_order() {
    check("calls-in-one-message");
}
#[test]
fn t_order198() {
    check("calls-in-one-message-2.1.198");
}
#[test]
fn t_perm() {
    check("not-permitted");
}
#[test]
fn t_queued() {
    check("queued-and-cleared");
}
#[test]
fn t_working() {
    check_each_agent("told-while-working");
}
#[test]
fn t_worktree() {
    check("agent-in-worktree");
}
#[test]
fn what_is_left_out_is_counted() {
    let skipped = &stories("calls-in-one-message")[0].skipped;
    assert_eq!(skipped.0.keys().collect::<Vec<_>>(), [&Reason::Refused]);
}
