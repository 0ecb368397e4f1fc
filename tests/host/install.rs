//! `modegate install`, `uninstall` and `doctor` with a real client.

use crate::Case;
use crate::client::{Client, ClientRun, Session, Version};
use crate::model::{MAIN, Script, agent, calls, text};
use crate::setup::{empty_project, modegate};

pub(super) fn cases() -> Vec<Case> {
    let root = "local settings of the repository are not read in its subfolders";
    vec![
        Case::new("it gates after install and not after uninstall", in_and_out),
        Case::new("it gates after install --local", for_oneself),
        Case::new("it gates in a subfolder after install --local", in_a_folder).since(Version(2, 1, 211), root),
        Case::new("it gates in every project after install --user", for_a_user),
        Case::new("it is found on PATH after install --path", on_path),
        Case::new("a deleted program lets everything through", deleted),
        Case::new("a deleted program blocks typed commands", blocked_without_program)
            .since(Version(2, 1, 295), "`onFailure` has no effect"),
        Case::new("doctor finds no problem before and after a session", doctor),
    ]
}

fn planner() -> Script {
    Script::main(vec![calls(vec![agent("strategic-planner")]), text("I was blocked.")])
}

#[track_caller]
fn must_be_gated(ran: &ClientRun) {
    ran.check(ran.exits("PreToolUse:Agent") == [2], "the planner is blocked");
    ran.check(ran.hooks.iter().all(|hook| hook.outcome == "success" || hook.exit == 2), "every hook runs");
    ran.must_read(MAIN, "Research report not found. Call research-specialist first.");
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

fn deleted(client: &Client) {
    let project = empty_project();
    modegate(&project, &["install"]);
    std::fs::remove_file(project.home().join(".claude/hooks/modegate")).unwrap();
    let ran = client.run(&project, "make a plan", planner());
    for hook in &ran.hooks {
        ran.check(hook.exit == 1 && hook.outcome == "error", "the client reports an error");
        ran.check(hook.stderr.contains("ENOENT: no such file or directory, posix_spawn"), "it says what is missing");
    }
    ran.check(!ran.at("SubagentStart").is_empty() && ran.exit == Some(0), "everything goes on");
    let output = project.run(&["doctor"]);
    assert_eq!(output.exit, 1, "doctor finds it: {output:?}");
}

fn blocked_without_program(client: &Client) {
    let project = empty_project();
    modegate(&project, &["install"]);
    std::fs::remove_file(project.home().join(".claude/hooks/modegate")).unwrap();
    let ran = client.run(&project, "/plan a page", planner());
    ran.check(ran.at("SubagentStart").is_empty() && ran.requests.is_empty(), "the model is not asked");
    ran.check(ran.result().contains(".claude/hooks/modegate"), "the user reads which program is missing");
}

fn doctor(client: &Client) {
    let project = empty_project();
    modegate(&project, &["install"]);
    modegate(&project, &["doctor", "--live"]);
    must_be_gated(&client.run(&project, "/plan a page", planner()));
    modegate(&project, &["doctor", "--live"]);
    modegate(&project, &["doctor", "--live", "--json"]).json();
}
