//! Answers questions from files, git, the clock, the journal, programs and servers.

mod agents;
mod clock;
mod files;
mod fork_parent;
mod host_process;
mod http;
mod other_worktrees;
mod own_program;
pub mod place;
mod program;
mod settings_files;
mod uncommitted;

pub use clock::{ahead, now};
pub use host_process::{as_fork, is_run_by_host, is_run_by_tool};

use crate::facts::tool_effects::{PROTECTED_FILES, ResolveLinks, StageListing, ToolEffects, mentions};
use crate::facts::{
    Answer, ContextText, EventText, FactSource, ForkParent, FoundFile, MOST_RESULTS, Question, QuestionTopic,
    RewrittenQuestion, TextFindings, TextQuery, Unknown, frontmatter_of, milestone, newest, output_of,
    search_event_text, search_file,
};
use crate::host::event::{Event, EventKind};
use crate::host::ids::SessionId;
use crate::host::paths::{PLUGIN_CONTEXT, ProjectPaths, lexical, with_slashes};
use crate::host::transcript::{conversation_text, latest_assistant_text};
use crate::state::journal::ActivityLog;
use crate::state::journal_files;
use crate::state::store::StateStore;
use crate::state::trust;
use crate::world::fork_parent::ParentSearch;
use base::crash;
use base::disk;
use jiff::SignedDuration;
use shell_effects::DiskView;
use shell_effects::{ExecContext, StagedFiles};
use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread::Builder;
use std::time::{Duration, Instant};
use test_results::LONGEST_OUTPUT;

const LARGEST_FILE: u64 = 16 * 1024 * 1024;

/// The time for all programs and servers of an event together: the host gives up soon after.
pub(crate) const STEP_TIMEOUT: Duration = Duration::from_secs(65);

/// The host takes 10,000 characters of context; some are left for other hooks.
const LONGEST_CONTEXT: usize = 9_000;
/// How many files that a tool call names are looked at after it.
const MOST_CHANGED: usize = 50;

/// The end of every reason why a file that the user has not agreed to is not used.
pub(crate) const TRUST_REASON: &str = "this project was trusted";

/// Answers from the present state of the machine.
#[derive(Debug)]
pub struct LiveFacts<'e> {
    event: Cow<'e, Event>,
    places: ProjectPaths,
    store: StateStore,
    cwd: Option<PathBuf>,
    journal: PathBuf,
    tree: OnceCell<PathBuf>,
    activity: OnceCell<Option<ActivityLog>>,
    /// The sessions that this one was forked from.
    ancestors: RefCell<Vec<SessionId>>,
    tool_effects: OnceCell<ToolEffects>,
    /// The same for the tool call with the input that gates have rewritten.
    rewritten: OnceCell<Box<Self>>,
    started: Instant,
    ahead: SignedDuration,
    /// The hashes of context files and scripts that the user has agreed to; `None` if all are used.
    accepted: Option<&'e BTreeMap<String, Vec<String>>>,
}

impl<'e> LiveFacts<'e> {
    /// Answers about the project at `places` for one event, with the session's journal.
    pub fn new(event: &'e Event, places: ProjectPaths, journal: PathBuf) -> Self {
        let store = StateStore::new(places.clone(), 0);
        Self::about(Cow::Borrowed(event), places, journal, store)
    }

    /// Answers with a store whose key may have been read.
    pub fn with_store(event: &'e Event, places: ProjectPaths, journal: PathBuf, store: StateStore) -> Self {
        Self::about(Cow::Borrowed(event), places, journal, store)
    }

    #[expect(clippy::disallowed_methods, reason = "does I/O")]
    fn about(event: Cow<'e, Event>, places: ProjectPaths, journal: PathBuf, store: StateStore) -> Self {
        Self {
            cwd: event.cwd().map(PathBuf::from),
            event,
            store,
            places,
            journal,
            tree: OnceCell::new(),
            activity: OnceCell::new(),
            ancestors: RefCell::default(),
            tool_effects: OnceCell::new(),
            rewritten: OnceCell::new(),
            started: Instant::now(),
            ahead: SignedDuration::ZERO,
            accepted: None,
        }
    }

    /// Uses context files and scripts only if their content has one of these hashes, where any are given.
    pub fn with_accepted(self, accepted: Option<&'e BTreeMap<String, Vec<String>>>) -> Self {
        Self { accepted, ..self }
    }

