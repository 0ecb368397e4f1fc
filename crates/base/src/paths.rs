//! Names that are safe in a path, lexical paths, and hashes.

use crate::printable;
use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

/// Longer names are cut and get a hash.
const LONGEST: usize = 100;

/// A name that is safe in a path and a glob: letters, digits, `-`, `_` and `.`; the rest becomes `-`.
///
/// A changed or cut name gets a hash of the original, so that two names never collide.
pub fn safe_name(name: &str) -> Cow<'_, str> {
    let fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !name.is_empty() && name.len() <= LONGEST && name.chars().all(fit) && !name.starts_with('.') {
        return name.into();
    }
    let short: String = name.chars().take(LONGEST / 2).map(|c| if fit(c) { c } else { '-' }).collect();
    format!("{}-{:016x}", short.trim_matches(['.', '-']), hash(name.as_bytes())).into()
}

/// A folder name that keeps spaces and letters, without characters that could leave the folder or
/// widen a glob.
pub fn folder_name(name: &str) -> String {
    let plain = |c: char| if printable::is_unsafe(c) || "/\\*?[]{}!:<>|\"`$".contains(c) { '-' } else { c };
    let name: String = name.trim().chars().take(LONGEST).map(plain).collect();
    name.trim_matches(['.', '-', ' ']).to_owned()
}

/// FNV-1a, for names and fingerprints; not for evidence.
pub fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A checksum that finds damage and changes, eight bytes at a time; not for evidence.
pub fn checksum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mix = |sum: u64, word: u64| (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let sum = words.iter().fold(bytes.len() as u64, |sum, word| mix(sum, u64::from_le_bytes(*word)));
    rest.iter().fold(sum, |sum, byte| mix(sum, u64::from(*byte)))
}

/// The path that a tool is given: in the user's home, or in the current folder.
pub fn given_path(text: &str, cwd: &Path, home: &Path) -> PathBuf {
    text.strip_prefix("~/").map_or_else(|| cwd.join(text), |rest| home.join(rest))
}

/// `path` without `.` and `..`, resolved lexically.
pub fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
}

/// A path as text with `/` between its parts, on Windows, too: globs and mode files are written with it.
pub fn with_slashes(path: &Path) -> String {
    let text = path.to_string_lossy();
    if cfg!(windows) { text.replace('\\', "/") } else { text.into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_become_safe() {
        assert_eq!(safe_name("abc-123"), "abc-123");
        for hostile in ["../../etc", "*", "a\0b", "..", ".", "", "a/b", "\u{202e}x", &"x".repeat(4096)] {
            let safe = safe_name(hostile);
            assert!(safe.len() <= LONGEST + 17 && !safe.starts_with('.'), "{safe}");
            assert!(safe.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)), "{safe}");
        }
        assert_ne!(safe_name("a/b"), safe_name("a-b"));
    }

    #[test]
    fn folder_names_keep_letters_and_lose_special_characters() {
        assert_eq!(folder_name("User Login"), "User Login");
        assert_eq!(folder_name("Größe"), "Größe");
        assert_eq!(folder_name("../../etc/*"), "etc");
        assert!(folder_name(&"x".repeat(4096)).len() <= LONGEST);
    }
}
