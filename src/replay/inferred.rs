//! Facts inferred from the events of a session.
//!
//! What the session does not show is unknown, never a yes or a no. A file counts as it was last seen.

mod answers;
mod seen_files;

pub use answers::InferredAnswers;

use crate::host::event::{Event, EventKind};
use crate::host::ids::teammate_name;
use crate::host::paths::{lexical, transcript_folder, worktree_owner};
use crate::state::journal::{ActivityLog, HistoryBuilder};
use seen_files::{SeenContent, SeenFile, SeenFiles};
use serde_json::Value;
use shell_effects::{ExecContext, LineEffects, effects};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The facts that a session has shown so far.
#[derive(Debug, Default)]
pub struct InferredFacts {
    project: Option<PathBuf>,
    files: SeenFiles,
    activity: ActivityLog,
    history: HistoryBuilder,
    /// Running agents whose type is unknown.
    untyped_agents: HashSet<String>,
    /// Whether a command may have changed files that its response does not name.
    unseen_edits: bool,
    /// The command line that was analyzed last, which several questions and the next event are about.
    last_line: Mutex<Option<(String, ExecContext, Arc<LineEffects>)>>,
}

/// A placeholder for the user's folder where that is unknown.
const UNKNOWN_HOME: &str = "/~";

impl InferredFacts {
    /// The facts at an event, with its time in UTC.
    pub fn at<'a>(&'a self, event: &'a Event, time: Option<&'a str>) -> InferredAnswers<'a> {
        InferredAnswers::new(self, event, time)
    }

    /// Learns from an event after it was decided.
    pub fn learn(&mut self, event: &Event, time: Option<&str>) {
        if self.project.is_none() {
            self.project = project_of(event);
            self.history = HistoryBuilder::new(self.project.as_deref().unwrap_or(Path::new("/")));
        }
        if let Some(time) = time {
            self.history.history.started_at.get_or_insert_with(|| time.to_owned());
        }
        self.learn_agents(event);
        self.history.add(event);
        let now = time.and_then(milliseconds).unwrap_or_default();
        match (event.kind, event.tool()) {
            // Files may have changed between the two runs.
            (Some(EventKind::SessionStart), _) if event.text("source") == Some("resume") => self.files.0.clear(),
            (Some(EventKind::PreToolUse | EventKind::PostToolUse | EventKind::PostToolUseFailure), Some("Bash")) => {
                self.learn_command(event, now);
            }
            (Some(EventKind::PostToolUse), Some(tool)) => self.learn_file(event, tool, now),
            (Some(EventKind::PostToolUseFailure), Some("Read"))
                if event.text("error").is_some_and(|error| error.starts_with("File does not exist.")) =>
            {
                let path = event.path().map(|path| self.absolute_path(event, path));
                self.files.0.extend(path.map(|path| (path, SeenFile::new(SeenContent::Gone, 0, None))));
            }
            _ => {}
        }
    }

    fn learn_agents(&mut self, event: &Event) {
        let id = event.agent_id().unwrap_or_default();
        let is_typed = event.text("agent_type").is_some_and(|kind| !kind.is_empty());
        match event.kind {
            Some(EventKind::SubagentStart) if !is_typed => drop(self.untyped_agents.insert(id.to_owned())),
            Some(EventKind::SubagentStop) => drop(self.untyped_agents.remove(id)),
            _ => {}
        }
        // An agent with an id must not match another of the same type.
        let agent = event.text("agent_type").filter(|_| id.is_empty()).unwrap_or_default();
        self.activity.add_event(&event.fields, Some(agent));
    }

    fn project(&self, event: &Event) -> PathBuf {
        self.project.clone().or_else(|| project_of(event)).unwrap_or_else(|| PathBuf::from("/"))
    }

    fn cwd(&self, event: &Event) -> PathBuf {
        event.cwd().map_or_else(|| self.project(event), |cwd| lexical(Path::new(cwd)))
    }

    /// The folders that an event refers to.
    fn context(&self, event: &Event) -> ExecContext {
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        ExecContext {
            cwd: text(self.cwd(event)),
            home: user_of(event).unwrap_or_else(|| UNKNOWN_HOME.to_owned()),
            project: text(self.project(event)),
            wrappers: Vec::new(),
            protected: &crate::facts::tool_effects::PROTECTED_FILES,
        }
    }

    fn absolute_path(&self, event: &Event, path: &str) -> String {
        lexical(&self.cwd(event).join(path)).to_string_lossy().into_owned()
    }

    /// Takes over what a tool other than the shell shows of a file, or writes to it.
    fn learn_file(&mut self, event: &Event, tool: &str, now: i64) {
        let Some(path) = event.path().map(|path| self.absolute_path(event, path)) else { return };
        match tool {
            "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => {
                let content = seen_files::written_content(event, self.files.content(&path));
                let file = SeenFile::new(content.into(), now, writer(event, &self.activity));
                self.files.0.insert(path, file);
            }
            "Read" => self.files.add_read(path, seen_files::read_content(event), now),
            "Grep" | "Glob" | "LS" => {}
            // Another tool may do anything with its path.
            _ => drop(self.files.0.remove(&path)),
        }
    }

    /// Forgets every file that a command line may change, from its start on.
    fn learn_command(&mut self, event: &Event, now: i64) {
        let Some(command) = event.input("command") else { return };
        let effects = self.line_effects(command, &self.context(event));
        let is_unclear = effects.unreadable.is_some() || !effects.hidden.is_empty();
        if is_unclear {
            self.files.0.clear();
        }
        self.files.forget_changed(&effects.changes);
        let is_reported = event.response().is_some_and(|response| response.get("stdout").is_some());
        let may_edit = is_unclear || !effects.changes.is_empty();
        self.unseen_edits |= event.kind == Some(EventKind::PostToolUse) && !is_reported && may_edit;
        let writer = writer(event, &self.activity);
        for (path, content) in seen_files::changed_by_command(event) {
            let path = self.absolute_path(event, &path);
            self.files.0.insert(path, SeenFile::new(content.into(), now, writer.clone()));
        }
    }

    fn line_effects(&self, command: &str, context: &ExecContext) -> Arc<LineEffects> {
        let mut last = self.last_line.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((line, within, known)) if line == command && within == context => Arc::clone(known),
            _ => {
                let found = Arc::new(effects(command, context));
                *last = Some((command.to_owned(), context.clone(), Arc::clone(&found)));
                found
            }
        }
    }
}

