//! Switching recording on and off, and exported recordings: masked, and decided again from themselves.

use crate::project::{Project, run_command};
use modegate::Catalogue;
use modegate::Event;
use modegate::JournalLine;
use modegate::decide;
use modegate::{Facts, RecordedAnswers};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// A planted secret and the event that contains it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Planted {
    run: Option<String>,
    prompt: Option<String>,
    says: Option<String>,
    write: Option<Written>,
    input: Option<Input>,
    answer: Option<String>,
    secret: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    file: String,
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    tool: String,
    fields: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    file: String,
    text: String,
    secret: Value,
}

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/secrets").join(name);
    std::fs::read_to_string(path).unwrap().replace('·', "")
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::String(text) => vec![text.clone()],
        other => vec![other.to_string()],
    }
}

impl Planted {
    fn event(&self) -> Value {
        let tool =
            |name: &str, input: Value| json!({"hook_event_name": "PreToolUse", "tool_name": name, "tool_input": input});
        if let Some(line) = &self.run {
            tool("Bash", json!({"command": line}))
        } else if let Some(text) = &self.prompt {
            json!({"hook_event_name": "UserPromptSubmit", "prompt": text})
        } else if let Some(text) = &self.says {
            json!({"hook_event_name": "Stop", "last_assistant_message": text})
        } else if let Some(Written { file, text }) = &self.write {
            tool("Write", json!({"file_path": file, "content": text}))
        } else if let Some(Input { tool: name, fields }) = &self.input {
            tool(name, json!(fields))
        } else {
            let answer = self.answer.as_deref().unwrap();
            json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "cat x"},
                "tool_response": {"stdout": answer, "stderr": "", "note": answer}})
        }
    }
}

fn send(project: &Project, mut event: Value) {
    event["session_id"] = "planted".into();
    event["cwd"] = project.home().to_string_lossy().into();
    let output = project.hook(&event);
    assert!(output.exit == 0 || output.exit == 2, "{event} {output:?}");
}

/// The modes and the lines of a recording.
fn read_recording(text: &str) -> (Catalogue, Vec<(String, JournalLine)>) {
    let mut lines = text.lines();
    let header: Value = serde_json::from_str(lines.next().unwrap()).unwrap();
    let files: Vec<(String, String)> = serde_json::from_value(header["files"].clone()).unwrap_or_default();
    let settings = header["settings"].as_str().map(|text| (".claude/modegate.yaml", text));
    let mut catalogue = Catalogue::compose(settings, &files);
    catalogue.contexts = serde_json::from_value(header["contexts"].clone()).unwrap_or_default();
    assert_eq!(catalogue.hash, header["modes"]);
    (catalogue, lines.map(|line| (line.to_owned(), serde_json::from_str(line).unwrap())).collect())
}

/// Decides every line again and compares the result byte for byte.
#[track_caller]
fn decided_again(text: &str) -> Vec<JournalLine> {
    let (catalogue, lines) = read_recording(text);
    for (raw, line) in &lines {
        assert_eq!(line.modes, catalogue.hash, "{raw}");
        let event = Event::from_value(line.event.clone()).unwrap();
        let recorded = RecordedAnswers::new(line.asked.clone());
        let again = decide(&event, &catalogue, &line.before, &Facts::new(&recorded));
        let moved = again.session != line.before;
        let after = moved.then_some(again.session);
        let same =
            JournalLine { findings: again.findings, decision: again.decision, after, who: again.who, ..line.clone() };
        assert_eq!(&serde_json::to_string(&same).unwrap(), raw);
    }
    lines.into_iter().map(|(_, line)| line).collect()
}

fn export(project: &Project) -> String {
    let done = project.run(&["record", "export", "planted", "--json"]);
    assert_eq!(done.exit, 0, "{done:?}");
    let report = &done.json()["report"];
    for kind in ["left_out", "partly_masked"] {
        assert!(report[kind].as_array().unwrap().is_empty(), "{kind}: {}", report[kind]);
    }
    project.read("planted.recording.jsonl")
}

#[test]
fn no_planted_secret_leaves_the_machine() {
    let project = Project::installed();
    let planted: Vec<Planted> = serde_yaml::from_str(&fixture("planted.yaml")).unwrap();
    let sources: Vec<Source> = serde_yaml::from_str(&fixture("project.yaml")).unwrap();
    for source in &sources {
        project.write(&source.file, &source.text);
    }
    for line in ["step", "given", "server", "note"] {
        send(
            &project,
            json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": format!("echo {line}")}}),
        );
    }
    for secret in &planted {
        send(&project, secret.event());
    }
    let text = export(&project);
    let all = planted.iter().map(|secret| &secret.secret).chain(sources.iter().map(|source| &source.secret));
    let leaked: Vec<String> = all.flat_map(texts).filter(|secret| text.contains(secret.as_str())).collect();
    assert!(leaked.is_empty(), "{leaked:#?}");
    let lines = decided_again(&text);
    assert_eq!(lines.len(), planted.len() + 4);
    assert!(lines[0].decision.reason.contains("The step failed."), "{:?}", lines[0].decision);
    assert!(text.contains("the database said password="));
}

