//! Modes as they were parsed, by the text of their file: when one file changes, the others are not parsed again.
//!
//! Texts are compared as a whole, so the time of a file does not matter. Modes are kept before the settings are applied
//! to them.

use super::BUILD_HASH;
use super::compiled::{checked, with_checksum};
use crate::disk;
use crate::mode::{Mode, ModeMemo, embedded_modes, restore_embedded};
use crate::paths::ProjectPaths;
use crate::user_folder::create_private;
use crate::yaml::FileProblem;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;

/// A mode and the warnings about it.
type ParsedMode = (Mode, Vec<FileProblem>);

/// The modes of a project that were parsed before.
#[derive(Default)]
pub(super) struct ParsedModes {
    path: Option<PathBuf>,
    /// The names of the variables in the settings, which decide what is a mistake.
    variables: Vec<String>,
    /// What the file has.
    known: HashMap<String, Vec<u8>>,
    /// What this catalogue uses.
    used: Vec<(String, Vec<u8>)>,
    is_outdated: bool,
}

/// The content of the file.
#[derive(Serialize, Deserialize)]
struct ParsedFile<'a> {
    build: u64,
    #[serde(borrow)]
    variables: Vec<&'a str>,
    embedded: &'a [u8],
    #[serde(borrow)]
    modes: Vec<(&'a str, &'a [u8])>,
}

impl ParsedModes {
    /// Opens the file of a project.
    pub(super) fn open(places: &ProjectPaths) -> Self {
        let path = places.compiled().map(|path| path.with_file_name("parsed.bin"));
        let bytes = path.as_ref().and_then(|path| disk::read(path, disk::LARGEST).ok()).unwrap_or_default();
        let file = bytes.split_at_checked(8).and_then(|(sum, content)| checked(sum, content));
        let file = file.and_then(|content| postcard::from_bytes::<ParsedFile<'_>>(content).ok());
        let Some(file) = file.filter(|file| file.build == BUILD_HASH) else {
            return Self { path, is_outdated: true, ..Self::default() };
        };
        if let Ok(modes) = postcard::from_bytes(file.embedded) {
            restore_embedded(modes);
        }
        let known = file.modes.iter().map(|(text, mode)| ((*text).to_owned(), mode.to_vec())).collect();
        let variables = file.variables.iter().map(|name| (*name).to_owned()).collect();
        Self { path, variables, known, ..Self::default() }
    }

    /// Writes the file if modes were parsed; if that fails, they are parsed again.
    pub(super) fn write(&self) {
        let Some(path) = self.path.as_ref().filter(|_| self.is_outdated) else { return };
        let embedded: Option<Vec<&ParsedMode>> = embedded_modes().iter().map(|read| read.as_ref().ok()).collect();
        let Ok(embedded) = postcard::to_stdvec(&embedded.unwrap_or_default()) else { return };
        let file = ParsedFile {
            build: BUILD_HASH,
            variables: self.variables.iter().map(String::as_str).collect(),
            embedded: &embedded,
            modes: self.used.iter().map(|(text, mode)| (text.as_str(), mode.as_slice())).collect(),
        };
        let Ok(bytes) = postcard::to_stdvec(&file) else { return };
        disk::remove_stale_temporaries(path);
        let made = path.parent().map_or(Ok(()), create_private);
        let _: io::Result<()> = made.and_then(|()| disk::write_unsynced(path, &with_checksum(&bytes)));
    }
}

impl ModeMemo for ParsedModes {
    fn find(&mut self, text: &str, known: &[&str]) -> Option<ParsedMode> {
        if self.variables != known {
            self.variables = known.iter().map(|name| (*name).to_owned()).collect();
            self.known.clear();
        }
        let (text, bytes) = self.known.remove_entry(text)?;
        let parsed = postcard::from_bytes(&bytes).ok()?;
        self.used.push((text, bytes));
        Some(parsed)
    }

    fn add(&mut self, text: &str, read: &ParsedMode) {
        self.is_outdated = true;
        let bytes = postcard::to_stdvec(read).ok();
        // A mode that does not decode to itself would be another one later.
        let same = bytes.filter(|bytes| postcard::from_bytes::<ParsedMode>(bytes).is_ok_and(|again| again == *read));
        self.used.extend(same.map(|bytes| (text.to_owned(), bytes)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mode::ProjectSources;

    /// The sources of a project with these mode files.
    fn sources(settings: &str, files: &[(&str, &str)]) -> ProjectSources {
        let files = files.iter().map(|(name, text)| (format!(".claude/modes/{name}.yaml"), (*text).to_owned()));
        ProjectSources { settings: Some(settings.to_owned()), files: files.collect(), ..ProjectSources::default() }
    }

    /// Reads the sources as if `memo` had been written to its file and read again.
    fn read_again(memo: ParsedModes, sources: &ProjectSources) -> ParsedModes {
        let known = memo.used.into_iter().collect();
        let mut memo = ParsedModes { known, variables: memo.variables, ..ParsedModes::default() };
        assert_eq!(sources.catalogue_with(&mut memo), sources.catalogue());
        memo
    }

    const ONE: &str = "mode: one\ncommands: [/one]\nvariables: { dir: [a] }\nphases: [{ phase: p, agent: x, before: [{ check: { file: '{dir}/b' } }] }]\n";
    const TWO: &str = "mode: two\ncommands: [/two]\nphases: [{ phase: p, mode: one }]\n";
    const BASE: &str = "mode: base\ngates: [{ id: g, on: Stop, check: { file: a } }]\n";

    #[test]
    fn only_files_with_a_new_text_are_parsed() {
        let files = [("base", BASE), ("one", ONE), ("two", TWO)];
        let memo = read_again(ParsedModes::default(), &sources("", &files));
        assert!(memo.is_outdated);
        let memo = read_again(memo, &sources("", &files));
        assert!(!memo.is_outdated);
        let changed = ONE.replace("agent: x", "agent: y");
        let memo = read_again(memo, &sources("", &[("base", BASE), ("one", &changed), ("two", TWO)]));
        assert!(memo.is_outdated && memo.known.len() == 1);
    }

    #[test]
    fn settings_are_applied_to_known_modes() {
        let files = [("one", ONE), ("two", TWO)];
        let mut memo = read_again(ParsedModes::default(), &sources("variables: { dir: [c, '{dir}'] }\n", &files));
        let own = "disable: [one]\nvariables: { dir: ['{dir}'] }\n";
        for settings in ["variables: { dir: [d] }\n", own, "", "variables: { x: [y] }\n"] {
            memo = read_again(memo, &sources(settings, &files));
        }
    }
}
