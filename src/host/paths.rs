//! The paths of a project's files.

pub use base::paths::*;
use std::path::{Component, Path, PathBuf};

/// What the names of a plugin's context files begin with; the project has no such folder.
pub const PLUGIN_CONTEXT: &str = "plugin/";

/// The files of a project that modegate reads and writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectPaths {
    /// The user's home, which a project's settings cannot move.
    pub user: Option<PathBuf>,
    pub home: PathBuf,
    /// The project's folder in the user's state folder; `None` if that could only be inside the repository.
    pub state_dir: Option<PathBuf>,
    /// The user's own settings file, which may be missing; the user's `hooks.toml` is next to it.
    pub user_settings: Option<PathBuf>,
    /// The folder of the plugin whose hook called modegate.
    pub plugin: Option<PathBuf>,
}

impl ProjectPaths {
    /// `.claude/hooks`: a folder with it is a project.
    pub fn hooks(&self) -> PathBuf {
        self.home.join(".claude/hooks")
    }

    pub fn cache(&self) -> PathBuf {
        self.home.join(".claude/hooks/cache.json")
    }

    pub fn lock(&self) -> PathBuf {
        self.home.join(".claude/hooks/cache.lock")
    }

    /// The compiled modes and settings: never in the project, since a repository could supply them.
    pub fn compiled(&self) -> Option<PathBuf> {
        self.state_dir.as_ref().map(|own| own.join("modes.bin"))
    }

    /// The record of what the user has agreed to.
    pub fn trust(&self) -> Option<PathBuf> {
        self.state_dir.as_ref().map(|own| own.join("trust.json"))
    }

    /// The record of hook entries and program.
    pub fn installation(&self) -> Option<PathBuf> {
        self.state_dir.as_ref().map(|own| own.join("installation.json"))
    }

    /// The user's copy of the program, in the state folder.
    pub fn user_program(&self) -> Option<PathBuf> {
        self.state_dir.as_ref()?.ancestors().nth(2).map(user_program)
    }

    pub fn journal(&self, session: &str) -> PathBuf {
        self.home.join([".claude/hooks/sessions/", &safe_name(session), ".jsonl"].concat())
    }

    pub fn sessions(&self) -> PathBuf {
        self.home.join(".claude/hooks/sessions")
    }

    pub fn modes(&self) -> PathBuf {
        self.home.join(".claude/modes")
    }

    pub fn settings(&self) -> PathBuf {
        self.home.join(".claude/modegate.yaml")
    }
}

/// The user's copy of the program in a state folder: one for all projects.
pub fn user_program(state: &Path) -> PathBuf {
    state.join(format!("bin/modegate{}", std::env::consts::EXE_SUFFIX))
}

/// The project that owns an agent's worktree: the part before `.claude/worktrees/`.
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

/// The name that the host gives to the folder of a project's transcripts.
pub(crate) fn transcript_folder(project: &str) -> String {
    let plain = |unit: u16| char::from_u32(unit.into()).filter(char::is_ascii_alphanumeric).unwrap_or('-');
    project.encode_utf16().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agents_worktree_has_an_owner() {
        assert_eq!(worktree_owner(Path::new("/p/.claude/worktrees/agent-1/src")), Some(PathBuf::from("/p")));
        assert_eq!(worktree_owner(Path::new("/p/.claude/worktrees")), None);
    }
}
