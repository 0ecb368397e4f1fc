//! The names in a folder.

#![expect(clippy::disallowed_methods, reason = "an I/O module")]

use std::ffi::OsString;
use std::io;
use std::path::Path;

/// The names in a folder, at most `most`, in no order.
pub fn names(folder: &Path, most: usize) -> io::Result<Vec<OsString>> {
    std::fs::read_dir(folder)?.take(most).map(|entry| Ok(entry?.file_name())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_names_are_listed() {
        let folder = tempfile::tempdir().unwrap();
        let mut expected: Vec<OsString> = (0..500).map(|number| format!("{number:0>200}").into()).collect();
        for name in &expected {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let mut found = names(folder.path(), 1000).unwrap();
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected);
        assert_eq!(names(folder.path(), 7).unwrap().len(), 7);
        let error = |path: &str| names(&folder.path().join(path), 1).unwrap_err().kind();
        assert_eq!(error("none"), io::ErrorKind::NotFound);
        assert_eq!(error(expected[0].to_str().unwrap()), io::ErrorKind::NotADirectory);
    }
}
