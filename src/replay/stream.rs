//! Replays events that have no recorded decision: streams of the host, and its transcripts.

use crate::engine::Decided;
use crate::facts::session::Session;
use crate::facts::{Answer, FactSource, Question};
use crate::host::event::Event;
use crate::host::paths::safe_name;
use crate::replay::collector::{ReplayMessage, ResultCollector};
use crate::replay::inferred::InferredFacts;
use crate::replay::inputs::{InputKind, ReplayInput, main_transcript};
use crate::replay::journal::unreadable;
use crate::replay::line::{LineKeys, LineKind};
use crate::replay::line_reader::{LineReader, RawLine};
use crate::replay::mode_source::{ModeSource, ResolvedModes};
use crate::replay::redecision::{Comparison, decide_with};
use crate::replay::result::{CaseLocation, ReplayProblem};
use crate::replay::transcript::{SubagentInfo, TranscriptFile, rebuild};
use crate::state::journal::redacted;
use crate::state::journal::{self, JournalLine};
use crate::state::journal_files;
use crate::state::user_folder::project_paths;
use crate::world::{self, LiveFacts};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The accepted hashes of context files and scripts, by path; `None` where every file is used as it is.
pub(crate) type AcceptedHashes = Option<BTreeMap<String, Vec<String>>>;

/// A project whose files and git answer the questions.
pub(crate) struct LiveProject {
    pub(crate) home: PathBuf,
    pub(crate) shell: bool,
    pub(crate) accepted: AcceptedHashes,
}

/// Decides the events of sessions, each on the state that the one before left.
struct StreamReplayer<'a> {
    modes: Arc<ResolvedModes>,
    /// Without a project, facts are inferred from the events.
    project: Option<&'a LiveProject>,
    sessions: HashMap<String, (Session, InferredFacts)>,
    /// A folder for journals, which answer who stops and who wrote a file.
    journals: Option<tempfile::TempDir>,
}

/// Decides the events of a stream, or those that a transcript shows.
pub(crate) fn replay(
    input: &ReplayInput,
    source: &ModeSource,
    project: Option<&LiveProject>,
    collector: &mut ResultCollector,
) {
    let modes = source.modes_of_file(input.main());
    let read = if input.kind == InputKind::Transcript {
        transcript(input, &mut StreamReplayer::new(modes, None), collector)
    } else {
        events(input.main(), &mut StreamReplayer::new(modes, project), collector)
    };
    if let Err(error) = read {
        collector.problem(&input.main().to_string_lossy(), 0, format!("cannot read the file: {error}"));
    }
}

fn events(path: &Path, replayer: &mut StreamReplayer<'_>, collector: &mut ResultCollector) -> io::Result<()> {
    let file: Arc<str> = path.to_string_lossy().into();
    read_events(path, collector, |collector, line, event, _| {
        if collector.wants(event.session()) {
            let compared = replayer.decide(event, None);
            let location = CaseLocation { file: Arc::clone(&file), line, at: None };
            collector.case(location, compared, &replayer.modes, None);
        }
        Ok(())
    })
}

