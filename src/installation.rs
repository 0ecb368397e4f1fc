//! The installation as a person left it: hook entries and program, compared to notice what tools did to them.
//!
//! Files are only looked at, not read, unless their stamp differs from the record in the user's folder.

#![expect(clippy::disallowed_methods, reason = "an I/O module")]

mod last_comparison;
mod stamp;

use crate::disk::{self, LinkPolicy};
use crate::event::EventKind;
use crate::facts::CommitState;
use crate::hook_entries::{GuardedSettings, SettingsError};
use crate::live::git;
use crate::paths::ProjectPaths;
use crate::printable::one_line;
use crate::redact::sha256;
use crate::store::{
    StateStatus,
    sealed::{self, Durability},
};
use crate::user_folder::{UserKey, create_private};
use last_comparison::LastComparison;
use serde::{Deserialize, Serialize};
use stamp::FileStamp;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// The settings file of the user, as messages name it.
const USER_FILE: &str = "~/.claude/settings.json";

/// Whether the installation is compared at an event: ordinary tool calls must not pay for it.
#[must_use]
pub fn compares(kind: EventKind) -> bool {
    let begins = matches!(kind, EventKind::SessionStart | EventKind::UserPromptSubmit | EventKind::ConfigChange);
    begins || kind.is_stop()
}

/// The installation of a project, as it was when a person left it or when it was last reported.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct InstallationRecord {
    /// The host's settings files, by the names that messages use.
    settings: BTreeMap<String, SettingsRecord>,
    program: Option<ProgramRecord>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct SettingsRecord {
    /// `None` if the file is missing.
    stamp: Option<FileStamp>,
    /// The last readable content.
    known: GuardedSettings,
    /// Why the host ignores the file.
    broken: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ProgramRecord {
    stamp: FileStamp,
    sha256: String,
}

/// Records the installation as a person has left it.
pub fn record(places: &ProjectPaths) -> io::Result<()> {
    InstallationRecord::default().refreshed(places).write(places)
}

/// Forgets the installation.
pub fn forget(places: &ProjectPaths) {
    if let Some(path) = places.installation() {
        let _: io::Result<()> = std::fs::remove_file(path);
    }
}

/// Compares the installation with its record; returns a sentence about each change, once.
///
/// Hook entries that a tool call of this session can have removed are put back.
#[must_use]
pub fn compare(places: &ProjectPaths, session: &str) -> Vec<String> {
    let known = match InstallationRecord::read(places) {
        Ok(known) => known,
        Err(StateStatus::Missing) => {
            let _: io::Result<()> = record(places);
            return Vec::new();
        }
        Err(StateStatus::Broken(_)) => {
            let _: io::Result<()> = record(places);
            return vec![
                "the record of modegate's installation was changed by something other than modegate".to_owned(),
            ];
        }
        Err(_) => return Vec::new(),
    };
    let mut seen = known.refreshed(places);
    if seen == known {
        return Vec::new();
    }
    let comparison = InstallationComparison { places, last: LastComparison::of(&places.journal(session)) };
    let mut sentences = Vec::new();
    for (name, path) in settings_files(places) {
        if let (Some(before), Some(after)) = (known.settings.get(name), seen.settings.get_mut(name)) {
            sentences.extend(comparison.settings(name, &path, before, after));
        }
    }
    sentences.extend(comparison.program(known.program.as_ref(), seen.program.as_ref()));
    let _: io::Result<()> = seen.write(places);
    sentences
}

impl InstallationRecord {
    fn read(places: &ProjectPaths) -> Result<Self, StateStatus> {
        let (Some(own), Some(path)) = (&places.own, places.installation()) else {
            return Err(StateStatus::Unreadable("there is no state folder outside of the repository".to_owned()));
        };
        sealed::read(&path, || UserKey::open(own), &purpose(own))
    }

    fn write(&self, places: &ProjectPaths) -> io::Result<()> {
        let (Some(own), Some(path)) = (&places.own, places.installation()) else { return Ok(()) };
        create_private(own)?;
        sealed::write(&path, &UserKey::open(own)?, &purpose(own), self, Durability::Synced)
    }

    /// The installation as it is now; only files with another stamp are read.
    fn refreshed(&self, places: &ProjectPaths) -> Self {
        let settings = settings_files(places).into_iter().map(|(name, path)| {
            let before = self.settings.get(name).cloned().unwrap_or_default();
            (name.to_owned(), before.refreshed(&path))
        });
        Self { settings: settings.collect(), program: ProgramRecord::seen(&program(places), self.program.as_ref()) }
    }
}

impl SettingsRecord {
    fn refreshed(self, path: &Path) -> Self {
        let stamp = FileStamp::of(path);
        if stamp == self.stamp {
            return self;
        }
        let text = match disk::read_text(path, disk::SMALL) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            text => text.map_err(|error| disk::reason(&error)),
        };
        match text.and_then(|text| GuardedSettings::parse(&text).map_err(|error| reason(&error))) {
            Ok(known) => Self { stamp, known, broken: None },
            Err(why) => Self { stamp, known: self.known, broken: Some(why) },
        }
    }
}

