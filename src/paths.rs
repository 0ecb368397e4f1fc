//! Where things are: home, tree, state; and names fit for a path.
//!
//! The functions that touch the disk are in `live`; this module only computes.

use std::path::{Component, Path, PathBuf};

/// Longer names are cut and told apart by a hash.
const LONGEST: usize = 100;

/// A name fit for a path and a glob: letters, digits, `-`, `_` and `.`; the rest becomes `-`.
///
/// A name that had to change, or is too long, gets a hash of the whole, so two names never meet.
#[must_use]
pub fn safe_name(name: &str) -> String {
    let fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !name.is_empty() && name.len() <= LONGEST && name.chars().all(fit) && !name.starts_with('.') {
        return name.to_owned();
    }
    let short: String = name.chars().take(LONGEST / 2).map(|c| if fit(c) { c } else { '-' }).collect();
    format!("{}-{:016x}", short.trim_matches(['.', '-']), hash(name.as_bytes()))
}

/// A folder's name as people write it: spaces and any letters stay, what could leave the folder or
/// widen a glob goes.
#[must_use]
pub fn folder_name(name: &str) -> String {
    let plain = |c: char| if c.is_control() || "/\\*?[]{}!:<>|\"`$".contains(c) { '-' } else { c };
    let name: String = name.trim().chars().take(LONGEST).map(plain).collect();
    name.trim_matches(['.', '-', ' ']).to_owned()
}

/// FNV-1a, for names and fingerprints; not for evidence.
#[must_use]
pub fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The files of a project that modegate reads and writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectPaths {
    /// The project's folder.
    pub home: PathBuf,
}

impl ProjectPaths {
    /// `.claude/hooks`: a folder with it is a project.
    #[must_use]
    pub fn hooks(&self) -> PathBuf {
        self.home.join(".claude/hooks")
    }

    /// The state.
    #[must_use]
    pub fn cache(&self) -> PathBuf {
        self.hooks().join("cache.json")
    }

    /// What is locked while the state is written.
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        self.hooks().join("cache.lock")
    }

    /// The modes and settings in the form that is read fast.
    #[must_use]
    pub fn compiled(&self) -> PathBuf {
        self.hooks().join("modes.bin")
    }

    /// The journal of a session.
    #[must_use]
    pub fn journal(&self, session: &str) -> PathBuf {
        self.sessions().join(format!("{}.jsonl", safe_name(session)))
    }

    /// The folder of all journals.
    #[must_use]
    pub fn sessions(&self) -> PathBuf {
        self.hooks().join("sessions")
    }

    /// The project's own modes.
    #[must_use]
    pub fn modes(&self) -> PathBuf {
        self.home.join(".claude/modes")
    }

    /// The project's settings.
    #[must_use]
    pub fn settings(&self) -> PathBuf {
        self.home.join(".claude/modegate.yaml")
    }
}

/// `path` without `.` and `..`, as far as that can be said without looking.
#[must_use]
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

/// The project that has lent a worktree to an agent: what stands before `.claude/worktrees/`.
#[must_use]
pub fn worktree_owner(path: &Path) -> Option<PathBuf> {
    let parts: Vec<Component<'_>> = path.components().collect();
    let at = parts.windows(3).position(|three| match three {
        [claude, worktrees, Component::Normal(_)] => {
            claude.as_os_str() == ".claude" && worktrees.as_os_str() == "worktrees"
        }
        _ => false,
    })?;
    Some(parts.get(..at)?.iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_become_plain_ones() {
        assert_eq!(safe_name("abc-123"), "abc-123");
        for hostile in ["../../etc", "*", "a\0b", "..", ".", "", "a/b", "\u{202e}x", &"x".repeat(4096)] {
            let safe = safe_name(hostile);
            assert!(safe.len() <= LONGEST + 17 && !safe.starts_with('.'), "{safe}");
            assert!(safe.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)), "{safe}");
        }
        assert_ne!(safe_name("a/b"), safe_name("a-b"));
    }

    #[test]
    fn folders_keep_their_letters_and_lose_their_teeth() {
        assert_eq!(folder_name("User Login"), "User Login");
        assert_eq!(folder_name("Größe"), "Größe");
        assert_eq!(folder_name("../../etc/*"), "etc");
        assert!(folder_name(&"x".repeat(4096)).len() <= LONGEST);
    }

    #[test]
    fn an_agents_worktree_has_a_lender() {
        assert_eq!(worktree_owner(Path::new("/p/.claude/worktrees/agent-1/src")), Some(PathBuf::from("/p")));
        assert_eq!(worktree_owner(Path::new("/p/.claude/worktrees")), None);
    }
}
