//! What a replay and its worker processes send each other.
//!
//! A frame is the length of its content, and that content in the format of postcard. Results are JSON in it, as `--json`
//! prints them.

use crate::replay::change::{CountNumbers, ReplayCounts};
use crate::replay::collector::{CountedCase, DecidedCase, InputTotals, ReplayMessage};
use crate::replay::inputs::ReplayInput;
use crate::replay::journal::continuity::LineTrace;
use crate::replay::journal::line_decider::{DecidedLine, JournalEvent, UndecidedLine};
use crate::replay::known_lines::SimilarLine;
use crate::replay::line_pattern::is_same;
use crate::replay::line_reader::PartRange;
use crate::replay::mode_source::ModeSource;
use crate::replay::result::ReplayProblem;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Read, Write};

/// Room for more is made only for what really comes: another program may answer.
const LARGEST_RESERVED: u32 = 1024 * 1024;

/// What a worker is asked to do: a whole input, or a part of a journal.
pub(crate) type WorkerJob<'j> = (Cow<'j, ReplayInput>, Option<Cow<'j, PartRange>>);

/// What a worker sends.
#[derive(Serialize, Deserialize)]
pub(crate) enum WorkerFrame<'f> {
    /// The first frame, with the key of the work.
    Ready(u64),
    Event(Cow<'f, str>),
    Session {
        session: &'f str,
        file: &'f str,
        quiet: u64,
    },
    Problem(ProblemParts<'f>),
    Skipped(ProblemParts<'f>, u64),
    /// The end of an input.
    End(TotalsParts),
    /// The lines of a part, one after the other, how many there were, and why there are no more.
    Part(#[serde(borrow)] Bytes<'f>, u64, Option<String>),
}

/// The file and line of a problem, its text, and whether it fails the replay.
type ProblemParts<'f> = (&'f str, u64, &'f str, bool);

/// The counts, sessions, decisions by other modes, and modes of an input.
type TotalsParts = (CountNumbers, BTreeSet<u64>, u64, BTreeSet<String>);

/// Bytes that are written and read as a whole.
#[derive(Clone, Copy)]
pub(crate) struct Bytes<'f>(pub(crate) &'f [u8]);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

impl<'de: 'f, 'f> Deserialize<'de> for Bytes<'f> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&[u8]>::deserialize(deserializer).map(Self)
    }
}

/// A line of a part and its number there.
#[derive(Serialize, Deserialize)]
struct PartLine<'f>(u64, #[serde(borrow)] LineContent<'f>);

