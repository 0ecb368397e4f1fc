//! Replays journals and recordings: follows their lines in order and reports each decision.

use super::collector::ResultCollector;
use super::inputs::ReplayInput;
use super::journal_parts::{PART, PartRange, PartText, parts};
use super::line_decider::{DecidedLine, DecidedPart, JournalEvent, LineDecider, newer_line};
use super::mode_source::ResolvedModes;
use crate::replay::continuity::{Continuity, FileLine, LineTrace};
use crate::replay::known_lines::SimilarLine;
use crate::replay::redecision::LineError;
use crate::replay::result::CaseLocation;
use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// Decides every line of a journal again.
pub(super) fn replay(input: &ReplayInput, decider: LineDecider<'_>, collector: &mut ResultCollector) {
    let mut follower = JournalFollower::new(&input.files, decider, collector);
    let mut text = PartText::spare();
    for part in parts(&input.files, PART) {
        follower.begin_part(&part);
        match text.read(&input.files, &part) {
            Ok(()) => follower.decide(&text),
            Err(error) => follower.unreadable(&error),
        }
    }
    text.keep();
    follower.end();
}

/// Follows the lines of a journal in order.
pub(super) struct JournalFollower<'a, 't> {
    names: Vec<Arc<str>>,
    file: Arc<str>,
    /// The number of lines in the file before this part.
    before: u64,
    decider: LineDecider<'a>,
    /// The modes that decide the next line.
    modes: Arc<ResolvedModes>,
    /// The session of the last line.
    current: (String, Continuity),
    /// One journal may have several sessions, and one session several files.
    others: HashMap<String, Continuity>,
    /// The last event, if its line is like an earlier one.
    last_similar: Option<LastSimilar>,
    collector: &'a mut ResultCollector<'t>,
}

/// A line like an earlier one.
struct LastSimilar {
    number: u64,
    place: Range<usize>,
    /// The line itself, where its part is gone.
    line: Vec<u8>,
}

impl<'a, 't> JournalFollower<'a, 't> {
    pub(super) fn new(files: &[PathBuf], decider: LineDecider<'a>, collector: &'a mut ResultCollector<'t>) -> Self {
        let names: Vec<Arc<str>> = files.iter().map(|path| path.to_string_lossy().into()).collect();
        Self {
            file: names.first().cloned().unwrap_or_default(),
            names,
            before: 0,
            modes: Arc::clone(&decider.modes),
            decider,
            current: Default::default(),
            others: HashMap::new(),
            last_similar: None,
            collector,
        }
    }

    /// Follows the lines of the next part.
    pub(super) fn part(&mut self, range: &PartRange, part: io::Result<DecidedPart>) {
        self.begin_part(range);
        match part {
            // A header in an earlier part has changed the modes.
            Ok(part) if !Arc::ptr_eq(&part.modes, &self.modes) => {
                self.decider.use_modes(&self.modes);
                self.decide(&part.text);
                part.text.keep();
            }
            Ok(DecidedPart { text, lines, count, .. }) => {
                for (number, line) in lines {
                    self.line(self.before + number, line, &text);
                }
                self.end_part(&text, count);
                text.keep();
            }
            Err(error) => self.unreadable(&error),
        }
    }

    fn begin_part(&mut self, range: &PartRange) {
        if range.bytes.start == 0 {
            self.collector.settle();
            self.last_similar = None;
            self.before = 0;
            self.file = self.names.get(range.file).cloned().unwrap_or_default();
        }
    }

    /// Decides and follows the lines of a part.
    fn decide(&mut self, text: &PartText) {
        let mut lines = text.lines();
        loop {
            if let Some(similar) = self.decider.similar(&mut lines) {
                self.similar(self.before + lines.count, &similar, text);
            } else if let Some(raw) = lines.next() {
                let line = self.decider.line(text, &raw);
                self.line(self.before + raw.number, line, text);
            } else {
                break;
            }
        }
        self.end_part(text, lines.count);
    }

    fn end_part(&mut self, text: &PartText, count: u64) {
        if let Some(last) = self.last_similar.as_mut().filter(|last| last.line.is_empty()) {
            last.line = text.bytes(&last.place).to_owned();
        }
        self.before += count;
    }

    fn unreadable(&mut self, error: &io::Error) {
        self.collector.problem(&self.file, 0, format!("cannot read the file: {error}"));
    }

