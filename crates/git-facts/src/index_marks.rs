//! Marks in the index that tell git to skip a file, whatever its content.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use std::path::Path;

use crate::GitError;
use crate::checkout::system_path;
use crate::program::{git, output, output_for, records, with_paths};
use tempfile::NamedTempFile;

/// A copy of the index in which no file is marked assume-unchanged or skip-worktree, except for files that a sparse
/// checkout leaves out.
pub(crate) struct UnmarkedIndex(NamedTempFile);

impl UnmarkedIndex {
    /// `None` if no file under `paths` is marked.
    pub(crate) fn copy(root: &Path, paths: &[Vec<u8>]) -> Result<Option<Self>, GitError> {
        let listed = output(with_paths(git(root).args(["ls-files", "-v", "-z"]), paths))?;
        let (mut assumed, mut skipped) = (Vec::new(), Vec::new());
        let mut sparse = None;
        for record in records(&listed) {
            let [mark, b' ', path @ ..] = record else { continue };
            if mark.is_ascii_lowercase() {
                assumed.extend_from_slice(&[path, b"\0"].concat());
            }
            let is_there = || root.join(system_path(path)).symlink_metadata().is_ok();
            if mark.eq_ignore_ascii_case(&b'S')
                && (is_there() || !*sparse.get_or_insert_with(|| is_sparse_checkout(root)))
            {
                skipped.extend_from_slice(&[path, b"\0"].concat());
            }
        }
        if assumed.is_empty() && skipped.is_empty() {
            return Ok(None);
        }
        let index = Self(copied_index(root)?);
        for (option, paths) in [("--no-assume-unchanged", assumed), ("--no-skip-worktree", skipped)] {
            let mut command = git(root);
            command.env("GIT_INDEX_FILE", index.path()).args(["update-index", option, "-z", "--stdin"]);
            output_for(&mut command, Some(paths))?;
        }
        Ok(Some(index))
    }

    /// The copy, for `GIT_INDEX_FILE`.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

/// Whether parts of the worktree may not be checked out.
fn is_sparse_checkout(root: &Path) -> bool {
    let setting = output(git(root).args(["config", "--type=bool", "core.sparseCheckout"]));
    setting.is_ok_and(|setting| setting == b"true\n")
}

/// A copy of the index with its time, which decides whose timestamps can be believed.
fn copied_index(root: &Path) -> Result<NamedTempFile, GitError> {
    let path = output(git(root).args(["rev-parse", "--git-path", "index"]))?;
    let path = root.join(system_path(path.strip_suffix(b"\n").unwrap_or(&path)));
    let copy = || {
        let file = NamedTempFile::new()?;
        std::fs::copy(&path, file.path())?;
        file.as_file().set_modified(path.metadata()?.modified()?)?;
        Ok::<_, std::io::Error>(file)
    };
    copy().map_err(|error| format!("the index cannot be copied: {error}").into())
}