#[test]
fn harmless_texts_are_not_masked() {
    let project = Project::installed();
    let harmless: Vec<String> = serde_yaml::from_str(&fixture("harmless.yaml")).unwrap();
    for text in &harmless {
        send(&project, json!({"hook_event_name": "UserPromptSubmit", "prompt": text}));
        send(&project, json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": text}}));
    }
    let lines = decided_again(&export(&project));
    let kept: Vec<&str> = lines.iter().filter_map(|line| line.event["prompt"].as_str()).collect();
    assert_eq!(kept, harmless);
    let kept: Vec<&str> = lines.iter().filter_map(|line| line.event["tool_input"]["command"].as_str()).collect();
    assert_eq!(kept, harmless);
}

#[test]
fn folders_names_and_addresses_are_masked() {
    let project = Project::installed();
    let home = project.home();
    let user = home.parent().unwrap();
    let slug: String =
        home.to_string_lossy().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let mut path = user.join(".claude/projects").join(&slug).join("planted.jsonl").to_string_lossy().into_owned();
    send(
        &project,
        json!({"hook_event_name": "UserPromptSubmit", "transcript_path": path, "prompt": format!(
        "{} and /home/bob/x and C:\\Users\\bob\\y; mail bob@corp.io; {}", home.display(), "long ".repeat(1000))}),
    );
    path.clear();
    let done =
        run_command(project.modegate().env("USER", "bobolink").args(["record", "export", "last", "--out", "-"]), b"");
    assert_eq!(done.exit, 0, "{done:?}");
    let folder = user.file_name().unwrap().to_string_lossy().into_owned();
    for part in [folder.as_str(), slug.as_str(), "bob", "corp.io"] {
        assert!(!done.stdout.contains(part), "{part} in {}", done.stdout);
    }
    let lines = decided_again(&done.stdout);
    let prompt = lines[0].event["prompt"].as_str().unwrap();
    assert!(
        prompt.starts_with("/home/user/project and /home/user/x and C:\\Users\\user\\y; mail user@example.com; long")
    );
    assert!(prompt.len() < 512, "{prompt}");
    assert!(
        lines[0].event["transcript_path"]
            .as_str()
            .unwrap()
            .ends_with("/.claude/projects/-home-user-project/planted.jsonl")
    );
    assert!(done.stderr.contains("1 shortened prompt"), "{}", done.stderr);
}

#[test]
fn a_blocked_stop_keeps_its_count_when_folders_are_masked() {
    let project = Project::installed();
    project.write(".claude/modes/mine.yaml", "mode: mine\ncommands: [/mine]\nartifacts: { note: note.md }\nphases:\n  - phase: work\n    agent: worker\n    after:\n      - id: a-step\n        check: { run: \"pwd >&2; exit 1\" }\n");
    send(&project, json!({"hook_event_name": "UserPromptSubmit", "prompt": "/mine"}));
    for _ in 0..4 {
        send(&project, json!({"hook_event_name": "SubagentStop", "agent_id": "a", "agent_type": "worker"}));
    }
    let lines = decided_again(&export(&project));
    assert!(lines[1].decision.reason.contains("/home/user/project"), "{:?}", lines[1].decision);
    assert!(lines[4].findings[0].unmet, "{:?}", lines[4].findings);
}

#[test]
fn an_existing_file_is_overwritten_only_with_force() {
    let project = Project::installed();
    send(&project, json!({"hook_event_name": "UserPromptSubmit", "prompt": "hello"}));
    project.write("planted.recording.jsonl", "mine");
    let result = project.run(&["record", "export", "plan"]);
    assert_eq!(result.exit, 1);
    assert!(result.stderr.contains("--force"), "{result:?}");
    assert_eq!(project.read("planted.recording.jsonl"), "mine");
    assert_eq!(project.run(&["record", "export", "plan", "--force"]).exit, 0);
    assert!(project.read("planted.recording.jsonl").starts_with("{\"recording\":1"));
    let file = project.home().join(".claude/hooks/sessions/planted.jsonl");
    let by_path = project.run(&["record", "export", &file.to_string_lossy(), "--out", "-"]);
    assert_eq!(by_path.stdout, project.read("planted.recording.jsonl"));
}

#[test]
fn an_unknown_or_ambiguous_session_is_an_error() {
    let project = Project::installed();
    assert_eq!(project.run(&["record", "export", "last"]).exit, 1);
    assert_eq!(project.run(&["record", "export", "x"]).exit, 1);
    for id in ["ab1", "ab2"] {
        project.hook(&json!({"hook_event_name": "UserPromptSubmit", "session_id": id, "prompt": "hello"}));
    }
    let unclear = project.run(&["record", "export", "ab"]);
    assert_eq!(unclear.exit, 1);
    assert!(unclear.stderr.contains("`ab` matches 2 sessions: ab1, ab2"), "{unclear:?}");
    let model = run_command(project.modegate().env("CLAUDECODE", "1").args(["record", "export", "ab1"]), b"");
    assert_eq!(model.exit, 1, "{model:?}");
}

#[test]
fn unreadable_lines_and_lines_of_other_modes_are_reported() {
    let project = Project::installed();
    send(&project, json!({"hook_event_name": "UserPromptSubmit", "prompt": "hello"}));
    project.shell("echo half >> .claude/hooks/sessions/planted.jsonl");
    project.write(".claude/modegate.yaml", "patience: 2\n");
    send(&project, json!({"hook_event_name": "UserPromptSubmit", "prompt": "hello again"}));
    let done = project.run(&["record", "export", "planted"]);
    assert!(done.stdout.contains("planted: 2 lines written to"), "{done:?}");
    assert!(done.stdout.contains("1 unreadable line of the journal"), "{done:?}");
    assert!(done.stdout.contains("1 line decided by modes other than today's"), "{done:?}");
}

#[test]
fn only_a_person_switches_recording() {
    let project = Project::installed();
    let prompt = |text: &str| json!({"hook_event_name": "UserPromptSubmit", "prompt": text});
    let on = project.run(&["record", "on"]);
    assert_eq!((on.exit, project.home().join(".claude/modegate.yaml").exists()), (0, false), "{on:?}");
    project.write(".claude/modegate.yaml", "# mine\npatience: 2 # two\n");
    let model = run_command(project.modegate().env("CLAUDECODE", "1").args(["record", "off"]), b"");
    assert_eq!(model.exit, 1);
    assert!(project.run(&["record", "off"]).stdout.contains("recording is now off"));
    assert_eq!(project.read(".claude/modegate.yaml"), "# mine\npatience: 2 # two\njournal: false\n");
    send(&project, prompt("one"));
    assert_eq!(project.run(&["record", "--json"]).json()["sessions"], 0);
    assert!(project.run(&["record", "off"]).stdout.contains("already off"));
    assert_eq!(project.run(&["record", "on", "--json"]).json()["changed"], true);
    send(&project, prompt("two"));
    let status = project.run(&["record", "status", "--json"]).json();
    assert_eq!((&status["recording"], &status["sessions"]), (&json!(true), &json!(1)));
    assert!(project.run(&["record"]).stdout.contains(" KB, in "));
}

#[test]
fn broken_settings_are_not_changed() {
    let project = Project::installed();
    let text = "level: warn\njournl: true\n";
    project.write(".claude/modegate.yaml", text);
    let result = project.run(&["record", "off"]);
    assert_eq!(result.exit, 1);
    assert!(result.stderr.contains("--> .claude/modegate.yaml:2:1"), "{}", result.stderr);
    assert!(result.stderr.starts_with("error: ") && result.stderr.contains("\n  hint: "), "{}", result.stderr);
    assert_eq!(project.read(".claude/modegate.yaml"), text);
}

#[test]
fn a_line_that_depends_on_a_secret_is_left_out() {
    let project = Project::installed();
    let mode = "mode: mine\ncommands: [/mine]\nphases:\n  - phase: work\n    main: true\n    after:\n      - id: deployed\n        check: { observed: { command: deploy fakeTok99x, result: passed } }\n";
    project.write(".claude/modes/mine.yaml", mode);
    send(&project, json!({"hook_event_name": "UserPromptSubmit", "prompt": "/mine"}));
    send(&project, json!({"hook_event_name": "UserPromptSubmit", "prompt": "the password is fakeTok99x"}));
    send(
        &project,
        json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "deploy --token fakeTok99x"},
        "tool_response": {"stdout": "", "stderr": "", "interrupted": false}}),
    );
    send(
        &project,
        json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "deploy fakeTok99x"},
        "tool_response": {"stdout": "", "stderr": "", "interrupted": false}}),
    );
    let done = project.run(&["record", "export", "planted", "--json"]);
    assert_eq!(done.exit, 0, "{done:?}");
    let text = project.read("planted.recording.jsonl");
    assert!(!text.contains("fakeTok99x"), "{text}");
    let lines = decided_again(&text).len();
    let left_out = done.json()["report"]["left_out"].as_array().unwrap().len();
    assert_eq!(lines + left_out, 4, "{done:?}");
    assert!(left_out > 0, "a decision that depends on a secret cannot be exported");
}

#[test]
fn a_name_that_decides_is_kept_and_reported() {
    let project = Project::installed();
    project.write(
        ".claude/modes/base.yaml",
        "mode: base\ngates:\n  - id: greeted\n    on: SubagentStart(bobo*)\n    context: Hello.\n",
    );
    send(&project, json!({"hook_event_name": "SubagentStart", "agent_id": "a", "agent_type": "bobolink"}));
    let done =
        run_command(project.modegate().env("USER", "bobolink").args(["record", "export", "planted", "--json"]), b"");
    assert_eq!(done.json()["report"]["partly_masked"].as_array().unwrap().len(), 1, "{done:?}");
    assert!(project.read("planted.recording.jsonl").contains("bobolink"));
    decided_again(&project.read("planted.recording.jsonl"));
}
