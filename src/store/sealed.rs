//! Files in the user's folder with a seal, which only the user's key can make.

use crate::disk::{self, LinkPolicy};
use crate::user_folder::UserKey;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::io;
use std::path::Path;

/// The version this modegate writes.
const VERSION: u64 = 1;

/// The largest file that is read.
const LARGEST: u64 = 64 << 20;

/// Whether a file of the store could be read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum StateStatus {
    /// As modegate wrote it.
    Sound,
    /// The file is missing.
    #[default]
    Missing,
    /// Not what modegate wrote, for this reason.
    Broken(String),
    /// The file system failed, for this reason.
    Unreadable(String),
    /// Written by a later modegate.
    Newer(u64),
}

/// The outside of the file; its seal is over the exact text of the content.
#[derive(Deserialize)]
struct Envelope<'a> {
    version: u64,
    seal: String,
    #[serde(borrow)]
    content: &'a RawValue,
}

/// Reads a file that was sealed for `purpose`.
pub(crate) fn read<T: DeserializeOwned>(
    path: &Path,
    key: impl FnOnce() -> io::Result<UserKey>,
    purpose: &[&[u8]],
) -> Result<T, StateStatus> {
    let bytes = disk::read(path, LARGEST).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => StateStatus::Missing,
        io::ErrorKind::InvalidInput | io::ErrorKind::IsADirectory => StateStatus::Broken(disk::reason(&error)),
        _ => StateStatus::Unreadable(error.to_string()),
    })?;
    let broken = |error: serde_json::Error| StateStatus::Broken(error.to_string());
    let envelope: Envelope<'_> = serde_json::from_slice(&bytes).map_err(broken)?;
    if envelope.version > VERSION {
        return Err(StateStatus::Newer(envelope.version));
    }
    let key = key().map_err(|error| StateStatus::Unreadable(error.to_string()))?;
    let content = envelope.content.get();
    let texts: Vec<&[u8]> = purpose.iter().copied().chain([content.as_bytes()]).collect();
    if !from_hex(&envelope.seal).is_some_and(|seal| key.accepts(&seal, &texts)) {
        return Err(StateStatus::Broken("its seal is not this user's".to_owned()));
    }
    serde_json::from_str(content).map_err(broken)
}

/// Whether a file must survive a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// It must.
    Synced,
    /// It can be made again.
    Lossy,
}

/// Writes a file with a seal for `purpose`.
pub(crate) fn write(
    path: &Path,
    key: &UserKey,
    purpose: &[&[u8]],
    content: &impl Serialize,
    durability: Durability,
) -> io::Result<()> {
    let content = serde_json::to_string(content)?;
    let texts: Vec<&[u8]> = purpose.iter().copied().chain([content.as_bytes()]).collect();
    let seal = hex(&key.seal(&texts));
    let text = format!("{{\"version\":{VERSION},\"seal\":\"{seal}\",\"content\":{content}}}\n");
    match durability {
        Durability::Synced => disk::write(path, text.as_bytes(), LinkPolicy::Replace),
        Durability::Lossy => disk::write_unsynced(path, text.as_bytes()),
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _: std::fmt::Result = write!(text, "{byte:02x}");
        text
    })
}

pub(super) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_sealed_for_the_purpose_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let key = UserKey::open(&folder.path().join("state/projects/app")).unwrap();
        let path = folder.path().join("file");
        let read = |purpose: &[&[u8]]| super::read::<Vec<u32>>(&path, || Ok(key.clone()), purpose);
        assert_eq!(read(&[b"a"]), Err(StateStatus::Missing));
        write(&path, &key, &[b"a"], &[1, 2], Durability::Synced).unwrap();
        assert_eq!(read(&[b"a"]), Ok(vec![1, 2]));
        assert!(matches!(read(&[b"b"]), Err(StateStatus::Broken(_))));
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("[1,2]", "[1,3]")).unwrap();
        assert!(matches!(read(&[b"a"]), Err(StateStatus::Broken(_))));
        std::fs::write(&path, text.replace("\"version\":1", "\"version\":9")).unwrap();
        assert_eq!(read(&[b"a"]), Err(StateStatus::Newer(9)));
        for other in ["", "{}", "null", "{\"version\":1}"] {
            std::fs::write(&path, other).unwrap();
            assert!(matches!(read(&[b"a"]), Err(StateStatus::Broken(_))), "{other}");
        }
    }
}
