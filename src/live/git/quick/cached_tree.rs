//! The cached tree of the index: the folders whose staged content is an existing tree.

use std::collections::HashMap;

use gix::{ObjectId, hash};

/// A folder of the cached tree, decoded only as far as it is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct CachedTree<'a> {
    /// The tree, unless something in the folder was staged since.
    pub(super) id: Option<ObjectId>,
    /// How many folders it has.
    count: usize,
    /// Those folders, and whatever follows them.
    rest: &'a [u8],
    id_length: usize,
}

impl<'a> CachedTree<'a> {
    /// The root; `None` if the extension is missing or broken.
    pub(super) fn decode(bytes: &'a [u8], kind: hash::Kind) -> Option<Self> {
        Self::next(bytes, kind.len_in_bytes()).map(|(_, root)| root)
    }

    /// The folder `name` inside this one.
    pub(super) fn child(&self, name: &[u8]) -> Option<Self> {
        self.children().find(|(found, _)| *found == name).map(|(_, child)| child)
    }

    /// The folders inside this one, by name.
    pub(super) fn by_name(&self) -> HashMap<&'a [u8], Self> {
        self.children().collect()
    }

    /// The folders inside this one; a broken one ends the list.
    fn children(&self) -> impl Iterator<Item = (&'a [u8], Self)> + use<'a> {
        let (mut rest, id_length) = (self.rest, self.id_length);
        (0..self.count).map_while(move |_| {
            let (name, child) = Self::next(rest, id_length)?;
            rest = child.after()?;
            Some((name, child))
        })
    }

    /// What follows the folders inside this one.
    fn after(&self) -> Option<&'a [u8]> {
        let (mut rest, mut left) = (self.rest, self.count);
        while let Some(others) = left.checked_sub(1) {
            let (_, inner) = Self::next(rest, self.id_length)?;
            (rest, left) = (inner.rest, others.checked_add(inner.count)?);
        }
        Some(rest)
    }

    /// The folder at the start of `bytes`, and its name.
    fn next(mut bytes: &'a [u8], id_length: usize) -> Option<(&'a [u8], Self)> {
        let name = until(&mut bytes, 0)?;
        let entries: i64 = digits(until(&mut bytes, b' ')?)?;
        let count = usize::try_from(digits(until(&mut bytes, b'\n')?)?).ok()?;
        let id = if entries < 0 { None } else { Some(ObjectId::try_from(take(&mut bytes, id_length)?).ok()?) };
        Some((name, Self { id, count, rest: bytes, id_length }))
    }
}

/// Takes the bytes before `end`, and `end` itself.
fn until<'a>(bytes: &mut &'a [u8], end: u8) -> Option<&'a [u8]> {
    let position = bytes.iter().position(|byte| *byte == end)?;
    let head = take(bytes, position)?;
    take(bytes, 1)?;
    Some(head)
}

/// Takes the first `length` bytes.
fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (head, tail) = bytes.split_at_checked(length)?;
    *bytes = tail;
    Some(head)
}

/// A number in decimal digits.
fn digits(text: &[u8]) -> Option<i64> {
    str::from_utf8(text).ok()?.parse().ok()
}