    fn line(&mut self, number: u64, line: DecidedLine, text: &PartText) {
        match line {
            DecidedLine::Similar(event) => self.similar(number, &event.similar(text), text),
            DecidedLine::Journal(event) => self.event(number, *event, text),
            DecidedLine::OtherShard(session) => {
                self.last_similar = None;
                self.collector.wants(&session);
            }
            DecidedLine::Modes(modes) => {
                self.decide_similar(text);
                self.decider.use_modes(&modes);
                self.modes = modes;
            }
            DecidedLine::Expectation(place) => {
                self.decide_similar(text);
                self.collector.expectation(&self.file, number, text.text(&place));
            }
            DecidedLine::Problem(what) => self.collector.problem(&self.file, number, what),
        }
    }

    fn similar(&mut self, number: u64, similar: &SimilarLine<'_>, text: &PartText) {
        self.last_similar = None;
        let session = std::str::from_utf8(similar.session).unwrap_or_default();
        if self.collector.wants(session) && self.is_new(session, number, &similar.trace) {
            self.follow(number, &similar.trace);
            self.collector.similar_case(session, similar.other_modes, &self.file);
            self.last_similar = Some(LastSimilar { number, place: text.place(similar.line), line: Vec::new() });
        }
    }

    /// Decides the last event after all, if its line is like an earlier one: its expectation needs the whole result.
    fn decide_similar(&mut self, text: &PartText) {
        let Some(LastSimilar { number, place, line }) = self.last_similar.take() else { return };
        self.decider.use_modes(&self.modes);
        let line = PartText::from(if line.is_empty() { text.bytes(&place).to_owned() } else { line });
        if let Some(raw) = line.lines().next()
            && let DecidedLine::Journal(event) = self.decider.line(&line, &raw)
            && let Ok(compared) = event.result
        {
            let location = CaseLocation { file: Arc::clone(&self.file), line: number, at: event.traced.time(&line) };
            self.collector.decide_similar_case(location, compared, &self.modes);
        }
    }

    fn event(&mut self, number: u64, event: JournalEvent, text: &PartText) {
        self.last_similar = None;
        let JournalEvent { session, traced, result } = event;
        if !self.collector.wants(&session) {
            return;
        }
        if let Err(LineError::Newer(version)) = result {
            return self.collector.problem(&self.file, number, newer_line(version));
        }
        let trace = traced.trace(text);
        if !self.is_new(&session, number, &trace) {
            return;
        }
        match result {
            Ok(compared) => {
                self.follow(number, &trace);
                let location = CaseLocation { file: Arc::clone(&self.file), line: number, at: traced.time(text) };
                self.collector.case(location, compared, &self.modes, None);
            }
            Err(why) => self.collector.problem(&self.file, number, format!("the line cannot be decided: {why}")),
        }
    }

    /// Whether a line is not a duplicate; a clock that was set back is reported.
    fn is_new(&mut self, session: &str, number: u64, trace: &LineTrace<'_>) -> bool {
        if self.current.0 != session {
            let next = self.others.remove(session).unwrap_or_default();
            let (name, last) = std::mem::replace(&mut self.current, (session.to_owned(), next));
            self.others.insert(name, last);
        }
        let (_, continuity) = &mut self.current;
        if continuity.is_duplicate(trace) {
            self.collector.problem(&self.file, number, "duplicate event; it is counted once");
            return false;
        }
        if continuity.clock_went_back(trace) {
            self.collector.problem(&self.file, number, "the clock went backwards: this came before the line above");
        }
        true
    }

    /// Follows the state of the session.
    fn follow(&mut self, number: u64, trace: &LineTrace<'_>) {
        for place in self.current.1.follow(&self.file, number, trace) {
            report_missing(&place, self.collector);
        }
    }

    /// Reports what is missing at the end.
    pub(super) fn end(self) {
        self.collector.settle();
        let sessions = self.others.into_values().chain([self.current.1]);
        let mut missing: Vec<FileLine> = sessions.flat_map(Continuity::end).collect();
        missing.sort();
        for place in &missing {
            report_missing(place, self.collector);
        }
    }
}

fn report_missing((file, line): &FileLine, collector: &mut ResultCollector) {
    collector.problem(file, *line, "the session state does not follow from the line before: an event is missing");
}
