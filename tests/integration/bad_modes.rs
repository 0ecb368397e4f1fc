//! Every file under `fixtures/bad-modes` says in its first lines what is wrong with it, and where.

use modegate::mode::Catalogue;

#[test]
fn every_mistake_is_named_at_its_place() {
    check("bad-modes");
}

#[test]
fn every_mistake_in_a_file_of_others_is_named_at_its_place() {
    check("bad-gates");
}

#[track_caller]
fn check(folder: &str) {
    let folder = std::fs::read_dir(format!("{}/fixtures/{folder}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let mut wrong = Vec::new();
    for entry in folder.map(|entry| entry.unwrap().path()) {
        let text = std::fs::read_to_string(&entry).unwrap();
        let name = entry.file_name().unwrap().to_string_lossy().into_owned();
        let mark = if name.contains(".json") { "// " } else { "# " };
        let mut expected: Vec<String> =
            text.lines().map_while(|line| line.strip_prefix(mark)).map(str::to_owned).collect();
        let broken = Catalogue::compose(None, &[(name.clone(), text.clone())]).broken;
        let problems = broken.iter().flat_map(|broken| &broken.problems);
        let mut found: Vec<String> = problems
            .map(|(problem, _)| format!("{}:{} {}", problem.location.line, problem.location.column, problem.message))
            .collect();
        expected.sort_unstable();
        found.sort_unstable();
        if found != expected {
            wrong.push(format!("{name}\n  expected {expected:#?}\n  found {found:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_good_mode_has_no_mistake() {
    assert!(Catalogue::compose(None, &[]).broken.is_empty());
}

#[test]
fn strange_names_in_the_settings_are_told_and_the_rest_counts() {
    let settings = "level: observe\nlevels: { plam: warn }\ndisable: code-revue\n";
    let catalogue = Catalogue::compose(Some((".claude/modegate.yaml", settings)), &[]);
    let said: Vec<String> = catalogue.broken.iter().map(ToString::to_string).collect();
    assert!(said[0].contains("no mode and no gate is called `plam`, did you mean `plan`?"), "{said:?}");
    assert!(said[0].contains("3:10"), "{said:?}");
    assert_eq!(catalogue.settings.level, Some(modegate::settings::Level::Observe));
}
