//! Which modes decide: those of a folder, of the project, or those that a recording carries.

use crate::mode::{BrokenFile, Catalogue, ModeOrigin, ProjectSources, SETTINGS};
use crate::mode_cache;
use crate::paths::ProjectPaths;
use crate::replay::recording::Header;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// How many recordings' modes are kept in mind.
const MANY: usize = 32;

/// The word for the modes that a recording carries.
const RECORDED: &str = "recorded";

/// The modes that decide, by whom they are asked for.
pub(super) struct ModeSource {
    /// Only those that a recording carries.
    recorded: bool,
    /// A folder of mode files, which stand in the place of the others.
    files: Option<Vec<(String, String)>>,
    folder: Option<PathBuf>,
    /// Settings beside these files.
    settings: Option<String>,
    /// The project that was named, or that we stand in.
    here: ProjectSources,
    named: bool,
    /// Whose modes were asked for, or are at hand, for people.
    asked: String,
    known: Mutex<HashMap<u64, Arc<ResolvedModes>>>,
}

/// A catalogue that decides.
#[derive(Debug)]
pub(super) struct ResolvedModes {
    pub(super) catalogue: Catalogue,
    /// The hash that lines have which these very modes have decided.
    pub(super) hash: String,
    /// Whose modes they are, for people.
    pub(super) name: String,
}

impl ModeSource {
    /// The modes of `--modes`, or of the project.
    pub(super) fn new(modes: Option<&Path>, project: Option<&Path>, here: &ProjectPaths) -> Result<Self, String> {
        let mut chosen = Self {
            recorded: modes.is_some_and(|modes| modes.as_os_str() == RECORDED),
            files: None,
            folder: None,
            settings: None,
            asked: format!("the modes of {}", modes.unwrap_or(&here.home).display()),
            here: mode_cache::sources(here),
            named: project.is_some(),
            known: Mutex::default(),
        };
        let Some(folder) = modes.filter(|_| !chosen.recorded) else { return Ok(chosen) };
        if !folder.is_dir() {
            return Err(format!("`--modes {}` is no folder", folder.display()));
        }
        if let Some(home) = project_of(folder) {
            chosen.here = mode_cache::sources(&ProjectPaths { home });
            chosen.named = true;
        } else {
            let (files, settings) = loose(folder)?;
            chosen.files = Some(files);
            chosen.folder = Some(folder.to_owned());
            chosen.settings = settings;
        }
        Ok(chosen)
    }

    /// The modes at hand, each with the file that people know it by.
    pub(super) fn catalogue(&self) -> Catalogue {
        let mut catalogue = self.changed(&self.here).catalogue();
        for origin in &mut catalogue.origins {
            if let ModeOrigin::File(file) = origin {
                self.name(file);
            }
        }
        catalogue
    }

    /// Gives a file of `--modes` the name that people know it by.
    fn name(&self, file: &mut String) {
        let named = self.folder.as_ref().zip(file.strip_prefix(".claude/modes/"));
        if let Some(name) = named.map(|(folder, name)| folder.join(name).to_string_lossy().into_owned()) {
            *file = name;
        }
    }

    /// Files of the modes at hand that cannot be read: what they would decide nobody knows.
    pub(super) fn broken(&self) -> Vec<BrokenFile> {
        let mut broken = if self.recorded { Vec::new() } else { self.changed(&self.here).catalogue().broken };
        for broken in &mut broken {
            self.name(&mut broken.file);
        }
        broken
    }

    /// The files of the modes that were asked for, by their path in a project.
    pub(super) fn files(&self) -> Vec<(String, String)> {
        if !self.named && self.files.is_none() {
            return Vec::new();
        }
        let ProjectSources { settings, files, .. } = self.changed(&self.here);
        files.into_iter().chain(settings.map(|text| (SETTINGS.to_owned(), text))).collect()
    }

