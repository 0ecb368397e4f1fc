//! A project's modes and settings from disk, kept in a compiled file for speed.
//!
//! The sources are read again when the size or time of one changes, or when another build wrote the compiled file; of
//! those, only files with a new text are parsed.
//! An event reads the index of that file and the modes that it needs, however many there are.

#![expect(clippy::disallowed_methods, reason = "an I/O module")]

mod compiled;
mod defaults;
mod key;
mod parsed;

pub use compiled::BusyMode;
pub use key::SourceScope;

use crate::disk;
use crate::event::Event;
use crate::mode::{
    self, BrokenFile, Catalogue, EMBEDDED, FileKind, HOOKS, ProjectSources, ProjectTrust, SETTINGS, USER_SETTINGS,
};
use crate::paths::ProjectPaths;
use crate::settings::Settings;
use crate::trust;
use crate::user_folder::expanded;
use compiled::CompiledModes;
use key::CacheKey;
use parsed::ParsedModes;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::path::Path;

/// A project's modes, loaded only as far as needed.
pub struct ModeCache<'p> {
    /// What is known without loading a mode.
    pub index: CacheIndex,
    places: &'p ProjectPaths,
    storage: ModeStorage,
}

enum ModeStorage {
    Read(Box<Catalogue>),
    Compiled(Box<CompiledModes>),
}

/// The part of a catalogue that is known without loading its modes.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct CacheIndex {
    /// The project's settings.
    pub settings: Settings,
    /// Files that could not be read.
    pub broken: Vec<BrokenFile>,
    /// The hash of everything that the catalogue was made of.
    pub hash: String,
    /// The trust in the project's files.
    pub trust: ProjectTrust,
    /// The project's context files.
    contexts: Vec<String>,
}

impl CacheIndex {
    fn of(catalogue: &Catalogue) -> Self {
        let Catalogue { settings, broken, hash, contexts, trust, .. } = catalogue;
        Self {
            settings: settings.clone(),
            broken: broken.clone(),
            hash: hash.clone(),
            trust: trust.clone(),
            contexts: contexts.clone(),
        }
    }
}

impl<'p> ModeCache<'p> {
    /// Opens the compiled file of a project, unless that was `opened` before, or its sources if it is missing or outdated.
    #[must_use]
    pub fn open(places: &'p ProjectPaths, check: SourceScope, opened: Option<File>) -> Self {
        let (key, racy) = CacheKey::of(places, check);
        match places.compiled().and_then(|path| CompiledModes::open(&path, opened, &key)) {
            Some((modes, index)) => Self { index, places, storage: ModeStorage::Compiled(Box::new(modes)) },
            None if key.is_complete() => Self::of(places, compile_as(places, &key, racy)),
            None => Self::of(places, compile(places)),
        }
    }

    /// Reads a project's sources.
    #[must_use]
    pub fn read(places: &'p ProjectPaths) -> Self {
        Self::of(places, read(places))
    }

    fn of(places: &'p ProjectPaths, catalogue: Catalogue) -> Self {
        Self { index: CacheIndex::of(&catalogue), places, storage: ModeStorage::Read(Box::new(catalogue)) }
    }

    /// Whether a command activates a mode; only for modes that were read from their sources.
    #[must_use]
    pub fn activated_by(&self, command: &str) -> bool {
        matches!(&self.storage, ModeStorage::Read(catalogue) if catalogue.modes.iter().any(|mode| mode.activated_by(command)))
    }

    /// All modes.
    #[must_use]
    pub fn catalogue(&self) -> Catalogue {
        self.modes(CompiledModes::all)
    }

