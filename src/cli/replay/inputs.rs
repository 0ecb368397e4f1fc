//! What there is to replay: files and folders, told apart by what is in them.

use super::line_reader::{LineReader, RawLine};
use crate::journal_files::older_part;
use crate::replay::format::{FileFormat, file_format};
use crate::replay::problem::ReplayProblem;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// One session's files, as a rule.
#[derive(Debug, Clone)]
pub(super) struct ReplayInput {
    /// What is in them.
    pub(super) source: InputKind,
    /// The files, in order; the first gives the name.
    pub(super) files: Vec<PathBuf>,
    /// How large they are together.
    pub(super) size: u64,
    modified: Option<SystemTime>,
}

/// What is in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InputKind {
    /// A journal, or a recording made of one.
    Journal,
    /// Events as the host sent them.
    Stream,
    /// A conversation as the host keeps it.
    Transcript,
    /// A world and its events.
    Scenario,
    /// What another run has printed.
    Part,
}

impl InputKind {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Journal => "journal",
            Self::Stream => "stream",
            Self::Transcript => "transcript",
            Self::Scenario => "scenario",
            Self::Part => "part",
        }
    }
}

/// What was found in the given places.
#[derive(Debug, Default)]
pub(super) struct FoundInputs {
    pub(super) inputs: Vec<ReplayInput>,
    /// Files that should have been something, and are not.
    pub(super) problems: Vec<ReplayProblem>,
    /// Files of another kind, passed over in folders.
    pub(super) others: Vec<PathBuf>,
}

impl FoundInputs {
    /// Looks at every given file and folder.
    pub(super) fn in_all(paths: &[PathBuf]) -> Result<Self, (PathBuf, std::io::Error)> {
        let mut found = Self::default();
        for path in paths {
            let meta = std::fs::metadata(path).map_err(|error| (path.clone(), error))?;
            if meta.is_dir() {
                found.folder(path);
            } else if meta.is_file() {
                found.file(path, true);
            } else {
                // It is read twice: first to see what it is.
                found.problem(path, "it is no regular file; write what comes out of it into one");
            }
        }
        found.inputs.sort_by(|one, other| one.files.cmp(&other.files));
        found.inputs.dedup_by(|one, other| one.files == other.files);
        found.join_older_parts();
        Ok(found)
    }

    /// Takes the files as what other runs have printed.
    pub(super) fn parts(paths: &[PathBuf]) -> Result<Self, (PathBuf, std::io::Error)> {
        let mut found = Self::default();
        for path in paths {
            std::fs::metadata(path).map_err(|error| (path.clone(), error))?;
            found.inputs.push(ReplayInput::new(InputKind::Part, vec![path.clone()]));
        }
        Ok(found)
    }

    /// Keeps the sessions that were written last.
    pub(super) fn keep_last(&mut self, count: usize) {
        if self.inputs.len() <= count {
            return;
        }
        self.inputs.sort_by_key(|input| std::cmp::Reverse(input.modified));
        self.inputs.truncate(count);
        self.inputs.sort_by(|one, other| one.files.cmp(&other.files));
    }

    fn folder(&mut self, folder: &Path) {
        // Of a project the journals are meant, not whatever else is in it.
        let journals = folder.join(".claude/hooks/sessions");
        let root = if journals.is_dir() { &journals } else { folder };
        let entries = walkdir::WalkDir::new(root).sort_by_file_name().into_iter();
        let entries = entries.filter_entry(|entry| entry.file_name() != "subagents" && entry.file_name() != ".git");
        for entry in entries {
            match entry {
                Ok(entry) if entry.file_type().is_file() => self.file(entry.path(), false),
                // A link may lead anywhere, also back.
                Ok(entry) if entry.path_is_symlink() => self.others.push(entry.into_path()),
                Ok(_) => {}
                Err(error) => {
                    let file = error.path().unwrap_or(root).to_string_lossy().into_owned();
                    let what = error.io_error().map_or("it cannot be read".to_owned(), ToString::to_string);
                    self.problems.push(ReplayProblem::new(file, 0, what));
                }
            }
        }
    }