/// The agent that acts in an event, or `main`; `None` for an agent of unknown type.
fn writer(event: &Event, activity: &ActivityLog) -> Option<String> {
    let named = event.text("agent_type").filter(|kind| !kind.is_empty()).map(str::to_owned);
    match event.agent_id() {
        Some(id) if teammate_name(id).is_some() => activity.agent(id),
        Some(id) => named.or_else(|| activity.agent(id)),
        None => Some(named.unwrap_or_else(|| "main".to_owned())),
    }
}

/// The folder in which the host was started, else the folder of the event.
fn project_of(event: &Event) -> Option<PathBuf> {
    let cwd = lexical(Path::new(event.cwd()?));
    named_project(event).or_else(|| worktree_owner(&cwd)).or(Some(cwd))
}

/// The folder in which the host was started, by the name of the transcript's folder.
///
/// A copy of the transcripts keeps that name, wherever it is.
pub(super) fn named_project(event: &Event) -> Option<PathBuf> {
    let cwd = lexical(Path::new(event.cwd()?));
    let folders: Vec<&str> = event.text("transcript_path")?.split(['/', '\\']).rev().skip(1).collect();
    let is_named = |above: &&Path| {
        let name = transcript_folder(&above.to_string_lossy());
        name.len() > 1 && folders.contains(&name.as_str())
    };
    cwd.ancestors().find(is_named).map(Path::to_owned)
}

/// The user's folder, from the path of the transcript, else from the folder of the event.
fn user_of(event: &Event) -> Option<String> {
    let path = event.text("transcript_path").unwrap_or_default();
    let home = path.split_once("/.claude/projects/").map(|(home, _)| home).filter(|home| home.starts_with('/'));
    home.map(str::to_owned).or_else(|| home_above(event.cwd()?))
}

/// The folders that have the users' folders; those in a few of them belong to nobody.
const HOMES: [&str; 5] = ["/home/", "/Users/", "/var/home/", "/usr/home/", "/export/home/"];

/// The user's folder that a path is in, by the usual places.
fn home_above(path: &str) -> Option<String> {
    let path = lexical(Path::new(path));
    if path.starts_with("/root") {
        return Some("/root".to_owned());
    }
    let text = path.to_string_lossy();
    let (root, rest) = HOMES.iter().find_map(|root| Some((root, text.strip_prefix(root)?)))?;
    let name = rest.split('/').next().filter(|name| !["", "Shared", "linuxbrew", "lost+found"].contains(name))?;
    Some(format!("{root}{name}"))
}

fn milliseconds(time: &str) -> Option<i64> {
    time.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
}

fn text<'a>(value: &'a Value, path: &str) -> Option<&'a str> {
    value.pointer(path).and_then(Value::as_str)
}

#[cfg(test)]
mod tests;
