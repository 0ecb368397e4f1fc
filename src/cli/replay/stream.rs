//! Events without a past decision: streams of the host, and those that its transcripts tell.

use super::collector::ResultCollector;
use super::inputs::{InputKind, ReplayInput};
use super::journal_reader::unreadable;
use super::line_reader::{LineReader, RawLine, too_long};
use super::mode_source::{ModeSource, ResolvedModes};
use crate::engine::{Decided, decide};
use crate::event::Event;
use crate::facts::{self, Answer, Facts, Question};
use crate::journal::{self, JournalLine};
use crate::journal_files;
use crate::live::{self, LiveFacts};
use crate::paths::safe_name;
use crate::redact::redacted;
use crate::replay::entry::StreamLine;
use crate::replay::expectation::Expectation;
use crate::replay::inferred::InferredFacts;
use crate::replay::redecision::Comparison;
use crate::replay::result::CaseLocation;
use crate::replay::transcript::{SubagentInfo, TranscriptFile, rebuild};
use crate::session::Session;
use crate::verdict::Decision;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// What the events of a stream are held against.
pub(super) enum FactsFrom {
    /// A folder as it stands now, and whether its gates may run their programs.
    Project(PathBuf, bool),
    /// What the session itself shows.
    InferredFacts,
}

/// Sessions whose events are decided one after the other, each on what the one before has left.
struct StreamReplayer<'a> {
    resolved: &'a ResolvedModes,
    world: &'a FactsFrom,
    sessions: HashMap<String, StreamSession>,
    /// CaseLocation journals are kept meanwhile: who is stopping, and who wrote what, is asked of them.
    journals: Option<tempfile::TempDir>,
}

#[derive(Default)]
struct StreamSession {
    session: Session,
    remembered: InferredFacts,
}

/// Decides the events of a stream.
pub(super) fn replay(input: &ReplayInput, modes: &ModeSource, world: &FactsFrom, collector: &mut ResultCollector) {
    let resolved = modes.of_file(input.main());
    collector.by(&resolved.name);
    let mut replayer = StreamReplayer::new(&resolved, world);
    let result = match input.source {
        InputKind::Transcript => transcript(input, &mut replayer, collector),
        _ => stream(input.main(), &mut replayer, collector),
    };
    if let Err(error) = result {
        collector.problem(&input.main().to_string_lossy(), 0, format!("it cannot be read: {error}"));
    }
}

fn stream(path: &Path, replayer: &mut StreamReplayer<'_>, collector: &mut ResultCollector) -> std::io::Result<()> {
    let file = path.to_string_lossy().into_owned();
    let mut lines = LineReader::open(path)?;
    let mut held: Option<(u64, Comparison, Option<Expectation>)> = None;
    // Whether the event before is left to another part, with what is expected of it.
    let mut passed = false;
    while let Some(piece) = lines.next()? {
        let (number, bytes, whole) = match piece {
            RawLine::Line { number, bytes, whole } => (number, bytes, whole),
            RawLine::TooLong { number, size } => {
                collector.problem(&file, number, too_long(size));
                continue;
            }
        };
        let sent: Result<StreamLine<'_>, _> = serde_json::from_slice(bytes);
        match sent.as_ref().map(|sent| (sent.hook_event_name.is_some(), sent.expect)) {
            Ok((false, Some(raw))) => match (Expectation::read(raw.get()), &mut held) {
                (Ok(own), Some((_, _, expected))) => *expected = Some(own),
                (Ok(_), None) if passed => {}
                (Ok(_), None) => collector.problem(&file, number, "no event stands before this expectation"),
                (Err(why), _) => collector.unmet(&file, number, why),
            },
            Ok((true, own)) => {
                tell(&file, held.take(), replayer, collector);
                passed = false;
                let own = own.and_then(|raw| {
                    Expectation::read(raw.get()).map_err(|why| collector.unmet(&file, number, why)).ok()
                });
                match Event::parse(bytes) {
                    Ok(event) if collector.wants(event.session()) => {
                        let compared = replayer.decide(event, None);
                        held = Some((number, compared, own));
                    }
                    Ok(_) => passed = true,
                    Err(why) => collector.problem(&file, number, why),
                }
            }
            Ok(_) => collector.problem(&file, number, "this is no hook event"),
            // One odd value does not hide an event.
            Err(error) => match Event::parse(bytes) {
                Ok(event) => {
                    tell(&file, held.take(), replayer, collector);
                    passed = !collector.wants(event.session());
                    held = (!passed).then(|| (number, replayer.decide(event, None), None));
                }
                Err(_) => collector.problem(&file, number, unreadable(error, whole)),
            },
        }
    }
    tell(&file, held, replayer, collector);
    Ok(())
}

