//! Compares the content of a file with the index, where its `lstat` proves nothing.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use gix::ObjectId;
use gix::objs::Kind;
use rustix::fs::{FileType, Stat, lstat};
use rustix::io::Errno;

use super::entry::{IndexEntry, low};
use crate::live::git::checkout::{OpenCheckout, text};
use crate::live::git::{ChangeKind, LayerError};

/// Compares contents as git stores them, after line endings and filters.
pub(super) struct ContentComparer<'a> {
    place: &'a OpenCheckout<'a>,
    modes: bool,
    /// When the index was written, in seconds.
    written: i64,
    pipeline: Option<gix::filter::Pipeline<'a>>,
    empty: gix::index::State,
}

impl<'a> ContentComparer<'a> {
    /// Compares files of the worktree at `place` with an index that was `written` then; `modes` says whether the
    /// executable bit counts.
    pub(super) fn new(place: &'a OpenCheckout<'a>, modes: bool, written: i64) -> Self {
        let empty = gix::index::State::new(place.repo.object_hash());
        Self { place, modes, written, pipeline: None, empty }
    }

    /// How the file at `path` differs from `entry`, `None` when it does not.
    pub(super) fn difference(&mut self, entry: &IndexEntry, path: &[u8]) -> Result<Option<ChangeKind>, LayerError> {
        let whole = self.place.root.join(text(path));
        let now = match lstat(&whole) {
            Ok(now) => now,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(Some(ChangeKind::Deleted)),
            Err(error) => return Err(LayerError::unreadable(&whole, &error.into())),
        };
        if FileType::from_raw_mode(now.st_mode) == FileType::Directory {
            return Ok(Some(ChangeKind::Deleted));
        }
        if !entry.is_same_type(&now) {
            // For git a pipe or a device is a file.
            let is_link = FileType::from_raw_mode(now.st_mode) == FileType::Symlink;
            let kind = if is_link || entry.is_link() { ChangeKind::TypeChanged } else { ChangeKind::Modified };
            return Ok(Some(kind));
        }
        let size = entry.stat.size;
        let resized = size != 0 && size != low(now.st_size);
        if resized || (self.modes && !entry.is_same_mode(&now)) {
            return Ok(Some(ChangeKind::Modified));
        }
        let id = match FileType::from_raw_mode(now.st_mode) {
            FileType::Symlink => self.target(&whole)?,
            _ => self.stored(&whole, &text(path))?,
        };
        let is_same = id == entry.id || self.is_skipped_by_git(entry, &now, &whole)?;
        Ok((!is_same).then_some(ChangeKind::Modified))
    }

    /// Whether git does not compare this file, and its content is what the index has, before line endings and filters:
    /// a rule about those that is newer than the entry counts for git only when the file is touched.
    fn is_skipped_by_git(&self, entry: &IndexEntry, now: &Stat, whole: &Path) -> Result<bool, LayerError> {
        if entry.is_link() || !entry.is_proven_to_git(now, self.modes, self.written) {
            return Ok(false);
        }
        let content = crate::disk::read(whole, u64::MAX).map_err(|error| LayerError::unreadable(whole, &error))?;
        Ok(self.hash(&content)? == entry.id)
    }

    /// The object id of a symbolic link.
    fn target(&self, whole: &Path) -> Result<ObjectId, LayerError> {
        let target = whole.read_link().map_err(|error| LayerError::unreadable(whole, &error))?;
        self.hash(target.as_os_str().as_bytes())
    }

    /// The object id of a file.
    ///
    /// Line endings can depend on the content in the index, so it is read only if there are carriage returns.
    fn stored(&mut self, whole: &Path, path: &Path) -> Result<ObjectId, LayerError> {
        let content = crate::disk::read(whole, u64::MAX).map_err(|error| LayerError::unreadable(whole, &error))?;
        let returns = content.contains(&b'\r');
        let index = returns.then(|| self.place.repo.index_or_empty()).transpose().map_err(LayerError::unsure)?;
        if self.pipeline.is_none() {
            self.pipeline = Some(self.filters()?);
        }
        let mut stored = Vec::new();
        if let Some(pipeline) = &mut self.pipeline {
            let index = index.as_ref().map_or(&self.empty, |index| index);
            let mut result = pipeline.convert_to_git(&*content, path, index).map_err(LayerError::unsure)?;
            result.read_to_end(&mut stored).map_err(LayerError::unsure)?;
        }
        self.hash(&stored)
    }

    fn filters(&self) -> Result<gix::filter::Pipeline<'a>, LayerError> {
        use gix::worktree::stack::state::attributes::Source::WorktreeThenIdMapping as Source;
        let repo = self.place.repo;
        // A sparse checkout can leave out `.gitattributes`; git then reads the staged one.
        let sparse = repo.config_snapshot().boolean("core.sparseCheckout") == Some(true);
        let index = sparse.then(|| repo.index_or_empty()).transpose().map_err(LayerError::unsure)?;
        let index = index.as_ref().map_or(&self.empty, |index| index);
        let attributes = repo.attributes_only(index, Source).map_err(LayerError::unsure)?;
        gix::filter::Pipeline::new(repo, attributes.detach()).map_err(LayerError::unsure)
    }

    fn hash(&self, content: &[u8]) -> Result<ObjectId, LayerError> {
        gix::objs::compute_hash(self.place.repo.object_hash(), Kind::Blob, content).map_err(LayerError::unsure)
    }
}
