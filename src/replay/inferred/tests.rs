#![expect(clippy::needless_pass_by_value, reason = "`json!` makes values that nobody else wants")]

mod corpus;
mod evidence;
mod recordings;

use super::super::recorded_facts::RecordedFacts;
use super::*;
use crate::facts::{
    Answer, Clock, EventText, FactSource, FoundStaging, Milestone, ProtectedPaths, Question, StagingQuery,
    TextFindings, TextQuery,
};
use serde_json::json;

const NOON: &str = "2026-11-16T12:00:00.000Z";

fn event(name: &str, more: Value) -> Event {
    let mut fields = json!({
        "hook_event_name": name, "session_id": "s1", "cwd": "/home/ann/app",
        "transcript_path": "/home/ann/.claude/projects/-home-ann-app/s1.jsonl",
    });
    fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Event::from_value(fields).unwrap()
}

fn done(tool: &str, input: Value, response: Value) -> Event {
    event("PostToolUse", json!({"tool_name": tool, "tool_input": input, "tool_response": response}))
}

fn wrote(path: &str, content: &str) -> Event {
    done("Write", json!({"file_path": path, "content": content}), json!({"type": "create", "filePath": path}))
}

fn after(events: &[Event]) -> InferredFacts {
    let mut remembered = InferredFacts::default();
    for event in events {
        remembered.learn(event, Some(NOON));
    }
    remembered
}

fn ask(remembered: &InferredFacts, question: &Question) -> Answer {
    remembered.at(&event("Stop", json!({})), Some(NOON)).answer(question)
}

fn files(remembered: &InferredFacts, glob: &str) -> Option<Vec<String>> {
    match ask(remembered, &Question::Files(vec![glob.to_owned()])) {
        Answer::Files(files) => Some(files.into_iter().map(|file| file.path).collect()),
        Answer::Unknown(_) => None,
        other => panic!("{other:?}"),
    }
}

/// What a file is known to have, asked word by word.
fn has(remembered: &InferredFacts, path: &str, word: &str) -> Option<bool> {
    let wanted = TextQuery { contains: vec![word.to_owned()], ..TextQuery::default() };
    match ask(remembered, &Question::Text { path: path.to_owned(), wanted }) {
        Answer::Text(findings) => Some(findings.missing.is_empty()),
        Answer::Unknown(_) => None,
        other => panic!("{other:?}"),
    }
}

