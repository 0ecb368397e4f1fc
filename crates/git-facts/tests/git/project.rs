//! A folder for a repository, and programs that run without this machine's settings.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

pub struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    /// An empty folder; its name has a space and a letter outside ASCII, as real ones do.
    pub fn new() -> Self {
        let project = Self { folder: tempfile::Builder::new().prefix("git ä").tempdir().unwrap() };
        std::fs::create_dir_all(project.home()).unwrap();
        project
    }

    pub fn home(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("app")
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.home().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// A command without the environment and settings of this machine.
    pub fn plain(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", self.folder.path());
        command.envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_AUTHOR_NAME", "t"), ("GIT_AUTHOR_EMAIL", "t@example.com")]);
        command.envs([("GIT_COMMITTER_NAME", "t"), ("GIT_COMMITTER_EMAIL", "t@example.com")]);
        command
    }
}
