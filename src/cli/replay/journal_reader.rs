//! A journal, line by line.

use super::collector::ResultCollector;
use super::inputs::ReplayInput;
use super::line_reader::{LineReader, RawLine, too_long};
use super::mode_source::{ModeSource, ResolvedModes};
use crate::journal::VERSION;
use crate::replay::continuity::Continuity;
use crate::replay::entry::{Entry, LineKind, plain};
use crate::replay::expectation::Expectation;
use crate::replay::recording::{self, Header};
use crate::replay::redecision::{Comparison, Redecision};
use crate::replay::result::CaseLocation;
use std::collections::HashMap;
use std::sync::Arc;

/// Decides every line of a journal again.
pub(super) fn replay(input: &ReplayInput, modes: &ModeSource, collector: &mut ResultCollector) {
    let mut resolved = modes.of_file(input.main());
    let mut chains = SessionContinuity::default();
    for path in &input.files {
        let file = path.to_string_lossy().into_owned();
        chains.begin(&file);
        let mut reader = JournalReader { file: &file, held: None, chains: &mut chains, passed: false };
        match reader.read(path, modes, &mut resolved, collector) {
            Ok(()) => {}
            Err(error) => collector.problem(&file, 0, format!("it cannot be read: {error}")),
        }
        reader.tell(&resolved, collector);
    }
    chains.end(collector);
}

/// The sessions of a journal, as a rule one, each with a chain; a journal may be in several files.
#[derive(Default)]
struct SessionContinuity {
    known: HashMap<String, Continuity>,
    /// Each file, and how many lines stand before its first.
    files: Vec<(String, u64)>,
    last: u64,
}

impl SessionContinuity {
    fn begin(&mut self, file: &str) {
        self.files.push((file.to_owned(), self.last));
    }

    fn of(&mut self, session: String) -> &mut Continuity {
        self.known.entry(session).or_default()
    }

    /// The number of a line of the last file among those of all files.
    fn count(&mut self, line: u64) -> u64 {
        self.last = self.files.last().map_or(0, |(_, before)| *before) + line;
        self.last
    }

    fn missing(&self, counted: u64, collector: &mut ResultCollector) {
        let what = "the state is not the one before: an event is missing, or a person has changed it";
        if let Some((file, before)) = self.files.iter().rev().find(|(_, before)| *before < counted) {
            collector.problem(file, counted - before, what);
        }
    }

    fn end(&mut self, collector: &mut ResultCollector) {
        let mut open: Vec<u64> = self.known.values_mut().flat_map(Continuity::end).collect();
        open.sort_unstable();
        for line in open {
            self.missing(line, collector);
        }
    }
}

/// A line that was compared, and waits for what is expected of it.
struct PendingExpectation {
    line: u64,
    at: Option<String>,
    compared: Comparison,
    expected: Option<Expectation>,
}

struct JournalReader<'a> {
    file: &'a str,
    held: Option<PendingExpectation>,
    chains: &'a mut SessionContinuity,
    /// Whether the line before is left to another part, with what is expected of it.
    passed: bool,
}

