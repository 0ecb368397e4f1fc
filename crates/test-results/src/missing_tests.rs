//! Summaries that call tests failed which do not exist: `python -m unittest nope`, `rspec nope_spec.rb`.

/// Whether every error of an output is about a test that was named and is missing. A test that lacks the code which it tests
/// has failed.
pub(super) fn names_missing_tests(text: &str) -> bool {
    errors(text).is_some_and(|errors| errors > 0 && errors == missing_modules(text) + missing_specs(text))
}

/// The number of errors in the summary, if it has nothing else.
fn errors(text: &str) -> Option<usize> {
    text.lines().map(str::trim).rev().find_map(|line| {
        let unittest = || line.strip_prefix("FAILED (errors=")?.strip_suffix(')');
        let rspec = || line.strip_prefix("0 examples, 0 failures, ")?.split_once(" error").map(|(count, _)| count);
        unittest().or_else(rspec)?.parse().ok()
    })
}

/// The number of modules, classes and tests that `unittest` was asked for and did not find.
fn missing_modules(text: &str) -> usize {
    let (mut asked, mut missing) = (None, 0);
    for line in text.lines().map(str::trim) {
        if let Some(error) = line.strip_prefix("ERROR: ") {
            asked = error.split_once(" (unittest.loader._FailedTest").map(|(name, _)| name);
        }
        let is_lookup = line.starts_with("ModuleNotFoundError: No module named ") || line.contains("has no attribute ");
        let last = line.trim_end_matches('\'').rsplit(['\'', '.', ' ']).next();
        if is_lookup && asked.is_some() && last == asked {
            (asked, missing) = (None, missing + 1);
        }
    }
    missing
}

/// The number of files that `rspec` was asked for and did not find.
fn missing_specs(text: &str) -> usize {
    let (mut asked, mut missing) = (None, 0);
    for line in text.lines().map(str::trim) {
        if let Some(file) = line.strip_prefix("An error occurred while loading ") {
            asked = Some(file.trim_end_matches('.').trim_start_matches("./"));
        }
        let lacks =
            |file: &str| line.rsplit_once("cannot load such file -- ").is_some_and(|(_, path)| path.ends_with(file));
        if asked.is_some_and(lacks) {
            (asked, missing) = (None, missing + 1);
        }
    }
    missing
}
