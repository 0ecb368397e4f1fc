//! The version of the installed Claude Code, and what it knows.

use crate::host::event::EventKind;
use base::process::{self, SHOWN_OUTPUT};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;
use std::time::{Duration, Instant};

const VERSION_TIMEOUT: Duration = Duration::from_secs(3);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ClientVersion([u32; 3]);

impl ClientVersion {
    /// Sessions in a subfolder read the local settings of the repository.
    pub(super) const LOCAL_SETTINGS_BELOW: Self = Self([2, 1, 211]);
    /// Exit code 2 with JSON blocks.
    pub(super) const JSON_BLOCKS: Self = Self([2, 1, 90]);
    /// The oldest version in `docs/dev/hosts.md`.
    pub(super) const OLDEST_TESTED: Self = Self([2, 1, 139]);

    /// Whether it has an event; entries for others make it show a warning.
    pub(super) fn knows(self, kind: EventKind) -> bool {
        self.0 >= kind.row().since
    }

    pub(super) fn installed() -> Option<Self> {
        let text = version_output(&find_program("claude")?).ok()?;
        text.split_whitespace().next()?.parse().ok()
    }
}

impl fmt::Display for ClientVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}

impl FromStr for ClientVersion {
    type Err = MalformedVersion;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        version_numbers(text.trim()).map(Self).ok_or(MalformedVersion)
    }
}

/// The numbers of a version, which compare as it does.
pub(super) fn version_numbers(version: &str) -> Option<[u32; 3]> {
    let numbers: Result<Vec<u32>, _> = version.split('.').map(str::parse).collect();
    numbers.ok()?.try_into().ok()
}

#[derive(Debug, thiserror::Error)]
#[error("a version has three numbers, as in 2.1.325")]
pub(super) struct MalformedVersion;

#[derive(Debug, thiserror::Error)]
pub(super) enum VersionError {
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("`--version` does not answer within {} s", VERSION_TIMEOUT.as_secs())]
    Timeout,
    #[error("`--version` prints `{0}`")]
    OtherProgram(String),
}

pub(super) fn version_output(path: &Path) -> Result<String, VersionError> {
    let output =
        process::run(Command::new(path).arg("--version"), None, Instant::now() + VERSION_TIMEOUT, SHOWN_OUTPUT)?;
    output.map(|output| output.stdout_text()).ok_or(VersionError::Timeout)
}

pub(super) fn find_program(program: &str) -> Option<PathBuf> {
    if program.contains(['/', '\\']) {
        return Some(PathBuf::from(program)).filter(|path| path.is_file());
    }
    let name = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths).map(|folder| folder.join(&name)).find(|path| path.is_file())
}
