//! `modegate modes import`: what it writes are the same gates.

use crate::project::Project;
use modegate::mode::{Catalogue, Gate};
use modegate::yaml::Location;

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
    let said = project.run(&["modes", "import", name]);
    assert_eq!(said.exit, 0, "{said:?}");
    let before = gates(name, &example(name));
    let after = gates("base.yaml", &said.stdout);
    let shipped = Catalogue::compose(None, &[]).mode("base").unwrap().gates.len();
    assert_eq!(before.len(), shipped + count);
    for (one, other) in before.iter().zip(&after) {
        assert_eq!(one, other, "{}", said.stdout);
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
fn what_is_no_file_of_gates_is_not_imported() {
    let project = Project::new();
    project.write("gates.json", "{\"park\": \"Tivoli\"}");
    let said = project.run(&["modes", "import", "gates.json"]);
    assert_eq!((said.exit, said.stdout.as_str()), (1, ""), "{said:?}");
    assert!(said.stderr.contains("error: `gates.json` is not a gates file\n  hint: "), "{said:?}");
}

#[test]
fn a_mistake_is_shown_in_its_place() {
    let project = Project::new();
    project.write("gates.json", "{\"gates\": {}, \"hooks\": {\"Stop\": {\"gates\": [\"x\"]}}}");
    let said = project.run(&["modes", "import", "gates.json"]);
    assert_eq!((said.exit, said.stdout.as_str()), (1, ""), "{said:?}");
    assert!(said.stderr.contains("no gate is called `x`\n  --> gates.json:1:44"), "{said:?}");
}

#[test]
fn a_file_that_is_not_there_is_told() {
    let said = Project::new().run(&["modes", "import", "none.toml"]);
    assert!(said.exit == 1 && said.stderr.contains("error: `none.toml` does not exist"), "{said:?}");
}