    pub fn with_clock_offset(self, ahead: SignedDuration) -> Self {
        Self { ahead, ..self }
    }

    /// Also finds files that these sessions wrote.
    pub fn forked_from(self, ancestors: &[SessionId]) -> Self {
        Self { ancestors: RefCell::new(ancestors.to_vec()), ..self }
    }

    /// The folder in which files are looked for first: home, or the agent's own worktree of the same repository.
    fn tree(&self) -> &Path {
        self.tree.get_or_init(|| place::tree(&self.places.home, self.cwd.as_deref()))
    }

    /// The root of a file: the tree, or home for files that are missing in the tree.
    #[expect(clippy::disallowed_methods, reason = "does I/O")]
    fn root(&self, path: &str) -> &Path {
        let tree = self.tree();
        if tree != self.places.home && !tree.join(path).exists() { &self.places.home } else { tree }
    }

    /// The folder of the event.
    fn folder(&self) -> &Path {
        self.cwd.as_deref().unwrap_or(&self.places.home)
    }

    fn activity(&self) -> Result<&ActivityLog, Unknown> {
        let activity = self.activity.get_or_init(|| match self.event.session() {
            id if self.journal == self.places.journal(id) => self.store.activity(id),
            _ => journal_files::activity(&self.journal, None).map(|read| read.log),
        });
        activity.as_ref().ok_or_else(|| "the journal of this session cannot be read".into())
    }

    fn files(&self, globs: &[String]) -> Result<Vec<FoundFile>, Unknown> {
        let mut found: Vec<FoundFile> = Vec::new();
        let mut problem = None;
        for root in [self.tree(), &self.places.home] {
            for glob in globs {
                match files::matching(root, glob, MOST_RESULTS) {
                    Ok(files) => found.extend(files),
                    Err(why) => problem = Some(why),
                }
            }
            if !found.is_empty() || self.tree() == self.places.home {
                break;
            }
        }
        match problem {
            Some(why) if found.is_empty() => Err(why),
            _ => Ok(newest(found)),
        }
    }

    /// Files of the project's other worktrees, named by their path in the project if the agent works there.
    fn in_other_worktrees(&self, globs: &[String]) -> Vec<FoundFile> {
        let found = other_worktrees::matching(&self.places.home, self.tree(), globs);
        let in_home = place::real(self.folder()) == place::real(&self.places.home);
        let named =
            |path: &Path| path.strip_prefix(&self.places.home).ok().filter(|_| in_home).unwrap_or(path).to_owned();
        let text = |path: PathBuf| path.to_string_lossy().replace('\\', "/");
        found.into_iter().map(|(root, file)| FoundFile { path: text(named(&root.join(&file.path))), ..file }).collect()
    }

