//! Decides the lines of a journal, without regard to their order.

use super::collector::Shard;
use super::journal_parts::{PartLines, PartText};
use super::line_reader::RawLine;
use super::mode_source::{ModeSource, ResolvedModes};
use crate::journal::VERSION;
use crate::replay::continuity::LineTrace;
use crate::replay::known_lines::SimilarLine;
use crate::replay::line::{LineKeys, LineKind, RecordedLine};
use crate::replay::recording::{self, Header};
use crate::replay::redecision::{Comparison, LineError, Redecision};
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

/// How many sets of modes a thread keeps known lines for.
const KEPT: usize = 4;

thread_local! {
    /// What each set of modes has decided on this thread.
    static KNOWN: RefCell<Vec<(Arc<ResolvedModes>, Redecision)>> = const { RefCell::new(Vec::new()) };
}

/// Decides lines, each on its own.
pub(super) struct LineDecider<'a> {
    source: &'a ModeSource,
    pub(super) modes: Arc<ResolvedModes>,
    redecision: Redecision,
    options: DeciderOptions,
}

/// What is decided, and how.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DeciderOptions {
    /// Whether every line is decided, also one like an earlier line.
    pub(super) strict: bool,
    pub(super) shard: Option<Shard>,
}

/// A part of a journal, decided.
pub(super) struct DecidedPart {
    pub(super) text: PartText,
    /// The modes that decided the first line.
    pub(super) modes: Arc<ResolvedModes>,
    /// What was read, by the number of the line in this part.
    pub(super) lines: Vec<(u64, DecidedLine)>,
    /// The number of lines.
    pub(super) count: u64,
}

/// What a line is.
pub(super) enum DecidedLine {
    Similar(SimilarEvent),
    Journal(Box<JournalEvent>),
    /// A line of a session that belongs to another shard.
    OtherShard(String),
    Modes(Arc<ResolvedModes>),
    Expectation(Range<usize>),
    Problem(String),
}

/// A line like an earlier one; ranges are places in the text of its part.
pub(super) struct SimilarEvent {
    line: Range<usize>,
    session: Range<usize>,
    traced: TracedLine,
    other_modes: bool,
}

impl SimilarEvent {
    fn new(similar: &SimilarLine<'_>, text: &PartText) -> Self {
        let &SimilarLine { line, session, ref trace, other_modes } = similar;
        let (line, session) = (text.place(line), text.place(session));
        Self { line, session, traced: TracedLine::new(trace, text), other_modes }
    }

    pub(super) fn similar<'l>(&self, text: &'l PartText) -> SimilarLine<'l> {
        let Self { line, session, traced, other_modes } = self;
        let (line, session) = (text.bytes(line), text.bytes(session));
        SimilarLine { line, session, trace: traced.trace(text), other_modes: *other_modes }
    }
}

/// A line of a journal.
pub(super) struct JournalEvent {
    pub(super) session: String,
    pub(super) traced: TracedLine,
    pub(super) result: Result<Comparison, LineError>,
}

/// The trace of a line, as places in the text of its part.
pub(super) struct TracedLine {
    at: Range<usize>,
    us: u64,
    key: u64,
    before: Range<usize>,
    after: Option<Range<usize>>,
}

impl TracedLine {
    fn new(trace: &LineTrace<'_>, text: &PartText) -> Self {
        let &LineTrace { at, us, key, before, after } = trace;
        Self { at: text.place(at), us, key, before: text.place(before), after: after.map(|after| text.place(after)) }
    }

    pub(super) fn trace<'l>(&self, text: &'l PartText) -> LineTrace<'l> {
        let after = self.after.as_ref().map(|after| text.bytes(after));
        LineTrace { at: text.bytes(&self.at), us: self.us, key: self.key, before: text.bytes(&self.before), after }
    }

    /// The time of the line.
    pub(super) fn time(&self, text: &PartText) -> Option<String> {
        Some(text.text(&self.at)).filter(|at| !at.is_empty()).map(str::to_owned)
    }
}

impl<'a> LineDecider<'a> {
    pub(super) fn new(source: &'a ModeSource, modes: Arc<ResolvedModes>, options: DeciderOptions) -> Self {
        Self { source, redecision: redecision(&modes, options), modes, options }
    }

    /// Decides with these modes from now on: what other modes decided does not count.
    pub(super) fn use_modes(&mut self, modes: &Arc<ResolvedModes>) {
        if !Arc::ptr_eq(&self.modes, modes) {
            self.keep_known();
            self.modes = Arc::clone(modes);
            self.redecision = redecision(modes, self.options);
        }
    }

