//! Finds the files to replay and recognizes what each one is.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

pub(crate) mod copies;

use crate::replay::line::{LineKeys, LineKind};
use crate::replay::line_reader::LineReader;
use crate::replay::result::ReplayProblem;
use crate::replay::transcript::RecordKey;
use crate::state::journal_files::older_part;
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The files of one session, or of a stream of several.
#[derive(Debug, Clone)]
pub(crate) struct ReplayInput {
    pub(crate) kind: InputKind,
    pub(crate) files: Vec<PathBuf>,
    /// The records of a transcript that are copies of those in another one.
    pub(crate) copied: HashSet<RecordKey>,
    pub(crate) size: u64,
    modified: Option<SystemTime>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum InputKind {
    /// A journal, or a recording made from one.
    Journal,
    /// Events as the host sent them.
    Stream,
    Transcript,
    Scenario,
    /// The output of another run with `--json`.
    Shard,
}

#[derive(Debug, Default)]
pub(crate) struct FoundInputs {
    pub(crate) inputs: Vec<ReplayInput>,
    pub(crate) problems: Vec<ReplayProblem>,
    /// Files in folders that are not recordings.
    pub(crate) skipped: Vec<PathBuf>,
}

impl FoundInputs {
    /// Looks at every given file and folder; with `merge`, they are the output of other runs.
    pub(crate) fn in_all(paths: &[PathBuf], merge: bool) -> Result<Self, (PathBuf, io::Error)> {
        let mut found = Self::default();
        for path in paths {
            let meta = std::fs::metadata(path).map_err(|error| (path.clone(), error))?;
            if merge {
                found.inputs.push(ReplayInput::new(InputKind::Shard, vec![path.clone()]));
            } else if meta.is_dir() {
                found.folder(path);
            } else if meta.is_file() {
                found.file(path, true);
            } else {
                // A file is read twice: first to recognize it.
                found.problem(path, "not a regular file; write its output to one");
            }
        }
        if !merge {
            found.inputs.sort_by(|one, other| one.files.cmp(&other.files));
            found.inputs.dedup_by(|one, other| one.files == other.files);
            found.join_older_parts();
        }
        Ok(found)
    }

    pub(crate) fn keep_last(&mut self, count: usize) {
        if self.inputs.len() > count {
            self.inputs.sort_by_key(|input| std::cmp::Reverse(input.modified));
            self.inputs.truncate(count);
            self.inputs.sort_by(|one, other| one.files.cmp(&other.files));
        }
    }

    fn folder(&mut self, folder: &Path) {
        // A project means its journals.
        let journals = folder.join(".claude/hooks/sessions");
        let root = if journals.is_dir() { &journals } else { folder };
        let entries = walkdir::WalkDir::new(root).sort_by_file_name().into_iter();
        let entries = entries.filter_entry(|entry| {
            let below = entry.path().parent().and_then(Path::file_name).is_some_and(|above| above == "subagents");
            entry.file_name() != ".git" && (entry.depth() == 0 || !below)
        });
        for entry in entries {
            match entry {
                Ok(entry) if entry.file_type().is_dir() && entry.file_name() == "subagents" => {
                    self.agents(entry.path(), entry.depth() == 0);
                }
                Ok(entry) if entry.file_type().is_file() => self.file(entry.path(), false),
                // A link may lead anywhere, and back.
                Ok(entry) if entry.path_is_symlink() => self.skipped.push(entry.into_path()),
                Ok(_) => {}
                Err(error) => {
                    let what = error.io_error().map_or("cannot be read".to_owned(), ToString::to_string);
                    self.problem(error.path().unwrap_or(root), what);
                }
            }
        }
    }

    /// Adds the agents of a session whose own transcript is gone, or whose folder was named.
    fn agents(&mut self, folder: &Path, named: bool) {
        let files = subagents(folder);
        let is_there = main_transcript(folder).is_some_and(|main| main.exists());
        if files.is_empty() || is_there && !named {
            return;
        }
        if !is_there {
            self.problem(folder, "the session's own transcript is missing; its agents are replayed without it");
        }
        self.inputs.push(ReplayInput::new(InputKind::Transcript, files));
    }

