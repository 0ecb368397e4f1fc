//! What processes above this one say: the arguments of the host, and whose environment they have.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use crate::host::event::{Event, EventKind};
use crate::state::user_folder::UserEnvironment;
use base::disk;
use std::path::Path;

/// The field that [`as_fork`] adds.
const PARENT: &str = "resumed_session_id";

/// The most processes above this one that are looked at.
const MOST_ANCESTORS: usize = 64;

/// The variable with the folder of the project, which hosts give to hooks alone.
const FOLDER: &str = "CLAUDE_PROJECT_DIR";

/// The variable in which hosts name themselves, differently for hooks and for tools.
const AGENT: &str = "AI_AGENT";

/// Whether a tool of the model runs this process, not a hook.
///
/// Settings can give the folder of the project to tools, but the host gives hooks the right one. Those of a project can also
/// name the agent, and then prove nothing: their events must be answered. A tool can set both variables for a program that it
/// runs, so the processes up to the host are looked at, too; only Linux shows their variables.
pub fn is_run_by_tool() -> bool {
    let is_from_settings = || {
        let environment = UserEnvironment::of(&std::env::current_dir().unwrap_or_default());
        environment.may_come_from_settings(FOLDER) && !environment.is_set_by_project(AGENT)
    };
    std::env::var(AGENT).is_ok_and(|name| names_tool(name.as_bytes()))
        && (std::env::var_os(FOLDER).is_none() || is_from_settings())
        || is_below_tool()
}

/// Whether a value of [`AGENT`] is the one that tools get.
fn names_tool(agent: &[u8]) -> bool {
    agent.starts_with(b"claude-code_") && agent.ends_with(b"_agent")
}

/// Whether a process between this one and the host has the variables of a tool: those of a hook have the folder, too.
///
/// A host that a tool runs has the variables of that tool, so the search ends at the first one.
fn is_below_tool() -> bool {
    let home = std::env::var("HOME").unwrap_or_default();
    let mut process = parent();
    for _ in 0..MOST_ANCESTORS {
        let Some((id, about)) = process.and_then(|id| Some((id.clone(), ProcessStatus::of_process(&id)?))) else {
            return false;
        };
        if about.name == "claude" && !is_planted(&id) {
            return false;
        }
        let Some(variables) = Environment::of_process(&id) else { return false };
        if is_of_tests(&variables, &home) {
            return false;
        }
        if variables.value(AGENT).is_some_and(names_tool) && variables.value(FOLDER).is_none() {
            return true;
        }
        process = Some(about.parent);
    }
    // No host starts its hooks that deep.
    true
}

/// Whether a process has another home: tests must see nothing of the user's. A tool could also set one, so releases go on.
fn is_of_tests(variables: &Environment, home: &str) -> bool {
    cfg!(debug_assertions) && variables.value("HOME") != Some(home.as_bytes())
}

/// Whether the program of a process is a shell or the like under another name, or in the project or a temporary folder, where
/// a tool can have put it.
fn is_planted(process: &str) -> bool {
    const SHELLS: [&str; 10] = ["sh", "dash", "bash", "zsh", "ksh", "fish", "busybox", "python", "perl", "ruby"];
    let Ok(program) = std::fs::read_link(format!("/proc/{process}/exe")) else { return false };
    let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if SHELLS.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')) {
        return true;
    }
    let folders = [std::env::current_dir().ok(), std::env::var_os(FOLDER).map(Into::into), Some(std::env::temp_dir())];
    folders.into_iter().flatten().any(|folder| program.starts_with(folder))
}

/// Whether Claude Code runs this process, by its environment or that of a process above it; only Linux shows the latter.
pub fn is_run_by_host() -> bool {
    const VARIABLE: &str = "CLAUDECODE";
    if std::env::var_os(VARIABLE).is_some() {
        return true;
    }
    let home = std::env::var("HOME").unwrap_or_default();
    let above = std::iter::successors(parent(), |process| parent_of(process)).take(MOST_ANCESTORS);
    above
        .map_while(|process| Environment::of_process(&process))
        .take_while(|variables| !is_of_tests(variables, &home))
        .any(|variables| variables.value(VARIABLE).is_some())
}

