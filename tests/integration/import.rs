//! `modegate modes import`: what it writes are the same gates.

use crate::project::Project;
use crate::steps::Server;
use modegate::Catalogue;
use serde_json::{Value, json};

fn example(name: &str) -> String {
    std::fs::read_to_string(format!("{}/fixtures/gates/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// The base's gates with this one file, each without its location.
#[track_caller]
fn gates(file: &str, text: &str) -> Vec<String> {
    let catalogue = Catalogue::compose(None, &[(file.to_owned(), text.to_owned())]);
    assert!(catalogue.broken.is_empty(), "{}\n{text}", catalogue.broken[0]);
    let mut gates = catalogue.mode("base").unwrap().gates.clone();
    for gate in &mut gates {
        std::mem::take(&mut gate.location);
    }
    gates.iter().map(|gate| format!("{gate:#?}")).collect()
}

#[track_caller]
fn check(name: &str, count: usize) {
    let project = Project::new();
    project.write(name, example(name));
    let output = project.run(&["modes", "import", name]);
    assert_eq!(output.exit, 0, "{output:?}");
    let before = gates(name, &example(name));
    let after = gates("base.yaml", &output.stdout);
    let shipped = Catalogue::compose(None, &[]).mode("base").unwrap().gates.len();
    assert_eq!(before.len(), shipped + count);
    for (one, other) in before.iter().zip(&after) {
        assert_eq!(one, other, "{}", output.stdout);
    }
    assert_eq!(before.len(), after.len());
}

#[test]
fn gates_json_reads_back_as_the_same_gates() {
    check("pipeline.json", 5);
}

#[test]
fn hooks_toml_reads_back_as_the_same_gates() {
    check("hooks.toml", 5);
}

#[test]
fn a_file_without_gates_is_not_imported() {
    let project = Project::new();
    project.write("gates.json", "{\"park\": \"Tivoli\"}");
    let output = project.run(&["modes", "import", "gates.json"]);
    assert_eq!((output.exit, output.stdout.as_str()), (1, ""), "{output:?}");
    assert!(output.stderr.contains("error: `gates.json` is not a gates file\n  hint: "), "{output:?}");
}

#[test]
fn a_mistake_is_shown_with_its_location() {
    let project = Project::new();
    project.write("gates.json", "{\"gates\": {}, \"hooks\": {\"Stop\": {\"gates\": [\"x\"]}}}");
    let output = project.run(&["modes", "import", "gates.json"]);
    assert_eq!((output.exit, output.stdout.as_str()), (1, ""), "{output:?}");
    assert!(output.stderr.contains("no gate is called `x`\n  --> gates.json:1:44"), "{output:?}");
}

#[test]
fn a_missing_file_is_an_error() {
    let output = Project::new().run(&["modes", "import", "none.toml"]);
    assert!(output.exit == 1 && output.stderr.contains("error: `none.toml` does not exist"), "{output:?}");
}

/// Events of each kind that the examples are about, with the tools and agents that they name and with others.
fn events() -> Vec<Value> {
    let tool = |event: &str, tool: &str, input: Value| json!({"hook_event_name": event, "tool_name": tool, "tool_input": input, "tool_response": {}});
    let named = |event: &str| json!({"hook_event_name": event});
    let stop = |agent: &str, id: &str| json!({"hook_event_name": "SubagentStop", "agent_type": agent, "agent_id": id});
    vec![
        json!({"hook_event_name": "SessionStart", "source": "startup"}),
        json!({"hook_event_name": "SessionStart", "source": "resume"}),
        json!({"hook_event_name": "UserPromptSubmit", "prompt": "hello"}),
        json!({"hook_event_name": "UserPromptSubmit", "prompt": "please test it"}),
        named("UserPromptSubmit"),
        json!({"hook_event_name": "PrePromptSubmit", "prompt": "/plan x"}),
        tool("PreToolUse", "Bash", json!({"command": "ls"})),
        tool("PreToolUse", "Bash", json!({"command": "ssh -R 1:a:2 b"})),
        tool("PreToolUse", "Bash", json!({"command": "rm -rf /"})),
        tool("PreToolUse", "BashOutput", json!({"bash_id": "1"})),
        tool("PreToolUse", "Read", json!({"file_path": "a"})),
        tool("PreToolUse", "Write", json!({"file_path": "a", "content": "x"})),
        tool("PreToolUse", "Task", json!({"subagent_type": "rust-agent", "prompt": "test"})),
        tool("PostToolUse", "Edit", json!({"file_path": "a"})),
        tool("PostToolUse", "Write", json!({"file_path": "a"})),
        tool("PostToolUse", "Read", json!({"file_path": "a"})),
        tool("PostToolUseFailure", "Edit", json!({"file_path": "a"})),
        json!({"hookEventName": "PreToolUse", "toolName": "Bash", "toolInput": {"command": "ls"}}),
        json!({"hook_event_name": "SubagentStart", "agent_type": "rust-agent", "agent_id": "a3"}),
        stop("rust-agent", "a1"),
        stop("other", "a2"),
        json!({"hook_event_name": "SubagentStop", "agent_id": "a3"}),
        json!({"hook_event_name": "PreCompact", "trigger": "manual"}),
        json!({"hook_event_name": "Notification", "message": "x"}),
        named("Stop"),
        json!({"hook_event_name": "Stop", "stop_hook_active": true}),
        json!({"hook_event_name": "SessionEnd", "reason": "other"}),
    ]
}

/// Some of the events, for examples that are tried with many programs and servers.
fn few_events() -> Vec<Value> {
    let is_one = |event: &Value| {
        let [name, tool, agent] =
            ["hook_event_name", "tool_name", "agent_type"].map(|key| event[key].as_str().unwrap_or_default());
        let command = event["tool_input"]["command"].as_str().unwrap_or("ls");
        match name {
            "PreToolUse" => tool != "Task" && command == "ls",
            "PostToolUse" => tool != "Write",
            "SubagentStop" => agent == "rust-agent",
            "Stop" => event["stop_hook_active"].is_null(),
            "UserPromptSubmit" => event["prompt"] == "hello",
            _ => event["source"] == "startup",
        }
    };
    events().into_iter().filter(is_one).collect()
}

/// The replies to all events, and what the gates left on disk.
fn replies(project: &Project) -> Vec<String> {
    replies_to(events(), project)
}

fn replies_to(events: Vec<Value>, project: &Project) -> Vec<String> {
    let send = |mut event: Value| {
        event["session_id"] = "s".into();
        event["cwd"] = project.home().to_string_lossy().into_owned().into();
        let mut command = project.modegate();
        command.env("AUDIT_TOKEN", "t-1").arg("hook");
        let output = crate::project::run_command(&mut command, event.to_string().as_bytes());
        format!("{event}: {} {} {}", output.exit, output.stdout, output.stderr)
    };
    let mut replies: Vec<String> = events.into_iter().map(send).collect();
    project.shell("touch ran.txt");
    // Gates that do not wait for each other run at the same time.
    project.shell("sort ran.txt > sorted.txt");
    replies.push(project.read("sorted.txt"));
    let home = project.home().to_string_lossy().into_owned();
    replies.into_iter().map(|reply| reply.replace(&home, "HOME")).collect()
}

/// Two projects: one with a file, and one with what `modes import` makes of it. Both have the same `program`.
#[track_caller]
fn original_and_import(name: &str, text: &str, program: &str) -> [Project; 2] {
    let projects = [Project::installed(), Project::installed()];
    for project in &projects {
        project.write("program", format!("#!/bin/sh\necho \"$1\" \"$HOOK_EVENT\" >> ran.txt\n{program}\n"));
        project.shell("chmod +x program");
        project.write("../.claude/modegate.yaml", "env: [AUDIT_TOKEN]\n");
    }
    let [original, imported] = &projects;
    original.write(&format!(".claude/{name}"), text);
    imported.write(name, text);
    let output = imported.run(&["modes", "import", name]);
    assert_eq!(output.exit, 0, "{output:?}");
    imported.write(".claude/modes/base.yaml", &output.stdout);
    projects
}

fn count_blocked(replies: &[String]) -> usize {
    replies.iter().filter(|reply| reply.contains(": 2 ")).count()
}

/// Sends the same events through a file and through what `modes import` makes of it.
#[track_caller]
fn check_same_replies(name: &str, text: &str, program: &str, blocked: usize) {
    let events = if program.is_empty() { events() } else { few_events() };
    let [original, imported] = original_and_import(name, text, program);
    let (before, after) = (replies_to(events.clone(), &original), replies_to(events, &imported));
    assert_eq!(before, after, "{program}\n{}", imported.read(".claude/modes/base.yaml"));
    assert_eq!(count_blocked(&before), blocked, "{program}: {before:#?}");
}

#[test]
fn an_imported_gates_json_replies_as_the_original() {
    check_same_replies("gates.json", &example("replies.json"), "", 11);
}

#[test]
fn an_imported_hooks_toml_replies_as_the_original() {
    check_same_replies("hooks.toml", &example("replies.toml"), "", 3);
}

#[test]
fn imported_defaults_of_a_plugin_reply_as_the_original() {
    check_same_replies("gates.json", &example("defaults.json"), "", 1);
}

/// What the program of a gate can do, and how many events are blocked then: with `programs.json`, `chained.json` and
/// `programs.toml`.
const PROGRAMS: [(&str, [usize; 3]); 14] = [
    ("echo fine", [0, 4, 0]),
    ("echo finding; echo error >&2; exit 1", [6, 2, 3]),
    ("echo no >&2; exit 2", [6, 2, 3]),
    ("exec ./no-such-program", [6, 2, 3]),
    ("kill -9 $$", [6, 2, 3]),
    (r#"echo '{"decision": "block", "reason": "not yet"}'"#, [6, 2, 2]),
    (r#"echo '{"continue": false, "message": "enough"}'"#, [0, 0, 0]),
    (r#"echo '{"additionalContext": "a note"}'"#, [0, 4, 0]),
    (r#"echo '[null, ["allow", "a note"], ["block", "one"], ["block", "two"]]'"#, [6, 2, 2]),
    (r#"echo '["allow", "a note"]'"#, [0, 4, 0]),
    (r#"printf '{"Action": "run"}\n{"Action": "pass"}\n'"#, [0, 4, 0]),
    (r#"echo '{"Reject": {"reason": "no"}}'"#, [6, 2, 2]),
    (r#"echo '{"ModifyInput": {"new_input": {"command": "ls -l"}}}'"#, [0, 4, 0]),
    (r#"echo '{"Reject": '"#, [6, 2, 0]),
];

#[track_caller]
fn check_with_programs(name: &str, at: usize) {
    // Nothing listens on that port.
    let text = example(name).replace("PORT", "9");
    let file = if name.ends_with("toml") { "hooks.toml" } else { "gates.json" };
    for (program, blocked) in PROGRAMS {
        check_same_replies(file, &text, program, blocked[at]);
    }
}

#[test]
fn an_imported_gates_json_replies_as_the_original_whatever_its_programs_do() {
    check_with_programs("programs.json", 0);
}

#[test]
fn an_imported_chain_replies_as_the_original_whatever_its_programs_do() {
    check_with_programs("chained.json", 1);
}

#[test]
fn an_imported_hooks_toml_replies_as_the_original_whatever_its_programs_do() {
    check_with_programs("programs.toml", 2);
}

#[test]
fn a_slow_program_of_an_imported_hook_is_reported_as_by_the_original() {
    let slow = |event: &str, tool: &str| json!({"hook_event_name": event, "session_id": "s", "tool_name": tool, "tool_input": {"command": "ls"}});
    let [original, imported] =
        original_and_import("hooks.toml", &example("programs.toml").replace("PORT", "9"), "exec sleep 30");
    let event = slow("PreToolUse", "Bash");
    let (before, after) = (original.hook(&event), imported.hook(&event));
    assert_eq!(before, after);
    assert!(before.exit == 0 && before.stdout.contains("did not end within 2 s"), "{before:?}");
}

/// The requests that a server got, without what differs between two projects.
fn requests(server: &Server, project: &Project) -> Vec<String> {
    let home = project.home().to_string_lossy().into_owned();
    let requests = server.requests.try_iter().map(|request| without_length(&request.replace(&home, "HOME")));
    // Servers are asked at the same time.
    let mut requests: Vec<String> = requests.collect();
    requests.sort();
    requests
}

/// A request without its length, which depends on the length of the folder's name.
fn without_length(request: &str) -> String {
    let is_length = |line: &&str| line.to_lowercase().starts_with("content-length:");
    request.lines().filter(|line| !is_length(line)).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn check_with_server(name: &str, status: &'static str, body: &'static str, (blocked, asked): (usize, usize)) {
    let server = Server::saying(status, body);
    let text = example(name).replace("PORT", &server.port.to_string());
    let [original, imported] = original_and_import("hooks.toml", &text, "echo '\"Continue\"'");
    let (before, first) = (replies_to(few_events(), &original), requests(&server, &original));
    let (after, second) = (replies_to(few_events(), &imported), requests(&server, &imported));
    assert_eq!(before, after, "{status} {body}\n{}", imported.read(".claude/modes/base.yaml"));
    assert_eq!(first, second, "{status} {body}");
    assert_eq!((count_blocked(&before), first.len()), (blocked, asked), "{status} {body}: {before:#?} {first:#?}");
}

#[test]
fn an_imported_webhook_asks_and_replies_as_the_original() {
    check_with_server("servers.toml", "200 OK", "", (0, 3));
    check_with_server("servers.toml", "200 OK", "\"Continue\"", (0, 3));
    check_with_server("servers.toml", "200 OK", r#"{"Reject": {"reason": "no"}}"#, (2, 3));
    check_with_server("servers.toml", "200 OK", r#"{"ModifyInput": {"new_input": {"command": "ls -l"}}}"#, (0, 3));
    check_with_server("servers.toml", "200 OK", "{\"Reject\": ", (0, 3));
    check_with_server("servers.toml", "200 OK", "thanks", (0, 3));
    check_with_server("servers.toml", "500 Oops", "broken", (2, 3));
}

#[test]
fn an_imported_webhook_of_events_that_are_over_replies_as_the_original() {
    for (status, body) in [("200 OK", ""), ("200 OK", r#"{"Reject": {"reason": "no"}}"#), ("500 Oops", "broken")] {
        check_with_server("programs.toml", status, body, (0, 1));
        check_with_server("inline.toml", status, body, (0, 1));
    }
}

#[test]
fn an_imported_webhook_that_cannot_be_asked_replies_as_the_original() {
    for (name, blocked) in [("servers.toml", 8), ("inline.toml", 2)] {
        check_same_replies("hooks.toml", &example(name).replace("PORT", "9"), "", blocked);
    }
}

#[test]
fn several_files_are_imported_as_one_mode() {
    let [original, imported] = original_and_import("gates.json", &example("replies.json"), "");
    original.write(".claude/hooks.toml", example("replies.toml"));
    imported.write("hooks.toml", example("replies.toml"));
    let output = imported.run(&["modes", "import", "gates.json", "hooks.toml"]);
    assert_eq!(output.exit, 0, "{output:?}");
    assert!(output.stdout.starts_with("# From gates.json and hooks.toml; "), "{output:?}");
    imported.write(".claude/modes/base.yaml", &output.stdout);
    assert_eq!(replies(&original), replies(&imported));
}

#[test]
fn an_imported_file_that_stays_beside_its_import_changes_nothing() {
    let [original, imported] = original_and_import("gates.json", &example("replies.json"), "");
    imported.write(".claude/gates.json", example("replies.json"));
    assert_eq!(replies(&original), replies(&imported));
}

#[test]
fn a_gate_and_a_hook_of_the_same_name_are_two_gates() {
    let gate = r#"{"gates": {"lint": {"command": "echo gate; exit 1"}}, "hooks": {"PreToolUse": {"gates": ["lint"]}}}"#;
    let hook = "[[hooks]]\nevent = \"PreToolUse\"\nname = \"lint\"\n[hooks.shell]\ncommand = \"echo hook; exit 1\"\n";
    let project = Project::installed();
    project.write("gates.json", gate);
    project.write("hooks.toml", hook);
    let output = project.run(&["modes", "import", "gates.json", "hooks.toml"]);
    project.write(".claude/modes/base.yaml", &output.stdout);
    let read = json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Read", "tool_input": {"file_path": "a"}});
    let reason = project.hook(&read).stderr;
    assert!(reason.contains("gate") && reason.contains("hook"), "{reason}");
}

#[test]
fn a_webhook_without_a_limit_of_its_own_has_30_seconds_and_a_program_600() {
    let project = Project::new();
    project.write("hooks.toml", example("hooks.toml"));
    let output = project.run(&["modes", "import", "hooks.toml"]).stdout;
    let limits: Vec<&str> = output.lines().filter_map(|line| line.trim().strip_prefix("timeout: ")).collect();
    assert_eq!(limits, ["60", "30", "600", "600", "30"], "{output}");
}

#[test]
fn gates_of_a_plugin_are_below_those_of_the_project() {
    let project = Project::installed();
    let plugin = project.home().parent().unwrap().join("plugin");
    std::fs::create_dir_all(plugin.join("hooks")).unwrap();
    let defaults = json!({
        "gates": {"check": {"command": "echo placeholder; exit 1"}, "later": {"command": "echo later; exit 1"}},
        "hooks": {"UserPromptSubmit": {"gates": ["later"]}, "PostToolUse": {"gates": ["check"]}, "Stop": {"gates": ["check"]}},
    });
    std::fs::write(plugin.join("hooks/gates.json"), defaults.to_string()).unwrap();
    let reason = |event: &str| {
        let event = json!({"hook_event_name": event, "session_id": "s", "prompt": "x", "tool_name": "Edit", "tool_input": {}, "tool_response": {}});
        let mut command = project.modegate();
        command.env("CLAUDE_PLUGIN_ROOT", &plugin).arg("hook");
        crate::project::run_command(&mut command, event.to_string().as_bytes()).stderr
    };
    assert!(reason("PostToolUse").contains("placeholder"));
    project.write(".claude/gates.json", json!({"gates": {"check": {"command": "echo own; exit 1"}}}).to_string());
    assert!(reason("PostToolUse").contains("own"), "a file with gates alone replaces the plugin's gate");
    project.write(".claude/gates.json", json!({"hooks": {"PostToolUse": {"gates": ["later"]}}}).to_string());
    assert!(reason("PostToolUse").contains("later"), "a file with events alone replaces the plugin's event");
    let own = json!({
        "gates": {"check": {"command": "echo lint; exit 1"}, "test": {"command": "echo test; exit 1"}},
        "hooks": {"PostToolUse": {"gates": ["test"]}},
    });
    project.write(".claude/gates.json", own.to_string());
    assert!(reason("UserPromptSubmit").contains("later"), "an event of the plugin stays");
    let after = reason("PostToolUse");
    assert!(
        after.contains("test") && !after.contains("placeholder"),
        "the project's event replaces the plugin's: {after}"
    );
    assert!(reason("Stop").contains("lint"), "the project's gate replaces the plugin's");
    assert_eq!(project.hook(&json!({"hook_event_name": "Stop", "session_id": "s"})).exit, 0, "only the plugin's calls");
}

#[test]
fn a_plugin_in_the_repository_is_not_one() {
    let project = Project::installed();
    let gates = json!({"gates": {"g": {"command": "exit 1"}}, "hooks": {"Stop": {"gates": ["g"]}}});
    project.write("plugin/hooks/gates.json", gates.to_string());
    let mut command = project.modegate();
    command.env("CLAUDE_PLUGIN_ROOT", project.home().join("plugin")).arg("hook");
    let event = json!({"hook_event_name": "Stop", "session_id": "s"});
    assert_eq!(crate::project::run_command(&mut command, event.to_string().as_bytes()).exit, 0);
}

#[test]
fn a_plugin_that_the_projects_settings_name_is_not_one() {
    let project = Project::installed();
    let plugin = project.home().parent().unwrap().join("plugin");
    std::fs::create_dir_all(plugin.join("hooks")).unwrap();
    let gates = json!({"gates": {"g": {"command": "exit 1"}}, "hooks": {"Stop": {"gates": ["g"]}}});
    std::fs::write(plugin.join("hooks/gates.json"), gates.to_string()).unwrap();
    let send = || {
        let mut command = project.modegate();
        command.env("CLAUDE_PLUGIN_ROOT", &plugin).arg("hook");
        let event = json!({"hook_event_name": "Stop", "session_id": "s"});
        crate::project::run_command(&mut command, event.to_string().as_bytes()).exit
    };
    assert_eq!(send(), 2);
    project.write(".claude/settings.json", json!({"env": {"CLAUDE_PLUGIN_ROOT": plugin}}).to_string());
    assert_eq!(send(), 0);
}

#[test]
fn context_of_a_plugin_is_used_where_the_project_has_none() {
    let project = Project::installed();
    let plugin = project.home().parent().unwrap().join("plugin");
    std::fs::create_dir_all(plugin.join("context/skill")).unwrap();
    std::fs::write(plugin.join("context/prompt-submit.md"), "From the plugin.").unwrap();
    std::fs::write(plugin.join("context/session-start.md"), "At the start.").unwrap();
    std::fs::write(plugin.join("context/skill/deploy-start.md"), "How to deploy.").unwrap();
    let context = |event: Value| {
        let mut command = project.modegate();
        command.env("CLAUDE_PLUGIN_ROOT", &plugin).arg("hook");
        crate::project::run_command(&mut command, event.to_string().as_bytes()).stdout
    };
    let prompt = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "x"});
    let skill = json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Skill", "tool_input": {"skill": "deploy"}});
    let start = json!({"hook_event_name": "SessionStart", "session_id": "s", "source": "startup"});
    assert!(context(start).contains("At the start."));
    assert!(context(prompt.clone()).contains("From the plugin."));
    assert!(context(skill).contains("How to deploy."));
    project.write(".claude/context/prompt-submit.md", "From the project.");
    let both = context(prompt);
    assert!(both.contains("From the project.") && !both.contains("From the plugin."), "{both}");
}

#[test]
fn hooks_of_the_user_are_below_those_of_the_project() {
    let project = Project::installed();
    let config = project.home().parent().unwrap().join(".claude");
    std::fs::create_dir_all(&config).unwrap();
    let hook = |name: &str, text: &str| {
        format!("[[hooks]]\nevent = \"PreToolUse\"\n{name}[hooks.shell]\ncommand = \"echo {text}; exit 1\"\n")
    };
    let user = hook("", "users-unnamed") + &hook("name = \"v\"\n", "users-named");
    std::fs::write(config.join("hooks.toml"), user).unwrap();
    let read = json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Read", "tool_input": {"file_path": "a"}});
    let reason = project.hook(&read).stderr;
    assert!(reason.contains("users-unnamed") && reason.contains("users-named"), "{reason}");
    project.write(".claude/hooks.toml", hook("", "projects-unnamed") + &hook("name = \"v\"\n", "projects-named"));
    let reason = project.hook(&read).stderr;
    assert!(reason.contains("users-unnamed") && !reason.contains("users-named"), "{reason}");
    assert!(reason.contains("projects-unnamed") && reason.contains("projects-named"), "{reason}");
}
