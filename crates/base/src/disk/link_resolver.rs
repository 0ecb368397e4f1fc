//! Resolves the links in paths that share most of their folders.

#![expect(clippy::disallowed_methods, reason = "an I/O module")]

use super::real;
#[cfg(target_os = "linux")]
use std::fs;
#[cfg(target_os = "linux")]
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Resolves links as [`real`] does, but looks at each folder once.
#[derive(Debug, Default)]
pub struct LinkResolver {
    /// Folders without links on the way to them.
    known: Vec<PathBuf>,
    /// Folders that are no links.
    plain: Vec<Vec<u8>>,
}

impl LinkResolver {
    /// Begins with the current folder: the system reports its path without links.
    pub fn around_here() -> Self {
        std::env::current_dir().ok().as_deref().map(Self::with_folder).unwrap_or_default()
    }

    /// Begins with a folder that has no links on the way to it.
    pub fn with_folder(folder: &Path) -> Self {
        Self { known: vec![folder.to_owned()], plain: Vec::new() }
    }

    /// The path with links resolved, as far as it exists.
    pub fn real(&mut self, path: &Path) -> PathBuf {
        if self.is_plain(path) { path.to_owned() } else { real(path) }
    }

    /// Whether a path is certain to be its own real path, as far as it exists.
    ///
    /// It is compared as bytes: taking paths apart costs more than the system calls.
    #[cfg(target_os = "linux")]
    pub fn is_plain(&mut self, path: &Path) -> bool {
        use std::os::unix::ffi::OsStrExt;
        let bytes = path.as_os_str().as_bytes();
        let Some(names) = bytes.strip_prefix(b"/") else { return false };
        if names.split(|byte| *byte == b'/').any(|name| matches!(name, b"" | b"." | b"..")) {
            return false;
        }
        let slashes = names.iter().zip(1..).filter(|(byte, _)| **byte == b'/');
        let ends = slashes.map(|(_, end)| end).chain([bytes.len()]);
        for folder in ends.filter_map(|end| bytes.get(..end)) {
            let path = Path::new(std::ffi::OsStr::from_bytes(folder));
            let is_known = self.known.iter().any(|known| is_within(known, path));
            if is_known || self.plain.iter().any(|known| known == folder) {
                continue;
            }
            match fs::read_link(path).map_err(|error| error.kind()) {
                // It exists and is not a link.
                Err(ErrorKind::InvalidInput) => self.plain.push(folder.to_owned()),
                // Nor does anything below it exist.
                Err(ErrorKind::NotFound) => return true,
                _ => return false,
            }
        }
        true
    }

    /// Elsewhere, file systems may know a name in several spellings, of which only the system knows the real one.
    #[cfg(not(target_os = "linux"))]
    pub fn is_plain(&mut self, _: &Path) -> bool {
        self.known.clear();
        self.plain.clear();
        false
    }
}

/// Whether a path is a folder or below it. Both have no links, so that their bytes can be compared: taking paths apart costs
/// more than the system calls of an event.
pub fn is_within(path: &Path, folder: &Path) -> bool {
    let [path, folder] = [path, folder].map(|path| path.as_os_str().as_encoded_bytes());
    let is_separator = |byte: Option<&u8>| byte.is_some_and(|byte| std::path::is_separator(char::from(*byte)));
    let ends = |rest: &[u8]| rest.is_empty() || is_separator(rest.first()) || is_separator(folder.last());
    path.strip_prefix(folder).is_some_and(ends)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_path_is_within_its_folders() {
        let is_within = |path: &str, folder: &str| super::is_within(Path::new(path), Path::new(folder));
        assert!(is_within("/a/b", "/a/b") && is_within("/a/b", "/a") && is_within("/a/b", "/"));
        assert!(!is_within("/a", "/a/b") && !is_within("/ab", "/a") && !is_within("/a/bc", "/a/b"));
    }

    #[test]
    fn a_path_is_resolved_as_the_system_does_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("a/b")).unwrap();
        fs::write(at("a/file"), "x").unwrap();
        std::os::unix::fs::symlink(at("a"), at("link")).unwrap();
        std::os::unix::fs::symlink("missing", at("broken")).unwrap();
        let names = [
            "",
            "a",
            "a/b",
            "a/b/c/d",
            "a/file",
            "a/file/below",
            "link",
            "link/b",
            "link/b/c",
            "broken",
            "broken/x",
            "a/../link",
            "a/./b",
            "a//b",
            "a/b/",
        ];
        for mut links in [LinkResolver::default(), LinkResolver::with_folder(&real(&at("a/b")))] {
            for name in names {
                let path = at(name);
                assert_eq!(links.real(&path), real(&path), "{name}");
                assert_eq!(links.real(&path), real(&path), "{name}, again");
            }
        }
        let mut links = LinkResolver::around_here();
        for path in ["/", "relative/path", "."] {
            assert_eq!(links.real(Path::new(path)), real(Path::new(path)));
        }
    }
}