fn writer_of(remembered: &InferredFacts, path: &str) -> Option<String> {
    match ask(remembered, &Question::Writer(path.to_owned())) {
        Answer::Writer(Some(writer)) => Some(writer),
        Answer::Unknown(_) => None,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_file_that_was_written_is_known_and_no_other() {
    let known = after(&[wrote("/home/ann/app/docs/plan_a.md", "---\nby: ann\n---\n# Plan\ntext\n")]);
    assert_eq!(files(&known, "docs/plan_*.md"), Some(vec!["docs/plan_a.md".to_owned()]));
    assert_eq!(files(&known, "**/*.md"), Some(vec!["docs/plan_a.md".to_owned()]));
    assert_eq!(files(&known, "docs/research_*.md"), None);
    assert_eq!(files(&known, "docs/plan_b.md"), None);
    assert_eq!(has(&known, "docs/plan_a.md", "text"), Some(true));
    assert_eq!(has(&known, "docs/plan_a.md", "tests"), Some(false));
    assert_eq!(has(&known, "docs/plan_b.md", "text"), None);
    let keys = vec!["by".to_owned(), "at".to_owned()];
    let question = |path: &str| Question::Frontmatter { path: path.to_owned(), keys: keys.clone() };
    let by = json!({"by": "ann"}).as_object().unwrap().clone();
    assert_eq!(ask(&known, &question("docs/plan_a.md")), Answer::Frontmatter(by));
    assert!(matches!(ask(&known, &question("docs/plan_b.md")), Answer::Unknown(_)));
    assert_eq!(writer_of(&known, "docs/plan_a.md").as_deref(), Some("main"));
    assert_eq!(writer_of(&known, "docs/plan_b.md"), None);
}

#[test]
fn an_empty_file_says_nothing_of_the_others() {
    let known = after(&[wrote("/home/ann/app/a.md", "")]);
    assert_eq!(files(&known, "*.md"), None);
    assert_eq!(files(&known, "a.md"), Some(vec!["a.md".to_owned()]));
}

#[test]
fn an_edit_is_made_on_what_is_known() {
    let path = "/home/ann/app/a.md";
    let edit = |old: &str, new: &str, response: Value| {
        done("Edit", json!({"file_path": path, "old_string": old, "new_string": new}), response)
    };
    let known = |events: &[Event], word: &str| has(&after(events), "a.md", word);
    assert_eq!(known(&[wrote(path, "one two"), edit("two", "three", json!({}))], "one three"), Some(true));
    assert_eq!(known(&[edit("two", "three", json!({"originalFile": "one two"}))], "one three"), Some(true));
    assert_eq!(known(&[edit("", "new", json!({"originalFile": null}))], "new"), Some(true));
    // What was there is not known, or the host did otherwise than it says.
    assert_eq!(known(&[edit("two", "three", json!({}))], "three"), None);
    assert_eq!(known(&[wrote(path, "one"), edit("two", "three", json!({}))], "three"), None);
    assert_eq!(known(&[wrote(path, "one\ntwo\n"), edit("one", "", json!({}))], "two"), None);
    let modified = json!({"originalFile": "one two", "userModified": true});
    assert_eq!(known(&[edit("two", "three", modified)], "three"), None);
    // It was written all the same.
    assert_eq!(writer_of(&after(&[edit("two", "three", json!({}))]), "a.md").as_deref(), Some("main"));
    let all = json!({"file_path": path, "edits": [
        {"old_string": "a", "new_string": "b", "replace_all": true}, {"old_string": "bb", "new_string": "c"}]});
    assert_eq!(known(&[wrote(path, "aa"), done("MultiEdit", all, json!({}))], "c"), Some(true));
}

#[test]
fn redacted_contents_are_not_known() {
    let hidden = json!({"size": 5, "sha256": "00"});
    let known = after(&[done("Write", json!({"file_path": "/home/ann/app/a.md", "content": hidden}), json!({}))]);
    assert_eq!((files(&known, "a.md"), has(&known, "a.md", "x")), (None, None));
}

#[test]
fn a_notebook_is_known_where_the_host_shows_it() {
    let edit = |response: Value| done("NotebookEdit", json!({"notebook_path": "/home/ann/app/n.ipynb"}), response);
    assert_eq!(has(&after(&[edit(json!({"updated_file": "{\"cells\": []}"}))]), "n.ipynb", "cells"), Some(true));
    assert_eq!(has(&after(&[edit(json!({"new_source": "b"}))]), "n.ipynb", "b"), None);
}

fn read(path: &str, content: &str, lines: u32, of: u32) -> Event {
    let file = json!({"filePath": path, "content": content, "numLines": lines, "startLine": 1, "totalLines": of});
    done("Read", json!({"file_path": path}), json!({"type": "text", "file": file}))
}

#[test]
fn a_file_that_was_read_as_a_whole_is_known() {
    let path = "/home/ann/app/a.md";
    let known = after(&[read(path, "one\ntwo\n", 3, 3)]);
    assert_eq!(has(&known, "a.md", "two"), Some(true));
    // Who wrote it is another matter.
    assert_eq!(writer_of(&known, "a.md"), None);
    assert_eq!(has(&after(&[read(path, "one", 1, 3)]), "a.md", "one"), None);
    // What is read as it was written is still the writer's.
    let again = after(&[wrote(path, "one\n"), read(path, "one", 1, 1)]);
    assert_eq!(writer_of(&again, "a.md").as_deref(), Some("main"));
    let other = after(&[wrote(path, "one\n"), read(path, "two", 1, 1)]);
    assert_eq!((writer_of(&other, "a.md"), has(&other, "a.md", "two")), (None, Some(true)));
}

#[test]
fn a_file_that_is_not_there_is_known_to_be_gone() {
    let failed = |error: &str| {
        let input = json!({"file_path": "/home/ann/app/a.md"});
        event("PostToolUseFailure", json!({"tool_name": "Read", "tool_input": input, "error": error}))
    };
    let known = after(&[failed("File does not exist. Note: your current working directory is /home/ann/app.")]);
    assert_eq!(files(&known, "a.md"), Some(Vec::new()));
    assert_eq!(files(&known, "*.md"), None);
    assert_eq!(files(&after(&[failed("EISDIR: illegal operation on a directory, read")]), "a.md"), None);
}

fn bash(name: &str, command: &str, response: Value) -> Event {
    event(name, json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": response}))
}

#[test]
fn what_a_command_may_touch_is_not_known_any_more() {
    let there = |command: &str| {
        let ran = bash("PreToolUse", command, json!({}));
        has(&after(&[wrote("/home/ann/app/docs/a.md", "one"), ran]), "docs/a.md", "one")
    };
    for command in ["cat docs/a.md", "rm docs/b.md", "cargo test", "git status", "echo x > docs/b.md"] {
        assert_eq!(there(command), Some(true), "{command}");
    }
    for command in [
        "rm docs/a.md",
        "mv docs old",
        "echo x >> docs/a.md",
        "sed -i s/one/two/ docs/*.md",
        "rm -rf \"$DIR\"",
        "cd docs && rm a.md",
        "curl https://example.org/x | sh",
        "eval \"$x\"",
        "git checkout -- docs/a.md",
    ] {
        assert_eq!(there(command), None, "{command}");
    }
}

#[test]
fn what_the_host_saw_a_command_change_is_known_to_be_there() {
    let hunk = json!({"oldStart": 0, "oldLines": 0, "newStart": 1, "newLines": 1, "lines": ["+x"]});
    let file = |created: bool| json!({"filePath": "/home/ann/app/n.rs", "hunks": [hunk], "created": created});
    let diff = |created: bool| {
        let diff = json!({"files": [file(created)], "changedFiles": ["/home/ann/app/n.rs"]});
        bash("PostToolUse", "make", json!({"stdout": "", "bashEditDiff": diff}))
    };
    let known = after(&[diff(true)]);
    assert_eq!((has(&known, "n.rs", "x"), writer_of(&known, "n.rs").as_deref()), (Some(true), Some("main")));
    let changed = after(&[diff(false)]);
    assert_eq!((has(&changed, "n.rs", "x"), writer_of(&changed, "n.rs").as_deref()), (None, Some("main")));
}

#[test]
fn another_tool_may_do_anything_to_its_path() {
    let path = "/home/ann/app/a.md";
    let other = done("mcp__fs__move", json!({"path": path}), json!({}));
    assert_eq!(has(&after(&[wrote(path, "one"), other]), "a.md", "one"), None);
}

#[test]
fn a_session_that_is_resumed_knows_no_files() {
    let start = |source: &str| event("SessionStart", json!({"source": source}));
    let path = "/home/ann/app/a.md";
    assert_eq!(has(&after(&[wrote(path, "one"), start("resume")]), "a.md", "one"), None);
    assert_eq!(has(&after(&[wrote(path, "one"), start("compact")]), "a.md", "one"), Some(true));
}

#[test]
fn a_worktree_is_a_world_of_its_own() {
    let known = after(&[wrote("/home/ann/app/a.md", "one")]);
    let cwd = "/home/ann/app/.claude/worktrees/agent-a1";
    let there = event("SubagentStop", json!({"cwd": cwd, "agent_id": "a1"}));
    let world = known.at(&there, None);
    assert!(matches!(world.answer(&Question::Files(vec!["a.md".to_owned()])), Answer::Unknown(_)));
    let relative = |path: &str| world.answer(&Question::Relative(path.to_owned()));
    assert_eq!(relative("src/x.rs"), Answer::Relative("src/x.rs".to_owned()));
    assert_eq!(relative("/home/ann/app/src/x.rs"), Answer::Relative("src/x.rs".to_owned()));
    assert_eq!(relative("/etc/passwd"), Answer::Relative("/etc/passwd".to_owned()));
}

#[test]
fn the_project_is_where_the_transcript_says() {
    let below = event("SessionStart", json!({"cwd": "/home/ann/app/src"}));
    let relative =
        |event: &Event| InferredFacts::default().at(event, None).answer(&Question::Relative("x.rs".to_owned()));
    assert_eq!(relative(&below), Answer::Relative("src/x.rs".to_owned()));
    let elsewhere = event("SessionStart", json!({"cwd": "/home/ann/app/src", "transcript_path": "/tmp/s1.jsonl"}));
    assert_eq!(relative(&elsewhere), Answer::Relative("x.rs".to_owned()));
    assert_eq!(transcript_folder("/home/ann/größe"), "-home-ann-gr--e");
}

#[test]
fn the_milestone_is_known_with_its_file() {
    let status = wrote("/home/ann/app/project/status.json", r#"{"current_milestone": "MS-1"}"#);
    let milestone = Milestone { id: "MS-1".to_owned(), description: String::new() };
    assert_eq!(ask(&after(&[status]), &Question::Milestone), Answer::Milestone(Some(milestone)));
    assert!(matches!(ask(&InferredFacts::default(), &Question::Milestone), Answer::Unknown(_)));
}

#[test]
fn the_clock_is_the_events() {
    let clock = Clock { at: NOON.to_owned(), date: "111626".to_owned() };
    assert_eq!(ask(&InferredFacts::default(), &Question::Clock), Answer::Clock(clock));
    let stop = event("Stop", json!({}));
    let unknown = Answer::Unknown("the event has no time".into());
    assert_eq!(InferredFacts::default().at(&stop, None).answer(&Question::Clock), unknown);
}

#[test]
fn agents_are_known_by_what_was_shown_of_them() {
    let start = |id: &str, more: Value| {
        let mut fields = json!({"agent_id": id});
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event("SubagentStart", fields)
    };
    let stop = |id: &str| event("SubagentStop", json!({"agent_id": id, "agent_type": "planner"}));
    let planner = || json!({"agent_type": "planner"});
    let known = after(&[start("a1", planner()), start("a2", planner()), stop("a1"), stop("a1")]);
    assert_eq!(ask(&known, &Question::InFlight), Answer::InFlight(vec!["planner".to_owned()]));
    let agent = |id: &str| ask(&known, &Question::Agent { id: id.to_owned(), transcript: None });
    assert_eq!(agent("a1"), Answer::Agent(Some("planner".to_owned())));
    assert!(matches!(agent("a9"), Answer::Unknown(_)));
    let nameless = after(&[start("a1", planner()), start("a3", json!({}))]);
    assert!(matches!(ask(&nameless, &Question::InFlight), Answer::Unknown(_)));
}

#[test]
fn an_agent_is_the_writer_of_what_it_wrote() {
    let mut by = wrote("/home/ann/app/a.md", "one");
    by.fields.insert("agent_id".to_owned(), "a1".into());
    assert_eq!(writer_of(&after(&[by.clone()]), "a.md"), None);
    by.fields.insert("agent_type".to_owned(), "planner".into());
    assert_eq!(writer_of(&after(&[by]), "a.md").as_deref(), Some("planner"));
}

#[test]
fn the_history_is_told_while_nothing_is_missing() {
    let prompt = event("UserPromptSubmit", json!({"prompt": "/plan x"}));
    let known = after(&[prompt.clone(), wrote("/home/ann/app/src/a.rs", "x")]);
    let Answer::History(history) = ask(&known, &Question::History) else { panic!("it is known") };
    assert_eq!((history.active_command.as_deref(), history.started_at.as_deref()), (Some("plan"), Some(NOON)));
    assert_eq!(history.edited_files, ["src/a.rs"]);
    // Of a subagent's command the host keeps only its words.
    let mut ran = bash("PostToolUse", "echo x > b.rs", json!({}));
    ran.fields.shift_remove("tool_response");
    assert!(matches!(ask(&after(&[prompt, ran]), &Question::History), Answer::Unknown(_)));
}

fn touching(path: &str) -> Question {
    let effects = vec![shell_effects::Effect::Remove, shell_effects::Effect::Write];
    let mut touching = ProtectedPaths::default();
    (touching.effects, touching.paths) = (effects, [path].into_iter().collect());
    Question::Touches(touching.with_digest().into_query())
}

#[track_caller]
fn check_touch(event: &Event, path: &str, expected: Option<bool>) {
    let touched = match InferredFacts::default().at(event, None).answer(&touching(path)) {
        Answer::Touches(touched) => Some(touched.is_some()),
        Answer::Unknown(_) => None,
        other => panic!("{other:?}"),
    };
    assert_eq!(touched, expected, "{path}");
}

#[test]
fn what_a_tool_would_touch_is_in_its_input() {
    let remove = |command: &str| bash("PreToolUse", command, json!({}));
    check_touch(&remove("rm .env"), ".env", Some(true));
    check_touch(&remove("rm .env"), ".git/**", Some(false));
    check_touch(&remove("rm ~/.ssh/id"), "/home/ann/.ssh/**", Some(true));
    check_touch(&remove("rm /home/ann/.ssh/id"), "~/.ssh/**", Some(true));
    // Nothing shows where the user's folder is.
    let lost = |command: &str| {
        let mut event = remove(command);
        event.fields.insert("cwd".to_owned(), "/srv/app".into());
        event.fields.shift_remove("transcript_path");
        event
    };
    check_touch(&lost("rm /home/ann/.ssh/id"), "~/.ssh/**", None);
    check_touch(&lost("rm /home/ann/.ssh/id"), "/etc/**", Some(false));
    check_touch(&lost("rm ~/.ssh/id"), "~/.ssh/**", Some(true));
    check_touch(&lost("rm ~/.ssh/id"), "/home/ann/.ssh/**", None);
    let world = InferredFacts::default();
    let push = remove("cd x && git push --force");
    let calls = |word: &str| world.at(&push, None).answer(&Question::Calls(vec![word.to_owned()]));
    assert_eq!(calls("git push"), Answer::Calls(Some("git push --force".to_owned())));
    assert_eq!(calls("git commit"), Answer::Calls(None));
}

#[test]
fn the_users_folder_is_taken_from_the_transcript_or_from_the_cwd() {
    for (transcript, cwd, expected) in [
        ("/home/ann/.claude/projects/-srv-app/s1.jsonl", "/srv/app", Some("/home/ann")),
        ("/home/ann/.claude/projects/-home-bob-app/s1.jsonl", "/home/bob/app", Some("/home/ann")),
        ("/data/copies/-home-ann-app/s1.jsonl", "/home/ann/app", Some("/home/ann")),
        ("projects/-Users-ann-app/s1.jsonl", "/Users/ann/app/src", Some("/Users/ann")),
        ("s1.jsonl", "/root", Some("/root")),
        ("s1.jsonl", "/var/home/ann/app", Some("/var/home/ann")),
        ("s1.jsonl", "/srv/app", None),
        ("s1.jsonl", "/Users/Shared/app", None),
        ("s1.jsonl", "/home", None),
    ] {
        let event = event("Stop", json!({"transcript_path": transcript, "cwd": cwd}));
        assert_eq!(user_of(&event).as_deref(), expected, "{transcript} {cwd}");
    }
}

#[test]
fn a_copied_transcript_still_names_its_project() {
    for (transcript, expected) in [
        ("/home/ann/.claude/projects/-home-ann-app/s1.jsonl", "/home/ann/app"),
        ("/data/copies/-home-ann-app/s1.jsonl", "/home/ann/app"),
        ("-home-ann-app/s1.jsonl", "/home/ann/app"),
        ("/data/s1.jsonl", "/home/ann/app/src"),
        ("/data/-/s1.jsonl", "/home/ann/app/src"),
    ] {
        let event = event("Stop", json!({"transcript_path": transcript, "cwd": "/home/ann/app/src"}));
        assert_eq!(project_of(&event), Some(PathBuf::from(expected)), "{transcript}");
    }
}

#[test]
fn hook_entries_are_compared_where_both_sides_are_known() {
    let settings = "/home/ann/app/.claude/settings.json";
    let write = |path: &str| {
        event("PreToolUse", json!({"tool_name": "Write", "tool_input": {"file_path": path, "content": "{}"}}))
    };
    let own = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "modegate", "args": ["hook"]}]}]}}"#;
    let ask = |known: &InferredFacts, path: &str| known.at(&write(path), None).answer(&Question::HookEntries);
    assert_eq!(ask(&after(&[wrote(settings, own)]), settings), Answer::HookEntries(Some(settings.to_owned())));
    assert_eq!(ask(&after(&[wrote(settings, "{}")]), settings), Answer::HookEntries(None));
    assert!(matches!(ask(&InferredFacts::default(), settings), Answer::Unknown(_)));
    assert_eq!(ask(&InferredFacts::default(), "/home/ann/app/src/x.rs"), Answer::HookEntries(None));
}

