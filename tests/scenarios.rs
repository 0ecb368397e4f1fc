//! Every file under `fixtures/scenarios` is a test: a project, events through the real binary, the
//! expected replies, and the same decisions made again from the journal. So is every example in the
//! documents, every case under `fixtures/conformance`, and every entry under `fixtures/bypasses`.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may stop where it cannot go on"
)]

#[path = "support/bypass.rs"]
mod bypass;
#[path = "support/conformance.rs"]
mod conformance;
#[path = "support/docs.rs"]
mod docs;
#[path = "support/document.rs"]
mod document;
#[path = "support/project.rs"]
mod project;
#[path = "support/scenario.rs"]
mod scenario;

use libtest_mimic::{Arguments, Failed, Trial};
use std::path::Path;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/scenarios");
    let files = walkdir::WalkDir::new(&root).sort_by_file_name().into_iter().filter_map(Result::ok);
    let files = files.filter(|entry| entry.path().extension().is_some_and(|end| end == "yaml"));
    let trials = files.map(|entry| {
        let name = entry.path().strip_prefix(&root).unwrap().with_extension("").to_string_lossy().replace('-', " ");
        let path = entry.into_path();
        Trial::test(name, move || play(&path))
    });
    let others = docs::trials().into_iter().chain(conformance::trials()).chain(bypass::trials());
    libtest_mimic::run(&Arguments::from_args(), trials.chain(others).collect()).exit();
}

fn play(path: &Path) -> Result<(), Failed> {
    let stage = scenario::play(&scenario::read(path)?)?;
    stage.replay()
}
