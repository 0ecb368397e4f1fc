//! Decides the lines of a journal, without regard to their order.

use crate::journal::VERSION;
use crate::replay::collector::{CollectorOptions, CountedCase, DecidedCase};
use crate::replay::journal::continuity::LineTrace;
use crate::replay::known_lines::SimilarLine;
use crate::replay::line::{LineKeys, LineKind, RecordedLine};
use crate::replay::line_reader::{PartLines, PartText, RawLine};
use crate::replay::mode_source::{ModeSource, ResolvedModes};
use crate::replay::record::recording::{self, Header};
use crate::replay::redecision::Redecision;
use crate::replay::result::{CaseLocation, ReplayResult};
use std::cell::RefCell;
use std::sync::Arc;

/// How many sets of modes a thread keeps known lines for.
const KEPT: usize = 4;

thread_local! {
    /// What each set of modes has decided on this thread.
    static KNOWN: RefCell<Vec<(Arc<ResolvedModes>, Redecision)>> = const { RefCell::new(Vec::new()) };
}

/// Decides lines, each on its own.
pub(crate) struct LineDecider<'a> {
    pub(crate) source: &'a ModeSource,
    pub(crate) modes: Arc<ResolvedModes>,
    redecision: Redecision,
    /// Whether every line is decided, also one like an earlier line.
    strict: bool,
    options: CollectorOptions,
    /// Whether another process follows the lines, which has no use for the modes of this one.
    pub(crate) is_for_other_process: bool,
}

