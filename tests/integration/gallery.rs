//! The gallery: its commands, its files, its document and its scenarios.

use crate::project::Project;
use serde_json::Value;
use std::path::Path;

fn repository(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// The names of all entries, gates and modes.
fn names() -> Vec<String> {
    let files = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("modes/gallery")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter_map(|name| Some(name.strip_suffix(".yaml")?.to_owned())).collect();
    names.sort_unstable();
    names
}

fn entry(name: &str) -> String {
    repository(&format!("modes/gallery/{name}.yaml"))
}

#[test]
fn every_entry_can_be_added_and_all_of_them_together() {
    let project = Project::new();
    for name in names() {
        assert_eq!(project.run(&["modes", "add", &name]).exit, 0, "{name}");
        let output = project.run(&["modes", "check"]);
        assert_eq!(output.exit, 0, "{name}: {}", output.stdout);
        assert_eq!(project.read(&format!(".claude/modes/{name}.yaml")), entry(&name));
    }
    let list = project.run(&["modes", "gallery", "--json"]).json();
    assert_eq!(list.as_array().unwrap().len(), names().len());
    assert!(list.as_array().unwrap().iter().all(|entry| entry["added"] == true), "{list}");
}

#[test]
fn the_base_mode_is_shown_with_all_its_files() {
    let project = Project::new();
    let names = ["branch-first", "stage-by-name"];
    assert_eq!(project.run(&["modes", "add", names[0], names[1]]).exit, 0);
    let list = project.run(&["modes", "list"]).stdout;
    let shown = project.run(&["modes", "show", "base"]).stdout;
    assert!(list.contains("(.claude/modes/branch-first.yaml, .claude/modes/stage-by-name.yaml)"), "{list}");
    for part in ["id: system-is-not-removed", "# .claude/modes/branch-first.yaml", "id: files-are-staged-by-name"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn every_gate_of_the_gallery_warns() {
    let project = Project::new();
    let names = names();
    let words: Vec<&str> = ["modes", "add"].into_iter().chain(names.iter().map(String::as_str)).collect();
    assert_eq!(project.run(&words).exit, 0);
    for name in &names {
        let text = entry(name);
        let gates = text.matches("\n  - id: ").count();
        let is_mode = !text.contains("\nmode: base\n");
        assert_eq!(text.matches("level: warn #").count(), if is_mode { 1 } else { gates }, "{name}");
    }
}

#[test]
fn every_entry_is_in_the_document_and_has_a_scenario() {
    let document = repository("docs/gates.md");
    for name in names() {
        let text = entry(&name);
        let about = text.lines().next().unwrap().trim_start_matches(['#', ' ']);
        let row = format!("| [`{name}`](../modes/gallery/{name}.yaml) | {about} |");
        assert!(document.contains(&row), "docs/gates.md lacks: {row}");
        let scenario = repository(&format!("fixtures/scenarios/gallery/{name}.yaml"));
        assert!(scenario.contains(&format!("[modes, add, {name}]")), "{name}");
    }
    let rows = document.lines().filter(|line| line.starts_with("| [`")).count();
    assert_eq!(rows, names().len(), "docs/gates.md lists an entry that does not exist");
}

#[test]
fn an_existing_file_is_never_overwritten() {
    let project = Project::new();
    project.write(".claude/modes/branch-first.yaml", "mode: base\n");
    let output = project.run(&["modes", "add", "keep-history", "branch-first"]);
    assert_eq!(output.exit, 1, "{output:?}");
    assert!(
        output.stderr.contains("`.claude/modes/branch-first.yaml` already exists and differs from the gallery"),
        "{}",
        output.stderr
    );
    assert_eq!(project.read(".claude/modes/branch-first.yaml"), "mode: base\n");
    assert!(!project.home().join(".claude/modes/keep-history.yaml").exists());
    // A command of the same name stays, and starts the mode.
    project.write(".claude/commands/release.md", "Mine.\n");
    let output = project.run(&["modes", "add", "release"]);
    assert_eq!((output.exit, project.read(".claude/commands/release.md").as_str()), (0, "Mine.\n"));
    assert!(output.stdout.contains("kept"), "{}", output.stdout);
    // Adding it again changes nothing.
    let again = project.run(&["modes", "add", "release"]);
    assert!(again.exit == 0 && again.stdout.contains("same"), "{}", again.stdout);
}

#[test]
fn a_dry_run_writes_nothing() {
    let project = Project::new();
    let output = project.run(&["modes", "add", "bugfix", "--dry-run", "--json"]);
    let changes: Value = output.json();
    assert_eq!((output.exit, &changes["dry_run"], changes["changes"].as_array().unwrap().len()), (0, &true.into(), 2));
    assert!(!project.home().join(".claude/modes").exists());
    assert!(!project.home().join(".claude/commands").exists());
}

#[test]
fn an_unknown_or_conflicting_entry_is_an_error() {
    let project = Project::new();
    let output = project.run(&["modes", "add", "branch-frist"]);
    assert_eq!(output.exit, 64);
    assert!(output.stderr.contains("unknown entry `branch-frist`, did you mean `branch-first`?"), "{}", output.stderr);
    project.write(".claude/modes/ours.yaml", "mode: release\ncommands: [/ship]\n");
    let output = project.run(&["modes", "add", "release"]);
    assert_eq!(output.exit, 1);
    assert!(
        output.stderr.contains("`.claude/modes/ours.yaml` already defines the mode `release`"),
        "{}",
        output.stderr
    );
    assert!(!project.home().join(".claude/modes/release.yaml").exists());
}