    /// The absolute path of a file of the project, unless its path reaches it from the working directory.
    ///
    /// A file that does not exist yet belongs in the tree.
    #[expect(clippy::disallowed_methods, reason = "does I/O")]
    fn location(&self, path: &str) -> Option<String> {
        let at_home = self.places.home.join(path).exists() && self.root(path) == self.places.home;
        let root = if at_home { &self.places.home } else { self.tree() };
        let reaches = self.folder() == root || place::real(self.folder()) == place::real(root);
        (!reaches).then(|| root.join(path).to_string_lossy().replace('\\', "/"))
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, Unknown> {
        read_limited(&self.root(path).join(path), path)
    }

    fn transcript(path: &str, last: bool, wanted: &TextQuery) -> Result<TextFindings, Unknown> {
        let bytes = disk::read(Path::new(path), disk::LARGEST).map_err(|error| clause("the transcript", &error))?;
        let text = if last { latest_assistant_text(&bytes).unwrap_or_default() } else { conversation_text(&bytes) };
        search_file(text.as_bytes(), wanted)
    }

    /// Whether another session of the project wrote the present content of a file, and this one did not.
    fn is_other_sessions(&self, path: &str) -> bool {
        let Ok(bytes) = self.read(path) else { return false };
        let sha256 = base::digest::sha256(&bytes);
        let file = self.root(path).join(path);
        let is_own = self.activity().is_ok_and(|log| log.writer(same_file(&file), &sha256).is_some());
        !is_own && journal_files::recent_others(&self.journal).any(|journal| journal_files::mentions(&journal, &sha256))
    }

    fn writer(&self, path: &str) -> Result<Option<String>, Unknown> {
        let sha256 = base::digest::sha256(&self.read(path)?);
        let file = self.root(path).join(path);
        let own = self.activity()?.writer(same_file(&file), &sha256);
        let inherited = |id: &SessionId| self.store.activity(id).and_then(|log| log.writer(same_file(&file), &sha256));
        Ok(own.or_else(|| self.ancestors.borrow().iter().find_map(inherited)))
    }

    fn writers(&self, path: &str) -> Result<Vec<String>, Unknown> {
        let file = self.root(path).join(path);
        let mut writers = self.activity()?.writers(same_file(&file));
        for id in self.ancestors.borrow().iter() {
            let log = self.store.activity(id);
            writers.extend(log.map(|log| log.writers(same_file(&file))).unwrap_or_default());
        }
        writers.sort_unstable();
        writers.dedup();
        Ok(writers)
    }

    fn fork_parent(&self, transcript: Option<&str>) -> Answer {
        let parent = ParentSearch {
            places: &self.places,
            event: &self.event,
            transcript: transcript.map(Path::new),
            wait: !matches!(self.event.kind, Some(EventKind::SessionStart | EventKind::UserPromptSubmit)),
        };
        let parent = parent.run();
        if let ForkParent::Found(parent) = &parent {
            *self.ancestors.borrow_mut() = std::iter::once(&parent.id).chain(&parent.ancestors).cloned().collect();
        }
        Answer::ForkParent(parent)
    }

    fn wrote(&self, path: &str, id: &str) -> Result<bool, Unknown> {
        let sha256 = base::digest::sha256(&self.read(path)?);
        Ok(self.activity()?.wrote(id, same_file(&self.root(path).join(path)), &sha256))
    }

    /// The effects of the tool call, computed once per event.
    fn tool_effects(&self) -> &ToolEffects {
        self.tool_effects.get_or_init(|| {
            let home = self.places.user.as_deref().map(with_slashes).unwrap_or_default();
            let cwd = with_slashes(self.folder());
            let context = ExecContext {
                cwd,
                home,
                project: with_slashes(&self.places.home),
                wrappers: Vec::new(),
                protected: &PROTECTED_FILES,
            };
            ToolEffects::from_event(&self.event, context, &FollowLinks)
        })
    }

    /// The files that the tool call names and that were changed since the event before it; the host did not list them.
    #[expect(clippy::disallowed_methods, reason = "does I/O")]
    pub fn changed_files(&self) -> Vec<String> {
        let changed =
            |path: &Path| path.metadata().ok().filter(std::fs::Metadata::is_file).and_then(|meta| changed_at(&meta));
        let Some(before) = self.journal.metadata().ok().and_then(|meta| meta.modified().ok()) else {
            return Vec::new();
        };
        let mut files = self.tool_effects().written_files();
        files.truncate(MOST_CHANGED);
        let is_new = |path: &&str| changed(Path::new(path)).is_some_and(|time| time >= before);
        files.into_iter().filter(is_new).map(str::to_owned).collect()
    }

    /// A file of `.claude/context`; links must not lead out of that folder.
    #[expect(clippy::disallowed_methods, reason = "does I/O")]
    fn context(&self, file: &str) -> Result<Answer, Unknown> {
        let of_plugin = file.strip_prefix(PLUGIN_CONTEXT);
        let folder = match of_plugin {
            Some(_) => self.places.plugin.as_ref().ok_or("no plugin calls modegate")?.join("context"),
            None => self.places.home.join(".claude/context"),
        };
        let path = folder.join(of_plugin.unwrap_or(file));
        let is_inside = || Some(path.canonicalize().ok()?.starts_with(folder.canonicalize().ok()?));
        if is_inside() != Some(true) {
            return Err(format!("`{file}` is not in the folder of context files").into());
        }
        // Reading a pipe would never end.
        if !path.is_file() {
            return Err(format!("`{file}` is not a regular file").into());
        }
        let bytes = read_limited(&path, file)?;
        if of_plugin.is_none() {
            self.require_accepted(&format!(".claude/context/{file}"), &bytes)?;
        }
        let content = String::from_utf8_lossy(&bytes);
        let text: String = content.trim().chars().take(LONGEST_CONTEXT).collect();
        Ok(Answer::Context(ContextText { whole: text.len() == content.trim().len(), text }))
    }

    /// Fails for content that the user has not agreed to.
    fn require_accepted(&self, path: &str, bytes: &[u8]) -> Result<(), Unknown> {
        let Some(accepted) = self.accepted else { return Ok(()) };
        let sha256 = base::digest::sha256(bytes);
        // A worktree has the same files under other paths, but a context file is not a script.
        let name = |path: &str| path.rsplit('/').next().map(str::to_owned);
        let mut alike = accepted.iter().filter(|(known, _)| name(known) == name(path));
        if alike.any(|(_, hashes)| hashes.contains(&sha256)) {
            return Ok(());
        }
        let what = if accepted.contains_key(path) { "has changed since" } else { "was not there when" };
        Err(format!("`{path}` {what} {TRUST_REASON}; run `modegate trust` in a terminal").into())
    }

    /// Fails for a program whose script the user has not agreed to.
    fn require_accepted_scripts(&self, question: &Question) -> Result<(), Unknown> {
        let (Question::Run(step), Some(_)) = (question, self.accepted) else { return Ok(()) };
        for script in trust::scripts_of(&step.command, self.folder(), &self.places.home) {
            let shown = trust::relative(&script, self.folder());
            let bytes = read_limited(&script, &shown)?;
            self.require_accepted(&shown, &bytes)?;
        }
        Ok(())
    }

    /// The input of a program or server: the event, with the tool input as gates have changed it.
    #[expect(clippy::disallowed_methods, reason = "does I/O")]
    fn step_input(&self, question: &Question) -> StepInput {
        let changed = match question {
            Question::Run(run) => run.input.as_ref(),
            Question::Http(http) => http.input.as_ref(),
            _ => None,
        };
        let mut event = self.event.to_value();
        if let (Some(input), Some(fields)) = (changed, event.as_object_mut()) {
            fields.insert("tool_input".to_owned(), input.clone());
        }
        StepInput {
            event: event.to_string(),
            name: self.event.name().to_owned(),
            tool: self.event.text("tool_name").map(str::to_owned),
            session: self.event.session().to_string(),
            home: self.places.home.clone(),
            cwd: self.cwd.clone().filter(|cwd| cwd.is_dir()).unwrap_or_else(|| self.places.home.clone()),
            deadline: self.started + STEP_TIMEOUT,
        }
    }

    /// Answers a question about the tool call with its rewritten input.
    fn answer_rewritten(&self, asked: &RewrittenQuestion) -> Result<Answer, Unknown> {
        let event = asked.event(&self.event).ok_or("the rewritten input is not known")?;
        let with =
            |event| Self::about(Cow::Owned(event), self.places.clone(), self.journal.clone(), self.store.clone());
        let known = self.rewritten.get_or_init(|| Box::new(with(event.clone())));
        let is_known = known.event.fields.get("tool_input") == event.fields.get("tool_input");
        if is_known { known.find_answer(&asked.question) } else { with(event).find_answer(&asked.question) }
    }

    fn relative(&self, path: &str) -> String {
        let full = place::real(&lexical(&self.folder().join(path)));
        let roots = [self.tree(), &self.places.home].map(place::real);
        let inside = roots.iter().find_map(|root| full.strip_prefix(root).ok());
        inside.unwrap_or(&full).to_string_lossy().replace('\\', "/")
    }

    fn find_answer(&self, question: &Question) -> Result<Answer, Unknown> {
        if question.topic() == QuestionTopic::ToolCall {
            return crash::analyzing(|| self.answer_about(question));
        }
        self.answer_about(question)
    }

    fn answer_about(&self, question: &Question) -> Result<Answer, Unknown> {
        Ok(match question {
            Question::Files(globs) => Answer::Files(self.files(globs)?),
            Question::Elsewhere(globs) => Answer::Files(self.in_other_worktrees(globs)),
            Question::Location(path) => Answer::Location(self.location(path)),
            Question::Frontmatter { path, keys } => frontmatter_of(&self.read(path)?, keys),
            Question::Text { path, wanted } => Answer::Text(search_file(&self.read(path)?, wanted)?),
            Question::Committed(path) => Answer::Committed(git_facts::commit_state(self.root(path), Path::new(path))?),
            Question::Changes(paths) => Answer::Changes(uncommitted::changes(self.tree(), paths)?),
            Question::ChangesSince { paths, baseline } => {
                Answer::Changes(uncommitted::changes_since(self.tree(), paths, baseline, |path| {
                    self.is_other_sessions(path)
                })?)
            }
            Question::Baseline(paths) => Answer::Baseline(uncommitted::baseline(self.tree(), paths)?),
            Question::Head => Answer::Head(git_facts::head(self.tree())?),
            Question::HeadChanged(since) => Answer::HeadChanged(git_facts::head_changed(self.tree(), since)?),
            Question::Branch => Answer::Branch(git_facts::branch(self.tree())?),
            Question::Milestone => {
                let mut roots = vec![self.tree(), &self.places.home];
                roots.dedup();
                current_milestone(&roots)?
            }
            Question::Clock => Answer::Clock(ahead(self.ahead)),
            Question::Writer(path) => Answer::Writer(self.writer(path)?),
            Question::Writers(path) => Answer::Writers(self.writers(path)?),
            Question::Wrote { path, id } => Answer::Wrote(self.wrote(path, id)?),
            Question::Relative(path) => Answer::Relative(self.relative(path)),
            Question::Agent { id, transcript } => {
                Answer::Agent(agents::agent_type(|| self.activity().ok(), id, transcript.as_deref().map(Path::new)))
            }
            Question::Addressee { to, transcript } => {
                let transcript = transcript.as_deref().map(Path::new);
                Answer::Addressee(agents::addressee(self.activity().ok(), to, transcript))
            }
            Question::InFlight => Answer::InFlight(self.activity()?.in_flight()),
            Question::ForkParent { transcript } => self.fork_parent(transcript.as_deref()),
            Question::EventText { of: EventText::Commit, wanted } => {
                let read = |path: &str| read_limited(Path::new(path), path);
                self.tool_effects().commit_message(wanted, &read)?
            }
            Question::EventText { of, wanted } => search_event_text(&self.event, of, wanted)?,
            Question::Transcript { path, last, wanted } => Answer::Text(Self::transcript(path, *last, wanted)?),
            Question::Touches(query) => Answer::Touches(self.tool_effects().touches(query)?),
            Question::Mentions(query) => {
                let of_call = mentions(&self.event, &query.paths, self.folder(), &FollowLinks);
                Answer::Mentions(of_call.or_else(|| self.tool_effects().mentioned_by_scripts(&query.paths)))
            }
            Question::Calls(programs) => Answer::Calls(self.tool_effects().calls(programs)),
            Question::OwnCalls(except) => {
                // Few command lines have a word that modegate would understand.
                let copies = OnceCell::new();
                let new = || own_program::OwnProgram::new(self.folder(), &self.places);
                let is_copy = |program: &str, folders: &[String]| copies.get_or_init(new).is(program, folders);
                Answer::Calls(self.tool_effects().own_calls(except, &is_copy))
            }
            Question::Output { commands, wrappers } => output_of(&self.event, commands, wrappers, &end_of_file)?,
            Question::RemoteCalls(programs) => Answer::Calls(self.tool_effects().remote_calls(programs)?),
            Question::Added(asked) => Answer::Added(self.tool_effects().added(asked, self)?),
            Question::HookEntries => {
                Answer::HookEntries(settings_files::changed(&self.event, &self.places, self.folder())?)
            }
            Question::Context(file) => self.context(file)?,
            Question::History => Answer::History(journal_files::history(&self.journal, &self.places.home)),
            Question::Rewritten(asked) => self.answer_rewritten(asked)?,
            Question::Run(_) | Question::Http(_) => {
                self.require_accepted_scripts(question)?;
                self.step_input(question).answer(question)?
            }
        })
    }
}

impl StageListing for LiveFacts<'_> {
    fn relative(&self, path: &str) -> String {
        Self::relative(self, path)
    }

