//! The screens in the README are what the program prints.

use crate::project::Project;

const README: &str = include_str!("../../README.md");

/// The block that follows a command in the README.
fn screen(command: &str) -> String {
    let opening = format!("```console\n$ {command}\n");
    let (_, rest) = README.split_once(&opening).expect("a screen");
    rest.split("```").next().unwrap().to_owned()
}

/// A screen without what differs from machine to machine: folders, sizes, times, and the word on a debug build.
fn plain(text: &str, home: &str) -> String {
    let mut lines = Vec::new();
    let mut skip = false;
    for line in text.replace(home, "~/try").lines() {
        if line.contains("debug build") || skip {
            skip = !skip;
            continue;
        }
        let words = line
            .split_whitespace()
            .map(|word| if word.parse::<f64>().is_ok_and(|_| word.contains('.')) { "N" } else { word });
        lines.push(words.collect::<Vec<_>>().join(" "));
    }
    lines.join("\n")
}

#[test]
fn the_screens_are_real() {
    let project = Project::new();
    project.git(&["init", "-q"]);
    let home = project.home().to_str().unwrap().to_owned();
    for words in [&["install"][..], &["doctor", "--live"]] {
        let said = project.run(words);
        assert_eq!(said.exit, 0, "{said:?}");
        assert_eq!(plain(&said.stdout, &home), plain(&screen(&format!("modegate {}", words.join(" "))), "~/try"));
    }
}

#[test]
fn the_demo_prints_what_is_shown_of_it() {
    let said = Project::new().run(&["demo"]).stdout;
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (demo, today) = (squeezed(&said), modegate::facts::live::now().date);
    for part in squeezed(&screen("modegate demo")).replace("111626", &today).split('…') {
        assert!(demo.contains(part.trim()), "{part} is not in {demo}");
    }
}

#[test]
fn a_replay_prints_what_is_shown_of_it() {
    let project = Project::new();
    let (_, rest) = README.split_once("mkdir softer && echo '").expect("the settings");
    project.write("softer/modegate.yaml", rest.split('\'').next().unwrap());
    let (root, modes) = (env!("CARGO_MANIFEST_DIR"), project.home().join("softer"));
    let recording = format!("{root}/fixtures/recordings/plan.jsonl");
    let said = project.run(&["replay", &recording, "--modes", modes.to_str().unwrap()]);
    assert_eq!(said.exit, 1, "{said:?}");
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let replayed = squeezed(&said.stdout.replace(&format!("{root}/"), ""));
    for part in squeezed(&screen("modegate replay fixtures/recordings/plan.jsonl --modes softer")).split('…') {
        assert!(replayed.contains(part.trim()), "{part} is not in {replayed}");
    }
}

#[test]
fn every_link_between_documents_leads_somewhere() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for file in [
        "README.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "docs/ARCHITECTURE.md",
        "docs/ci.md",
        "docs/gates.md",
        "docs/hosts.md",
        "docs/journal.md",
        "docs/modes.md",
        "docs/replay.md",
        "fixtures/recordings/README.md",
        "fixtures/scenarios/README.md",
    ] {
        let path = root.join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap();
            let inside = !target.is_empty() && !target.contains("://");
            assert!(!inside || path.parent().unwrap().join(target).exists(), "{file} links to {link}");
        }
    }
}
