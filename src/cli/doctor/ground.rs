//! What the doctor looks at: the settings files of the host, the modes, the folders.

use super::super::site::{Site, user_folder};
use crate::library;
use crate::mode::Catalogue;
use crate::wiring::{self, Handler, handlers};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Everything the checks share, gathered once.
pub(super) struct Ground {
    pub(super) site: Site,
    pub(super) catalogue: Catalogue,
    /// The host's folder for the user.
    pub(super) user: Option<PathBuf>,
    /// The settings files that are there, the weakest first.
    pub(super) sources: Vec<Source>,
}

/// Where hooks come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Plugin,
    User,
    Project,
    Local,
    Managed,
}

/// A file with hooks.
pub(super) struct Source {
    pub(super) rank: Rank,
    pub(super) path: PathBuf,
    /// How it is called in messages.
    pub(super) name: String,
    /// What it says; an error is why the host passes over it.
    pub(super) value: Result<Value, String>,
}

impl Ground {
    pub(super) fn gather(site: Site) -> Self {
        let catalogue = library::read(&site.places());
        let user = user_folder();
        let mut sources: Vec<Source> =
            plugins(user.as_deref()).iter().filter_map(|path| Source::read(Rank::Plugin, path, &site)).collect();
        let own = user.as_ref().map(|user| (Rank::User, user.join("settings.json")));
        let project = [(Rank::Project, "settings.json"), (Rank::Local, "settings.local.json")];
        let project = project.map(|(rank, name)| (rank, site.claude.join(name)));
        let paths = own.into_iter().chain(project).chain(managed().map(|path| (Rank::Managed, path)));
        sources.extend(paths.filter_map(|(rank, path)| Source::read(rank, &path, &site)));
        Self { site, catalogue, user, sources }
    }

    /// Our entries, with the file each is in.
    pub(super) fn ours(&self) -> Vec<(&Source, Handler<'_>)> {
        let readable = self.sources.iter().filter_map(|source| Some((source, source.value.as_ref().ok()?)));
        let all =
            readable.flat_map(|(source, value)| handlers(value).into_iter().map(move |handler| (source, handler)));
        all.filter(|(_, handler)| handler.is_ours()).collect()
    }

    /// A path as people read it.
    pub(super) fn short(&self, path: &Path) -> String {
        shortened(path, &self.site)
    }
}

fn shortened(path: &Path, site: &Site) -> String {
    let user = user_folder().and_then(|user| user.parent().map(Path::to_owned));
    match (path.strip_prefix(&site.home), user.and_then(|user| Some(path.strip_prefix(user).ok()?.to_owned()))) {
        (Ok(below), _) => below.display().to_string(),
        (_, Some(below)) => format!("~/{}", below.display()),
        _ => path.display().to_string(),
    }
}

impl Source {
    fn read(rank: Rank, path: &Path, site: &Site) -> Option<Self> {
        let bytes = fs::read(path).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let value = match wiring::unwire(&text) {
            Err(refusal) => {
                let place = refusal.place.map(|(line, column)| format!(" (line {line}, column {column})"));
                Err(format!("{}{}", refusal.why, place.unwrap_or_default()))
            }
            Ok(_) => serde_json::from_str(text.trim_start_matches('\u{feff}')).or(Ok(Value::Null)),
        };
        Some(Self { rank, path: path.to_owned(), name: shortened(path, site), value })
    }

    /// The value of a setting in this file.
    pub(super) fn setting(&self, name: &str) -> Option<&Value> {
        self.value.as_ref().ok()?.get(name)
    }
}

/// The hooks of the plugins that a user has.
fn plugins(user: Option<&Path>) -> Vec<PathBuf> {
    const DEEP: usize = 7;
    let Some(folder) = user.map(|user| user.join("plugins")) else { return Vec::new() };
    let entries = walkdir::WalkDir::new(folder).max_depth(DEEP).into_iter().filter_map(Result::ok);
    entries.filter(|entry| entry.file_name() == "hooks.json").map(walkdir::DirEntry::into_path).collect()
}

/// Where an administrator puts settings that nobody below can change.
fn managed() -> impl Iterator<Item = PathBuf> {
    let folders = [
        "/etc/claude-code",
        "/Library/Application Support/ClaudeCode",
        "C:\\Program Files\\ClaudeCode",
        "C:\\ProgramData\\ClaudeCode",
    ];
    folders.into_iter().map(|folder| Path::new(folder).join("managed-settings.json"))
}
