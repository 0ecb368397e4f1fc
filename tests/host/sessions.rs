//! A whole session of each mode, from its command to its end, with something refused or held on the way.
//!
//! With `MODEGATE_KEEP_RECORDINGS=DIR` each is exported as `DIR/<mode>.jsonl`; `fixtures/recordings` is made so.

use crate::Case;
use crate::client::{Client, Ran, Session};
use crate::model::{Block, Script, Turn, agent, calls, edit, read, says, shell, write};
use crate::project::Project;
use crate::stage::{modegate, standing, wired};
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
fn ended(project: &Project, ran: &Ran, mode: &str, namespace: &str) {
    let standing = standing(project, namespace, &ran.id);
    ran.must(standing["ended"] == "complete", &format!("{mode} ends complete: {standing}"));
    let Some(folder) = std::env::var_os("MODEGATE_KEEP_RECORDINGS") else { return };
    let file = PathBuf::from(folder).join(format!("{mode}.jsonl"));
    let said = modegate(project, &["record", "export", &ran.id, "--force", "--json", "--out", &file.to_string_lossy()]);
    let report = &said.json()["report"];
    for kind in ["left_out", "loosened"] {
        assert!(report[kind].as_array().is_some_and(Vec::is_empty), "{mode}: {report}");
    }
}

/// What the explorer does: it forgets its file, and is held.
fn explorer(status: &Path) -> Vec<Turn> {
    vec![
        says("I have looked around."),
        does(write(status, "# Status\n\nNothing yet.\n")),
        says("The status is written."),
    ]
}

fn specialist(report: &Path) -> Vec<Turn> {
    vec![says("I know enough."), does(write(report, "# Research\n\nShells can add.\n")), says("The report is written.")]
}

/// What the consultant does: it forgets the marker, then the commit.
fn consultant(report: &Path) -> Vec<Turn> {
    vec![
        says("Looks good."),
        does(read(report)),
        does(edit(report, "# Research", "---\nvalidated_by: research-consultant\n---\n# Research")),
        says("It is marked."),
        does(shell("git add project && git commit -q -m research")),
        says("It is marked and committed."),
    ]
}

fn planner(plan: &Path) -> Vec<Turn> {
    vec![says("The plan is made."), does(write(plan, "# Plan\n\n1. A sum.\n")), says("The plan is written.")]
}

fn expert(plan: &Path) -> Vec<Turn> {
    vec![
        says("A good plan."),
        does(read(plan)),
        does(edit(plan, "# Plan", "---\nconsulted_by: consulting-expert\n---\n# Plan")),
        says("It is marked."),
    ]
}

/// What the engineer does: a test that is there, then one that is seen to fail.
fn engineer(home: &Path) -> Vec<Turn> {
    vec![
        says("No test is needed."),
        does(write(&home.join("tests/sum.sh"), "test \"$(sh src/sum.sh 2 3)\" = 5\n")),
        says("The test is written."),
        does(shell("make test")),
        says("The test is written, and fails."),
    ]
}

fn troubleshooter(home: &Path) -> Vec<Turn> {
    let code = home.join("src/sum.sh");
    vec![
        says("It is a minus."),
        does(read(&code)),
        does(edit(&code, "$1 - $2", "$1 + $2")),
        does(shell("make test")),
        says("It was a minus; now it is a plus."),
    ]
}

fn reviewer(review: &Path) -> Vec<Turn> {
    let whole = format!("# Summary\nOne sum.\n# Findings\n{}\n", "It extras, and does it well. ".repeat(10));
    vec![
        says("Fine."),
        does(write(review, "# Summary\nOne sum.\n")),
        says("Reviewed."),
        does(shell(&format!("cat > '{}' <<'END'\n{whole}END", review.display()))),
        says("The review is written."),
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
    let project = wired();
    project.write("Makefile", "test:\n\tsh tests/sum.sh\n.PHONY: test\n");
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "make"]);
    project
}

