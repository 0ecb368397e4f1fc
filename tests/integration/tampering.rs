//! State that something other than modegate wrote, changed or removed.

use crate::project::Project;
use serde_json::{Value, json};
use std::fs;

fn start(session: &str) -> Value {
    json!({"hook_event_name": "PreToolUse", "session_id": session, "tool_name": "Agent", "tool_input": {"subagent_type": "strategic-planner"}})
}

fn prompt(session: &str, text: &str) -> Value {
    json!({"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt_id": "p", "prompt": text})
}

/// What the journal of session `s` has about security.
fn security(project: &Project) -> String {
    let lines = project.journal("s");
    lines.iter().flat_map(|line| line.security.clone()).collect::<Vec<_>>().join("\n")
}

/// A repository brings its own `cache.json`, locks and journals along.
#[test]
fn the_state_of_a_clone_is_not_believed() {
    let author = Project::installed();
    author.hook(&prompt("s", "/plan x"));
    assert_eq!(author.hook(&start("s")).exit, 2);
    let project = Project::installed();
    project.write(
        ".claude/modes/deploy.yaml",
        "mode: base\nextends: builtin\ngates:\n  - { id: allowed, on: PreToolUse(Deploy), check: { state: { deploy.allowed: true } } }\n",
    );
    let deploy = json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Deploy"});
    assert_eq!(project.hook(&deploy).exit, 2);
    let cloned = json!({"version": 1, "revision": 3, "deploy": {"allowed": true},
        "plan_mode": {"sessions": {"s": {"is_active": true, "phase": "consult", "done": ["draft"]}}}});
    project.write(".claude/hooks/cache.json", cloned.to_string());
    project.write(".claude/hooks/sessions/s.jsonl", author.read(".claude/hooks/sessions/s.jsonl"));
    assert_eq!(project.hook(&deploy).exit, 2, "a value of the repository opens no gate");
    assert_eq!(project.hook(&start("s")).exit, 0, "the plan mode is not active");
    project.hook(&prompt("s", "/plan x"));
    assert_eq!(project.cache()["plan_mode"]["sessions"]["s"]["phase"], "draft");
    assert_eq!(project.hook(&deploy).exit, 2);
    assert_eq!(project.run(&["cache", "set", "deploy", "allowed", "true"]).exit, 0);
    assert_eq!(project.hook(&deploy).exit, 0, "a value that a person set does");
}

/// What a message has to contain, and what is done to the files.
type Attack<'a> = (&'a str, &'a dyn Fn(&Project));

#[test]
fn a_state_that_was_removed_or_changed_is_restored_from_the_journal() {
    let edited = |project: &Project, from: &str, to: &str| {
        let file = project.state_file("s");
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(file, text.replace(from, to)).unwrap();
    };
    let attacks: [Attack<'_>; 7] = [
        ("was removed", &|project| fs::remove_file(project.state_file("s")).unwrap()),
        ("was removed", &|project| fs::remove_dir_all(project.own().join("sessions")).unwrap()),
        ("was changed", &|project| edited(project, "\"is_active\":true", "\"is_active\":false")),
        ("was changed", &|project| edited(project, "\"modes\":{", "\"modes\":5,\"other\":{")),
        ("was changed", &|project| fs::write(project.state_file("s"), "{}").unwrap()),
        ("was changed", &|project| fs::write(project.state_file("s"), "").unwrap()),
        ("was changed", &|project| {
            fs::copy(project.state_file("other"), project.state_file("s")).unwrap();
        }),
    ];
    for (number, (sentence, attack)) in attacks.into_iter().enumerate() {
        let project = Project::installed();
        project.hook(&prompt("other", "/research x"));
        project.hook(&prompt("s", "/plan x"));
        attack(&project);
        let output = project.hook(&start("s"));
        assert_eq!(output.exit, 2, "{number}: {output:?}");
        assert!(security(&project).contains(sentence), "{number}: {}", security(&project));
        let told = format!("{}{}", output.stdout, project.hook(&prompt("s", "hello")).stdout);
        assert!(told.contains(sentence) && told.contains("restored from the journal"), "{number}: {told}");
        assert!(!project.hook(&prompt("s", "hello")).stdout.contains(sentence), "{number}: once");
    }
}

