//! Events that are rebuilt from transcripts of the real host, compared with those its hooks received.

#![expect(clippy::disallowed_methods, reason = "a test reads fixtures")]

use super::{RebuiltSession, SkipReason, SkippedRecords, SubagentInfo, TranscriptFile, rebuild};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Events that leave no trace in a transcript.
const HIDDEN: [&str; 7] = [
    "SessionEnd",
    "PostToolBatch",
    "CwdChanged",
    "InstructionsLoaded",
    "PermissionRequest",
    "PermissionDenied",
    "Notification",
];

/// Fields that a transcript lacks, or has only sometimes.
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
fn rebuilt_sessions(name: &str) -> Vec<RebuiltSession> {
    let files = sorted(&fixture(name), ".jsonl").into_iter().filter(|path| !path.ends_with("events.jsonl"));
    files.map(|path| rebuilt_session(&path)).collect()
}

/// The number of all skipped records.
fn count(skipped: &SkippedRecords) -> usize {
    skipped.0.values().map(|skipped| skipped.count).sum()
}

fn filled(mut part: TranscriptFile, lines: &[Vec<u8>]) -> TranscriptFile {
    for line in lines {
        part.line(line);
    }
    part
}

fn rebuilt_session(path: &Path) -> RebuiltSession {
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    let main = format!("/home/ann/.claude/projects/-home-ann-app/{name}.jsonl");
    let mut parts = vec![filled(TranscriptFile::main(&main), &lines(path))];
    for path in sorted(&path.with_extension("").join("subagents"), ".jsonl") {
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        let own = format!("/home/ann/.claude/projects/-home-ann-app/{name}/subagents/{file}");
        let card = std::fs::read(path.with_extension("meta.json")).ok();
        let part = TranscriptFile::of_agent(&main, &own, SubagentInfo::of(&own, card.as_deref()).unwrap());
        parts.push(filled(part, &lines(&path)));
    }
    rebuild(parts)
}

/// The events that the hooks received, without those that leave no trace in a transcript.
fn hook_events(name: &str) -> Vec<Map<String, Value>> {
    let events = lines(&fixture(name).join("events.jsonl")).into_iter().filter(|line| !line.is_empty());
    let events = events.map(|line| serde_json::from_slice::<Map<String, Value>>(&line).unwrap());
    // A fork of the host's own leaves no transcript.
    let fork = |event: &Map<String, Value>| event.get("agent_type").is_some_and(|kind| kind == "");
    events.filter(|event| !HIDDEN.contains(&event["hook_event_name"].as_str().unwrap()) && !fork(event)).collect()
}

fn rebuilt(name: &str) -> Vec<Map<String, Value>> {
    let mut stories = rebuilt_sessions(name);
    // A session that was cleared goes on in another file.
    stories.sort_by_key(|story| story.events.first().and_then(|first| first.at.clone()));
    stories.into_iter().flat_map(|story| story.events).map(|event| event.event.as_object().unwrap().clone()).collect()
}

