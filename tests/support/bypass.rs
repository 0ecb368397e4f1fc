//! A bypass: one tool call that tries to get past a gate of the base mode, and the expected result.
//!
//! `fixtures/bypasses/README.md` describes the format.

use crate::project::{CommandOutput, Project};
use libtest_mimic::{Failed, Trial};
use modegate::internals::ProjectPaths;
use modegate::internals::lines;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, LazyLock};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bypass {
    #[serde(rename = "name")]
    about: String,
    // The call: one of these.
    run: Option<String>,
    write: Option<String>,
    edit: Option<Edit>,
    read: Option<String>,
    // What is written.
    #[serde(default)]
    text: String,
    // The expected result, and the gate that decides it.
    expect: Expected,
    by: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Edit {
    file: String,
    old: String,
    new: String,
}

#[derive(Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Expected {
    Blocked,
    Asked,
    Allowed,
}

/// A project that all bypasses are tried on; none of them is ever done.
type Stage = Arc<LazyLock<Project>>;

/// A trial for each bypass of `fixtures/bypasses`.
pub fn trials() -> Vec<Trial> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/bypasses");
    let stage: Stage = Arc::new(LazyLock::new(stage));
    let files = walkdir::WalkDir::new(&root).sort_by_file_name().into_iter().filter_map(Result::ok);
    let files = files.filter(|entry| entry.path().extension().is_some_and(|end| end == "yaml"));
    files.flat_map(|entry| of_file(entry.path(), &stage)).collect()
}

fn of_file(path: &Path, stage: &Stage) -> Vec<Trial> {
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    let bypasses: Vec<Bypass> = match serde_yaml::from_str(&std::fs::read_to_string(path).unwrap()) {
        Ok(bypasses) => bypasses,
        Err(error) => return vec![Trial::test(format!("bypasses/{name}"), move || Err(error.into()))],
    };
    let trial = |(at, bypass): (usize, Bypass)| {
        let (session, stage) = (format!("{name}-{at}"), Arc::clone(stage));
        Trial::test(format!("bypasses/{name}: {}", bypass.about), move || bypass.judge(&stage, &session))
    };
    bypasses.into_iter().enumerate().map(trial).collect()
}

/// A project as it is after `modegate install`, with a mode of its own and a link to its settings' folder.
fn stage() -> Project {
    // `$HOME` without quotes falls apart at a space.
    let project = Project::named("bypasses");
    project.write(".claude/settings.json", "{\n  \"model\": \"opus\",\n  \"theme\": \"dark\"\n}\n");
    let output = project.run(&["install"]);
    assert_eq!(output.exit, 0, "{output:?}");
    project.write(".claude/modes/own.yaml", "mode: own\nabout: The project's own.\n");
    project.write(".claude/hooks/cache.json", "{}");
    project.write("src/main.rs", "");
    project.shell("ln -s .claude linked && git init -q -b main && git add -A && git commit -q -m start");
    project
}

impl Bypass {
    fn judge(&self, project: &Project, session: &str) -> Result<(), Failed> {
        let home = project.home();
        let user = home.parent().unwrap().to_string_lossy().into_owned();
        let home = home.to_string_lossy().into_owned();
        let filled = |text: &str| text.replace("{home}", &home).replace("{user}", &user);
        let (tool, input) = self.call(filled).ok_or("a bypass is one of `run`, `write`, `edit` and `read`")?;
        let output = project.hook(&json!({
            "hook_event_name": "PreToolUse", "session_id": session, "cwd": home, "tool_name": tool,
            "tool_input": input, "tool_use_id": "toolu_1",
        }));
        let report = |what: String| {
            Err(format!("{what}\n  {tool} {input}\n  exit {}\n  {}{}", output.exit, output.stderr, output.stdout)
                .into())
        };
        let was = outcome(&output);
        if was != Some(self.expect) {
            return report(format!("expected {:?}, was {was:?}", self.expect));
        }
        let line = lines(&ProjectPaths { home: home.into() }.journal(session)).pop();
        let stood = |gate: &String| {
            let finding = line.as_ref()?.findings.iter().find(|finding| finding.gate == *gate)?;
            Some(["block", "ask"].contains(&finding.verdict.word()))
        };
        match &self.by {
            Some(gate) if stood(gate) != Some(true) => report(format!("`{gate}` has nothing against it")),
            None if self.expect != Expected::Allowed => report("a gate is to be named in `by`".to_owned()),
            _ => Ok(()),
        }
    }

    fn call(&self, filled: impl Fn(&str) -> String) -> Option<(&'static str, Value)> {
        let call = match self {
            Self { run: Some(line), .. } => ("Bash", json!({"command": filled(line)})),
            Self { write: Some(file), .. } => ("Write", json!({"file_path": filled(file), "content": self.text})),
            Self { read: Some(file), .. } => ("Read", json!({"file_path": filled(file)})),
            Self { edit: Some(Edit { file, old, new }), .. } => {
                ("Edit", json!({"file_path": filled(file), "old_string": old, "new_string": new}))
            }
            _ => return None,
        };
        Some(call)
    }
}

fn outcome(output: &CommandOutput) -> Option<Expected> {
    match output.exit {
        2 => Some(Expected::Blocked),
        0 if output.json()["hookSpecificOutput"]["permissionDecision"] == "ask" => Some(Expected::Asked),
        0 => Some(Expected::Allowed),
        _ => None,
    }
}
