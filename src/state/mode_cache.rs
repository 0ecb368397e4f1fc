//! A project's modes and settings from disk, kept in a compiled file for speed.
//!
//! The sources are read again when the size or time of one changes, or when another build wrote the compiled file.
//! An event reads the index of that file and the modes that it needs, however many there are.

mod compiled;
mod defaults;
mod key;

pub use key::SourceScope;

use crate::host::event::Event;
use crate::host::paths::ProjectPaths;
use crate::policy::mode::{self, BrokenFile, Catalogue, FileKind, HOOKS, ProjectSources, SETTINGS, USER_SETTINGS};
use crate::policy::settings::Settings;
use crate::state::trust;
use crate::state::user_folder::expanded;
use base::disk;
use compiled::{CompiledModes, LoadedModes};
use key::CacheKey;
use std::io;
use std::path::Path;

/// Identifies the build: its version, and the sources of every type in the compiled file.
const BUILD: &str = concat!(env!("CARGO_PKG_VERSION"), " ", env!("MODEGATE_SOURCES"));

/// A project's modes, loaded only as far as needed.
pub struct ModeCache<'p> {
    /// The catalogue without its modes.
    pub index: Catalogue,
    places: &'p ProjectPaths,
    storage: ModeStorage,
}

enum ModeStorage {
    Read(LoadedModes),
    Compiled(Box<CompiledModes>),
}

impl<'p> ModeCache<'p> {
    /// Opens the compiled file of a project, or its sources if that is missing or outdated.
    pub fn open(places: &'p ProjectPaths, scope: SourceScope) -> Self {
        let (key, racy) = CacheKey::of_sources(places, scope);
        match places.compiled().and_then(|path| CompiledModes::open(&path, &key)) {
            Some((modes, index)) => Self { index, places, storage: ModeStorage::Compiled(Box::new(modes)) },
            None if key.is_complete() => Self::from_catalogue(places, compile_as(places, &key, racy)),
            None => Self::from_catalogue(places, compile(places)),
        }
    }

    pub fn read(places: &'p ProjectPaths) -> Self {
        Self::from_catalogue(places, read(places))
    }

    fn from_catalogue(places: &'p ProjectPaths, catalogue: Catalogue) -> Self {
        let index = catalogue.without_modes();
        Self { index, places, storage: ModeStorage::Read((catalogue.modes, catalogue.origins)) }
    }

    /// Whether a command activates a mode; only for modes that were read from their sources.
    pub fn activated_by(&self, command: &str) -> bool {
        matches!(&self.storage, ModeStorage::Read((modes, _)) if modes.iter().any(|mode| mode.activated_by(command)))
    }

    pub fn catalogue(&self) -> Catalogue {
        self.loaded(CompiledModes::all)
    }

    /// The modes that `event` needs: those with a namespace that is `busy`, and inactive ones that match it. An active flow
    /// needs its steps too, and so all modes.
    pub fn needed(&self, event: &Event, busy: &[&str]) -> Catalogue {
        self.loaded(|file| file.needed(event, busy))
    }

    fn loaded(&self, load: impl FnOnce(&CompiledModes) -> Option<LoadedModes>) -> Catalogue {
        let loaded = match &self.storage {
            ModeStorage::Read(modes) => Some(modes.clone()),
            ModeStorage::Compiled(file) => load(file),
        };
        // A damaged file must not be used: a missing mode leaves its gates open.
        let Some((modes, origins)) = loaded else { return compile(self.places) };
        Catalogue { modes, origins, ..self.index.clone() }
    }
}

/// Reads a project's sources, and writes the compiled file unless one of them is too young.
fn compile(places: &ProjectPaths) -> Catalogue {
    let (key, racy) = CacheKey::of_sources(places, SourceScope::All);
    compile_as(places, &key, racy)
}

/// See [`compile`]; the sources had this key before they were read.
fn compile_as(places: &ProjectPaths, key: &CacheKey, racy: bool) -> Catalogue {
    let catalogue = read(places);
    if let Some(path) = places.compiled().filter(|_| !racy) {
        compiled::write(&path, key, &catalogue);
    }
    catalogue
}

pub fn read(places: &ProjectPaths) -> Catalogue {
    let (sources, trust) = trust::usable(places, sources(places));
    Catalogue { trust, ..defaults::with_defaults(places, sources).catalogue() }
}

pub fn trusted_sources(places: &ProjectPaths) -> ProjectSources {
    defaults::with_defaults(places, trust::usable(places, sources(places)).0)
}

/// The hooks of the user's own that those of the project's sources replace.
pub fn replaced_hooks(places: &ProjectPaths, sources: &ProjectSources) -> Vec<String> {
    let own = sources.files.iter().find(|(name, _)| name == HOOKS);
    let both = own.and_then(|(_, own)| Some(mode::replaced_hooks(&defaults::user_hooks(places)?, own)));
    both.unwrap_or_default()
}

/// Reads the files of a project that a catalogue can be made of, trusted or not.
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

const MODES: &str = ".claude/modes/";

const IMPORTED: [&str; 2] = [".claude/gates.json", ".claude/hooks.toml"];
