//! What a person has agreed to: the files of a project that configure modegate, in a sealed record in the user's folder.

mod environment;
mod review;
mod scripts;

pub use review::{TrustReview, renew};
pub use scripts::scripts_of;

use crate::host::paths::ProjectPaths;
use crate::policy::check::Check;
use crate::policy::mode::{
    BrokenFile, NamedProgram, ProjectSources, ProjectTrust, SETTINGS, TrustState, USER_SETTINGS,
};
use crate::state::store::sealed::{self, Durability};
use crate::state::user_folder::{UserKey, create_private};
use base::digest::sha256;
use base::disk;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// How many versions of the files stay trusted: branches differ, and a checkout must not ask each time.
const VERSIONS: usize = 32;

/// Texts up to this length are kept to show what changed.
const LONGEST_TEXT: usize = 64 * 1024;

const CONTEXTS: &str = ".claude/context";

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConfigFiles {
    /// The texts of the settings, modes and gates files, by path.
    pub rules: BTreeMap<String, String>,
    /// The contents of context files and of scripts that gates run, by path.
    pub others: BTreeMap<String, Vec<u8>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TrustRecord {
    /// The hashes of the sets of rules; the last one is the newest.
    versions: Vec<String>,
    pub rules: BTreeMap<String, String>,
    /// The hashes of context files and scripts; the last one is the newest.
    accepted: BTreeMap<String, Vec<String>>,
    pub texts: BTreeMap<String, String>,
}

impl ConfigFiles {
    /// Reads the files of a project, for its sources.
    pub fn of_project(places: &ProjectPaths, sources: &ProjectSources) -> Self {
        let mut others = BTreeMap::new();
        let folder = disk::real(&places.home.join(CONTEXTS));
        let mut left = disk::SMALL;
        for name in &sources.contexts {
            let path = format!("{CONTEXTS}/{name}");
            let file = places.home.join(&path);
            // A link out of the folder is never followed, so nobody has to agree to it.
            if !disk::real(&file).starts_with(&folder) {
                continue;
            }
            if let Ok(bytes) = disk::read(&file, left) {
                left -= bytes.len() as u64;
                others.insert(path, bytes);
            }
        }
        let mut commands = BTreeSet::new();
        let catalogue = sources.catalogue();
        let named = catalogue.doubtful_programs(&sources.files).into_iter();
        commands.extend(named.filter_map(|(_, program)| match program {
            NamedProgram::Command(command) => Some(command),
            NamedProgram::Url(_) => None,
        }));
        for mode in &catalogue.modes {
            mode.checks(&mut |check| {
                if let Check::Run(run) = check {
                    commands.insert(run.command.clone());
                }
            });
        }
        for path in commands.iter().flat_map(|command| scripts_of(command, &places.home, &places.home)) {
            if let Ok(bytes) = disk::read(&path, disk::SMALL) {
                others.insert(relative(&path, &places.home), bytes);
            }
        }
        Self { rules: rules(sources), others }
    }

    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.others.is_empty()
    }
}

impl TrustRecord {
    /// The record of a project, if there is one and the user's key has sealed it.
    pub fn of_project(places: &ProjectPaths) -> Option<Self> {
        let own = places.state_dir.as_ref()?;
        sealed::read(&places.trust()?, || UserKey::open(own), &sealed::purpose(b"trust", own)).ok()
    }

    /// The record of a project that is there but not believed.
    pub fn unsealed(places: &ProjectPaths) -> Option<PathBuf> {
        places.trust().filter(|path| std::fs::symlink_metadata(path).is_ok() && Self::of_project(places).is_none())
    }

    pub fn add(&mut self, files: &ConfigFiles) {
        remember(&mut self.versions, version(&files.rules));
        self.rules.clone_from(&files.rules);
        self.texts.clear();
        for (path, bytes) in &files.others {
            remember(self.accepted.entry(path.clone()).or_default(), sha256(bytes));
            if let Some(text) = std::str::from_utf8(bytes).ok().filter(|text| text.len() <= LONGEST_TEXT) {
                self.texts.insert(path.clone(), text.to_owned());
            }
        }
    }

    pub fn write(&self, places: &ProjectPaths) -> io::Result<()> {
        let (Some(own), Some(path)) = (&places.state_dir, places.trust()) else {
            return Err(io::Error::other("there is no state folder outside the repository"));
        };
        create_private(own)?;
        disk::remove_stale_temporaries(&path);
        sealed::write(&path, &UserKey::open(own)?, &sealed::purpose(b"trust", own), self, Durability::Synced)
    }

    pub fn covers(&self, files: &ConfigFiles) -> bool {
        self.has_version(&files.rules) && self.unknown_others(files).is_empty()
    }

