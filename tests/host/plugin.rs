//! The plugin, and the settings of administrators, with a real client.

use crate::Case;
use crate::client::{Client, ClientRun, Session};
use crate::model::{MAIN, Script, agent, calls, text};
use crate::project::Project;
use crate::setup::{empty_project, modegate};
use serde_json::{Value, json};
use std::process::Command;

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("the planner is blocked through the plugin", gated),
        Case::new("with entries in the project, one of the two decides", both),
        Case::new("without a program the person gets a message, and nothing is blocked", missing),
        Case::new("it gates after it was installed from its marketplace", installed),
        Case::new("entries of an administrator gate every project", managed).in_namespace(),
        Case::new("where only managed hooks run, entries of the project do not silence them", only_managed)
            .in_namespace(),
    ]
}

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn plugin_folder() -> String {
    format!("{ROOT}/plugin")
}

/// A repository with modegate on PATH in `../bin`.
fn project() -> Project {
    let project = empty_project();
    project.write("../bin/modegate", std::fs::read(env!("CARGO_BIN_EXE_modegate")).unwrap());
    project.shell("chmod +x ../bin/modegate");
    project
}

/// A model that starts an agent.
fn starting(name: &str) -> Script {
    Script::main(vec![calls(vec![agent(name)]), text("I was blocked.")])
}

fn with_plugin(project: &Project) -> Session<'_> {
    Session::new(project).arguments(&["--plugin-dir", &plugin_folder()])
}

/// The planner was blocked once, and one journal line says so.
#[track_caller]
fn must_be_blocked_once(project: &Project, ran: &ClientRun) {
    ran.check(ran.exits("PreToolUse:Agent").iter().filter(|exit| **exit == 2).count() == 1, "one entry blocks");
    ran.check(ran.hooks.iter().all(|hook| hook.outcome == "success" || hook.exit == 2), "every hook runs");
    ran.must_read(MAIN, "Research report not found. Call research-specialist first.");
    let journal = project.read(&format!(".claude/hooks/sessions/{}.jsonl", ran.id));
    let lines: Vec<Value> = journal.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let calls = lines.iter().filter(|line| line["event"]["hook_event_name"] == "PreToolUse");
    ran.check(calls.count() == 1, &format!("one journal line per event:\n{journal}"));
}

fn gated(client: &Client) {
    let project = project();
    let ran = with_plugin(&project).on_path("../bin").run(
        client,
        "/modegate:plan a page",
        starting("modegate:strategic-planner"),
    );
    ran.check(ran.exits("PreToolUse:Agent") == [2], "the plugin's entry decides");
    must_be_blocked_once(&project, &ran);
}

fn both(client: &Client) {
    let project = project();
    modegate(&project, &["install"]);
    let ran = with_plugin(&project).on_path("../bin").run(client, "/plan a page", starting("strategic-planner"));
    let mut exits = ran.exits("PreToolUse:Agent");
    exits.sort_unstable();
    ran.check(exits == [0, 2], "both entries run, and one is silent");
    must_be_blocked_once(&project, &ran);
}

fn missing(client: &Client) {
    let project = empty_project();
    let ran = with_plugin(&project).run(client, "/modegate:plan a page", starting("modegate:strategic-planner"));
    let shown = ran.at("SessionStart").iter().map(|hook| hook.stdout.clone()).collect::<String>();
    ran.check(
        shown.contains("modegate is not on PATH") && shown.contains("npm install -g modegate"),
        "it says how to get it",
    );
    ran.check(ran.hooks.iter().all(|hook| hook.exit == 0), "nothing is blocked");
    ran.check(!ran.at("SubagentStart").is_empty(), "the planner starts");
}

fn installed(client: &Client) {
    let project = project();
    let claude = |words: &[&str]| {
        let mut command: Command = project.plain(&client.binary);
        let output = command.current_dir(project.home()).args(words).output().unwrap();
        assert!(
            output.status.success(),
            "{words:?}: {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    };
    claude(&["plugin", "validate", &plugin_folder()]);
    claude(&["plugin", "marketplace", "add", ROOT]);
    claude(&["plugin", "install", "modegate@modegate"]);
    let ran = Session::new(&project).on_path("../bin").run(
        client,
        "/modegate:plan a page",
        starting("modegate:strategic-planner"),
    );
    must_be_blocked_once(&project, &ran);
    let path = format!("{}:{}", project.home().join("../bin").display(), std::env::var("PATH").unwrap());
    let doctor = crate::project::run_command(project.modegate().env("PATH", &path).args(["doctor"]), b"");
    assert!(doctor.exit == 0 && doctor.stdout.contains("hooks.json"), "{}", doctor.stdout);
    modegate(&project, &["install"]);
    let doctor = crate::project::run_command(project.modegate().env("PATH", &path).args(["doctor"]), b"");
    assert!(doctor.stdout.contains("stay silent: those of .claude/settings.json decide"), "{}", doctor.stdout);
}

/// A client that sees an administrator's settings, in a mount namespace: they are in a folder of the whole machine.
fn managed_client(client: &Client, project: &Project, only_managed: bool) -> Client {
    let hooks = std::fs::read_to_string(format!("{ROOT}/plugin/hooks/hooks.json")).unwrap();
    let hooks: Value = serde_json::from_str(&hooks).unwrap();
    let settings = json!({"allowManagedHooksOnly": only_managed, "hooks": hooks["hooks"]});
    project.write("../layer/etc/claude-code/managed-settings.json", settings.to_string());
    project.write("../layer/work/.keep", "");
    let layer = project.home().parent().unwrap().join("layer");
    std::fs::remove_file(layer.join("work/.keep")).unwrap();
    let mount = r#"mount -t overlay overlay -o "lowerdir=/etc,upperdir=etc,workdir=work" /etc && cd "$1" && shift && exec "$@""#;
    let script = format!(
        "#!/bin/sh\nhere=$PWD; cd '{}' && exec unshare -m /bin/sh -c '{mount}' sh \"$here\" '{}' \"$@\"\n",
        layer.display(),
        client.binary.display()
    );
    project.write("../layer/claude", script);
    project.shell("chmod +x ../layer/claude");
    Client { binary: layer.join("claude"), version: client.version }
}

fn managed(client: &Client) {
    let project = project();
    project.write(".claude/commands/plan.md", "---\ndescription: plan\n---\nPlan $ARGUMENTS\n");
    let planner = "---\nname: strategic-planner\ndescription: plans\n---\nPlan.\n";
    project.write(".claude/agents/strategic-planner.md", planner);
    let client = managed_client(client, &project, false);
    let ran = Session::new(&project).on_path("../bin").run(&client, "/plan a page", starting("strategic-planner"));
    ran.check(ran.exits("PreToolUse:Agent") == [2], "the administrator's entry decides");
    must_be_blocked_once(&project, &ran);
}

fn only_managed(client: &Client) {
    let project = project();
    modegate(&project, &["install"]);
    for (only, exits) in [(false, vec![0, 2]), (true, vec![2])] {
        let client = managed_client(client, &project, only);
        let ran = Session::new(&project).on_path("../bin").run(&client, "/plan a page", starting("strategic-planner"));
        let mut seen = ran.exits("PreToolUse:Agent");
        seen.sort_unstable();
        ran.check(seen == exits, &format!("allowManagedHooksOnly is {only}"));
        must_be_blocked_once(&project, &ran);
    }
}