    /// Who decides the lines of a recording.
    pub(super) fn of_recording(&self, header: &Header) -> Arc<ResolvedModes> {
        let own = self.recorded || !self.named && self.files.is_none() && self.here == ProjectSources::default();
        let base = if own || self.files.is_some() { &header.sources } else { &self.here };
        let sources = self.changed(base);
        // The same texts are the same modes, whatever modegate has read them.
        let same = (sources == header.sources).then_some(header.modes.as_str());
        self.resolved(&sources, same, if own { "the recorded modes" } else { &self.asked })
    }

    /// Who decides the lines of a file: the modes of the project whose journal it is, or of ours.
    pub(super) fn of_file(&self, path: &Path) -> Arc<ResolvedModes> {
        let home = if self.named { None } else { owner(path) };
        match home {
            Some(home) if self.files.is_none() => {
                let name = format!("the modes of {}", home.display());
                self.resolved(&mode_cache::sources(&ProjectPaths { home }), None, &name)
            }
            Some(home) => self.resolved(&self.changed(&mode_cache::sources(&ProjectPaths { home })), None, &self.asked),
            None => self.resolved(&self.changed(&self.here), None, &self.asked),
        }
    }

    /// The sources with the files of `--modes` in the place of theirs.
    fn changed(&self, base: &ProjectSources) -> ProjectSources {
        let mut sources = base.clone();
        if let Some(files) = &self.files {
            sources.files.retain(|(name, _)| !name.starts_with(".claude/modes/"));
            sources.files.splice(0..0, files.iter().cloned());
        }
        if let Some(settings) = &self.settings {
            sources.settings = Some(settings.clone());
        }
        sources
    }

    fn resolved(&self, sources: &ProjectSources, same: Option<&str>, name: &str) -> Arc<ResolvedModes> {
        let key = crate::paths::hash(format!("{sources:?} {same:?} {name}").as_bytes());
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() > MANY {
            known.clear();
        }
        let new = || {
            let catalogue = sources.catalogue();
            let hash = same.map_or_else(|| catalogue.hash.clone(), str::to_owned);
            Arc::new(ResolvedModes { catalogue, hash, name: name.to_owned() })
        };
        Arc::clone(known.entry(key).or_insert_with(new))
    }
}

/// The project that a folder is, or whose `.claude` or `.claude/modes` it is.
fn project_of(folder: &Path) -> Option<PathBuf> {
    let full = folder.canonicalize().ok()?;
    let above = |depth: usize| full.ancestors().nth(depth).map(Path::to_owned);
    if full.join(".claude").is_dir() {
        above(0)
    } else if full.ends_with(".claude") {
        above(1)
    } else if full.ends_with(".claude/modes") {
        above(2)
    } else {
        None
    }
}

/// The project in whose `.claude/hooks/sessions` a journal lies.
fn owner(path: &Path) -> Option<PathBuf> {
    let full = path.canonicalize().ok()?;
    let folder = full.parent()?;
    folder.ends_with(".claude/hooks/sessions").then(|| full.ancestors().nth(4).map(Path::to_owned))?
}

/// The mode files of a folder that is no project's, and the settings beside them.
#[expect(clippy::type_complexity, reason = "two things that are read together once")]
fn loose(folder: &Path) -> Result<(Vec<(String, String)>, Option<String>), String> {
    let read = |path: &Path| {
        std::fs::read_to_string(path).map_err(|error| format!("`{}` cannot be read: {error}", path.display()))
    };
    let entries = std::fs::read_dir(folder).map_err(|error| format!("`{}`: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let mut files = Vec::new();
    let mut settings = None;
    for path in paths.iter().filter(|path| path.extension().is_some_and(|end| end == "yaml" || end == "yml")) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name == "modegate.yaml" {
            settings = Some(read(path)?);
        } else {
            files.push((format!(".claude/modes/{name}"), read(path)?));
        }
    }
    if files.is_empty() && settings.is_none() {
        return Err(format!("`--modes {}` has no mode files (*.yaml)", folder.display()));
    }
    Ok((files, settings))
}
