//! Events without a past decision: streams of the host, and those that its transcripts tell.

use super::blocks::{Lines, Piece, too_long};
use super::docket::Docket;
use super::inputs::{Input, Source};
use super::law::{Judge, Law};
use super::lines::unreadable;
use crate::engine::{Decided, decide};
use crate::event::Event;
use crate::facts::{self, Answer, Facts, LiveFacts, Question, live};
use crate::journal::{self, JournalLine, WrittenFile};
use crate::paths::safe_name;
use crate::redact::redacted;
use crate::replay::entry::Sent;
use crate::replay::expect::Expectation;
use crate::replay::remembered::Remembered;
use crate::replay::retrial::Where;
use crate::replay::transcript::{SubagentInfo, TranscriptFile, rebuild};
use crate::replay::trial::Judged;
use crate::session::Session;
use crate::verdict::Decision;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// What the events of a stream are held against.
pub(super) enum World {
    /// A folder as it stands now, and whether its gates may run their programs.
    Project(PathBuf, bool),
    /// What the session itself shows.
    Remembered,
}

/// Sessions whose events are decided one after the other, each on what the one before has left.
struct Court<'a> {
    judge: &'a Judge,
    world: &'a World,
    sessions: HashMap<String, Thread>,
    /// Where journals are kept meanwhile: who is stopping, and who wrote what, is asked of them.
    journals: Option<tempfile::TempDir>,
}

#[derive(Default)]
struct Thread {
    session: Session,
    remembered: Remembered,
}

/// Decides the events of a stream.
pub(super) fn replay(input: &Input, law: &Law, world: &World, docket: &mut Docket) {
    let judge = law.of_file(input.main());
    docket.by(&judge.name);
    let mut court = Court::new(&judge, world);
    let result = match input.source {
        Source::Transcript => transcript(input, &mut court, docket),
        _ => stream(input.main(), &mut court, docket),
    };
    if let Err(error) = result {
        docket.problem(&input.main().to_string_lossy(), 0, format!("it cannot be read: {error}"));
    }
}

fn stream(path: &Path, court: &mut Court<'_>, docket: &mut Docket) -> std::io::Result<()> {
    let file = path.to_string_lossy().into_owned();
    let mut lines = Lines::open(path)?;
    let mut held: Option<(u64, Judged, Option<Expectation>)> = None;
    // Whether the event before is left to another part, with what is expected of it.
    let mut passed = false;
    while let Some(piece) = lines.next()? {
        let (number, bytes, whole) = match piece {
            Piece::Line { number, bytes, whole } => (number, bytes, whole),
            Piece::TooLong { number, size } => {
                docket.problem(&file, number, too_long(size));
                continue;
            }
        };
        let sent: Result<Sent<'_>, _> = serde_json::from_slice(bytes);
        match sent.as_ref().map(|sent| (sent.hook_event_name.is_some(), sent.expect)) {
            Ok((false, Some(raw))) => match (Expectation::read(raw.get()), &mut held) {
                (Ok(own), Some((_, _, expected))) => *expected = Some(own),
                (Ok(_), None) if passed => {}
                (Ok(_), None) => docket.problem(&file, number, "no event stands before this expectation"),
                (Err(why), _) => docket.unmet(&file, number, why),
            },
            Ok((true, own)) => {
                tell(&file, held.take(), court, docket);
                passed = false;
                let own = own
                    .and_then(|raw| Expectation::read(raw.get()).map_err(|why| docket.unmet(&file, number, why)).ok());
                match Event::parse(bytes) {
                    Ok(event) if docket.wants(event.session()) => {
                        let judged = court.decide(event, None);
                        held = Some((number, judged, own));
                    }
                    Ok(_) => passed = true,
                    Err(why) => docket.problem(&file, number, why),
                }
            }
            Ok(_) => docket.problem(&file, number, "this is no hook event"),
            // One odd value does not hide an event.
            Err(error) => match Event::parse(bytes) {
                Ok(event) => {
                    tell(&file, held.take(), court, docket);
                    passed = !docket.wants(event.session());
                    held = (!passed).then(|| (number, court.decide(event, None), None));
                }
                Err(_) => docket.problem(&file, number, unreadable(error, whole)),
            },
        }
    }
    tell(&file, held, court, docket);
    Ok(())
}

fn tell(file: &str, held: Option<(u64, Judged, Option<Expectation>)>, court: &Court<'_>, docket: &mut Docket) {
    if let Some((line, judged, expected)) = held {
        docket.event(Where { file, line, at: None }, judged, &court.judge.catalogue, expected);
    }
}

