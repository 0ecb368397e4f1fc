//! Gates that always stand.

use crate::Case;
use crate::client::Client;
use crate::model::{MAIN, Script, calls, says, shell, write};
use crate::stage::wired;

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("a command that would delete the home is refused", dangerous),
        Case::new("the model does not change what decides about it", protected),
        Case::new("a gate's program rewrites what a tool is given, and its context is read", rewritten),
    ]
}

fn dangerous(client: &Client) {
    let project = wired();
    let script = Script::main(vec![calls(vec![shell("cd / && rm -rf \"$HOME\"/*")]), says("I was refused.")]);
    let ran = client.run(&project, "Clean up.", script);
    ran.must(ran.exits("PreToolUse:Bash") == [2], "the command is refused");
    ran.must_tell(MAIN, "System folders, system files and your whole home are not deleted here.");
}

fn protected(client: &Client) {
    let project = wired();
    let state = project.home().join(".claude/hooks/cache.json");
    let tries = vec![
        write(&state, "{}"),
        shell("echo '{}' > .claude/hooks/cache.json"),
        shell("./.claude/hooks/modegate leave plan"),
        shell("cat .claude/settings.json"),
    ];
    let ran = client.run(&project, "/plan a page", Script::main(vec![calls(tries), says("Well.")]));
    // Some clients refuse to write a file that was not read before any hook is asked.
    ran.must(ran.exits("PreToolUse:Write").iter().all(|exit| *exit == 2), "the state is not written");
    let mut exits = ran.exits("PreToolUse:Bash");
    exits.sort_unstable();
    ran.must(exits == [0, 2, 2], "nor by the shell; reading is free");
    ran.must(project.cache()["plan_mode"]["is_active"] == true, "the mode is still active");
}

fn rewritten(client: &Client) {
    let project = wired();
    project.write(
        ".claude/modes/base.yaml",
        r#"mode: base
gates:
  - id: says-hello
    on: PreToolUse(Bash)
    check: { run: { command: "echo '{\"ModifyInput\": {\"new_input\": {\"command\": \"echo REWRITTEN\", \"description\": \"x\"}}}'", rewrites: true } }
    context: The gate speaks.
"#,
    );
    let ran =
        client.run(&project, "Say something.", Script::main(vec![calls(vec![shell("echo ORIGINAL")]), says("Done.")]));
    ran.must_tell(MAIN, "REWRITTEN");
    ran.must_tell(MAIN, "The gate speaks.");
}