#[test]
fn git_programs_and_servers_are_unknown_with_a_reason() {
    let transcript = Question::Transcript { path: String::new(), last: true, wanted: TextQuery::default() };
    for question in [
        Question::Head,
        Question::Branch,
        Question::Committed("a.md".to_owned()),
        Question::Changes(vec![".".to_owned()]),
        Question::Context("a.md".to_owned()),
        transcript,
    ] {
        let Answer::Unknown(why) = ask(&InferredFacts::default(), &question) else { panic!("{question} is answered") };
        assert!(why.to_string().len() > 10, "{why}");
    }
}

/// The answer that an event has by itself.
fn from_event(event: &Event, time: Option<&str>, question: &Question) -> Option<Answer> {
    RecordedFacts::new(event, &[], time).event_answer(question)
}

#[test]
fn an_event_answers_for_itself_where_it_is_whole() {
    let said = |of: EventText, word: &str| Question::EventText {
        of,
        wanted: TextQuery { contains: vec![word.to_owned()], ..TextQuery::default() },
    };
    let prompt = |text: &str| event("UserPromptSubmit", json!({"prompt": text}));
    let yes = from_event(&prompt("fix the tests"), None, &said(EventText::Prompt, "tests"));
    assert_eq!(yes, Some(Answer::Text(TextFindings { chars: 13, missing: Vec::new() })));
    assert_eq!(from_event(&prompt("fix"), None, &said(EventText::Command, "rm")), Some(Answer::NoText));
    assert_eq!(from_event(&prompt("token is [masked]"), None, &said(EventText::Prompt, "tests")), None);
    assert_eq!(from_event(&prompt("fix… [20000 bytes, sha256 00]"), None, &said(EventText::Prompt, "tests")), None);
    assert_eq!(from_event(&prompt("fix"), None, &Question::Head), None);
    let remove = |command: &str| bash("PreToolUse", command, json!({}));
    assert!(matches!(from_event(&remove("rm .env"), None, &touching(".env")), Some(Answer::Touches(Some(_)))));
    assert_eq!(from_event(&remove("curl -H [masked] && rm x"), None, &touching(".env")), None);
    let calls = Question::Calls(vec!["rm".to_owned()]);
    assert_eq!(from_event(&remove("rm .env"), None, &calls), Some(Answer::Calls(Some("rm .env".to_owned()))));
    let commit = remove("git add -A && git commit -m 'fix: x'");
    let message = from_event(&commit, None, &said(EventText::Commit, "fix"));
    assert_eq!(message, Some(Answer::Text(TextFindings { chars: 6, missing: Vec::new() })));
    assert_eq!(from_event(&remove("git commit -m [masked]"), None, &said(EventText::Commit, "fix")), None);
    let added = |paths: &[&str]| {
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        Question::Added(StagingQuery { all: paths.is_empty(), paths, ..StagingQuery::default() })
    };
    let found = FoundStaging { by: "git add -A".to_owned(), path: None };
    assert_eq!(from_event(&commit, None, &added(&[])), Some(Answer::Added(Some(found))));
    // Which files that includes is on disk.
    assert_eq!(from_event(&commit, None, &added(&["**/.env"])), None);
    let write = |content: Value| event("PreToolUse", json!({"tool_name": "Write", "tool_input": {"content": content}}));
    let input = said(EventText::Input("content".to_owned()), "x");
    assert!(from_event(&write(json!("x")), None, &input).is_some());
    assert_eq!(from_event(&write(json!({"size": 1, "sha256": "00"})), None, &input), None);
    // Without the project, a path of the project means nothing.
    let mut lost = remove("rm /srv/app/.env");
    lost.fields.shift_remove("transcript_path");
    assert_eq!(from_event(&lost, None, &touching(".env")), None);
    assert_eq!(from_event(&lost, None, &touching("/etc/**")), Some(Answer::Touches(None)));
}
