//! Starts that are blocked.

use crate::Case;
use crate::client::{Client, ClientRun, Session, Version};
use crate::model::{Block, MAIN, Request, Script, agent, calls, shell, text};
use crate::setup::{installed_project, mode_state};
use serde_json::json;

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("the planner is blocked without research", planner_without_research),
        Case::new("a review is blocked on uncommitted code", review_of_uncommitted_code),
        Case::new("a reviewer on uncommitted code gets a warning outside the mode too", reviewer_without_the_mode),
        Case::new("a message to an agent that has stopped counts as a start", message)
            .since(Version(2, 1, 198), "the model has no SendMessage"),
        Case::new("an agent that a skill starts is blocked through its tools", forked_skill),
        Case::new("an agent that a workflow starts is blocked through its tools", workflow)
            .since(Version(2, 1, 198), "the model has no Workflow"),
        Case::new("a teammate counts by its type, not by its name", teammates)
            .since(Version(2, 1, 198), "teams are not tested")
            .in_terminal(),
    ]
}

fn planner_without_research(client: &Client) {
    let project = installed_project();
    let script = Script::main(vec![calls(vec![agent("strategic-planner")]), text("I was blocked.")]);
    let ran = client.run(&project, "/plan a login page", script);
    ran.check(ran.exit == Some(0), "the client continues");
    ran.check(ran.exits("PreToolUse:Agent") == [2], "the start is blocked");
    ran.check(ran.at("SubagentStart").is_empty(), "no subagent started");
    ran.must_read(MAIN, "Research report not found. Call research-specialist first.");
}

fn review_of_uncommitted_code(client: &Client) {
    let project = installed_project();
    project.write("src/main.rs", "fn main() {}\n");
    let ran = client.run(&project, "/code-review", Script::default());
    // Which of the two events of a command comes first depends on the client; after a block the other one is not sent.
    let blocked: Vec<_> = ran.at("UserPromptSubmit").into_iter().chain(ran.at("UserPromptExpansion")).collect();
    ran.check(blocked.len() == 1 && blocked[0].exit == 2, "the command is blocked");
    ran.check(ran.asked(MAIN).is_empty(), "the model is never asked");
    let shown = if client.version <= Version(2, 1, 145) { ran.prompt_block() } else { &ran.result() };
    ran.check(shown.contains("Code not committed. Complete coding first."), "the person reads why");
    ran.check(project.cache()["code_review_mode"].is_null(), "no mode is active");
}

fn reviewer_without_the_mode(client: &Client) {
    let project = installed_project();
    project.write(".claude/hooks/.gitkeep", "");
    project.write("src/main.rs", "fn main() {}\n");
    let turns = || Script::main(vec![calls(vec![agent("code-reviewer")]), text("That is all.")]);
    let ran = client.run(&project, "Please have the code reviewed.", turns());
    ran.check(ran.exits("PreToolUse:Agent") == [0], "the start is allowed");
    ran.must_read(MAIN, "Code not committed.");
    project.write(".claude/modegate.yaml", "levels: { code-is-committed-before-review: enforce }\n");
    let ran = client.run(&project, "Please have the code reviewed.", turns());
    ran.check(ran.exits("PreToolUse:Agent") == [2], "a project can insist");
    ran.must_read(MAIN, "Code not committed.");
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "code"]);
    let ran = client.run(&project, "Please have the code reviewed.", turns());
    ran.check(ran.exits("PreToolUse:Agent") == [0], "a clean tree opens the start");
    ran.check(ran.exits("SubagentStop") == [0], "without the mode no stop is gated");
}

const NO_RESEARCH: &str = "Research report not found. Call research-specialist first.";

/// The id of the agent that the main agent was told last.
fn last_agent(request: &Request) -> String {
    let text = request.text();
    let id = text.rsplit("agentId: ").next().unwrap_or_default();
    id.chars().take_while(char::is_ascii_alphanumeric).collect()
}

