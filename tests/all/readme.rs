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
