//! The ignore rules for untracked files and folders.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use std::path::Path;

use gix::bstr::BStr;
use gix::index::entry::Mode;

use super::LayerError;
use super::checkout::{OpenCheckout, absent, text};

/// The rules of `.gitignore` files, `info/exclude` and the user's own file.
pub(super) struct IgnoreRules<'a> {
    stack: gix::AttributeStack<'a>,
    #[cfg_attr(not(unix), allow(dead_code, reason = "only the quick layer asks, which is for Unix"))]
    root: &'a Path,
}

impl<'a> IgnoreRules<'a> {
    /// The rules of `place`; with `sparse`, also from `.gitignore` files that are not checked out.
    pub(super) fn new(place: &'a OpenCheckout<'a>, sparse: bool) -> Result<Self, LayerError> {
        use gix::worktree::stack::state::ignore::Source::WorktreeThenIdMappingIfNotSkipped as Source;
        let stack = if sparse {
            let index = place.repo.index_or_empty().map_err(LayerError::unsure)?;
            place.repo.excludes(&index, None, Source)
        } else {
            let none = gix::index::State::new(place.repo.object_hash());
            place.repo.excludes(&none, None, Source)
        };
        Ok(Self { stack: stack.map_err(LayerError::unsure)?, root: place.root })
    }

    /// Whether the untracked file or folder at `path` is ignored, itself or with a folder it is in.
    pub(super) fn ignores(&mut self, path: &[u8], folder: bool) -> Result<bool, LayerError> {
        let mode = if folder { Mode::DIR } else { Mode::FILE };
        let rules = self.stack.at_entry(BStr::new(path), Some(mode)).map_err(LayerError::unsure)?;
        Ok(rules.is_excluded())
    }

    /// Whether the untracked folder at `path` counts: it is a repository, or some file in it is not ignored.
    /// git ignores empty folders.
    #[cfg_attr(not(unix), allow(dead_code, reason = "only the quick layer asks, which is for Unix"))]
    pub(super) fn counts(&mut self, path: &[u8]) -> Result<bool, LayerError> {
        if self.ignores(path, true)? {
            return Ok(false);
        }
        let whole = self.root.join(text(path));
        if gix::discover::is_git(&whole.join(".git")).is_ok() {
            return Ok(true);
        }
        let listing = match whole.read_dir() {
            Ok(listing) => listing,
            Err(error) if absent(&error) => return Ok(false),
            Err(error) => return Err(LayerError::unreadable(&whole, &error)),
        };
        let mut folders = Vec::new();
        for entry in listing {
            let entry = entry.map_err(|error| LayerError::unreadable(&whole, &error))?;
            let kind = entry.file_type().map_err(|error| LayerError::unreadable(&whole, &error))?;
            let name = entry.file_name();
            let inside = [path, b"/", name.as_encoded_bytes()].concat();
            if kind.is_dir() && name != ".git" {
                folders.push(inside);
            } else if (kind.is_file() || kind.is_symlink()) && !self.ignores(&inside, false)? {
                return Ok(true);
            }
        }
        for folder in folders {
            if self.counts(&folder)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
