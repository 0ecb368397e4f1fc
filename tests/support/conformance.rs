//! A trial for each sentence of the documents whose files modegate reads: `fixtures/conformance`.
//!
//! Each file has scenarios separated by `---`; `about` is the sentence in our own words.

use libtest_mimic::Trial;
use modegate::Scenario;
use std::path::Path;

pub fn trials() -> Vec<Trial> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/conformance");
    let files = walkdir::WalkDir::new(&root).sort_by_file_name().into_iter().filter_map(Result::ok);
    let files = files.filter(|entry| entry.path().extension().is_some_and(|end| end == "yaml"));
    files.flat_map(|entry| of_file(entry.path())).collect()
}

fn of_file(path: &Path) -> Vec<Trial> {
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).unwrap();
    let trial = |(at, text): (usize, &str)| match Scenario::parse(text) {
        Err(error) => Trial::test(format!("conformance/{name}: case {}", at + 1), move || Err(error.into())),
        Ok(scenario) => Trial::test(format!("conformance/{name}: {}", scenario.about), move || {
            crate::scenario::play(&scenario)?.replay()
        }),
    };
    text.split("\n---\n").enumerate().map(trial).collect()
}