fn transcript(input: &Input, court: &mut Court<'_>, docket: &mut Docket) -> std::io::Result<()> {
    let names: Vec<String> = input.files.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    let main = names.first().map(String::as_str).unwrap_or_default();
    let mut parts = Vec::new();
    for (path, name) in input.files.iter().zip(&names) {
        let card = std::fs::read(path.with_extension("meta.json")).ok();
        let mut part = match SubagentInfo::of(name, card.as_deref()) {
            Some(agent) => TranscriptFile::of_agent(main, name, agent),
            None => TranscriptFile::main(name),
        };
        let mut lines = Lines::open(path)?;
        let mut last = 0;
        while let Some(piece) = lines.next()? {
            let (number, bytes) = match piece {
                Piece::Line { number, bytes, .. } => (number, bytes),
                Piece::TooLong { number, size } => {
                    docket.problem(name, number, too_long(size));
                    (number, b"".as_slice())
                }
            };
            // ProjectPaths are counted by lines, empty ones included.
            (last + 1..number).for_each(|_| part.line(b""));
            part.line(bytes);
            last = number;
        }
        parts.push(part);
    }
    let retold = rebuild(parts);
    // Of several parts one counts what a transcript lacks: the one that has its session.
    let session = input.main().file_stem().unwrap_or_default().to_string_lossy();
    let skipped = if docket.has(&session) { retold.skipped.0 } else { BTreeMap::new() };
    for (reason, tally) in &skipped {
        let name = names.get(tally.first.part).map(String::as_str).unwrap_or_default();
        docket.skipped(name, tally.first.line as u64, reason.to_string(), tally.count as u64);
    }
    for rebuilt in retold.events {
        let Ok(event) = Event::from_value(rebuilt.event) else { continue };
        if !docket.wants(event.session()) {
            continue;
        }
        let file = names.get(rebuilt.place.part).map(String::as_str).unwrap_or_default();
        let line = rebuilt.place.line as u64;
        let judged = court.decide(event, rebuilt.at.as_deref());
        let place = Where { file, line, at: rebuilt.at.as_deref() };
        docket.event(place, judged, &court.judge.catalogue, None);
    }
    Ok(())
}

/// A folder in which nothing is run unless it is let.
struct Still<'e> {
    live: LiveFacts<'e>,
    shell: bool,
}

impl facts::FactSource for Still<'_> {
    fn answer(&self, question: &Question) -> Answer {
        match question {
            Question::Run(_) | Question::Http(_) if !self.shell => {
                Answer::Unknown("programs are not run in a replay without `--shell`".to_owned())
            }
            _ => self.live.answer(question),
        }
    }
}

impl<'a> Court<'a> {
    fn new(judge: &'a Judge, world: &'a World) -> Self {
        let journals = matches!(world, World::Project(..)).then(tempfile::tempdir);
        Self { judge, world, sessions: HashMap::new(), journals: journals.and_then(Result::ok) }
    }

    fn decide(&mut self, event: Event, at: Option<&str>) -> Judged {
        let id = event.session().to_owned();
        let thread = self.sessions.entry(id.clone()).or_default();
        thread.session.id = id.as_str().into();
        let (decided, asked) = match self.world {
            World::Remembered => {
                let world = thread.remembered.at(&event, at);
                let facts = Facts::new(&world);
                let decided = decide(&event, &self.judge.catalogue, &thread.session, &facts);
                (decided, facts.asked())
            }
            World::Project(home, shell) => {
                let folder = self.journals.as_ref().map_or_else(|| Path::new(""), tempfile::TempDir::path);
                let journal = folder.join(format!("{}.jsonl", safe_name(&id)));
                let live = LiveFacts::new(&event, home.clone(), journal.clone());
                let world = Still { live, shell: *shell };
                let facts = Facts::new(&world);
                let decided = decide(&event, &self.judge.catalogue, &thread.session, &facts);
                let asked = facts.asked();
                if self.journals.is_some() {
                    write_down(&journal, &event, &thread.session, &decided);
                }
                (decided, asked)
            }
        };
        thread.remembered.learn(&event, at);
        thread.session = decided.session.clone();
        let judged = Judged::new(event, decided, asked);
        if matches!(self.world, World::Remembered) { judged.half_seen() } else { judged }
    }
}

/// Keeps what later events ask of earlier ones; where that cannot be, they are told that it is unknown.
fn write_down(journal: &Path, event: &Event, before: &Session, decided: &Decided) {
    let line = JournalLine {
        v: journal::VERSION,
        at: live::now().at,
        event: redacted(&event.to_value()),
        before: before.clone(),
        after: None,
        modes: String::new(),
        asked: Vec::new(),
        findings: Vec::new(),
        decision: Decision::default(),
        who: decided.who.clone(),
        wrote: WrittenFile::of(&event.edited()),
        lost: false,
        us: 0,
    };
    let _: std::io::Result<()> = journal::append(journal, &journal.with_extension("lock"), &line, u64::MAX);
}
