//! Answers from inferred facts.

use super::seen_files::{SeenContent, SeenFile};
use super::{InferredFacts, UNKNOWN_HOME, user_of};
use crate::facts::tool_effects::{AsWritten, StageListing, ToolEffects, command_line, mentions};
use crate::facts::{Answer, Clock, EffectQuery, EventText, FactSource, FoundEffect, FoundFile, Question, Unknown};
use crate::facts::{frontmatter_of, glob as globs, milestone, newest, output_of, search_event_text, search_file};
use crate::host::event::Event;
use crate::host::hook_entries::changes_entries;
use crate::host::paths::lexical;
use jiff::Timestamp;
use shell_effects::{ExecContext, StagedFiles, TargetPath};
use std::cell::OnceCell;
use std::path::{Path, PathBuf};

const NO_HOME: &str = "the session does not show where the user's folder is";

/// The inferred facts at one event.
pub struct InferredAnswers<'a> {
    known: &'a InferredFacts,
    event: &'a Event,
    time: Option<&'a str>,
    context: ExecContext,
    tool_effects: OnceCell<ToolEffects>,
}

impl<'a> InferredAnswers<'a> {
    pub(super) fn new(known: &'a InferredFacts, event: &'a Event, time: Option<&'a str>) -> Self {
        Self { known, event, time, context: known.context(event), tool_effects: OnceCell::new() }
    }

    /// The folder in which files are looked up: the project, or the agent's worktree of it.
    fn worktree(&self) -> PathBuf {
        let project = Path::new(&self.context.project);
        let lent = project.join(".claude/worktrees");
        let name = Path::new(&self.context.cwd).strip_prefix(&lent).ok().and_then(|below| below.components().next());
        name.map_or_else(|| project.to_owned(), |name| lent.join(name))
    }

    /// The absolute path of a file of the project.
    fn absolute_path(&self, path: &str) -> String {
        lexical(&self.worktree().join(path)).to_string_lossy().into_owned()
    }

    fn file(&self, path: &str) -> Option<&SeenFile> {
        self.known.files.0.get(&self.absolute_path(path))
    }

    fn content(&self, path: &str) -> Result<&str, Unknown> {
        let content = self.known.files.content(&self.absolute_path(path));
        content.ok_or_else(|| format!("this session does not show what `{path}` has").into())
    }

    /// The known files that match; without one, the answer is unknown.
    fn files(&self, wanted: &[String]) -> Result<Vec<FoundFile>, Unknown> {
        let root = format!("{}/", self.worktree().to_string_lossy().trim_end_matches('/'));
        let mut found = Vec::new();
        for (path, known) in &self.known.files.0 {
            let Some(path) = path.strip_prefix(&root) else { continue };
            if wanted.iter().any(|glob| globs::fits(glob, path) == Ok(true))
                && let SeenContent::Full(content) = &known.state
            {
                let size = content.len() as u64;
                found.push(FoundFile { path: path.to_owned(), size, modified: known.modified });
            }
        }
        let plain: Option<Vec<String>> = wanted.iter().map(|glob| globs::plain(glob)).collect();
        let all_known = plain.is_some_and(|paths| paths.iter().all(|path| self.is_known(path)));
        // An empty file is not evidence, and an unseen one may be.
        if all_known || found.iter().any(|file| file.size > 0) {
            return Ok(newest(found));
        }
        let first = wanted.first().map_or("", String::as_str);
        Err(format!("this session does not show whether a file matches {first}").into())
    }

    /// Whether the content of a file is known, or that it does not exist.
    fn is_known(&self, path: &str) -> bool {
        self.file(path).is_some_and(|known| known.state != SeenContent::There)
    }

    fn milestone(&self) -> Result<Answer, Unknown> {
        const STATUS: &str = "project/status.json";
        if self.file(STATUS).is_some_and(|known| known.state == SeenContent::Gone) {
            return Ok(Answer::Milestone(None));
        }
        Ok(milestone::named(self.content(STATUS)?.as_bytes()))
    }

    fn clock(&self) -> Option<Clock> {
        let date = self.time?.parse::<Timestamp>().ok()?.strftime("%m%d%y").to_string();
        Some(Clock { at: self.time?.to_owned(), date })
    }

    /// The agent that wrote a file, if a tool call of this session did.
    fn writer(&self, path: &str) -> Result<String, Unknown> {
        let writer = self.file(path).and_then(|known| known.writer.clone());
        writer.ok_or_else(|| format!("this session does not show who wrote `{path}`").into())
    }

    fn tool_effects(&self) -> &ToolEffects {
        self.tool_effects.get_or_init(|| {
            let line = command_line(self.event).map(|command| self.known.line_effects(&command, &self.context));
            let line = line.as_deref().cloned().unwrap_or_default();
            ToolEffects::from_line(self.event, line, self.context.clone(), &AsWritten)
        })
    }

    fn touches(&self, asked: &EffectQuery) -> Result<Option<FoundEffect>, Unknown> {
        let found = self.tool_effects().touches(asked)?;
        if found.is_none() && self.may_be_users(asked) { Err(NO_HOME.into()) } else { Ok(found) }
    }

    /// Whether a path may be in the user's folder, which is unknown.
    fn may_be_users(&self, asked: &EffectQuery) -> bool {
        let named = |change: &shell_effects::FileEffect| match &change.target {
            TargetPath::Known { path, .. } => path.starts_with(UNKNOWN_HOME),
            TargetPath::Below { prefix, .. } => prefix.starts_with(UNKNOWN_HOME),
            TargetPath::Unknown { .. } | TargetPath::Anywhere => false,
        };
        if asked.remote {
            return false;
        }
        let touches = self.tool_effects().changes();
        let asks = asked.paths.iter().any(|path| path.starts_with('~'));
        self.context.home == UNKNOWN_HOME && (asks && !touches.is_empty() || touches.iter().any(named))
    }