impl JournalReader<'_> {
    fn read(
        &mut self,
        path: &std::path::Path,
        modes: &ModeSource,
        resolved: &mut Arc<ResolvedModes>,
        collector: &mut ResultCollector,
    ) -> std::io::Result<()> {
        let mut lines = LineReader::open(path)?;
        loop {
            let current = Arc::clone(resolved);
            let mut redecision = Redecision::new(&current.catalogue, &current.hash);
            match self.until_header(&mut lines, &current, &mut redecision, collector)? {
                Some(header) => {
                    self.tell(&current, collector);
                    *resolved = modes.of_recording(&header);
                }
                None => return Ok(()),
            }
        }
    }

    /// Reads lines up to the next header, which may change the modes.
    fn until_header(
        &mut self,
        lines: &mut LineReader,
        resolved: &ResolvedModes,
        redecision: &mut Redecision<'_>,
        collector: &mut ResultCollector,
    ) -> std::io::Result<Option<Box<Header>>> {
        while let Some(piece) = lines.next()? {
            let (number, bytes, whole) = match piece {
                RawLine::Line { number, bytes, whole } => (number, bytes, whole),
                RawLine::TooLong { number, size } => {
                    collector.problem(self.file, number, too_long(size));
                    continue;
                }
            };
            let entry: Entry<'_> = match serde_json::from_slice(bytes) {
                Ok(entry) => entry,
                Err(error) => {
                    let newer = version(bytes).filter(|version| *version > u64::from(VERSION));
                    let what = newer.map_or_else(|| unreadable(&error, whole), newer_format);
                    collector.problem(self.file, number, what);
                    continue;
                }
            };
            match entry.kind() {
                LineKind::Line => self.line(number, entry, resolved, redecision, collector),
                LineKind::Header => match header(bytes) {
                    Ok(header) => return Ok(Some(Box::new(header))),
                    Err(why) => collector.problem(self.file, number, why),
                },
                LineKind::Expectation => self.expectation(number, &entry, collector),
                LineKind::Event => collector.problem(self.file, number, "this is an event, not a line of a journal"),
                LineKind::Other => collector.problem(self.file, number, "this is no line of a journal"),
            }
        }
        Ok(None)
    }

    fn line(
        &mut self,
        number: u64,
        mut entry: Entry<'_>,
        resolved: &ResolvedModes,
        redecision: &mut Redecision<'_>,
        collector: &mut ResultCollector,
    ) {
        self.tell(resolved, collector);
        let session = session(&entry);
        self.passed = !collector.wants(&session);
        if self.passed {
            return;
        }
        if let Some(newer) = entry.v.filter(|version| *version > u64::from(VERSION)) {
            return collector.problem(self.file, number, newer_format(newer));
        }
        let counted = self.chains.count(number);
        let chain = self.chains.of(session);
        if chain.is_double(&entry) {
            return collector.problem(self.file, number, "the event is there twice; it is counted once");
        }
        if chain.runs_back(&entry) {
            collector.problem(self.file, number, "the clock went backwards: this came before the line above");
        }
        let compared = match redecision.line(&mut entry) {
            Ok(compared) => compared,
            Err(why) => return collector.problem(self.file, number, format!("the line cannot be decided: {why}")),
        };
        for line in chain.follow(counted, &entry, redecision.before()) {
            self.chains.missing(line, collector);
        }
        self.held =
            Some(PendingExpectation { line: number, at: plain(entry.at).map(str::to_owned), compared, expected: None });
    }

    fn expectation(&mut self, number: u64, entry: &Entry<'_>, collector: &mut ResultCollector) {
        let read = entry.expect.map(|raw| Expectation::read(raw.get()));
        match (read, &mut self.held) {
            (Some(Ok(expected)), Some(held)) => held.expected = Some(expected),
            (Some(Ok(_)), None) if self.passed => {}
            (Some(Ok(_)), None) => collector.problem(self.file, number, "no event stands before this expectation"),
            (Some(Err(why)), _) => collector.unmet(self.file, number, why),
            (None, _) => {}
        }
    }

    /// Tells of the line that has waited.
    fn tell(&mut self, resolved: &ResolvedModes, collector: &mut ResultCollector) {
        if let Some(PendingExpectation { line, at, compared, expected }) = self.held.take() {
            collector.by(&resolved.name);
            let place = CaseLocation { file: self.file, line, at: at.as_deref() };
            collector.event(place, compared, &resolved.catalogue, expected);
        }
    }
}

/// The version of a line that cannot be read otherwise.
fn version(bytes: &[u8]) -> Option<u64> {
    #[derive(serde::Deserialize)]
    struct Version {
        v: u64,
    }
    serde_json::from_slice::<Version>(bytes).ok().map(|line| line.v)
}

fn newer_format(version: u64) -> String {
    format!("the line has format {version}, written by a newer modegate; this one reads {VERSION}")
}

/// Whose line it is.
fn session(entry: &Entry<'_>) -> String {
    let id = entry.event.as_ref().and_then(|event| event.get("session_id")?.as_str());
    id.unwrap_or_default().to_owned()
}

/// What is wrong with a line that is no JSON.
pub(super) fn unreadable(error: &serde_json::Error, whole: bool) -> String {
    if !whole && error.is_eof() {
        return "the last line is cut off".to_owned();
    }
    if error.is_data() {
        return format!("the line cannot be decided: {error}");
    }
    let text = error.to_string();
    let clause = text.split(" at line ").next().unwrap_or_default();
    format!("the line is no JSON: {clause} at column {}", error.column())
}

fn header(bytes: &[u8]) -> Result<Header, String> {
    let header: Header =
        serde_json::from_slice(bytes).map_err(|error| format!("the header cannot be read: {error}"))?;
    if header.recording > recording::VERSION {
        let (newer, own) = (header.recording, recording::VERSION);
        return Err(format!(
            "the recording has format {newer}, written by a newer modegate; this one reads {own}. Its modes are not used"
        ));
    }
    Ok(header)
}