/// Somebody who removes the state may remove the journal and `cache.json`, too.
#[test]
fn a_state_that_was_removed_with_its_journal_is_reported_and_opens_no_gate_silently() {
    let journal = ".claude/hooks/sessions/s.jsonl";
    let attacks: [Attack<'_>; 5] = [
        ("all of the journal", &|project| fs::remove_file(project.home().join(journal)).unwrap()),
        ("the folders", &|project| {
            fs::remove_dir_all(project.own().join("sessions")).unwrap();
            fs::remove_dir_all(project.home().join(".claude/hooks/sessions")).unwrap();
            fs::remove_file(project.home().join(".claude/hooks/cache.json")).unwrap();
        }),
        ("the text of the journal", &|project| project.write(journal, "")),
        ("lines of the journal", &|project| {
            let text = project.read(journal);
            let kept: Vec<&str> = text.lines().filter(|line| !line.contains("/plan")).collect();
            assert!(!kept.is_empty());
            project.write(journal, kept.join("\n") + "\n");
        }),
        ("the place of the journal", &|project| {
            fs::remove_file(project.home().join(journal)).unwrap();
            fs::create_dir(project.home().join(journal)).unwrap();
        }),
    ];
    for (name, attack) in attacks {
        for event in [start("s"), prompt("s", "hello"), json!({"hook_event_name": "Stop", "session_id": "s"})] {
            let project = Project::installed();
            project.hook(&prompt("s", "/research x"));
            project.hook(&prompt("s", "/plan x"));
            attack(&project);
            let _ = fs::remove_file(project.state_file("s"));
            let output = project.hook(&event);
            let told = format!("{}{}", output.stdout, project.hook(&prompt("s", "hello")).stdout);
            // An older change is left there.
            let sentence =
                if name == "lines of the journal" { "restored from the journal" } else { "no journal has it" };
            assert!(told.contains(sentence), "{name}: {output:?} {told}");
            let is_blocked = sentence == "no journal has it" && event["hook_event_name"] != "UserPromptSubmit";
            assert!(!is_blocked || output.exit == 2 && output.stderr.contains(sentence), "{name}: {output:?}");
            assert!(!project.hook(&prompt("s", "hello")).stdout.contains(sentence), "{name}: once");
        }
    }
}

/// The journal knows who wrote a marker.
#[test]
fn a_journal_that_was_removed_or_changed_is_reported_and_authors_stay_known() {
    let journal = ".claude/hooks/sessions/s.jsonl";
    let attacks: [Attack<'_>; 5] = [
        ("removed", &|project| fs::remove_file(project.home().join(journal)).unwrap()),
        ("emptied", &|project| project.write(journal, "")),
        ("without edits", &|project| {
            let text = project.read(journal);
            let kept: Vec<&str> = text.lines().filter(|line| !line.contains("\"Write\"")).collect();
            assert!(!kept.is_empty() && kept.len() < text.lines().count());
            project.write(journal, kept.join("\n") + "\n");
        }),
        ("a folder", &|project| {
            fs::remove_file(project.home().join(journal)).unwrap();
            fs::create_dir(project.home().join(journal)).unwrap();
        }),
        ("below a file", &|project| {
            fs::remove_dir_all(project.home().join(".claude/hooks/sessions")).unwrap();
            project.write(".claude/hooks/sessions", "");
        }),
    ];
    let stop = json!({"hook_event_name": "Stop", "session_id": "s"});
    for (name, attack) in attacks {
        let project = Project::installed();
        project.write(
            ".claude/modes/deploy.yaml",
            "mode: base\nextends: builtin\ngates:\n  - { id: read, on: PreToolUse(Deploy), check: { frontmatter: { of: notes.md, has: { read_by: reader }, by: reader } } }\n",
        );
        let deploy = json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Deploy"});
        project.hook(&prompt("s", "/plan x"));
        project.write("notes.md", "---\nread_by: reader\n---\n");
        let path = project.home().join("notes.md");
        project.hook(&json!({"hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "Write",
            "tool_input": {"file_path": path}, "tool_response": {}}));
        assert_eq!(project.hook(&deploy).exit, 2, "the main agent wrote it");
        attack(&project);
        let output = project.hook(&deploy);
        assert!(output.exit == 2 && output.stderr.contains("the main agent"), "{name}: {output:?}");
        let output = project.hook(&stop);
        assert!(output.stdout.contains("the journal of this session was removed or changed"), "{name}: {output:?}");
        if project.home().join(journal).is_file() {
            assert!(security(&project).contains("the journal of this session"), "{name}");
            assert!(!project.hook(&stop).stdout.contains("the journal"), "{name}: once");
        }
        assert_eq!(project.hook(&deploy).exit, 2, "{name}");
    }
}

