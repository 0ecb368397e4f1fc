//! The user's copy of the program, which all installations of the user share.

use super::client_version::version_numbers;
use super::file_change::FileChange;
use super::install_target::InstallTarget;
use base::disk;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

pub(super) struct UserCopy {
    pub(super) program: PathBuf,
    record: CopyRecord,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct CopyRecord {
    version: String,
    settings: BTreeSet<String>,
}

impl UserCopy {
    /// The copy that an installation uses; `None` without a state folder outside the repository.
    pub(super) fn of_target(target: &InstallTarget) -> Option<Self> {
        let program = target.user_program()?;
        let bytes = disk::read(&record_of(&program), disk::SMALL).unwrap_or_default();
        Some(Self { record: serde_json::from_slice(&bytes).unwrap_or_default(), program })
    }

    /// The version of the copy, if it is newer than this program.
    pub(super) fn newer_version(&self) -> Option<&str> {
        let (copy, own) = (version_numbers(&self.record.version), version_numbers(env!("CARGO_PKG_VERSION")));
        (copy > own && self.program.is_file()).then_some(&self.record.version)
    }

    /// Records an installation that uses it.
    pub(super) fn add_user(mut self, settings: &Path) -> io::Result<()> {
        if self.newer_version().is_none() {
            env!("CARGO_PKG_VERSION").clone_into(&mut self.record.version);
        }
        self.record.settings.insert(settings.to_string_lossy().into_owned());
        self.write()
    }

    /// Removes installations from its record; returns its removal if no other one uses it.
    pub(super) fn remove_users(&mut self, targets: &[InstallTarget]) -> Option<FileChange> {
        let own: BTreeSet<String> =
            targets.iter().map(|target| target.settings.to_string_lossy().into_owned()).collect();
        let was_used = !self.record.settings.is_disjoint(&own);
        // A project may have been deleted without `uninstall`.
        self.record.settings.retain(|settings| !own.contains(settings) && Path::new(settings).is_file());
        let folder = self.program.parent().filter(|_| was_used)?.to_owned();
        let is_used = !self.record.settings.is_empty();
        Some(FileChange::remove_unless(is_used, folder, "your other installations use it"))
    }

    /// Writes its record, unless it was removed.
    pub(super) fn write(&self) -> io::Result<()> {
        if !self.program.is_file() {
            return Ok(());
        }
        let text = serde_json::to_string_pretty(&self.record).unwrap_or_default();
        disk::write(&record_of(&self.program), format!("{text}\n").as_bytes(), disk::LinkPolicy::Replace)
    }
}

fn record_of(program: &Path) -> PathBuf {
    program.with_file_name("installed.json")
}
