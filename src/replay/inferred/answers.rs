//! Answers from inferred facts.

use super::seen_files::{SeenContent, SeenFile};
use super::{InferredFacts, SOMEWHERE, user_of};
use crate::event::Event;
use crate::facts::{Answer, Clock, EffectQuery, FactSource, FoundFile, Question};
use crate::facts::{frontmatter_of, glob as globs, milestone, newest, search_event_text, search_file};
use crate::hook_entries::changes_entries;
use crate::paths::lexical;
use crate::shell::{ExecContext, TargetPath};
use crate::tool_effects::{AsWritten, ToolEffects};
use jiff::Timestamp;
use std::cell::OnceCell;
use std::path::{Path, PathBuf};

const UNSHOWN: &str = "this session does not show it";

/// The inferred facts at one event.
pub struct InferredAnswers<'a> {
    known: &'a InferredFacts,
    event: &'a Event,
    time: Option<&'a str>,
    ground: ExecContext,
    tool_effects: OnceCell<ToolEffects>,
}

impl<'a> InferredAnswers<'a> {
    pub(super) fn new(known: &'a InferredFacts, event: &'a Event, time: Option<&'a str>) -> Self {
        Self { known, event, time, ground: known.ground(event), tool_effects: OnceCell::new() }
    }

    /// The folder in which files are looked up: the project, or the agent's worktree of it.
    fn tree(&self) -> PathBuf {
        let project = Path::new(&self.ground.project);
        let lent = project.join(".claude/worktrees");
        let name = Path::new(&self.ground.cwd).strip_prefix(&lent).ok().and_then(|below| below.components().next());
        name.map_or_else(|| project.to_owned(), |name| lent.join(name))
    }

    /// The absolute path of a file of the project.
    fn whole(&self, path: &str) -> String {
        lexical(&self.tree().join(path)).to_string_lossy().into_owned()
    }

    fn content(&self, path: &str) -> Result<&str, String> {
        self.known
            .files
            .content(&self.whole(path))
            .ok_or_else(|| format!("this session does not show what `{path}` has"))
    }

    /// The known files that match; without one, the answer is unknown.
    fn files(&self, wanted: &[String]) -> Answer {
        let root = format!("{}/", self.tree().to_string_lossy().trim_end_matches('/'));
        let mut found = Vec::new();
        for (path, known) in self.known.files.all() {
            let Some(path) = path.strip_prefix(&root) else { continue };
            if wanted.iter().any(|glob| globs::fits(glob, path) == Ok(true)) {
                found.extend(file(path, known));
            }
        }
        let plain: Option<Vec<String>> = wanted.iter().map(|glob| globs::plain(glob)).collect();
        let settled = plain.is_some_and(|paths| paths.iter().all(|path| self.is_settled(path)));
        // An empty file is not evidence, and an unseen one may be.
        if settled || found.iter().any(|file| file.size > 0) {
            return Answer::Files(newest(found));
        }
        let first = wanted.first().map_or("", String::as_str);
        Answer::Unknown(format!("this session does not show whether a file matches {first}"))
    }

    /// Whether the content of a file is known, or that it does not exist.
    fn is_settled(&self, path: &str) -> bool {
        self.known.files.get(&self.whole(path)).is_some_and(|known| known.state != SeenContent::There)
    }

    fn milestone(&self) -> Answer {
        const STATUS: &str = "project/status.json";
        let gone = self.known.files.get(&self.whole(STATUS)).is_some_and(|known| known.state == SeenContent::Gone);
        if gone {
            return Answer::Milestone(None);
        }
        self.content(STATUS).map_or_else(Answer::Unknown, |content| milestone::named(content.as_bytes()))
    }

    fn clock(&self) -> Answer {
        match self.time.and_then(|time| Some((time, time.parse::<Timestamp>().ok()?))) {
            Some((time, instant)) => {
                Answer::Clock(Clock { at: time.to_owned(), date: instant.strftime("%m%d%y").to_string() })
            }
            None => unknown("the event has no time"),
        }
    }

    /// The agent that wrote a file, if a tool call of this session did.
    fn writer(&self, path: &str) -> Answer {
        let known = self.known.files.get(&self.whole(path)).and_then(|known| known.writer.clone());
        known.map_or_else(
            || Answer::Unknown(format!("this session does not show who wrote `{path}`")),
            |writer| Answer::Writer(Some(writer)),
        )
    }

    fn relative(&self, path: &str) -> String {
        let whole = lexical(&Path::new(&self.ground.cwd).join(path));
        let roots = [self.tree(), PathBuf::from(&self.ground.project)];
        let within = roots.iter().find_map(|root| whole.strip_prefix(root).ok());
        within.unwrap_or(&whole).to_string_lossy().replace('\\', "/")
    }