/// Without the key, no seal can be checked; a state that cannot be checked keeps its gates closed.
#[cfg(unix)]
#[test]
fn a_key_that_cannot_be_read_opens_no_gate() {
    let project = Project::installed();
    project.hook(&prompt("s", "/plan x"));
    let key = project.own().ancestors().nth(2).unwrap().join("key");
    let kept = fs::read(&key).unwrap();
    for attack in ["rm key; mkfifo key", "rm -r key; mkdir key", "rm -r key; echo x > key"] {
        project.shell(&format!("cd '{}' && {attack}", key.parent().unwrap().display()));
        let output = project.hook(&prompt("s", "hello"));
        assert!(output.stdout.contains("the state of this session cannot be read"), "{attack}: {output:?}");
        assert_eq!(project.hook(&start("s")).exit, 2, "{attack}");
        assert!(project.cache()["plan_mode"]["sessions"]["s"]["is_active"].as_bool().unwrap(), "{attack}");
    }
    fs::remove_file(&key).unwrap();
    fs::write(&key, kept).unwrap();
    assert!(!project.hook(&prompt("s", "hello")).stdout.contains("cannot be read"));
    assert_eq!(project.hook(&start("s")).exit, 2);
}

#[test]
fn an_older_state_is_noticed() {
    let project = Project::installed();
    project.hook(&prompt("s", "/research x"));
    let older = fs::read(project.state_file("s")).unwrap();
    project.hook(&prompt("s", "/plan x"));
    fs::write(project.state_file("s"), older).unwrap();
    assert_eq!(project.hook(&start("s")).exit, 2);
    assert!(security(&project).contains("older than its journal"), "{}", security(&project));
    assert!(project.run(&["cache", "get", "plan_mode", "is_active", "--session", "s"]).stdout.contains("true"));
}

#[test]
fn without_a_journal_a_changed_state_is_lost() {
    let project = Project::installed();
    project.write(".claude/modegate.yaml", "journal: off\n");
    project.hook(&prompt("s", "/plan x"));
    fs::write(project.state_file("s"), "{}").unwrap();
    let output = project.hook(&start("s"));
    assert!(output.exit == 2 && output.stderr.contains("no journal has it"), "{output:?}");
    assert_eq!(project.hook(&start("s")).exit, 0, "only once");
    project.hook(&prompt("s", "/plan x"));
    assert_eq!(project.hook(&start("s")).exit, 2);
}

/// A value that a script sets is no session.
#[test]
fn a_project_without_sessions_has_lost_none() {
    let project = Project::installed();
    assert_eq!(project.run(&["cache", "set", "deploy", "allowed", "true"]).exit, 0);
    let output = project.hook(&start("s"));
    assert!(output.exit == 0 && output.stdout.is_empty(), "{output:?}");
}

/// Commands of a person change the state without a line in the journal.
#[test]
fn what_a_person_changes_is_not_restored() {
    let project = Project::installed();
    project.hook(&prompt("s", "/plan x"));
    assert_eq!(project.run(&["cache", "reset"]).exit, 0);
    assert!(!project.hook(&prompt("s", "hello")).stdout.contains("restored"));
    assert_eq!(project.hook(&start("s")).exit, 0);
    project.hook(&prompt("s", "/plan x"));
    assert_eq!(project.run(&["leave", "plan"]).exit, 0);
    assert!(!project.hook(&prompt("s", "hello")).stdout.contains("restored"));
    assert_eq!(project.hook(&start("s")).exit, 0);
    assert_eq!(security(&project), "");
}