#[derive(Serialize, Deserialize)]
enum LineContent<'f> {
    Event {
        session: &'f str,
        #[serde(borrow)]
        at: Bytes<'f>,
        us: u64,
        key: u64,
        /// `None` if it is that of the event before.
        #[serde(borrow)]
        before: Option<Bytes<'f>>,
        #[serde(borrow)]
        after: Option<Bytes<'f>>,
        result: LineResult,
    },
    OtherShard(String),
    /// The header of a recording.
    Modes(#[serde(borrow)] Bytes<'f>),
    Expectation(&'f str),
    Problem(String),
}

#[derive(Serialize, Deserialize)]
enum LineResult {
    Similar(bool),
    Counted(CountedCase),
    /// A result as JSON.
    Result(String),
    Newer(u64),
    Undecided(String),
}

/// Writes a frame.
pub(crate) fn send(output: &mut impl Write, frame: &impl Serialize) -> io::Result<()> {
    write_frame(output, &encoded(frame)?)
}

/// Writes a frame with this content.
pub(crate) fn write_frame(output: &mut impl Write, content: &[u8]) -> io::Result<()> {
    let length = u32::try_from(content.len()).map_err(io::Error::other)?;
    output.write_all(&length.to_le_bytes())?;
    output.write_all(content)
}

/// The content of a frame.
pub(crate) fn encoded(frame: &impl Serialize) -> io::Result<Vec<u8>> {
    postcard::to_stdvec(frame).map_err(io::Error::other)
}

/// Reads the next frame.
pub(crate) fn receive(input: &mut impl Read, content: &mut Vec<u8>) -> io::Result<()> {
    let mut length = [0; 4];
    input.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    content.clear();
    content.reserve(length.min(LARGEST_RESERVED) as usize);
    if input.take(length.into()).read_to_end(content)? == length as usize { Ok(()) } else { Err(closed()) }
}

/// The content of a frame that was received.
pub(crate) fn decoded<'f, T: Deserialize<'f>>(content: &'f [u8]) -> io::Result<T> {
    postcard::from_bytes(content).map_err(io::Error::other)
}

pub(crate) fn closed() -> io::Error {
    io::ErrorKind::UnexpectedEof.into()
}

impl<'f> WorkerFrame<'f> {
    /// The frame of a message; `None` for those of runs without workers.
    pub(crate) fn of(message: &'f ReplayMessage) -> Option<Self> {
        fn parts(problem: &ReplayProblem) -> ProblemParts<'_> {
            (&problem.file, problem.line, &problem.what, problem.unmet)
        }
        Some(match message {
            ReplayMessage::Event(Some(json), _) => Self::Event(json.into()),
            ReplayMessage::Event(None, result) => Self::Event(serde_json::to_string(&**result).ok()?.into()),
            ReplayMessage::Session { session, file, quiet } => Self::Session { session, file, quiet: *quiet },
            ReplayMessage::Problem(problem) => Self::Problem(parts(problem)),
            ReplayMessage::Skipped(first, count) => Self::Skipped(parts(first), *count),
            ReplayMessage::End(totals) => {
                let InputTotals { counts, sessions, other_modes, modes, .. } = &**totals;
                Self::End((counts.numbers(), sessions.clone(), *other_modes, modes.clone()))
            }
            ReplayMessage::Shard(..) => return None,
        })
    }

    /// The message of a frame; its JSON is kept if a sink needs that.
    pub(crate) fn message(self, has_json: bool) -> io::Result<ReplayMessage> {
        let problem = |(file, line, what, unmet): ProblemParts<'_>| ReplayProblem {
            file: file.to_owned(),
            line,
            what: what.to_owned(),
            unmet,
        };
        Ok(match self {
            Self::Event(json) => {
                let result = serde_json::from_slice(json.as_bytes())?;
                ReplayMessage::Event(has_json.then(|| json.into_owned()), Box::new(result))
            }
            Self::Session { session, file, quiet } => {
                ReplayMessage::Session { session: session.to_owned(), file: file.to_owned(), quiet }
            }
            Self::Problem(parts) => ReplayMessage::Problem(problem(parts)),
            Self::Skipped(parts, count) => ReplayMessage::Skipped(problem(parts), count),
            Self::End((counts, sessions, other_modes, modes)) => {
                let counts = ReplayCounts::from_numbers(counts);
                ReplayMessage::End(Box::new(InputTotals { counts, sessions, other_modes, modes, blessed: None }))
            }
            Self::Ready(_) | Self::Part(..) => return Err(io::ErrorKind::InvalidData.into()),
        })
    }
}

/// Writes the lines of a part.
#[derive(Default)]
pub(crate) struct PartWriter<'t> {
    pub(crate) content: Vec<u8>,
    /// The session before the last event.
    before: &'t [u8],
}

