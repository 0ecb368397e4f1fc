//! Whole sessions in projects of several languages, whose code is not in `src`.

use crate::Case;
use crate::client::{Client, Session};
use crate::model::{Block, Script, Turn, agent, calls, shell, text, write};
use crate::project::Project;
use crate::setup::{empty_project, mode_state, modegate};
use serde_json::json;
use std::path::Path;

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("code and code-review in a Python project", |client| code_and_review(client, &PYTHON))
            .needs("python3"),
        Case::new("code and code-review in a Node project", |client| code_and_review(client, &NODE)).needs("npm"),
        Case::new("code and code-review in a Go project", |client| code_and_review(client, &GO)).needs("go"),
        Case::new("from an empty repository to a checked plan", from_nothing),
    ]
}

/// A small project: its tools, its test and its code.
struct Language {
    files: &'static [(&'static str, &'static str)],
    test: (&'static str, &'static str),
    code: (&'static str, &'static str),
    /// How a person would type it, with the end of the output alone.
    run: &'static str,
}

const PYTHON: Language = Language {
    files: &[("app/__init__.py", ""), ("tests/__init__.py", ""), (".gitignore", "__pycache__/\n")],
    test: (
        "tests/test_sums.py",
        "import unittest\nfrom app.sums import add\n\nclass Sums(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(2, 3), 5)\n",
    ),
    code: ("app/sums.py", "def add(a, b):\n    return a + b\n"),
    run: "python3 -m unittest 2>&1 | tail -5",
};

const NODE: Language = Language {
    files: &[("package.json", "{\"name\": \"sums\", \"scripts\": {\"test\": \"node --test\"}}\n")],
    test: (
        "test/sums.test.js",
        "const test = require('node:test');\nconst assert = require('node:assert');\ntest('add', () => assert.equal(require('../lib/sums.js').add(2, 3), 5));\n",
    ),
    code: ("lib/sums.js", "exports.add = (a, b) => a + b;\n"),
    run: "npm test 2>&1 | tail -12",
};

const GO: Language = Language {
    files: &[("go.mod", "module example.com/sums\n\ngo 1.21\n")],
    test: (
        "sums/sums_test.go",
        "package sums\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(2, 3) != 5 {\n\t\tt.Fail()\n\t}\n}\n",
    ),
    code: ("sums/sums.go", "package sums\n\nfunc Add(a, b int) int { return a + b }\n"),
    run: "go test ./... 2>&1 | tail -5",
};

fn does(block: Block) -> Turn {
    calls(vec![block])
}

/// `/code` from the failing test to the commit, then `/code-review`.
fn code_and_review(client: &Client, language: &Language) {
    let project = installed(language);
    let home = project.home();
    let (test, code) = (home.join(language.test.0), home.join(language.code.0));
    project.write("project/plans/plan_earlier_1.md", "# Plan\n");
    // Somebody's unfinished work, which is not the session's.
    project.write("scratch/old.txt", "mine\n");
    let session = Session::new(&project);
    let script = Script::main(vec![
        does(agent("test-engineer")),
        does(write(&code, language.code.1)),
        does(shell(language.run)),
        does(shell(&format!("git add '{}' '{}' && git commit -q -m sums", language.test.0, language.code.0))),
        text("All done."),
    ]);
    let script = script.agent(
        "test-engineer",
        vec![does(write(&test, language.test.1)), does(shell(language.run)), text("The test fails.")],
    );
    let ran = session.run(client, "/code", script);
    ran.check(ran.exits("SubagentStop") == [0], "the engineer may stop: its test was seen to fail");
    let state = mode_state(&project, "code_mode", &ran.id);
    ran.check(state["ended"] == "complete", &format!("the mode ends: {state}"));
    review(client, &project, &code);
}

fn review(client: &Client, project: &Project, code: &Path) {
    project.shell("rm -r scratch");
    let session = Session::new(project);
    let review = session.file("project/reviews/review_{session}_1.md");
    let whole = format!("# Summary\nOne sum.\n# Findings\n{}\n", "It adds two numbers and is easy to read. ".repeat(8));
    let script = |review: &Path| {
        Script::main(vec![does(agent("code-reviewer")), text("All done.")])
            .agent("code-reviewer", vec![does(write(review, &whole)), text("The review is written.")])
    };
    std::fs::write(code, "broken\n").unwrap();
    let ran = session.run(client, "/code-review", script(&review));
    ran.check(ran.prompt_block().contains("Code not committed."), "uncommitted code outside src blocks the review");
    project.shell("git checkout -q .");
    let session = Session::new(project);
    let review = session.file("project/reviews/review_{session}_1.md");
    let ran = session.run(client, "/code-review", script(&review));
    let state = mode_state(project, "code_review_mode", &ran.id);
    ran.check(state["ended"] == "complete", &format!("the review ends: {state}"));
}

/// A committed project of this language with modegate.
fn installed(language: &Language) -> Project {
    let project = empty_project();
    for (path, text) in language.files {
        project.write(path, text);
    }
    modegate(&project, &["install"]);
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "begin"]);
    project
}

/// `/plan` in a repository with nothing in it, by a model that does what the commands tell it.
fn from_nothing(client: &Client) {
    let project = empty_project();
    modegate(&project, &["install"]);
    let home = project.home();
    let session = Session::new(&project);
    let [status, report, plan] = [
        "project/exploration/codebase-status_{session}_1.md",
        "project/research/research_{session}_1.md",
        "project/plans/plan_{session}_1.md",
    ]
    .map(|path| session.file(path));
    let skill = |name: &str| does(Block::Tool("Skill", json!({"skill": name, "args": "a sum"})));
    let script = Script::main(vec![
        skill("research"),
        skill("explore"),
        does(write(&home.join("specs/tasks.md"), "- [ ] a sum\n")),
        does(agent("codebase-explorer")),
        does(agent("research-specialist")),
        does(agent("research-consultant")),
        does(agent("strategic-planner")),
        does(agent("consulting-expert")),
        text("All done."),
    ])
    .agent("codebase-explorer", vec![does(write(&status, "# Status\n\nEmpty.\n")), text("Written.")])
    .agent("research-specialist", vec![does(write(&report, "# Research\n")), text("Written.")])
    .agent(
        "research-consultant",
        vec![
            does(shell(&format!(
                "printf -- '---\\nvalidated_by: research-consultant\\n---\\n# Research\\n' > '{0}' && git add '{0}' && git commit -q -m research",
                report.display()
            ))),
            text("Validated and committed."),
        ],
    )
    .agent("strategic-planner", vec![does(write(&plan, "# Plan\n")), text("Written.")])
    .agent(
        "consulting-expert",
        vec![
            does(shell(&format!(
                "printf -- '---\\nconsulted_by: consulting-expert\\n---\\n# Plan\\n' > '{}'",
                plan.display()
            ))),
            text("Checked."),
        ],
    );
    let ran = session.run(client, "/plan a sum", script);
    for stage in ["PreToolUse:Agent", "PreToolUse:Skill", "SubagentStop"] {
        ran.check(ran.exits(stage).iter().all(|exit| *exit == 0), &format!("{stage}: nothing is blocked on the way"));
    }
    for command in ["research", "explore"] {
        ran.check(
            project.read(".claude/commands/plan.md").contains("research")
                && project.read(".claude/commands/research.md").contains("explore"),
            &format!("the commands lead to /{command}"),
        );
    }
    let state = mode_state(&project, "plan_mode", &ran.id);
    ran.check(state["ended"] == "complete", &format!("the plan mode ends: {state}"));
}
