//! One entry of the index, and whether a file's `lstat` proves that it is unchanged.

use gix::ObjectId;
use rustix::fs::{FileType, Stat};

/// The side of a conflict.
const STAGE: u16 = 0x3000;
/// Skip-worktree.
const SKIPPED: u16 = 0x4000;
/// Added with `git add -N`.
const INTENDED: u16 = 0x2000;

/// The `lstat` fields of a file when it was last known to be unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct IndexStat {
    pub(super) ctime: u32,
    pub(super) ctime_nanos: u32,
    pub(super) mtime: u32,
    pub(super) mtime_nanos: u32,
    pub(super) ino: u32,
    pub(super) uid: u32,
    pub(super) gid: u32,
    pub(super) size: u32,
}

/// One entry of the index.
#[derive(Debug, Clone)]
pub(super) struct IndexEntry {
    pub(super) stat: IndexStat,
    pub(super) mode: u32,
    pub(super) id: ObjectId,
    pub(super) flags: u16,
    pub(super) extended: u16,
    /// Where its path starts in the index's store of paths, and how long it is.
    pub(super) path: (u32, u32),
}

impl IndexEntry {
    /// Whether this is one side of an unresolved conflict.
    pub(super) fn is_conflicted(&self) -> bool {
        self.flags & STAGE != 0
    }

    /// Whether the file is marked skip-worktree.
    pub(super) fn is_skipped(&self) -> bool {
        self.extended & SKIPPED != 0
    }

    /// Whether `git add -N` made this entry: the content is not staged yet.
    pub(super) fn is_intended(&self) -> bool {
        self.extended & INTENDED != 0
    }

    /// Whether this is neither part of a conflict nor only intended.
    pub(super) fn is_plain(&self) -> bool {
        !self.is_conflicted() && !self.is_intended()
    }

    /// Whether this is a symbolic link.
    pub(super) fn is_link(&self) -> bool {
        self.mode == 0o120_000
    }

    /// Whether `seen` is of the entry's type: both a file, or both a symbolic link.
    pub(super) fn is_same_type(&self, seen: &Stat) -> bool {
        let wanted = if self.is_link() { FileType::Symlink } else { FileType::RegularFile };
        FileType::from_raw_mode(seen.st_mode) == wanted
    }

    /// Whether the executable bit of `seen` is the entry's, where that counts.
    pub(super) fn is_same_mode(&self, seen: &Stat) -> bool {
        self.is_link() || low(seen.st_mode) & 0o100 == self.mode & 0o100
    }

    /// Whether `seen` alone proves that the file is what the index says.
    ///
    /// `modes` says whether the executable bit counts. `written` is when the index was: a file of the same second may have changed after it without a
    /// trace. Size 0 is git's mark for such a file, unless the content is indeed empty.
    pub(super) fn is_proven(&self, seen: &Stat, modes: bool, written: i64) -> bool {
        let then = self.stat;
        let now = IndexStat {
            ctime: low(seen.st_ctime),
            mtime: low(seen.st_mtime),
            // Some programs leave the fractions out when they write the index.
            ctime_nanos: if then.ctime_nanos == 0 { 0 } else { low(seen.st_ctime_nsec) },
            mtime_nanos: if then.mtime_nanos == 0 { 0 } else { low(seen.st_mtime_nsec) },
            ino: low(seen.st_ino),
            uid: low(seen.st_uid),
            gid: low(seen.st_gid),
            size: low(seen.st_size),
        };
        then == now
            && self.is_same_type(seen)
            && (!modes || self.is_same_mode(seen))
            && i64::from(then.mtime) < written
            && (then.size != 0 || self.id == ObjectId::empty_blob(self.id.kind()))
    }
}

/// The low 32 bits, which are all that the index has room for.
pub(super) fn low(value: impl Into<i128>) -> u32 {
    let [a, b, c, d, ..] = value.into().to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}
