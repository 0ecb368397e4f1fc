//! The results of a version, kept until `tests/host/run --matrix` writes them to tests/host/results.md.

use crate::client::Version;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Whether each test passed.
pub type Passed = BTreeMap<String, bool>;

/// The results of one version.
pub struct Results {
    path: PathBuf,
    passed: Mutex<Passed>,
}

impl Results {
    /// What is known of a version.
    pub fn of(version: Version) -> Self {
        let path = folder().join(format!("{version}.json"));
        let passed = Mutex::new(read(&path));
        Self { path, passed }
    }

    /// Adds a result and writes them all.
    pub fn add(&self, name: &str, is_passed: bool) {
        let mut passed = self.passed.lock().unwrap();
        passed.insert(name.to_owned(), is_passed);
        std::fs::create_dir_all(folder()).unwrap();
        std::fs::write(&self.path, serde_json::to_string_pretty(&*passed).unwrap()).unwrap();
    }
}

/// The results of all versions.
pub fn all() -> Vec<(Version, Passed)> {
    let files = std::fs::read_dir(folder()).into_iter().flatten().filter_map(Result::ok).map(|file| file.path());
    files.filter_map(|path| Some((Version::parse(path.file_stem()?.to_str()?)?, read(&path)))).collect()
}

/// Removes the results, which are in the document now.
pub fn clear() {
    let _: std::io::Result<()> = std::fs::remove_dir_all(folder());
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_TARGET_TMPDIR"), "/host-results"))
}

fn read(path: &Path) -> Passed {
    serde_json::from_slice(&std::fs::read(path).unwrap_or_default()).unwrap_or_default()
}
