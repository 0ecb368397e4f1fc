//! Files below those of the project: the user's own hooks, and the gates and context of the plugin that calls modegate.
//!
//! The person has put them where they are, so they need no trust of the project.

use super::{MODES, context_folders, contexts, text};
use crate::host::paths::{PLUGIN_CONTEXT, ProjectPaths};
use crate::policy::mode::{FileKind, PLUGIN_GATES, ProjectSources, USER_HOOKS};
use std::path::PathBuf;

/// The sources of a project with the files below them.
///
/// They come after the project's modes, which can then neither name their gates nor replace them: whoever trusts a project
/// reads its files without them.
pub(super) fn with_defaults(places: &ProjectPaths, mut sources: ProjectSources) -> ProjectSources {
    let modes = sources.files.iter().take_while(|(name, _)| name.starts_with(MODES)).count();
    for (path, name) in files(places).into_iter().rev() {
        if let Some(text) = text(&path, name, FileKind::Gates, &mut sources.unreadable) {
            sources.files.insert(modes, (name.to_owned(), text));
        }
    }
    if let Some(plugin) = &places.plugin {
        let names = contexts(&plugin.join("context")).into_iter().map(|name| format!("{PLUGIN_CONTEXT}{name}"));
        sources.contexts.extend(names);
    }
    sources
}

pub(super) fn user_hooks(places: &ProjectPaths) -> Option<String> {
    let (path, name) = files(places).into_iter().find(|(_, name)| *name == USER_HOOKS)?;
    text(&path, name, FileKind::Gates, &mut Vec::new())
}

pub(super) fn paths(places: &ProjectPaths) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = files(places).into_iter().map(|(path, _)| path).collect();
    if let Some(plugin) = &places.plugin {
        paths.extend(context_folders(&plugin.join("context")).map(|(_, folder)| folder));
    }
    paths
}

fn files(places: &ProjectPaths) -> Vec<(PathBuf, &'static str)> {
    let hooks = places.user_settings.iter().map(|settings| (settings.with_file_name("hooks.toml"), USER_HOOKS));
    let gates = places.plugin.iter().map(|folder| (folder.join("hooks/gates.json"), PLUGIN_GATES));
    hooks.chain(gates).collect()
}