/// A short description of an event.
fn label(event: &Map<String, Value>) -> String {
    let text = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default();
    let agent = text("agent_id").get(..4).unwrap_or_default();
    let words = [text("hook_event_name"), text("tool_name"), text("tool_use_id"), text("source"), agent];
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn labels(events: &[Map<String, Value>]) -> Vec<String> {
    events.iter().map(label).collect()
}

/// Checks that the rebuilt fields have the original values, and that only known fields are missing.
#[track_caller]
fn check_fields(original: &Map<String, Value>, rebuilt: &Map<String, Value>) {
    for (name, value) in rebuilt {
        let expected = original.get(name).unwrap_or(&Value::Null);
        assert!(is_same(name, value, expected), "{name} of {}: {value} for {expected}", label(original));
    }
    let in_agent = original.contains_key("agent_id");
    for name in original.keys().filter(|name| !LOST.contains(&name.as_str())) {
        // Transcripts keep only the text of a subagent's tool results, and not every permission mode.
        let compact = label(original).contains("ompact") && *name == "prompt_id";
        let may_lack = *name == "permission_mode" || in_agent && *name == "tool_response" || compact;
        assert!(may_lack || rebuilt.contains_key(name), "{name} of {} is missing", label(original));
    }
}

/// Whether a value is the original one. The host adds defaults to a tool's input and drops unused fields.
fn is_same(name: &str, rebuilt: &Value, original: &Value) -> bool {
    match (name, rebuilt.as_object(), original.as_object()) {
        ("tool_input", Some(rebuilt), Some(original)) => {
            rebuilt.iter().all(|(key, value)| original.get(key).is_none_or(|original| original == value))
        }
        _ => rebuilt == original,
    }
}

/// Sorts events whose hooks run at the same time.
fn sorted_parallel(mut events: Vec<Map<String, Value>>) -> Vec<Map<String, Value>> {
    let side = |event: &Map<String, Value>| {
        // The order of a command's two events differs between hosts.
        let name = event["hook_event_name"].as_str().unwrap().replace("Expansion", "Submit");
        (name, event.get("agent_id").cloned())
    };
    for run in events.chunk_by_mut(|left, right| side(left) == side(right)) {
        run.sort_by_key(label);
    }
    events
}

#[track_caller]
fn check(name: &str) {
    let (original, rebuilt) = (sorted_parallel(hook_events(name)), sorted_parallel(rebuilt(name)));
    assert_eq!(labels(&rebuilt), labels(&original), "{name}");
    for (original, rebuilt) in original.iter().zip(&rebuilt) {
        check_fields(original, rebuilt);
    }
}

/// The same for agents that run in parallel: only the order within each agent is compared.
#[track_caller]
fn check_each_agent(name: &str) {
    let each = |mut events: Vec<Map<String, Value>>| {
        events.sort_by_key(|event| event.get("agent_id").map(Value::to_string));
        sorted_parallel(events)
    };
    let (original, rebuilt) = (each(hook_events(name)), each(rebuilt(name)));
    assert_eq!(labels(&rebuilt), labels(&original), "{name}");
    for (original, rebuilt) in original.iter().zip(&rebuilt) {
        check_fields(original, rebuilt);
    }
}

#[test]
fn foreground_agents_run_between_the_start_and_end_of_their_call() {
    check("foreground-agents");
    check("foreground-agents-2.1.198");
    check("agent-in-worktree");
}

#[test]
fn background_agents_outlive_the_turn_of_the_main_agent() {
    check_each_agent("background-agent");
    check_each_agent("background-agent-2.1.250");
    check_each_agent("notified-while-working");
    let labels = labels(&rebuilt("background-agent"));
    let at = |label: &str| labels.iter().position(|own| own.starts_with(label)).unwrap();
    assert!(at("SubagentStart") < at("Stop") && at("Stop") < at("SubagentStop"), "{labels:#?}");
    assert!(labels.iter().rposition(|own| own == "UserPromptSubmit").unwrap() > at("SubagentStop"), "{labels:#?}");
}

#[test]
fn nested_agents_are_distinguished() {
    check_each_agent("parallel-and-nested-agents");
    let events = rebuilt("parallel-and-nested-agents");
    let mut agents: Vec<&str> = events.iter().filter_map(|event| event.get("agent_type")?.as_str()).collect();
    agents.sort_unstable();
    agents.dedup();
    assert_eq!(agents, ["consulting-expert", "strategic-planner"]);
}

#[test]
fn an_agent_that_is_called_again_starts_again() {
    check_each_agent("agent-called-again");
    let labels = labels(&rebuilt("agent-called-again"));
    let at = |label: &str| labels.iter().position(|own| own.starts_with(label)).unwrap();
    // The end of its call does not wait for its second run.
    let again = labels.iter().rposition(|own| own.starts_with("SubagentStart")).unwrap();
    assert!(at("PostToolUse Agent") < again, "{labels:#?}");
}

#[test]
fn a_denied_call_has_no_end_and_a_blocked_stop_is_repeated() {
    check("denied-and-blocked");
    check("denied-and-blocked-2.1.250");
    check("not-permitted");
}

#[test]
fn an_interrupted_agent_has_no_stop_event() {
    check("interrupted");
    let skipped = &rebuilt_sessions("interrupted")[0].skipped;
    assert_eq!(skipped.0.keys().collect::<Vec<_>>(), [&SkipReason::NotStarted]);
}

#[test]
fn calls_that_write_run_one_by_one() {
    check("calls-in-one-message");
    check("calls-in-one-message-2.1.198");
}

#[test]
fn resumed_compacted_and_cleared_sessions_are_rebuilt() {
    check("resumed-and-compacted");
    check("queued-and-cleared");
}

#[test]
fn an_interactive_session_is_rebuilt() {
    check_each_agent("in-the-terminal");
}

/// An old host: no ids in its events, and the records of subagents are in the main file.
#[test]
fn sidechains_are_subagents() {
    let events = rebuilt("sidechains-1.0.60");
    let of = |agent: &str| -> Vec<&str> {
        let own = events.iter().filter(|event| event.get("agent_type").is_some_and(|kind| kind == agent));
        own.map(|event| event["hook_event_name"].as_str().unwrap()).collect()
    };
    let (start, pre, post, failed, stop) =
        ("SubagentStart", "PreToolUse", "PostToolUse", "PostToolUseFailure", "SubagentStop");
    assert_eq!(of("strategic-planner"), [start, pre, post, pre, post, stop]);
    assert_eq!(of("consulting-expert"), [start, pre, failed, pre, failed, stop]);
    // That host had no events for starts, failures and missing files.
    let kinds = |events: &[Map<String, Value>]| -> Vec<String> {
        let kind = |event: &Map<String, Value>| format!("{} {:?}", event["hook_event_name"], event.get("tool_name"));
        let mut kinds: Vec<String> = events.iter().map(kind).collect();
        kinds.retain(|kind| !["Start", "Failure", "Read"].iter().any(|word| kind.contains(word)));
        kinds.sort();
        kinds
    };
    assert_eq!(kinds(&events), kinds(&hook_events("sidechains-1.0.60")));
}

#[test]
fn skipped_records_are_counted() {
    let skipped = &rebuilt_sessions("calls-in-one-message")[0].skipped;
    assert_eq!(skipped.0.keys().collect::<Vec<_>>(), [&SkipReason::Rejected]);
    assert_eq!((count(skipped), skipped.0[&SkipReason::Rejected].first.line), (3, 41));
}

#[test]
fn unusable_lines_are_counted_and_skipped() {
    let path = sorted(&fixture("foreground-agents"), ".jsonl").into_iter().find(|path| !path.ends_with("events.jsonl"));
    let whole = lines(&path.unwrap());
    let main = "/home/ann/.claude/projects/-home-ann-app/f22461ad-c161-447d-9804-034f1e3f18ad.jsonl";
    let plain = rebuild(vec![filled(TranscriptFile::main(main), &whole)]);
    let mut part = TranscriptFile::main(main);
    for line in &whole {
        part.line(line);
        // The line repeated, half of it, and unknown records.
        part.line(line);
        part.line(line.get(..line.len() / 2).unwrap());
        part.line(b"{\"type\": \"news\", \"sessionId\": \"x\"}");
        part.line(b"[1]");
        part.line(b"{}");
        part.line(br#"{"type": "user", "message": 5}"#);
        part.line(br#"{"type": "assistant"}"#);
        // A record after the end of the host's process would start another one.
        if !line.is_empty() && !line.windows(10).any(|word| word == b"cost-state") {
            part.line(br#"{"type": "user", "message": {"content": [5, {"type": "tool_result"}, {"type": "tool_use"}]}, "isMeta": true, "cwd": "/home/ann/app"}"#);
        }
        part.line(b"\xff\xfe");
    }
    let odd = rebuild(vec![part]);
    let events =
        |retold: &RebuiltSession| -> Vec<Value> { retold.events.iter().map(|event| event.event.clone()).collect() };
    assert_eq!(events(&odd), events(&plain));
    let reasons: Vec<&SkipReason> = odd.skipped.0.keys().collect();
    let unknown = SkipReason::UnknownType("news".to_owned());
    assert_eq!(
        reasons,
        [&SkipReason::NotJson, &SkipReason::NoType, &unknown, &SkipReason::NoMessage, &SkipReason::Repeated]
    );
}

/// A record of a conversation, with the time in seconds.
fn record(kind: &str, second: u32, content: &Value, more: &Value) -> Vec<u8> {
    let mut record = serde_json::json!({
        "type": kind, "sessionId": "s1", "cwd": "/p", "timestamp": format!("2026-11-16T09:00:{second:02}.000Z"),
        "message": {"role": kind, "content": content},
    });
    record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    record.to_string().into_bytes()
}

fn of_records(records: &[Vec<u8>]) -> Vec<String> {
    let part = filled(TranscriptFile::main("/home/ann/.claude/projects/-p/mine.jsonl"), records);
    let events = rebuild(vec![part]).events;
    labels(&events.iter().map(|event| event.event.as_object().unwrap().clone()).collect::<Vec<_>>())
}

#[test]
fn a_clock_that_goes_backwards_does_not_change_the_order() {
    use serde_json::json;
    let call = |id: &str| json!([{"type": "tool_use", "id": id, "name": "Write", "input": {}}]);
    let answer = |id: &str| json!([{"type": "tool_result", "tool_use_id": id, "content": "ok"}]);
    let none = || json!({});
    let labels = of_records(&[
        record("user", 30, &json!("go"), &none()),
        record("assistant", 40, &call("t1"), &none()),
        record("user", 5, &answer("t1"), &none()),
        record("assistant", 6, &call("t2"), &none()),
        record("user", 50, &json!("[Request interrupted by user]"), &none()),
        record("user", 1, &json!("go on"), &none()),
        record("assistant", 2, &json!([{"type": "text", "text": "half"}]), &none()),
        record("user", 3, &json!("[Request interrupted by user]"), &none()),
        record("user", 4, &json!("and now?"), &none()),
        record("assistant", 5, &json!([{"type": "text", "text": "done"}]), &none()),
    ]);
    let expected = [
        "SessionStart startup",
        "UserPromptSubmit",
        "PreToolUse Write t1",
        "PostToolUse Write t1",
        "PreToolUse Write t2",
        "UserPromptSubmit",
        "UserPromptSubmit",
        "Stop",
    ];
    assert_eq!(labels, expected);
}

#[test]
fn records_copied_from_another_session_are_skipped() {
    use serde_json::json;
    let mut part = TranscriptFile::main("/h/.claude/projects/-p/00000000-0000-4000-8000-000000000001.jsonl");
    part.line(&record("user", 1, &json!("old"), &json!({"sessionId": "00000000-0000-4000-8000-000000000000"})));
    part.line(&record("user", 2, &json!("new"), &json!({"sessionId": "00000000-0000-4000-8000-000000000001"})));
    let retold = rebuild(vec![part]);
    let first = &retold.events[0].event;
    assert_eq!((first["source"].as_str(), retold.events.len()), (Some("resume"), 2));
    assert_eq!(retold.skipped.0[&SkipReason::Copied].count, 1);
}

#[test]
fn an_api_error_is_not_a_stop() {
    use serde_json::json;
    let error = json!({"isApiErrorMessage": true, "error": "rate_limit"});
    let labels = of_records(&[
        record("user", 1, &json!("go"), &json!({})),
        record("assistant", 2, &json!([{"type": "text", "text": "API Error"}]), &error),
    ]);
    assert_eq!(labels, ["SessionStart startup", "UserPromptSubmit", "StopFailure"]);
}

#[test]
fn a_turn_that_ends_in_thinking_has_a_stop() {
    use serde_json::json;
    let thought = |second: u32| {
        let block = json!([{"type": "thinking", "thinking": "Nothing to say.", "signature": "x"}]);
        let mut record: Value = serde_json::from_slice(&record("assistant", second, &block, &json!({}))).unwrap();
        record["message"]["id"] = format!("msg_{second}").into();
        record.to_string().into_bytes()
    };
    let duration = record("system", 4, &Value::Null, &json!({"subtype": "turn_duration"}));
    let start = [record("user", 1, &json!("go"), &json!({})), thought(2)];
    let labels = |more: &[Vec<u8>]| of_records(&[&start[..], more].concat()).split_off(2);
    assert_eq!(labels(&[duration]), ["Stop"]);
    assert_eq!(labels(&[record("user", 5, &json!("go on"), &json!({}))]), ["Stop", "UserPromptSubmit"]);
    // A file that ends here may be of a session that still works, or was killed.
    assert_eq!(labels(&[]), [""; 0]);
    assert_eq!(labels(&[record("user", 5, &json!("[Request interrupted by user]"), &json!({}))]), [""; 0]);
}

/// A record of an assistant message with an id, as all hosts write it.
fn said(second: u32, id: &str, block: &Value, more: &Value) -> Vec<u8> {
    let content = serde_json::json!([block]);
    let mut record: Value = serde_json::from_slice(&record("assistant", second, &content, more)).unwrap();
    record["message"]["id"] = id.into();
    record.to_string().into_bytes()
}

#[test]
fn a_call_that_lost_its_result_does_not_hide_the_stop() {
    use serde_json::json;
    let prompt = record("user", 1, &json!("go"), &json!({}));
    let call = |second, id: &str| {
        let block = json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "make"}});
        said(second, &format!("m{second}"), &block, &json!({}))
    };
    let text = |second| said(second, &format!("m{second}"), &json!({"type": "text", "text": "done"}), &json!({}));
    let result = |second, id: &str| {
        record("user", second, &json!([{"type": "tool_result", "tool_use_id": id, "content": "ok"}]), &json!({}))
    };
    // A compaction in the middle of a turn, which takes the result of the call with it.
    let boundary = record(
        "system",
        3,
        &Value::Null,
        &json!({"subtype": "compact_boundary", "compactMetadata": {"trigger": "auto"}}),
    );
    let summary = record("user", 4, &json!("This session is being continued."), &json!({"isCompactSummary": true}));
    let compacted = [prompt.clone(), call(2, "t1"), boundary, summary, call(5, "t2"), result(6, "t2"), text(7)];
    assert_eq!(
        of_records(&compacted)[2..],
        [
            "PreToolUse Bash t1",
            "PreCompact",
            "SessionStart compact",
            "PostCompact",
            "PreToolUse Bash t2",
            "PostToolUse Bash t2",
            "Stop",
        ]
    );
    // An API error in the middle of a message, whose calls the host never ran.
    let error = json!({"isApiErrorMessage": true, "error": "server_error"});
    let failed = said(3, "e3", &json!({"type": "text", "text": "API Error: 500"}), &error);
    let labels = of_records(&[prompt.clone(), call(2, "t1"), failed.clone(), call(4, "t2"), result(5, "t2"), text(6)]);
    assert_eq!(labels[2..], ["PreToolUse Bash t1", "PreToolUse Bash t2", "PostToolUse Bash t2", "Stop"]);
    let labels = of_records(&[prompt.clone(), call(2, "t1"), failed]);
    assert_eq!(labels[2..], ["PreToolUse Bash t1", "StopFailure"]);
    // A text without an id may belong to the message of the open call.
    let anonymous = record("assistant", 3, &json!([{"type": "text", "text": "meanwhile"}]), &json!({}));
    assert_eq!(of_records(&[prompt, call(2, "t1"), anonymous])[2..], ["PreToolUse Bash t1"]);
}

/// What the host writes into the main transcript about a message of a subagent.
fn progress(second: u32, message: &[u8]) -> Vec<u8> {
    let message: Value = serde_json::from_slice(message).unwrap();
    let inner = serde_json::json!({"type": message["type"], "message": message["message"], "uuid": format!("i{second}"),
        "timestamp": message["timestamp"]});
    let data = serde_json::json!({"message": inner, "normalizedMessages": [], "type": "agent_progress", "prompt": "",
        "agentId": "a1b2c3d"});
    let more = serde_json::json!({"type": "progress", "data": data, "message": null, "uuid": format!("u{second}"),
        "toolUseID": "agent_msg_1", "parentToolUseID": "t1"});
    record("progress", second, &Value::Null, &more)
}

#[test]
fn the_calls_of_an_agent_without_a_transcript_are_taken_from_its_progress() {
    use serde_json::json;
    let agent = json!({"type": "tool_use", "id": "t1", "name": "Task",
        "input": {"subagent_type": "strategic-planner", "description": "x", "prompt": "Plan it."}});
    let write =
        json!({"type": "tool_use", "id": "t2", "name": "Write", "input": {"file_path": "/p/plan.md", "content": "x"}});
    let written = json!([{"type": "tool_result", "tool_use_id": "t2", "content": "ok"}]);
    let result =
        json!([{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "It is planned."}]}]);
    let response =
        json!({"status": "completed", "agentId": "a1b2c3d", "content": [{"type": "text", "text": "It is planned."}]});
    let inner = [
        record("user", 3, &json!("Plan it."), &json!({})),
        said(4, "s1", &write, &json!({})),
        record("user", 5, &written, &json!({})),
    ];
    let mut main = vec![record("user", 1, &json!("go"), &json!({})), said(2, "m1", &agent, &json!({}))];
    main.extend(inner.iter().zip(3..).map(|(record, second)| progress(second, record)));
    // The host repeats progress.
    main.push(progress(5, &inner[2]));
    main.push(record("user", 6, &result, &json!({"toolUseResult": response})));
    main.push(said(7, "m2", &json!({"type": "text", "text": "done"}), &json!({})));
    let path = "/home/ann/.claude/projects/-p/mine.jsonl";
    let story = rebuild(vec![filled(TranscriptFile::main(path), &main)]);
    let events: Vec<_> = story.events.iter().map(|event| event.event.as_object().unwrap().clone()).collect();
    let expected = [
        "SessionStart startup",
        "UserPromptSubmit",
        "PreToolUse Task t1",
        "SubagentStart a1b2",
        "PreToolUse Write t2 a1b2",
        "PostToolUse Write t2 a1b2",
        "SubagentStop a1b2",
        "PostToolUse Task t1",
        "Stop",
    ];
    assert_eq!(labels(&events), expected);
    assert_eq!((events[4]["agent_type"].as_str(), events[4]["cwd"].as_str()), (Some("strategic-planner"), Some("/p")));
    assert_eq!(events[6]["last_assistant_message"], "It is planned.");
    assert_eq!((story.events[4].position.line, count(&story.skipped)), (4, 0));
    // The agent's own transcript has more, so its progress is not used.
    let own = "/home/ann/.claude/projects/-p/mine/subagents/agent-a1b2c3d.jsonl";
    let own = filled(TranscriptFile::of_agent(path, own, SubagentInfo::of(own, None).unwrap()), &inner);
    let both = rebuild(vec![filled(TranscriptFile::main(path), &main), own]).events;
    let writes: Vec<usize> = both
        .iter()
        .filter(|event| event.event.get("tool_use_id").is_some_and(|id| id == "t2"))
        .map(|event| event.position.file)
        .collect();
    assert_eq!(writes, [1, 1]);
}

