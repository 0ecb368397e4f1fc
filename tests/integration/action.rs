//! The GitHub Action: its shell steps run, and its inputs are documented.

#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn the_steps_of_the_action_work() {
    let mut command = Command::new(Path::new(ROOT).join("scripts/action/try"));
    let output = command.env("MODEGATE", env!("CARGO_BIN_EXE_modegate")).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
}

#[test]
fn every_input_of_the_action_is_documented_and_every_script_exists() {
    let action = fs::read_to_string(Path::new(ROOT).join("action.yml")).unwrap();
    let (_, inputs) = action.split_once("\ninputs:\n").unwrap();
    let (inputs, _) = inputs.split_once("\noutputs:\n").unwrap();
    let names = inputs.lines().filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':'));
    let names: Vec<&str> = names.filter(|name| !name.starts_with(' ')).collect();
    let document = fs::read_to_string(Path::new(ROOT).join("docs/replay.md")).unwrap();
    let rows = document.lines().skip_while(|line| !line.starts_with("| input |")).skip(2);
    let rows: Vec<&str> =
        rows.take_while(|line| line.starts_with('|')).filter_map(|row| row.split('`').nth(1)).collect();
    assert_eq!(names, rows);
    let scripts: Vec<&str> =
        action.split("$GITHUB_ACTION_PATH/").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(scripts.len(), 4);
    for script in scripts {
        assert!(Path::new(ROOT).join(script).is_file(), "{script}");
    }
}
