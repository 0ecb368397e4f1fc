//! Gates that are always active.

use crate::Case;
use crate::client::{Client, Session};
use crate::model::{MAIN, Script, calls, shell, text, write};
use crate::setup::{installed_project, modegate};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("a command that would delete the home is blocked", dangerous),
        Case::new("the model cannot change modegate's own files", protected),
        Case::new("hook entries that a script removed are put back", restored),
        Case::new("a project's modes are used once a person trusts them", trusted),
        Case::new("a gate's program rewrites a tool's input and adds context", rewritten),
        Case::new("the environment tells a tool from a hook", environment),
    ]
}

fn dangerous(client: &Client) {
    let project = installed_project();
    let script = Script::main(vec![calls(vec![shell("cd / && rm -rf \"$HOME\"/*")]), text("I was blocked.")]);
    let ran = client.run(&project, "Clean up.", script);
    ran.check(ran.exits("PreToolUse:Bash") == [2], "the command is blocked");
    ran.must_read(
        MAIN,
        "Security Policy Violation. System folders, system files and the home folder must not be deleted.",
    );
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

fn restored(client: &Client) {
    let project = installed_project();
    let settings = project.read(".claude/settings.json");
    // No line of it names the file, and no rule can know what it does.
    project.write("fix.py", "import pathlib\npathlib.Path('.claude', 'settings' + '.json').write_text('{}')\n");
    let later = shell("sleep 3; echo later");
    let turns = vec![calls(vec![shell("python3 fix.py")]), calls(vec![later]), text("Done.")];
    let ran = client.run(&project, "Fix it.", Script::main(turns));
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap_or_default();
    ran.check(json(&project.read(".claude/settings.json")) == json(&settings), "the entries are back");
    ran.must_read(MAIN, "were removed during this session and were restored");
    ran.check(ran.exits("Stop") == [0], "and hooks run again");
}

fn trusted(client: &Client) {
    let project = installed_project();
    project.write(
        ".claude/modes/base.yaml",
        "mode: base\ngates: [{ id: own, on: PreToolUse(Bash), check: { not: { command: touch } }, else: Own rule. }]\n",
    );
    let run = || {
        let script = Script::main(vec![calls(vec![shell("touch a")]), text("Done.")]);
        Session::new(&project).variable("MODEGATE_TRUST", "0").run(client, "Touch a.", script)
    };
    let ran = run();
    ran.check(ran.exits("PreToolUse:Bash") == [0], "the project's gate is not used");
    let start = ran.at("SessionStart").iter().map(|hook| hook.stdout.clone()).collect::<String>();
    ran.check(start.contains("you have not trusted this project"), "the session's start says so");
    modegate(&project, &["trust", "--yes"]);
    let ran = run();
    ran.check(ran.exits("PreToolUse:Bash") == [2], "the project's gate is used");
    ran.must_read(MAIN, "Own rule.");
    let start = ran.at("SessionStart").iter().map(|hook| hook.stdout.clone()).collect::<String>();
    ran.check(!start.contains("trusted"), "nothing is left to say");
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

fn environment(client: &Client) {
    let project = installed_project();
    project.write(
        ".claude/modes/base.yaml",
        r#"mode: base
gates:
  - id: names-its-caller
    on: PreToolUse(Bash)
    check: { run: 'echo "[\"allow\", \"hook:$AI_AGENT:\"]"' }
"#,
    );
    let line = "echo \"tool:$AI_AGENT:${CLAUDE_PROJECT_DIR:+folder}:\"";
    let ran = client.run(&project, "Who are you?", Script::main(vec![calls(vec![shell(line)]), text("Done.")]));
    ran.must_read(MAIN, "_harness:");
    ran.must_read(MAIN, "_agent::");
}
