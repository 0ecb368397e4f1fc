//! A folder of the worktree walk and its direct entries in the index.

use super::entry::IndexEntry;
use super::index::GitIndex;

/// A folder to walk and the range of its index entries.
#[derive(Debug)]
pub(super) struct FolderTask {
    pub(super) path: Vec<u8>,
    pub(super) from: usize,
    pub(super) to: usize,
}

/// The direct entries of a folder in the index.
pub(super) struct FolderEntries<'a, 'j> {
    index: &'a GitIndex,
    job: &'j FolderTask,
    at: usize,
}

/// A file, or a folder with all of its entries, whose name ends in a slash.
pub(super) struct FolderEntry<'a> {
    pub(super) name: &'a [u8],
    from: usize,
    to: usize,
}

impl<'a, 'j> FolderEntries<'a, 'j> {
    /// The entries of `index` in the folder of `job`.
    pub(super) fn new(index: &'a GitIndex, job: &'j FolderTask) -> Self {
        Self { index, job, at: job.from }
    }
}

impl<'a> Iterator for FolderEntries<'a, '_> {
    type Item = FolderEntry<'a>;

    fn next(&mut self) -> Option<FolderEntry<'a>> {
        let from = self.at;
        let some = self.index.entries.get(from..self.job.to)?;
        let depth = if self.job.path.is_empty() { 0 } else { self.job.path.len() + 1 };
        // All of these paths begin with the folder's.
        let rest = |entry: &IndexEntry| self.index.path(entry).get(depth..).unwrap_or_default();
        let first = rest(some.first()?);
        let slash = first.iter().position(|byte| *byte == b'/');
        let name = slash.map_or(first, |slash| first.get(..=slash).unwrap_or_default());
        let length = if slash.is_some() {
            leading(some, |entry| rest(entry).starts_with(name))
        } else {
            // The sides of a conflict have the same path.
            1 + some.iter().skip(1).take_while(|entry| rest(entry) == name).count()
        };
        self.at = from + length;
        Some(FolderEntry { name, from, to: from + length })
    }
}

/// How many entries at the start are of a kind; entries of other kinds come after them.
fn leading(entries: &[IndexEntry], is_of_kind: impl Fn(&IndexEntry) -> bool) -> usize {
    // Most folders are small, whatever comes after them.
    let mut end = 1;
    while entries.get(end).is_some_and(&is_of_kind) {
        end *= 2;
    }
    let (known, end) = (end / 2, end.min(entries.len()));
    known + entries.get(known..end).unwrap_or_default().partition_point(is_of_kind)
}

impl FolderEntry<'_> {
    /// Whether this is a folder.
    pub(super) fn is_folder(&self) -> bool {
        self.name.ends_with(b"/")
    }

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