    /// Takes a file; one that was named must be something, others may be anything.
    fn file(&mut self, path: &Path, named: bool) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let ends = |end: &str| name.ends_with(end);
        if ends(".expect.yaml") {
            return;
        }
        let scenario = ends(".scenario.yaml") || named && (ends(".yaml") || ends(".yml"));
        let source = if scenario {
            Some(InputKind::Scenario)
        } else if named || ends(".jsonl") {
            match source(path) {
                Ok(source) => source,
                Err(error) => return self.problem(path, &error.to_string()),
            }
        } else {
            return self.others.push(path.to_owned());
        };
        let Some(source) = source else {
            let empty = std::fs::metadata(path).is_ok_and(|meta| meta.len() == 0);
            let what = if empty { "it is empty" } else { "it is no journal, no event stream and no transcript" };
            return self.problem(path, what);
        };
        let mut files = vec![path.to_owned()];
        if source == InputKind::Transcript {
            files.extend(subagents(path));
        }
        self.inputs.push(ReplayInput::new(source, files));
    }

    fn problem(&mut self, path: &Path, what: &str) {
        self.problems.push(ReplayProblem::new(path.to_string_lossy(), 0, what));
    }

    /// A journal and the part of it that was put older_part are one session.
    fn join_older_parts(&mut self) {
        let mut older: BTreeMap<PathBuf, ReplayInput> = BTreeMap::new();
        let is_older =
            |input: &ReplayInput| input.files.iter().all(|file| file.to_string_lossy().ends_with(".old.jsonl"));
        for input in std::mem::take(&mut self.inputs) {
            match input.files.first() {
                Some(file) if input.source == InputKind::Journal && is_older(&input) => {
                    older.insert(file.clone(), input);
                }
                _ => self.inputs.push(input),
            }
        }
        for input in &mut self.inputs {
            let older_part = input.files.first().map(|file| older_part(file));
            if let Some(part) = older_part.and_then(|older_part| older.remove(&older_part)) {
                input.files.splice(0..0, part.files);
                input.size += part.size;
            }
        }
        self.inputs.extend(older.into_values());
    }
}

impl ReplayInput {
    fn new(source: InputKind, files: Vec<PathBuf>) -> Self {
        let meta = |file: &PathBuf| std::fs::metadata(file).ok();
        let size = files.iter().filter_map(meta).map(|meta| meta.len()).sum();
        let modified = files.iter().filter_map(meta).filter_map(|meta| meta.modified().ok()).max();
        Self { source, files, size, modified }
    }

    /// The file that gives the name: of a journal in two parts the one that goes on.
    pub(super) fn main(&self) -> &Path {
        let main = if self.source == InputKind::Journal { self.files.last() } else { self.files.first() };
        main.map_or_else(|| Path::new(""), PathBuf::as_path)
    }

    /// CaseLocation the expectations of its events lie.
    pub(super) fn sidecar(&self) -> PathBuf {
        let name = self.main().file_name().unwrap_or_default().to_string_lossy().into_owned();
        // A scenario may have the name of a recording beside it.
        let scenario = [".scenario.yaml", ".yaml", ".yml"].iter().find_map(|end| name.strip_suffix(end));
        let scenario = scenario.map(|stem| format!("{stem}.scenario"));
        let stem = scenario.unwrap_or_else(|| name.strip_suffix(".jsonl").unwrap_or(&name).to_owned());
        self.main().with_file_name(format!("{stem}.expect.yaml"))
    }
}

/// What the first lines of a file tell of it.
fn source(path: &Path) -> std::io::Result<Option<InputKind>> {
    const FIRST: usize = 20;
    let mut lines = LineReader::open(path)?;
    for _ in 0..FIRST {
        let bytes = match lines.next()? {
            None => break,
            Some(RawLine::TooLong { .. }) => continue,
            Some(RawLine::Line { bytes, .. }) => bytes,
        };
        match file_format(bytes) {
            Some(FileFormat::Journal | FileFormat::Recording) => return Ok(Some(InputKind::Journal)),
            Some(FileFormat::Events) => return Ok(Some(InputKind::Stream)),
            Some(FileFormat::Transcript) => return Ok(Some(InputKind::Transcript)),
            None => {}
        }
    }
    Ok(None)
}

/// The transcripts of a session's agents.
fn subagents(path: &Path) -> Vec<PathBuf> {
    let folder = path.with_extension("").join("subagents");
    let entries = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().filter_map(Result::ok);
    let files = entries.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path);
    files.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect()
}
