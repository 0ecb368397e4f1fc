//! Stops that are blocked.

use crate::Case;
use crate::client::{Client, ClientRun, Hook, Session};
use crate::model::{Block, MAIN, Request, Script, Turn, agent, background, calls, edit, read, shell, text, write};
use crate::project::Project;
use crate::setup::{installed_project, mode_state};
use std::path::PathBuf;
use std::time::{Duration, Instant};

const PLAN: &str = "project/plans/plan_{session}_1.md";
const REPORT: &str = "project/research/research_{session}_1.md";
const REVIEW: &str = "project/reviews/review_{session}_1.md";

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("the planner is blocked until its plan exists", planner_until_the_plan),
        Case::new("an agent that follows the message is allowed to stop", planner_follows_the_message),
        Case::new("a background agent is blocked after the main agent has stopped", background_after_the_stop),
        Case::new("patience runs out and the parent reads it with the result", patience_in_the_foreground),
        Case::new("patience runs out and the parent reads it with the notification", patience_in_the_background),
        Case::new("an agent in a subfolder that takes the path literally is allowed to stop", subfolder),
        Case::new("in plan mode an agent is allowed to stop and the reason is given", plan_mode),
        Case::new("the consultant is blocked until marker and commit exist", consultant),
        Case::new("the reviewer is blocked until the review is complete", reviewer),
    ]
}

/// A project in which the planner may start.
fn researched() -> Project {
    let project = installed_project();
    project.write("project/research/research_earlier_1.md", "# Research\n");
    project
}

fn planner_until_the_plan(client: &Client) {
    let project = researched();
    let session = Session::new(&project);
    let plan = session.file(PLAN);
    let planner = vec![text("The plan is made."), calls(vec![write(&plan, "# Plan\n")]), text("The whole report.")];
    let script = Script::main(vec![calls(vec![agent("strategic-planner")]), text("All done.")]);
    let ran = session.run(client, "/plan a login page", script.agent("strategic-planner", planner));
    ran.check(ran.exits("SubagentStop") == [2, 0], "blocked once, then allowed");
    ran.check(ran.at("SubagentStop")[1].stdout.is_empty(), "an allowed stop prints nothing");
    let turns = ran.asked("strategic-planner");
    ran.check(turns[0].text().contains("When you stop, this is checked"), "it is briefed before its first turn");
    ran.check(!turns[0].text().contains("Plan not created."), "it has read no reason yet");
    ran.must_read("strategic-planner", "Plan not created. Continue working.");
    ran.must_read(MAIN, "The whole report.");
    ran.check(mode_state(&project, "plan_mode", &ran.id)["phase"] == "consult", "the mode moves on");
}

/// The path that the last message asks for.
fn wanted(request: &Request) -> Option<String> {
    let text = request.text();
    let (_, after) = text.rsplit_once("; write ")?;
    after.split(',').next().map(str::to_owned)
}

fn planner_follows_the_message(client: &Client) {
    let project = researched();
    project.write("project/status.json", r#"{"current_milestone": "MS-001", "milestone_description": "Log in"}"#);
    project.write("project/MS-001_Log in/research/research_earlier_1.md", "# Research\n");
    let home = project.home();
    let obeys: Turn = Box::new(move |request| match wanted(request) {
        Some(path) => vec![write(&home.join(path), "# Plan\n")],
        None => vec![Block::Text("No path was named.".to_owned())],
    });
    let script = Script::main(vec![calls(vec![agent("strategic-planner")]), text("All done.")]);
    let script = script.agent("strategic-planner", vec![text("Done."), obeys, text("The whole report.")]);
    let ran = client.run(&project, "/plan a login page", script);
    ran.check(ran.exits("SubagentStop") == [2, 0], "blocked once, then allowed");
    ran.must_read("strategic-planner", "project/MS-001_Log in/plans/plan_");
}

fn subfolder(client: &Client) {
    let project = researched();
    project.write("packages/web/index.html", "<p>\n");
    let obeys: Turn = Box::new(|request| match wanted(request) {
        Some(path) => vec![shell(&format!("mkdir -p \"$(dirname '{path}')\" && pwd && echo '# Plan' > '{path}'"))],
        None => vec![Block::Text("No path was named.".to_owned())],
    });
    let main = vec![
        calls(vec![shell("cd packages/web")]),
        calls(vec![agent("strategic-planner")]),
        calls(vec![shell("cd ../..")]),
        text("All done."),
    ];
    let planner = vec![text("Done."), obeys, text("The whole report.")];
    let ran = client.run(&project, "/plan a login page", Script::main(main).agent("strategic-planner", planner));
    ran.must_read("strategic-planner", "/packages/web\n");
    ran.check(ran.exits("SubagentStop") == [2, 0], "blocked once, then allowed");
    let brief = format!("this is checked: the file `{}/project/plans/plan_", project.home().display());
    ran.must_read("strategic-planner", &brief);
    ran.check(mode_state(&project, "plan_mode", &ran.id)["phase"] == "consult", "the mode moves on");
}

/// Whether the journal has an event of the session.
fn is_journaled(journal: &PathBuf, event: &str) -> bool {
    let name = format!(r#""hook_event_name":"{event}""#);
    std::fs::read_to_string(journal).is_ok_and(|text| text.lines().any(|line| line.contains(&name)))
}

/// A turn that waits until the journal has an event of the session.
fn after(journal: PathBuf, event: &'static str, text: &'static str) -> Turn {
    Box::new(move |_| {
        let begun = Instant::now();
        while !is_journaled(&journal, event) && begun.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(50));
        }
        vec![Block::Text(text.to_owned())]
    })
}