    #[expect(clippy::disallowed_methods, reason = "does I/O")]
    fn files(&self, path: &str, staged: &StagedFiles) -> Result<Vec<String>, Unknown> {
        let whole = self.tree().join(path);
        if Path::new(path).is_absolute() || !whole.is_dir() {
            return Ok(vec![path.to_owned()]);
        }
        uncommitted::staged(self.tree(), path, staged)
    }
}

/// The largest script that is read before it runs.
const LARGEST_SCRIPT: u64 = 64 * 1024;

/// Follows links on disk, and reads scripts.
struct FollowLinks;

impl DiskView for FollowLinks {
    #[expect(clippy::disallowed_methods, reason = "does I/O")]
    fn link(&self, path: &str) -> Option<String> {
        std::fs::read_link(path).ok().map(|target| target.to_string_lossy().into_owned())
    }

    #[expect(clippy::disallowed_methods, reason = "does I/O")]
    fn exists(&self, path: &str) -> bool {
        Path::new(path).symlink_metadata().is_ok()
    }

    fn script(&self, path: &str) -> Option<String> {
        disk::read_text(Path::new(path), LARGEST_SCRIPT).ok()
    }
}

impl ResolveLinks for FollowLinks {
    fn real(&self, path: &Path) -> PathBuf {
        disk::real(path)
    }

