//! Parallel agents, and agents in a worktree of their own.

use crate::Case;
use crate::client::{Client, Session};
use crate::model::{Block, MAIN, Script, Turn, agent, background, calls, shell, text};
use crate::setup::{installed_project, mode_state};
use serde_json::json;

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("agents called together are checked one by one", together),
        Case::new("four agents in the background lose no count", four),
        Case::new("three agents of one phase must each write a file", three),
        Case::new("an agent's own worktree is where its evidence is", worktree),
    ]
}

fn together(client: &Client) {
    let project = installed_project();
    project.write("project/research/research_earlier_1.md", "# Research\n");
    project.write(".claude/agents/note-taker.md", "---\nname: note-taker\ndescription: notes\n---\nYou take notes.\n");
    let session = Session::new(&project);
    let plan = format!("project/plans/plan_{}_1.md", session.id);
    let planner = vec![
        text("Done."),
        calls(vec![shell(&format!("mkdir -p project/plans && echo '# Plan' > {plan}"))]),
        text("The whole report."),
    ];
    let names = ["strategic-planner", "consulting-expert", "note-taker"];
    let script = Script::main(vec![calls(names.map(agent).to_vec()), text("All done.")]);
    let script = script.agent("strategic-planner", planner).agent("note-taker", vec![text("The notes.")]);
    let ran = session.run(client, "/plan a login page", script);
    let mut starts = ran.exits("PreToolUse:Agent");
    starts.sort_unstable();
    ran.check(starts == [0, 0, 2], "only the expert is blocked");
    ran.must_read(MAIN, "Plan file not found. Call strategic-planner first.");
    let mut stops = ran.exits("SubagentStop");
    stops.sort_unstable();
    ran.check(stops == [0, 0, 2], "only the planner's stop is blocked, and once");
    ran.must_read(MAIN, "The whole report.");
    ran.must_read(MAIN, "The notes.");
    ran.check(mode_state(&project, "plan_mode", &ran.id)["phase"] == "consult", "the mode moves on");
}

fn four(client: &Client) {
    let project = installed_project();
    project.write("project/exploration/codebase-status_earlier_1.md", "# Status\n");
    let script = Script::main(vec![calls(vec![background("research-specialist"); 4]), text("They work on.")]);
    let ran = client.run(&project, "/research logins", script);
    let stops = ran.exits("SubagentStop");
    ran.check(stops.iter().filter(|exit| **exit == 2).count() == 12, "each stop is blocked three times");
    ran.check(stops.iter().filter(|exit| **exit == 0).count() == 4, "each is allowed in the end");
    let unmet = mode_state(&project, "research_mode", &ran.id)["unmet"].as_array().map_or(0, Vec::len);
    ran.check(unmet == 4, &format!("all four are recorded, not {unmet}"));
    let found =
        ran.text_read_by(MAIN).matches("research-specialist was allowed to stop with its work unfinished").count();
    ran.check(found >= 4, &format!("the parent reads about all four, not {found}"));
}

fn three(client: &Client) {
    let project = installed_project();
    project.write("project/exploration/codebase-status_earlier_1.md", "# Status\n");
    // Each one claims to be done, then writes the file that its briefing names.
    let obeys: Turn = Box::new(|request| {
        let text = request.text();
        let path = text.split_once("this is checked: the file `").and_then(|(_, rest)| rest.split('`').next());
        let path = path.unwrap_or("no-path-was-named");
        vec![shell(&format!("mkdir -p project/research && echo '# Report' > '{path}'"))]
    });
    let specialist = vec![text("Done."), obeys, text("The whole report.")];
    let script = Script::main(vec![calls(vec![agent("research-specialist"); 3]), text("All done.")]);
    let ran = client.run(&project, "/research logins", script.agent("research-specialist", specialist));
    let mut stops = ran.exits("SubagentStop");
    stops.sort_unstable();
    ran.check(stops == [0, 0, 0, 2, 2, 2], "each is blocked until it has written its own file");
    let reports = std::fs::read_dir(project.home().join("project/research")).into_iter().flatten().count();
    ran.check(reports == 3, &format!("three reports are written, not {reports}"));
    let journal = project.read(&format!(".claude/hooks/sessions/{}.jsonl", ran.id));
    let done = |line: &&str| line.contains("research: investigate done");
    ran.check(journal.lines().filter(done).count() == 1, "the last one completes the phase");
    ran.check(mode_state(&project, "research_mode", &ran.id)["phase"] == "validate", "the mode moves on");
}

fn worktree(client: &Client) {
    let project = installed_project();
    project.write("project/research/research_earlier_1.md", "# Research\n");
    let session = Session::new(&project);
    let plan = format!("project/plans/plan_{}_1.md", session.id);
    let planner = vec![
        text("Done."),
        calls(vec![shell(&format!("mkdir -p project/plans && echo '# Plan' > {plan} && pwd"))]),
        text("The whole report."),
    ];
    let alone = Block::Tool(
        "Agent",
        json!({"subagent_type": "strategic-planner", "description": "plan", "prompt": "Do your part.",
            "run_in_background": false, "isolation": "worktree"}),
    );
    let turns = vec![calls(vec![alone]), calls(vec![agent("consulting-expert")]), text("All done.")];
    let script = Script::main(turns).agent("strategic-planner", planner);
    let ran = session.run(client, "/plan a login page", script);
    ran.check(ran.exits("SubagentStop") == [2, 0], "blocked once, then allowed");
    ran.must_read("strategic-planner", "/.claude/worktrees/agent-");
    ran.check(!project.home().join(&plan).exists(), "the plan is not in the main checkout");
    ran.check(mode_state(&project, "plan_mode", &ran.id)["phase"] == "consult", "the mode moves on");
    let trees =
        std::fs::read_dir(project.home().join(".claude/worktrees")).into_iter().flatten().filter_map(Result::ok);
    let strays = trees.filter(|tree| tree.path().join(".claude/hooks/cache.json").exists()).count();
    ran.check(strays == 0, "the state stays in the main checkout");
    ran.check(ran.exits("PreToolUse:Agent") == [0, 2], "the next agent's start is blocked");
    ran.must_read(MAIN, "A matching file is in another worktree, .claude/worktrees/agent-");
}
