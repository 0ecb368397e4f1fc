//! A folder of the worktree walk and its direct entries in the index.

use super::index::GitIndex;

/// A folder to walk and the range of its index entries.
#[derive(Debug)]
pub(super) struct FolderTask {
    pub(super) path: Vec<u8>,
    pub(super) from: usize,
    pub(super) to: usize,
}

/// The direct entries of a folder in the index.
pub(super) struct FolderEntries<'a> {
    index: &'a GitIndex,
    job: &'a FolderTask,
    at: usize,
}

/// A file, or a folder with all of its entries, whose name ends in a slash.
pub(super) struct FolderEntry<'a> {
    pub(super) name: &'a [u8],
    from: usize,
    to: usize,
}

impl<'a> FolderEntries<'a> {
    /// The entries of `index` in the folder of `job`.
    pub(super) fn new(index: &'a GitIndex, job: &'a FolderTask) -> Self {
        Self { index, job, at: job.from }
    }
}

impl<'a> Iterator for FolderEntries<'a> {
    type Item = FolderEntry<'a>;

    fn next(&mut self) -> Option<FolderEntry<'a>> {
        let from = self.at;
        let some = self.index.entries.get(from..self.job.to)?;
        let path = self.index.path(some.first()?);
        let depth = if self.job.path.is_empty() { 0 } else { self.job.path.len() + 1 };
        let rest = path.get(depth..).unwrap_or_default();
        let length = rest.iter().position(|byte| *byte == b'/').map_or(rest.len(), |slash| slash + 1);
        let name = rest.get(..length).unwrap_or_default();
        let to = from
            + if name.ends_with(b"/") {
                let folder = path.get(..depth + length).unwrap_or_default();
                some.partition_point(|entry| self.index.path(entry).starts_with(folder))
            } else {
                // The sides of a conflict have the same path.
                some.iter().take_while(|entry| self.index.path(entry) == path).count()
            };
        self.at = to;
        Some(FolderEntry { name, from, to })
    }
}

impl FolderEntry<'_> {
    /// The positions of its entries.
    pub(super) fn entries(&self) -> std::ops::Range<usize> {
        self.from..self.to
    }

    /// A task for this folder in `parent`.
    pub(super) fn job(&self, parent: &[u8]) -> FolderTask {
        FolderTask { path: joined(parent, self.name), from: self.from, to: self.to }
    }
}

/// `name` in `folder`, without a slash at the end.
pub(super) fn joined(folder: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(folder.len() + 1 + name.len());
    path.extend_from_slice(folder);
    if !folder.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name.strip_suffix(b"/").unwrap_or(name));
    path
}
