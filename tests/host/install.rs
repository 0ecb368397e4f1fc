//! `modegate install`, `uninstall` and `doctor` with a real client.

use crate::Case;
use crate::client::{Client, Session, Version};
use crate::model::{MAIN, Script, agent, calls, shell, text};
use crate::setup::{empty_project, installed_project, modegate, must_be_gated, planner};
use serde_json::{Value, json};

pub(super) fn cases() -> Vec<Case> {
    let root = "local settings of the repository are not read in its subfolders";
    vec![
        Case::new("it gates after install and not after uninstall", in_and_out),
        Case::new("it gates after install --local", for_oneself),
        Case::new("it gates in a subfolder after install --local", in_a_folder).since(Version(2, 1, 211), root),
        Case::new("it gates in every project after install --user", for_a_user),
        Case::new("it is found on PATH after install --path", on_path),
        Case::new("a program that vanished blocks starts of agents and nothing else", vanished),
        Case::new("entries of an earlier version still work, and install replaces them", upgraded),
        Case::new("doctor finds no problem before and after a session", doctor),
        Case::new("doctor finds a single tool call without the hook", silent),
    ]
}

fn in_and_out(client: &Client) {
    let project = empty_project();
    modegate(&project, &["install"]);
    must_be_gated(&client.run(&project, "/plan a page", planner()));
    modegate(&project, &["uninstall"]);
    let ran = client.run(&project, "/plan a page", planner());
    ran.check(ran.hooks.is_empty(), "no hook runs");
    assert!(!project.home().join(".claude/settings.json").exists(), "what install created is gone");
}

fn for_oneself(client: &Client) {
    let project = empty_project();
    modegate(&project, &["install", "--local"]);
    assert!(!project.home().join(".claude/settings.json").exists(), "the settings for all are left alone");
    must_be_gated(&client.run(&project, "/plan a page", planner()));
    modegate(&project, &["uninstall", "--local"]);
    let ran = client.run(&project, "/plan a page", planner());
    ran.check(ran.hooks.is_empty(), "no hook runs");
}

fn in_a_folder(client: &Client) {
    let project = empty_project();
    modegate(&project, &["install", "--local"]);
    project.write("docs/file", "");
    must_be_gated(&Session::new(&project).within("docs").run(client, "/plan a page", planner()));
}

fn for_a_user(client: &Client) {
    let project = empty_project();
    modegate(&project, &["install", "--user"]);
    must_be_gated(&client.run(&project, "/plan a page", planner()));
    modegate(&project, &["uninstall", "--user"]);
    let ran = client.run(&project, "/plan a page", planner());
    ran.check(ran.hooks.is_empty(), "no hook runs");
}

fn on_path(client: &Client) {
    let project = empty_project();
    project.write("../bin/modegate", std::fs::read(env!("CARGO_BIN_EXE_modegate")).unwrap());
    project.shell("chmod +x ../bin/modegate");
    modegate(&project, &["install", "--path"]);
    assert!(!project.home().join(".claude/hooks/modegate").exists(), "no copy is made");
    must_be_gated(&Session::new(&project).on_path("../bin").run(client, "/plan a page", planner()));
}

fn vanished(client: &Client) {
    let project = installed_project();
    must_be_gated(&client.run(&project, "/plan a page", planner()));
    std::fs::remove_file(project.home().join(".claude/hooks/modegate")).unwrap();
    std::fs::remove_dir_all(project.user().join(".local/state/modegate/bin")).unwrap();
    let calls = vec![calls(vec![shell("echo it works")]), calls(vec![agent("strategic-planner")]), text("Stopped.")];
    let ran = client.run(&project, "make a plan", Script::main(calls));
    ran.check(ran.at("SubagentStart").is_empty(), "the planner does not start");
    ran.must_read(MAIN, "The program of modegate is missing (.claude/hooks/modegate, and none is on PATH)");
    ran.must_read(MAIN, "it works");
    ran.check(ran.exit == Some(0) && ran.hooks.iter().all(|hook| hook.exit == 0 || hook.exit == 2), "no hook fails");
    let shown = ran.at("UserPromptSubmit")[0].stdout.clone();
    ran.check(shown.contains("modegate: its program is missing"), "the user sees a message");
    assert_eq!(project.run(&["doctor"]).exit, 1, "doctor finds it");
}

fn upgraded(client: &Client) {
    let project = installed_project();
    let program = "${CLAUDE_PROJECT_DIR}/.claude/hooks/modegate";
    let settings = || project.read(".claude/settings.json");
    let mut old: Value = serde_json::from_str(&settings()).unwrap();
    for groups in old["hooks"].as_object_mut().unwrap().values_mut() {
        groups[0]["hooks"][0] = json!({"type": "command", "command": program, "args": ["hook"], "timeout": 150});
    }
    let new = settings();
    project.write(".claude/settings.json", format!("{old:#}\n"));
    must_be_gated(&client.run(&project, "/plan a page", planner()));
    modegate(&project, &["install"]);
    let same = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(same(&settings()), same(&new));
    must_be_gated(&client.run(&project, "/plan a page", planner()));
}

fn doctor(client: &Client) {
    let project = empty_project();
    modegate(&project, &["install"]);
    modegate(&project, &["doctor", "--live"]);
    must_be_gated(&client.run(&project, "/plan a page", planner()));
    modegate(&project, &["doctor", "--live"]);
    modegate(&project, &["doctor", "--live", "--json"]).json();
}

fn silent(client: &Client) {
    let project = installed_project();
    let mut manifest: Value = serde_json::from_str(&project.read(".claude/hooks/installed.json")).unwrap();
    manifest["at"] = "2020-01-01T00:00:00Z".into();
    project.write(".claude/hooks/installed.json", manifest.to_string());
    let call = |line: &str| calls(vec![shell(line)]);
    // Calls that work, fail, and are refused by the client.
    let odd = vec![call("echo one"), call("false"), calls(vec![agent("no-such-agent")]), text("Done.")];
    let first = client.run(&project, "Go.", Script::main(odd));
    let status = || modegate(&project, &["status"]).stdout;
    assert!(!status().contains("without it"), "{}", status());
    project.write(".claude/settings.local.json", r#"{"disableAllHooks": true}"#);
    let turns = vec![text("-"), text("-"), text("-"), text("-"), call("echo two"), text("Done.")];
    let ran = Session::resume(&project, &first.id).run(client, "Go on.", Script::main(turns));
    ran.check(ran.hooks.is_empty(), "no hook runs");
    ran.must_read(MAIN, "two");
    std::fs::remove_file(project.home().join(".claude/settings.local.json")).unwrap();
    assert!(status().contains(", but used a tool without it"), "{}", status());
}
