//! The cached tree of the index: the folders whose staged content is an existing tree.

use gix::{ObjectId, hash};

/// A folder of the cached tree.
#[derive(Debug)]
pub(super) struct CachedTree {
    name: Vec<u8>,
    /// The tree, unless something in the folder was staged since.
    pub(super) id: Option<ObjectId>,
    children: Vec<CachedTree>,
}

impl CachedTree {
    /// Decodes the extension; `None` if it is missing or broken.
    pub(super) fn decode(bytes: &[u8], kind: hash::Kind) -> Option<Self> {
        Self::next(&mut &*bytes, kind.len_in_bytes(), 0)
    }

    /// The folder `name` inside this one.
    pub(super) fn child(&self, name: &[u8]) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    fn next(bytes: &mut &[u8], id: usize, depth: usize) -> Option<Self> {
        // Deeper than any real path.
        if depth > 2048 {
            return None;
        }
        let name = until(bytes, 0)?.to_vec();
        let entries: i64 = digits(until(bytes, b' ')?)?;
        let count = usize::try_from(digits(until(bytes, b'\n')?)?).ok()?;
        let tree = if entries < 0 { None } else { Some(ObjectId::try_from(take(bytes, id)?).ok()?) };
        let mut children = Vec::new();
        for _ in 0..count {
            children.push(Self::next(bytes, id, depth + 1)?);
        }
        Some(Self { name, id: tree, children })
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
