//! The list of files and folders that `install` created, so that `uninstall` removes only those.

use super::file_change::{ChangeAction, FileChange, FileClass};
use super::install_target::InstallTarget;
use crate::state::trust::relative;
use base::digest::sha256;
use base::disk;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

/// What `install` wrote below a `.claude` folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct InstallManifest {
    version: String,
    at: String,
    /// Each file, with the hash of what was written.
    files: BTreeMap<String, String>,
    /// The folders that did not exist before.
    folders: BTreeSet<String>,
    /// The lines added to the user's own `.gitignore`.
    pub(super) ignored: Vec<String>,
}

impl InstallManifest {
    fn path(target: &InstallTarget) -> PathBuf {
        target.own.join("installed.json")
    }

    /// The manifest of a target; empty if there is none.
    pub(super) fn read(target: &InstallTarget) -> Self {
        let bytes = disk::read(&Self::path(target), disk::SMALL).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    pub(super) fn time(&self) -> Option<Timestamp> {
        self.at.parse().ok()
    }

    pub(super) fn add_folders(&mut self, target: &InstallTarget, folders: &[PathBuf]) {
        self.folders.extend(folders.iter().map(|folder| key(target, folder)));
    }

    /// Adds what a change has written.
    pub(super) fn add(&mut self, target: &InstallTarget, change: &FileChange) {
        let ChangeAction::Write { before, after, class } = &change.action else { return };
        match (class, before) {
            (FileClass::User, _) => {}
            (FileClass::Own, Some(before)) if change.path.ends_with(".gitignore") => {
                let after = String::from_utf8_lossy(after);
                let added = after.lines().filter(|line| !before.lines().any(|own| own == *line));
                self.ignored.extend(added.map(str::to_owned));
            }
            // The user's copy of the program has a record of its own.
            _ if !change.path.starts_with(&target.claude) => {}
            _ => drop(self.files.insert(key(target, &change.path), sha256(after))),
        }
    }

    /// Whether `install` created a file that still exists.
    pub(super) fn has(&self, target: &InstallTarget, path: &Path) -> bool {
        self.files.contains_key(&key(target, path)) && path.is_file()
    }

    /// Whether a file is still as `install` wrote it.
    pub(super) fn is_unchanged(&self, target: &InstallTarget, path: &Path) -> bool {
        let written = self.files.get(&key(target, path));
        written.is_some_and(|hash| disk::read(path, disk::LARGEST).is_ok_and(|bytes| sha256(&bytes) == *hash))
    }

    pub(super) fn write(&mut self, target: &InstallTarget) -> io::Result<()> {
        env!("CARGO_PKG_VERSION").clone_into(&mut self.version);
        if self.at.is_empty() {
            self.at = Timestamp::now().to_string();
        }
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        disk::write(&Self::path(target), format!("{text}\n").as_bytes(), disk::LinkPolicy::Replace)
    }

    /// Forgets removed files, or all if `kept` is false; then removes the folders that are empty.
    ///
    /// A folder that a link leads out of the project is not modegate's.
    pub(super) fn retire(mut self, target: &InstallTarget, kept: bool) {
        if target.require_inside(&Self::path(target)).is_err() {
            return;
        }
        let _: io::Result<()> = if kept {
            self.files.retain(|file, _| target.claude.join(file).is_file());
            self.write(target)
        } else {
            fs::remove_file(Self::path(target))
        };
        let _: io::Result<()> = fs::remove_dir(target.own.join("sessions"));
        // The deepest first: keys below a folder sort after it.
        for folder in self.folders.iter().rev().filter(|folder| is_below(folder)) {
            let folder = target.claude.join(folder);
            let _: io::Result<()> = target.require_inside(&folder).and_then(|()| fs::remove_dir(&folder));
        }
    }
}

/// Whether a key is a path below `.claude`: a repository may have brought the manifest along.
fn is_below(key: &str) -> bool {
    Path::new(key).components().all(|part| matches!(part, Component::Normal(_)))
}

/// A path below `.claude` with forward slashes; empty for `.claude` itself.
fn key(target: &InstallTarget, path: &Path) -> String {
    relative(path, &target.claude)
}
