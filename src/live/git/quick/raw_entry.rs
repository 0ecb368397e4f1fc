//! An undecoded entry of the index, versions 2 to 4.

use gix::{ObjectId, hash};

use super::entry::{IndexEntry, IndexStat};

/// An undecoded entry.
pub(super) struct RawEntry<'a> {
    head: &'a [u8],
    flags: u16,
    extended: u16,
    pub(super) path: &'a [u8],
    pub(super) size: usize,
}

impl<'a> RawEntry<'a> {
    /// The entry at the start of `bytes`, `None` when they end too early.
    pub(super) fn parse(bytes: &'a [u8], version: u32, kind: hash::Kind, previous: &'a mut Vec<u8>) -> Option<Self> {
        let id = kind.len_in_bytes();
        let flags = short(bytes, 40 + id)?;
        let long = version > 2 && flags & 0x4000 != 0;
        let extended = if long { short(bytes, 42 + id)? } else { 0 };
        let start = if long { 44 + id } else { 42 + id };
        let head = bytes.get(..40 + id)?;
        let rest = bytes.get(start..)?;
        if version == 4 {
            let (strip, length) = varint(rest)?;
            let rest = rest.get(length..)?;
            let end = rest.iter().position(|byte| *byte == 0)?;
            previous.truncate(previous.len().checked_sub(strip)?);
            previous.extend_from_slice(rest.get(..end)?);
            return Some(Self { head, flags, extended, path: previous, size: start + length + end + 1 });
        }
        let length = match usize::from(flags & 0xfff) {
            0xfff => rest.iter().position(|byte| *byte == 0)?,
            length => length,
        };
        let size = (start + length + 8) & !7;
        bytes.get(..size)?;
        Some(Self { head, flags, extended, path: rest.get(..length)?, size })
    }

    /// Whether this is a submodule.
    pub(super) fn is_link(&self) -> bool {
        number(self.head, 24) == Some(0o160_000)
    }

    /// The entry, decoded, with its path at `path` of the store.
    pub(super) fn entry(&self, path: (u32, u32), kind: hash::Kind) -> Option<IndexEntry> {
        let (numbers, id) = self.head.split_first_chunk::<40>()?;
        let at = |offset| number(numbers, offset);
        let id = id.get(..kind.len_in_bytes())?;
        Some(IndexEntry {
            stat: IndexStat {
                ctime: at(0)?,
                ctime_nanos: at(4)?,
                mtime: at(8)?,
                mtime_nanos: at(12)?,
                ino: at(20)?,
                uid: at(28)?,
                gid: at(32)?,
                size: at(36)?,
            },
            mode: at(24)?,
            id: ObjectId::try_from(id).ok()?,
            flags: self.flags,
            extended: self.extended,
            path,
        })
    }
}

/// A variable-length number of git's, and its size in bytes.
fn varint(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0_usize;
    for (position, byte) in bytes.iter().enumerate() {
        value = value.checked_mul(128)?.checked_add(usize::from(byte & 127))?;
        if byte & 128 == 0 {
            return Some((value, position + 1));
        }
        value += 1;
    }
    None
}

/// The big-endian number at `offset`.
pub(super) fn number(bytes: &[u8], offset: usize) -> Option<u32> {
    let four = bytes.get(offset..offset + 4)?;
    Some(u32::from_be_bytes(four.try_into().ok()?))
}

/// The big-endian number of two bytes at `offset`.
fn short(bytes: &[u8], offset: usize) -> Option<u16> {
    let two = bytes.get(offset..offset + 2)?;
    Some(u16::from_be_bytes(two.try_into().ok()?))
}