impl ProgramRecord {
    fn seen(path: &Path, known: Option<&Self>) -> Option<Self> {
        let stamp = FileStamp::of(path)?;
        if let Some(known) = known.filter(|known| known.stamp == stamp) {
            return Some(known.clone());
        }
        let sha256 = disk::read(path, disk::LARGEST).map_or_else(|error| disk::reason(&error), |bytes| sha256(&bytes));
        Some(Self { stamp, sha256 })
    }
}

/// A comparison that has found a difference.
struct InstallationComparison<'a> {
    places: &'a ProjectPaths,
    last: Option<LastComparison>,
}

impl InstallationComparison<'_> {
    fn when(&self) -> &'static str {
        if self.last.is_some() { "during this session" } else { "since the last session" }
    }

    /// Describes the changes of a settings file, and puts modegate's entries back where that is safe.
    fn settings(&self, name: &str, path: &Path, before: &SettingsRecord, after: &mut SettingsRecord) -> Vec<String> {
        let when = self.when();
        if let Some(why) = &after.broken {
            let is_new = before.broken.as_ref() != Some(why) && before.known.has_entries();
            let text = format!("`{name}` was broken {when}, so Claude Code ignores its hook entries: {why}");
            return is_new.then_some(text).into_iter().collect();
        }
        let mut sentences = setting_changes(name, when, &before.known, &after.known);
        if !after.known.has_entries_of(&before.known) {
            let verb = if after.known.has_entries() { "changed" } else { "removed" };
            let is_restored = self.put_back(name, path, before, after);
            let end = if is_restored {
                " and have been put back; a person can remove them with `modegate uninstall`"
            } else {
                "; a person can restore them with `modegate install`"
            };
            sentences.insert(0, format!("the modegate hook entries in `{name}` were {verb} {when}{end}"));
        }
        sentences
    }

    /// Puts modegate's entries back if a tool call can have removed them; what git has is left as it is, since branches
    /// differ. The user's own settings belong to other projects as well.
    fn put_back(&self, name: &str, path: &Path, before: &SettingsRecord, after: &mut SettingsRecord) -> bool {
        let is_by_tool = after.stamp.is_some_and(|stamp| self.last.is_some_and(|last| last.blames_tools(stamp)));
        if !is_by_tool || name == USER_FILE {
            return false;
        }
        if git::commitment(&self.places.home, path) == Ok(CommitState::Committed) {
            return false;
        }
        let text = disk::read_text(path, disk::SMALL).ok();
        let Some(restored) = text.and_then(|text| before.known.put_back(&text)) else { return false };
        let is_same = FileStamp::of(path) == after.stamp;
        let is_restored = is_same && disk::write(path, restored.as_bytes(), LinkPolicy::Follow).is_ok();
        if is_restored {
            *after = SettingsRecord::default().refreshed(path);
        }
        is_restored
    }

    fn program(&self, before: Option<&ProgramRecord>, after: Option<&ProgramRecord>) -> Option<String> {
        let verb = match (before, after) {
            (Some(before), Some(after)) if before.sha256 != after.sha256 => "replaced",
            (Some(_), None) => "removed",
            (None, Some(_)) => "added",
            _ => return None,
        };
        let (name, when) = (program_name(), self.when());
        Some(format!("the program `{name}` was {verb} {when}; a person can restore it with `modegate install`"))
    }
}

/// Describes the changes of settings that can switch hooks off or redirect them.
fn setting_changes(name: &str, when: &str, before: &GuardedSettings, after: &GuardedSettings) -> Vec<String> {
    let sentence = |setting: &String, verb: &str| {
        format!("the setting `{}` was {verb} in `{name}` {when}; it can change how hooks run", one_line(setting))
    };
    let set = after.others.iter().filter_map(|(setting, value)| match before.others.get(setting) {
        None => Some(sentence(setting, "added")),
        Some(old) => (old != value).then(|| sentence(setting, "changed")),
    });
    let removed = before.others.keys().filter(|setting| !after.others.contains_key(*setting));
    set.chain(removed.map(|setting| sentence(setting, "removed"))).collect()
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

/// What a seal is for: the project's folder is part of it, so that no record serves another project.
fn purpose(own: &Path) -> [&[u8]; 2] {
    [b"installation", own.file_name().unwrap_or_default().as_encoded_bytes()]
}

/// Why the host ignores a settings file, with the place of the error.
fn reason(error: &SettingsError) -> String {
    let place = error.place().map(|(line, column)| format!(" (line {line}, column {column})")).unwrap_or_default();
    let text = error.to_string();
    format!("{}{place}", one_line(text.trim_end_matches(", so Claude Code ignores the whole file")))
}
