//! The installation as a person left it: hook entries and program, compared to notice what tools did to them.
//!
//! Files are only looked at, not read, unless their stamp differs from the record in the user's folder.

mod comparison;
mod last_comparison;
mod stamp;

use crate::host::event::EventKind;
use crate::host::hook_entries::{GuardedSettings, SCRIPT_PATH, SettingsError};
use crate::host::paths::ProjectPaths;
use crate::state::store::{
    StateStatus,
    sealed::{self, Durability},
};
use crate::state::user_folder::{UserKey, create_private};
use base::digest::sha256;
use base::disk;
use base::printable::one_line;
use comparison::{HoldReason, InstallationComparison};
use last_comparison::LastComparison;
use serde::{Deserialize, Serialize};
use stamp::FileStamp;
pub(crate) use stamp::is_executable;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

const USER_FILE: &str = "~/.claude/settings.json";

/// Whether the installation is compared at an event: ordinary tool calls must not pay for it.
pub fn compares(kind: EventKind) -> bool {
    let begins = matches!(kind, EventKind::SessionStart | EventKind::UserPromptSubmit | EventKind::ConfigChange);
    begins || kind.is_stop()
}

/// The installation of a project, as it was when a person left it or when it was last reported.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct InstallationRecord {
    /// The host's settings files, by the names that messages use.
    settings: BTreeMap<String, SettingsRecord>,
    program: Option<FileRecord>,
    #[serde(default)]
    script: Option<FileRecord>,
    #[serde(default)]
    user: Option<FileRecord>,
    /// The hash of the last program that was a copy of the running one when a person left it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    installed: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct SettingsRecord {
    /// `None` if the file is missing.
    stamp: Option<FileStamp>,
    /// The last readable content.
    known: GuardedSettings,
    broken: Option<String>,
    /// Why the host must not apply the file in this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    held: Option<HoldReason>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct FileRecord {
    stamp: FileStamp,
    sha256: String,
    /// Whether it can be executed; `None` for a record without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    executable: Option<bool>,
}

/// Records the installation as a person has left it.
pub fn record(places: &ProjectPaths) -> io::Result<()> {
    let known = InstallationRecord::read(places).ok().and_then(|known| known.installed);
    let running = || std::env::current_exe().and_then(|path| disk::read(&path, disk::PROGRAM));
    let program = disk::read(&program(places), disk::PROGRAM).ok();
    let copy = program.filter(|program| running().is_ok_and(|running| running == *program));
    let installed = copy.map(|copy| sha256(&copy)).or(known);
    InstallationRecord { installed, ..InstallationRecord::default() }.refreshed(places).write(places)
}

/// Whether a program has the content of the copy that `install` left in the project.
pub fn is_installed_copy(places: &ProjectPaths, program: &Path) -> bool {
    let installed = InstallationRecord::read(places).ok().and_then(|known| known.installed);
    installed.is_some_and(|hash| disk::read(program, disk::PROGRAM).is_ok_and(|bytes| sha256(&bytes) == hash))
}

pub fn forget(places: &ProjectPaths) {
    if let Some(path) = places.installation() {
        let _: io::Result<()> = std::fs::remove_file(path);
    }
}

/// What a comparison of the installation with its record found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ComparisonResult {
    /// A sentence about each change, once.
    pub sentences: Vec<String>,
    /// Whether the settings on disk would end modegate's hooks, and a tool call made them so.
    pub ends_hooks: bool,
}

