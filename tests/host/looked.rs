//! What the client does with settings, commands and programs: modegate rests on it.

use crate::Case;
use crate::client::{Client, Ran, Session};
use crate::model::{MAIN, Script, says};
use crate::project::Project;
use crate::stage::plain;
use serde_json::{Value, json};

pub fn cases() -> Vec<Case> {
    vec![
        Case::new("comments", comments),
        Case::new("commas", commas),
        Case::new("bom", bom),
        Case::new("user command", user_command),
        Case::new("path", path),
        Case::new("skill", skill),
        Case::new("failure", failure),
        Case::new("timeout", timeout),
        Case::new("subfolder", subfolder),
        Case::new("missing", missing),
    ]
}

fn hooks(events: &[&str], hook: &Value) -> String {
    let hooks: serde_json::Map<_, _> =
        events.iter().map(|event| ((*event).to_owned(), json!([{"hooks": [hook]}]))).collect();
    serde_json::to_string_pretty(&json!({"hooks": hooks})).unwrap()
}

const TWO: [&str; 2] = ["UserPromptSubmit", "Stop"];

fn echo(word: &str) -> Value {
    json!({"type": "command", "command": format!("echo {word}")})
}

fn show(what: &str, ran: &Ran) {
    let result =
        ran.events.iter().rev().find(|event| event["type"] == "result").map(|event| event["result"].to_string());
    eprintln!("#### {what}: {}\nresult {result:?}\nheard {}\n", ran.told(), ran.heard(MAIN).len());
}

fn probe(client: &Client, what: &str, settings: impl AsRef<[u8]>) {
    let project = plain();
    project.write(".claude/settings.json", settings);
    show(what, &client.run(&project, "Hello.", Script::main(vec![says("Hi.")])));
}

fn comments(client: &Client) {
    let text = hooks(&TWO, &echo("here"));
    probe(client, "none", &text);
    probe(client, "line comment", format!("// a comment\n{text}"));
    probe(client, "block comment inside", text.replacen('{', "{ /* a comment */", 1));
}

fn commas(client: &Client) {
    let text = hooks(&TWO, &echo("here"));
    let at = text.rfind('}').unwrap();
    probe(client, "trailing comma", format!("{},\n}}", text[..at].trim_end()));
}

fn bom(client: &Client) {
    probe(client, "byte order mark", format!("\u{feff}{}", hooks(&TWO, &echo("here"))));
}

const ALL: [&str; 4] = ["UserPromptSubmit", "UserPromptExpansion", "PreToolUse", "Stop"];

fn user_command(client: &Client) {
    let project = plain();
    project.write(".claude/settings.json", hooks(&ALL, &json!({"type": "command", "command": "cat"})));
    project.write("../.claude/commands/plan.md", "---\ndescription: plan\n---\nPlan THIS $ARGUMENTS\n");
    let ran = client.run(&project, "/plan a page", Script::main(vec![says("Hi.")]));
    show("user command", &ran);
    eprintln!("expanded {}", ran.heard(MAIN).contains("Plan THIS a page"));
}

fn path(client: &Client) {
    let project = plain();
    project.write("../bin/modeprobe", "#!/bin/sh\necho found $1\n");
    project.shell("chmod +x ../bin/modeprobe");
    project.write(
        ".claude/settings.json",
        hooks(&TWO, &json!({"type": "command", "command": "modeprobe", "args": ["hook"]})),
    );
    let paths = format!("{}:{}", project.home().join("../bin").display(), std::env::var("PATH").unwrap());
    show("path", &Session::new(&project).with("PATH", paths).run(client, "Hello.", Script::main(vec![says("Hi.")])));
}

fn skill(client: &Client) {
    let project = plain();
    project.write(".claude/settings.json", hooks(&ALL, &json!({"type": "command", "command": "cat"})));
    project.write(".claude/skills/plan/SKILL.md", "---\nname: plan\ndescription: plan\n---\nPlan THIS $ARGUMENTS\n");
    let ran = client.run(&project, "/plan a page", Script::main(vec![says("Hi.")]));
    show("skill", &ran);
    eprintln!("expanded {}", ran.heard(MAIN).contains("Plan THIS a page"));
}

fn failure(client: &Client) {
    let gone = json!({"type": "command", "command": "${CLAUDE_PROJECT_DIR}/.claude/hooks/gone", "args": ["hook"], "onFailure": "block"});
    probe(client, "onFailure", hooks(&TWO, &gone));
    let project = plain();
    project.write(".claude/settings.json", hooks(&["PreToolUse", "Stop", "SubagentStop"], &gone));
    let script = Script::main(vec![crate::model::calls(vec![crate::model::shell("echo hi")]), says("Hi.")]);
    let ran = client.run(&project, "Hello.", script);
    show("onFailure at tool", &ran);
    eprintln!("{}", ran.heard(MAIN).chars().rev().take(400).collect::<String>().chars().rev().collect::<String>());
}

fn missing(client: &Client) {
    let gone = json!({"type": "command", "command": "${CLAUDE_PROJECT_DIR}/.claude/hooks/gone", "args": ["hook"], "timeout": 75});
    probe(client, "missing", hooks(&TWO, &gone));
}

fn timeout(client: &Client) {
    let slow = |seconds: Option<u32>| {
        let mut hook = json!({"type": "command", "command": "sleep 33; echo woke"});
        if let Some(seconds) = seconds {
            hook["timeout"] = seconds.into();
        }
        hooks(&["UserPromptSubmit"], &hook)
    };
    probe(client, "timeout 75", slow(Some(75)));
    probe(client, "timeout default", slow(None));
}

fn subfolder(client: &Client) {
    let project: Project = plain();
    project.write(".claude/settings.json", hooks(&["UserPromptSubmit"], &echo("root-settings")));
    project.write(".claude/settings.local.json", hooks(&["UserPromptSubmit"], &echo("root-local $CLAUDE_PROJECT_DIR")));
    project.write("sub/.claude/settings.json", hooks(&["UserPromptSubmit"], &echo("sub-settings $CLAUDE_PROJECT_DIR")));
    project.write("sub/.claude/settings.local.json", hooks(&["UserPromptSubmit"], &echo("sub-local")));
    project.write("other/x", "");
    for folder in ["", "sub", "other"] {
        let ran = Session::new(&project).within(folder).run(client, "Hello.", Script::main(vec![says("Hi.")]));
        show(&format!("in folder {folder:?}"), &ran);
    }
}
