//! Chooses the modes that decide: those of `--modes`, of a project, or of a recording.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use crate::host::paths::{ProjectPaths, hash};
use crate::policy::mode::{BrokenFile, Catalogue, ModeOrigin, ProjectSources, SETTINGS};
use crate::replay::command::no_input;
use crate::replay::recording::Header;
use crate::state::mode_cache;
use crate::state::user_folder::project_paths;
use base::cli_error::CliError;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

const RECORDED: &str = "recorded";

const MODES: &str = ".claude/modes/";

pub(crate) struct ModeSource {
    /// Whether only the modes of a recording are used.
    recorded: bool,
    /// Mode files from a folder outside a project; they replace the mode files of the project.
    loose: Option<ProjectSources>,
    /// The project of `--project`, of `--modes`, or the current one.
    project: ProjectSources,
    /// Whether that project was named, and so decides recordings and journals of other projects too.
    named: bool,
    name: String,
    /// The chosen modes, each with the path of its file.
    pub(crate) catalogue: Catalogue,
    resolved: Mutex<HashMap<u64, Arc<ResolvedModes>>>,
}

/// A catalogue that decides.
#[derive(Debug)]
pub(crate) struct ResolvedModes {
    pub(crate) catalogue: Catalogue,
    /// The hash in lines that the same modes decided.
    pub(crate) hash: String,
    pub(crate) name: String,
}

impl ModeSource {
    pub(crate) fn new(modes: Option<&Path>, project: Option<&Path>, here: &ProjectPaths) -> Result<Self, CliError> {
        let recorded = modes.is_some_and(|modes| modes.as_os_str() == RECORDED);
        let mut source = Self {
            recorded,
            loose: None,
            project: mode_cache::sources(here),
            named: project.is_some(),
            name: format!("the modes of {}", modes.unwrap_or(&here.home).display()),
            catalogue: Catalogue::default(),
            resolved: Mutex::default(),
        };
        match modes.filter(|_| !recorded) {
            Some(folder) if !folder.is_dir() => {
                let error = no_input(format!("`--modes {}` is not a folder", folder.display()));
                return Err(error.hint("name a project, a folder of mode files, or `recorded`"));
            }
            Some(folder) => match project_of(folder) {
                Some(home) => (source.project, source.named) = (mode_cache::sources(&project_paths(home)), true),
                None => source.loose = Some(loose_modes(folder)?),
            },
            None => {}
        }
        source.catalogue = source.with_loose(&source.project).catalogue();
        if let Some(folder) = modes.filter(|_| source.loose.is_some()) {
            source.name_loose_files(folder);
        }
        Ok(source)
    }

    /// Gives the mode files of a folder outside a project their paths.
    fn name_loose_files(&mut self, folder: &Path) {
        let files = self.catalogue.origins.iter_mut().filter_map(|origin| match origin {
            ModeOrigin::File(file) => Some(file),
            ModeOrigin::Embedded => None,
        });
        for file in files.chain(self.catalogue.broken.iter_mut().map(|broken| &mut broken.file)) {
            if let Some(name) = file.strip_prefix(MODES) {
                *file = folder.join(name).to_string_lossy().into_owned();
            }
        }
    }

    /// A file of the chosen modes that cannot be read.
    pub(crate) fn broken(&self) -> Option<&BrokenFile> {
        self.catalogue.broken.first().filter(|_| !self.recorded)
    }

    /// The mode files and settings of a scenario: the chosen ones, else those of the project that it is in.
    pub(crate) fn files(&self, scenario: &Path) -> Vec<(String, String)> {
        if self.recorded {
            return Vec::new();
        }
        let has_modes = |folder: &&Path| folder.join(MODES).is_dir() || folder.join(SETTINGS).is_file();
        let full = scenario.canonicalize().unwrap_or_default();
        let own = full.ancestors().skip(1).find(has_modes).filter(|_| !self.named && self.loose.is_none());
        let sources = own.map(|home| mode_cache::sources(&project_paths(home.to_owned())));
        let ProjectSources { settings, files, .. } = sources.unwrap_or_else(|| self.with_loose(&self.project));
        files.into_iter().chain(settings.map(|text| (SETTINGS.to_owned(), text))).collect()
    }

