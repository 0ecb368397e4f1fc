//! `modegate modes gallery` and `modegate modes add`: gates and modes to add to a project.

use super::cli_error::{self, CliError};
use super::file_change::{self, ChangeAction, FileChange, FileClass, text_of};
use super::install_target::InstallTarget;
use super::screen::{self, TextStyle, styled};
use super::trust::TrustBefore;
use crate::host::paths::ProjectPaths;
use crate::policy::gallery::{GALLERY, GalleryEntry};
use crate::state::mode_cache;
use serde_json::{Value, json};
use std::path::PathBuf;

pub(super) fn list(places: &ProjectPaths, as_json: bool) -> Result<(), CliError> {
    let mut entries: Vec<Value> = Vec::new();
    for entry in GALLERY {
        let added = text_of(&mode_path(places, entry))?.is_some();
        let kind = if entry.command.is_some() { "mode" } else { "gates" };
        if as_json {
            let command = entry.command.map(|(name, _)| format!("/{name}"));
            entries.push(
                json!({"name": entry.name, "kind": kind, "about": entry.about(), "command": command, "added": added}),
            );
            continue;
        }
        let name = styled(TextStyle::Bold, &format!("{:<22}", entry.name));
        let added = if added { styled(TextStyle::Green, " (added)") } else { String::new() };
        screen::print_line(format!("{name} {kind:<6} {}{added}", entry.about()));
    }
    if as_json {
        screen::print_json(&entries);
    } else {
        screen::print_line(styled(TextStyle::Dim, "Add one with `modegate modes add NAME`."));
    }
    Ok(())
}

/// Adds entries to the project: all of them, or none if one cannot be added.
pub(super) fn add(places: &ProjectPaths, names: &[String], dry_run: bool, as_json: bool) -> Result<(), CliError> {
    let entries = names.iter().map(|name| find(name)).collect::<Result<Vec<_>, CliError>>()?;
    let mut changes = Vec::new();
    for entry in &entries {
        changes.extend(changes_for(places, entry)?);
    }
    check(places, &entries)?;
    let (target, trust) = (InstallTarget::of(places), TrustBefore::read(places.clone()));
    if !dry_run {
        file_change::apply(&changes, &target)?;
        trust.renew();
    }
    if as_json {
        screen::print_json(&json!({"dry_run": dry_run, "changes": file_change::as_json(&changes, dry_run)}));
        return Ok(());
    }
    file_change::print(&changes, &target, dry_run);
    if !dry_run && trust.is_missing() {
        screen::print_line("modegate uses them once you have trusted this project: run `modegate trust`.");
    }
    if !dry_run && changes.iter().any(FileChange::has_effect) {
        screen::print_line(
            "The gates warn. To make one block, set its `level` to `enforce` in the file, then run `modegate trust`.",
        );
    }
    Ok(())
}

fn find(name: &str) -> Result<&'static GalleryEntry, CliError> {
    GALLERY.iter().find(|entry| entry.name == name).ok_or_else(|| {
        let names: Vec<&str> = GALLERY.iter().map(|entry| entry.name).collect();
        cli_error::unknown("entry", name, &names).hint("run `modegate modes gallery` to see all entries")
    })
}

fn mode_path(places: &ProjectPaths, entry: &GalleryEntry) -> PathBuf {
    places.modes().join(format!("{}.yaml", entry.name))
}

/// The files of an entry. A mode file with another text is an error; a command of that name stays.
fn changes_for(places: &ProjectPaths, entry: &GalleryEntry) -> Result<Vec<FileChange>, CliError> {
    let path = mode_path(places, entry);
    let before = text_of(&path)?;
    if before.as_ref().is_some_and(|before| before != entry.text) {
        let message = format!("`.claude/modes/{}.yaml` already exists and differs from the gallery", entry.name);
        return Err(CliError::failure(message)
            .hint("nothing was changed; edit that file, or remove it and add the entry again"));
    }
    let mut changes = vec![FileChange::text(path, FileClass::User, before, entry.text.to_owned(), "")];
    if let Some((command, text)) = entry.command {
        let path = places.home.join(format!(".claude/commands/{command}.md"));
        changes.push(match text_of(&path)? {
            Some(before) if before != text => {
                FileChange::new(path, ChangeAction::Keep, "already exists; it starts the mode too")
            }
            before => FileChange::text(path, FileClass::Starter, before, text.to_owned(), ""),
        });
    }
    Ok(changes)
}

/// Fails if the project could not use an entry, for instance because another file defines its mode.
fn check(places: &ProjectPaths, entries: &[&GalleryEntry]) -> Result<(), CliError> {
    let name = |entry: &GalleryEntry| format!(".claude/modes/{}.yaml", entry.name);
    let mut sources = mode_cache::sources(places);
    for entry in entries {
        sources.files.retain(|(file, _)| *file != name(entry));
        sources.files.push((name(entry), entry.text.to_owned()));
    }
    let is_new = |file: &str| entries.iter().any(|entry| name(entry) == file);
    let broken: Vec<_> = sources.catalogue().broken.into_iter().filter(|broken| is_new(&broken.file)).collect();
    if broken.is_empty() { Ok(()) } else { Err(cli_error::broken(&broken)) }
}
