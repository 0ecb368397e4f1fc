//! What may not begin yet.

use crate::Case;
use crate::client::Client;
use crate::model::{MAIN, Script, agent, calls, says};
use crate::stage::wired;

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("the planner is refused while there is no research", planner_without_research),
        Case::new("a review is refused while code is uncommitted", review_of_uncommitted_code),
        Case::new("a reviewer is refused on uncommitted code without the mode too", reviewer_without_the_mode),
    ]
}

fn planner_without_research(client: &Client) {
    let project = wired();
    let script = Script::main(vec![calls(vec![agent("strategic-planner")]), says("I was refused.")]);
    let ran = client.run(&project, "/plan a login page", script);
    ran.must(ran.exit == Some(0), "the client goes on");
    ran.must(ran.exits("PreToolUse:Agent") == [2], "the start is refused");
    ran.must(ran.at("SubagentStart").is_empty(), "no subagent started");
    ran.must_tell(MAIN, "Research report not found. Call research-specialist first.");
}

fn review_of_uncommitted_code(client: &Client) {
    let project = wired();
    project.write("src/main.rs", "fn main() {}\n");
    let ran = client.run(&project, "/code-review", Script::default());
    // Which of the two events of a command comes first is the client's affair; the other does not come any more.
    let refused: Vec<_> = ran.at("UserPromptSubmit").into_iter().chain(ran.at("UserPromptExpansion")).collect();
    ran.must(refused.len() == 1 && refused[0].exit == 2, "the command is refused");
    ran.must(ran.asked(MAIN).is_empty(), "the model never hears of it");
    ran.must(ran.result().contains("Code not committed. Complete coding first."), "the person reads why");
    ran.must(project.cache()["code_review_mode"].is_null(), "no mode is active");
}

fn reviewer_without_the_mode(client: &Client) {
    let project = wired();
    project.write(".claude/hooks/.gitkeep", "");
    project.write("src/main.rs", "fn main() {}\n");
    let turns = || Script::main(vec![calls(vec![agent("code-reviewer")]), says("That is all.")]);
    let ran = client.run(&project, "Please have the code reviewed.", turns());
    ran.must(ran.exits("PreToolUse:Agent") == [2], "the start is refused");
    ran.must_tell(MAIN, "Code not committed.");
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "code"]);
    let ran = client.run(&project, "Please have the code reviewed.", turns());
    ran.must(ran.exits("PreToolUse:Agent") == [0], "a clean tree opens the start");
    ran.must(ran.exits("SubagentStop") == [0], "without the mode no stop is gated");
}
