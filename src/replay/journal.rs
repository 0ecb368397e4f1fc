//! Replays journals and recordings: follows their lines in order and reports each decision.

pub(crate) mod continuity;
pub(crate) mod line_decider;

use crate::replay::collector::ResultCollector;
use crate::replay::inputs::ReplayInput;
use crate::replay::journal::continuity::{Continuity, FileLine, LineOrder, LineTrace};
use crate::replay::journal::line_decider::{DecidedLine, JournalEvent, LineDecider, UndecidedLine, newer_line};
use crate::replay::known_lines::SimilarLine;
use crate::replay::line_pattern::is_same;
use crate::replay::line_reader::{PART, PartRange, PartText, parts};
use crate::replay::mode_source::ResolvedModes;
use crate::replay::result::CaseLocation;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Decides every line of a journal again.
pub(crate) fn replay(input: &ReplayInput, mut decider: LineDecider<'_>, collector: &mut ResultCollector) {
    let mut follower = JournalFollower::new(&input.files, &decider.modes);
    let mut text = PartText::default();
    for part in parts(&input.files, PART) {
        follower.begin_part(&part, collector);
        match text.read(&input.files, &part) {
            Ok(()) => follower.decide(&text, &mut decider, collector),
            Err(error) => follower.unreadable(error, collector),
        }
    }
    follower.end(collector);
}

/// Follows the lines of a journal in order.
pub(crate) struct JournalFollower {
    names: Vec<Arc<str>>,
    file: Arc<str>,
    /// The number of lines in the file before this part.
    pub(crate) before: u64,
    /// The modes that decide the next line.
    pub(crate) modes: Arc<ResolvedModes>,
    /// The session of the last line.
    current: (String, Continuity),
    /// One journal may have several sessions, and one session several files.
    others: HashMap<String, Continuity>,
}

impl JournalFollower {
    pub(crate) fn new(files: &[PathBuf], modes: &Arc<ResolvedModes>) -> Self {
        let names: Vec<Arc<str>> = files.iter().map(|path| path.to_string_lossy().into()).collect();
        Self {
            file: names.first().cloned().unwrap_or_default(),
            names,
            before: 0,
            modes: Arc::clone(modes),
            current: Default::default(),
            others: HashMap::new(),
        }
    }

    pub(crate) fn begin_part(&mut self, range: &PartRange, collector: &mut ResultCollector) {
        if range.bytes.start == 0 {
            collector.settle();
            self.before = 0;
            self.file = self.names.get(range.file).cloned().unwrap_or_default();
        }
    }

    /// Decides and follows the lines of a part.
    pub(crate) fn decide(&mut self, text: &PartText, decider: &mut LineDecider<'_>, collector: &mut ResultCollector) {
        let mut lines = decider.decide(text);
        self.follow(&mut lines, collector);
        self.before += lines.lines.count;
    }

    pub(crate) fn unreadable(&mut self, error: impl std::fmt::Display, collector: &mut ResultCollector) {
        collector.problem(&self.file, 0, format!("cannot read the file: {error}"));
    }

    /// Follows the lines of a part, each with its number in the part.
    pub(crate) fn follow<'t>(
        &mut self,
        lines: impl Iterator<Item = (u64, DecidedLine<'t>)>,
        collector: &mut ResultCollector,
    ) {
        for (number, line) in lines {
            let number = self.before + number;
            match line {
                DecidedLine::Similar(similar) => self.similar(number, &similar, collector),
                DecidedLine::Journal(event) => self.event(number, *event, collector),
                DecidedLine::OtherShard(session) => drop(collector.wants(&session)),
                DecidedLine::Modes(modes, _) => self.modes = modes,
                DecidedLine::Expectation(text) => collector.expectation(&self.file, number, text),
                DecidedLine::Problem(what) => {
                    collector.settle();
                    collector.problem(&self.file, number, what);
                }
            }
        }
    }

    /// Follows a line like an earlier one.
    fn similar(&mut self, number: u64, similar: &SimilarLine<'_>, collector: &mut ResultCollector) {
        let session = std::str::from_utf8(similar.session).unwrap_or_default();
        if collector.wants(session) && self.is_new(session, number, &similar.trace, collector) {
            self.follow_state(number, &similar.trace, collector);
            collector.similar_case(session, similar.other_modes, &self.file);
        }
    }

    fn event(&mut self, number: u64, event: JournalEvent<'_>, collector: &mut ResultCollector) {
        let JournalEvent { session, trace, result } = event;
        if !collector.wants(&session) {
            return;
        }
        if let Err(UndecidedLine::Newer(version)) = result {
            return collector.problem(&self.file, number, newer_line(version));
        }
        if !self.is_new(&session, number, &trace, collector) {
            return;
        }
        match result {
            Ok(case) => {
                self.follow_state(number, &trace, collector);
                let location = CaseLocation { file: Arc::clone(&self.file), line: number, at: trace.time() };
                collector.decided(location, &session, case, &self.modes);
            }
            Err(UndecidedLine::Newer(_)) => {}
            Err(UndecidedLine::Because(why)) => {
                collector.problem(&self.file, number, format!("the line cannot be decided: {why}"));
            }
        }
    }

    /// Whether a line is not a duplicate; a clock that was set back is reported.
    fn is_new(&mut self, session: &str, number: u64, trace: &LineTrace<'_>, collector: &mut ResultCollector) -> bool {
        if !is_same(self.current.0.as_bytes(), session.as_bytes()) {
            let next = self.others.remove(session).unwrap_or_default();
            let (name, last) = std::mem::replace(&mut self.current, (session.to_owned(), next));
            self.others.insert(name, last);
        }
        let order = self.current.1.order(trace);
        match order {
            LineOrder::InOrder => {}
            LineOrder::Duplicate => collector.problem(&self.file, number, "duplicate event; it is counted once"),
            LineOrder::ClockWentBack => {
                collector.problem(&self.file, number, "the clock went backwards: this came before the line above");
            }
        }
        order != LineOrder::Duplicate
    }

    fn follow_state(&mut self, number: u64, trace: &LineTrace<'_>, collector: &mut ResultCollector) {
        for place in self.current.1.follow(&self.file, number, trace) {
            report_missing(&place, collector);
        }
    }

    /// Reports what is missing at the end.
    pub(crate) fn end(self, collector: &mut ResultCollector) {
        collector.settle();
        let sessions = self.others.into_values().chain([self.current.1]);
        let mut missing: Vec<FileLine> = sessions.flat_map(Continuity::end).collect();
        missing.sort();
        for place in &missing {
            report_missing(place, collector);
        }
    }
}

fn report_missing((file, line): &FileLine, collector: &mut ResultCollector) {
    collector.problem(file, *line, "the session state does not follow from the line before: an event is missing");
}
