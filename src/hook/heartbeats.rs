//! When each session last called the hook, and whether it went on without it.

use crate::host::paths::ProjectPaths;
use crate::host::transcript::{ContentBlock, TranscriptRecord};
use crate::state::journal::JournalLine;
use crate::state::journal_files;
use base::printable::one_line;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// Sessions that run while modegate is installed may take this long to notice.
const SETTLING: SignedDuration = SignedDuration::from_secs(60);

/// Older sessions are not considered.
const RECENT: SignedDuration = SignedDuration::from_hours(24);

/// Tools for which the host sends no event.
const SILENT_TOOLS: [&str; 2] = ["EndConversation", "StructuredOutput"];

#[derive(Debug, Clone)]
pub struct HookActivity {
    pub session: String,
    /// The last event of the session that reached the hook.
    pub seen: Option<Timestamp>,
    /// The tool calls in the host's transcript that did not reach the hook.
    pub missed: Vec<Timestamp>,
}

impl HookActivity {
    /// Reads the hook activity of a session with a journal.
    pub fn from_journal(journal: &Path) -> Option<Self> {
        let lines = if is_recent(journal) { journal_files::recent(journal) } else { Vec::new() };
        let last = lines.last().cloned().or_else(|| journal_files::last(journal))?;
        let transcript = last.event.get("transcript_path").and_then(Value::as_str);
        let missed = transcript.map(|path| missed_calls(Path::new(path), &lines)).unwrap_or_default();
        Some(Self { session: last.before.id.into(), seen: last.at.parse().ok(), missed })
    }

    pub fn last_missed(&self) -> Option<Timestamp> {
        self.missed.iter().max().copied()
    }

    /// Whether the session has recently called tools without the hook.
    pub fn is_missed(&self) -> bool {
        self.last_missed().is_some_and(is_recent_time)
    }
}

impl fmt::Display for HookActivity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.seen {
            Some(at) => write!(f, "session {} last called the hook {}", one_line(&self.session), ago(at))?,
            None => write!(f, "session {} has never called the hook", one_line(&self.session))?,
        }
        let Some(at) = self.last_missed() else { return Ok(()) };
        match (self.missed.len(), self.seen) {
            (_, None) => write!(f, ", but used a tool {}", ago(at)),
            (1, _) => write!(f, ", but used a tool without it {}", ago(at)),
            (count, _) => write!(f, ", but used {count} tools without it, the last {}", ago(at)),
        }
    }
}

/// The tool calls of a transcript that ended well and have no line in the journal.
///
/// A call that failed may have been one that the host refused before any hook. Calls from before the first line are not
/// compared: the journal was rotated, or the session is a copy of another.
fn missed_calls(transcript: &Path, lines: &[JournalLine]) -> Vec<Timestamp> {
    let Some(from) = lines.first().and_then(|line| line.at.parse::<Timestamp>().ok()) else { return Vec::new() };
    let known = lines.iter().filter_map(|line| line.event.get("tool_use_id").and_then(Value::as_str));
    let known: HashSet<&str> = known.collect();
    let tail = transcript_tail(transcript);
    let records = records(&tail);
    let results = records.iter().flat_map(TranscriptRecord::tool_results).filter(|result| !result.is_error.0);
    let ended: HashSet<&str> = results.map(|result| result.tool_use_id.or_empty()).collect();
    let is_missed = |call: &&ContentBlock<'_>| {
        let is_silent = SILENT_TOOLS.contains(&call.name.or_empty());
        ended.contains(call.id.or_empty()) && !known.contains(call.id.or_empty()) && !is_silent
    };
    let time = |record: &TranscriptRecord<'_>| record.timestamp.as_deref()?.parse().ok().filter(|at| *at >= from);
    let calls = records.iter().filter_map(|record| Some((time(record)?, record.tool_uses().filter(is_missed).count())));
    calls.flat_map(|(at, count)| std::iter::repeat_n(at, count)).collect()
}

/// The heartbeats of all recent sessions, with a journal or without; tool calls before the installation do not count.
///
/// `home` is the folder of the sessions, `claude` the host's folder of the user with its transcripts.
pub fn heartbeats(
    home: &Path,
    places: &ProjectPaths,
    claude: Option<&Path>,
    installed: Option<Timestamp>,
) -> Vec<HookActivity> {
    let journals = journal_files::journals(&places.sessions());
    let known = journals.iter().filter(|path| is_recent(path)).filter_map(|path| HookActivity::from_journal(path));
    let mut heartbeats: Vec<HookActivity> = known.collect();
    if places.hooks().is_dir() {
        heartbeats.extend(unseen(home, places, claude));
    }
    let counts = |used: &Timestamp| installed.is_none_or(|from| used.duration_since(from) > SETTLING);
    for activity in &mut heartbeats {
        activity.missed.retain(counts);
    }
    heartbeats.retain(|activity| activity.seen.is_some() || !activity.missed.is_empty());
    heartbeats
}

/// Sessions of a project that have never called the hook.
fn unseen(home: &Path, places: &ProjectPaths, claude: Option<&Path>) -> Vec<HookActivity> {
    let Some(folder) = claude.and_then(|claude| transcripts(home, claude)) else { return Vec::new() };
    let mut heartbeats = Vec::new();
    for path in journal_files::journals(&folder).into_iter().filter(|path| is_recent(path)) {
        let session = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        // Some hosts keep transcripts of subagents in the same folder.
        if !session.starts_with("agent-") && !places.journal(&session).exists() {
            heartbeats.push(HookActivity { session, seen: None, missed: last_use(&path).into_iter().collect() });
        }
    }
    heartbeats
}

/// Whether a file was written within the last day.
pub fn is_recent(path: &Path) -> bool {
    let modified = path.metadata().and_then(|meta| meta.modified()).ok();
    modified.and_then(|at| Timestamp::try_from(at).ok()).is_none_or(is_recent_time)
}

pub fn is_recent_time(at: Timestamp) -> bool {
    since(at) < RECENT
}

pub fn ago(at: Timestamp) -> String {
    let seconds = since(at).as_secs();
    match seconds {
        ..0 => "in the future, by this machine's clock".to_owned(),
        0..120 => format!("{seconds} s ago"),
        120..7200 => format!("{} min ago", seconds / 60),
        7200..172_800 => format!("{} h ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

fn since(at: Timestamp) -> SignedDuration {
    Timestamp::now().duration_since(at)
}

fn last_use(transcript: &Path) -> Option<Timestamp> {
    let tail = transcript_tail(transcript);
    let records = records(&tail);
    let mut used = records.iter().rev().filter(|record| record.tool_uses().next().is_some());
    used.find_map(|record| record.timestamp.as_deref()?.parse().ok())
}

fn transcript_tail(transcript: &Path) -> Vec<u8> {
    const TAIL: u64 = 512 * 1024;
    base::disk::read_tail(transcript, TAIL).unwrap_or_default()
}

fn records(text: &[u8]) -> Vec<TranscriptRecord<'_>> {
    text.split(|byte| *byte == b'\n').filter_map(TranscriptRecord::parse).collect()
}

/// The host's folder for transcripts of a project: its path with all other characters as dashes.
fn transcripts(home: &Path, claude: &Path) -> Option<PathBuf> {
    const LONGEST: usize = 200;
    let name = crate::host::paths::transcript_folder(home.to_str()?);
    // The host hashes longer names; such projects are left out.
    (name.len() <= LONGEST).then(|| claude.join("projects").join(name))
}