    /// The settings file in which the tool would change our hook entries.
    fn hook_entries(&self) -> Result<Option<String>, Unknown> {
        let Some(path) = self.event.path() else { return Ok(None) };
        let path = lexical(&Path::new(&self.context.cwd).join(path));
        let user = user_of(self.event).map(|home| Path::new(&home).join(".claude/settings.json"));
        if user.is_none() && path.ends_with(".claude/settings.json") {
            return Err(NO_HOME.into());
        }
        let folder = Path::new(&self.context.project).join(".claude");
        let own = [folder.join("settings.json"), folder.join("settings.local.json")];
        if !own.into_iter().chain(user).any(|own| own == path) {
            return Ok(None);
        }
        let path = path.to_string_lossy().into_owned();
        let before = match self.known.files.0.get(&path).map(|known| &known.state) {
            Some(SeenContent::Full(content)) => content,
            Some(SeenContent::Gone) => "",
            _ => Err("this session does not show what the settings have")?,
        };
        Ok(changes_entries(self.event, before).map_err(|error| error.to_string())?.then_some(path))
    }

    fn find_answer(&self, question: &Question) -> Result<Answer, Unknown> {
        let known = self.known;
        Ok(match question {
            Question::Files(globs) => Answer::Files(self.files(globs)?),
            Question::Frontmatter { path, keys } => frontmatter_of(self.content(path)?.as_bytes(), keys),
            Question::Text { path, wanted } => Answer::Text(search_file(self.content(path)?.as_bytes(), wanted)?),
            Question::Milestone => self.milestone()?,
            Question::Clock => Answer::Clock(self.clock().ok_or("the event has no time")?),
            Question::Writer(path) => Answer::Writer(Some(self.writer(path)?)),
            Question::Writers(path) => Answer::Writers(vec![self.writer(path)?]),
            Question::Wrote { .. } => Err("this session does not show which agent wrote which file")?,
            Question::Relative(path) => Answer::Relative(self.relative(path)),
            Question::Agent { id, .. } => {
                Answer::Agent(Some(known.activity.agent(id).ok_or("this session does not show it")?))
            }
            Question::Addressee { to, .. } => {
                Answer::Addressee(Some(known.activity.addressee(to).ok_or("this session does not show it")?))
            }
            Question::InFlight if known.untyped_agents.is_empty() => Answer::InFlight(known.activity.in_flight()),
            Question::InFlight => Err("this session does not show of which type each agent is")?,
            Question::ForkParent { .. } => Err("this session does not show from which one it was forked")?,
            Question::EventText { of: EventText::Commit, wanted } => {
                let read = |path: &str| self.content(path).map(|text| text.as_bytes().to_vec());
                self.tool_effects().commit_message(wanted, &read)?
            }
            Question::EventText { of, wanted } => search_event_text(self.event, of, wanted)?,
            Question::Touches(asked) => Answer::Touches(self.touches(asked)?),
            Question::Mentions(asked) => {
                Answer::Mentions(mentions(self.event, &asked.paths, Path::new(&self.context.cwd), &AsWritten))
            }
            Question::Calls(wanted) => Answer::Calls(self.tool_effects().calls(wanted)),
            Question::OwnCalls(except) => Answer::Calls(self.tool_effects().own_calls(except, &|_, _| false)),
            Question::Output { commands, wrappers } => output_of(self.event, commands, wrappers, &|_| None)?,
            Question::RemoteCalls(wanted) => Answer::Calls(self.tool_effects().remote_calls(wanted)?),
            Question::Added(asked) => Answer::Added(self.tool_effects().added(asked, self)?),
            Question::HookEntries => Answer::HookEntries(self.hook_entries()?),
            Question::History if known.unseen_edits => {
                Err("this session does not show which files its commands have changed")?
            }
            Question::History => Answer::History(known.history.history.clone()),
            Question::Branch => Err("this session does not show which branch is checked out")?,
            Question::Committed(_)
            | Question::Changes(_)
            | Question::ChangesSince { .. }
            | Question::Baseline(_)
            | Question::HeadChanged(_)
            | Question::Head => Err("this session does not show what is committed")?,
            Question::Rewritten(asked) => {
                let event = asked.event(self.event).ok_or("the rewritten input is not known")?;
                InferredAnswers::new(known, &event, self.time).find_answer(&asked.question)?
            }
            Question::Run(_) => Err("programs are not run in a replay")?,
            Question::Http(_) => Err("servers are not asked in a replay")?,
            Question::Context(_) => Err("context files are not read in a replay")?,
            Question::Transcript { .. } => Err("the conversation is not read in a replay")?,
            _ => Err("this session does not show it")?,
        })
    }
}

impl StageListing for InferredAnswers<'_> {
    fn relative(&self, path: &str) -> String {
        let whole = lexical(&Path::new(&self.context.cwd).join(path));
        let roots = [self.worktree(), PathBuf::from(&self.context.project)];
        let within = roots.iter().find_map(|root| whole.strip_prefix(root).ok());
        within.unwrap_or(&whole).to_string_lossy().replace('\\', "/")
    }

    fn files(&self, path: &str, _: &StagedFiles) -> Result<Vec<String>, Unknown> {
        Err(format!("this session does not show what `{path}` would stage").into())
    }
}

impl FactSource for InferredAnswers<'_> {
    fn answer(&self, question: &Question) -> Answer {
        self.find_answer(question).unwrap_or_else(Answer::Unknown)
    }
}