fn explore(client: &Client) {
    let project = wired();
    let session = Session::new(&project);
    let tasks = project.home().join("specs/tasks.md");
    let script = Script::main(vec![
        does(agent("codebase-explorer")),
        does(write(&tasks, "- [ ] a sum\n")),
        does(agent("codebase-explorer")),
        says("All done."),
    ]);
    let script = script.agent("codebase-explorer", explorer(&session.file(STATUS)));
    let ran = session.run(client, "/explore a sum", script);
    ran.must(ran.exits("PreToolUse:Agent") == [2, 0], "refused without tasks, then allowed");
    ran.must(ran.exits("SubagentStop") == [2, 0], "held once, then released");
    ended(&project, &ran, "explore", "explore_mode");
}

fn research(client: &Client) {
    let project = wired();
    let session = Session::new(&project);
    let status = project.home().join("project/exploration/codebase-status_earlier_1.md");
    let report = session.file(REPORT);
    let script = Script::main(vec![
        does(agent("research-specialist")),
        does(write(&status, "# Status\n")),
        does(agent("research-specialist")),
        does(agent("research-consultant")),
        says("All done."),
    ]);
    let script =
        script.agent("research-specialist", specialist(&report)).agent("research-consultant", consultant(&report));
    let ran = session.run(client, "/research sums", script);
    ran.must(ran.exits("PreToolUse:Agent") == [2, 0, 0], "refused without a status, then allowed");
    ran.must(ran.exits("SubagentStop") == [2, 0, 2, 2, 0], "both are held");
    ended(&project, &ran, "research", "research_mode");
}

fn plan(client: &Client) {
    let project = wired();
    let session = Session::new(&project);
    let research = project.home().join("project/research/research_earlier_1.md");
    let plan = session.file(PLAN);
    let script = Script::main(vec![
        does(agent("strategic-planner")),
        does(write(&research, "# Research\n")),
        does(agent("strategic-planner")),
        does(agent("consulting-expert")),
        says("All done."),
    ]);
    let script = script.agent("strategic-planner", planner(&plan)).agent("consulting-expert", expert(&plan));
    let ran = session.run(client, "/plan a sum", script);
    ran.must(ran.exits("PreToolUse:Agent") == [2, 0, 0], "refused without research, then allowed");
    ran.must(ran.exits("SubagentStop") == [2, 0, 2, 0], "both are held");
    ended(&project, &ran, "plan", "plan_mode");
}

fn code(client: &Client) {
    let project = with_tests();
    project.write("project/plans/plan_earlier_1.md", "# Plan\n");
    let home = project.home();
    let session = Session::new(&project);
    let mut turns = coding(&home);
    turns.push(says("All done."));
    let script = Script::main(turns);
    let script = script.agent("test-engineer", engineer(&home)).agent("troubleshooter", troubleshooter(&home));
    let ran = session.run(client, "/code", script);
    ran.must(ran.exits("PreToolUse:Agent") == [2, 0, 0], "the troubleshooter is refused at first");
    ran.must(ran.exits("SubagentStop") == [2, 2, 0, 2, 0], "both are held");
    ended(&project, &ran, "code", "code_mode");
}

fn code_review(client: &Client) {
    let project = wired();
    project.write("src/sum.sh", "echo $(($1 + $2))\n");
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "sum"]);
    let session = Session::new(&project);
    let script = Script::main(vec![does(agent("code-reviewer")), says("All done.")]);
    let script = script.agent("code-reviewer", reviewer(&session.file(REVIEW)));
    let ran = session.run(client, "/code-review", script);
    ran.must(ran.exits("SubagentStop") == [2, 2, 0], "held for the file, held for its content, released");
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
        says("All done."),
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
    ran.must(ran.exits("PreToolUse:Skill").first() == Some(&2), "code is not on turn yet");
    ended(&project, &ran, "implement", "implement_flow");
}