    /// The modes that `event` needs: `busy` ones that need to see it, and inactive ones that match it. An active flow needs
    /// its steps too, and so all modes.
    #[must_use]
    pub fn needed(&self, event: &Event, busy: &[BusyMode<'_>]) -> Catalogue {
        self.modes(|file| file.needed(event, busy))
    }

    fn modes(&self, load: impl FnOnce(&CompiledModes) -> Option<compiled::LoadedModes>) -> Catalogue {
        let file = match &self.storage {
            ModeStorage::Read(catalogue) => return catalogue.as_ref().clone(),
            ModeStorage::Compiled(file) => file,
        };
        // A damaged file must not be used: a missing mode leaves its gates open.
        let Some((modes, origins)) = load(file) else { return compile(self.places) };
        let CacheIndex { settings, broken, hash, trust, contexts } = self.index.clone();
        Catalogue { modes, origins, settings, broken, contexts, hash, trust, ..Catalogue::default() }
    }
}

/// Reads a project's sources, and writes the compiled file unless one of them is too young.
fn compile(places: &ProjectPaths) -> Catalogue {
    let (key, racy) = CacheKey::of(places, SourceScope::All);
    compile_as(places, &key, racy)
}

/// See [`compile`]; the sources had this key before they were read.
fn compile_as(places: &ProjectPaths, key: &CacheKey, racy: bool) -> Catalogue {
    let mut memo = ParsedModes::open(places);
    let catalogue = read_with(places, &mut memo);
    memo.write();
    if let Some(path) = places.compiled().filter(|_| !racy) {
        compiled::write(&path, key, &CacheIndex::of(&catalogue), &catalogue);
    }
    catalogue
}

/// Reads the catalogue from the sources that the person has agreed to.
#[must_use]
pub fn read(places: &ProjectPaths) -> Catalogue {
    read_with(places, &mut ParsedModes::default())
}

/// Like [`read`]; modes that `memo` knows are not parsed again.
fn read_with(places: &ProjectPaths, memo: &mut ParsedModes) -> Catalogue {
    let (sources, trust) = trust::usable(places, sources(places));
    Catalogue { trust, ..defaults::with_defaults(places, sources).catalogue_with(memo) }
}

/// The sources that the person has agreed to.
#[must_use]
pub fn trusted_sources(places: &ProjectPaths) -> ProjectSources {
    defaults::with_defaults(places, trust::usable(places, sources(places)).0)
}

/// The hooks of the user's own that those of the project's sources replace.
#[must_use]
pub fn replaced_hooks(places: &ProjectPaths, sources: &ProjectSources) -> Vec<String> {
    let own = sources.files.iter().find(|(name, _)| name == HOOKS);
    let both = own.and_then(|(_, own)| Some(mode::replaced_hooks(&defaults::user_hooks(places)?, own)));
    both.unwrap_or_default()
}

/// Reads the files of a project that a catalogue can be made of, trusted or not.
#[must_use]
pub fn sources(places: &ProjectPaths) -> ProjectSources {
    let mut sources = ProjectSources { contexts: contexts(&own_contexts(places)), ..ProjectSources::default() };
    sources.settings = text(&places.settings(), SETTINGS, FileKind::Settings, &mut sources.unreadable);
    sources.user = user_settings(places, &mut sources.unreadable);
    let (paths, left_out) = key::mode_files(&places.modes());
    if left_out > 0 {
        let why = format!("it has {left_out} more mode files than modegate reads");
        sources.unreadable.push(BrokenFile::unreadable(".claude/modes", FileKind::Mode, &why));
    }
    let mut files = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap_or_default();
        if let Some(name) = name.to_str() {
            files.push((path.clone(), format!("{MODES}{name}"), FileKind::Mode));
        } else {
            // Two such names can look the same, and a person agrees to a file by its name.
            let name = format!(".claude/modes/{}", name.display());
            sources.unreadable.push(BrokenFile::unreadable(&name, FileKind::Mode, "its name is not UTF-8"));
        }
    }
    let imported = IMPORTED.map(|name| (places.home.join(name), name.to_owned(), FileKind::Gates));
    let mut size = 0;
    for (path, name, kind) in files.into_iter().chain(imported) {
        if size > disk::SMALL {
            let why = format!("the files before it are larger than {} MiB together", disk::SMALL >> 20);
            sources.unreadable.push(BrokenFile::unreadable(&name, kind, &why));
        } else if let Some(text) = text(&path, &name, kind, &mut sources.unreadable) {
            size += text.len() as u64;
            sources.files.push((name, text));
        }
    }
    sources
}

/// The text of a file, if it exists; a file that cannot be read is added to `unreadable`.
fn text(path: &Path, name: &str, kind: FileKind, unreadable: &mut Vec<BrokenFile>) -> Option<String> {
    match disk::read(path, disk::CONFIGURATION).map(String::from_utf8) {
        Ok(Ok(text)) => return Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Ok(Err(_)) => unreadable.push(BrokenFile::unreadable(name, kind, "it is not UTF-8")),
        Err(error) => unreadable.push(BrokenFile::unreadable(name, kind, &disk::reason(&error))),
    }
    None
}

