//! Detects renames among the differences between HEAD and the index.

use std::collections::{HashMap, HashSet};

use gix::ObjectId;

use crate::live::git::{ChangeKind, LayerError};

/// A file, symbolic link, submodule or tree as git stores it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GitBlob {
    mode: u32,
    pub(super) id: ObjectId,
}

impl GitBlob {
    /// Normalizes modes of old trees, such as 664, as git does.
    pub(super) fn new(mode: u32, id: ObjectId) -> Self {
        let mode = match mode & 0o170_000 {
            0o100_000 if mode & 0o100 == 0 => 0o100_644,
            0o100_000 => 0o100_755,
            kind => kind,
        };
        Self { mode, id }
    }

    /// Whether this is a folder.
    pub(super) fn is_tree(&self) -> bool {
        self.mode == 0o040_000
    }

    /// The file type without permissions.
    fn sort(&self) -> u32 {
        self.mode & 0o170_000
    }
}

/// A difference between HEAD (`old`) and the index (`new`).
#[derive(Debug)]
pub(super) struct StagedChange {
    pub(super) path: Vec<u8>,
    pub(super) old: Option<GitBlob>,
    pub(super) new: Option<GitBlob>,
}

impl StagedChange {
    fn kind(&self) -> ChangeKind {
        match (&self.old, &self.new) {
            (None, _) => ChangeKind::Added,
            (_, None) => ChangeKind::Deleted,
            (Some(old), Some(new)) if old.sort() != new.sort() => ChangeKind::TypeChanged,
            (Some(_), Some(new)) if new.sort() == 0o160_000 => ChangeKind::Submodule,
            _ => ChangeKind::Modified,
        }
    }
}

/// The changes with their kinds, where a rename is a deletion and an addition.
pub(super) fn split(deltas: &[StagedChange]) -> Vec<(Vec<u8>, ChangeKind)> {
    deltas.iter().map(|delta| (delta.path.clone(), delta.kind())).collect()
}

/// The changes with their kinds; a deletion and an addition of the same content are one rename.
///
/// Which other deletions and additions are renames is left to git, as it depends on how alike they are.
pub(super) fn named(deltas: &[StagedChange]) -> Result<Vec<(Vec<u8>, ChangeKind)>, LayerError> {
    let mut gone: HashMap<(u32, ObjectId), Vec<&StagedChange>> = HashMap::new();
    for delta in deltas {
        if let (Some(old), None) = (&delta.old, &delta.new) {
            gone.entry((old.sort(), old.id)).or_default().push(delta);
        }
    }
    let mut renamed = HashSet::new();
    for delta in deltas.iter().filter(|delta| delta.kind() == ChangeKind::Added) {
        let same = delta.new.as_ref().and_then(|new| gone.remove(&(new.sort(), new.id)));
        match same.as_deref() {
            Some([source]) => renamed.extend([source.path.as_slice(), delta.path.as_slice()]),
            _ if gone.is_empty() && same.is_none() => {}
            _ => return Err(LayerError::Unsure("files may be renamed".to_owned())),
        }
    }
    let named = deltas.iter().filter_map(|delta| match (delta.kind(), renamed.contains(delta.path.as_slice())) {
        (ChangeKind::Deleted, true) => None,
        (ChangeKind::Added, true) => Some((delta.path.clone(), ChangeKind::Renamed)),
        (kind, _) => Some((delta.path.clone(), kind)),
    });
    Ok(named.collect())
}
