//! One folder of the worktree, as listed.

use std::cmp::Ordering;

use rustix::fs::{AtFlags, Dir, FileType, statat};
use rustix::io::Result;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    /// A folder, not a link to one.
    Folder,
    /// A file or a symbolic link.
    File,
    /// A pipe, a socket or a device: nothing that git would track.
    Other,
}

impl From<FileType> for Sort {
    fn from(kind: FileType) -> Self {
        match kind {
            FileType::Directory => Self::Folder,
            FileType::RegularFile | FileType::Symlink => Self::File,
            _ => Self::Other,
        }
    }
}

/// The names in a folder, all in one store.
#[derive(Debug, Default)]
pub(super) struct Names {
    bytes: Vec<u8>,
    list: Vec<(usize, usize, Sort)>,
}

impl Names {
    /// Lists `folder` in the order of the index, without `.git`.
    pub(super) fn list(&mut self, folder: &mut Dir) -> Result<()> {
        self.bytes.clear();
        self.list.clear();
        while let Some(entry) = folder.read() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b".." | b".git") {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => {
                    let seen = statat(folder.fd()?, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
                    FileType::from_raw_mode(seen.st_mode)
                }
                kind => kind,
            };
            self.list.push((self.bytes.len(), name.len(), kind.into()));
            self.bytes.extend_from_slice(name);
        }
        let bytes = &self.bytes;
        self.list.sort_unstable_by(|one, other| {
            order(name(bytes, one), one.2 == Sort::Folder, name(bytes, other), other.2 == Sort::Folder)
        });
        Ok(())
    }

    /// The names and what they stand for, sorted as [`order`] says.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], Sort)> {
        self.list.iter().map(|item| (name(&self.bytes, item), item.2))
    }
}

/// A name in the store.
fn name<'a>(bytes: &'a [u8], item: &(usize, usize, Sort)) -> &'a [u8] {
    bytes.get(item.0..item.0 + item.1).unwrap_or_default()
}

/// The order of the index, where a folder stands as its name and a slash.
pub(super) fn order(one: &[u8], one_folder: bool, other: &[u8], other_folder: bool) -> Ordering {
    let length = one.len().min(other.len());
    let heads = one.get(..length).cmp(&other.get(..length));
    let next = |name: &[u8], folder: bool| match name.get(length) {
        Some(byte) => u16::from(*byte) + 1,
        None if folder => u16::from(b'/') + 1,
        None => 0,
    };
    heads.then_with(|| next(one, one_folder).cmp(&next(other, other_folder))).then_with(|| one.len().cmp(&other.len()))
}
