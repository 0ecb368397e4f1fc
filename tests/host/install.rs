//! `modegate install`, `uninstall` and `doctor` with the client that they are for.

use crate::Case;
use crate::client::{Client, Ran, Session, Version};
use crate::model::{MAIN, Script, agent, calls, says};
use crate::stage::{modegate, plain};

pub(super) fn cases() -> Vec<Case> {
    let root = "before, a session in a folder did not read the repository's local settings";
    vec![
        Case::new("installed it gates, taken out it does not", in_and_out),
        Case::new("installed for oneself it gates", for_oneself),
        Case::new("installed with --local it gates in a folder of the project too", in_a_folder)
            .since(Version(2, 1, 211), root),
        Case::new("installed for a user it gates in every project", for_a_user),
        Case::new("installed with --path it is found on PATH", on_path),
        Case::new("a program that was deleted lets everything go on", deleted),
        Case::new("a program that was deleted lets no command begin", refused_without)
            .since(Version(2, 1, 295), "onFailure is known since 2.1.295"),
        Case::new("the doctor finds nothing before and after a session", doctor),
    ]
}

fn planner() -> Script {
    Script::main(vec![calls(vec![agent("strategic-planner")]), says("I was refused.")])
}

#[track_caller]
fn must_be_gated(ran: &Ran) {
    ran.must(ran.exits("PreToolUse:Agent") == [2], "the planner is refused");
    ran.must(ran.hooks.iter().all(|hook| hook.outcome == "success" || hook.exit == 2), "every hook runs");
    ran.must_tell(MAIN, "Research report not found. Call research-specialist first.");
}

fn in_and_out(client: &Client) {
    let project = plain();
    modegate(&project, &["install"]);
    must_be_gated(&client.run(&project, "/plan a page", planner()));
    modegate(&project, &["uninstall"]);
    let ran = client.run(&project, "/plan a page", planner());
    ran.must(ran.hooks.is_empty(), "no hook runs");
    assert!(!project.home().join(".claude/settings.json").exists(), "what install made is gone");
}

fn for_oneself(client: &Client) {
    let project = plain();
    modegate(&project, &["install", "--local"]);
    assert!(!project.home().join(".claude/settings.json").exists(), "the settings for all are left alone");
    must_be_gated(&client.run(&project, "/plan a page", planner()));
    modegate(&project, &["uninstall", "--local"]);
    let ran = client.run(&project, "/plan a page", planner());
    ran.must(ran.hooks.is_empty(), "no hook runs");
}

fn in_a_folder(client: &Client) {
    let project = plain();
    modegate(&project, &["install", "--local"]);
    project.write("docs/file", "");
    must_be_gated(&Session::new(&project).within("docs").run(client, "/plan a page", planner()));
}

fn for_a_user(client: &Client) {
    let project = plain();
    modegate(&project, &["install", "--user"]);
    must_be_gated(&client.run(&project, "/plan a page", planner()));
    modegate(&project, &["uninstall", "--user"]);
    let ran = client.run(&project, "/plan a page", planner());
    ran.must(ran.hooks.is_empty(), "no hook runs");
}

fn on_path(client: &Client) {
    let project = plain();
    project.write("../bin/modegate", std::fs::read(env!("CARGO_BIN_EXE_modegate")).unwrap());
    project.shell("chmod +x ../bin/modegate");
    modegate(&project, &["install", "--path"]);
    assert!(!project.home().join(".claude/hooks/modegate").exists(), "no copy is made");
    must_be_gated(&Session::new(&project).on_path("../bin").run(client, "/plan a page", planner()));
}

fn deleted(client: &Client) {
    let project = plain();
    modegate(&project, &["install"]);
    std::fs::remove_file(project.home().join(".claude/hooks/modegate")).unwrap();
    let ran = client.run(&project, "make a plan", planner());
    for hook in &ran.hooks {
        ran.must(hook.exit == 1 && hook.outcome == "error", "the client reports an error");
        ran.must(hook.stderr.contains("ENOENT: no such file or directory, posix_spawn"), "and says what is missing");
    }
    ran.must(!ran.at("SubagentStart").is_empty() && ran.exit == Some(0), "and everything goes on");
    let said = project.run(&["doctor"]);
    assert_eq!(said.exit, 1, "the doctor finds it: {said:?}");
}

fn refused_without(client: &Client) {
    let project = plain();
    modegate(&project, &["install"]);
    std::fs::remove_file(project.home().join(".claude/hooks/modegate")).unwrap();
    let ran = client.run(&project, "/plan a page", planner());
    ran.must(ran.at("SubagentStart").is_empty() && ran.requests.is_empty(), "the model is not asked");
    ran.must(ran.result().contains(".claude/hooks/modegate"), "the user reads which program is missing");
}

fn doctor(client: &Client) {
    let project = plain();
    modegate(&project, &["install"]);
    modegate(&project, &["doctor", "--live"]);
    must_be_gated(&client.run(&project, "/plan a page", planner()));
    modegate(&project, &["doctor", "--live"]);
    modegate(&project, &["doctor", "--live", "--json"]).json();
}
