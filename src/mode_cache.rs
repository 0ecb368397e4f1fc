//! A project's modes and settings from disk, kept in a compiled file for speed.
//!
//! The YAML is read again when the size or time of a source changes, or when another build wrote the compiled file.

#![expect(clippy::disallowed_methods, reason = "an I/O module")]

mod defaults;

use crate::disk;
use crate::event::Event;
use crate::mode::{
    BrokenFile, Catalogue, EMBEDDED, EventFilter, FileKind, Mode, ModeOrigin, ProjectSources, ProjectTrust, SETTINGS,
    USER_SETTINGS, Worker,
};
use crate::paths::{ProjectPaths, hash};
use crate::settings::Settings;
use crate::trust;
use crate::user_folder::{create_private, expanded};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Timestamps are coarse: a file written this recently may change again without a new time.
const RACY: Duration = Duration::from_secs(2);

/// A project's modes, loaded only as far as needed.
pub struct ModeCache {
    /// What is known without loading a mode.
    pub index: CacheIndex,
    storage: ModeStorage,
}

enum ModeStorage {
    Read(Box<Catalogue>),
    Compiled(Vec<u8>),
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
    headers: Vec<ModeHeader>,
}

/// What is needed to decide whether an event needs a mode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ModeHeader {
    /// The events it needs to see while it is not active.
    filter: EventFilter,
    namespace: String,
    /// Whether other modes are its steps.
    flow: bool,
    /// Its length in the compiled file.
    length: usize,
}

/// What the compiled file was made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct CacheKey {
    build: u64,
    /// Whether the environment trusts the project.
    granted: bool,
    files: Vec<(String, u64, u64)>,
}

impl ModeCache {
    /// Opens the compiled file of a project, or its sources if that is missing or outdated.
    #[must_use]
    pub fn open(places: &ProjectPaths) -> Self {
        let (key, racy) = key(places);
        let path = places.compiled();
        let compiled = path.as_ref().and_then(|path| disk::read(path, disk::LARGEST).ok());
        if let Some(cache) = compiled.and_then(|bytes| Self::compiled(&bytes, &key)) {
            return cache;
        }
        let cache = Self::read(places);
        if let (ModeStorage::Read(catalogue), Some(path), false) = (&cache.storage, path, racy) {
            keep(&path, &key, &cache.index, catalogue);
        }
        cache
    }

    /// Reads a project's sources.
    #[must_use]
    pub fn read(places: &ProjectPaths) -> Self {
        let catalogue = read(places);
        let Catalogue { settings, broken, hash, contexts, trust, .. } = catalogue.clone();
        let index = CacheIndex { settings, broken, hash, trust, contexts, headers: Vec::new() };
        Self { index, storage: ModeStorage::Read(Box::new(catalogue)) }
    }

    fn compiled(bytes: &[u8], key: &CacheKey) -> Option<Self> {
        // A damaged file must not be used: a missing mode leaves its gates open.
        let (sum, bytes) = bytes.split_at_checked(8)?;
        if sum != hash(bytes).to_le_bytes() {
            return None;
        }
        let (kept, rest) = postcard::take_from_bytes::<CacheKey>(bytes).ok()?;
        if kept != *key {
            return None;
        }
        let (index, rest) = postcard::take_from_bytes::<CacheIndex>(rest).ok()?;
        Some(Self { index, storage: ModeStorage::Compiled(rest.to_vec()) })
    }

    /// Whether a command activates a mode; only for modes that were read from their sources.
    #[must_use]
    pub fn activated_by(&self, command: &str) -> bool {
        matches!(&self.storage, ModeStorage::Read(catalogue) if catalogue.modes.iter().any(|mode| mode.activated_by(command)))
    }

    /// All modes.
    #[must_use]
    pub fn catalogue(&self) -> Catalogue {
        self.modes(|_| true)
    }

    /// The modes that `event` needs: those in `busy` namespaces, and inactive ones that match it. An active flow needs
    /// its steps too, and so all modes.
    #[must_use]
    pub fn needed(&self, event: &Event, busy: impl Fn(&str) -> bool) -> Catalogue {
        let flows = self.index.headers.iter().any(|header| header.flow && busy(&header.namespace));
        self.modes(|header| flows || busy(&header.namespace) || header.filter.matches(event))
    }

    fn modes(&self, wanted: impl Fn(&ModeHeader) -> bool) -> Catalogue {
        let bytes = match &self.storage {
            ModeStorage::Read(catalogue) => return catalogue.as_ref().clone(),
            ModeStorage::Compiled(bytes) => bytes,
        };
        let CacheIndex { settings, broken, hash, trust, contexts, headers } = self.index.clone();
        let mut catalogue = Catalogue { settings, broken, contexts, hash, trust, ..Catalogue::default() };
        let mut rest = bytes.as_slice();
        for header in headers {
            let Some((own, after)) = rest.split_at_checked(header.length) else { break };
            rest = after;
            if wanted(&header)
                && let Ok((mode, origin)) = postcard::from_bytes(own)
            {
                catalogue.modes.push(mode);
                catalogue.origins.push(origin);
            }
        }
        catalogue
    }
}

/// Reads the catalogue from the sources that the person has agreed to.
#[must_use]
pub fn read(places: &ProjectPaths) -> Catalogue {
    let (sources, trust) = trust::usable(places, sources(places));
    Catalogue { trust, ..defaults::with_defaults(places, sources).catalogue() }
}