pub(crate) enum DecidedLine<'t> {
    Similar(SimilarLine<'t>),
    Journal(Box<JournalEvent<'t>>),
    /// A line of a session that belongs to another shard.
    OtherShard(String),
    /// The modes that a header names, and the header.
    Modes(Arc<ResolvedModes>, &'t [u8]),
    Expectation(&'t str),
    Problem(String),
}

pub(crate) struct JournalEvent<'t> {
    pub(crate) session: String,
    pub(crate) trace: LineTrace<'t>,
    pub(crate) result: Result<DecidedCase, UndecidedLine>,
}

/// Why a line is not decided.
pub(crate) enum UndecidedLine {
    /// It has this format, which is newer than the program.
    Newer(u64),
    Because(String),
}

/// The lines of a part, decided one by one; each has its number in the part.
pub(crate) struct DecidedLines<'d, 'a, 't> {
    decider: &'d mut LineDecider<'a>,
    pub(crate) lines: PartLines<'t>,
}

impl<'t> Iterator for DecidedLines<'_, '_, 't> {
    type Item = (u64, DecidedLine<'t>);

    fn next(&mut self) -> Option<Self::Item> {
        let similar = self.decider.redecision.similar(self.lines.rest);
        // An expectation needs the whole result of the event before it.
        let similar = similar.filter(|similar| self.lines.after(similar.length).is_none_or(is_event));
        let line = if let Some(similar) = similar {
            self.lines.pass(similar.length);
            DecidedLine::Similar(similar)
        } else {
            let raw = self.lines.next()?;
            let mut line = self.decider.line(&raw);
            if self.decider.is_for_other_process {
                self.decider.prepare(&mut line, !self.lines.following().is_none_or(is_event));
            }
            line
        };
        Some((self.lines.count, line))
    }
}

impl<'a> LineDecider<'a> {
    pub(crate) fn new(
        source: &'a ModeSource,
        modes: Arc<ResolvedModes>,
        strict: bool,
        options: CollectorOptions,
    ) -> Self {
        Self { source, redecision: redecision(&modes, strict), modes, strict, options, is_for_other_process: false }
    }

    /// Decides with these modes from now on: what other modes decided does not count.
    pub(crate) fn use_modes(&mut self, modes: &Arc<ResolvedModes>) {
        if !Arc::ptr_eq(&self.modes, modes) {
            self.keep_known();
            self.modes = Arc::clone(modes);
            self.redecision = redecision(modes, self.strict);
        }
    }

    /// Keeps what these modes have decided for the next journal.
    fn keep_known(&mut self) {
        if self.strict {
            return;
        }
        let last = (Arc::clone(&self.modes), std::mem::take(&mut self.redecision));
        KNOWN.with_borrow_mut(|known| {
            known.truncate(KEPT - 1);
            known.insert(0, last);
        });
    }

    pub(crate) fn decide<'t>(&mut self, text: &'t PartText) -> DecidedLines<'_, 'a, 't> {
        DecidedLines { lines: text.lines(), decider: self }
    }

    /// Prepares a decided line for another process: an event that needs no report is only counted, unless an expectation
    /// may follow it.
    fn prepare(&self, line: &mut DecidedLine<'_>, may_be_expected: bool) {
        let DecidedLine::Journal(event) = line else { return };
        let Ok(DecidedCase::Compared(compared)) = &event.result else { return };
        let counted = CountedCase::of(compared, self.options).filter(|_| !may_be_expected);
        let counted = counted.filter(|_| compared.event.session() == event.session);
        event.result = match (counted, std::mem::replace(&mut event.result, Err(UndecidedLine::Newer(0)))) {
            (Some(counted), _) => Ok(DecidedCase::Counted(counted)),
            (None, Ok(DecidedCase::Compared(compared))) => {
                let location = CaseLocation { file: Arc::default(), line: 0, at: event.trace.time() };
                let result = ReplayResult::new(location, *compared, &self.modes.catalogue);
                Ok(DecidedCase::Result(Box::new(result)))
            }
            (None, other) => other,
        };
    }

    /// Decides a line, also one like an earlier one.
    fn line<'t>(&mut self, raw: &RawLine<'t>) -> DecidedLine<'t> {
        let bytes = match raw.bytes {
            Ok(bytes) => bytes,
            Err(long) => return DecidedLine::Problem(long.to_string()),
        };
        match serde_json::from_slice::<RecordedLine<'_>>(bytes) {
            Ok(line) if line.is_journal() => self.journal_line(bytes, line),
            Ok(_) => self.other(bytes),
            Err(error) => {
                let version = LineKeys::read(bytes).ok().and_then(|keys| keys.v?.as_u64());
                let newer = version.filter(|version| *version > u64::from(VERSION));
                DecidedLine::Problem(newer.map_or_else(|| unreadable(&error, raw.complete), newer_line))
            }
        }
    }

    fn journal_line<'t>(&mut self, bytes: &[u8], mut line: RecordedLine<'t>) -> DecidedLine<'t> {
        let session = line.session().to_owned();
        if self.options.shard.is_some_and(|shard| !shard.has(&session)) {
            return DecidedLine::OtherShard(session);
        }
        let trace = line.trace();
        let ResolvedModes { catalogue, hash, .. } = &*self.modes;
        let result = match line.v.filter(|version| *version > u64::from(VERSION)) {
            Some(newer) => Err(UndecidedLine::Newer(newer)),
            None => match self.redecision.line(bytes, &mut line, catalogue, hash) {
                Ok(compared) => Ok(DecidedCase::Compared(Box::new(compared))),
                Err(why) => Err(UndecidedLine::Because(why.to_string())),
            },
        };
        DecidedLine::Journal(Box::new(JournalEvent { session, trace, result }))
    }

    /// Reads a line that is not one of a journal.
    fn other<'t>(&mut self, bytes: &'t [u8]) -> DecidedLine<'t> {
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
                    DecidedLine::Modes(Arc::clone(&self.modes), bytes)
                }
                Err(error) => DecidedLine::Problem(format!("the header cannot be read: {error}")),
            },
            (LineKind::Expectation, Some(raw)) => DecidedLine::Expectation(raw.get()),
            (LineKind::Event, _) => problem("this is an event, not a journal line"),
            _ => problem("this is not a journal line"),
        }
    }
}

impl Drop for LineDecider<'_> {
    fn drop(&mut self) {
        self.keep_known();
    }
}

/// Whether a text begins with an event as modegate writes it, and certainly not with an expectation.
fn is_event(text: &[u8]) -> bool {
    let rest = text.strip_prefix(b"{\"v\":1,\"at\":\"");
    let rest = rest.and_then(|rest| rest.get(memchr::memchr(b'"', rest)?..));
    rest.is_some_and(|rest| rest.starts_with(b"\",\"event\":{"))
}

/// A decision with what these modes have decided before on this thread.
fn redecision(modes: &Arc<ResolvedModes>, strict: bool) -> Redecision {
    if strict {
        return Redecision::default();
    }
    let kept = KNOWN.with_borrow_mut(|known| {
        let at = known.iter().position(|(other, _)| Arc::ptr_eq(other, modes))?;
        Some(known.swap_remove(at).1)
    });
    kept.unwrap_or_else(Redecision::with_known_lines)
}

pub(crate) fn newer_line(version: u64) -> String {
    newer_format("line", version, VERSION)
}

fn newer_format(what: &str, version: u64, own: u32) -> String {
    format!("the {what} has format {version}, written by a newer modegate; this one reads {own}")
}

/// Describes a line that is not JSON.
pub(crate) fn unreadable(error: &serde_json::Error, complete: bool) -> String {
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