/// Rewrites the event with which hosts before 2.1.250 begin a fork: it is that of the parent, resumed.
///
/// Only the file for environment variables is already named after the fork. It may be stale after `/resume`, which
/// comes from a prompt, so the host must also have been started as a fork.
pub fn as_fork(mut event: Event) -> Event {
    let is_resumed = event.kind == Some(EventKind::SessionStart)
        && event.text("source") == Some("resume")
        && event.text("prompt_id").is_none();
    let fork = is_resumed.then(session_of_environment_file).flatten().filter(|id| id != event.session());
    let Some(fork) = fork.filter(|_| fork_arguments().is_some()) else { return event };
    let parent = event.session().to_owned();
    let transcript = event
        .text("transcript_path")
        .map(|path| Path::new(path).with_file_name(format!("{fork}.jsonl")).to_string_lossy().into_owned());
    let fields = &mut event.fields;
    fields.insert("source".to_owned(), "fork".into());
    fields.insert("session_id".to_owned(), fork.into());
    fields.insert(PARENT.to_owned(), parent.into());
    fields.insert("transcript_path".to_owned(), transcript.into());
    event
}

/// The session that the host resumes as a fork, by its arguments; known before anything is written.
pub(super) fn resumed_session(event: &Event) -> Option<String> {
    event.text(PARENT).map(str::to_owned).or_else(|| {
        let arguments = fork_arguments()?;
        let after = |flag: &str| arguments.iter().skip_while(|argument| *argument != flag).nth(1).map(String::as_str);
        let joined = || arguments.iter().find_map(|argument| argument.strip_prefix("--resume="));
        let id = after("--resume").or_else(|| after("-r")).or_else(joined)?;
        // It may also be a title or a path.
        (crate::host::paths::safe_name(id) == id).then(|| id.to_owned())
    })
}

fn session_of_environment_file() -> Option<String> {
    let file = std::env::var("CLAUDE_ENV_FILE").ok()?;
    let id = Path::new(&file).parent()?.file_name()?.to_str()?;
    (crate::host::paths::safe_name(id) == id).then(|| id.to_owned())
}

/// The arguments of the host, if it was started with `--fork-session`; only Linux tells.
fn fork_arguments() -> Option<Vec<String>> {
    let arguments = |process: &str| {
        let text = disk::read(Path::new(&format!("/proc/{process}/cmdline")), disk::SMALL).ok()?;
        let arguments = text.split(|byte| *byte == 0).map(|text| String::from_utf8_lossy(text).into_owned());
        let arguments: Vec<String> = arguments.collect();
        arguments.iter().any(|argument| argument == "--fork-session").then_some(arguments)
    };
    // A project's settings can set any variable.
    if let Ok(host) = std::env::var("CLAUDE_PID").map(|host| host.trim().to_owned())
        && host.bytes().all(|byte| byte.is_ascii_digit())
    {
        return arguments(&host);
    }
    // Older hosts do not name themselves; a shell may be between them and the hook.
    let parent = parent()?;
    arguments(&parent).or_else(|| arguments(&parent_of(&parent)?))
}

#[cfg_attr(unix, expect(clippy::unnecessary_wraps, reason = "other systems do not tell"))]
fn parent() -> Option<String> {
    #[cfg(unix)]
    return Some(std::os::unix::process::parent_id().to_string());
    #[cfg(not(unix))]
    None
}

fn parent_of(process: &str) -> Option<String> {
    ProcessStatus::of_process(process).map(|status| status.parent)
}

struct ProcessStatus {
    name: String,
    parent: String,
}

impl ProcessStatus {
    fn of_process(process: &str) -> Option<Self> {
        let text = disk::read_text(Path::new(&format!("/proc/{process}/stat")), disk::SMALL).ok()?;
        // The name may contain anything.
        let (before, after) = text.rsplit_once(") ")?;
        let name = before.split_once('(')?.1.to_owned();
        Some(Self { name, parent: after.split(' ').nth(1)?.to_owned() })
    }
}

/// The environment with which a process was started, as the system gives it.
struct Environment(Vec<u8>);

impl Environment {
    fn of_process(process: &str) -> Option<Self> {
        let path = format!("/proc/{process}/environ");
        disk::read(Path::new(&path), disk::SMALL).ok().map(Self)
    }

    fn value(&self, name: &str) -> Option<&[u8]> {
        let is_end = |byte: &u8| *byte == 0;
        self.0.split(is_end).find_map(|pair| pair.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
    }
}