    pub(crate) fn modes_of_recording(&self, header: &Header) -> Arc<ResolvedModes> {
        let has_modes = self.named
            || self.loose.is_some()
            || self.project != ProjectSources { user: self.project.user.clone(), ..ProjectSources::default() };
        let own = self.recorded || !has_modes;
        let base = if own || self.loose.is_some() { &header.sources } else { &self.project };
        let sources = self.with_loose(base);
        // The same texts are the same modes, whichever version of modegate reads them.
        let same = (sources == header.sources).then_some(header.modes.as_str());
        self.resolve(&sources, same, if own { "the recorded modes" } else { &self.name })
    }

    /// The modes that decide the lines of a file: those of the project that it is a journal of, or the chosen ones.
    pub(crate) fn modes_of_file(&self, path: &Path) -> Arc<ResolvedModes> {
        let Some(home) = owner(path).filter(|_| !self.named) else {
            return self.resolve(&self.with_loose(&self.project), None, &self.name);
        };
        let own = format!("the modes of {}", home.display());
        let name = if self.loose.is_none() { &own } else { &self.name };
        self.resolve(&self.with_loose(&mode_cache::sources(&project_paths(home))), None, name)
    }

    /// Sources with the mode files of `--modes` instead of their own.
    fn with_loose(&self, base: &ProjectSources) -> ProjectSources {
        let mut sources = base.clone();
        if let Some(ProjectSources { files, settings, .. }) = &self.loose {
            sources.files.retain(|(name, _)| !name.starts_with(MODES));
            sources.files.splice(0..0, files.iter().cloned());
            sources.settings = settings.clone().or(sources.settings);
        }
        sources
    }

    fn resolve(&self, sources: &ProjectSources, same: Option<&str>, name: &str) -> Arc<ResolvedModes> {
        let key = hash(format!("{sources:?} {same:?} {name}").as_bytes());
        let mut resolved = self.resolved.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || {
            let catalogue = sources.catalogue();
            let hash = same.map_or_else(|| catalogue.hash.clone(), str::to_owned);
            Arc::new(ResolvedModes { catalogue, hash, name: name.to_owned() })
        };
        Arc::clone(resolved.entry(key).or_insert_with(new))
    }
}

/// The project that a folder is, or that its `.claude` or `.claude/modes` belongs to.
fn project_of(folder: &Path) -> Option<PathBuf> {
    let full = folder.canonicalize().ok()?;
    let home = match () {
        () if full.join(".claude").is_dir() => Some(&*full),
        () if full.ends_with(".claude") => full.parent(),
        () if full.ends_with(".claude/modes") => full.ancestors().nth(2),
        () => None,
    };
    home.map(Path::to_owned)
}

/// The project that a file is a journal of.
fn owner(path: &Path) -> Option<PathBuf> {
    let full = path.canonicalize().ok()?;
    full.parent()?.ends_with(".claude/hooks/sessions").then(|| full.ancestors().nth(4).map(Path::to_owned))?
}

/// Reads a folder of mode files, and the settings next to them.
fn loose_modes(folder: &Path) -> Result<ProjectSources, CliError> {
    let unreadable = |path: &Path, error: io::Error| no_input(format!("cannot read `{}`: {error}", path.display()));
    let entries = std::fs::read_dir(folder).map_err(|error| unreadable(folder, error))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let mut loose = ProjectSources::default();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|end| end == "yaml" || end == "yml")) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let text = base::disk::read_text(path, base::disk::SMALL).map_err(|error| unreadable(path, error))?;
        if name == "modegate.yaml" {
            loose.settings = Some(text);
        } else {
            loose.files.push((format!("{MODES}{name}"), text));
        }
    }
    if loose.files.is_empty() && loose.settings.is_none() {
        return Err(no_input(format!("`--modes {}` has no mode files (*.yaml)", folder.display())));
    }
    Ok(loose)
}
