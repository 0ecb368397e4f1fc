//! Answers questions from files, git, the clock, the journal, programs and servers.

#![expect(clippy::disallowed_methods, reason = "an I/O module")]

mod agents;
mod clock;
mod files;
pub mod git;
pub mod place;
mod program;
pub mod tool_effects;
mod web;
pub mod wired;

pub use clock::{ahead, now};

use crate::event::Event;
use crate::facts::{
    Answer, FactSource, FoundFile, MOST_RESULTS, Question, TextQuery, frontmatter_of, milestone, newest,
    search_event_text, search_file,
};
use crate::journal::ActivityLog;
use crate::journal_files;
use crate::shell::ExecContext;
use crate::transcript::{conversation_text, latest_assistant_text};
use jiff::SignedDuration;
use std::cell::OnceCell;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// No text worth checking is larger.
const LARGEST: u64 = 16 * 1024 * 1024;

/// Steps that are asked one after the other have no more time together: the host gives up soon after.
const LONGEST: Duration = Duration::from_secs(65);

/// The host takes 10,000 characters of context; some are left for others.
const TOLD: usize = 9_000;

/// The machine as it is now.
#[derive(Debug)]
pub struct LiveFacts<'e> {
    event: &'e Event,
    home: PathBuf,
    cwd: Option<PathBuf>,
    journal: PathBuf,
    tree: OnceCell<PathBuf>,
    ledger: OnceCell<Result<ActivityLog, String>>,
    tool_effects: OnceCell<tool_effects::ToolEffects>,
    begun: Instant,
    ahead: SignedDuration,
}

impl<'e> LiveFacts<'e> {
    /// The world of a project at an event, with the session's journal.
    #[must_use]
    pub fn new(event: &'e Event, home: PathBuf, journal: PathBuf) -> Self {
        let cwd = event.cwd().map(PathBuf::from);
        Self {
            event,
            home,
            cwd,
            journal,
            tree: OnceCell::new(),
            ledger: OnceCell::new(),
            tool_effects: OnceCell::new(),
            begun: Instant::now(),
            ahead: SignedDuration::ZERO,
        }
    }

    /// The same by a clock that is so far ahead.
    #[must_use]
    pub fn ahead(self, ahead: SignedDuration) -> Self {
        Self { ahead, ..self }
    }

    /// Where evidence is looked for first: home, or the agent's own worktree of the same repository.
    fn tree(&self) -> &Path {
        self.tree.get_or_init(|| place::tree(&self.home, self.cwd.as_deref()))
    }

    /// The root in which a file is: the tree, or home for what the tree has not.
    fn root(&self, path: &str) -> &Path {
        let tree = self.tree();
        if tree != self.home && !tree.join(path).exists() { &self.home } else { tree }
    }

    fn ledger(&self) -> Result<&ActivityLog, String> {
        self.ledger
            .get_or_init(|| {
                journal_files::activity(&self.journal)
                    .ok_or_else(|| "the journal of this session cannot be read".to_owned())
            })
            .as_ref()
            .map_err(Clone::clone)
    }

    fn files(&self, globs: &[String]) -> Answer {
        let mut seen: Vec<FoundFile> = Vec::new();
        let mut trouble = None;
        for root in [self.tree(), &self.home] {
            for glob in globs {
                match files::matching(root, glob, MOST_RESULTS) {
                    Ok(found) => seen.extend(found),
                    Err(why) => trouble = Some(why),
                }
            }
            if !seen.is_empty() || self.tree() == self.home {
                break;
            }
        }
        match trouble {
            Some(why) if seen.is_empty() => Answer::Unknown(why),
            _ => Answer::Files(newest(seen)),
        }
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        let full = self.root(path).join(path);
        let size = std::fs::metadata(&full).map_err(|error| clause(path, &error))?.len();
        if size > LARGEST {
            return Err(format!("`{path}` is larger than {} MiB", LARGEST >> 20));
        }
        std::fs::read(&full).map_err(|error| clause(path, &error))
    }

    fn frontmatter(&self, path: &str, keys: &[String]) -> Answer {
        self.read(path).map_or_else(Answer::Unknown, |bytes| frontmatter_of(&bytes, keys))
    }