#[cfg(unix)]
#[test]
fn a_changed_summary_is_restored_and_reported_once() {
    for (attack, sentence) in [
        ("rm cache.json", "was removed by something other than modegate"),
        ("echo '{}' > cache.json", "was changed by something other than modegate"),
        ("sed -i s/true/false/ cache.json", "was changed by something other than modegate"),
        ("echo '{\"plan_mode\": []}' > cache.json", "was changed by something other than modegate"),
        ("echo '[' > cache.json", "could not be read"),
        ("rm cache.json && mkfifo cache.json", "could not be read"),
        ("mv cache.json x && ln -s x cache.json", "could not be read"),
        ("rm cache.json && mkdir cache.json", "could not be read"),
    ] {
        let project = Project::installed();
        project.hook(&prompt("s", "/plan x"));
        let before = project.cache()["plan_mode"]["sessions"]["s"].clone();
        // The second time, only the message is new in the state.
        for _ in 0..2 {
            project.shell(&format!("cd .claude/hooks && {attack}"));
            assert_eq!(project.hook(&start("s")).exit, 2, "{attack}");
            let output = project.hook(&prompt("s", "hello"));
            assert!(
                output.json()["systemMessage"].as_str().unwrap_or_default().contains(sentence),
                "{attack}: {output:?}"
            );
            let context = &output.json()["hookSpecificOutput"]["additionalContext"];
            assert!(context.as_str().unwrap_or_default().contains(sentence), "{attack}: {output:?}");
            assert!(security(&project).contains(sentence), "{attack}");
            let summary = project.home().join(".claude/hooks/cache.json");
            assert!(summary.symlink_metadata().unwrap().is_file(), "{attack}");
            assert_eq!(project.cache()["plan_mode"]["sessions"]["s"], before, "{attack}");
            assert!(!project.hook(&prompt("s", "hello")).stdout.contains(sentence), "{attack}: once");
        }
    }
}

/// `git clean` and other sessions are no attacks on a session without modes.
#[test]
fn ordinary_work_is_not_reported() {
    let project = Project::installed();
    project.hook(&prompt("s", "/plan x"));
    project.hook(&prompt("two", "/plan x"));
    project.hook(&json!({"hook_event_name": "Stop", "session_id": "s"}));
    project.hook(&prompt("s", "hello"));
    assert_eq!(project.run(&["cache", "set", "mine", "x", "1"]).exit, 0);
    assert_eq!(project.run(&["cache", "set", "plan_mode", "note", "1", "--session", "s"]).exit, 0);
    project.hook(&prompt("s", "hello"));
    fs::remove_file(project.home().join(".claude/hooks/cache.json")).unwrap();
    let output = project.hook(&prompt("new", "hello"));
    assert!(output.stdout.is_empty(), "{output:?}");
    assert_eq!(security(&project), "");
}

#[test]
fn a_state_that_is_gone_with_the_users_folder_is_reported() {
    let project = Project::installed();
    project.hook(&json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "/plan x"}));
    let state = project.own().ancestors().nth(2).unwrap().to_owned();
    fs::remove_dir_all(state).unwrap();
    let prompt = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "go on"});
    assert!(project.hook(&prompt).stdout.contains("is gone"));
    assert!(!project.hook(&prompt).stdout.contains("is gone"));
}

/// A script can move the whole folder away; a program on PATH then still answers.
#[test]
fn a_folder_that_was_moved_away_is_reported() {
    let project = Project::new();
    assert_eq!(project.run(&["install", "--path"]).exit, 0);
    let prompt = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "go on"});
    assert!(!project.hook(&prompt).stdout.contains("is gone"));
    project.shell("mv .claude .c");
    let told = project.hook(&prompt);
    assert!(told.stdout.contains("`.claude/hooks` is gone"), "{told:?}");
    project.shell("mv .c .claude");
    assert!(!project.hook(&prompt).stdout.contains("is gone"));
}
