//! What may not end yet.

use crate::Case;
use crate::client::{Client, Ran, Session};
use crate::model::{Block, MAIN, Request, Script, Turn, agent, background, calls, edit, read, says, shell, write};
use crate::project::Project;
use crate::stage::{standing, wired};
use std::path::PathBuf;
use std::time::{Duration, Instant};

const PLAN: &str = "project/plans/plan_{session}_1.md";
const REPORT: &str = "project/research/research_{session}_1.md";
const REVIEW: &str = "project/reviews/review_{session}_1.md";

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("the planner is held until its plan exists", planner_until_the_plan),
        Case::new("a model that does as it is told gets free", planner_as_told),
        Case::new("a background agent is held after the main agent has stopped", background_after_the_stop),
        Case::new("patience ends and the returning agent's parent is told", patience_in_the_foreground),
        Case::new("patience ends and the notification tells the parent", patience_in_the_background),
        Case::new("the consultant is held for the marker and the commit", consultant),
        Case::new("the reviewer is held until the review is complete", reviewer),
    ]
}

/// A project in which the planner may start.
fn researched() -> Project {
    let project = wired();
    project.write("project/research/research_earlier_1.md", "# Research\n");
    project
}

fn planner_until_the_plan(client: &Client) {
    let project = researched();
    let session = Session::new(&project);
    let plan = session.file(PLAN);
    let planner = vec![says("The plan is made."), calls(vec![write(&plan, "# Plan\n")]), says("The whole report.")];
    let script = Script::main(vec![calls(vec![agent("strategic-planner")]), says("All done.")]);
    let ran = session.run(client, "/plan a login page", script.agent("strategic-planner", planner));
    ran.must(ran.exits("SubagentStop") == [2, 0], "held once, then released");
    ran.must(ran.at("SubagentStop")[1].stdout.is_empty(), "the release says nothing");
    let turns = ran.asked("strategic-planner");
    ran.must(turns[0].text().contains("Before you may stop, this is checked"), "it is briefed before its first turn");
    ran.must(!turns[0].text().contains("Plan not created."), "and reads no reason yet");
    ran.must_tell("strategic-planner", "Plan not created. Continue working.");
    ran.must_tell(MAIN, "The whole report.");
    ran.must(standing(&project, "plan_mode", &ran.id)["phase"] == "consult", "the mode moves on");
}

/// The path that the last message asks for.
fn wanted(request: &Request) -> Option<String> {
    let text = request.text();
    let (_, after) = text.rsplit_once("; write ")?;
    after.split(',').next().map(str::to_owned)
}

fn planner_as_told(client: &Client) {
    let project = researched();
    project.write("project/status.json", r#"{"current_milestone": "MS-001", "milestone_description": "Log in"}"#);
    project.write("project/MS-001_Log in/research/research_earlier_1.md", "# Research\n");
    let home = project.home();
    let obeys: Turn = Box::new(move |request| match wanted(request) {
        Some(path) => vec![write(&home.join(path), "# Plan\n")],
        None => vec![Block::Text("I was not told a path.".to_owned())],
    });
    let script = Script::main(vec![calls(vec![agent("strategic-planner")]), says("All done.")]);
    let script = script.agent("strategic-planner", vec![says("Done."), obeys, says("The whole report.")]);
    let ran = client.run(&project, "/plan a login page", script);
    ran.must(ran.exits("SubagentStop") == [2, 0], "held once, then released");
    ran.must_tell("strategic-planner", "project/MS-001_Log in/plans/plan_");
}

/// Whether modegate has heard an event of the session.
fn has_heard(journal: &PathBuf, event: &str) -> bool {
    let name = format!(r#""hook_event_name":"{event}""#);
    std::fs::read_to_string(journal).is_ok_and(|text| text.lines().any(|line| line.contains(&name)))
}

/// A turn that is spoken only when modegate has heard an event of the session.
fn after(journal: PathBuf, event: &'static str, text: &'static str) -> Turn {
    Box::new(move |_| {
        let begun = Instant::now();
        while !has_heard(&journal, event) && begun.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(50));
        }
        vec![Block::Text(text.to_owned())]
    })
}

fn order(ran: &Ran) -> Vec<(&str, i64)> {
    let stops = ran.hooks.iter().filter(|hook| hook.name.starts_with("Stop") || hook.name.starts_with("SubagentStop"));
    stops.map(|hook| (hook.name.split(':').next().unwrap_or_default(), hook.exit)).collect()
}

