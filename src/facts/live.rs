//! The door to the world: every question is answered from files, git, the clock or the journal.

#![expect(clippy::disallowed_methods, reason = "this is a door to the outside")]

mod agents;
mod clock;
pub mod files;
pub mod frontmatter;
pub mod git;
pub mod milestone;
pub mod place;
mod program;
pub mod text;
pub mod tool_effects;
mod web;
pub mod wired;

pub use clock::{ahead, now};

use super::{Answer, EventText, FactSource, FoundFile, Question, TextQuery};
use crate::event::Event;
use crate::journal::ActivityLog;
use crate::shell::ExecContext;
use crate::transcript::{conversation_text, latest_assistant_text};
use jiff::SignedDuration;
use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How many files or changes an answer holds.
const MANY: usize = 20;

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
        self.ledger.get_or_init(|| ActivityLog::read(&self.journal)).as_ref().map_err(Clone::clone)
    }

    fn files(&self, globs: &[String]) -> Answer {
        let mut seen: Vec<FoundFile> = Vec::new();
        let mut trouble = None;
        for root in [self.tree(), &self.home] {
            for glob in globs {
                match files::matching(root, glob, MANY) {
                    Ok(found) => seen.extend(found.into_iter().map(|file| FoundFile {
                        path: file.path,
                        size: file.size,
                        modified: file.modified_ms,
                    })),
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
        text_of(text.as_deref(), wanted)
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
            Ok(ledger) => Answer::Writer(ledger.writer(&self.root(path).join(path), &present)),
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
            Question::Text { path, wanted } => text_of(self.read(path).as_deref(), wanted),
            Question::Committed(path) => self.committed(path),
            Question::Changes(paths) => {
                git::changes(self.tree(), paths, MANY).map_or_else(Answer::Unknown, Answer::Changes)
            }
            Question::Head => git::head(self.tree()).map_or_else(Answer::Unknown, Answer::Head),
            Question::Milestone => milestone::current(&[self.tree(), &self.home]),
            Question::Clock => Answer::Clock(ahead(self.ahead)),
            Question::Writer(path) => self.writer(path),
            Question::Relative(path) => Answer::Relative(self.relative(path)),
            Question::Agent { id, transcript } => agents::agent(self.ledger(), id, transcript.as_deref()),
            Question::InFlight => self.in_flight(),
            Question::EventText { of, wanted } => said(self.event, *of, wanted),
            Question::Transcript { path, last, wanted } => Self::transcript(path, *last, wanted),
            Question::Touches(asked) => {
                self.tool_effects().touches(asked).map_or_else(Answer::Unknown, Answer::Touches)
            }
            Question::Calls(wanted) => Answer::Calls(self.tool_effects().calls(wanted)),
            Question::HookEntries => {
                wired::changed(self.event, &self.home, self.folder()).map_or_else(Answer::Unknown, Answer::HookEntries)
            }
            Question::Context(file) => self.context(file),
            Question::History => Answer::History(crate::journal::history(&self.journal, &self.home)),
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

/// What the frontmatter of a file says of some keys.
#[must_use]
pub fn frontmatter_of(bytes: &[u8], keys: &[String]) -> Answer {
    match frontmatter::read(bytes) {
        frontmatter::Frontmatter::Absent => Answer::NoFrontmatter,
        frontmatter::Frontmatter::Broken(why) => Answer::BrokenFrontmatter(why),
        frontmatter::Frontmatter::Map(map) => {
            let value = |key: &String| Some((key.clone(), serde_json::to_value(map.get(key.as_str())?).ok()?));
            Answer::Frontmatter(keys.iter().filter_map(value).collect())
        }
    }
}

/// What the body of a file has.
#[must_use]
pub fn text_of(bytes: Result<&[u8], &String>, wanted: &TextQuery) -> Answer {
    match bytes.map_err(String::clone).and_then(|bytes| text::seen(bytes, wanted)) {
        Ok(seen) => Answer::Text { chars: seen.chars, missing: seen.missing },
        Err(why) => Answer::Unknown(why),
    }
}

/// A text of an event.
#[must_use]
pub fn spoken(event: &Event, of: EventText) -> Option<&str> {
    match of {
        EventText::Prompt => event.prompt().or_else(|| event.input("prompt")),
        EventText::Command => event.input("command"),
        EventText::Message => event.text("last_assistant_message"),
    }
}

/// What a text of an event has.
#[must_use]
pub fn said(event: &Event, of: EventText, wanted: &TextQuery) -> Answer {
    spoken(event, of).map_or(Answer::NoText, |text| match text::lacking(text, wanted) {
        Ok(missing) => Answer::Text { chars: text.trim().chars().count(), missing },
        Err(why) => Answer::Unknown(why),
    })
}

/// Files, newest first, and no more than an answer holds.
#[must_use]
pub fn newest(mut files: Vec<FoundFile>) -> Vec<FoundFile> {
    files.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
    files.dedup_by(|a, b| a.path == b.path);
    files.truncate(MANY);
    files
}

/// An I/O error as a clause about what was to be read.
fn clause(what: &str, error: &std::io::Error) -> String {
    format!("`{what}` cannot be read: {}", error.kind())
}