    fn transcript(path: &str, last: bool, wanted: &TextQuery) -> Answer {
        let text = std::fs::read(path).map_err(|error| clause("the transcript", &error)).map(|bytes| {
            if last { latest_assistant_text(&bytes).unwrap_or_default() } else { conversation_text(&bytes) }
                .into_bytes()
        });
        search_file(text.as_deref(), wanted)
    }

    fn committed(&self, path: &str) -> Answer {
        git::commitment(self.root(path), Path::new(path)).map_or_else(Answer::Unknown, Answer::Committed)
    }

    fn writer(&self, path: &str) -> Answer {
        let present = match self.read(path) {
            Ok(bytes) => crate::redact::sha256(&bytes),
            Err(why) => return Answer::Unknown(why),
        };
        match self.ledger() {
            Ok(ledger) => Answer::Writer(ledger.writer(same_file(&self.root(path).join(path)), &present)),
            Err(why) => Answer::Unknown(why),
        }
    }

    fn in_flight(&self) -> Answer {
        self.ledger().map_or_else(Answer::Unknown, |ledger| Answer::InFlight(ledger.in_flight()))
    }

    /// The folder in which the event happens.
    fn folder(&self) -> &Path {
        self.cwd.as_deref().unwrap_or(&self.home)
    }

    /// What the tool would change, read once an event.
    fn tool_effects(&self) -> &tool_effects::ToolEffects {
        self.tool_effects.get_or_init(|| {
            let home = std::env::var("HOME").or_else(|_| std::env::var("USERPROFILE")).unwrap_or_default();
            let text = |path: &Path| path.to_string_lossy().into_owned();
            let ground = ExecContext { cwd: text(self.folder()), home, project: text(&self.home) };
            tool_effects::ToolEffects::of(self.event, ground, tool_effects::Links::Followed)
        })
    }

    /// A file of `.claude/context`, and of no other folder: a link may lead anywhere.
    fn context(&self, file: &str) -> Answer {
        let folder = self.home.join(".claude/context");
        let path = folder.join(file);
        let inside = || Some(path.canonicalize().ok()?.starts_with(folder.canonicalize().ok()?));
        if inside() != Some(true) {
            return Answer::Unknown(format!("`{file}` is not in `.claude/context`"));
        }
        let meta = std::fs::metadata(&path).ok();
        if !meta.as_ref().is_some_and(std::fs::Metadata::is_file) {
            // A pipe would be waited for.
            return Answer::Unknown(format!("`{file}` is no file"));
        }
        if meta.is_some_and(|meta| meta.len() > LARGEST) {
            return Answer::Unknown(format!("`{file}` is larger than {} MiB", LARGEST >> 20));
        }
        match std::fs::read(&path) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                let told: String = text.trim().chars().take(TOLD).collect();
                Answer::Context { whole: told.len() == text.trim().len(), text: told }
            }
            Err(error) => Answer::Unknown(clause(file, &error)),
        }
    }

    fn step(&self, question: &Question) -> Answer {
        self.given(question).answer(question)
    }

    /// What a step is given: the event, with what gates have made of the tool's input.
    fn given(&self, question: &Question) -> Given {
        let changed = match question {
            Question::Run(run) => run.input.as_ref(),
            Question::Http(http) => http.input.as_ref(),
            _ => None,
        };
        let mut event = self.event.to_value();
        if let (Some(input), Some(fields)) = (changed, event.as_object_mut()) {
            fields.insert("tool_input".to_owned(), input.clone());
        }
        Given {
            event: event.to_string(),
            name: self.event.name().to_owned(),
            tool: self.event.tool().map(str::to_owned),
            session: self.event.session().to_owned(),
            home: self.home.clone(),
            cwd: self.cwd.clone().filter(|cwd| cwd.is_dir()).unwrap_or_else(|| self.home.clone()),
            until: self.begun + LONGEST,
        }
    }

    fn relative(&self, path: &str) -> String {
        let path = Path::new(path);
        let whole =
            if path.is_absolute() { path.to_owned() } else { self.cwd.as_deref().unwrap_or(&self.home).join(path) };
        let whole = place::real(&crate::paths::lexical(&whole));
        let roots = [self.tree(), &self.home].map(place::real);
        let within = roots.iter().find_map(|root| whole.strip_prefix(root).ok());
        within.unwrap_or(&whole).to_string_lossy().replace('\\', "/")
    }
}