/// The user's own settings for a project.
fn user_settings(places: &ProjectPaths, unreadable: &mut Vec<BrokenFile>) -> Option<Settings> {
    let path = places.user_settings.as_ref().filter(|path| path.exists())?;
    let text = text(path, USER_SETTINGS, FileKind::Settings, unreadable)?;
    let is_project = |given: &str| disk::real(&expanded(given, &places.home)) == disk::real(&places.home);
    match Settings::read_user(&text, is_project) {
        Ok(settings) => Some(settings),
        Err(problems) => {
            unreadable.push(BrokenFile::new(USER_SETTINGS, FileKind::Settings, &text, problems));
            None
        }
    }
}

/// The folders of context files, below the project's or a plugin's own.
fn context_folders(folder: &Path) -> [(&'static str, std::path::PathBuf); 3] {
    [("", folder.to_owned()), ("slash-command/", folder.join("slash-command")), ("skill/", folder.join("skill"))]
}

/// The project's folder of context files.
fn own_contexts(places: &ProjectPaths) -> std::path::PathBuf {
    places.home.join(".claude/context")
}

/// The context files in a folder and the two below it.
fn contexts(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for (prefix, folder) in context_folders(folder) {
        let files =
            disk::names(&folder, usize::MAX).unwrap_or_default().into_iter().filter_map(|name| name.into_string().ok());
        let mut files: Vec<String> = files.filter(|name| name.strip_suffix(".md").is_some()).collect();
        files.sort_unstable();
        files.truncate(key::MOST_FILES);
        names.extend(files.into_iter().map(|name| format!("{prefix}{name}")));
    }
    names.sort_unstable();
    names
}

/// The start of the names of mode files.
const MODES: &str = ".claude/modes/";

/// Gates in other formats.
const IMPORTED: [&str; 2] = [".claude/gates.json", ".claude/hooks.toml"];

/// Identifies the build: its version, the embedded modes, and the sources of every type in the cache, so that no
/// version number has to be increased by hand.
#[expect(clippy::indexing_slicing, reason = "iterators are not const; each index is below the length")]
const BUILD_HASH: u64 = {
    let mut hash = mixed(0xcbf2_9ce4_8422_2325, &[env!("CARGO_PKG_VERSION")]);
    let mut index = 0;
    while index < EMBEDDED.len() {
        hash = mixed(hash, &[EMBEDDED[index].1]);
        index += 1;
    }
    hash = mixed(hash, crate::check::SOURCES);
    mixed(hash, &SOURCES)
};

const SOURCES: [&str; 29] = [
    include_str!("mode_cache.rs"),
    include_str!("mode_cache/compiled.rs"),
    include_str!("mode_cache/key.rs"),
    include_str!("mode_cache/parsed.rs"),
    include_str!("ids.rs"),
    include_str!("mode.rs"),
    include_str!("mode/deferred.rs"),
    include_str!("mode/event_filter.rs"),
    include_str!("mode/catalogue.rs"),
    include_str!("mode/imported.rs"),
    include_str!("mode/imported/gates.rs"),
    include_str!("mode/imported/gates/placement.rs"),
    include_str!("mode/imported/hooks.rs"),
    include_str!("mode/lint.rs"),
    include_str!("mode/project_trust.rs"),
    include_str!("trust.rs"),
    include_str!("mode/read.rs"),
    include_str!("mode/user_only.rs"),
    include_str!("settings.rs"),
    include_str!("yaml.rs"),
    include_str!("yaml/json.rs"),
    include_str!("yaml/reader.rs"),
    include_str!("yaml/toml.rs"),
    include_str!("verdict.rs"),
    include_str!("event/kind.rs"),
    include_str!("event/name.rs"),
    include_str!("event/trigger.rs"),
    include_str!("facts.rs"),
    include_str!("facts/effect_query.rs"),
];

#[expect(clippy::indexing_slicing, reason = "iterators are not const; each index is below the length")]
const fn mixed(mut hash: u64, texts: &[&str]) -> u64 {
    let mut text = 0;
    while text < texts.len() {
        let bytes = texts[text].as_bytes();
        let mut index = 0;
        while index < bytes.len() {
            hash = (hash ^ bytes[index] as u64).wrapping_mul(0x0100_0000_01b3);
            index += 1;
        }
        text += 1;
    }
    hash
}