    /// Keeps what these modes have decided for the next journal.
    fn keep_known(&mut self) {
        if self.options.strict {
            return;
        }
        let last = (Arc::clone(&self.modes), std::mem::take(&mut self.redecision));
        KNOWN.with_borrow_mut(|known| {
            known.truncate(KEPT - 1);
            known.insert(0, last);
        });
    }

    /// Decides every line of a part.
    pub(super) fn decide(&mut self, text: PartText) -> DecidedPart {
        let modes = Arc::clone(&self.modes);
        let (mut lines, mut raw_lines) = (Vec::new(), text.lines());
        loop {
            let line = if let Some(similar) = self.similar(&mut raw_lines) {
                DecidedLine::Similar(SimilarEvent::new(&similar, &text))
            } else if let Some(raw) = raw_lines.next() {
                self.line(&text, &raw)
            } else {
                break;
            };
            lines.push((raw_lines.count, line));
        }
        let count = raw_lines.count;
        DecidedPart { text, modes, lines, count }
    }

    /// Takes the next line if it is decided like an earlier one.
    pub(super) fn similar<'t>(&mut self, lines: &mut PartLines<'t>) -> Option<SimilarLine<'t>> {
        let similar = self.redecision.similar(lines.rest())?;
        lines.pass(similar.line.len());
        Some(similar)
    }

    /// Decides a line, also one like an earlier one.
    pub(super) fn line(&mut self, text: &PartText, raw: &RawLine<'_>) -> DecidedLine {
        let bytes = match raw.bytes {
            Ok(bytes) => bytes,
            Err(long) => return DecidedLine::Problem(long.to_string()),
        };
        match serde_json::from_slice::<RecordedLine<'_>>(bytes) {
            Ok(line) if line.is_journal() => self.journal_line(text, bytes, line),
            Ok(_) => self.other(text, bytes),
            Err(error) => {
                let version = LineKeys::read(bytes).ok().and_then(|keys| keys.v?.as_u64());
                let newer = version.filter(|version| *version > u64::from(VERSION));
                DecidedLine::Problem(newer.map_or_else(|| unreadable(&error, raw.complete), newer_line))
            }
        }
    }

    fn journal_line(&mut self, text: &PartText, bytes: &[u8], mut line: RecordedLine<'_>) -> DecidedLine {
        let session = line.session().to_owned();
        if self.is_of_other_shard(&session) {
            return DecidedLine::OtherShard(session);
        }
        let trace = line.trace();
        let ResolvedModes { catalogue, hash, .. } = &*self.modes;
        let result = match line.v.filter(|version| *version > u64::from(VERSION)) {
            Some(newer) => Err(LineError::Newer(newer)),
            None => self.redecision.line(bytes, &mut line, catalogue, hash),
        };
        let traced = TracedLine::new(&trace, text);
        DecidedLine::Journal(Box::new(JournalEvent { session, traced, result }))
    }

    /// Reads a line that is not one of a journal.
    fn other(&mut self, text: &PartText, bytes: &[u8]) -> DecidedLine {
        let keys = LineKeys::read(bytes).unwrap_or_default();
        let problem = |what: &str| DecidedLine::Problem(what.to_owned());
        match (keys.kind(), keys.expect) {
            (LineKind::Header, _) => match serde_json::from_slice::<Header>(bytes) {
                Ok(header) if header.recording > recording::VERSION => {
                    let what = newer_format("recording", header.recording.into(), recording::VERSION);
                    DecidedLine::Problem(format!("{what}. Its modes are not used"))
                }
                Ok(header) => {
                    self.use_modes(&self.source.of_recording(&header));
                    DecidedLine::Modes(Arc::clone(&self.modes))
                }
                Err(error) => DecidedLine::Problem(format!("the header cannot be read: {error}")),
            },
            (LineKind::Expectation, Some(raw)) => DecidedLine::Expectation(text.place(raw.get().as_bytes())),
            (LineKind::Event, _) => problem("this is an event, not a journal line"),
            _ => problem("this is not a journal line"),
        }
    }

    fn is_of_other_shard(&self, session: &str) -> bool {
        self.options.shard.is_some_and(|shard| !shard.has(session))
    }
}

impl Drop for LineDecider<'_> {
    fn drop(&mut self) {
        self.keep_known();
    }
}

/// A decision with what these modes have decided before on this thread.
fn redecision(modes: &Arc<ResolvedModes>, options: DeciderOptions) -> Redecision {
    if options.strict {
        return Redecision::default();
    }
    let kept = KNOWN.with_borrow_mut(|known| {
        let at = known.iter().position(|(other, _)| Arc::ptr_eq(other, modes))?;
        Some(known.swap_remove(at).1)
    });
    kept.unwrap_or_else(Redecision::with_known_lines)
}

pub(super) fn newer_line(version: u64) -> String {
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