fn background_after_the_stop(client: &Client) {
    let project = researched();
    let session = Session::new(&project);
    let plan = session.file(PLAN);
    let journal = session.file(".claude/hooks/sessions/{session}.jsonl");
    let planner =
        vec![after(journal, "Stop", "Done."), calls(vec![write(&plan, "# Plan\n")]), says("The whole report.")];
    let script =
        Script::main(vec![calls(vec![background("strategic-planner")]), says("It works on."), says("It is done.")]);
    let ran = session.run(client, "/plan a login page", script.agent("strategic-planner", planner));
    let order = order(&ran);
    ran.must(
        order == [("Stop", 0), ("SubagentStop", 2), ("SubagentStop", 0), ("Stop", 0)],
        &format!("the order is {order:?}"),
    );
    ran.must(ran.at("SubagentStop")[1].stdout.is_empty(), "the release says nothing");
    ran.must_tell("strategic-planner", "Plan not created. Continue working.");
    ran.must(standing(&project, "plan_mode", &ran.id)["phase"] == "consult", "the mode moves on");
}

fn patience_in_the_foreground(client: &Client) {
    let project = researched();
    let script = Script::main(vec![calls(vec![agent("strategic-planner")]), says("All done.")]);
    let ran = client.run(&project, "/plan a login page", script);
    ran.must(ran.exits("SubagentStop") == [2, 2, 2, 0], "held three times, then let go");
    ran.must_tell(MAIN, "strategic-planner was let go with its work unmet: Plan not created.");
    let told = ran.at("PostToolUse:Agent").iter().any(|hook| hook.stdout.contains("was let go with its work unmet"));
    ran.must(told, "with the result of the call");
    ran.must(standing(&project, "plan_mode", &ran.id)["phase"] == "draft", "the phase is not done");
}

fn patience_in_the_background(client: &Client) {
    let project = researched();
    let script = Script::main(vec![calls(vec![background("strategic-planner")]), says("It works on."), says("I see.")]);
    let ran = client.run(&project, "/plan a login page", script);
    ran.must(ran.exits("SubagentStop") == [2, 2, 2, 0], "held three times, then let go");
    ran.must_tell(MAIN, "strategic-planner was let go with its work unmet: Plan not created.");
    let told = ran.at("UserPromptSubmit").iter().any(|hook| hook.stdout.contains("was let go with its work unmet"));
    ran.must(told, "with the notification");
}

fn consultant(client: &Client) {
    let project = wired();
    let session = Session::new(&project);
    project.write("project/exploration/codebase-status_earlier_1.md", "# Status\n");
    let report = session.file(REPORT);
    project.write(&REPORT.replace("{session}", &session.id), "# Research\n");
    let turns = vec![
        says("Looks good."),
        calls(vec![read(&report)]),
        calls(vec![edit(&report, "# Research", "---\nvalidated_by: research-consultant\n---\n# Research")]),
        says("It is marked."),
        calls(vec![shell("git add project && git commit -q -m research")]),
        says("It is marked and committed."),
    ];
    let script = Script::main(vec![calls(vec![agent("research-consultant")]), says("All done.")]);
    let ran = session.run(client, "/research logins", script.agent("research-consultant", turns));
    ran.must(ran.exits("SubagentStop") == [2, 2, 0], "held for both, held for the commit, released");
    let held = ran.at("SubagentStop");
    ran.must(held[0].stderr.contains("Research not validated. Add frontmatter."), "the marker is missing");
    ran.must(held[0].stderr.contains("Research not committed."), "so is the commit");
    ran.must(!held[1].stderr.contains("not validated"), "then the marker is there");
    ran.must(held[1].stderr.contains("Research not committed."), "and the commit is not");
    ran.must_tell(MAIN, "It is marked and committed.");
}

fn reviewer(client: &Client) {
    let project = wired();
    project.write("src/main.rs", "fn main() {}\n");
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "code"]);
    let session = Session::new(&project);
    let review = session.file(REVIEW);
    let text = |end: &str| format!("# Summary\nOne function.\n{end}");
    let complete = text(&format!("# Findings\n{}\n", "It does nothing, and does it well. ".repeat(8)));
    let shell_write =
        |text: &str| shell(&format!("mkdir -p project/reviews && cat > '{}' <<'END'\n{text}\nEND", review.display()));
    let turns = vec![
        says("Fine."),
        calls(vec![write(&review, &text(""))]),
        says("Reviewed."),
        calls(vec![shell_write(&complete)]),
        says("The review is written."),
    ];
    let script = Script::main(vec![calls(vec![agent("code-reviewer")]), says("All done.")]);
    let ran = session.run(client, "/code-review", script.agent("code-reviewer", turns));
    ran.must(ran.exits("UserPromptSubmit") == [0], "the command is let through");
    ran.must(ran.exits("SubagentStop") == [2, 2, 0], "held for the file, held for its content, released");
    ran.must(ran.at("SubagentStop")[0].stderr.contains("Review file not found."), "no file");
    ran.must(ran.at("SubagentStop")[1].stderr.contains("Review incomplete. Missing sections/content."), "half a file");
    ran.must(
        standing(&project, "code_review_mode", &ran.id)["is_active"] == false,
        "the mode ends with its last phase",
    );
    ran.must_tell(MAIN, "Code review complete.");
}