    #[expect(clippy::disallowed_methods, reason = "does I/O")]
    fn is_link(&self, path: &str) -> bool {
        Path::new(path).is_symlink()
    }

    fn ignores_case(&self) -> bool {
        cfg!(any(target_os = "macos", windows))
    }
}

impl FactSource for LiveFacts<'_> {
    fn answer(&self, question: &Question) -> Answer {
        self.find_answer(question).unwrap_or_else(Answer::Unknown)
    }

    /// Runs programs and asks servers in parallel.
    fn answer_all(&self, questions: &[Question]) -> Vec<Answer> {
        let input = |question| self.require_accepted_scripts(question).map(|()| self.step_input(question));
        let inputs: Vec<Result<StepInput, Unknown>> = questions.iter().map(input).collect();
        let start = |(input, question): (Result<StepInput, Unknown>, &Question)| {
            let question = question.clone();
            crash::start(Builder::new(), move || input.and_then(|input| input.answer(&question)))
        };
        let threads: Vec<_> = inputs.into_iter().zip(questions).map(start).collect();
        let answers = threads.into_iter().map(|thread| match thread.map(|answer| answer.recv()) {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err("the step could not be run".into()),
            Err(_) => Err("the step could not be run: the system allows no more threads".into()),
        });
        answers.map(|answer| answer.unwrap_or_else(Answer::Unknown)).collect()
    }
}

