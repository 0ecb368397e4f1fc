//! What `install` wrote here: so that `uninstall` takes out that, and nothing else.

use super::install_target::InstallTarget;
use crate::disk;
use crate::redact::sha256;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The files that `install` has put into a `.claude` folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct InstallManifest {
    /// Which modegate it was.
    version: String,
    /// When.
    pub(super) at: String,
    /// Each file below `.claude`, with the hash of what was written.
    files: BTreeMap<String, String>,
    /// The lines that were added to a `.gitignore` of the user's.
    pub(super) ignored: Vec<String>,
}

impl InstallManifest {
    fn path(target: &InstallTarget) -> PathBuf {
        target.own.join("installed.json")
    }

    /// The manifest of a target; where there is none, nothing was written.
    pub(super) fn read(target: &InstallTarget) -> Self {
        let bytes = fs::read(Self::path(target)).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    /// When modegate was installed.
    pub(super) fn time(&self) -> Option<Timestamp> {
        self.at.parse().ok()
    }

    /// Writes down that `bytes` were put at `path`.
    pub(super) fn note(&mut self, target: &InstallTarget, path: &Path, bytes: &[u8]) {
        self.files.insert(key(target, path), sha256(bytes));
    }

    /// Whether a file is there because `install` has put it there.
    pub(super) fn has(&self, target: &InstallTarget, path: &Path) -> bool {
        self.files.contains_key(&key(target, path)) && path.is_file()
    }

    /// Whether a file is still as `install` has put it there.
    pub(super) fn vouches(&self, target: &InstallTarget, path: &Path) -> bool {
        let written = self.files.get(&key(target, path));
        written.is_some_and(|hash| fs::read(path).is_ok_and(|bytes| sha256(&bytes) == *hash))
    }

    pub(super) fn write(&mut self, target: &InstallTarget) -> io::Result<()> {
        env!("CARGO_PKG_VERSION").clone_into(&mut self.version);
        if self.at.is_empty() {
            self.at = Timestamp::now().to_string();
        }
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        disk::replace(&target.own.join("installed.tmp"), &Self::path(target), format!("{text}\n").as_bytes())
    }

    pub(super) fn remove(target: &InstallTarget) {
        let _: io::Result<()> = fs::remove_file(Self::path(target));
    }
}

fn key(target: &InstallTarget, path: &Path) -> String {
    path.strip_prefix(&target.claude).unwrap_or(path).to_string_lossy().replace('\\', "/")
}
