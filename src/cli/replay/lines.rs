//! A journal, line by line.

use super::blocks::{Lines, Piece, too_long};
use super::docket::Docket;
use super::inputs::Input;
use super::law::{Judge, Law};
use crate::journal::VERSION;
use crate::replay::chain::Chain;
use crate::replay::entry::{Entry, Form, plain};
use crate::replay::expect::Expectation;
use crate::replay::recording::{self, Header};
use crate::replay::retrial::Where;
use crate::replay::trial::{Judged, Trial};
use std::collections::HashMap;
use std::sync::Arc;

/// Decides every line of a journal again.
pub(super) fn replay(input: &Input, law: &Law, docket: &mut Docket) {
    let mut judge = law.of_file(input.main());
    let mut chains = Chains::default();
    for path in &input.files {
        let file = path.to_string_lossy().into_owned();
        chains.begin(&file);
        let mut hearing = Hearing { file: &file, held: None, chains: &mut chains, passed: false };
        match hearing.read(path, law, &mut judge, docket) {
            Ok(()) => {}
            Err(error) => docket.problem(&file, 0, format!("it cannot be read: {error}")),
        }
        hearing.tell(&judge, docket);
    }
    chains.end(docket);
}

/// The sessions of a journal, as a rule one, each with a chain; a journal may be in several files.
#[derive(Default)]
struct Chains {
    known: HashMap<String, Chain>,
    /// Each file, and how many lines stand before its first.
    files: Vec<(String, u64)>,
    last: u64,
}

impl Chains {
    fn begin(&mut self, file: &str) {
        self.files.push((file.to_owned(), self.last));
    }

    fn of(&mut self, session: String) -> &mut Chain {
        self.known.entry(session).or_default()
    }

    /// The number of a line of the last file among those of all files.
    fn count(&mut self, line: u64) -> u64 {
        self.last = self.files.last().map_or(0, |(_, before)| *before) + line;
        self.last
    }

    fn missing(&self, counted: u64, docket: &mut Docket) {
        let what = "the state is not the one before: an event is missing, or a person has changed it";
        if let Some((file, before)) = self.files.iter().rev().find(|(_, before)| *before < counted) {
            docket.problem(file, counted - before, what);
        }
    }

    fn end(&mut self, docket: &mut Docket) {
        let mut open: Vec<u64> = self.known.values_mut().flat_map(Chain::end).collect();
        open.sort_unstable();
        for line in open {
            self.missing(line, docket);
        }
    }
}

/// A line that was judged, and waits for what is expected of it.
struct Held {
    line: u64,
    at: Option<String>,
    judged: Judged,
    expected: Option<Expectation>,
}

struct Hearing<'a> {
    file: &'a str,
    held: Option<Held>,
    chains: &'a mut Chains,
    /// Whether the line before is left to another part, with what is expected of it.
    passed: bool,
}

impl Hearing<'_> {
    fn read(
        &mut self,
        path: &std::path::Path,
        law: &Law,
        judge: &mut Arc<Judge>,
        docket: &mut Docket,
    ) -> std::io::Result<()> {
        let mut lines = Lines::open(path)?;
        loop {
            let current = Arc::clone(judge);
            let mut trial = Trial::new(&current.catalogue, &current.hash);
            match self.until_header(&mut lines, &current, &mut trial, docket)? {
                Some(header) => {
                    self.tell(&current, docket);
                    *judge = law.of_recording(&header);
                }
                None => return Ok(()),
            }
        }
    }

    /// Reads lines up to the next header, which may change the modes.
    fn until_header(
        &mut self,
        lines: &mut Lines,
        judge: &Judge,
        trial: &mut Trial<'_>,
        docket: &mut Docket,
    ) -> std::io::Result<Option<Box<Header>>> {
        while let Some(piece) = lines.next()? {
            let (number, bytes, whole) = match piece {
                Piece::Line { number, bytes, whole } => (number, bytes, whole),
                Piece::TooLong { number, size } => {
                    docket.problem(self.file, number, too_long(size));
                    continue;
                }
            };
            let entry: Entry<'_> = match serde_json::from_slice(bytes) {
                Ok(entry) => entry,
                Err(error) => {
                    let newer = version(bytes).filter(|version| *version > u64::from(VERSION));
                    let what = newer.map_or_else(|| unreadable(&error, whole), newer_format);
                    docket.problem(self.file, number, what);
                    continue;
                }
            };
            match entry.form() {
                Form::Line => self.line(number, entry, judge, trial, docket),
                Form::Header => match header(bytes) {
                    Ok(header) => return Ok(Some(Box::new(header))),
                    Err(why) => docket.problem(self.file, number, why),
                },
                Form::Expectation => self.expectation(number, &entry, docket),
                Form::Event => docket.problem(self.file, number, "this is an event, not a line of a journal"),
                Form::Other => docket.problem(self.file, number, "this is no line of a journal"),
            }
        }
        Ok(None)
    }

    fn line(&mut self, number: u64, mut entry: Entry<'_>, judge: &Judge, trial: &mut Trial<'_>, docket: &mut Docket) {
        self.tell(judge, docket);
        let session = session(&entry);
        self.passed = !docket.wants(&session);
        if self.passed {
            return;
        }
        if let Some(newer) = entry.v.filter(|version| *version > u64::from(VERSION)) {
            return docket.problem(self.file, number, newer_format(newer));
        }
        let counted = self.chains.count(number);
        let chain = self.chains.of(session);
        if chain.is_double(&entry) {
            return docket.problem(self.file, number, "the event is there twice; it is counted once");
        }
        if chain.runs_back(&entry) {
            docket.problem(self.file, number, "the clock went backwards: this came before the line above");
        }
        let judged = match trial.line(&mut entry) {
            Ok(judged) => judged,
            Err(why) => return docket.problem(self.file, number, format!("the line cannot be decided: {why}")),
        };
        for line in chain.follow(counted, &entry, trial.before()) {
            self.chains.missing(line, docket);
        }
        self.held = Some(Held { line: number, at: plain(entry.at).map(str::to_owned), judged, expected: None });
    }

    fn expectation(&mut self, number: u64, entry: &Entry<'_>, docket: &mut Docket) {
        let read = entry.expect.map(|raw| Expectation::read(raw.get()));
        match (read, &mut self.held) {
            (Some(Ok(expected)), Some(held)) => held.expected = Some(expected),
            (Some(Ok(_)), None) if self.passed => {}
            (Some(Ok(_)), None) => docket.problem(self.file, number, "no event stands before this expectation"),
            (Some(Err(why)), _) => docket.unmet(self.file, number, why),
            (None, _) => {}
        }
    }

    /// Tells of the line that has waited.
    fn tell(&mut self, judge: &Judge, docket: &mut Docket) {
        if let Some(Held { line, at, judged, expected }) = self.held.take() {
            docket.by(&judge.name);
            let place = Where { file: self.file, line, at: at.as_deref() };
            docket.event(place, judged, &judge.catalogue, expected);
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