fn order(ran: &ClientRun) -> Vec<(&str, i64)> {
    let stops = ran.hooks.iter().filter(|hook| hook.name.starts_with("Stop") || hook.name.starts_with("SubagentStop"));
    stops.map(|hook| (hook.name.split(':').next().unwrap_or_default(), hook.exit)).collect()
}

fn background_after_the_stop(client: &Client) {
    let project = researched();
    let session = Session::new(&project);
    let plan = session.file(PLAN);
    let journal = session.file(".claude/hooks/sessions/{session}.jsonl");
    let planner =
        vec![after(journal, "Stop", "Done."), calls(vec![write(&plan, "# Plan\n")]), text("The whole report.")];
    let script =
        Script::main(vec![calls(vec![background("strategic-planner")]), text("It works on."), text("It is done.")]);
    let ran = session.run(client, "/plan a login page", script.agent("strategic-planner", planner));
    let order = order(&ran);
    ran.check(
        order == [("Stop", 0), ("SubagentStop", 2), ("SubagentStop", 0), ("Stop", 0)],
        &format!("the order is {order:?}"),
    );
    ran.check(ran.at("SubagentStop")[1].stdout.is_empty(), "an allowed stop prints nothing");
    ran.must_read("strategic-planner", "Plan not created. Continue working.");
    ran.check(mode_state(&project, "plan_mode", &ran.id)["phase"] == "consult", "the mode moves on");
}

fn patience_in_the_foreground(client: &Client) {
    let project = researched();
    let script = Script::main(vec![calls(vec![agent("strategic-planner")]), text("All done.")]);
    let ran = client.run(&project, "/plan a login page", script);
    ran.check(ran.exits("SubagentStop") == [2, 2, 2, 0], "blocked three times, then allowed");
    ran.must_read(MAIN, "strategic-planner was allowed to stop with its work unfinished: Plan not created.");
    let found = ran
        .at("PostToolUse:Agent")
        .iter()
        .any(|hook| hook.stdout.contains("was allowed to stop with its work unfinished"));
    ran.check(found, "with the result of the call");
    ran.check(mode_state(&project, "plan_mode", &ran.id)["phase"] == "draft", "the phase is not done");
}

fn patience_in_the_background(client: &Client) {
    let project = researched();
    let script = Script::main(vec![calls(vec![background("strategic-planner")]), text("It works on."), text("I see.")]);
    let ran = client.run(&project, "/plan a login page", script);
    ran.check(ran.exits("SubagentStop") == [2, 2, 2, 0], "blocked three times, then allowed");
    ran.must_read(MAIN, "strategic-planner was allowed to stop with its work unfinished: Plan not created.");
    let found = ran
        .at("UserPromptSubmit")
        .iter()
        .any(|hook| hook.stdout.contains("was allowed to stop with its work unfinished"));
    ran.check(found, "with the notification");
}

