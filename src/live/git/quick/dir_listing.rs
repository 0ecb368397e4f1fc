//! The names in a folder of the worktree.

use std::ffi::CStr;
use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, FileType, SeekFrom, statat};
use rustix::io::Result;

/// The type of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryType {
    /// A folder, not a link to one.
    Folder,
    /// A file or a symbolic link.
    File,
    /// A pipe, a socket or a device, which git does not track.
    Other,
}

impl From<FileType> for EntryType {
    fn from(kind: FileType) -> Self {
        match kind {
            FileType::Directory => Self::Folder,
            FileType::RegularFile | FileType::Symlink => Self::File,
            _ => Self::Other,
        }
    }
}

/// How many entries of each type a folder has, without `.git`.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct EntryCounts {
    pub(super) files: usize,
    pub(super) folders: usize,
    pub(super) others: usize,
}

/// The names in a folder, in one buffer.
#[derive(Debug, Default)]
pub(super) struct DirListing {
    bytes: Vec<u8>,
    list: Vec<(usize, usize, EntryType)>,
    /// The buffer for the system call, reused for each folder.
    #[cfg(target_os = "linux")]
    buffer: Vec<u8>,
}

impl DirListing {
    /// Counts the entries of `folder`.
    pub(super) fn counts(&mut self, folder: BorrowedFd<'_>) -> Result<EntryCounts> {
        let mut counts = EntryCounts::default();
        self.read(folder, |_, _, sort| match sort {
            EntryType::File => counts.files += 1,
            EntryType::Folder => counts.folders += 1,
            EntryType::Other => counts.others += 1,
        })?;
        Ok(counts)
    }

    /// Lists `folder` in the order of the index, without `.git`.
    pub(super) fn list(&mut self, folder: BorrowedFd<'_>) -> Result<()> {
        self.bytes.clear();
        self.list.clear();
        rustix::fs::seek(folder, SeekFrom::Start(0))?;
        self.read(folder, Self::add)?;
        let bytes = &self.bytes;
        self.list.sort_unstable_by(|one, other| name(bytes, one).cmp(name(bytes, other)));
        Ok(())
    }

    /// Reads the names straight from the system's buffer, without an allocation for each.
    #[cfg(target_os = "linux")]
    fn read(&mut self, folder: BorrowedFd<'_>, mut each: impl FnMut(&mut Self, &[u8], EntryType)) -> Result<()> {
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.reserve(32 * 1024);
        let mut listing = rustix::fs::RawDir::new(folder, buffer.spare_capacity_mut());
        while let Some(entry) = listing.next() {
            let entry = entry?;
            if let Some((name, sort)) = sorted(folder, entry.file_name(), entry.file_type())? {
                each(self, name, sort);
            }
        }
        self.buffer = buffer;
        Ok(())
    }

    /// Reads the names.
    #[cfg(not(target_os = "linux"))]
    fn read(&mut self, folder: BorrowedFd<'_>, mut each: impl FnMut(&mut Self, &[u8], EntryType)) -> Result<()> {
        for entry in rustix::fs::Dir::read_from(folder)? {
            let entry = entry?;
            if let Some((name, sort)) = sorted(folder, entry.file_name(), entry.file_type())? {
                each(self, name, sort);
            }
        }
        Ok(())
    }

    fn add(&mut self, name: &[u8], sort: EntryType) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(name);
        if sort == EntryType::Folder {
            self.bytes.push(b'/');
        }
        self.list.push((start, self.bytes.len() - start, sort));
    }

    /// The names and types, sorted; a folder's name ends in a slash.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], EntryType)> {
        self.list.iter().map(|item| (name(&self.bytes, item), item.2))
    }
}

/// A name in the store.
fn name<'a>(bytes: &'a [u8], item: &(usize, usize, EntryType)) -> &'a [u8] {
    bytes.get(item.0..item.0 + item.1).unwrap_or_default()
}

/// A name with its type; `None` for names that are not listed.
fn sorted<'n>(folder: BorrowedFd<'_>, name: &'n CStr, kind: FileType) -> Result<Option<(&'n [u8], EntryType)>> {
    let bytes = name.to_bytes();
    if matches!(bytes, b"." | b".." | b".git") {
        return Ok(None);
    }
    let kind = match kind {
        FileType::Unknown => FileType::from_raw_mode(statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode),
        kind => kind,
    };
    Ok(Some((bytes, EntryType::from(kind))))
}