fn tell(
    file: &str,
    held: Option<(u64, Comparison, Option<Expectation>)>,
    replayer: &StreamReplayer<'_>,
    collector: &mut ResultCollector,
) {
    if let Some((line, compared, expected)) = held {
        collector.event(CaseLocation { file, line, at: None }, compared, &replayer.resolved.catalogue, expected);
    }
}

fn transcript(
    input: &ReplayInput,
    replayer: &mut StreamReplayer<'_>,
    collector: &mut ResultCollector,
) -> std::io::Result<()> {
    let names: Vec<String> = input.files.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    let main = names.first().map(String::as_str).unwrap_or_default();
    let mut parts = Vec::new();
    for (path, name) in input.files.iter().zip(&names) {
        let card = std::fs::read(path.with_extension("meta.json")).ok();
        let mut part = match SubagentInfo::of(name, card.as_deref()) {
            Some(agent) => TranscriptFile::of_agent(main, name, agent),
            None => TranscriptFile::main(name),
        };
        let mut lines = LineReader::open(path)?;
        let mut last = 0;
        while let Some(piece) = lines.next()? {
            let (number, bytes) = match piece {
                RawLine::Line { number, bytes, .. } => (number, bytes),
                RawLine::TooLong { number, size } => {
                    collector.problem(name, number, too_long(size));
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
    let skipped = if collector.has(&session) { retold.skipped.0 } else { BTreeMap::new() };
    for (reason, counts) in &skipped {
        let name = names.get(counts.first.file).map(String::as_str).unwrap_or_default();
        collector.skipped(name, counts.first.line as u64, reason.to_string(), counts.count as u64);
    }
    for rebuilt in retold.events {
        let Ok(event) = Event::from_value(rebuilt.event) else { continue };
        if !collector.wants(event.session()) {
            continue;
        }
        let file = names.get(rebuilt.position.file).map(String::as_str).unwrap_or_default();
        let line = rebuilt.position.line as u64;
        let compared = replayer.decide(event, rebuilt.at.as_deref());
        let place = CaseLocation { file, line, at: rebuilt.at.as_deref() };
        collector.event(place, compared, &replayer.resolved.catalogue, None);
    }
    Ok(())
}

/// A folder in which nothing is run unless it is let.
struct NoExec<'e> {
    live: LiveFacts<'e>,
    shell: bool,
}

impl facts::FactSource for NoExec<'_> {
    fn answer(&self, question: &Question) -> Answer {
        match question {
            Question::Run(_) | Question::Http(_) if !self.shell => {
                Answer::Unknown("programs are not run in a replay without `--shell`".to_owned())
            }
            _ => self.live.answer(question),
        }
    }
}

impl<'a> StreamReplayer<'a> {
    fn new(resolved: &'a ResolvedModes, world: &'a FactsFrom) -> Self {
        let journals = matches!(world, FactsFrom::Project(..)).then(tempfile::tempdir);
        Self { resolved, world, sessions: HashMap::new(), journals: journals.and_then(Result::ok) }
    }

    fn decide(&mut self, event: Event, at: Option<&str>) -> Comparison {
        let id = event.session().to_owned();
        let thread = self.sessions.entry(id.clone()).or_default();
        thread.session.id = id.as_str().into();
        let (decided, asked) = match self.world {
            FactsFrom::InferredFacts => {
                let world = thread.remembered.at(&event, at);
                let facts = Facts::new(&world);
                let decided = decide(&event, &self.resolved.catalogue, &thread.session, &facts);
                (decided, facts.asked())
            }
            FactsFrom::Project(home, shell) => {
                let folder = self.journals.as_ref().map_or_else(|| Path::new(""), tempfile::TempDir::path);
                let journal = folder.join(format!("{}.jsonl", safe_name(&id)));
                let live = LiveFacts::new(&event, home.clone(), journal.clone());
                let world = NoExec { live, shell: *shell };
                let facts = Facts::new(&world);
                let decided = decide(&event, &self.resolved.catalogue, &thread.session, &facts);
                let asked = facts.asked();
                if self.journals.is_some() {
                    write_down(&journal, &event, &thread.session, &decided);
                }
                (decided, asked)
            }
        };
        thread.remembered.learn(&event, at);
        thread.session = decided.session.clone();
        let compared = Comparison::new(event, decided, asked);
        if matches!(self.world, FactsFrom::InferredFacts) { compared.half_seen() } else { compared }
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
        wrote: journal_files::hash_written(&event.edited()),
        lost: false,
        us: 0,
    };
    let _: std::io::Result<()> = journal_files::append(journal, &journal.with_extension("lock"), &line, u64::MAX);
}
