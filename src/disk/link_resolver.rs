//! Resolves the links in paths that share most of their folders.

#![expect(clippy::disallowed_methods, reason = "an I/O module")]

use super::real;
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

/// Resolves links as [`real`] does, but looks at each folder once.
#[derive(Debug, Default)]
pub struct LinkResolver {
    /// Folders without links on the way to them.
    plain: Vec<PathBuf>,
}

impl LinkResolver {
    /// The path with links resolved, as far as it exists.
    pub fn real(&mut self, path: &Path) -> PathBuf {
        if self.is_plain(path) { path.to_owned() } else { real(path) }
    }

    /// Whether a path is certain to be its own real path. Elsewhere than on Linux, file systems may know a name in
    /// several spellings, of which only the system knows the real one.
    fn is_plain(&mut self, path: &Path) -> bool {
        if !cfg!(target_os = "linux") || !path.is_absolute() || !is_normal(path) {
            return false;
        }
        let folders: Vec<&Path> = path.ancestors().filter(|folder| folder.parent().is_some()).collect();
        for folder in folders.into_iter().rev() {
            if self.plain.iter().any(|known| known == folder) {
                continue;
            }
            match fs::read_link(folder).map_err(|error| error.kind()) {
                // It exists and is not a link.
                Err(ErrorKind::InvalidInput) => self.plain.push(folder.to_owned()),
                // Nor does anything below it exist.
                Err(ErrorKind::NotFound) => return true,
                _ => return false,
            }
        }
        true
    }
}

/// Whether a path is written as the system would write it.
fn is_normal(path: &Path) -> bool {
    let written_again: PathBuf = path.components().filter(|part| *part != Component::ParentDir).collect();
    written_again.as_os_str() == path.as_os_str()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

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
        let mut links = LinkResolver::default();
        for name in names {
            let path = at(name);
            assert_eq!(links.real(&path), real(&path), "{name}");
            assert_eq!(links.real(&path), real(&path), "{name}, again");
        }
        for path in ["/", "relative/path", "."] {
            assert_eq!(links.real(Path::new(path)), real(Path::new(path)));
        }
    }
}
