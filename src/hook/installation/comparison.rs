//! Describes what changed in an installation, and undoes what tools did to it where that is safe.

use super::last_comparison::LastComparison;
use super::stamp::FileStamp;
use super::{FileRecord, SettingsRecord, USER_FILE, program_name};
use crate::host::hook_entries::{DISABLING, GuardedSettings, SCRIPT, SCRIPT_PATH};
use crate::host::paths::ProjectPaths;
use base::digest::sha256;
use base::disk::{self, LinkPolicy};
use base::printable::is_name;
use git_facts::CommitState;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;

/// The end of a sentence about settings that the host is kept from applying.
const HELD: &str = "; the hooks stay active in this session";

const MOST_SETTINGS: usize = 8;

/// Why the host must not apply a settings file that a tool call changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum HoldReason {
    Disabled,
    /// It has lost modegate's entries, or the host cannot read it.
    Entries,
}

impl HoldReason {
    fn still_holds(self, settings: &SettingsRecord) -> bool {
        settings.broken.is_some()
            || match self {
                Self::Disabled => settings.known.disables_hooks(),
                Self::Entries => !settings.known.has_entries(),
            }
    }
}

pub(super) struct InstallationComparison<'a> {
    pub places: &'a ProjectPaths,
    pub last: Option<LastComparison>,
}

impl InstallationComparison<'_> {
    fn when(&self) -> &'static str {
        if self.last.is_some() { "during this session" } else { "since the last session" }
    }

    /// Describes the changes of a settings file, and undoes those that end modegate's hooks where that is safe.
    pub fn settings(
        &self,
        name: &str,
        path: &Path,
        before: &SettingsRecord,
        after: &mut SettingsRecord,
    ) -> Vec<String> {
        if before.stamp == after.stamp {
            return Vec::new();
        }
        after.held = before.held.filter(|reason| reason.still_holds(after));
        let change =
            SettingsChange { name, path, when: self.when(), is_by_tool: self.is_by_tool(path, after.stamp), before };
        if after.broken.is_some() {
            return change.broken(after).into_iter().collect();
        }
        let can_be_undone = || change.is_by_tool && name != USER_FILE && !self.is_committed(path);
        let mut sentences: Vec<String> = change.entries(after, can_be_undone).into_iter().collect();
        let switched_off = change.switched_off(after, can_be_undone);
        let is_described = |setting: &str| switched_off.is_some() && setting == DISABLING;
        let others = setting_changes(name, change.when, &before.known, &after.known);
        let others = others.into_iter().filter(|(setting, _)| !is_described(setting)).map(|(_, text)| text);
        let mut others: Vec<String> = others.collect();
        let mut seen = BTreeSet::new();
        others.retain(|text| seen.insert(text.clone()));
        let more = others.len().saturating_sub(MOST_SETTINGS);
        others.truncate(MOST_SETTINGS);
        if more > 0 {
            others.push(format!("{more} more settings that can change how hooks run were changed in `{name}`"));
        }
        sentences.extend(switched_off.iter().cloned().chain(others));
        sentences
    }

    /// Whether a tool call of this session can have made the change.
    fn is_by_tool(&self, path: &Path, stamp: Option<FileStamp>) -> bool {
        // A file that is gone has left its trace in its folder.
        let stamp = stamp.or_else(|| FileStamp::of(path.parent()?));
        stamp.is_some_and(|stamp| self.last.is_some_and(|last| last.blames_tools(stamp)))
    }

    /// Whether a file is the same as in HEAD: branches differ, so such a file is not changed.
    fn is_committed(&self, path: &Path) -> bool {
        git_facts::commit_state(&self.places.home, path) == Ok(CommitState::Committed)
    }

    pub fn program(&self, before: Option<&FileRecord>, after: Option<&FileRecord>) -> Option<String> {
        let executable = |record: Option<&FileRecord>| record.and_then(|record| record.executable);
        let is_locked = executable(before) == Some(true) && executable(after) == Some(false);
        let verb = change_verb(before, after, "replaced").or(is_locked.then_some("made not executable"))?;
        let (name, when) = (program_name(), self.when());
        Some(format!("the program `{name}` was {verb} {when}; a person can restore it with `modegate install`"))
    }

    /// Describes a change of the script that looks for the program, and undoes what tools did to it.
    pub fn script(&self, before: Option<&FileRecord>, after: &mut Option<FileRecord>) -> Option<String> {
        let verb = change_verb(before.or(after.as_ref()), after.as_ref(), "changed")?;
        if after.as_ref().is_some_and(|script| script.sha256 == sha256(SCRIPT.as_bytes())) {
            return None;
        }
        let (path, when) = (self.places.home.join(SCRIPT_PATH), self.when());
        let text = format!("the script `{SCRIPT_PATH}` was {verb} {when}");
        let can_be_undone =
            self.is_by_tool(&path, after.as_ref().map(|script| script.stamp)) && !self.is_committed(&path);
        if can_be_undone && disk::write(&path, SCRIPT.as_bytes(), LinkPolicy::Replace).is_ok() {
            *after = FileRecord::seen(&path, None);
            return Some(text + " and was restored; a person can remove it with `modegate uninstall`");
        }
        Some(text + "; a person can restore it with `modegate install`")
    }

    pub fn user_file(&self, before: Option<&FileRecord>, after: Option<&FileRecord>) -> Option<String> {
        let verb = change_verb(before, after, "changed")?;
        let when = self.when();
        Some(format!("`~/.claude/modegate.yaml` was {verb} {when}; it can weaken the built-in rules"))
    }
}