/// What a step is given; owned, because steps run beside each other.
struct Given {
    event: String,
    name: String,
    tool: Option<String>,
    session: String,
    home: PathBuf,
    cwd: PathBuf,
    until: Instant,
}

impl Given {
    fn answer(&self, question: &Question) -> Answer {
        match question {
            Question::Run(run) => {
                let around = program::Surroundings {
                    event: &self.event,
                    name: &self.name,
                    tool: self.tool.as_deref(),
                    session: &self.session,
                    home: &self.home,
                    cwd: &self.cwd,
                };
                program::run(run, &around, self.until)
            }
            Question::Http(http) => web::fetch(http, &self.event, self.until),
            _ => Answer::Unknown("this is no step".to_owned()),
        }
    }
}

impl FactSource for LiveFacts<'_> {
    fn answer(&self, question: &Question) -> Answer {
        match question {
            Question::Files(globs) => self.files(globs),
            Question::Frontmatter { path, keys } => self.frontmatter(path, keys),
            Question::Text { path, wanted } => search_file(self.read(path).as_deref(), wanted),
            Question::Committed(path) => self.committed(path),
            Question::Changes(paths) => {
                git::changes(self.tree(), paths, MOST_RESULTS).map_or_else(Answer::Unknown, Answer::Changes)
            }
            Question::Head => git::head(self.tree()).map_or_else(Answer::Unknown, Answer::Head),
            Question::Milestone => current_milestone(&[self.tree(), &self.home]),
            Question::Clock => Answer::Clock(ahead(self.ahead)),
            Question::Writer(path) => self.writer(path),
            Question::Relative(path) => Answer::Relative(self.relative(path)),
            Question::Agent { id, transcript } => agents::agent(self.ledger(), id, transcript.as_deref()),
            Question::InFlight => self.in_flight(),
            Question::EventText { of, wanted } => search_event_text(self.event, *of, wanted),
            Question::Transcript { path, last, wanted } => Self::transcript(path, *last, wanted),
            Question::Touches(asked) => {
                self.tool_effects().touches(asked).map_or_else(Answer::Unknown, Answer::Touches)
            }
            Question::Calls(wanted) => Answer::Calls(self.tool_effects().calls(wanted)),
            Question::HookEntries => {
                wired::changed(self.event, &self.home, self.folder()).map_or_else(Answer::Unknown, Answer::HookEntries)
            }
            Question::Context(file) => self.context(file),
            Question::History => Answer::History(journal_files::history(&self.journal, &self.home)),
            Question::Run(_) | Question::Http(_) => self.step(question),
        }
    }

    /// Programs and servers are asked at the same time.
    fn answer_all(&self, questions: &[Question]) -> Vec<Answer> {
        let given: Vec<(Given, Question)> =
            questions.iter().map(|question| (self.given(question), question.clone())).collect();
        std::thread::scope(|scope| {
            let asked = given.into_iter().map(|(given, question)| scope.spawn(move || given.answer(&question)));
            let asked: Vec<_> = asked.collect();
            let lost = |_| Answer::Unknown("the step could not be run".to_owned());
            asked.into_iter().map(|thread| thread.join().unwrap_or_else(lost)).collect()
        })
    }
}

/// The milestone in the first status file of `roots`.
fn current_milestone(roots: &[&Path]) -> Answer {
    for root in roots {
        match std::fs::read(root.join("project/status.json")) {
            Ok(bytes) => return milestone::named(&bytes),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(error) => return Answer::Unknown(clause("project/status.json", &error)),
        }
    }
    Answer::Milestone(None)
}

/// Compares recorded paths with `path`, links resolved.
fn same_file(path: &Path) -> impl Fn(&str) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let wanted = real(path);
    move |recorded| Path::new(recorded) == path || real(Path::new(recorded)) == wanted
}

/// An I/O error as a clause about what was to be read.
fn clause(what: &str, error: &std::io::Error) -> String {
    format!("`{what}` cannot be read: {}", error.kind())
}