impl<'t> PartWriter<'t> {
    pub(crate) fn line(&mut self, number: u64, line: DecidedLine<'t>) -> io::Result<()> {
        let content = match line {
            DecidedLine::Similar(similar) => {
                let session = std::str::from_utf8(similar.session).unwrap_or_default();
                return self.event(number, session, &similar.trace, LineResult::Similar(similar.other_modes));
            }
            DecidedLine::Journal(event) => {
                let result = match event.result {
                    Ok(DecidedCase::Counted(counted)) => LineResult::Counted(counted),
                    Ok(DecidedCase::Result(result)) => LineResult::Result(serde_json::to_string(&*result)?),
                    // A worker has turned them into results.
                    Ok(DecidedCase::Compared(_)) => return Err(io::ErrorKind::InvalidInput.into()),
                    Err(UndecidedLine::Newer(version)) => LineResult::Newer(version),
                    Err(UndecidedLine::Because(why)) => LineResult::Undecided(why),
                };
                return self.event(number, &event.session, &event.trace, result);
            }
            DecidedLine::OtherShard(session) => LineContent::OtherShard(session),
            DecidedLine::Modes(_, header) => LineContent::Modes(Bytes(header)),
            DecidedLine::Expectation(text) => LineContent::Expectation(text),
            DecidedLine::Problem(what) => LineContent::Problem(what),
        };
        self.write(&PartLine(number, content))
    }

    fn event(&mut self, number: u64, session: &str, trace: &LineTrace<'t>, result: LineResult) -> io::Result<()> {
        let is_same = is_same(self.before, trace.before);
        self.before = trace.before;
        let content = LineContent::Event {
            session,
            at: Bytes(trace.at),
            us: trace.us,
            key: trace.key,
            before: (!is_same).then_some(Bytes(trace.before)),
            after: trace.after.map(Bytes),
            result,
        };
        self.write(&PartLine(number, content))
    }

    fn write(&mut self, line: &PartLine<'_>) -> io::Result<()> {
        postcard::to_io(line, &mut self.content).map(drop).map_err(io::Error::other)
    }
}

/// Reads the lines of a part that a worker has decided, each with its number there.
pub(crate) struct PartReader<'t, 'm> {
    /// What was not read yet; some of it is left at the end only if it cannot be read.
    pub(crate) rest: &'t [u8],
    before: &'t [u8],
    source: &'m ModeSource,
}

impl<'t, 'm> PartReader<'t, 'm> {
    pub(crate) fn new(content: &'t [u8], source: &'m ModeSource) -> Self {
        Self { rest: content, before: &[], source }
    }

    fn line(&mut self, content: LineContent<'t>) -> Option<DecidedLine<'t>> {
        Some(match content {
            LineContent::Event { session, at, us, key, before, after, result } => {
                self.before = before.map_or(self.before, |Bytes(before)| before);
                let after = after.map(|Bytes(after)| after);
                let trace = LineTrace { at: at.0, us, key, before: self.before, after };
                let result = match result {
                    LineResult::Similar(other_modes) => {
                        let session = session.as_bytes();
                        return Some(DecidedLine::Similar(SimilarLine { length: 0, session, trace, other_modes }));
                    }
                    LineResult::Counted(counted) => Ok(DecidedCase::Counted(counted)),
                    LineResult::Result(json) => {
                        Ok(DecidedCase::Result(Box::new(serde_json::from_slice(json.as_bytes()).ok()?)))
                    }
                    LineResult::Newer(version) => Err(UndecidedLine::Newer(version)),
                    LineResult::Undecided(why) => Err(UndecidedLine::Because(why)),
                };
                DecidedLine::Journal(Box::new(JournalEvent { session: session.to_owned(), trace, result }))
            }
            LineContent::OtherShard(session) => DecidedLine::OtherShard(session),
            LineContent::Modes(Bytes(header)) => {
                DecidedLine::Modes(self.source.of_recording(&serde_json::from_slice(header).ok()?), header)
            }
            LineContent::Expectation(text) => DecidedLine::Expectation(text),
            LineContent::Problem(what) => DecidedLine::Problem(what),
        })
    }
}

impl<'t> Iterator for PartReader<'t, '_> {
    type Item = (u64, DecidedLine<'t>);

    fn next(&mut self) -> Option<Self::Item> {
        let (PartLine(number, content), rest) = postcard::take_from_bytes(self.rest).ok()?;
        let line = self.line(content)?;
        self.rest = rest;
        Some((number, line))
    }
}
