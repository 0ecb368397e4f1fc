//! A whole session of each mode, from its command to its end, with blocks on the way.
//!
//! With `MODEGATE_KEEP_RECORDINGS=DIR` each is exported as `DIR/<mode>.jsonl`; `fixtures/recordings` is made so.

use crate::Case;
use crate::client::{Client, ClientRun, Session};
use crate::model::{Block, Script, Turn, agent, calls, edit, read, shell, text, write};
use crate::project::Project;
use crate::setup::{installed_project, mode_state, modegate};
use serde_json::json;
use std::path::{Path, PathBuf};

const STATUS: &str = "project/exploration/codebase-status_{session}_1.md";
const REPORT: &str = "project/research/research_{session}_1.md";
const PLAN: &str = "project/plans/plan_{session}_1.md";
const REVIEW: &str = "project/reviews/review_{session}_1.md";

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("explore", explore),
        Case::new("research", research),
        Case::new("plan", plan),
        Case::new("code", code),
        Case::new("code-review", code_review),
        Case::new("implement", implement),
    ]
}

/// One command that calls one tool.
fn does(block: Block) -> Turn {
    calls(vec![block])
}

fn skill(name: &str) -> Turn {
    does(Block::Tool("Skill", json!({"skill": name, "args": "a sum"})))
}

/// The mode has ended with its work done; the session is kept where somebody asks for it.
#[track_caller]
fn ended(project: &Project, ran: &ClientRun, mode: &str, namespace: &str) {
    let mode_state = mode_state(project, namespace, &ran.id);
    ran.check(mode_state["ended"] == "complete", &format!("{mode} ends complete: {mode_state}"));
    let Some(folder) = std::env::var_os("MODEGATE_KEEP_RECORDINGS") else { return };
    let file = PathBuf::from(folder).join(format!("{mode}.jsonl"));
    let output =
        modegate(project, &["record", "export", &ran.id, "--force", "--json", "--out", &file.to_string_lossy()]);
    let report = &output.json()["report"];
    for kind in ["left_out", "partly_masked"] {
        assert!(report[kind].as_array().is_some_and(Vec::is_empty), "{mode}: {report}");
    }
}

/// What the explorer does: it forgets its file and is blocked.
fn explorer(status: &Path) -> Vec<Turn> {
    vec![
        text("I have looked around."),
        does(write(status, "# Status\n\nNothing yet.\n")),
        text("The status is written."),
    ]
}

/// What an agent does that replaces a file and stops.
fn writer(file: &Path, content: &str) -> Vec<Turn> {
    vec![does(read(file)), does(write(file, content)), text("It is written.")]
}

fn specialist(report: &Path) -> Vec<Turn> {
    vec![text("I know enough."), does(write(report, "# Research\n\nShells can add.\n")), text("The report is written.")]
}

/// What the consultant does: it forgets the marker, then the commit.
fn consultant(report: &Path) -> Vec<Turn> {
    vec![
        text("Looks good."),
        does(read(report)),
        does(edit(report, "# Research", "---\nvalidated_by: research-consultant\n---\n# Research")),
        text("It is marked."),
        does(shell("git add project && git commit -q -m research")),
        text("It is marked and committed."),
    ]
}

fn planner(plan: &Path) -> Vec<Turn> {
    vec![text("The plan is made."), does(write(plan, "# Plan\n\n1. A sum.\n")), text("The plan is written.")]
}

fn expert(plan: &Path) -> Vec<Turn> {
    vec![
        text("A good plan."),
        does(read(plan)),
        does(edit(plan, "# Plan", "---\nconsulted_by: consulting-expert\n---\n# Plan")),
        text("It is marked."),
    ]
}

/// What the engineer does: a test that is there, then one that is seen to fail.
fn engineer(home: &Path) -> Vec<Turn> {
    vec![
        text("No test is needed."),
        does(write(&home.join("tests/sum.sh"), "test \"$(sh src/sum.sh 2 3)\" = 5\n")),
        text("The test is written."),
        does(shell("make test")),
        text("The test is written, and fails."),
    ]
}

fn troubleshooter(home: &Path) -> Vec<Turn> {
    let code = home.join("src/sum.sh");
    vec![
        text("It is a minus."),
        does(read(&code)),
        does(edit(&code, "$1 - $2", "$1 + $2")),
        does(shell("make test")),
        text("It was a minus; now it is a plus."),
    ]
}

fn reviewer(review: &Path) -> Vec<Turn> {
    let whole = format!("# Summary\nOne sum.\n# Findings\n{}\n", "It extras, and does it well. ".repeat(10));
    vec![
        text("Fine."),
        does(write(review, "# Summary\nOne sum.\n")),
        text("Reviewed."),
        does(shell(&format!("cat > '{}' <<'END'\n{whole}END", review.display()))),
        text("The review is written."),
    ]
}

/// What the main agent does in the code mode: wrong code, a detour, a refactoring and a commit.
fn coding(home: &Path) -> Vec<Turn> {
    let code = home.join("src/sum.sh");
    vec![
        does(agent("troubleshooter")),
        does(agent("test-engineer")),
        does(write(&code, "echo $(($1 - $2))\n")),
        does(shell("make test")),
        does(agent("troubleshooter")),
        does(read(&code)),
        does(edit(&code, "echo $", "# The sum of two numbers.\necho $")),
        does(shell("make test")),
        does(shell("git add Makefile src tests && git commit -q -m sum")),
    ]
}

/// A project whose tests are run by make.
fn with_tests() -> Project {
    let project = installed_project();
    project.write("Makefile", "test:\n\tsh tests/sum.sh\n.PHONY: test\n");
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "make"]);
    project
}

