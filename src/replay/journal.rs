//! Replays journals and recordings: decides their lines again, and checks that they follow one another.

pub(crate) mod continuity;

use crate::replay::collector::ResultCollector;
use crate::replay::inputs::ReplayInput;
use crate::replay::journal::continuity::{Continuity, FileLine};
use crate::replay::line::{LineKeys, LineKind};
use crate::replay::line_reader::{LineReader, RawLine};
use crate::replay::mode_source::{ModeSource, ResolvedModes};
use crate::replay::recording::{self, Header};
use crate::replay::redecision::decide_line;
use crate::replay::result::CaseLocation;
use crate::state::journal::{JournalLine, VERSION};
use serde_json::Value;
use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

pub(crate) fn replay(input: &ReplayInput, source: &ModeSource, collector: &mut ResultCollector) {
    let modes = source.modes_of_file(input.main());
    let mut replayer = JournalReplayer { source, modes, file: Arc::default(), sessions: HashMap::new(), collector };
    for path in &input.files {
        if let Err(error) = replayer.file(path) {
            replayer.problem(0, format!("cannot read the file: {error}"));
        }
    }
    replayer.end();
}

struct JournalReplayer<'a, 'c> {
    source: &'a ModeSource,
    /// The modes that decide the next line.
    modes: Arc<ResolvedModes>,
    file: Arc<str>,
    /// One journal may have several sessions, and one session several files.
    sessions: HashMap<String, Continuity>,
    collector: &'a mut ResultCollector<'c>,
}

impl JournalReplayer<'_, '_> {
    fn file(&mut self, path: &Path) -> io::Result<()> {
        self.collector.settle();
        self.file = path.to_string_lossy().into();
        let mut lines = LineReader::open(path)?;
        while let Some(line) = lines.next_line()? {
            self.line(&line);
        }
        Ok(())
    }

    fn line(&mut self, raw: &RawLine<'_>) {
        let bytes = match raw.bytes {
            Ok(bytes) => bytes,
            Err(too_long) => return self.bad_line(raw.number, too_long),
        };
        let keys = match LineKeys::parse(bytes) {
            Ok(keys) => keys,
            Err(error) => return self.bad_line(raw.number, unreadable(&error, raw.is_complete)),
        };
        let version = keys.v.as_ref().and_then(Value::as_u64).unwrap_or_default();
        match (keys.kind(), keys.expect) {
            (LineKind::Journal, _) if version > VERSION.into() => {
                self.bad_line(raw.number, newer_format("line", version, VERSION));
            }
            (LineKind::Journal, _) => match serde_json::from_slice(bytes) {
                Ok(line) => self.event(raw.number, line),
                Err(error) => self.bad_line(raw.number, unreadable(&error, raw.is_complete)),
            },
            (LineKind::Header, _) => match serde_json::from_slice::<Header>(bytes) {
                Ok(header) if header.recording > recording::VERSION => {
                    let what = newer_format("recording", header.recording.into(), recording::VERSION);
                    self.bad_line(raw.number, format!("{what}. Its modes are not used"));
                }
                Ok(header) => self.modes = self.source.modes_of_recording(&header),
                Err(error) => self.bad_line(raw.number, format!("the header cannot be read: {error}")),
            },
            (LineKind::Expectation, Some(raw_text)) => {
                self.collector.expectation(&self.file, raw.number, raw_text.get());
            }
            (LineKind::Event, _) => self.bad_line(raw.number, "this is an event, not a journal line"),
            _ => self.bad_line(raw.number, "this is not a journal line"),
        }
    }

    fn event(&mut self, number: u64, line: JournalLine) {
        let session = line.event.get("session_id").and_then(Value::as_str).unwrap_or_default();
        if !self.collector.wants(session) {
            return;
        }
        let continuity = self.sessions.entry(session.to_owned()).or_default();
        if continuity.is_duplicate(&line) {
            return self.problem(number, "duplicate event; it is counted once");
        }
        if continuity.clock_went_back(&line) {
            self.collector.problem(&self.file, number, "the clock went backwards: this came before the line above");
        }
        for place in continuity.follow(&self.file, number, &line) {
            report_missing(&place, self.collector);
        }
        let at = Some(line.at.clone()).filter(|at| !at.is_empty());
        match decide_line(line, &self.modes.catalogue, &self.modes.hash) {
            Ok(compared) => {
                let location = CaseLocation { file: Arc::clone(&self.file), line: number, at };
                self.collector.case(location, compared, &self.modes, None);
            }
            Err(why) => self.problem(number, format!("the line cannot be decided: its event is invalid: {why}")),
        }
    }

    /// Reports a line that is no event: an expectation after it belongs to no event.
    fn bad_line(&mut self, number: u64, what: impl ToString) {
        self.collector.settle();
        self.problem(number, what);
    }

    fn problem(&mut self, number: u64, what: impl ToString) {
        self.collector.problem(&self.file, number, what);
    }

    fn end(self) {
        self.collector.settle();
        let mut missing: Vec<FileLine> = self.sessions.into_values().flat_map(Continuity::end).collect();
        missing.sort();
        for place in &missing {
            report_missing(place, self.collector);
        }
    }
}

fn report_missing((file, line): &FileLine, collector: &mut ResultCollector) {
    collector.problem(file, *line, "the session state does not follow from the line before: an event is missing");
}

fn newer_format(what: &str, version: u64, own: u32) -> String {
    format!("the {what} has format {version}, written by a newer modegate; this one reads {own}")
}

pub(crate) fn unreadable(error: &serde_json::Error, is_complete: bool) -> String {
    if !is_complete && error.is_eof() {
        return "the last line is cut off".to_owned();
    }
    if error.is_data() {
        return format!("the line cannot be decided: {error}");
    }
    let text = error.to_string();
    let clause = text.split(" at line ").next().unwrap_or_default();
    format!("the line is not JSON: {clause} at column {}", error.column())
}