fn message(client: &Client) {
    let project = installed_project();
    project.write("project/research/research_earlier_1.md", "# Research\n");
    let session = Session::new(&project);
    let plan = format!("project/plans/plan_{}_1.md", session.id);
    let planner = vec![calls(vec![shell(&format!("mkdir -p project/plans && echo x > {plan}"))]), text("Planned.")];
    let send = Box::new(|request: &Request| {
        vec![Block::Tool("SendMessage", json!({"to": last_agent(request), "summary": "once more", "message": "More."}))]
    });
    let turns = vec![
        calls(vec![agent("strategic-planner")]),
        calls(vec![shell("rm project/research/research_earlier_1.md")]),
        send,
        text("I was blocked."),
    ];
    let ran = session.run(client, "/plan a login page", Script::main(turns).agent("strategic-planner", planner));
    ran.check(ran.exits("PreToolUse:Agent") == [0], "the first start is allowed");
    ran.check(ran.exits("PreToolUse:SendMessage") == [2], "the message is blocked");
    ran.check(ran.at("SubagentStart").len() == 1, "the planner does not start again");
    ran.must_read(MAIN, NO_RESEARCH);
}

fn forked_skill(client: &Client) {
    let project = installed_project();
    let skill = "---\nname: quick-plan\ndescription: plans\ncontext: fork\nagent: strategic-planner\n---\nPlan it.\n";
    project.write(".claude/skills/quick-plan/SKILL.md", skill);
    let turns = vec![calls(vec![Block::Tool("Skill", json!({"skill": "quick-plan"}))]), text("That was all.")];
    let planner = vec![calls(vec![shell("echo x > written.txt")]), text("I was blocked.")];
    let ran = client.run(&project, "/plan a login page", Script::main(turns).agent("strategic-planner", planner));
    check_blocked_tools(&ran);
    ran.check(!project.home().join("written.txt").exists(), "it has written nothing");
    ran.must_read(MAIN, "strategic-planner has started, but its gate blocks it");
    ran.check(mode_state(&project, "plan_mode", &ran.id)["phase"] == "draft", "its phase is not done");
}

fn workflow(client: &Client) {
    let project = installed_project();
    let script = "export const meta = {name: 'plan', description: 'plans'}\n\
        return await agent('plan it', {agentType: 'strategic-planner', label: 'p'})\n";
    let turns = vec![calls(vec![Block::Tool("Workflow", json!({"script": script}))]), text("That was all.")];
    let planner = vec![calls(vec![shell("echo x > written.txt")]), text("I was blocked.")];
    let ran = client.run(&project, "/plan a login page", Script::main(turns).agent("strategic-planner", planner));
    check_blocked_tools(&ran);
    ran.check(!project.home().join("written.txt").exists(), "it has written nothing");
}

/// Checks that the planner has started without a call of `Agent`, and could do nothing.
#[track_caller]
fn check_blocked_tools(ran: &ClientRun) {
    ran.check(ran.at("PreToolUse:Agent").is_empty(), "no call of Agent announces it");
    ran.check(ran.exits("PreToolUse:Bash") == [2], "its tool is blocked");
    ran.check(ran.exits("SubagentStop") == [0], "its stop is allowed");
    ran.must_read("strategic-planner", "modegate: your start is blocked.");
    ran.must_read("strategic-planner", NO_RESEARCH);
}

fn teammates(client: &Client) {
    let project = installed_project();
    project.write("project/research/research_earlier_1.md", "# Research\n");
    project.write(".claude/agents/note-taker.md", "---\nname: note-taker\ndescription: notes\n---\nYou take notes.\n");
    let mate = |kind: &str, name: &str| {
        Block::Tool(
            "Agent",
            json!({"subagent_type": kind, "name": name, "description": kind, "prompt": "Do your part."}),
        )
    };
    let turns =
        vec![calls(vec![mate("strategic-planner", "pat"), mate("note-taker", "consulting-expert")]), text("Go.")];
    let session = Session::new(&project).variable("CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS", "1");
    let terminal = session.open(client, Script::main(turns).agent("note-taker", vec![text("The notes.")]));
    terminal.enter("/plan a login page");
    terminal.wait_until("the planner is blocked three times, then allowed", |ran| {
        ran.exits("SubagentStop:pat") == [2, 2, 2, 0]
    });
    terminal.wait_until("the helper stops", |ran| ran.exits("SubagentStop:consulting-expert") == [0]);
    let ran = terminal.finish();
    ran.check(mode_state(&project, "plan_mode", &ran.id)["is_active"] == true, "the helper does not complete the mode");
}
