//! Agents beside each other, and agents in a tree of their own.

use crate::Case;
use crate::client::{Client, Session};
use crate::model::{Block, MAIN, Script, agent, background, calls, says, shell};
use crate::stage::{standing, wired};
use serde_json::json;

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("agents called together are judged each by itself", together),
        Case::new("four agents in the background lose no count", four),
        Case::new("an agent's own worktree is where its evidence is", worktree),
    ]
}

fn together(client: &Client) {
    let project = wired();
    project.write("project/research/research_earlier_1.md", "# Research\n");
    project.write(".claude/agents/note-taker.md", "---\nname: note-taker\ndescription: notes\n---\nYou take notes.\n");
    let session = Session::new(&project);
    let plan = format!("project/plans/plan_{}_1.md", session.id);
    let planner = vec![
        says("Done."),
        calls(vec![shell(&format!("mkdir -p project/plans && echo '# Plan' > {plan}"))]),
        says("The whole report."),
    ];
    let names = ["strategic-planner", "consulting-expert", "note-taker"];
    let script = Script::main(vec![calls(names.map(agent).to_vec()), says("All done.")]);
    let script = script.agent("strategic-planner", planner).agent("note-taker", vec![says("The notes.")]);
    let ran = session.run(client, "/plan a login page", script);
    let mut starts = ran.exits("PreToolUse:Agent");
    starts.sort_unstable();
    ran.must(starts == [0, 0, 2], "only the expert is refused");
    ran.must_tell(MAIN, "Plan file not found. Call strategic-planner first.");
    let mut stops = ran.exits("SubagentStop");
    stops.sort_unstable();
    ran.must(stops == [0, 0, 2], "only the planner is held, and once");
    ran.must_tell(MAIN, "The whole report.");
    ran.must_tell(MAIN, "The notes.");
    ran.must(standing(&project, "plan_mode", &ran.id)["phase"] == "consult", "the mode moves on");
}

fn four(client: &Client) {
    let project = wired();
    project.write("project/exploration/codebase-status_earlier_1.md", "# Status\n");
    let script = Script::main(vec![calls(vec![background("research-specialist"); 4]), says("They work on.")]);
    let ran = client.run(&project, "/research logins", script);
    let stops = ran.exits("SubagentStop");
    ran.must(stops.iter().filter(|exit| **exit == 2).count() == 12, "each is held three times");
    ran.must(stops.iter().filter(|exit| **exit == 0).count() == 4, "each is let go");
    let unmet = standing(&project, "research_mode", &ran.id)["unmet"].as_array().map_or(0, Vec::len);
    ran.must(unmet == 4, &format!("all four are noted, not {unmet}"));
    let told = ran.heard(MAIN).matches("research-specialist was let go with its work unmet").count();
    ran.must(told >= 4, &format!("the parent is told of all four, not of {told}"));
}

fn worktree(client: &Client) {
    let project = wired();
    project.write("project/research/research_earlier_1.md", "# Research\n");
    let session = Session::new(&project);
    let plan = format!("project/plans/plan_{}_1.md", session.id);
    let planner = vec![
        says("Done."),
        calls(vec![shell(&format!("mkdir -p project/plans && echo '# Plan' > {plan} && pwd"))]),
        says("The whole report."),
    ];
    let alone = Block::Tool(
        "Agent",
        json!({"subagent_type": "strategic-planner", "description": "plan", "prompt": "Do your part.",
            "run_in_background": false, "isolation": "worktree"}),
    );
    let script = Script::main(vec![calls(vec![alone]), says("All done.")]).agent("strategic-planner", planner);
    let ran = session.run(client, "/plan a login page", script);
    ran.must(ran.exits("SubagentStop") == [2, 0], "held once, then released");
    ran.must_tell("strategic-planner", "/.claude/worktrees/agent-");
    ran.must(!project.home().join(&plan).exists(), "the plan is not in the main checkout");
    ran.must(standing(&project, "plan_mode", &ran.id)["phase"] == "consult", "the mode moves on");
    let trees =
        std::fs::read_dir(project.home().join(".claude/worktrees")).into_iter().flatten().filter_map(Result::ok);
    let strays = trees.filter(|tree| tree.path().join(".claude/hooks/cache.json").exists()).count();
    ran.must(strays == 0, "the state stays in the main checkout");
}
