//! Compares the content of a file with the index, where its `lstat` proves nothing.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use gix::ObjectId;
use gix::objs::Kind;
use rustix::fs::{FileType, lstat};
use rustix::io::Errno;

use super::checkout::{OpenCheckout, text};
use super::entry::{IndexEntry, low};
use super::{ChangeKind, LayerError};

/// Compares contents as git stores them. Where git converts line endings, encodings or more, it is unsure.
pub(super) struct ContentComparer<'a> {
    place: &'a OpenCheckout<'a>,
    modes: bool,
    attributes: Option<gix::AttributeStack<'a>>,
    empty: gix::index::State,
}

impl<'a> ContentComparer<'a> {
    /// Compares files of the worktree at `place`; `modes` says whether the executable bit counts.
    pub(super) fn new(place: &'a OpenCheckout<'a>, modes: bool) -> Self {
        let empty = gix::index::State::new(place.repo.object_hash());
        Self { place, modes, attributes: None, empty }
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
        Ok((id != entry.id).then_some(ChangeKind::Modified))
    }

    /// The object id of a symbolic link.
    fn target(&self, whole: &Path) -> Result<ObjectId, LayerError> {
        let target = whole.read_link().map_err(|error| LayerError::unreadable(whole, &error))?;
        self.hash(target.as_os_str().as_bytes())
    }

    /// The object id of a file; unsure where git would change its content first.
    fn stored(&mut self, whole: &Path, path: &Path) -> Result<ObjectId, LayerError> {
        let content = crate::disk::read(whole, u64::MAX).map_err(|error| LayerError::unreadable(whole, &error))?;
        if self.is_converted(path, content.contains(&b'\r'))? {
            return Err(LayerError::Unsure("git converts the file".to_owned()));
        }
        self.hash(&content)
    }

    /// Whether git may change the content of the file at `path` before it stores it; line endings only matter if it
    /// `returns` carriages.
    fn is_converted(&mut self, path: &Path, returns: bool) -> Result<bool, LayerError> {
        let names = ["filter", "working-tree-encoding", "ident"].into_iter();
        let names = names.chain(["text", "crlf", "eol"].into_iter().filter(|_| returns));
        if returns {
            let config = self.place.repo.config_snapshot();
            if config.string("core.autocrlf").is_some_and(|value| value.as_slice() != b"false") {
                return Ok(true);
            }
        }
        if self.attributes.is_none() {
            self.attributes = Some(self.open_attributes()?);
        }
        let Some(attributes) = &mut self.attributes else { return Ok(true) };
        let mut found = attributes.selected_attribute_matches(names);
        attributes.at_path(path, None).map_err(LayerError::unsure)?.matching_attributes(&mut found);
        Ok(found.iter_selected().any(|found| {
            let state = found.assignment.state;
            !state.is_unspecified() && !state.is_unset()
        }))
    }

    fn open_attributes(&self) -> Result<gix::AttributeStack<'a>, LayerError> {
        use gix::worktree::stack::state::attributes::Source::WorktreeThenIdMapping as Source;
        let repo = self.place.repo;
        // A sparse checkout can leave out `.gitattributes`; git then reads the staged one.
        let sparse = repo.config_snapshot().boolean("core.sparseCheckout") == Some(true);
        let index = sparse.then(|| repo.index_or_empty()).transpose().map_err(LayerError::unsure)?;
        let index = index.as_ref().map_or(&self.empty, |index| index);
        repo.attributes_only(index, Source).map_err(LayerError::unsure)
    }

    fn hash(&self, content: &[u8]) -> Result<ObjectId, LayerError> {
        gix::objs::compute_hash(self.place.repo.object_hash(), Kind::Blob, content).map_err(LayerError::unsure)
    }
}