fn explore(client: &Client) {
    let project = installed_project();
    let session = Session::new(&project);
    let tasks = project.home().join("specs/tasks.md");
    let script = Script::main(vec![
        does(agent("codebase-explorer")),
        does(write(&tasks, "- [ ] a sum\n")),
        does(agent("codebase-explorer")),
        text("All done."),
    ]);
    let script = script.agent("codebase-explorer", explorer(&session.file(STATUS)));
    let ran = session.run(client, "/explore a sum", script);
    ran.check(ran.exits("PreToolUse:Agent") == [2, 0], "blocked without tasks, then allowed");
    ran.check(ran.exits("SubagentStop") == [2, 0], "blocked once, then allowed");
    ended(&project, &ran, "explore", "explore_mode");
}

fn research(client: &Client) {
    let project = installed_project();
    let session = Session::new(&project);
    let status = project.home().join("project/exploration/codebase-status_earlier_1.md");
    let report = session.file(REPORT);
    let script = Script::main(vec![
        does(agent("research-specialist")),
        does(write(&status, "# Status\n")),
        does(agent("research-specialist")),
        does(agent("codebase-explorer")),
        does(agent("research-specialist")),
        does(agent("research-consultant")),
        text("All done."),
    ]);
    let script = script.agent("codebase-explorer", writer(&status, "# Status\n\nNothing yet.\n"));
    let script =
        script.agent("research-specialist", specialist(&report)).agent("research-consultant", consultant(&report));
    let ran = session.run(client, "/research sums", script);
    ran.check(
        ran.exits("PreToolUse:Agent") == [2, 2, 0, 0, 0],
        "blocked without a status, and with the main agent's own",
    );
    ran.check(ran.exits("SubagentStop") == [0, 2, 0, 2, 2, 0], "both stops are blocked");
    ended(&project, &ran, "research", "research_mode");
}

fn plan(client: &Client) {
    let project = installed_project();
    let session = Session::new(&project);
    let research = project.home().join("project/research/research_earlier_1.md");
    let plan = session.file(PLAN);
    let script = Script::main(vec![
        does(agent("strategic-planner")),
        does(write(&research, "# Research\n")),
        does(agent("strategic-planner")),
        does(agent("research-specialist")),
        does(agent("strategic-planner")),
        does(agent("consulting-expert")),
        text("All done."),
    ]);
    let script = script.agent("research-specialist", writer(&research, "# Research\n\nShells can add.\n"));
    let script = script.agent("strategic-planner", planner(&plan)).agent("consulting-expert", expert(&plan));
    let ran = session.run(client, "/plan a sum", script);
    ran.check(
        ran.exits("PreToolUse:Agent") == [2, 2, 0, 0, 0],
        "blocked without research, and with the main agent's own",
    );
    ran.check(ran.exits("SubagentStop") == [0, 2, 0, 2, 0], "both stops are blocked");
    ended(&project, &ran, "plan", "plan_mode");
}

fn code(client: &Client) {
    let project = with_tests();
    project.write("project/plans/plan_earlier_1.md", "# Plan\n");
    let home = project.home();
    let session = Session::new(&project);
    let mut turns = coding(&home);
    turns.push(text("All done."));
    let script = Script::main(turns);
    let script = script.agent("test-engineer", engineer(&home)).agent("troubleshooter", troubleshooter(&home));
    let ran = session.run(client, "/code", script);
    ran.check(ran.exits("PreToolUse:Agent") == [2, 0, 0], "the troubleshooter is blocked at first");
    ran.check(ran.exits("SubagentStop") == [2, 2, 0, 2, 0], "both stops are blocked");
    ended(&project, &ran, "code", "code_mode");
}

fn code_review(client: &Client) {
    let project = installed_project();
    project.write("src/sum.sh", "echo $(($1 + $2))\n");
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "sum"]);
    let session = Session::new(&project);
    let script = Script::main(vec![does(agent("code-reviewer")), text("All done.")]);
    let script = script.agent("code-reviewer", reviewer(&session.file(REVIEW)));
    let ran = session.run(client, "/code-review", script);
    ran.check(ran.exits("SubagentStop") == [2, 2, 0], "blocked for the file, blocked for its content, allowed");
    ended(&project, &ran, "code-review", "code_review_mode");
}

fn implement(client: &Client) {
    let project = with_tests();
    project.write("specs/tasks.md", "- [ ] a sum\n");
    let home = project.home();
    let session = Session::new(&project);
    let [status, report, plan, review] = [STATUS, REPORT, PLAN, REVIEW].map(|path| session.file(path));
    let mut turns = vec![
        skill("code"),
        does(agent("codebase-explorer")),
        skill("research"),
        does(agent("research-specialist")),
        does(agent("research-consultant")),
        skill("plan"),
        does(agent("strategic-planner")),
        does(agent("consulting-expert")),
        skill("code"),
    ];
    turns.extend([
        does(agent("test-engineer")),
        does(write(&home.join("src/sum.sh"), "echo $(($1 + $2))\n")),
        does(shell("make test")),
        does(shell("git add Makefile src tests && git commit -q -m sum")),
        skill("code-review"),
        does(agent("code-reviewer")),
        does(shell("git add project specs && git commit -q -m 'plan and review'")),
        text("All done."),
    ]);
    let script = Script::main(turns)
        .agent("codebase-explorer", explorer(&status))
        .agent("research-specialist", specialist(&report))
        .agent("research-consultant", consultant(&report))
        .agent("strategic-planner", planner(&plan))
        .agent("consulting-expert", expert(&plan))
        .agent("test-engineer", engineer(&home))
        .agent("code-reviewer", reviewer(&review));
    let ran = session.run(client, "/implement a sum", script);
    ran.check(ran.exits("PreToolUse:Skill").first() == Some(&2), "code comes too early");
    ended(&project, &ran, "implement", "implement_flow");
}