#[test]
fn records_that_a_resumed_session_repeats_under_new_ids_are_skipped() {
    use serde_json::json;
    let id = "toolu_01A09q90qw90lq917835lq9";
    let turn = |uuid: &str, later: u32| {
        let call = json!({"type": "tool_use", "id": id, "name": "Write", "input": {}});
        let result = json!([{"type": "tool_result", "tool_use_id": id, "content": "ok"}]);
        vec![
            record("user", 1, &json!("go"), &json!({"uuid": format!("{uuid}1")})),
            // The time of a copy may be its own.
            said(2 + later, "m1", &call, &json!({"uuid": format!("{uuid}2")})),
            record("user", 3 + later, &result, &json!({"uuid": format!("{uuid}3")})),
            said(4, "m2", &json!({"type": "text", "text": "done"}), &json!({"uuid": format!("{uuid}4")})),
        ]
    };
    let next = record("user", 40, &json!("go"), &json!({"uuid": "n"}));
    let mut file = filled(TranscriptFile::main("mine.jsonl"), &turn("a", 0));
    file = filled(file, &turn("b", 20));
    let story = rebuild(vec![filled(file, &[next])]);
    let events: Vec<_> = story.events.iter().map(|event| event.event.as_object().unwrap().clone()).collect();
    let call = |name: &str| format!("{name} Write {id}");
    let (pre, post) = (call("PreToolUse"), call("PostToolUse"));
    assert_eq!(labels(&events), ["SessionStart startup", "UserPromptSubmit", &pre, &post, "Stop", "UserPromptSubmit"]);
    assert_eq!(story.skipped.0[&SkipReason::Repeated].count, 4);
}