struct SettingsChange<'a> {
    name: &'a str,
    path: &'a Path,
    when: &'static str,
    is_by_tool: bool,
    before: &'a SettingsRecord,
}

impl SettingsChange<'_> {
    fn broken(&self, after: &mut SettingsRecord) -> Option<String> {
        let (name, when, why) = (self.name, self.when, after.broken.as_ref()?);
        if self.before.broken.as_ref() == Some(why) || !self.before.known.has_entries() {
            return None;
        }
        let text = format!("`{name}` was broken {when}, so Claude Code ignores its hook entries: {why}");
        Some(text + self.hold(after, HoldReason::Entries))
    }

    /// Describes entries that are missing or changed, and puts them back.
    fn entries(&self, after: &mut SettingsRecord, can_be_undone: impl Fn() -> bool) -> Option<String> {
        if after.known.has_entries_of(&self.before.known) {
            return None;
        }
        let verb = if after.known.has_entries() { "changed" } else { "removed" };
        let text = format!("the modegate hook entries in `{}` were {verb} {}", self.name, self.when);
        if can_be_undone() && self.rewrite(after, |text| self.before.known.put_back(text)) {
            return Some(text + " and were restored; a person can remove them with `modegate uninstall`");
        }
        let held = self.hold(after, HoldReason::Entries);
        Some(format!("{text}{held}; a person can restore them with `modegate install`"))
    }

    /// Describes that a tool call switched all hooks off, and switches them on.
    fn switched_off(&self, after: &mut SettingsRecord, can_be_undone: impl Fn() -> bool) -> Option<String> {
        if self.before.known.disables_hooks() || !after.known.disables_hooks() || !self.is_by_tool {
            return None;
        }
        let text = format!("the setting `{DISABLING}` was added in `{}` {}", self.name, self.when);
        if can_be_undone() && self.rewrite(after, GuardedSettings::without_disabling) {
            return Some(text + " and was removed; a person can remove the hooks with `modegate uninstall`");
        }
        let held = self.hold(after, HoldReason::Disabled);
        Some(format!("{text}{held}; a person can remove it"))
    }

    /// Keeps the host from applying a change of a tool call; returns the words for it.
    fn hold(&self, after: &mut SettingsRecord, reason: HoldReason) -> &'static str {
        if !self.is_by_tool {
            return "";
        }
        after.held = Some(reason);
        HELD
    }

    /// Writes the file with the text that `change` makes of it, unless something else writes it meanwhile.
    fn rewrite(&self, after: &mut SettingsRecord, change: impl Fn(&str) -> Option<String>) -> bool {
        let text = disk::read_text(self.path, disk::CONFIGURATION).ok();
        let Some(restored) = text.and_then(|text| change(&text)) else { return false };
        let is_same = after.stamp.is_some() && FileStamp::of(self.path) == after.stamp;
        let is_restored = is_same && disk::write(self.path, restored.as_bytes(), LinkPolicy::Follow).is_ok();
        if is_restored {
            let held = after.held;
            *after = SettingsRecord { held, ..SettingsRecord::default().refreshed(self.path) };
            after.held = held.filter(|reason| reason.still_holds(after));
        }
        is_restored
    }
}

fn change_verb(before: Option<&FileRecord>, after: Option<&FileRecord>, changed: &'static str) -> Option<&'static str> {
    match (before, after) {
        (Some(before), Some(after)) if before.sha256 != after.sha256 => Some(changed),
        (Some(_), None) => Some("removed"),
        (None, Some(_)) => Some("added"),
        _ => None,
    }
}

/// Describes the changes of settings that can switch hooks off or redirect them, each with its name.
fn setting_changes(name: &str, when: &str, before: &GuardedSettings, after: &GuardedSettings) -> Vec<(String, String)> {
    let sentence = |setting: &String, verb: &str| {
        // A repository chooses the names, and the model reads this.
        let shown = match setting.split_once('.') {
            Some((group, entry)) if !is_name(entry) => format!("an entry of `{group}`"),
            _ => format!("the setting `{setting}`"),
        };
        (setting.clone(), format!("{shown} was {verb} in `{name}` {when}; it can change how hooks run"))
    };
    let set = after.others.iter().filter_map(|(setting, value)| match before.others.get(setting) {
        None => Some(sentence(setting, "added")),
        Some(old) => (old != value).then(|| sentence(setting, "changed")),
    });
    let removed = before.others.keys().filter(|setting| !after.others.contains_key(*setting));
    set.chain(removed.map(|setting| sentence(setting, "removed"))).collect()
}
