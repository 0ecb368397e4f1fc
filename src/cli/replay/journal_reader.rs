//! Replays journals and recordings.

use super::collector::ResultCollector;
use super::inputs::ReplayInput;
use super::line_reader::LineReader;
use super::mode_source::{ModeSource, ResolvedModes};
use crate::journal::VERSION;
use crate::replay::continuity::{Continuity, FileLine};
use crate::replay::line::{LineKeys, LineKind, RecordedLine, unescaped};
use crate::replay::recording::{self, Header};
use crate::replay::redecision::Redecision;
use crate::replay::result::CaseLocation;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Decides every line of a journal again.
pub(super) fn replay(input: &ReplayInput, source: &ModeSource, collector: &mut ResultCollector) {
    let modes = source.of_file(input.main());
    let mut reader = JournalReader {
        source,
        modes,
        file: "".into(),
        redecision: Redecision::default(),
        sessions: HashMap::new(),
        collector,
    };
    for path in &input.files {
        reader.file = path.to_string_lossy().into();
        if let Err(error) = reader.read(path) {
            reader.problem(0, format!("cannot read the file: {error}"));
        }
        reader.collector.settle();
    }
    let mut missing: Vec<FileLine> = reader.sessions.into_values().flat_map(Continuity::end).collect();
    missing.sort();
    for place in &missing {
        report_missing(place, reader.collector);
    }
}

fn report_missing((file, line): &FileLine, collector: &mut ResultCollector) {
    collector.problem(file, *line, "the session state does not follow from the line before: an event is missing");
}

struct JournalReader<'a, 't> {
    source: &'a ModeSource,
    modes: Arc<ResolvedModes>,
    file: Arc<str>,
    redecision: Redecision,
    /// One journal may have several sessions, and one session several files.
    sessions: HashMap<String, Continuity>,
    collector: &'a mut ResultCollector<'t>,
}

impl JournalReader<'_, '_> {
    fn read(&mut self, path: &Path) -> std::io::Result<()> {
        let mut lines = LineReader::open(path)?;
        while let Some(raw) = lines.next()? {
            let number = raw.number;
            let Ok(bytes) = raw.bytes.map_err(|long| self.problem(number, long)) else { continue };
            match serde_json::from_slice::<RecordedLine<'_>>(bytes) {
                Ok(line) if line.is_journal() => self.line(number, line),
                Ok(_) => self.other(number, bytes),
                Err(error) => {
                    let version = LineKeys::read(bytes).ok().and_then(|keys| keys.v?.as_u64());
                    let newer = version.filter(|version| *version > u64::from(VERSION));
                    self.problem(number, newer.map_or_else(|| unreadable(&error, raw.complete), newer_line));
                }
            }
        }
        Ok(())
    }

    /// Reads a line that is not one of a journal.
    fn other(&mut self, number: u64, bytes: &[u8]) {
        let keys = LineKeys::read(bytes).unwrap_or_default();
        match (keys.kind(), keys.expect) {
            (LineKind::Header, _) => match serde_json::from_slice::<Header>(bytes) {
                Ok(header) if header.recording > recording::VERSION => {
                    let what = newer_format("recording", header.recording.into(), recording::VERSION);
                    self.problem(number, format!("{what}. Its modes are not used"));
                }
                Ok(header) => self.modes = self.source.of_recording(&header),
                Err(error) => self.problem(number, format!("the header cannot be read: {error}")),
            },
            (LineKind::Expectation, Some(raw)) => self.collector.expectation(&self.file, number, raw.get()),
            (LineKind::Event, _) => self.problem(number, "this is an event, not a journal line"),
            _ => self.problem(number, "this is not a journal line"),
        }
    }

    fn line(&mut self, number: u64, mut line: RecordedLine<'_>) {
        if !self.collector.wants(line.session()) {
            return;
        }
        if let Some(newer) = line.v.filter(|version| *version > u64::from(VERSION)) {
            return self.problem(number, newer_line(newer));
        }
        let continuity = match self.sessions.get_mut(line.session()) {
            Some(continuity) => continuity,
            None => self.sessions.entry(line.session().to_owned()).or_default(),
        };
        if continuity.is_duplicate(&line) {
            return self.problem(number, "duplicate event; it is counted once");
        }
        if continuity.clock_went_back(&line) {
            self.collector.problem(&self.file, number, "the clock went backwards: this came before the line above");
        }
        let compared = match self.redecision.line(&mut line, &self.modes.catalogue, &self.modes.hash) {
            Ok(compared) => compared,
            Err(why) => return self.problem(number, format!("the line cannot be decided: {why}")),
        };
        for place in continuity.follow((Arc::clone(&self.file), number), &line, self.redecision.before()) {
            report_missing(&place, self.collector);
        }
        let at = unescaped(line.at).map(str::to_owned);
        let location = CaseLocation { file: Arc::clone(&self.file), line: number, at };
        self.collector.case(location, compared, &self.modes, None);
    }

    fn problem(&mut self, number: u64, what: impl ToString) {
        self.collector.problem(&self.file, number, what);
    }
}

fn newer_line(version: u64) -> String {
    newer_format("line", version, VERSION)
}

fn newer_format(what: &str, version: u64, own: u32) -> String {
    format!("the {what} has format {version}, written by a newer modegate; this one reads {own}")
}

/// Describes a line that is not JSON.
pub(super) fn unreadable(error: &serde_json::Error, complete: bool) -> String {
    if !complete && error.is_eof() {
        return "the last line is cut off".to_owned();
    }
    if error.is_data() {
        return format!("the line cannot be decided: {error}");
    }
    let text = error.to_string();
    let clause = text.split(" at line ").next().unwrap_or_default();
    format!("the line is not JSON: {clause} at column {}", error.column())
}