/// What a transcript shows is enough to see that the expert has set its mark on the plan.
#[test]
fn facts_are_inferred_from_a_transcript() {
    use crate::facts::{Answer, FactSource, Question};
    use crate::host::event::Event;
    use crate::replay::inferred::InferredFacts;
    for name in ["foreground-agents", "foreground-agents-2.1.198"] {
        let mut world = InferredFacts::default();
        let mut marks = Vec::new();
        for rebuilt in rebuilt_sessions(name).remove(0).events {
            let event = Event::from_value(rebuilt.event).unwrap();
            if event.name() == "SubagentStop" {
                let here = world.at(&event, rebuilt.at.as_deref());
                let keys = vec!["consulted_by".to_owned()];
                let answer = here.answer(&Question::Frontmatter { path: "plan.md".to_owned(), keys });
                marks.push((answer, here.answer(&Question::Writer("plan.md".to_owned()))));
            }
            world.learn(&event, rebuilt.at.as_deref());
        }
        let mark = serde_json::json!({"consulted_by": "consulting-expert"}).as_object().unwrap().clone();
        let by = |agent: &str| Answer::Writer(Some(agent.to_owned()));
        let expected =
            [(Answer::NoFrontmatter, by("strategic-planner")), (Answer::Frontmatter(mark), by("consulting-expert"))];
        assert_eq!(marks, expected, "{name}");
    }
}