fn plan_mode(client: &Client) {
    let project = researched();
    // The host's own rules decide which tools it allows, not its model.
    let arguments = ["--permission-mode", "plan", "--settings", r#"{"useAutoModeDuringPlan": false}"#];
    let session = Session::new(&project).arguments(&arguments);
    let plan = session.file(PLAN);
    let planner = vec![calls(vec![write(&plan, "# Plan\n")]), text("I could not write it.")];
    let script = Script::main(vec![calls(vec![agent("strategic-planner")]), text("All done.")]);
    let ran = session.run(client, "/plan a login page", script.agent("strategic-planner", planner));
    ran.check(!plan.exists(), "the host allows no edit");
    ran.check(ran.exits("SubagentStop") == [0], "allowed at once");
    let activation = "Claude Code is in plan mode, which forbids edits: no agent can write";
    let shown = |hook: &&&Hook| hook.stdout.contains(&format!("systemMessage\":\"modegate: plan · {activation}"));
    let prompts = ran.hooks.iter().filter(|hook| hook.name.starts_with("UserPrompt")).collect::<Vec<_>>();
    ran.check(prompts.iter().filter(shown).count() == 1, "the user sees it once");
    ran.must_read(MAIN, activation);
    ran.must_read(
        MAIN,
        "strategic-planner was allowed to stop with its work unfinished, because Claude Code is in plan",
    );
    ran.must_read(MAIN, "Leave plan mode, then run the agent again.");
    ran.check(mode_state(&project, "plan_mode", &ran.id)["phase"] == "draft", "the phase is not done");
}

fn consultant(client: &Client) {
    let project = installed_project();
    let session = Session::new(&project);
    project.write("project/exploration/codebase-status_earlier_1.md", "# Status\n");
    let report = session.file(REPORT);
    project.write(&REPORT.replace("{session}", &session.id), "# Research\n");
    let turns = vec![
        text("Looks good."),
        calls(vec![read(&report)]),
        calls(vec![edit(&report, "# Research", "---\nvalidated_by: research-consultant\n---\n# Research")]),
        text("It is marked."),
        calls(vec![shell("git add project && git commit -q -m research")]),
        text("It is marked and committed."),
    ];
    let script = Script::main(vec![calls(vec![agent("research-consultant")]), text("All done.")]);
    let ran = session.run(client, "/research logins", script.agent("research-consultant", turns));
    ran.check(ran.exits("SubagentStop") == [2, 2, 0], "blocked for both, blocked for the commit, allowed");
    let stops = ran.at("SubagentStop");
    ran.check(stops[0].stderr.contains("Research not validated. Add frontmatter."), "the marker is missing");
    ran.check(stops[0].stderr.contains("Research not committed."), "so is the commit");
    ran.check(!stops[1].stderr.contains("not validated"), "then the marker is there");
    ran.check(stops[1].stderr.contains("Research not committed."), "and the commit is not");
    ran.must_read(MAIN, "It is marked and committed.");
}

fn reviewer(client: &Client) {
    let project = installed_project();
    project.write("src/main.rs", "fn main() {}\n");
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "code"]);
    let session = Session::new(&project);
    let review = session.file(REVIEW);
    let review_text = |end: &str| format!("# Summary\nOne function.\n{end}");
    let complete = review_text(&format!("# Findings\n{}\n", "It does nothing, and does it well. ".repeat(8)));
    let shell_write =
        |text: &str| shell(&format!("mkdir -p project/reviews && cat > '{}' <<'END'\n{text}\nEND", review.display()));
    let turns = vec![
        text("Fine."),
        calls(vec![write(&review, &review_text(""))]),
        text("Reviewed."),
        calls(vec![shell_write(&complete)]),
        text("The review is written."),
    ];
    let script = Script::main(vec![calls(vec![agent("code-reviewer")]), text("All done.")]);
    let ran = session.run(client, "/code-review", script.agent("code-reviewer", turns));
    ran.check(ran.exits("UserPromptSubmit") == [0], "the command is allowed");
    ran.check(ran.exits("SubagentStop") == [2, 2, 0], "blocked for the file, blocked for its content, allowed");
    ran.check(ran.at("SubagentStop")[0].stderr.contains("Review file not found."), "no file");
    ran.check(ran.at("SubagentStop")[1].stderr.contains("Review incomplete. Missing sections/content."), "half a file");
    ran.check(
        mode_state(&project, "code_review_mode", &ran.id)["is_active"] == false,
        "the mode ends with its last phase",
    );
    ran.must_read(MAIN, "Code review complete.");
}