    fn agent(&self, id: &str) -> Answer {
        self.known.ledger.agent(id).map_or_else(|| unknown(UNSHOWN), |agent| Answer::Agent(Some(agent)))
    }

    fn in_flight(&self) -> Answer {
        if self.known.nameless.is_empty() {
            return Answer::InFlight(self.known.ledger.in_flight());
        }
        unknown("this session does not show of which type each agent is")
    }

    fn history(&self) -> Answer {
        if self.known.unseen_edits {
            return unknown("this session does not show which files its commands have changed");
        }
        Answer::History(self.known.story.history.clone())
    }

    fn tool_effects(&self) -> &ToolEffects {
        self.tool_effects.get_or_init(|| ToolEffects::of(self.event, self.ground.clone(), &AsWritten))
    }

    fn touches(&self, asked: &EffectQuery) -> Answer {
        let answer = self.tool_effects().touches(asked).map_or_else(Answer::Unknown, Answer::Touches);
        if answer == Answer::Touches(None) && self.may_be_users(asked) {
            return unknown("the session does not show where the user's folder is");
        }
        answer
    }

    /// Whether a path may be in the user's folder, which is unknown.
    fn may_be_users(&self, asked: &EffectQuery) -> bool {
        let named = |change: &crate::shell::FileEffect| match &change.target {
            TargetPath::Known { path, .. } => path.starts_with(SOMEWHERE),
            TargetPath::Below { prefix, .. } => prefix.starts_with(SOMEWHERE),
            TargetPath::Unknown { .. } => false,
        };
        let touches = self.tool_effects().all();
        let asks = asked.paths.iter().any(|path| path.starts_with('~'));
        self.ground.home == SOMEWHERE && (asks && !touches.is_empty() || touches.iter().any(named))
    }

    /// The settings file in which the tool would change our hook entries.
    fn hook_entries(&self) -> Result<Option<String>, String> {
        let Some(path) = self.event.path() else { return Ok(None) };
        let path = lexical(&Path::new(&self.ground.cwd).join(path));
        let user = user_of(self.event).map(|home| Path::new(&home).join(".claude/settings.json"));
        if user.is_none() && path.ends_with(".claude/settings.json") {
            return Err("the session does not show where the user's folder is".to_owned());
        }
        let folder = Path::new(&self.ground.project).join(".claude");
        let own = [folder.join("settings.json"), folder.join("settings.local.json")];
        if !own.into_iter().chain(user).any(|own| own == path) {
            return Ok(None);
        }
        let path = path.to_string_lossy().into_owned();
        let before = match self.known.files.get(&path).map(|known| &known.state) {
            Some(SeenContent::Full(content)) => content,
            Some(SeenContent::Gone) => "",
            _ => return Err("this session does not show what the settings have".to_owned()),
        };
        Ok(changes_entries(self.event, before)?.then_some(path))
    }
}

impl FactSource for InferredAnswers<'_> {
    fn answer(&self, question: &Question) -> Answer {
        match question {
            Question::Files(globs) => self.files(globs),
            Question::Frontmatter { path, keys } => {
                self.content(path).map_or_else(Answer::Unknown, |content| frontmatter_of(content.as_bytes(), keys))
            }
            Question::Text { path, wanted } => {
                search_file(self.content(path).map(str::as_bytes).as_ref().copied(), wanted)
            }
            Question::Milestone => self.milestone(),
            Question::Clock => self.clock(),
            Question::Writer(path) => self.writer(path),
            Question::Relative(path) => Answer::Relative(self.relative(path)),
            Question::Agent { id, .. } => self.agent(id),
            Question::InFlight => self.in_flight(),
            Question::EventText { of, wanted } => search_event_text(self.event, *of, wanted),
            Question::Touches(asked) => self.touches(asked),
            Question::Calls(wanted) => Answer::Calls(self.tool_effects().calls(wanted)),
            Question::HookEntries => self.hook_entries().map_or_else(Answer::Unknown, Answer::HookEntries),
            Question::History => self.history(),
            Question::Committed(_) | Question::Changes(_) | Question::Head => {
                unknown("this session does not show what is committed")
            }
            Question::Run(_) => unknown("programs are not run in a replay"),
            Question::Http(_) => unknown("servers are not asked in a replay"),
            Question::Context(_) => unknown("context files are not read in a replay"),
            Question::Transcript { .. } => unknown("the conversation is not read in a replay"),
        }
    }
}

/// A file whose content, and so its size, is known.
fn file(path: &str, known: &SeenFile) -> Option<FoundFile> {
    let SeenContent::Full(content) = &known.state else { return None };
    Some(FoundFile { path: path.to_owned(), size: content.len() as u64, modified: known.modified })
}

fn unknown(why: &str) -> Answer {
    Answer::Unknown(why.to_owned())
}