/// The sources that the person has agreed to.
#[must_use]
pub fn trusted_sources(places: &ProjectPaths) -> ProjectSources {
    defaults::with_defaults(places, trust::usable(places, sources(places)).0)
}

/// Reads the files of a project that a catalogue can be made of, trusted or not.
#[must_use]
pub fn sources(places: &ProjectPaths) -> ProjectSources {
    let mut sources = ProjectSources { contexts: contexts(&own_contexts(places)), ..ProjectSources::default() };
    sources.settings = text(&places.settings(), SETTINGS, FileKind::Settings, &mut sources.unreadable);
    sources.user = user_settings(places, &mut sources.unreadable);
    let files = mode_files(&places.modes()).into_iter().map(|path| {
        let name = format!(".claude/modes/{}", path.file_name().unwrap_or_default().to_string_lossy());
        (path, name, FileKind::Mode)
    });
    let imported = IMPORTED.map(|name| (places.home.join(name), name.to_owned(), FileKind::Gates));
    for (path, name, kind) in files.chain(imported) {
        if let Some(text) = text(&path, &name, kind, &mut sources.unreadable) {
            sources.files.push((name, text));
        }
    }
    sources
}

/// The text of a file, if it exists; a file that cannot be read is added to `unreadable`.
fn text(path: &Path, name: &str, kind: FileKind, unreadable: &mut Vec<BrokenFile>) -> Option<String> {
    match disk::read(path, disk::SMALL).map(String::from_utf8) {
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
        let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        let files = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.extend(files.filter(|name| name.strip_suffix(".md").is_some()).map(|name| format!("{prefix}{name}")));
    }
    names.sort();
    names
}

/// Gates in other formats.
const IMPORTED: [&str; 2] = [".claude/gates.json", ".claude/hooks.toml"];

/// Writes the compiled file; if that fails, the next event reads the YAML again.
fn keep(path: &Path, key: &CacheKey, index: &CacheIndex, catalogue: &Catalogue) {
    let mut index = index.clone();
    let mut modes: Vec<u8> = Vec::new();
    for entry in catalogue.entries() {
        let Ok(bytes) = postcard::to_stdvec(&entry) else { return };
        // A mode that does not decode to itself would be missing later, and its gates open.
        let again = postcard::from_bytes::<(Mode, ModeOrigin)>(&bytes);
        if !again.is_ok_and(|(mode, origin)| mode == *entry.0 && origin == *entry.1) {
            return;
        }
        let mode = entry.0;
        let flow = mode.phases.iter().any(|phase| matches!(phase.worker, Worker::Mode(_)));
        let header =
            ModeHeader { filter: EventFilter::of(mode), namespace: mode.namespace.clone(), flow, length: bytes.len() };
        index.headers.push(header);
        modes.extend(bytes);
    }
    let (Ok(mut bytes), Ok(index)) = (postcard::to_stdvec(key), postcard::to_stdvec(&index)) else { return };
    bytes.extend(index);
    bytes.extend(modes);
    bytes.splice(0..0, hash(&bytes).to_le_bytes());
    disk::remove_stale_temporaries(path);
    let made = path.parent().map_or(Ok(()), create_private);
    let _: io::Result<()> = made.and_then(|()| disk::write(path, &bytes, disk::LinkPolicy::Replace));
}

fn key(places: &ProjectPaths) -> (CacheKey, bool) {
    let now = SystemTime::now();
    let mut racy = false;
    let mut files = Vec::new();
    let mut paths = mode_files(&places.modes());
    paths.push(places.settings());
    paths.extend(IMPORTED.map(|name| places.home.join(name)));
    paths.extend(defaults::paths(places));
    paths.extend(places.trust());
    paths.extend(places.user_settings.clone());
    let [own, below @ ..] = context_folders(&own_contexts(places)).map(|(_, folder)| folder);
    if own.is_dir() {
        paths.extend([own].into_iter().chain(below));
    }
    for path in paths {
        let Ok(meta) = fs::metadata(&path) else { continue };
        let modified = meta.modified().unwrap_or(now);
        racy |= now.duration_since(modified).map_or(true, |age| age < RACY);
        let nanos = modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
        let stamp = u64::try_from(nanos).unwrap_or_default() ^ changed(&meta);
        files.push((path.to_string_lossy().into_owned(), meta.len(), stamp));
    }
    (CacheKey { build: BUILD_HASH, granted: trust::is_granted(&places.home), files }, racy)
}

/// The inode and its change time, which change even if the file's time is set back.
#[cfg(unix)]
fn changed(meta: &fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    meta.ino().rotate_left(32) ^ meta.ctime().cast_unsigned() ^ meta.ctime_nsec().cast_unsigned().rotate_left(16)
}

#[cfg(not(unix))]
fn changed(_: &fs::Metadata) -> u64 {
    0
}

fn mode_files(folder: &Path) -> Vec<std::path::PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let is_yaml = |path: &std::path::PathBuf| path.extension().is_some_and(|end| end == "yaml" || end == "yml");
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_yaml).collect();
    paths.sort();
    paths
}

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

const SOURCES: [&str; 24] = [
    include_str!("mode_cache.rs"),
    include_str!("ids.rs"),
    include_str!("mode.rs"),
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