/// Calls `decide` with every event of a stream, and gives expectations to the collector.
pub(crate) fn read_events<E: From<io::Error>>(
    path: &Path,
    collector: &mut ResultCollector,
    mut decide: impl FnMut(&mut ResultCollector, u64, Event, &[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let file = path.to_string_lossy().into_owned();
    let mut lines = LineReader::open(path)?;
    while let Some(RawLine { number, bytes, is_complete }) = lines.next_line()? {
        let Ok(bytes) = bytes.map_err(|too_long| collector.problem(&file, number, too_long)) else { continue };
        let keys = LineKeys::parse(bytes);
        let expect = keys.as_ref().ok().and_then(|keys| keys.expect);
        match keys.as_ref().map(LineKeys::kind) {
            Ok(LineKind::Expectation) => {}
            Ok(LineKind::Event) | Err(_) => {
                collector.settle();
                match Event::parse(bytes) {
                    Ok(event) => decide(collector, number, event, bytes)?,
                    Err(why) => {
                        let error = keys.as_ref().err().map(|error| unreadable(error, is_complete));
                        collector.problem(&file, number, error.unwrap_or_else(|| why.to_string()));
                        continue;
                    }
                }
            }
            Ok(_) => collector.problem(&file, number, "this is not a hook event"),
        }
        if let Some(text) = expect {
            collector.expectation(&file, number, text.get());
        }
    }
    collector.settle();
    Ok(())
}

fn transcript(
    input: &ReplayInput,
    replayer: &mut StreamReplayer<'_>,
    collector: &mut ResultCollector,
) -> io::Result<()> {
    let names: Vec<Arc<str>> = input.files.iter().map(|path| path.to_string_lossy().into()).collect();
    let name = |file: usize| names.get(file).cloned().unwrap_or_default();
    // The agents of a session whose own transcript is gone name it by their folder.
    let main = main_transcript(input.main()).unwrap_or_else(|| input.main().to_owned());
    let session = main.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let main = main.to_string_lossy();
    let mut files = Vec::new();
    for (path, name) in input.files.iter().zip(&names) {
        let meta = base::disk::read(&path.with_extension("meta.json"), base::disk::SMALL).ok();
        let mut file = match SubagentInfo::of(name, meta.as_deref()) {
            Some(agent) => TranscriptFile::of_agent(&main, name, agent),
            None => TranscriptFile::main(name).without_copies(input.copied.clone()),
        };
        let mut last = 0;
        let mut lines = LineReader::open(path)?;
        while let Some(RawLine { number, bytes, .. }) = lines.next_line()? {
            let Ok(bytes) = bytes.map_err(|too_long| collector.problem(name, number, too_long)) else { continue };
            // Positions count every line, empty ones too.
            (last + 1..number).for_each(|_| file.line(b""));
            file.line(bytes);
            last = number;
        }
        files.push(file);
    }
    let rebuilt = rebuild(files);
    // Only the shard of the session counts what is missing in its transcript.
    if collector.has(&session) {
        for (reason, skipped) in &rebuilt.skipped.0 {
            let first = ReplayProblem::new(&*name(skipped.first.file), skipped.first.line as u64, reason);
            collector.push(ReplayMessage::Skipped(first, skipped.count as u64));
        }
    }
    for rebuilt in rebuilt.events {
        let Ok(event) = Event::from_value(rebuilt.event) else { continue };
        if collector.wants(event.session()) {
            let compared = replayer.decide(event, rebuilt.at.as_deref());
            let (file, line) = (name(rebuilt.position.file), rebuilt.position.line as u64);
            let location = CaseLocation { file, line, at: rebuilt.at };
            collector.case(location, compared, &replayer.modes, None);
        }
    }
    Ok(())
}

/// Live facts that run no program and ask no server.
struct NoExec<'e>(LiveFacts<'e>);

impl FactSource for NoExec<'_> {
    fn answer(&self, question: &Question) -> Answer {
        match question {
            Question::Run(_) | Question::Http(_) => {
                Answer::Unknown("programs are not run in a replay without `--shell`".into())
            }
            _ => self.0.answer(question),
        }
    }
}

impl<'a> StreamReplayer<'a> {
    fn new(modes: Arc<ResolvedModes>, project: Option<&'a LiveProject>) -> Self {
        let journals = project.and_then(|_| tempfile::tempdir().ok());
        Self { modes, project, sessions: HashMap::new(), journals }
    }

    fn decide(&mut self, event: Event, at: Option<&str>) -> Comparison {
        let id = event.session();
        let (session, inferred) = self.sessions.entry(id.to_owned()).or_default();
        session.id = id.into();
        let catalogue = &self.modes.catalogue;
        let (decided, asked) = if let Some(LiveProject { home, shell, accepted }) = self.project {
            let folder = self.journals.as_ref().map_or_else(|| Path::new(""), tempfile::TempDir::path);
            let journal = folder.join(format!("{}.jsonl", safe_name(id)));
            let live = LiveFacts::new(&event, project_paths(home.clone()), journal.clone());
            let live = live.with_accepted(accepted.as_ref());
            let decision = if *shell {
                decide_with(&event, catalogue, session, &live)
            } else {
                decide_with(&event, catalogue, session, &NoExec(live))
            };
            if self.journals.is_some() {
                append_line(&journal, &event, session, &decision.0);
            }
            decision
        } else {
            decide_with(&event, catalogue, session, &inferred.at(&event, at))
        };
        inferred.learn(&event, at);
        *session = decided.session.clone();
        let compared = Comparison::new(event, decided, asked);
        if self.project.is_none() { compared.with_inferred_facts() } else { compared }
    }
}

/// Keeps what later events ask of earlier ones; without it their questions are unknown.
fn append_line(journal: &Path, event: &Event, before: &Session, decided: &Decided) {
    let line = JournalLine {
        v: journal::VERSION,
        at: world::now().at,
        event: redacted(&event.to_value()),
        before: before.clone(),
        who: decided.who.clone(),
        wrote: journal_files::hash_written(&event.edited()),
        ..JournalLine::default()
    };
    let _: io::Result<bool> = journal_files::append(journal, &journal.with_extension("lock"), &line, u64::MAX);
}
