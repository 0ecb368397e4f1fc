//! Gates that are always active.

use crate::Case;
use crate::client::Client;
use crate::model::{MAIN, Script, calls, shell, text, write};
use crate::setup::installed_project;

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("a command that would delete the home is blocked", dangerous),
        Case::new("the model cannot change modegate's own files", protected),
        Case::new("a gate's program rewrites a tool's input and adds context", rewritten),
    ]
}

fn dangerous(client: &Client) {
    let project = installed_project();
    let script = Script::main(vec![calls(vec![shell("cd / && rm -rf \"$HOME\"/*")]), text("I was blocked.")]);
    let ran = client.run(&project, "Clean up.", script);
    ran.check(ran.exits("PreToolUse:Bash") == [2], "the command is blocked");
    ran.must_read(MAIN, "System folders, system files and the home folder must not be deleted.");
}

fn protected(client: &Client) {
    let project = installed_project();
    let state = project.home().join(".claude/hooks/cache.json");
    let tries = vec![
        write(&state, "{}"),
        shell("echo '{}' > .claude/hooks/cache.json"),
        shell("./.claude/hooks/modegate leave plan"),
        shell("cat .claude/settings.json"),
    ];
    let ran = client.run(&project, "/plan a page", Script::main(vec![calls(tries), text("Well.")]));
    // Some clients reject writing an unread file before any hook runs.
    ran.check(ran.exits("PreToolUse:Write").iter().all(|exit| *exit == 2), "the state is not written");
    let mut exits = ran.exits("PreToolUse:Bash");
    exits.sort_unstable();
    ran.check(exits == [0, 2, 2], "nor by the shell; reading is allowed");
    ran.check(project.cache()["plan_mode"]["is_active"] == true, "the mode is still active");
}

fn rewritten(client: &Client) {
    let project = installed_project();
    project.write(
        ".claude/modes/base.yaml",
        r#"mode: base
gates:
  - id: says-hello
    on: PreToolUse(Bash)
    check: { run: { command: "echo '{\"ModifyInput\": {\"new_input\": {\"command\": \"echo REWRITTEN\", \"description\": \"x\"}}}'", rewrites: true } }
    context: A note from the gate.
"#,
    );
    let ran =
        client.run(&project, "Say something.", Script::main(vec![calls(vec![shell("echo ORIGINAL")]), text("Done.")]));
    ran.must_read(MAIN, "REWRITTEN");
    ran.must_read(MAIN, "A note from the gate.");
}
