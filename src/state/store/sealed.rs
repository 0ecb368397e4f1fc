//! Files in the user's folder with a seal, which only the user's key can make.

use crate::state::user_folder::UserKey;
use base::disk::{self, LineFile, LinkPolicy};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::io;
use std::path::Path;

const VERSION: u64 = 1;

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

/// What a seal is for: the folder `own` of the project is part of it, so that no file serves another project.
pub(crate) fn purpose<'a>(file: &'static [u8], own: &'a Path) -> [&'a [u8]; 2] {
    [file, own.file_name().unwrap_or_default().as_encoded_bytes()]
}

/// Reads the last line of a file that was sealed for `purpose`.
pub(crate) fn read<T: DeserializeOwned>(
    path: &Path,
    key: impl FnOnce() -> io::Result<UserKey>,
    purpose: &[&[u8]],
) -> Result<T, StateStatus> {
    decode(&read_bytes(path)?, key, purpose)
}

pub(super) fn read_bytes(path: &Path) -> Result<Vec<u8>, StateStatus> {
    disk::read(path, LARGEST).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => StateStatus::Missing,
        io::ErrorKind::InvalidInput | io::ErrorKind::IsADirectory => StateStatus::Broken(disk::reason(&error)),
        _ => StateStatus::Unreadable(error.to_string()),
    })
}

pub(super) fn decode<T: DeserializeOwned>(
    bytes: &[u8],
    key: impl FnOnce() -> io::Result<UserKey>,
    purpose: &[&[u8]],
) -> Result<T, StateStatus> {
    let broken = |error: serde_json::Error| StateStatus::Broken(error.to_string());
    let envelope: Envelope<'_> = serde_json::from_slice(last_line(bytes)).map_err(broken)?;
    if envelope.version > VERSION {
        return Err(StateStatus::Newer(envelope.version));
    }
    let key = key().map_err(|error| StateStatus::Unreadable(error.to_string()))?;
    let content = envelope.content.get();
    let texts: Vec<&[u8]> = purpose.iter().copied().chain([content.as_bytes()]).collect();
    if key.seal(&texts) != envelope.seal {
        return Err(StateStatus::Broken("its seal is not this user's".to_owned()));
    }
    serde_json::from_slice(content.as_bytes()).map_err(broken)
}

/// The content of the last line of a file, whoever sealed it.
pub(super) fn unverified<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let envelope: Envelope<'_> = serde_json::from_slice(last_line(bytes)).ok()?;
    serde_json::from_slice(envelope.content.get().as_bytes()).ok()
}

/// Whether a file must survive a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    Synced,
    Lossy,
}

/// The last whole line: a killed writer may have left a part of one behind it.
fn last_line(bytes: &[u8]) -> &[u8] {
    let mut ends = bytes.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
    let Some(end) = ends.next() else { return bytes };
    let start = ends.next().map_or(0, |before| before + 1);
    bytes.get(start..end).unwrap_or_default()
}

pub(crate) fn write(
    path: &Path,
    key: &UserKey,
    purpose: &[&[u8]],
    content: &impl Serialize,
    durability: Durability,
) -> io::Result<()> {
    write_whole(path, &sealed_line(key, purpose, content)?, durability)
}

/// Adds a line with a seal for `purpose`, which takes the place of the lines before it.
///
/// Creating a file takes ten times as long as adding to one, so that is done only while the file is missing, and when it
/// has become long.
pub(super) fn append(
    path: &Path,
    key: &UserKey,
    purpose: &[&[u8]],
    content: &impl Serialize,
    durability: Durability,
) -> io::Result<()> {
    /// Every event reads the file.
    const LONGEST: u64 = 8 * 1024;
    let line = sealed_line(key, purpose, content)?;
    let appended = LineFile::read(path, LONGEST)
        .and_then(|file| file.append(line.as_bytes(), LONGEST, durability == Durability::Synced));
    appended.or_else(|_| write_whole(path, &line, durability))
}

fn write_whole(path: &Path, line: &str, durability: Durability) -> io::Result<()> {
    match durability {
        Durability::Synced => disk::write(path, line.as_bytes(), LinkPolicy::Replace),
        Durability::Lossy => disk::write_unsynced(path, line.as_bytes()),
    }
}

fn sealed_line(key: &UserKey, purpose: &[&[u8]], content: &impl Serialize) -> io::Result<String> {
    let content = serde_json::to_string(content)?;
    let texts: Vec<&[u8]> = purpose.iter().copied().chain([content.as_bytes()]).collect();
    let seal = key.seal(&texts);
    Ok(format!("{{\"version\":{VERSION},\"seal\":\"{seal}\",\"content\":{content}}}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_whole_line_counts() {
        let folder = tempfile::tempdir().unwrap();
        let key = UserKey::open(&folder.path().join("state/projects/app")).unwrap();
        let path = folder.path().join("file");
        let read = || super::read::<Vec<usize>>(&path, || Ok(key.clone()), &[b"a"]);
        let text = || std::fs::read_to_string(&path).unwrap();
        for number in 0..300 {
            let durability = if number % 2 == 0 { Durability::Synced } else { Durability::Lossy };
            append(&path, &key, &[b"a"], &[number], durability).unwrap();
            assert_eq!(read(), Ok(vec![number]));
        }
        assert!(text().lines().count() > 1 && text().len() <= 8 * 1024, "{}", text().len());
        // A killed writer left a part of a line.
        let whole = text();
        std::fs::write(&path, format!("{whole}{{\"version\":1,\"se")).unwrap();
        assert_eq!(read(), Ok(vec![299]));
        append(&path, &key, &[b"a"], &[300], Durability::Lossy).unwrap();
        assert_eq!((read(), text().lines().count()), (Ok(vec![300]), 1));
        // Something else wrote a line.
        std::fs::write(&path, format!("{whole}{{}}\n")).unwrap();
        assert!(matches!(read(), Err(StateStatus::Broken(_))));
        // A line that does not fit is a file of its own.
        append(&path, &key, &[b"a"], &vec![7; 10_000], Durability::Lossy).unwrap();
        assert_eq!((read(), text().lines().count()), (Ok(vec![7; 10_000]), 1));
    }

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
