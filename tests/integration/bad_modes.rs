//! The first lines of every file under `fixtures/bad-modes` are the problems that must be found in it.

use modegate::Catalogue;

#[test]
fn every_problem_is_reported_at_its_location() {
    check("bad-modes");
}

#[test]
fn every_problem_in_an_imported_file_is_reported_at_its_location() {
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
            .map(|(problem, _)| {
                let hint = problem.hint.as_ref().map(|hint| format!(" (hint: {hint})")).unwrap_or_default();
                format!("{}:{} {}{hint}", problem.location.line, problem.location.column, problem.message)
            })
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
fn problems_are_reported_in_the_order_of_their_lines() {
    let mode =
        "mode: x\nphases:\n  - phase: one\n    agent: a\n    from: [nowhere]\n    befor: []\ncommands: [two words]\n";
    let broken = Catalogue::compose(None, &[("x.yaml".to_owned(), mode.to_owned())]).broken;
    let lines: Vec<usize> = broken[0].problems.iter().map(|(problem, _)| problem.location.line).collect();
    assert!(lines.len() > 1 && lines.is_sorted(), "{lines:?}");
}

#[test]
fn the_embedded_modes_have_no_problem() {
    assert!(Catalogue::compose(None, &[]).broken.is_empty());
}

#[test]
fn unknown_names_in_the_settings_are_warnings() {
    let settings = "level: observe\nlevels: { plam: warn }\ndisable: code-revue\n";
    let catalogue = Catalogue::compose(Some((".claude/modegate.yaml", settings)), &[]);
    let printed: Vec<String> = catalogue.broken.iter().map(ToString::to_string).collect();
    assert!(printed[0].contains("warning: no mode and no gate is called `plam`, did you mean `plan`?"), "{printed:?}");
    assert!(printed[0].contains("3:10"), "{printed:?}");
    assert_eq!(format!("{:?}", catalogue.settings.level), "Some(Observe)");
}