    /// Whether the user has agreed to these rules; hashes are needed only for versions before the newest one.
    fn has_version(&self, rules: &BTreeMap<String, String>) -> bool {
        match self.versions.as_slice() {
            [] => false,
            [_] => self.rules == *rules,
            _ => self.rules == *rules || self.versions.contains(&version(rules)),
        }
    }

    /// Context files and scripts that the user has not agreed to.
    pub fn unknown_others(&self, files: &ConfigFiles) -> Vec<String> {
        let is_unknown = |(path, bytes): &(&String, &Vec<u8>)| {
            !self.accepted.get(*path).is_some_and(|known| known.contains(&sha256(bytes)))
        };
        files.others.iter().filter(is_unknown).map(|(path, _)| path.clone()).collect()
    }

    /// The rules that differ from the newest ones that the user agreed to, including removed ones.
    fn changed_rules(&self, rules: &BTreeMap<String, String>) -> Vec<String> {
        let names: BTreeSet<&String> = self.rules.keys().chain(rules.keys()).collect();
        names.into_iter().filter(|name| self.rules.get(*name) != rules.get(*name)).cloned().collect()
    }
}

/// The sources that may be used, and the trust in the project: those on disk, those that the user last agreed to, or
/// none.
pub fn usable(places: &ProjectPaths, sources: ProjectSources) -> (ProjectSources, ProjectTrust) {
    let rules = rules(&sources);
    let by_environment = environment::trust(places);
    let asks_for_itself = by_environment == environment::EnvironmentTrust::Ignored;
    let has_nothing = rules.is_empty() && sources.contexts.is_empty() && !sources.unreadable.iter().any(is_of_project);
    if by_environment == environment::EnvironmentTrust::Granted || has_nothing {
        return (sources, ProjectTrust { asks_for_itself, ..ProjectTrust::default() });
    }
    let Some(record) = TrustRecord::of_project(places) else {
        let contexts = sources.contexts.iter().map(|name| format!("{CONTEXTS}/{name}"));
        let unreadable =
            sources.unreadable.iter().filter(|broken| is_of_project(broken)).map(|broken| broken.file.clone());
        let files = rules.into_keys().chain(unreadable).chain(contexts).collect();
        let trust = ProjectTrust { state: TrustState::Untrusted, files, accepted: None, asks_for_itself };
        return (of_user(sources), trust);
    };
    let accepted = Some(record.accepted.clone());
    if record.has_version(&rules) {
        return (sources, ProjectTrust { accepted, asks_for_itself, ..ProjectTrust::default() });
    }
    let files = record.changed_rules(&rules);
    let trust = ProjectTrust { state: TrustState::Changed, files, accepted, asks_for_itself };
    (with_rules(sources, record.rules), trust)
}

fn is_of_project(broken: &BrokenFile) -> bool {
    broken.file != USER_SETTINGS
}

/// The part of the sources that is the user's own.
fn of_user(mut sources: ProjectSources) -> ProjectSources {
    sources.unreadable.retain(|broken| !is_of_project(broken));
    ProjectSources { user: sources.user, unreadable: sources.unreadable, ..ProjectSources::default() }
}

/// Whether the environment trusts every project, as in CI.
pub fn is_granted(places: &ProjectPaths) -> bool {
    environment::trust(places) == environment::EnvironmentTrust::Granted
}

/// The path of a file in the project, as records name it.
pub fn relative(path: &Path, home: &Path) -> String {
    path.strip_prefix(home).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

fn rules(sources: &ProjectSources) -> BTreeMap<String, String> {
    let settings = sources.settings.iter().map(|text| (SETTINGS.to_owned(), text.clone()));
    settings.chain(sources.files.iter().cloned()).collect()
}

fn with_rules(sources: ProjectSources, mut rules: BTreeMap<String, String>) -> ProjectSources {
    let settings = rules.remove(SETTINGS);
    // Imported gates come last, as they do on disk.
    let (modes, imported): (Vec<_>, Vec<_>) =
        rules.into_iter().partition(|(name, _)| name.starts_with(".claude/modes/"));
    let files = modes.into_iter().chain(imported).collect();
    ProjectSources { settings, files, contexts: sources.contexts.clone(), ..of_user(sources) }
}

fn version(rules: &BTreeMap<String, String>) -> String {
    let all: Vec<String> = rules.iter().map(|(name, text)| format!("{name}\0{}", sha256(text.as_bytes()))).collect();
    sha256(all.join("\0").as_bytes())
}

fn remember(hashes: &mut Vec<String>, hash: String) {
    hashes.retain(|known| *known != hash);
    hashes.push(hash);
    let surplus = hashes.len().saturating_sub(VERSIONS);
    hashes.drain(..surplus);
}