/// Compares the installation with its record.
///
/// Hook entries that a tool call of this session can have removed are put back, and hooks that it switched off are
/// switched on.
pub fn compare(places: &ProjectPaths, session: &str) -> ComparisonResult {
    let known = match InstallationRecord::read(places) {
        Ok(known) => known,
        Err(StateStatus::Missing) => {
            let _: io::Result<()> = record(places);
            return ComparisonResult::default();
        }
        Err(StateStatus::Broken(_)) => {
            let _: io::Result<()> = record(places);
            let text = "the record of modegate's installation was changed by something other than modegate";
            return ComparisonResult { sentences: vec![text.to_owned()], ..ComparisonResult::default() };
        }
        Err(_) => return ComparisonResult::default(),
    };
    let mut seen = known.refreshed(places);
    let mut sentences = Vec::new();
    if seen != known {
        let comparison = InstallationComparison { places, last: LastComparison::of(&places.journal(session)) };
        for (name, path) in settings_files(places) {
            if let (Some(before), Some(after)) = (known.settings.get(name), seen.settings.get_mut(name)) {
                sentences.extend(comparison.settings(name, &path, before, after));
            }
        }
        sentences.extend(comparison.program(known.program.as_ref(), seen.program.as_ref()));
        let runs_script = seen.settings.values().any(|settings| settings.known.runs_script());
        sentences.extend(comparison.script(known.script.as_ref().filter(|_| runs_script), &mut seen.script));
        sentences.extend(comparison.user_file(known.user.as_ref(), seen.user.as_ref()));
        let _: io::Result<()> = seen.write(places);
    }
    let ends_hooks = seen.settings.values().any(|settings| settings.held.is_some());
    ComparisonResult { sentences, ends_hooks }
}

impl InstallationRecord {
    fn read(places: &ProjectPaths) -> Result<Self, StateStatus> {
        let (Some(own), Some(path)) = (&places.state_dir, places.installation()) else {
            return Err(StateStatus::Unreadable("there is no state folder outside the repository".to_owned()));
        };
        sealed::read(&path, || UserKey::open(own), &sealed::purpose(b"installation", own))
    }

    fn write(&self, places: &ProjectPaths) -> io::Result<()> {
        let (Some(own), Some(path)) = (&places.state_dir, places.installation()) else { return Ok(()) };
        create_private(own)?;
        sealed::write(&path, &UserKey::open(own)?, &sealed::purpose(b"installation", own), self, Durability::Synced)
    }

    /// The installation as it is now; only files with another stamp are read.
    fn refreshed(&self, places: &ProjectPaths) -> Self {
        let settings = settings_files(places).into_iter().map(|(name, path)| {
            let before = self.settings.get(name).cloned().unwrap_or_default();
            (name.to_owned(), before.refreshed(&path))
        });
        Self {
            settings: settings.collect(),
            program: FileRecord::seen(&program(places), self.program.as_ref()),
            script: FileRecord::seen(&places.home.join(SCRIPT_PATH), self.script.as_ref()),
            user: places.user_settings.as_ref().and_then(|path| FileRecord::seen(path, self.user.as_ref())),
            installed: self.installed.clone(),
        }
    }
}

impl SettingsRecord {
    fn refreshed(self, path: &Path) -> Self {
        let stamp = FileStamp::of(path);
        if stamp == self.stamp {
            return self;
        }
        let text = match disk::read_text(path, disk::CONFIGURATION) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            text => text.map_err(|error| disk::reason(&error)),
        };
        match text.and_then(|text| GuardedSettings::parse(&text).map_err(|error| reason(&error))) {
            Ok(known) => Self { stamp, known, broken: None, held: None },
            Err(why) => Self { stamp, known: self.known, broken: Some(why), held: None },
        }
    }
}

impl FileRecord {
    fn seen(path: &Path, known: Option<&Self>) -> Option<Self> {
        let stamp = FileStamp::of(path)?;
        if let Some(known) = known.filter(|known| known.stamp == stamp) {
            return Some(known.clone());
        }
        let sha256 = disk::read(path, disk::PROGRAM).map_or_else(|error| disk::reason(&error), |bytes| sha256(&bytes));
        Some(Self { stamp, sha256, executable: is_executable(path) })
    }
}

/// The host's settings files that can have hook entries, with the names that messages use.
fn settings_files(places: &ProjectPaths) -> Vec<(&'static str, PathBuf)> {
    let own = [".claude/settings.json", ".claude/settings.local.json"].map(|name| (name, places.home.join(name)));
    let user = places.user_settings.as_ref().map(|settings| (USER_FILE, settings.with_file_name("settings.json")));
    own.into_iter().chain(user).collect()
}

fn program(places: &ProjectPaths) -> PathBuf {
    places.home.join(program_name())
}

fn program_name() -> String {
    format!(".claude/hooks/modegate{}", std::env::consts::EXE_SUFFIX)
}

/// Why the host ignores a settings file, with the place of the error.
fn reason(error: &SettingsError) -> String {
    let text = error.to_string();
    format!("{}{}", one_line(text.trim_end_matches(", so Claude Code ignores the whole file")), error.position())
}
