//! What the client does with settings, commands and programs, without modegate: facts that modegate relies on.

use crate::Case;
use crate::client::{Client, ClientRun, Session, Version};
use crate::model::{MAIN, Script, calls, shell, text};
use crate::project::Project;
use crate::setup::empty_project;
use serde_json::{Map, Value, json};

pub(super) fn cases() -> Vec<Case> {
    let root = "local settings of the repository are not read in its subfolders";
    let failure = "`onFailure` has no effect";
    vec![
        // First, because it takes longest.
        Case::new("a prompt waits for its hook up to the timeout", timeout),
        Case::new("settings with a comment or a trailing comma are ignored as a whole", comments),
        Case::new("a byte order mark in the settings is accepted", mark),
        Case::new("the built-in plan command reaches no hook", built_in),
        Case::new("a command file of the user replaces the built-in", user_command),
        Case::new("a skill of the project reaches hooks like a command file", skill),
        Case::new("a program without a path is found on PATH", path),
        Case::new("a missing program lets everything through", missing),
        Case::new("a missing program can block prompts and tools, but not stops", failing)
            .since(Version(2, 1, 295), failure),
        Case::new("project settings are read from the start folder only", start),
        Case::new("local settings are also read from the repository root", local).since(Version(2, 1, 211), root),
    ]
}

/// Settings with one hook at some events.
fn hooks(events: &[&str], hook: &Value) -> String {
    let entry = |event: &&str| ((*event).to_owned(), json!([{"hooks": [hook]}]));
    let hooks: Map<_, _> = events.iter().map(entry).collect();
    serde_json::to_string_pretty(&json!({"hooks": hooks})).unwrap()
}

/// A hook that says a word and what it was sent.
fn echo(word: &str) -> Value {
    json!({"type": "command", "command": format!("echo {word} $CLAUDE_PROJECT_DIR; cat")})
}

/// A hook whose program does not exist.
fn gone() -> Value {
    json!({"type": "command", "command": "${CLAUDE_PROJECT_DIR}/.claude/hooks/gone", "args": ["hook"], "timeout": 75})
}

fn hello() -> Script {
    Script::main(vec![text("Hello to you.")])
}

/// A greeting in a project with these settings.
fn greeted(client: &Client, settings: &str) -> ClientRun {
    let project = empty_project();
    project.write(".claude/settings.json", settings);
    client.run(&project, "Hello.", hello())
}

fn names(ran: &ClientRun) -> Vec<&str> {
    ran.hooks.iter().map(|hook| hook.name.as_str()).collect()
}

fn timeout(client: &Client) {
    let slow = json!({"type": "command", "command": "sleep 33; echo awake", "timeout": 75});
    let ran = greeted(client, &hooks(&["UserPromptSubmit"], &slow));
    ran.check(ran.at("UserPromptSubmit")[0].outcome == "success", "the hook is waited for longer than 30 seconds");
    ran.must_read(MAIN, "awake");
}

fn comments(client: &Client) {
    let sound = hooks(&["UserPromptSubmit", "Stop"], &echo("here"));
    let ran = greeted(client, &sound);
    ran.check(names(&ran) == ["UserPromptSubmit", "Stop"], "sound settings count");
    let comma = format!("{},\n}}", sound.trim_end().trim_end_matches('}').trim_end());
    let inside = sound.replacen('{', "{ /* a comment */", 1);
    for broken in [format!("// a comment\n{sound}"), inside, comma] {
        let ran = greeted(client, &broken);
        ran.check(ran.hooks.is_empty(), &format!("no hook runs with:\n{broken}"));
        ran.check(ran.exit == Some(0) && ran.stderr.is_empty(), "and nothing is reported");
    }
}

fn mark(client: &Client) {
    let ran = greeted(client, &format!("\u{feff}{}", hooks(&["UserPromptSubmit", "Stop"], &echo("here"))));
    ran.check(names(&ran) == ["UserPromptSubmit", "Stop"], "the hooks run");
}

const PROMPT: [&str; 2] = ["UserPromptSubmit", "UserPromptExpansion"];

fn built_in(client: &Client) {
    let project = empty_project();
    project.write(".claude/settings.json", hooks(&PROMPT, &echo("here")));
    let ran = client.run(&project, "/plan a page", hello());
    ran.check(ran.hooks.is_empty(), "no hook hears of it");
}

