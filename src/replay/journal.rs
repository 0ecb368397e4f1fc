//! Replays journals and recordings: decides their lines again, and checks that they follow one another.

pub(crate) mod continuity;

use crate::replay::collector::ResultCollector;
use crate::replay::inputs::ReplayInput;
use crate::replay::journal::continuity::{Continuity, FileLine, LineOrder};
use crate::replay::line::{LineKeys, LineKind, RecordedLine, unescaped};
use crate::replay::line_reader::{LineReader, RawLine};
use crate::replay::mode_source::{ModeSource, ResolvedModes};
use crate::replay::recording::{self, Header};
use crate::replay::redecision::Redecision;
use crate::replay::result::CaseLocation;
use crate::state::journal::VERSION;
use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Decides every line of a journal again.
pub(crate) fn replay(input: &ReplayInput, source: &ModeSource, collector: &mut ResultCollector) {
    let modes = source.modes_of_file(input.main());
    let mut replayer = JournalReplayer {
        source,
        modes,
        redecision: Redecision::default(),
        file: Arc::default(),
        sessions: HashMap::new(),
        collector,
    };
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
    redecision: Redecision,
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
        match serde_json::from_slice::<RecordedLine<'_>>(bytes) {
            Ok(line) if line.is_journal() => self.event(raw.number, bytes, line),
            Ok(_) => self.other_line(raw.number, bytes),
            Err(error) => {
                let version = LineKeys::parse(bytes).ok().and_then(|keys| keys.v?.as_u64());
                match version.filter(|version| *version > u64::from(VERSION)) {
                    Some(newer) => self.bad_line(raw.number, newer_line(newer)),
                    None => self.bad_line(raw.number, unreadable(&error, raw.is_complete)),
                }
            }
        }
    }

    fn event(&mut self, number: u64, bytes: &[u8], mut line: RecordedLine<'_>) {
        let session = line.session().to_owned();
        if !self.collector.wants(&session) {
            return;
        }
        if let Some(newer) = line.v.filter(|version| *version > u64::from(VERSION)) {
            return self.problem(number, newer_line(newer));
        }
        let continuity = self.sessions.entry(session).or_default();
        match continuity.order(&line) {
            LineOrder::InOrder => {}
            LineOrder::Duplicate => return self.problem(number, "duplicate event; it is counted once"),
            LineOrder::ClockWentBack => {
                self.collector.problem(&self.file, number, "the clock went backwards: this came before the line above")
            }
        }
        let ResolvedModes { catalogue, hash, .. } = &*self.modes;
        let compared = match self.redecision.decide_line(bytes, &mut line, catalogue, hash) {
            Ok(compared) => compared,
            Err(why) => return self.problem(number, format!("the line cannot be decided: {why}")),
        };
        for place in continuity.follow(&self.file, number, &line) {
            report_missing(&place, self.collector);
        }
        let at = line.at.and_then(unescaped).filter(|at| !at.is_empty()).map(str::to_owned);
        let location = CaseLocation { file: Arc::clone(&self.file), line: number, at };
        self.collector.case(location, compared, &self.modes, None);
    }

    /// Reads a line that is not one of a journal.
    fn other_line(&mut self, number: u64, bytes: &[u8]) {
        let keys = LineKeys::parse(bytes).unwrap_or_default();
        match (keys.kind(), keys.expect) {
            (LineKind::Header, _) => match serde_json::from_slice::<Header>(bytes) {
                Ok(header) if header.recording > recording::VERSION => {
                    let what = newer_format("recording", header.recording.into(), recording::VERSION);
                    self.bad_line(number, format!("{what}. Its modes are not used"));
                }
                Ok(header) => self.modes = self.source.modes_of_recording(&header),
                Err(error) => self.bad_line(number, format!("the header cannot be read: {error}")),
            },
            (LineKind::Expectation, Some(raw)) => self.collector.expectation(&self.file, number, raw.get()),
            (LineKind::Event, _) => self.bad_line(number, "this is an event, not a journal line"),
            _ => self.bad_line(number, "this is not a journal line"),
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

    /// Reports what is missing at the end.
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

fn newer_line(version: u64) -> String {
    newer_format("line", version, VERSION)
}

fn newer_format(what: &str, version: u64, own: u32) -> String {
    format!("the {what} has format {version}, written by a newer modegate; this one reads {own}")
}

/// Describes a line that is not JSON.
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