    /// Adds a file; one that was named must be something, one in a folder may be anything.
    fn file(&mut self, path: &Path, named: bool) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let ends = |end: &str| name.ends_with(end);
        if ends(".expect.yaml") {
            return;
        }
        let kind = if ends(".scenario.yaml") || named && (ends(".yaml") || ends(".yml")) {
            Ok(InputKind::Scenario)
        } else if named || ends(".jsonl") {
            recognize(path)
        } else {
            return self.skipped.push(path.to_owned());
        };
        match kind {
            Ok(kind) => {
                let mut files = vec![path.to_owned()];
                if kind == InputKind::Transcript {
                    files.extend(subagents(&path.with_extension("").join("subagents")));
                }
                self.inputs.push(ReplayInput::new(kind, files));
            }
            Err(why) => self.problem(path, why),
        }
    }

    fn problem(&mut self, path: &Path, what: impl ToString) {
        self.problems.push(ReplayProblem::new(path.to_string_lossy(), 0, what));
    }

    fn join_older_parts(&mut self) {
        let is_older = |input: &ReplayInput| {
            input.kind == InputKind::Journal && input.main().to_string_lossy().ends_with(".old.jsonl")
        };
        let older = self.inputs.extract_if(.., |input| is_older(input)).map(|input| (input.main().to_owned(), input));
        let mut older: BTreeMap<PathBuf, ReplayInput> = older.collect();
        for input in &mut self.inputs {
            if let Some(part) = older.remove(&older_part(input.main())) {
                input.files.splice(0..0, part.files);
                input.size += part.size;
            }
        }
        self.inputs.extend(older.into_values());
    }
}

impl ReplayInput {
    fn new(kind: InputKind, files: Vec<PathBuf>) -> Self {
        let meta: Vec<std::fs::Metadata> = files.iter().filter_map(|file| std::fs::metadata(file).ok()).collect();
        let size = meta.iter().map(std::fs::Metadata::len).sum();
        let modified = meta.iter().filter_map(|meta| meta.modified().ok()).max();
        Self { kind, files, copied: HashSet::new(), size, modified }
    }

    /// The file that names the input: of a journal in two parts, the newer one.
    pub(crate) fn main(&self) -> &Path {
        let main = if self.kind == InputKind::Journal { self.files.last() } else { self.files.first() };
        main.map_or_else(|| Path::new(""), PathBuf::as_path)
    }

    pub(crate) fn expectation_file(&self) -> PathBuf {
        let name = self.main().file_name().unwrap_or_default().to_string_lossy().into_owned();
        // A recording with the name of the scenario has another file.
        let scenario = [".scenario.yaml", ".yaml", ".yml"].iter().find_map(|end| name.strip_suffix(end));
        let scenario = scenario.map(|stem| format!("{stem}.scenario"));
        let stem = scenario.unwrap_or_else(|| name.strip_suffix(".jsonl").unwrap_or(&name).to_owned());
        self.main().with_file_name(format!("{stem}.expect.yaml"))
    }
}

/// Why a file is no input.
#[derive(Debug, thiserror::Error)]
enum NoInput {
    #[error("a transcript, but not one of Claude Code")]
    Foreign,
    #[error("empty file")]
    Empty,
    #[error("not a journal, an event stream or a transcript")]
    Other,
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Recognizes a file by its first lines.
fn recognize(path: &Path) -> Result<InputKind, NoInput> {
    const FIRST: usize = 20;
    let (mut lines, mut kinds) = (LineReader::open(path)?, Vec::new());
    for _ in 0..FIRST {
        let Some(line) = lines.next_line()? else { break };
        let Some(keys) = line.bytes.ok().and_then(|bytes| LineKeys::parse(bytes).ok()) else { continue };
        match keys.kind() {
            LineKind::Journal | LineKind::Header => return Ok(InputKind::Journal),
            LineKind::Event => return Ok(InputKind::Stream),
            LineKind::Transcript => return Ok(InputKind::Transcript),
            kind => kinds.push(kind),
        }
    }
    Err(match () {
        () if kinds.contains(&LineKind::ForeignMessage) => NoInput::Foreign,
        () if kinds.contains(&LineKind::TranscriptNote) => return Ok(InputKind::Transcript),
        () if std::fs::metadata(path)?.len() == 0 => NoInput::Empty,
        () => NoInput::Other,
    })
}

/// The transcripts of a session's agents.
fn subagents(folder: &Path) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().filter_map(Result::ok);
    let files = entries.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path);
    files.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect()
}

/// The main transcript of the session that an agent's transcript or its folder belongs to.
pub(crate) fn main_transcript(path: &Path) -> Option<PathBuf> {
    let folder = path.ancestors().find(|above| above.file_name().is_some_and(|name| name == "subagents"))?;
    let session = folder.parent()?;
    let mut name = session.file_name()?.to_owned();
    name.push(".jsonl");
    Some(session.with_file_name(name))
}
