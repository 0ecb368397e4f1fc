//! `modegate modes import`: what it writes are the same gates.

use crate::project::Project;
use modegate::Catalogue;
use modegate::internals::Gate;
use modegate::internals::Location;

fn example(name: &str) -> String {
    std::fs::read_to_string(format!("{}/fixtures/gates/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// The base's gates with this one file, each without its location.
#[track_caller]
fn gates(file: &str, text: &str) -> Vec<Gate> {
    let catalogue = Catalogue::compose(None, &[(file.to_owned(), text.to_owned())]);
    assert!(catalogue.broken.is_empty(), "{}\n{text}", catalogue.broken[0]);
    let gates = catalogue.mode("base").unwrap().gates.iter().cloned();
    gates.map(|gate| Gate { location: Location::default(), ..gate }).collect()
}

#[track_caller]
fn check(name: &str, count: usize) {
    let project = Project::new();
    project.write(name, example(name));
    let output = project.run(&["modes", "import", name]);
    assert_eq!(output.exit, 0, "{output:?}");
    let before = gates(name, &example(name));
    let after = gates("base.yaml", &output.stdout);
    let shipped = Catalogue::compose(None, &[]).mode("base").unwrap().gates.len();
    assert_eq!(before.len(), shipped + count);
    for (one, other) in before.iter().zip(&after) {
        assert_eq!(one, other, "{}", output.stdout);
    }
    assert_eq!(before.len(), after.len());
}

#[test]
fn gates_json_reads_back_as_the_same_gates() {
    check("pipeline.json", 4);
}

#[test]
fn hooks_toml_reads_back_as_the_same_gates() {
    check("hooks.toml", 5);
}

#[test]
fn a_file_without_gates_is_not_imported() {
    let project = Project::new();
    project.write("gates.json", "{\"park\": \"Tivoli\"}");
    let output = project.run(&["modes", "import", "gates.json"]);
    assert_eq!((output.exit, output.stdout.as_str()), (1, ""), "{output:?}");
    assert!(output.stderr.contains("error: `gates.json` is not a gates file\n  hint: "), "{output:?}");
}

#[test]
fn a_mistake_is_shown_with_its_location() {
    let project = Project::new();
    project.write("gates.json", "{\"gates\": {}, \"hooks\": {\"Stop\": {\"gates\": [\"x\"]}}}");
    let output = project.run(&["modes", "import", "gates.json"]);
    assert_eq!((output.exit, output.stdout.as_str()), (1, ""), "{output:?}");
    assert!(output.stderr.contains("no gate is called `x`\n  --> gates.json:1:44"), "{output:?}");
}

#[test]
fn a_missing_file_is_an_error() {
    let output = Project::new().run(&["modes", "import", "none.toml"]);
    assert!(output.exit == 1 && output.stderr.contains("error: `none.toml` does not exist"), "{output:?}");
}