/// What a program or server gets; owned, because steps run in parallel.
#[derive(Debug)]
struct StepInput {
    event: String,
    name: String,
    tool: Option<String>,
    session: String,
    home: PathBuf,
    cwd: PathBuf,
    deadline: Instant,
}

impl StepInput {
    fn answer(&self, question: &Question) -> Result<Answer, Unknown> {
        match question {
            Question::Run(step) => program::run(step, self),
            Question::Http(step) => http::send(step, self),
            _ => Err("this question is not about a program or a server".into()),
        }
    }
}

/// The milestone in the first status file of `roots`.
fn current_milestone(roots: &[&Path]) -> Result<Answer, Unknown> {
    for root in roots {
        match disk::read(&root.join("project/status.json"), disk::CONFIGURATION) {
            Ok(bytes) => return Ok(milestone::named(&bytes)),
            Err(error) if disk::is_absent(&error) => {}
            Err(error) => return Err(clause("project/status.json", &error)),
        }
    }
    Ok(Answer::Milestone(None))
}

/// When a file was last changed, renamed or linked.
#[cfg(unix)]
fn changed_at(meta: &std::fs::Metadata) -> Option<std::time::SystemTime> {
    use std::os::unix::fs::MetadataExt;
    let seconds = u64::try_from(meta.ctime()).ok()?;
    let part = u32::try_from(meta.ctime_nsec()).ok()?;
    std::time::SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, part))
}

#[cfg(not(unix))]
fn changed_at(meta: &std::fs::Metadata) -> Option<std::time::SystemTime> {
    meta.modified().ok()
}

/// Compares recorded paths with `path`, links resolved.
fn same_file(path: &Path) -> impl Fn(&str) -> bool {
    let real = |path: &Path| disk::canonical(path).unwrap_or_else(|_| path.to_owned());
    let wanted = OnceCell::new();
    move |recorded| Path::new(recorded) == path || real(Path::new(recorded)) == *wanted.get_or_init(|| real(path))
}

/// Reads a file of at most [`LARGEST_FILE`] bytes, which messages call `shown`.
fn read_limited(path: &Path, shown: &str) -> Result<Vec<u8>, Unknown> {
    disk::read(path, LARGEST_FILE).map_err(|error| clause(shown, &error))
}

fn end_of_file(path: &str) -> Option<String> {
    let bytes = disk::read_tail(Path::new(path), LONGEST_OUTPUT as u64).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn clause(shown: &str, error: &std::io::Error) -> Unknown {
    format!("`{shown}` cannot be read: {}", disk::reason(error)).into()
}