/// Both events came for `/plan a page`, and the model got the file's text.
#[track_caller]
fn must_be_a_command(ran: &ClientRun, source: &str) {
    let mut events = names(ran);
    events.sort_unstable();
    ran.check(events == ["UserPromptExpansion", "UserPromptSubmit"], "both events come");
    let source = format!(r#""command_source":"{source}""#);
    ran.check(ran.at("UserPromptExpansion")[0].stdout.contains(&source), &format!("with {source}"));
    ran.check(ran.at("UserPromptSubmit")[0].stdout.contains(r#""prompt":"/plan a page""#), "with what was typed");
    ran.must_read(MAIN, "Plan carefully: a page");
}

fn user_command(client: &Client) {
    let project = empty_project();
    project.write(".claude/settings.json", hooks(&PROMPT, &echo("here")));
    project.write("../.claude/commands/plan.md", "---\ndescription: plan\n---\nPlan carefully: $ARGUMENTS\n");
    must_be_a_command(&client.run(&project, "/plan a page", hello()), "userSettings");
}

fn skill(client: &Client) {
    let project = empty_project();
    project.write(".claude/settings.json", hooks(&PROMPT, &echo("here")));
    let text = "---\nname: plan\ndescription: plan\n---\nPlan carefully: $ARGUMENTS\n";
    project.write(".claude/skills/plan/SKILL.md", text);
    must_be_a_command(&client.run(&project, "/plan a page", hello()), "projectSettings");
}

fn path(client: &Client) {
    let project = empty_project();
    project.write("../bin/greeter", "#!/bin/sh\necho found $1\n");
    project.shell("chmod +x ../bin/greeter");
    let hook = json!({"type": "command", "command": "greeter", "args": ["hook"]});
    project.write(".claude/settings.json", hooks(&["UserPromptSubmit"], &hook));
    let ran = Session::new(&project).on_path("../bin").run(client, "Hello.", hello());
    ran.must_read(MAIN, "found hook");
}

fn missing(client: &Client) {
    let ran = greeted(client, &hooks(&["UserPromptSubmit", "Stop"], &gone()));
    ran.check(names(&ran) == ["UserPromptSubmit", "Stop"], "both hooks are tried");
    for hook in &ran.hooks {
        ran.check(hook.exit == 1 && hook.outcome == "error", "the client reports an error");
        ran.check(hook.stderr.contains("ENOENT: no such file or directory, posix_spawn"), "it says what is missing");
    }
    ran.check(ran.exit == Some(0) && ran.stderr.is_empty() && ran.asked(MAIN).len() == 1, "and goes on");
}

fn failing(client: &Client) {
    let mut hook = gone();
    hook["onFailure"] = "block".into();
    let ran = greeted(client, &hooks(&["UserPromptSubmit"], &hook));
    ran.check(ran.asked(MAIN).is_empty(), "the prompt is blocked");
    ran.check(ran.result().contains(r#"failed; blocking because onFailure is "block""#), "the person reads why");
    let project = empty_project();
    project.write(".claude/settings.json", hooks(&["PreToolUse", "Stop"], &hook));
    let ran = client.run(&project, "Hello.", Script::main(vec![calls(vec![shell("echo hi")]), text("Hello to you.")]));
    ran.must_read(MAIN, r#"failed; blocking because onFailure is "block""#);
    ran.check(ran.exits("Stop") == [1] && ran.asked(MAIN).len() == 2, "the stop is not blocked");
}

/// A repository with settings at its root and in a folder.
fn nested() -> Project {
    let project = empty_project();
    project.write(".claude/settings.json", hooks(&["Stop"], &echo("root-project")));
    project.write(".claude/settings.local.json", hooks(&["Stop"], &echo("root-local")));
    project.write("inner/.claude/settings.json", hooks(&["Stop"], &echo("inner-project")));
    project.write("inner/.claude/settings.local.json", hooks(&["Stop"], &echo("inner-local")));
    project.write("empty/file", "");
    project
}

/// Which settings count for a session that is started in a folder, and what is its project.
fn counted(client: &Client, project: &Project, folder: &str) -> Vec<(String, String)> {
    let ran = Session::new(project).within(folder).run(client, "Hello.", hello());
    let home = project.home().to_string_lossy().into_owned();
    let words = ran.hooks.iter().filter_map(|hook| hook.stdout.lines().next()?.split_once(' '));
    let mut found: Vec<_> =
        words.map(|(word, folder)| (word.to_owned(), folder.trim_start_matches(&home).to_owned())).collect();
    found.sort_unstable();
    found
}

fn start(client: &Client) {
    let project = nested();
    let project_settings = |folder| {
        let counted = counted(client, &project, folder);
        counted.into_iter().map(|(word, _)| word).filter(|word| word.ends_with("project")).collect::<Vec<_>>()
    };
    assert_eq!(project_settings(""), ["root-project"]);
    assert_eq!(project_settings("inner"), ["inner-project"]);
    assert!(project_settings("empty").is_empty(), "no folder above is looked at");
}

fn local(client: &Client) {
    let project = nested();
    let is = |found: &[(String, String)], words: &[(&str, &str)]| {
        let expected: Vec<_> = words.iter().map(|(word, folder)| ((*word).to_owned(), (*folder).to_owned())).collect();
        assert_eq!(found, expected);
    };
    is(&counted(client, &project, ""), &[("root-local", ""), ("root-project", "")]);
    let inner = [("inner-local", "/inner"), ("inner-project", "/inner"), ("root-local", "/inner")];
    is(&counted(client, &project, "inner"), &inner);
    // The project is where the session began, also for what the root's settings say.
    is(&counted(client, &project, "empty"), &[("root-local", "/empty")]);
}
