//! Finds sessions by their id or its first characters.

use super::cli_error::CliError;
use crate::host::paths::ProjectPaths;
use crate::state::journal_files;
use crate::state::store::StateStore;
use std::path::{Path, PathBuf};

const LISTED: usize = 5;

pub(super) fn no_session(places: &ProjectPaths) -> CliError {
    CliError::failure(format!("no session is recorded in {}", places.home.display()))
        .hint("start Claude Code in this project, or give the project with `--project DIR`")
}

/// The id of the session that `given` means: a whole id, a prefix of it, or `last`.
pub(crate) fn find_session(places: &ProjectPaths, given: &str) -> Result<String, CliError> {
    let known = known_sessions(places);
    if known.iter().any(|id| id == given) {
        return Ok(given.to_owned());
    }
    if given == "last" {
        return last_session(places).ok_or_else(|| no_session(places));
    }
    let matching: Vec<&String> = known.iter().filter(|id| !given.is_empty() && id.starts_with(given)).collect();
    match matching.as_slice() {
        [only] => Ok((*only).clone()),
        [] => {
            let error = CliError::failure(format!("no session `{given}` in {}", places.home.display()));
            Err(error
                .hint(near_ids(given, &known).unwrap_or_else(|| "run `modegate status --all` to list sessions".into())))
        }
        many => {
            let some: Vec<&str> = many.iter().take(LISTED).map(|id| id.as_str()).collect();
            let message = format!("`{given}` matches {} sessions: {}", many.len(), some.join(", "));
            Err(CliError::failure(message).hint("give more characters of the id"))
        }
    }
}

pub(super) fn find_optional(places: &ProjectPaths, given: Option<&str>) -> Result<Option<String>, CliError> {
    given.map(|given| find_session(places, given)).transpose()
}

pub(super) fn last_journal(places: &ProjectPaths) -> Option<PathBuf> {
    let journals = journal_files::journals(&places.sessions()).into_iter();
    journals.max_by_key(|path| std::fs::metadata(path).and_then(|meta| meta.modified()).ok())
}

pub(super) fn last_session(places: &ProjectPaths) -> Option<String> {
    last_journal(places).map(|journal| session_of(&journal))
}

/// Every session of a project: those with a journal, and those with state.
pub(super) fn known_sessions(places: &ProjectPaths) -> Vec<String> {
    let recorded = journal_files::journals(&places.sessions()).into_iter().map(|journal| session_of(&journal));
    let stored = StateStore::new(places.clone(), u32::MAX).sessions().into_iter();
    let mut known: Vec<String> = recorded.chain(stored.map(|stored| stored.session.id.to_string())).collect();
    known.sort_unstable();
    known.dedup();
    known
}

/// The session of a journal. Ids of the host are safe file names; others are in the journal's lines.
fn session_of(journal: &Path) -> String {
    let stem = journal.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let hashed = stem.rsplit('-').next().is_some_and(|end| end.len() == 16);
    let recorded = if hashed { journal_files::last(journal) } else { None };
    recorded.map_or(stem, |line| line.before.id.to_string())
}

fn near_ids(given: &str, known: &[String]) -> Option<String> {
    let distance = |id: &str| {
        let start: String = id.chars().take(given.chars().count()).collect();
        strsim::damerau_levenshtein(given, &start)
    };
    let mut near: Vec<&String> = known.iter().filter(|id| distance(id) <= 1 + given.len() / 5).collect();
    near.sort_by_key(|id| distance(id));
    let near: Vec<&str> = near.into_iter().take(LISTED).map(String::as_str).collect();
    (!near.is_empty()).then(|| format!("did you mean {}?", near.join(", ")))
}
